//! Opens the database for writing; a damaged one is set aside first.

use std::path::Path;

use rusqlite::Connection;

use super::db::{Lock, MAX_NUMBER, check_place, last_seq, lock, newest_number, open_sound, read_as_it_is};
use super::error::StoreError;
use super::location::{DatabaseLocation, path_in};
use super::quarantine::{self, QuarantinedDatabase};
use crate::base::{Problem, Seq};

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

/// Calls `act` while no other process has, or can open, the history in this `.workshop` folder.
pub fn while_closed<T>(dir: &Path, act: impl FnOnce() -> T) -> Result<T, StoreError> {
    let _lock = lock(dir)?;
    Ok(act())
}
