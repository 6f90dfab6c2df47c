//! The folder for a workspace's disposable data, and why opening a workspace can fail.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::store::StoreError;
use crate::workspace::vfs::FileServiceError;

/// The folder whose contents can be deleted without loss.
pub fn state_folder(workspace: &Path) -> PathBuf {
    workspace.join(".workshop")
}

/// Why a workspace could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// A thread could not be started.
    #[error("a thread that saves or watches files could not be started: {0}")]
    Files(#[from] std::io::Error),
    /// The history cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The files or their history cannot be used.
    #[error(transparent)]
    FileService(#[from] FileServiceError),
    /// There is no such scene.
    #[error("there is no usable scene {wanted:?} in {folder}{why}; available: {there}")]
    NoSuchScene {
        /// The requested scene.
        wanted: String,
        /// Why it cannot be used; empty if it does not exist.
        why: String,
        /// The folder that was searched.
        folder: String,
        /// The available scenes.
        there: String,
    },
    /// The workspace has a saved room that was not made on this computer, and the person has not trusted it.
    #[error("{folder} has saved work that may come from elsewhere and that you have not trusted yet")]
    NotTrusted {
        /// The workspace.
        folder: String,
    },
    /// The requester cancelled it.
    #[error("it was cancelled")]
    Cancelled,
    /// A saved world cannot be read.
    #[error("the saved room could not be read: {0}")]
    Saved(#[from] serde_json::Error),
}

impl OpenError {
    /// Whether the history is damaged, so that setting it aside may help.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Store(error) | Self::FileService(FileServiceError::Store(error)) => error.is_damage(),
            _ => false,
        }
    }

    /// Whether another process has the room open.
    pub fn is_in_use(&self) -> bool {
        matches!(
            self,
            Self::Store(StoreError::InUse { .. })
                | Self::FileService(FileServiceError::Store(StoreError::InUse { .. }))
        )
    }

    /// What the person can do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Store(error) | Self::FileService(FileServiceError::Store(error)) => error.remedy(),
            Self::Cancelled => "open it again",
            Self::NotTrusted { .. } => {
                "look at it and decide with: workshop trust; or start over from the scene file with --fresh"
            }
            Self::Files(_) => "close other programs, then try again",
            Self::FileService(FileServiceError::Files(_)) => {
                "check that the folder exists and that you can read and write it"
            }
            Self::NoSuchScene { .. } => {
                "name one of those with --scene, or write the starter kit with: workshop init DIR"
            }
            Self::Saved(_) => "start over from the scene file with --fresh; this drops unfinished work",
        }
    }
}
