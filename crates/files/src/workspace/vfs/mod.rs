//! The workspace as the files that agents read and write: one door for paths, every write a version, and a
//! thread of its own, so that nothing in a tick waits for the disk.
//!
//! An order goes out as a [`FileOrder`] and comes back as exactly one [`FileOutcome`] through the one door.
//! An order carries a key; the same key twice is carried out once, and answered twice alike.
//!
//! Reading order: [`order`] (what may be asked), [`path`] (what a path is), `resolve` (to the disk and
//! no further), `index` (which files there are), `executor` (carrying out one order), `changing` (exactly once),
//! `saving` (what the room writes), `noticing` (what others do), `watcher` (hearing that they do), `service` (the one
//! thread with all of it), `feed` (telling a window), and `bridge`, which joins it to the world. [`history`] is for people.

mod at_rest;
mod bridge;
mod changing;
mod executor;
mod feed;
pub mod history;
mod index;
mod large;
mod limits;
mod news;
mod noticing;
pub mod order;
mod person;
mod readers;
mod recent;
mod record_keeping;
pub mod records;
mod resolve;
mod rights;
mod room_files;
mod saved;
mod saving;
mod service;
mod session_records;
mod session_texts;
mod user_changes;
mod watcher;
mod words;
pub mod worktrees;

pub use super::path;
pub use super::path::{FileKind, PathRefusal, Reach, WorkspacePath};
pub use crate::base::ids::{OUTSIDE, ROOM};
pub use at_rest::{AtRestError, FilesAtRest};
pub use bridge::{FileBridge, hand_over, has_news, must_wait, send_all, wait_before_tick, wait_for_answer};
pub(super) use bridge::{collect, send};
pub use executor::FileServiceError;
pub use feed::{ChangeFeed, ChangedFile, ChangedFiles, FileInfo};
pub use history::{FileHistory, finish_interrupted};
pub use limits::FileLimits;
pub use news::{OutsideChange, RecordChanged, SaveReport};
pub use order::{
    ChangedInWorktree, FileAnswer, FileDone, FileFailure, FileOperation, FileOrder, FileOutcome, FileRights, TextMatch,
    Unsearched, WorktreeChanges,
};
pub(super) use person::give_orders;
pub use person::{FileCommand, FilesTold};
pub(super) use readers::is_agent;
pub(super) use saved::FilesSaved;
pub use saved::FilesUnderWay;
pub use saving::SaveOrder;
pub use service::{FileHandle, FileService, FileServiceOptions};
pub use user_changes::{NewFile, write_new};
