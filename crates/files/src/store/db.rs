//! The database file: locking for one writer, and migrations of the format.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior};

use super::error::StoreError;
use super::location::{FILE, SQLITE_SIDECAR_SUFFIXES, lock_in, path_in};
use crate::base::Seq;
use crate::safe_fs::{self, Folder};

/// The usual name of the folder that contains the database.
const STATE_FOLDER: &str = ".workshop";
/// The migrations from an empty database to the current format; `PRAGMA user_version` is the number of applied
/// migrations. Databases of every age exist: never remove or change a migration, only append.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema/001_log.sql"),
    include_str!("schema/002_files.sql"),
    include_str!("schema/003_enclosures.sql"),
    include_str!("schema/004_numbers.sql"),
    include_str!("schema/005_versions_without_diffs.sql"),
];
/// How long a connection waits for another one's lock before it reports that it is busy.
const BUSY_WAIT: Duration = Duration::from_secs(5);
/// The size in bytes up to which a database is checked whenever it is opened, which takes at most a tenth of a second.
const CHECKED_BYTES: u64 = 64 << 20;
/// The maximum number of bytes that are read from a lock file.
const MAX_HOLDER_BYTES: u64 = 32;
/// Numbers of records, runs and other rows above this are treated as damage: no workspace reaches them, and JSON
/// readers lose precision there.
pub(super) const MAX_NUMBER: i64 = 1 << 53;

/// The lock that prevents other processes from writing.
#[derive(Debug)]
pub(super) struct Lock {
    held: File,
    /// The locked folder of the workspace. A lock file alone would be useless if it were deleted together with
    /// `.workshop/`.
    workspace: Option<File>,
}

impl Lock {
    /// Whether no other process can have opened the workspace, even if `.workshop/` was deleted.
    pub(super) fn holds_workspace(&self) -> bool {
        self.workspace.is_some()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a child process that is just being started shares these file handles, and the lock,
        // until it executes its own program.
        for file in [Some(&self.held), self.workspace.as_ref()].into_iter().flatten() {
            if let Err(error) = file.unlock() {
                tracing::warn!("the workspace lock could not be released: {error}");
            }
        }
    }
}

/// Creates a database with the current tables at a path where none exists. It is filled before any other connection
/// opens it.
pub(super) fn open_new(path: &Path) -> Result<Connection, StoreError> {
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    // It is used only once it is complete and on disk, so neither rollbacks nor waiting for the disk are needed.
    let setup = "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;";
    connection.execute_batch(setup).map_err(StoreError::while_doing("make a new history"))?;
    migrate(&mut connection, path, MIGRATIONS)?;
    Ok(connection)
}

fn parent_of(dir: &Path) -> Option<&Path> {
    let parent = dir.parent()?;
    Some(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
}

fn make_parent(dir: &Path) -> Result<(), StoreError> {
    parent_of(dir).map_or(Ok(()), |parent| fs::create_dir_all(parent).map_err(StoreError::file(dir)))
}

fn make_folder(dir: &Path) -> Result<(), StoreError> {
    let (Some(parent), Some(name)) = (parent_of(dir), dir.file_name().and_then(|name| name.to_str())) else {
        return Ok(());
    };
    let parent = Folder::open(parent).map_err(StoreError::file(dir))?;
    safe_fs::open_own_folder(&parent, name).map(drop).map_err(StoreError::file(dir))
}

/// Checks a path that SQLite will open by itself: it must not be a link, or a file that blocks forever.
pub(super) fn check_place(path: &Path) -> Result<(), StoreError> {
    for ending in [""].iter().chain(&SQLITE_SIDECAR_SUFFIXES) {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        let file = PathBuf::from(name);
        safe_fs::check_own(&file).map_err(StoreError::file(&file))?;
    }
    Ok(())
}

/// Opens a second writing connection, for the process that has already locked the workspace.
pub(super) fn open_beside(path: &Path) -> Result<Connection, StoreError> {
    check_place(path)?;
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    let setup = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;";
    connection.execute_batch(setup).map_err(StoreError::while_doing("open the database"))?;
    migrate(&mut connection, path, MIGRATIONS)?;
    Ok(connection)
}

/// Opens the database for reading. It is migrated first if necessary, unless another process is writing it.
pub(super) fn open_read_only(dir: &Path) -> Result<Connection, StoreError> {
    let path = path_in(dir);
    if path.symlink_metadata().is_err() {
        return Err(StoreError::NoHistory { path });
    }
    let connection = read_as_it_is(&path)?;
    if is_current(&connection, &path)? {
        return Ok(connection);
    }
    drop(connection);
    let _lock = lock(dir)?;
    drop(open_sound(&path)?);
    read_as_it_is(&path)
}

/// Opens a connection that never writes, whatever the format and state of the database.
pub(super) fn read_as_it_is(path: &Path) -> Result<Connection, StoreError> {
    check_place(path)?;
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    match version(&connection) {
        Ok(_) => Ok(connection),
        // On a read-only file system, SQLite cannot even register a reader. A properly closed database can be read
        // without that.
        Err(error) if error.is_read_only() && !has_log_beside(path) => {
            let uri = format!("file:{}?immutable=1", escaped(path));
            let connection = connect(Path::new(&uri), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)?;
            version(&connection).map(|_| connection)
        }
        Err(error) => Err(error),
    }
}

fn has_log_beside(path: &Path) -> bool {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    fs::metadata(PathBuf::from(wal)).is_ok_and(|wal| wal.len() > 0)
}

/// Escapes a path for a URI.
fn escaped(path: &Path) -> String {
    let text = path.to_string_lossy();
    let escape = |c: char| match c {
        '%' => "%25".to_owned(),
        '?' => "%3f".to_owned(),
        '#' => "%23".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}

/// Locks a workspace for writing. Its folder is locked first: a process that is refused there leaves nothing behind
/// that could replace the owner's files.
pub(super) fn lock(dir: &Path) -> Result<Lock, StoreError> {
    make_parent(dir)?;
    let workspace = lock_workspace(dir)?;
    make_folder(dir)?;
    Ok(Lock { held: lock_file(dir)?, workspace })
}

/// Creates the lock file again after it was deleted or replaced under an open history.
pub(super) fn lock_again(dir: &Path, lock: &mut Lock) -> Result<(), StoreError> {
    make_folder(dir)?;
    lock.held = lock_file(dir)?;
    Ok(())
}

/// Opens and locks the lock file, and writes the id of this process into it.
fn lock_file(dir: &Path) -> Result<File, StoreError> {
    let path = lock_in(dir);
    let mut file = safe_fs::open_own(&path).map_err(StoreError::file(&path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use(dir)),
        Err(TryLockError::Error(source)) => return Err(StoreError::File { path, source }),
    }
    let written = file.set_len(0).and_then(|()| file.rewind());
    written.and_then(|()| writeln!(file, "{}", std::process::id())).map_err(StoreError::file(&path))?;
    Ok(file)
}

/// Returns the error for a workspace that another process is writing, with the id of that process if it is known.
fn in_use(dir: &Path) -> StoreError {
    let holder = holder(dir).map_or_else(|| " in another process".to_owned(), |number| format!(" in process {number}"));
    StoreError::InUse { lock: lock_in(dir), holder }
}

/// Returns the id of the process that has the history in this `.workshop` folder open, or had it last. `None` if that
/// cannot be read: some systems do not allow reading a locked file, and it may be missing.
pub fn holder(dir: &Path) -> Option<u32> {
    let lock = lock_in(dir);
    let text = safe_fs::check_own(&lock).and_then(|()| safe_fs::read_text(&lock, MAX_HOLDER_BYTES));
    text.ok().flatten().and_then(|text| text.trim().parse::<u32>().ok())
}

/// Whether a process with this id is running; `true` if that is unknown. A zombie, which has ended but was not reaped
/// by its parent, is not running.
pub fn runs(process: u32) -> bool {
    #[cfg(target_os = "linux")]
    if has_ended(process) {
        return false;
    }
    #[cfg(unix)]
    {
        let number = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
        number.is_some_and(|number| !matches!(rustix::process::test_kill_process(number), Err(rustix::io::Errno::SRCH)))
    }
    #[cfg(not(unix))]
    {
        let _ = process;
        true
    }
}

/// Whether a process with this id is stopped, as by Ctrl+Z or in a debugger: it does nothing until it is continued.
/// `false` if that is unknown.
pub fn is_stopped(process: u32) -> bool {
    is_in_state(process, &['T', 't'])
}

/// Whether the process is a zombie.
#[cfg(target_os = "linux")]
fn has_ended(process: u32) -> bool {
    is_in_state(process, &['Z', 'X'])
}

/// Whether Linux reports one of these states of a process; `false` on other systems.
fn is_in_state(process: u32, states: &[char]) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The state follows the name, which is in parentheses and may itself contain parentheses.
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(states))
}

/// Copies everything that an open connection can read into a new database in the usual place, where none exists.
pub(super) fn copy_to_new(connection: &Connection, dir: &Path) -> Result<Connection, StoreError> {
    let (path, beside) = (path_in(dir), dir.join(format!("{FILE}.restoring")));
    check_place(&path)?;
    remove(&beside)?;
    connection
        .execute("VACUUM INTO ?1", [beside.display().to_string()])
        .map_err(StoreError::while_doing("write a new history"))?;
    // Leftover files of the deleted database would be mistaken for those of the new one.
    for ending in SQLITE_SIDECAR_SUFFIXES {
        remove(&dir.join(format!("{FILE}{ending}")))?;
    }
    fs::rename(&beside, &path).map_err(StoreError::file(&path))?;
    open_beside(&path)
}

pub(super) fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::file(path)(error)),
        _ => Ok(()),
    }
}

/// Locks the folder that contains a `.workshop` folder, if the system supports that.
fn lock_workspace(dir: &Path) -> Result<Option<File>, StoreError> {
    let is_usual = dir.file_name().is_some_and(|name| name == STATE_FOLDER);
    let Some(workspace) = parent_of(dir).filter(|_| is_usual && cfg!(unix)) else { return Ok(None) };
    let Ok(folder) = File::open(workspace) else { return Ok(None) };
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => Err(in_use(dir)),
        // Not every file system can lock a folder; in that case, only the lock in `.workshop/` counts.
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Opens a database, migrates it, and checks it if that is fast or necessary. Also returns its newest record.
pub(super) fn open_sound(path: &Path) -> Result<(Connection, Seq), StoreError> {
    let is_fresh = fs::metadata(path).map_or(true, |metadata| metadata.len() == 0);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    // A new database has nothing to lose, so its creation need not wait for the disk.
    let synchronous = if is_fresh { "OFF" } else { "NORMAL" };
    let setup = format!("PRAGMA synchronous = {synchronous}; PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;");
    connection.execute_batch(&setup).map_err(StoreError::while_doing("open the database"))?;
    migrate(&mut connection, path, MIGRATIONS)?;
    connection.execute_batch("PRAGMA synchronous = NORMAL").map_err(StoreError::while_doing("open the database"))?;
    // A check reads the whole file, so a large one is only checked if the last run was interrupted.
    let is_small = fs::metadata(path).is_ok_and(|metadata| metadata.len() <= CHECKED_BYTES);
    if is_small || last_run_was_cut_off(&connection).map_err(StoreError::while_doing("read the last run"))? {
        let found = check(&connection).map_err(StoreError::while_doing("check the database"))?;
        if let Some(what) = found.into_iter().next() {
            return Err(StoreError::Damaged { path: path.to_owned(), what });
        }
    }
    if let Some(what) = unlike(&connection)? {
        return Err(StoreError::Damaged { path: path.to_owned(), what });
    }
    let last_seq = newest_number(&connection).map_err(StoreError::while_doing("read the newest record"))?;
    if let Some(what) = far_number(&connection, last_seq).map_err(StoreError::while_doing("read the newest rows"))? {
        return Err(StoreError::Damaged { path: path.to_owned(), what });
    }
    if let Some(what) = row_without_run(&connection).map_err(StoreError::while_doing("read the runs"))? {
        return Err(StoreError::Damaged { path: path.to_owned(), what });
    }
    Ok((connection, last_seq))
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(StoreError::while_doing("open the database"))?;
    connection.busy_timeout(BUSY_WAIT).map_err(StoreError::while_doing("open the database"))?;
    Ok(connection)
}

fn version(connection: &Connection) -> Result<i64, StoreError> {
    connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(StoreError::while_doing("read the format of the database"))
}

fn is_current(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let (found, known) = (version(connection)?, MIGRATIONS.len());
    match usize::try_from(found) {
        Ok(found) if found <= known => Ok(found == known),
        _ => Err(StoreError::Newer { path: path.to_owned(), found, known }),
    }
}

/// Applies the missing migrations, all or none.
pub(super) fn migrate(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<(), StoreError> {
    let left = |connection: &Connection| {
        let found = version(connection)?;
        let taken = usize::try_from(found).ok().filter(|taken| *taken <= steps.len());
        taken.ok_or_else(|| StoreError::Newer { path: path.to_owned(), found, known: steps.len() })
    };
    if left(connection)? == steps.len() {
        return Ok(());
    }
    let doing = "bring the database up to date";
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Exclusive).map_err(StoreError::while_doing(doing))?;
    for step in &steps[left(&transaction)?..] {
        transaction.execute_batch(step).map_err(|error| misfit(path, doing, error))?;
    }
    transaction.pragma_update(None, "user_version", steps.len() as i64).map_err(StoreError::while_doing(doing))?;
    transaction.commit().map_err(StoreError::while_doing(doing))
}

/// Returns the error for a migration that fails because the database does not have the format that its number says.
fn misfit(path: &Path, doing: &'static str, error: rusqlite::Error) -> StoreError {
    let words = error.to_string();
    if ["already exists", "no such table", "no such column", "duplicate column"].iter().any(|word| words.contains(word))
    {
        let what = "its format number does not match its tables".to_owned();
        return StoreError::Damaged { path: path.to_owned(), what };
    }
    StoreError::while_doing(doing)(error)
}

fn last_run_was_cut_off(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT ended_ms IS NULL FROM runs ORDER BY number DESC LIMIT 1";
    Ok(connection.query_row(sql, [], |row| row.get(0)).optional()?.unwrap_or(false))
}

/// Returns the number of the newest event; 0 if there is none.
pub(super) fn last_seq(connection: &Connection) -> rusqlite::Result<Seq> {
    let newest: Option<i64> = connection.query_row("SELECT max(seq) FROM events", [], |row| row.get(0))?;
    Ok(Seq(newest.unwrap_or(0).cast_unsigned()))
}

/// Returns the highest number that may have been given out, by this process or by one that was killed; 0 if there is
/// none.
pub(super) fn newest_number(connection: &Connection) -> rusqlite::Result<Seq> {
    let reserved: Option<i64> = connection.query_row("SELECT max(reserved) FROM numbers", [], |row| row.get(0))?;
    Ok(Seq(last_seq(connection)?.0.max(reserved.unwrap_or(0).cast_unsigned())))
}

/// Describes a difference between the tables and those of a new database, which would make reading or writing fail or
/// misbehave.
fn unlike(connection: &Connection) -> Result<Option<String>, StoreError> {
    let mut whole = Connection::open_in_memory().map_err(StoreError::while_doing("make a new history"))?;
    migrate(&mut whole, Path::new(":memory:"), MIGRATIONS)?;
    let failed = || StoreError::while_doing("read the tables of the database");
    let (whole, found) = (definitions(&whole).map_err(failed())?, definitions(connection).map_err(failed())?);
    let other = whole.iter().find(|(name, made)| found.get(*name) != Some(made));
    Ok(other.map(|(name, _)| format!("its {name} was altered")))
}

/// Returns every table, index and trigger by its kind and name, with its SQL, which defines everything, including the
/// table of an index.
fn definitions(connection: &Connection) -> rusqlite::Result<BTreeMap<String, (String, Option<String>)>> {
    let sql = "SELECT type || ' ' || name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)));
    connection.prepare(sql)?.query_map([], row)?.collect()
}

/// Finds a row with an impossibly high number, after which nothing could be added.
fn far_number(connection: &Connection, last_seq: Seq) -> rusqlite::Result<Option<String>> {
    if i64::try_from(last_seq.0).is_ok_and(|last| last <= MAX_NUMBER) {
        for table in ["runs", "snapshots", "inputs", "files", "file_versions", "file_orders", "file_steps"] {
            let sql = format!("SELECT max(rowid) FROM {table}");
            let newest: Option<i64> = connection.query_row(&sql, [], |row| row.get(0))?;
            if let Some(newest) = newest.filter(|newest| *newest > MAX_NUMBER) {
                return Ok(Some(format!("a row of {table} has the number {newest}")));
            }
        }
        return Ok(None);
    }
    Ok(Some(format!("it has a record of number {}", last_seq.0)))
}

/// Finds a row that belongs to a run that is missing: the next run would get its number, and could not be written, or
/// would continue with what is not its own.
fn row_without_run(connection: &Connection) -> rusqlite::Result<Option<String>> {
    for table in ["run_starts", "inputs", "snapshots", "hashes"] {
        // Steps from run to run with the index of the table, which may have millions of rows.
        let sql = format!(
            "WITH RECURSIVE seen(run) AS (SELECT min(run) FROM {table} UNION ALL \
             SELECT (SELECT min(run) FROM {table} WHERE run > seen.run) FROM seen WHERE seen.run IS NOT NULL) \
             SELECT run FROM seen WHERE run IS NOT NULL AND run NOT IN (SELECT number FROM runs) LIMIT 1"
        );
        if let Some(run) = connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).optional()? {
            return Ok(Some(format!("a row of {table} belongs to run {run}, which is missing")));
        }
    }
    // Events have no such index; the oldest and the newest belong to the first and the last run.
    for order in ["ASC", "DESC"] {
        let sql = format!(
            "SELECT run FROM (SELECT run FROM events ORDER BY seq {order} LIMIT 1) \
             WHERE run NOT IN (SELECT number FROM runs)"
        );
        if let Some(run) = connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).optional()? {
            return Ok(Some(format!("a row of events belongs to run {run}, which is missing")));
        }
    }
    Ok(None)
}

/// Returns the errors that SQLite finds in the file; empty if it is intact.
pub(super) fn check(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA quick_check(20)")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    lines.filter(|line| line.as_ref().map_or(true, |line| line != "ok")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_released_even_if_a_starting_child_process_still_shares_its_files() {
        let made = tempfile::tempdir().expect("a temporary folder can be made");
        let dir = made.path().join(STATE_FOLDER);
        let held = lock(&dir).expect("it should be free");
        let inherited =
            [Some(&held.held), held.workspace.as_ref()].map(|file| file.and_then(|file| file.try_clone().ok()));
        assert!(matches!(lock(&dir), Err(StoreError::InUse { .. })));
        drop(held);
        assert!(lock(&dir).is_ok(), "{inherited:?}");
    }
}
