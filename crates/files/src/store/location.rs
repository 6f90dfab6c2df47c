//! The location of the database, and checks that it is still there: if the folder of an open database is deleted or
//! moved, later writes succeed but are lost.

use std::path::{Path, PathBuf};

use super::error::StoreError;

/// The name of the database in `.workshop/`.
pub const FILE: &str = "workshop.db";
/// The lock file, which the writing process locks; contains the id of that process for people.
pub(super) const LOCK: &str = "lock";
/// The suffixes of the files that SQLite creates beside the database.
pub(crate) const SQLITE_SIDECAR_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Returns the path of the database in this `.workshop` folder.
pub(super) fn path_in(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// Returns the path of its lock file.
pub(super) fn lock_in(dir: &Path) -> PathBuf {
    dir.join(LOCK)
}

/// Identifies a file by its device and inode numbers. On systems without them, an open file cannot be deleted anyway.
type Identity = Option<(u64, u64)>;

/// The folders and files of an open history, as they were when it was opened.
#[derive(Clone, Debug)]
pub(super) struct DatabaseLocation {
    dir: PathBuf,
    workspace: Identity,
    database: Identity,
    lock: Identity,
}

/// The change of the location since the history was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LocationStatus {
    /// The location is unchanged.
    InPlace,
    /// The lock file was deleted or replaced.
    LockGone,
    /// The history was deleted, but the folder of the workspace exists.
    HistoryGone,
    /// The workspace was moved or deleted.
    WorkspaceGone,
    /// Another history was created in the same place.
    Replaced,
}

impl DatabaseLocation {
    /// Creates the location of an open database.
    pub(super) fn of(dir: &Path) -> Result<Self, StoreError> {
        let dir = dir.canonicalize().map_err(StoreError::file(dir))?;
        let (workspace, database, lock) = (identity(parent(&dir)), identity(&path_in(&dir)), identity(&lock_in(&dir)));
        Ok(Self { dir, workspace, database, lock })
    }

    /// Returns the folder of the history as an absolute path.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the current status.
    pub(super) fn check(&self) -> LocationStatus {
        match self.look_at_database() {
            LocationStatus::InPlace if !self.has_lock() => LocationStatus::LockGone,
            standing => standing,
        }
    }

    /// Like [`Self::check`], for the database alone: while the workspace is locked, another database there is our own,
    /// rewritten.
    pub(super) fn look_at_database(&self) -> LocationStatus {
        if identity(parent(&self.dir)) != self.workspace {
            return LocationStatus::WorkspaceGone;
        }
        match identity(&path_in(&self.dir)) {
            now if now == self.database => LocationStatus::InPlace,
            None => LocationStatus::HistoryGone,
            Some(_) => LocationStatus::Replaced,
        }
    }

    /// Whether the present lock file is the one that was locked.
    pub(super) fn has_lock(&self) -> bool {
        identity(&lock_in(&self.dir)) == self.lock
    }

    /// Whether there is another lock file.
    pub(super) fn has_other_lock(&self) -> bool {
        identity(&lock_in(&self.dir)).is_some_and(|now| Some(now) != self.lock)
    }

    /// Returns the error for a status; `None` if the location is unchanged.
    pub(super) fn problem(&self, standing: LocationStatus) -> Option<StoreError> {
        let dir = self.dir.display();
        let what = match standing {
            LocationStatus::InPlace => return None,
            LocationStatus::LockGone | LocationStatus::HistoryGone => {
                format!("{dir} was deleted or moved while the room was open")
            }
            LocationStatus::WorkspaceGone => {
                format!("{} was deleted or moved while the room was open", parent(&self.dir).display())
            }
            LocationStatus::Replaced => {
                format!("{dir} was deleted while the room was open, and another process created a new one")
            }
        };
        Some(StoreError::Displaced { what })
    }
}

fn parent(dir: &Path) -> &Path {
    dir.parent().unwrap_or(dir)
}

#[cfg(unix)]
fn identity(path: &Path) -> Identity {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_path: &Path) -> Identity {
    None
}
