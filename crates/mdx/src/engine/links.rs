//! How a file of code is linked to others.

/// How a file is linked to others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileLinks {
    /// The paths that it imports or exports from, including types, as written.
    pub imports: Vec<String>,
    /// Whether it has a default export.
    pub has_default: bool,
}
