//! Watches the workspace's files with the operating system's notifications: all except hidden ones, where this program
//! and git write constantly, and including people's answers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crossbeam_channel::Sender;
use notify_debouncer_full::notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, RecommendedCache, new_debouncer};

use super::super::layout::ROOM_FOLDERS;

/// How long events of the system are collected, in wall-clock time.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// A change of files.
pub(super) enum FileEvent {
    /// These paths changed.
    Paths(Vec<PathBuf>),
    /// Something changed, but it is not known what.
    Anything,
}

/// Watches the folders of a workspace.
pub(super) struct Watcher {
    root: PathBuf,
    /// `None` if the system reports nothing; files are then only polled.
    listener: Option<Debouncer<RecommendedWatcher, RecommendedCache>>,
    listening: BTreeSet<PathBuf>,
    /// Folders that cannot be watched because they contain too many others; they are polled.
    unwatched: BTreeSet<PathBuf>,
}

impl Watcher {
    pub(super) fn new(root: &Path, events: Sender<FileEvent>) -> Self {
        let listener = new_debouncer(DEBOUNCE, None, move |result: DebounceEventResult| {
            let event = match result {
                Ok(events) => {
                    let changes = events.iter().filter(|event| !event.kind.is_access());
                    FileEvent::Paths(changes.flat_map(|event| event.paths.iter().cloned()).collect())
                }
                Err(_) => FileEvent::Anything,
            };
            // If the queue is full, the thread notices and examines everything.
            let _ = events.try_send(event);
        });
        let listener = listener.map_err(|error| tracing::warn!("files are polled: {error}")).ok();
        let (listening, unwatched) = (BTreeSet::new(), BTreeSet::new());
        let mut watcher = Self { root: root.to_owned(), listener, listening, unwatched };
        watcher.listen(None);
        watcher
    }

    /// Whether the system reports the changes of all folders.
    pub(super) fn covers_everything(&self) -> bool {
        self.listener.is_some() && self.unwatched.is_empty()
    }

    /// Whether this folder is watched.
    pub(super) fn listens_to(&self, folder: &Path) -> bool {
        self.listening.contains(folder)
    }

    /// Watches every existing folder, including that of people's answers.
    pub(super) fn listen(&mut self, answers: Option<&Path>) {
        let Some(listener) = &mut self.listener else { return };
        let is_open = |entry: &std::fs::DirEntry| {
            entry.file_type().is_ok_and(|kind| kind.is_dir()) && !entry.file_name().to_string_lossy().starts_with('.')
        };
        let entries = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries.filter(is_open).map(|entry| entry.path()).collect();
        // The number of watches is limited, so the folders of the room come first.
        folders.sort_by_key(|folder| !ROOM_FOLDERS.iter().any(|own| folder.ends_with(own)));
        let shallow = [self.root.as_path()].into_iter().chain(answers).map(|folder| (folder.to_owned(), false));
        let wanted: Vec<(PathBuf, bool)> = shallow.chain(folders.into_iter().map(|folder| (folder, true))).collect();
        let is_wanted = |folder: &PathBuf| wanted.iter().any(|(other, _)| other == folder);
        self.listening.retain(is_wanted);
        self.unwatched.retain(is_wanted);
        for (folder, is_deep) in wanted {
            if self.listening.contains(&folder) || self.unwatched.contains(&folder) {
                continue;
            }
            let mode = if is_deep { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
            match listener.watch(&folder, mode) {
                Ok(()) => self.listening.insert(folder),
                Err(error) => {
                    tracing::warn!("{} cannot be watched and is polled: {error}", folder.display());
                    self.unwatched.insert(folder)
                }
            };
        }
    }
}
