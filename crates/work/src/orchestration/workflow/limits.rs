//! The limits of a workflow run.

/// The limits of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The maximum number of parts that agents work on at the same time.
    pub parallel: usize,
    /// The maximum number of entries in a `for_each` list.
    pub for_each: usize,
    /// The maximum length of an output, in characters.
    pub output_chars: usize,
}
