//! The database file: one writer at a time, the format brought up to date, what is damaged set aside.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior};

use super::error::{PLACE, StoreError};
use crate::base::{Problem, Seq};

/// The database's name in `.workshop/`.
const FILE: &str = "workshop.db";
/// Locked by whoever may write; holds the number of that process, for people.
const LOCK: &str = "lock";
/// The steps from an empty database to today's, `PRAGMA user_version` counting those that were taken.
/// Databases of every age are out there: never remove a migration and never change one, only append.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema/001_log.sql"),
    include_str!("schema/002_files.sql"),
    include_str!("schema/003_enclosures.sql"),
];
/// How long a connection waits for another one's lock before it reports that it is busy.
const BUSY_WAIT: Duration = Duration::from_secs(5);

/// A database that may be written.
pub(super) struct Opened {
    pub(super) connection: Connection,
    /// Held as long as the connection.
    pub(super) lock: File,
    /// The newest event there is; 0 if there is none.
    pub(super) last_seq: Seq,
    pub(super) problems: Vec<Problem>,
}

/// Where the database of this `.workshop` folder is.
pub(super) fn path_in(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// Opens the database for writing; makes the folder and the database if they are not there.
pub(super) fn open(dir: &Path) -> Result<Opened, StoreError> {
    fs::create_dir_all(dir).map_err(StoreError::file(dir))?;
    let lock = lock(dir)?;
    let path = path_in(dir);
    let mut problems = Vec::new();
    let (connection, last_seq) = match open_sound(&path) {
        Err(error) if error.is_damage() => {
            let aside = set_aside(dir)?;
            problems.push(Problem::error(
                PLACE,
                format!("the history could not be read and was set aside as {aside} ({error})"),
                "nothing in the workspace is lost; delete that file if you do not want to look into it",
            ));
            open_sound(&path)?
        }
        opened => opened?,
    };
    Ok(Opened { connection, lock, last_seq, problems })
}

/// A second connection that writes, for whoever holds the workspace already.
pub(super) fn open_beside(path: &Path) -> Result<Connection, StoreError> {
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    let setup = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;";
    connection.execute_batch(setup).map_err(StoreError::while_doing("open the database"))?;
    migrate(&mut connection, path, MIGRATIONS)?;
    Ok(connection)
}

/// Opens the database for reading, brought up to date first if that is needed and nobody writes.
pub(super) fn open_read_only(dir: &Path) -> Result<Connection, StoreError> {
    let path = path_in(dir);
    if !path.exists() {
        return Err(StoreError::NoHistory { path });
    }
    let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    if is_current(&connection, &path)? {
        return Ok(connection);
    }
    drop(connection);
    let _lock = lock(dir)?;
    drop(open_sound(&path)?);
    connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn lock(dir: &Path) -> Result<File, StoreError> {
    let path = dir.join(LOCK);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = options.open(&path).map_err(StoreError::file(&path))?;
    match file.try_lock() {
        Ok(()) => {
            let written = file.set_len(0).and_then(|()| file.rewind());
            written.and_then(|()| writeln!(file, "{}", std::process::id())).map_err(StoreError::file(&path))?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => {
            // Some systems do not let a locked file be read; then the holder stays unknown.
            let mut holder = String::new();
            let known = file.read_to_string(&mut holder).is_ok() && !holder.trim().is_empty();
            let holder = if known { format!(" in process {}", holder.trim()) } else { String::new() };
            Err(StoreError::InUse { lock: path, holder })
        }
        Err(TryLockError::Error(source)) => Err(StoreError::File { path, source }),
    }
}

/// A connection to a database that is current and, as far as that is worth looking, sound.
fn open_sound(path: &Path) -> Result<(Connection, Seq), StoreError> {
    let is_fresh = fs::metadata(path).map_or(true, |metadata| metadata.len() == 0);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    // A new database has nothing to lose, so that making it need not wait for the disk.
    let synchronous = if is_fresh { "OFF" } else { "NORMAL" };
    let setup = format!("PRAGMA synchronous = {synchronous}; PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;");
    connection.execute_batch(&setup).map_err(StoreError::while_doing("open the database"))?;
    migrate(&mut connection, path, MIGRATIONS)?;
    connection.execute_batch("PRAGMA synchronous = NORMAL").map_err(StoreError::while_doing("open the database"))?;
    // A check reads the whole file: only worth it where the last run was cut off.
    if last_run_was_cut_off(&connection).map_err(StoreError::while_doing("read the last run"))? {
        let found = check(&connection).map_err(StoreError::while_doing("check the database"))?;
        if let Some(what) = found.into_iter().next() {
            return Err(StoreError::Damaged { path: path.to_owned(), what });
        }
    }
    let last_seq = last_seq(&connection).map_err(StoreError::while_doing("read the newest record"))?;
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

/// Takes the steps that were not taken yet, all or none.
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
        transaction.execute_batch(step).map_err(StoreError::while_doing(doing))?;
    }
    transaction.pragma_update(None, "user_version", steps.len() as i64).map_err(StoreError::while_doing(doing))?;
    transaction.commit().map_err(StoreError::while_doing(doing))
}

fn last_run_was_cut_off(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT ended_ms IS NULL FROM runs ORDER BY number DESC LIMIT 1";
    Ok(connection.query_row(sql, [], |row| row.get(0)).optional()?.unwrap_or(false))
}

/// The newest event there is; 0 if there is none.
pub(super) fn last_seq(connection: &Connection) -> rusqlite::Result<Seq> {
    let newest: Option<i64> = connection.query_row("SELECT max(seq) FROM events", [], |row| row.get(0))?;
    Ok(Seq(newest.unwrap_or(0).cast_unsigned()))
}

/// What SQLite finds wrong with the file; nothing if it is sound.
pub(super) fn check(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA quick_check(20)")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    lines.filter(|line| line.as_ref().map_or(true, |line| line != "ok")).collect()
}

/// Renames the database, with what SQLite keeps beside it, to the first free `workshop.db.broken-N`.
fn set_aside(dir: &Path) -> Result<String, StoreError> {
    let free = (1..).map(|number| format!("{FILE}.broken-{number}")).find(|name| !dir.join(name).exists());
    let name = free.expect("there are more numbers than files");
    for beside in ["-wal", "-shm", ""] {
        let (from, to) = (dir.join(format!("{FILE}{beside}")), dir.join(format!("{name}{beside}")));
        if from.exists() {
            fs::rename(&from, &to).map_err(StoreError::file(&from))?;
        }
    }
    Ok(name)
}
