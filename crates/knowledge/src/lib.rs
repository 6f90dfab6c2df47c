//! The knowledge of agents: memories as lines of files that a person can edit, found by meaning and keyword.

#[macro_use]
extern crate workshop_foundation;

pub mod knowledge;

// Re-exports of the layers below.
pub(crate) use workshop_foundation::{base, text};
