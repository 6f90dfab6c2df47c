//! The event history and the workspace folder that a person reads and edits.

#[macro_use]
extern crate workshop_foundation;

pub mod store;
pub mod workspace;

// Re-exports of the layers below.
pub(crate) use workshop_foundation::{base, log, safe_fs, schedule, text};
pub(crate) use workshop_knowledge::knowledge;
