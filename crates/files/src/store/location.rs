//! Where the database is, and whether it is still there: if the folder of an open database is deleted or moved, later
//! writes succeed but are lost.

use std::path::{Path, PathBuf};

use super::error::StoreError;

/// The database's name in `.workshop/`.
pub const FILE: &str = "workshop.db";
/// Locked by the writing process; contains the number of that process, for people.
pub(super) const LOCK: &str = "lock";
/// What SQLite keeps beside the database.
pub(crate) const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Where the database of this `.workshop` folder is.
pub(super) fn path_in(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// Where its lock is.
pub(super) fn lock_in(dir: &Path) -> PathBuf {
    dir.join(LOCK)
}

/// Identifies a file: the number of its device and its own. On a system without them, an open file cannot be deleted
/// either.
type Identity = Option<(u64, u64)>;

/// The folders and files that an open history needs, as they were when it was opened.
#[derive(Clone, Debug)]
pub(super) struct DatabaseLocation {
    dir: PathBuf,
    workspace: Identity,
    database: Identity,
    lock: Identity,
}

/// The status of a path since the history was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LocationStatus {
    /// All is where it was.
    InPlace,
    /// The history is in its place, but its lock is gone or was replaced.
    LockGone,
    /// The folder of the workspace is there, and the history in it is gone.
    HistoryGone,
    /// The workspace itself was moved or deleted.
    WorkspaceGone,
    /// Somebody else made a new history there.
    Replaced,
}

impl DatabaseLocation {
    /// The place of an open database.
    pub(super) fn of(dir: &Path) -> Result<Self, StoreError> {
        let dir = dir.canonicalize().map_err(StoreError::file(dir))?;
        let (workspace, database, lock) = (identity(parent(&dir)), identity(&path_in(&dir)), identity(&lock_in(&dir)));
        Ok(Self { dir, workspace, database, lock })
    }

    /// The folder of the history, whole.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The current status.
    pub(super) fn look(&self) -> LocationStatus {
        match self.look_at_database() {
            LocationStatus::InPlace if !self.has_lock() => LocationStatus::LockGone,
            standing => standing,
        }
    }

    /// The same for the database alone: while the workspace is locked, another database there is our own, rewritten.
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

    /// Whether another lock lies there.
    pub(super) fn has_other_lock(&self) -> bool {
        identity(&lock_in(&self.dir)).is_some_and(|now| Some(now) != self.lock)
    }

    /// What is wrong, in words; nothing where all is well.
    pub(super) fn trouble(&self, standing: LocationStatus) -> Option<StoreError> {
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
