//! What agents know: memories as lines of files that a person edits, and how they are found by meaning and keyword.

pub mod knowledge;

// The floors below, by the names that everything knows them by.
pub(crate) use workshop_foundation::base;
