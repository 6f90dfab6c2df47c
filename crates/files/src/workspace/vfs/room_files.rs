//! The files that the room itself reads and writes, with the text of each that was already processed. This one table,
//! on the service's thread, is used to notice external changes, for orders, and for the room's own saves.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::super::files::FileContent;
use crate::base::hash::content_hash;
use crate::safe_fs::Folder;

/// The modification time and length of a file.
pub(super) type Stamp = (SystemTime, u64);

/// The hashes of the texts that were already processed.
pub(super) struct RoomFiles {
    root: PathBuf,
    /// The folder of the workspace, even after it was moved; `None` if it could not be opened.
    home: Option<Folder>,
    /// The hashes of the contents that the world knows or wrote, by path; any other content is reported.
    pub(super) known: HashMap<String, u64>,
    /// The hashes of the texts that the room wrote last or started from, by path: these may be overwritten.
    pub(super) ours: HashMap<String, u64>,
    /// The stamps of files when they were last read, to avoid reading unchanged files.
    pub(super) stamps: HashMap<String, Stamp>,
    /// Whether the world is notified of changes by others.
    pub(super) is_watched: bool,
}

impl RoomFiles {
    /// Creates the table from the texts that the world starts with.
    pub(super) fn new(root: &Path, files: &BTreeMap<String, String>, is_watched: bool) -> Self {
        let known: HashMap<_, _> =
            files.iter().map(|(path, text)| (path.clone(), content_hash(text.as_bytes()))).collect();
        let ours = known.clone();
        Self { root: root.to_owned(), home: Folder::open(root).ok(), known, ours, stamps: HashMap::new(), is_watched }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of the workspace, even after it was moved.
    pub(super) fn home(&self) -> Option<&Folder> {
        self.home.as_ref()
    }

    /// Whether the folder is still where it was opened. If it was moved or deleted as a whole, its missing files do not
    /// count as deleted, and nothing is created again in its place.
    pub(super) fn is_in_place(&self) -> bool {
        let Some(home) = self.home.as_ref().and_then(|home| home.own_metadata().ok()) else { return true };
        home.number == 0
            || Folder::open(&self.root).and_then(|now| now.own_metadata()).is_ok_and(|now| now.number == home.number)
    }

    /// Records that the world knows this content; `None` means that there is no such file.
    pub(super) fn know(&mut self, path: &str, hash: Option<u64>) {
        match hash {
            Some(hash) => self.known.insert(path.to_owned(), hash),
            None => self.known.remove(path),
        };
    }

    /// Records that the content of a file is now the room's own text.
    pub(super) fn record_written(&mut self, path: &str, hash: u64) {
        self.known.insert(path.to_owned(), hash);
        self.ours.insert(path.to_owned(), hash);
    }

    /// Returns the stamp of a file without reading it. Links are followed, because the file is not opened.
    pub(super) fn stamp(&self, path: &str) -> Option<Stamp> {
        let metadata = std::fs::metadata(self.root.join(path)).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    }
}

/// Returns the hash of the content of a file; `None` if there is no file.
pub(super) fn fingerprint(content: &FileContent) -> Option<u64> {
    match content {
        FileContent::Text(text) => Some(content_hash(text.as_bytes())),
        FileContent::Removed => None,
        FileContent::Unusable { what, .. } => Some(content_hash(format!("\0unusable {what}").as_bytes())),
    }
}
