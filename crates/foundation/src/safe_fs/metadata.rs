//! The metadata of directory entries.

/// The kind of a directory entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, whatever its target is.
    Link,
    /// A pipe, a device or a socket.
    Other,
}

/// The metadata of a file, available without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntryMetadata {
    /// The kind of entry.
    pub kind: EntryKind,
    /// The size in bytes.
    pub size: u64,
    /// The modification time, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// The time of the last change of the content or of other metadata, which programs cannot set, in nanoseconds since
    /// 1970; the modification time where the system does not know it.
    pub changed_ns: i64,
    /// The number of hard links.
    pub names: u64,
    /// Whether it is read-only for everyone.
    pub is_read_only: bool,
    /// The inode number, which differs from those of other files of the same device; 0 if it is unknown.
    pub number: u64,
}

impl EntryMetadata {
    /// Whether it appears to be the same file with the same content.
    pub fn is_same_as(&self, other: &Self) -> bool {
        (self.size, self.modified_ns, self.number) == (other.size, other.modified_ns, other.number)
    }
}
