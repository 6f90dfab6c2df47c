//! Hearing from the system that someone did something to the workspace's files: all of them but the hidden ones,
//! where this program and git write all the time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crossbeam_channel::Sender;
use notify_debouncer_full::notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, RecommendedCache, new_debouncer};

use super::thread::Word;

/// How long the system's word is collected, in wall-clock time.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// Listens to the folders of a workspace.
pub(super) struct Ears {
    root: PathBuf,
    /// None where the system gives no word: then files are polled.
    listener: Option<Debouncer<RecommendedWatcher, RecommendedCache>>,
    listening: BTreeSet<PathBuf>,
}

impl Ears {
    pub(super) fn new(root: &Path, words: Sender<Word>) -> Self {
        let listener = new_debouncer(DEBOUNCE, None, move |result: DebounceEventResult| {
            let word = match result {
                Ok(events) => {
                    let changes = events.iter().filter(|event| !event.kind.is_access());
                    Word::Paths(changes.flat_map(|event| event.paths.iter().cloned()).collect())
                }
                Err(_) => Word::Anything,
            };
            // If it is full, the thread sees that it is, and looks at everything.
            let _ = words.try_send(word);
        });
        let listener = listener.map_err(|error| tracing::warn!("files are polled: {error}")).ok();
        let mut ears = Self { root: root.to_owned(), listener, listening: BTreeSet::new() };
        ears.turn();
        ears
    }

    /// Whether the system says what happens.
    pub(super) fn hears(&self) -> bool {
        self.listener.is_some()
    }

    /// Listens to every folder that is there by now.
    pub(super) fn turn(&mut self) {
        let Some(listener) = &mut self.listener else { return };
        let is_open = |entry: &std::fs::DirEntry| {
            entry.file_type().is_ok_and(|kind| kind.is_dir()) && !entry.file_name().to_string_lossy().starts_with('.')
        };
        let entries = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        let folders: BTreeSet<PathBuf> = entries.filter(is_open).map(|entry| entry.path()).collect();
        self.listening.retain(|folder| *folder == self.root || folders.contains(folder));
        let root = (self.root.clone(), RecursiveMode::NonRecursive);
        let wanted = folders.into_iter().map(|folder| (folder, RecursiveMode::Recursive));
        for (folder, mode) in std::iter::once(root).chain(wanted) {
            if self.listening.contains(&folder) {
                continue;
            }
            if let Err(error) = listener.watch(&folder, mode) {
                tracing::warn!("{} cannot be listened to, files are polled: {error}", folder.display());
                self.listener = None;
                return;
            }
            self.listening.insert(folder);
        }
    }
}
