//! What agents know: memories as lines of files that a person edits, and how they are found by meaning and keyword.

pub mod knowledge;

// Re-exports of the layers below.
pub(crate) use workshop_foundation::base;
