//! What exists on disk under a name.

/// What kind of entry exists under a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EntryKind {
    /// An ordinary file.
    File,
    /// A folder.
    Folder,
    /// A link, wherever it leads.
    Link,
    /// A pipe, a device, a socket.
    Other,
}

/// The metadata of a file, available without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntryMetadata {
    /// The kind of entry.
    pub kind: EntryKind,
    /// In bytes.
    pub size: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// How many names it has: more than one means hard links.
    pub names: u64,
    /// Whether nobody may write it.
    pub is_read_only: bool,
    /// Tells it from other files of the same device; 0 where that cannot be known.
    pub number: u64,
}

impl EntryMetadata {
    /// Whether this is, as far as can be seen, the same text in the same file.
    pub fn is_same_as(&self, other: &Self) -> bool {
        (self.size, self.modified_ns, self.number) == (other.size, other.modified_ns, other.number)
    }
}
