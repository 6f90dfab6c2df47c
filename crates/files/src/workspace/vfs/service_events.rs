//! Reports of the file service to the world: external changes, and files that the room wrote to disk. Only the newest
//! event of each file is kept until a tick reads it, so the queue is bounded by the number of files.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use super::super::files::{FileChanged, FileContent};
use crate::base::{Id, Problem};
use crate::schedule::Input;

/// A file of the room is on disk, or could not be written. An input, because a person's edit is merged according to the
/// text that it was based on, and so depends on what had been saved.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SaveReport {
    /// The path relative to the workspace, with `/` between parts.
    pub path: String,
    /// The number of the room's last change that was saved; the room numbers its changes.
    pub saved: Option<u64>,
    /// Why the file could not be written, and what to do about it; writing is tried again.
    pub problem: Option<Problem>,
}

impl Input for SaveReport {
    const KIND: &'static str = "file_saved";
}

/// A file was changed without an order. An input. Files that matter to a room (agent files, boards, scenes, settings)
/// are reported as [`FileChanged`] instead.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OutsideChange {
    /// Its normalised path.
    pub path: String,
    /// Its newest version; 0 if it has none because it is not text.
    pub version: u64,
    /// Whether it was deleted.
    pub is_gone: bool,
    /// The agent or person that overwrote or deleted the change before anyone had seen it; it is kept as this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub displaced_by: Option<Id>,
    /// The author, if the change was made through this program; `None` if another program made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Id>,
    /// Details of a change that a program made which the agent `by` ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Box<ProgramChange>>,
}

/// Details of a change by a program that an agent ran.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgramChange {
    /// The activation that the program was part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation: Option<Id>,
    /// Whether the file was created.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_new: bool,
    /// Other agents whose programs ran at the same moment and may have made the change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Id>,
}

impl Input for OutsideChange {
    const KIND: &'static str = "file_outside";
}

/// A person saved or added a session file. An input. Writes by the room itself are not reported.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RecordChanged {
    /// The path of the file.
    pub path: String,
    /// The current content.
    pub content: FileContent,
    /// The room's last text of the file, if it is still known. Parts of it that are missing now were removed by someone
    /// who edited an older text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ours: Option<String>,
}

impl RecordChanged {
    /// Creates the report of a session file without the room's last text.
    pub fn new(path: impl Into<String>, content: FileContent) -> Self {
        Self { path: path.into(), content, ours: None }
    }
}

impl Input for RecordChanged {
    const KIND: &'static str = "session_file";
}

/// An event to report to the world.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::workspace) enum ServiceEvent {
    /// Someone else changed a file that the room uses.
    Changed(FileChanged),
    /// Someone else changed any other file.
    Outside(OutsideChange),
    /// Someone else changed a session file.
    Record(RecordChanged),
    /// One of the room's texts was saved, or could not be.
    Saved(SaveReport),
}

/// The kind of an event; a newer event replaces an older one of the same kind and path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum ServiceEventKind {
    Changed,
    Outside,
    Record,
    Saved,
    NotSaved,
}

impl ServiceEvent {
    fn key(&self) -> (ServiceEventKind, String) {
        match self {
            Self::Changed(change) => (ServiceEventKind::Changed, change.path.clone()),
            Self::Outside(change) => (ServiceEventKind::Outside, change.path.clone()),
            Self::Record(change) => (ServiceEventKind::Record, change.path.clone()),
            Self::Saved(report) if report.saved.is_some() => (ServiceEventKind::Saved, report.path.clone()),
            Self::Saved(report) => (ServiceEventKind::NotSaved, report.path.clone()),
        }
    }
}

/// The newest event of each kind for each path, in order of first occurrence. Shared by the service's thread and the
/// world; never locked during disk access.
#[derive(Clone, Default)]
pub(in crate::workspace) struct ServiceEventQueue(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    in_order: BTreeMap<u64, ServiceEvent>,
    /// The position of each event in that order.
    slots: HashMap<(ServiceEventKind, String), u64>,
    next: u64,
}

impl Waiting {
    fn pop(&mut self) -> Option<ServiceEvent> {
        let (_, news) = self.in_order.pop_first()?;
        self.slots.remove(&news.key());
        Some(news)
    }
}

impl ServiceEventQueue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event, replacing one of the same kind for the same file.
    pub(super) fn push(&self, news: ServiceEvent) {
        let mut waiting = self.lock();
        let next = waiting.next;
        let slot = *waiting.slots.entry(news.key()).or_insert(next);
        waiting.next = next.max(slot + 1);
        waiting.in_order.insert(slot, news);
    }

    /// Removes the event for a change: the world learns the current content in another way.
    pub(super) fn forget_change(&self, path: &str) {
        let mut waiting = self.lock();
        if let Some(slot) = waiting.slots.remove(&(ServiceEventKind::Changed, path.to_owned())) {
            waiting.in_order.remove(&slot);
        }
    }

    /// Whether there is nothing to report.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().in_order.is_empty()
    }

    /// Removes and returns at most `most` events, oldest first.
    pub(super) fn take(&self, most: usize) -> Vec<ServiceEvent> {
        let mut waiting = self.lock();
        std::iter::from_fn(|| waiting.pop()).take(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::files::FileContent;
    use super::*;

    #[test]
    fn the_newest_event_of_a_file_replaces_older_ones() {
        let news = ServiceEventQueue::default();
        let changed =
            |path: &str, text: &str| ServiceEvent::Changed(FileChanged::new(path, FileContent::Text(text.into())));
        for change in [changed("a", "1"), changed("b", "1"), changed("a", "2")] {
            news.push(change);
        }
        assert_eq!(news.take(1), [changed("a", "2")]);
        assert_eq!(news.take(9), [changed("b", "1")]);
    }
}
