//! Sets aside a damaged database as a whole, and copies everything readable into a new one, which replaces it only once
//! it is on disk.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::db;
use super::error::{PLACE, StoreError};
use super::location::{FILE, SQLITE_SIDECAR_SUFFIXES, path_in};
use super::salvage::{self, Salvaged};
use crate::base::{Problem, unique_names};

/// The name of an unfinished copy.
const UNFINISHED: &str = "workshop.db.restoring";
/// The name of a finished copy that was not moved to its place yet.
const FINISHED: &str = "workshop.db.salvaged";

/// A damaged database that was set aside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuarantinedDatabase {
    path: PathBuf,
    why: String,
    /// The data that was copied into the new database; `None` if that started empty.
    salvaged: Option<Salvaged>,
}

impl QuarantinedDatabase {
    /// Returns the path of the damaged database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether everything readable in it has been copied to the new database.
    pub fn is_copied(&self) -> bool {
        self.salvaged.is_some()
    }

    /// Whether all of its contents have been copied to the new database.
    pub fn is_fully_salvaged(&self) -> bool {
        self.salvaged.is_some_and(|salvaged| salvaged.is_whole)
    }

    /// Describes what happened, for the person.
    pub(super) fn problem(&self) -> Problem {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let salvaged =
            self.salvaged.map_or_else(|| "a new history was started".to_owned(), |salvaged| salvaged.describe());
        let what = format!("the history is damaged and was set aside as {name} ({}); {salvaged}", self.why);
        let remedy = "workspace files are not affected; keep that file until you know what is missing";
        Problem::error(PLACE, what, remedy)
    }
}

/// Sets aside the database of this folder, because using it failed with the error `why`. It must not be open.
/// Everything readable is copied into the database that replaces it.
pub fn quarantine(dir: &Path, why: &str) -> Result<QuarantinedDatabase, StoreError> {
    let _lock = db::lock(dir)?;
    quarantine_locked(dir, why)
}

/// Like [`quarantine`], but without a copy, because the copy would be unusable as well.
pub fn quarantine_without_salvage(dir: &Path, why: &str) -> Result<QuarantinedDatabase, StoreError> {
    let _lock = db::lock(dir)?;
    Ok(QuarantinedDatabase { path: dir.join(quarantine_database(dir)?), why: why.to_owned(), salvaged: None })
}

/// Like [`quarantine`], for the holder of the lock.
pub(super) fn quarantine_locked(dir: &Path, why: &str) -> Result<QuarantinedDatabase, StoreError> {
    let salvaged = copy_beside(dir)?;
    let path = dir.join(quarantine_database(dir)?);
    finish_interrupted_swap(dir)?;
    Ok(QuarantinedDatabase { path, why: why.to_owned(), salvaged })
}

/// Moves a finished copy to its place if there is no database, even if its process was killed before it did so.
pub(super) fn finish_interrupted_swap(dir: &Path) -> Result<(), StoreError> {
    let (copy, path) = (dir.join(FINISHED), path_in(dir));
    if path.exists() {
        return db::remove(&copy);
    }
    if copy.exists() {
        db::check_place(&copy)?;
        fs::rename(&copy, &path).map_err(StoreError::file(&copy))?;
    }
    Ok(())
}

/// Copies everything readable; `None` if the damaged database cannot even be opened.
fn copy_beside(dir: &Path) -> Result<Option<Salvaged>, StoreError> {
    let (unfinished, finished) = (dir.join(UNFINISHED), dir.join(FINISHED));
    for left_over in [&unfinished, &finished] {
        db::remove(left_over)?;
    }
    let Ok(damaged) = db::read_as_it_is(&path_in(dir)) else { return Ok(None) };
    let mut copy = db::open_new(&unfinished)?;
    let salvaged = salvage::copy_readable(&damaged, &mut copy)?;
    copy.close().map_err(|(_, error)| StoreError::while_doing("close the copy of the history")(error))?;
    File::open(&unfinished).and_then(|file| file.sync_all()).map_err(StoreError::file(&unfinished))?;
    fs::rename(&unfinished, &finished).map_err(StoreError::file(&unfinished))?;
    Ok(Some(salvaged))
}

/// Renames the database and SQLite's files beside it to the first free `workshop.db.broken-N`.
fn quarantine_database(dir: &Path) -> Result<String, StoreError> {
    let names = unique_names::numbered(&format!("{FILE}.broken"), "", 1);
    let name = unique_names::first_free(names, |name| dir.join(name).exists());
    for beside in SQLITE_SIDECAR_SUFFIXES.iter().chain(&[""]) {
        let (from, to) = (dir.join(format!("{FILE}{beside}")), dir.join(format!("{name}{beside}")));
        if from.exists() {
            fs::rename(&from, &to).map_err(StoreError::file(&from))?;
        }
    }
    Ok(name)
}
