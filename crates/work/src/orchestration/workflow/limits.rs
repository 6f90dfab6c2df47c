//! The limits of a workflow run.

/// The limits of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Pieces that agents have at the same time.
    pub parallel: usize,
    /// Entries of a list for each of which something is done.
    pub for_each: usize,
    /// Characters of one output.
    pub output_chars: usize,
}
