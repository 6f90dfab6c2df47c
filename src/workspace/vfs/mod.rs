//! The workspace as the files that agents read and write: one door for paths, every write a version, and a
//! thread of its own, so that nothing in a tick waits for the disk.
//!
//! An order goes out as a [`FileOrder`] and comes back as exactly one [`FileOutcome`] through the one door.
//! An order carries a key; the same key twice is carried out once, and answered twice alike.

pub mod order;

pub use order::{FileAnswer, FileDone, FileFailure, FileOperation, FileOrder, FileOutcome, FileRights, TextMatch};
