//! Tells a window which files changed, so that it need not poll: the newest state of every path that the file service
//! wrote or noticed, until it is read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::index::Entry;
use super::path::{FileKind, kind_of};
use crate::store::FileHead;

/// The maximum number of files in the feed; beyond that, it only reports that everything may have changed.
const MAX_FILES: usize = 4096;

/// The listing entry of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileInfo {
    /// The path of the file.
    pub path: String,
    /// The purpose of the folder that contains it.
    pub kind: FileKind,
    /// The size in bytes; 0 for a deleted file.
    pub size: u64,
    /// The time of the last write, in milliseconds since 1970.
    pub modified_ms: u64,
    /// The newest version; 0 if the file has none.
    pub version: u64,
    /// Whether the file exists. A deleted file still has its versions.
    pub is_there: bool,
}

impl FileInfo {
    /// Creates the entry of a file from its metadata on disk and its history.
    pub(super) fn of(path: &str, entry: Option<Entry>, head: Option<&FileHead>) -> Self {
        let modified_ns = entry.map(|entry| entry.modified_ns).or(head.map(|head| head.modified_ns));
        Self {
            path: path.to_owned(),
            kind: kind_of(path),
            size: entry.map_or(0, |entry| entry.size),
            modified_ms: modified_ns.and_then(|time| u64::try_from(time / 1_000_000).ok()).unwrap_or(0),
            version: head.map_or(0, |head| head.version),
            is_there: entry.is_some(),
        }
    }

    /// Whether the path is listed: the file exists or has versions.
    pub fn is_listed(&self) -> bool {
        self.is_there || self.version > 0
    }
}

/// A file that changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedFile {
    /// Its current listing entry.
    pub info: FileInfo,
    /// The hash of its text; `None` if it was deleted or its text is not known.
    pub hash: Option<u64>,
}

/// Everything that changed since the feed was last read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChangedFiles {
    /// The files, sorted by path.
    pub files: Vec<ChangedFile>,
    /// Whether more files changed than are named, so that everything must be read again.
    pub is_incomplete: bool,
}

/// The queue of changed files, shared by the service's thread and its reader. Never locked during disk access.
#[derive(Clone, Default)]
pub struct ChangeFeed(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    files: BTreeMap<String, ChangedFile>,
    is_incomplete: bool,
}

impl ChangeFeed {
    /// Adds a file, replacing an unread entry for the same path.
    pub fn push(&self, file: ChangedFile) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.is_incomplete {
            return;
        }
        waiting.files.insert(file.info.path.clone(), file);
        if waiting.files.len() > MAX_FILES {
            *waiting = Waiting { is_incomplete: true, ..Waiting::default() };
        }
    }

    /// Removes and returns all entries.
    pub fn take(&self) -> ChangedFiles {
        let waiting = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        ChangedFiles { files: waiting.files.into_values().collect(), is_incomplete: waiting.is_incomplete }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(path: &str, version: u64) -> ChangedFile {
        let entry = Entry { size: 3, modified_ns: 2_000_000 };
        let info = FileInfo { version, ..FileInfo::of(path, Some(entry), None) };
        ChangedFile { info, hash: None }
    }

    #[test]
    fn each_file_is_reported_once_with_its_newest_state() {
        let feed = ChangeFeed::default();
        for (path, version) in [("b", 1), ("a", 1), ("b", 2)] {
            feed.push(changed(path, version));
        }
        assert_eq!(feed.take(), ChangedFiles { files: vec![changed("a", 1), changed("b", 2)], is_incomplete: false });
        assert_eq!(feed.take(), ChangedFiles::default());
    }

    #[test]
    fn too_many_changes_are_reported_as_incomplete() {
        let feed = ChangeFeed::default();
        (0..MAX_FILES + 9).for_each(|number| feed.push(changed(&number.to_string(), 1)));
        assert_eq!(feed.take(), ChangedFiles { files: Vec::new(), is_incomplete: true });
        feed.push(changed("a", 1));
        assert_eq!(feed.take().files, [changed("a", 1)]);
    }
}
