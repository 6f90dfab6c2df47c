//! The workspace as the files that agents read and write: one door for paths, every write a version, and a
//! thread of its own, so that nothing in a tick waits for the disk.
//!
//! An order goes out as a [`FileOrder`] and comes back as exactly one [`FileOutcome`] through the one door.
//! An order carries a key; the same key twice is carried out once, and answered twice alike.
//!
//! Reading order: [`order`] (what may be asked), [`path`] (what a path is), `resolve` (to the disk and
//! no further), `index` (which files there are), `desk` (carrying out one order), `changing` (exactly once),
//! `outside` (what others do), `thread`, and [`room`], which joins them to the world. [`history`] is for people.

mod changing;
mod desk;
mod ears;
pub mod history;
mod index;
mod large;
mod limits;
pub mod order;
mod outside;
pub mod path;
mod person;
mod readers;
mod recent;
pub mod records;
mod resolve;
mod rights;
pub mod room;
mod saved;
mod thread;
mod words;

pub use crate::base::ids::{OUTSIDE, ROOM};
pub use desk::DeskError;
pub use history::{FileHistory, FileInfo, finish_interrupted};
pub use limits::FileLimits;
pub use order::{
    FileAnswer, FileDone, FileFailure, FileOperation, FileOrder, FileOutcome, FileRights, TextMatch, Unsearched,
};
pub use outside::OutsideChange;
pub use path::{FileKind, PathRefusal, Reach, WorkspacePath};
pub(super) use person::give_orders;
pub use person::{FileCommand, FilesTold};
pub use room::{FileLine, must_wait, send_all, wait_before_tick, wait_for_answer};
pub(super) use saved::FilesSaved;
pub use saved::FilesUnderWay;
pub use thread::{DeskPlace, FileDesk};
