//! The virtual file system of agents: one way to resolve paths, a version for every write, and its own thread, so that
//! a tick never waits for the disk.
//!
//! An order is sent as a [`FileOrder`] and answered by exactly one [`FileOutcome`], which enters as an input. Each
//! order has a key; an order with the same key is executed once and gets the same answer each time.
//!
//! Reading order: [`order`] (what can be requested), [`path`] (paths), `resolve` (from a path to the disk, but not
//! beyond the workspace), `index` (which files exist), `executor` (executing one order), `text_edit` (edits described as
//! data) and `edit_orders` (carrying them out), `write_ahead` (exactly once), `saving` (what the room writes),
//! `external_edits` (external changes), `program_changes` (those of agents' programs, of which `running_programs` keeps
//! track), `unfinished_saves` and `late_writes` (those that take a while), `first_versions` (what was there before),
//! `watcher` (noticing them), `service` (the thread that runs all this), `change_feed` (informing a window), and
//! `bridge`, which connects it to the world. [`history`] is for people.

mod bridge;
mod change_feed;
mod direct_access;
mod edit_orders;
mod error_messages;
mod executor;
mod external_edits;
mod first_versions;
pub mod history;
mod index;
mod large_files;
mod late_writes;
mod limits;
pub mod order;
mod owned_orders;
mod pending_orders;
mod program_changes;
mod program_observer;
mod readers;
mod recent_answers;
mod record_retention;
mod record_text;
pub mod records;
mod resolve;
mod rights;
mod room_files;
mod running_programs;
mod saving;
mod service;
mod service_events;
mod session_records;
mod session_texts;
mod text_edit;
mod unfinished_saves;
mod user_changes;
mod user_commands;
mod watcher;
pub mod worktrees;
mod write_ahead;

pub use super::path;
pub use super::path::{FileKind, PathAccess, PathRefusal, WorkspacePath};
pub use crate::base::ids::{OUTSIDE, ROOM};
pub use bridge::{
    FileBridge, FileReportsReceived, hand_over, has_news, must_wait, send_all, wait_before_tick, wait_for_answer,
};
pub(super) use bridge::{collect, send};
pub use change_feed::{ChangeFeed, ChangedFile, ChangedFiles, FileInfo};
pub use direct_access::{DirectFileError, DirectFiles};
pub use executor::FileServiceError;
pub use history::{FileHistory, finish_interrupted};
pub use limits::FileLimits;
pub use order::{
    ChangedInWorktree, FileAnswer, FileFailure, FileOperation, FileOrder, FileOutcome, FileResult, FileRights,
    TextMatch, Unsearched, WorktreeChanges,
};
pub use owned_orders::OwnedOrders;
pub(super) use pending_orders::FilesSaved;
pub use pending_orders::PendingFileOrders;
pub use program_observer::{ObservedProgram, ProgramObserver};
pub(super) use readers::is_agent;
pub use record_text::RecordText;
pub use running_programs::{ChangedByProgram, ProgramOwner};
pub use saving::SaveOrder;
pub use service::{FileHandle, FileService, FileServiceOptions};
pub use service_events::{OutsideChange, ProgramChange, RecordChanged, SaveReport};
pub use text_edit::{EditReport, TextEdit};
pub use user_changes::{NewFile, TextOrigin, write_new};
pub(super) use user_commands::give_orders;
pub use user_commands::{FileCommand, UserCommandResults};
