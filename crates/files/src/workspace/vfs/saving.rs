//! Saves the room's changes after collecting them briefly; each save is a version. The room never overwrites a text
//! that someone else wrote: such a save waits until the world has merged both, and until the other program has finished.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::super::files::FileContent;
use super::super::{layout, unsaved_copies};
use super::ROOM;
use super::executor::Executor;
use super::order::{FileFailure, FileOperation, FileOrder, FileRights};
use super::path::WorkspacePath;
use super::resolve::PathError;
use super::service_events::{SaveReport, ServiceEvent};
use super::unfinished_saves::STILL;
use crate::base::hash::content_hash;
use crate::base::{Author, Problem, Seq};

/// How long writes are collected before they reach the disk, in wall-clock time.
const DELAY: Duration = Duration::from_millis(300);
/// How soon a failed write is tried again.
const RETRY: Duration = Duration::from_millis(500);
/// How often a file that another program is writing is examined again, while someone waits for it.
const SETTLE_INTERVAL: Duration = Duration::from_millis(20);

/// A text of the room that is to be saved in a file.
#[derive(Clone, PartialEq, Debug)]
pub struct SaveOrder {
    /// The whole text.
    pub text: String,
    /// The hash of the last text by someone else that this one includes; `None` if there was no file.
    pub over: Option<u64>,
    /// The number of the room's last change that the text includes.
    pub number: u64,
}

/// The newest save order for each path: bounded by the number of files.
#[derive(Clone, Default)]
pub(super) struct SaveOrders(Arc<Mutex<BTreeMap<String, SaveOrder>>>);

impl SaveOrders {
    /// Queues a save, replacing an older one of the same file. Never waits.
    pub(super) fn queue(&self, path: &str, order: SaveOrder) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), order);
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn take(&self) -> BTreeMap<String, SaveOrder> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn take_one(&self, path: &str) -> Option<SaveOrder> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(path)
    }
}

/// Pending saves, on the service's thread.
#[derive(Default)]
pub(super) struct Saves {
    pub(super) orders: SaveOrders,
    waiting: BTreeMap<String, SaveOrder>,
    /// The last problem that was reported to the world, by path.
    reported: BTreeMap<String, Problem>,
    /// Whether a pending save waits for another program.
    is_unsettled: bool,
    /// When the pending saves are written.
    pub(super) due: Option<Instant>,
}

impl Saves {
    /// Writes the pending saves if they are due.
    pub(super) fn write_due(&mut self, files: &mut Executor) {
        if self.due.is_none() && !self.orders.is_empty() {
            self.due = Some(Instant::now() + DELAY);
        }
        if self.due.is_some_and(|due| due <= Instant::now()) {
            self.write_all(files, Haste::Waits);
        }
    }

    /// Writes all pending saves, after waiting a moment for files that other programs are writing. Returns a problem for
    /// each that failed.
    pub(super) fn write_all_settled(&mut self, files: &mut Executor) -> Vec<Problem> {
        let until = Instant::now() + STILL;
        loop {
            let problems = self.write_all(files, if Instant::now() < until { Haste::Waits } else { Haste::AtOnce });
            if !self.is_unsettled {
                return problems;
            }
            std::thread::sleep(SETTLE_INTERVAL);
        }
    }

    /// Writes all pending saves. Returns a problem for each that failed.
    pub(super) fn write_all(&mut self, files: &mut Executor, haste: Haste) -> Vec<Problem> {
        self.waiting.extend(self.orders.take());
        self.is_unsettled = false;
        let mut problems = Vec::new();
        for (path, order) in std::mem::take(&mut self.waiting) {
            problems.extend(self.write_one(files, path, order, haste));
        }
        self.due = (!self.waiting.is_empty()).then(|| Instant::now() + RETRY);
        problems
    }

    /// Writes the pending save of one file now, because the room's text must be in the file before it is edited. If
    /// that fails, the save stays pending: the edit is made to the text in the file, and the world merges both.
    pub(super) fn write_before_edit(&mut self, files: &mut Executor, path: &str) {
        let older = self.waiting.remove(path);
        let Some(order) = self.orders.take_one(path).or(older) else { return };
        self.write_one(files, path.to_owned(), order, Haste::AtOnce);
        if !self.waiting.is_empty() {
            self.due.get_or_insert_with(|| Instant::now() + RETRY);
        }
    }

    /// Writes a save, or keeps it pending. Returns why it is not in the file yet, if somebody should know.
    fn write_one(&mut self, files: &mut Executor, path: String, order: SaveOrder, haste: Haste) -> Option<Problem> {
        let problem = match files.save(&path, &order, haste) {
            Ok(()) => {
                self.reported.remove(&path);
                return None;
            }
            Err(NotSaved::Unsettled) => {
                self.is_unsettled = true;
                None
            }
            Err(NotSaved::Held) => {
                let what = "someone else just changed it";
                Some(Problem::warning(&*path, what, "nothing to do: both changes will be merged"))
            }
            Err(NotSaved::Failed(problem)) => {
                if self.reported.insert(path.clone(), problem.clone()).as_ref() != Some(&problem) {
                    let report = SaveReport { path: path.clone(), saved: None, problem: Some(problem.clone()) };
                    files.news.push(ServiceEvent::Saved(report));
                }
                Some(problem)
            }
        };
        self.waiting.insert(path, order);
        problem
    }

    /// Writes all pending saves before the service stops. A text that cannot be written is kept where a person can find
    /// it.
    pub(super) fn write_all_or_keep(&mut self, files: &mut Executor) -> Vec<Problem> {
        let why: BTreeMap<String, Problem> =
            self.write_all_settled(files).into_iter().map(|problem| (problem.place.clone(), problem)).collect();
        files.merge_last_writes();
        let root = files.room.as_ref().and_then(|room| room.home()).ok_or("its folder cannot be opened");
        let mut problems = Vec::new();
        for (path, order) in std::mem::take(&mut self.waiting) {
            let kept = root.as_ref().map_err(|error| error.to_string()).and_then(|root| {
                unsaved_copies::keep_text(root, &path, &order.text).map_err(|error| error.to_string())
            });
            let what = why.get(&path).map_or("could not be saved", |problem| &problem.what);
            let problem = match kept {
                Ok(kept) => Problem::warning(
                    &*path,
                    format!("{what}; the room closed, and its own version is kept as {kept}"),
                    "open the room again: its changes are merged with the file",
                ),
                Err(error) => Problem::error(
                    &*path,
                    format!(
                        "{what}; the room closed, and its own version could not be kept in {}: {error}",
                        unsaved_copies::PLACE
                    ),
                    "free up disk space or make the folder writable, and open the room again",
                ),
            };
            tracing::warn!("{problem}");
            problems.push(problem);
        }
        problems
    }
}

/// Returns the problem that tells a person that a record could not be written while the room was closed.
pub(super) fn not_recorded(path: &str, failure: &FileFailure) -> Problem {
    let remedy = "check that the folder is writable and that the disk is not full; it is saved when the room is next \
        opened";
    Problem::error(path, format!("could not be written: {}", failure.what), remedy)
}

/// Whether a save waits for files that other programs are writing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Haste {
    Waits,
    AtOnce,
}

pub(super) enum NotSaved {
    /// Another program may still be writing the file.
    Unsettled,
    /// The file contains someone else's text that the world has not merged yet.
    Held,
    Failed(Problem),
}

impl Executor {
    /// Writes a text of the room into its file like any other order, unless the file has someone else's text.
    pub(super) fn save(&mut self, path: &str, save: &SaveOrder, haste: Haste) -> Result<(), NotSaved> {
        let failed = |what: String, remedy: &str| NotSaved::Failed(Problem::error(path, what, remedy));
        let (real, ours) = self.place_to_save(path)?;
        let most = self.limits.bytes_at_most(&real).max(layout::most_bytes(path) as u64);
        let now = match self.index.read(&self.root, &real, most) {
            Ok(now) => Some(now),
            Err(PathError::Missing) => None,
            Err(trouble) => {
                let what = format!("cannot be overwritten: {}", trouble.message(path));
                return Err(failed(what, "replace it with a text file, or remove it"));
            }
        };
        if now.as_ref().is_some_and(|(text, _)| **text == *save.text) {
            self.saved(path, save);
            return Ok(());
        }
        let there = now.as_ref().map(|(text, _)| content_hash(text.as_bytes()));
        if there != save.over && (there.is_none() || there != ours) {
            return Err(NotSaved::Held);
        }
        if let Some((_, found)) = now.as_ref().filter(|_| there != ours && haste == Haste::Waits)
            && self.unfinished.must_wait(path, found)
        {
            return Err(NotSaved::Unsettled);
        }
        let order = FileOrder {
            key: format!("room-{}-{path}", save.number).into(),
            author: Author(ROOM.into()),
            activation: None,
            operation: FileOperation::Save { path: path.into(), base: save.over, content: save.text.clone() },
            rights: FileRights::default(),
            cause: Seq(0),
            worktree: None,
        };
        match self.try_put(&order, 0, &real, (&save.text, None), now) {
            Ok(Some(_)) => {
                self.saved(path, save);
                Ok(())
            }
            Ok(None) => Err(NotSaved::Held),
            Err(failure) => {
                let remedy =
                    "check that it and its folder are writable and that the disk is not full; saving is retried";
                Err(failed(format!("could not be saved: {}", failure.what), remedy))
            }
        }
    }

    /// Returns the real path of one of the room's files, and the hash of what the room wrote there last. A link is
    /// kept; the file that it leads to is changed.
    fn place_to_save(&self, path: &str) -> Result<(WorkspacePath, Option<u64>), NotSaved> {
        let failed = |what: String, remedy: &str| NotSaved::Failed(Problem::error(path, what, remedy));
        let Some(room) = &self.room else {
            return Err(failed("is not a room file".into(), "open the room again"));
        };
        if !layout::is_used_by_room(path) {
            return Err(failed("is not a valid place for a room file".into(), "name a file like boards/rules.md"));
        }
        if !room.is_in_place() {
            let what = format!("{} was moved or deleted while the room was open", room.root().display());
            return Err(failed(what, "close the room, and open the workspace at its new location"));
        }
        let real = match layout::real_place(room.root(), path) {
            Ok(real) => real,
            Err(FileContent::Unusable { what, remedy }) => {
                return Err(failed(format!("cannot be overwritten: it {what}"), &remedy));
            }
            Err(_) => return Err(NotSaved::Held),
        };
        let real = WorkspacePath::new(&real).map_err(|why| {
            failed(
                why.to_string(),
                "replace the link with the file \
            itself",
            )
        })?;
        Ok((real, room.ours.get(path).copied()))
    }

    /// Records that one of the room's texts is in its file. Reported before anybody examines the file again, so that
    /// later changes are known to be based on this text.
    fn saved(&mut self, path: &str, order: &SaveOrder) {
        if let Some(room) = &mut self.room {
            room.record_written(path, content_hash(order.text.as_bytes()));
        }
        self.note_changed(path);
        self.news.push(ServiceEvent::Saved(SaveReport {
            path: path.to_owned(),
            saved: Some(order.number),
            problem: None,
        }));
    }
}

#[cfg(test)]
#[path = "saving_tests.rs"]
mod tests;
