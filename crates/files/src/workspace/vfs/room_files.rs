//! The files that the room itself reads and writes, as the file service knows them: which text of each was already
//! processed. One table for noticing external changes, for orders and for the room's own saves, on the service's
//! thread.

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
    /// The folder itself, wherever it is now; `None` if it could not be opened.
    home: Option<Folder>,
    /// The contents that the world knows or wrote, by path; anything else is news.
    pub(super) known: HashMap<String, u64>,
    /// What the room itself wrote last, or started from: this may be written over.
    pub(super) ours: HashMap<String, u64>,
    /// Files as they were when last read, to spare reading them in vain.
    pub(super) stamps: HashMap<String, Stamp>,
    /// Whether the world is notified of changes by others.
    pub(super) is_watched: bool,
}

impl RoomFiles {
    /// The folder, and the texts that the world starts from.
    pub(super) fn new(root: &Path, files: &BTreeMap<String, String>, is_watched: bool) -> Self {
        let known: HashMap<_, _> =
            files.iter().map(|(path, text)| (path.clone(), content_hash(text.as_bytes()))).collect();
        let ours = known.clone();
        Self { root: root.to_owned(), home: Folder::open(root).ok(), known, ours, stamps: HashMap::new(), is_watched }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder itself, wherever it lies by now.
    pub(super) fn home(&self) -> Option<&Folder> {
        self.home.as_ref()
    }

    /// Whether the folder is still where it was opened. If it was moved or deleted as a whole, nobody edited or removed
    /// the files in it, and nothing is created again in its place.
    pub(super) fn is_in_place(&self) -> bool {
        let Some(home) = self.home.as_ref().and_then(|home| home.own_look().ok()) else { return true };
        home.number == 0
            || Folder::open(&self.root).and_then(|now| now.own_look()).is_ok_and(|now| now.number == home.number)
    }

    /// Records that the world knows this content; `None` means that there is no such file.
    pub(super) fn know(&mut self, path: &str, hash: Option<u64>) {
        match hash {
            Some(hash) => self.known.insert(path.to_owned(), hash),
            None => self.known.remove(path),
        };
    }

    /// Records that the room's own text is now the content of a file.
    pub(super) fn wrote(&mut self, path: &str, hash: u64) {
        self.known.insert(path.to_owned(), hash);
        self.ours.insert(path.to_owned(), hash);
    }

    /// How a file looks now, without reading it. A link is followed: it is only looked at.
    pub(super) fn stamp(&self, path: &str) -> Option<Stamp> {
        let metadata = std::fs::metadata(self.root.join(path)).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    }
}

/// A fingerprint of the content of a file; `None` if there is no file.
pub(super) fn fingerprint(content: &FileContent) -> Option<u64> {
    match content {
        FileContent::Text(text) => Some(content_hash(text.as_bytes())),
        FileContent::Removed => None,
        FileContent::Unusable { what, .. } => Some(content_hash(format!("\0unusable {what}").as_bytes())),
    }
}
