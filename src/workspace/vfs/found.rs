//! What is found on disk under a name.

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FoundKind {
    File,
    Folder,
    /// A link, wherever it leads.
    Link,
    /// A pipe, a device, a socket.
    Other,
}

/// What can be seen of a file without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) kind: FoundKind,
    /// In bytes.
    pub(super) size: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub(super) modified_ns: i64,
    /// How many names it has: more than one means hard links.
    pub(super) names: u64,
    pub(super) is_read_only: bool,
    /// Tells it from other files of the same device; 0 where that cannot be known.
    pub(super) number: u64,
}

impl Found {
    /// Whether this is, as far as can be seen, the same text in the same file.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        (self.size, self.modified_ns, self.number) == (other.size, other.modified_ns, other.number)
    }
}
