//! Opens the database for writing; a damaged one is set aside first.

use std::io::Write;
use std::path::Path;

use rusqlite::Connection;

use super::db::{Lock, MAX_NUMBER, check_place, last_seq, lock, newest_number, open_sound, read_as_it_is};
use super::error::StoreError;
use super::location::{DatabaseLocation, path_in};
use super::quarantine::{self, QuarantinedDatabase};
use crate::base::{Problem, Seq};
use crate::safe_fs;

/// The file that tells Git which files of a folder to leave alone.
const IGNORE_FILE: &str = ".gitignore";

/// A database opened for writing.
pub(super) struct Opened {
    pub(super) connection: Connection,
    /// The lock, held as long as the connection.
    pub(super) lock: Lock,
    /// The location of the database and its lock, to detect that they were moved or deleted.
    pub(super) place: DatabaseLocation,
    /// The highest number that a record has, or may have had when its process was killed; 0 if there is none.
    pub(super) last_seq: Seq,
    /// The damaged database that was replaced by this one.
    pub(super) aside: Option<QuarantinedDatabase>,
    pub(super) problems: Vec<Problem>,
}

/// Opens the database for writing; creates the folder and the database if necessary. A damaged database is set aside,
/// unless the caller passes one that already was, and everything readable is copied into the new one.
pub(super) fn open(dir: &Path, already_quarantined: Option<&QuarantinedDatabase>) -> Result<Opened, StoreError> {
    let lock = lock(dir)?;
    let path = path_in(dir);
    check_place(&path)?;
    keep_out_of_git(dir);
    quarantine::finish_interrupted_swap(dir)?;
    let (opened, aside) = match open_sound(&path) {
        Err(error) if error.is_damage() => {
            let aside = quarantine::quarantine_locked(dir, &error.to_string())?;
            (open_sound(&path)?, Some(aside))
        }
        opened => (opened?, already_quarantined.cloned()),
    };
    let (connection, own_last_seq) = opened;
    // Numbers continue above those of the damaged database, as far as they can be read.
    let old = aside.as_ref().and_then(|aside| read_as_it_is(aside.path()).ok());
    let numbers = old.iter().flat_map(|old| [newest_number(old), last_seq(old)]).flatten();
    let before = numbers.filter(|numbers| numbers.0 <= MAX_NUMBER.cast_unsigned()).max().unwrap_or_default();
    let last_seq = Seq(own_last_seq.0.max(before.0));
    let place = DatabaseLocation::of(dir)?;
    let problems = aside.iter().map(QuarantinedDatabase::problem).collect();
    Ok(Opened { connection, lock, place, last_seq, aside, problems })
}

/// Keeps the folder out of the repository that the workspace may be in: it contains every prompt.
fn keep_out_of_git(dir: &Path) {
    if dir.join(IGNORE_FILE).symlink_metadata().is_ok() {
        return;
    }
    // A read-only folder is opened all the same; Git cannot add it either.
    let written = safe_fs::write_new(dir, IGNORE_FILE, |mut file| file.write_all(b"*\n"));
    if let Err(error) = written {
        tracing::debug!("{} could not be written: {error}", dir.join(IGNORE_FILE).display());
    }
}

/// Calls `act` while no other process has, or can open, the history in this `.workshop` folder.
pub fn while_closed<T>(dir: &Path, act: impl FnOnce() -> T) -> Result<T, StoreError> {
    let _lock = lock(dir)?;
    Ok(act())
}

/// Writes everything into the database file itself, so that nothing is left in the files beside it. The caller must
/// hold the history (see [`while_closed`]).
pub fn empty_write_ahead_log(dir: &Path) -> Result<(), StoreError> {
    let path = path_in(dir);
    check_place(&path)?;
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let connection = Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE)
        .map_err(StoreError::while_doing("open the database"))?;
    connection
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .map_err(StoreError::while_doing("write the log into the database"))
}
