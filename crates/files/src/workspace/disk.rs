//! What the saver and the watcher share: which text of each file is accounted for, and the news that waits for
//! the world. The files are read and written under one lock, so that neither sees the other half done; the news
//! have a lock of their own that is never held while a disk works, and the world only ever touches that one.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use super::files::{FileChanged, FileContent};
use crate::base::Problem;
use crate::base::hash::content_hash;
use crate::safe_fs::Folder;
use crate::schedule::Input;

/// A file that the room wrote is on disk now, or could not be written. An input: what a person's edit was made
/// from, and so how it is joined with what the room did meanwhile, depends on what had been saved.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SaveReport {
    /// Relative to the workspace, `/` between parts.
    pub path: String,
    /// The number of the room's last change that stands in it; changes are counted up by the room.
    pub saved: Option<u64>,
    /// Why it could not be written, with what to do; it is tried again.
    pub problem: Option<Problem>,
}

impl Input for SaveReport {
    const KIND: &'static str = "file_saved";
}

/// Something that the world is to be told.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum News {
    Changed(FileChanged),
    Saved(SaveReport),
}

/// The files of one workspace on disk. Shared by a [`super::Saver`] and a [`super::Watcher`].
#[derive(Debug)]
pub struct Disk {
    root: PathBuf,
    /// The folder itself, wherever it lies by now; none where it could not be opened.
    home: Option<Folder>,
    ledger: Mutex<Ledger>,
    news: Mutex<Waiting>,
}

/// The newest news of each kind for each path, in the order in which they came first: bounded by the number of files.
#[derive(Debug, Default)]
struct Waiting {
    in_order: BTreeMap<u64, News>,
    /// Where each is in that order.
    places: HashMap<(NewsKind, String), u64>,
    next: u64,
}

/// What news take the place of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum NewsKind {
    Changed,
    Saved,
    NotSaved,
}

impl News {
    fn key(&self) -> (NewsKind, String) {
        match self {
            Self::Changed(change) => (NewsKind::Changed, change.path.clone()),
            Self::Saved(report) if report.saved.is_some() => (NewsKind::Saved, report.path.clone()),
            Self::Saved(report) => (NewsKind::NotSaved, report.path.clone()),
        }
    }
}

impl Waiting {
    fn push(&mut self, news: News) {
        let place = *self.places.entry(news.key()).or_insert(self.next);
        self.next = self.next.max(place + 1);
        self.in_order.insert(place, news);
    }

    fn pop(&mut self) -> Option<News> {
        let (_, news) = self.in_order.pop_first()?;
        self.places.remove(&news.key());
        Some(news)
    }
}

/// The hashes that tell what is accounted for.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// What the world was told of, or wrote: what differs from this is news.
    pub(super) known: HashMap<String, u64>,
    /// What the room itself wrote last, or started from: this may be written over.
    pub(super) ours: HashMap<String, u64>,
}

impl Disk {
    /// The folder, and the texts that the world starts from.
    pub fn new(root: &Path, files: &BTreeMap<String, String>) -> Arc<Self> {
        let known: HashMap<_, _> =
            files.iter().map(|(path, text)| (path.clone(), content_hash(text.as_bytes()))).collect();
        let ledger = Ledger { ours: known.clone(), known };
        let home = Folder::open(root).ok();
        Arc::new(Self { root: root.to_owned(), home, ledger: Mutex::new(ledger), news: Mutex::default() })
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder itself, wherever it lies by now.
    pub(super) fn home(&self) -> Option<&Folder> {
        self.home.as_ref()
    }

    /// Whether the folder still lies where it was opened. Where it was moved or deleted as a whole, nobody edited or
    /// removed the files in it, and nothing is made anew in its place.
    pub(super) fn is_in_place(&self) -> bool {
        let Some(home) = self.home.as_ref().and_then(|home| home.own_look().ok()) else { return true };
        home.number == 0
            || Folder::open(&self.root).and_then(|now| now.own_look()).is_ok_and(|now| now.number == home.number)
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // A panic elsewhere leaves the hashes whole: they are single assignments.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn news(&self) -> MutexGuard<'_, Waiting> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves something for the world; it takes the place of what waits about the same file.
    pub(super) fn tell(&self, news: News) {
        self.news().push(news);
    }

    /// Takes back that someone changed a file: the world is told otherwise what stands in it now.
    pub(super) fn forget_change(&self, path: &str) {
        let mut waiting = self.news();
        if let Some(place) = waiting.places.remove(&(NewsKind::Changed, path.to_owned())) {
            waiting.in_order.remove(&place);
        }
    }

    /// Whether anything is to be told.
    pub(super) fn has_news(&self) -> bool {
        !self.news().in_order.is_empty()
    }

    /// Takes at most so many, oldest first.
    pub(super) fn take_news(&self, most: usize) -> Vec<News> {
        let mut waiting = self.news();
        std::iter::from_fn(|| waiting.pop()).take(most).collect()
    }
}

/// A number for what stands in a file; none if there is no file.
pub(super) fn fingerprint(content: &FileContent) -> Option<u64> {
    match content {
        FileContent::Text(text) => Some(content_hash(text.as_bytes())),
        FileContent::Removed => None,
        FileContent::Unusable { what, .. } => Some(content_hash(format!("\0unusable {what}").as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_word_on_a_file_takes_the_place_of_older_ones() {
        let disk = Disk::new(Path::new("nowhere"), &BTreeMap::new());
        let changed = |path: &str, text: &str| News::Changed(FileChanged::new(path, FileContent::Text(text.into())));
        for news in [changed("a", "1"), changed("b", "1"), changed("a", "2")] {
            disk.tell(news);
        }
        assert_eq!(disk.take_news(1), [changed("a", "2")]);
        assert_eq!(disk.take_news(9), [changed("b", "1")]);
    }
}
