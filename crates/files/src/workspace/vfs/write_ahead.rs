//! How a change reaches the disk exactly once, and completely.
//!
//! 1. The new text is written next to the old one and synced. Nothing is recorded yet: if the process stops here, a
//!    hidden file is left, which the next start removes before it executes the order again.
//! 2. One transaction records the version, the answer under the order's key, and a *step*: what remains to be done on
//!    disk. From here on, the order counts as executed.
//! 3. The new file is renamed to its final path. A start that finds the step checks whether this was done, and does it
//!    if the file is as it was before.
//! 4. The step is removed, and the answer is sent. A repeated order with the same key gets the recorded answer.
//!
//! Deleting and renaming work the same way without the first step.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::layout;
use super::super::task_files::permission::only_for_a_person;
use super::executor::{
    Executor, FileServiceError, IdleTask, LastStep, RoomSave, displaced_text_problem, history, invalid_request,
    path_failure,
};
use super::order::{FileAnswer, FileFailure, FileOrder, FileResult};
use super::path::WorkspacePath;
use super::resolve::{PathError, beside_name};
use super::text_edit::{EditReport, EditedText};
use super::{OUTSIDE, is_agent};
use crate::base::hash::content_hash;
use crate::base::text_normalization::folded;
use crate::base::{Id, Problem};
use crate::log::now_ms;
use crate::safe_fs::{EntryMetadata, Replacement};
use crate::store::{Durability, FileChanges, FileHead, StoreError, VersionDraft};

/// The number of times that a change is attempted if someone else keeps changing the file.
const TRIES: usize = 5;

/// The part of a change that remains to be done on disk, as it is recorded. A stored format.
#[derive(Serialize, Deserialize, Debug)]
#[serde(tag = "step", rename_all = "snake_case")]
enum PendingChange {
    Write {
        key: Id,
        path: String,
        beside: String,
        file: i64,
        version: u64,
        before: Option<u64>,
        head: Option<FileHead>,
    },
    Delete {
        key: Id,
        path: String,
        before: u64,
        head: FileHead,
    },
    Rename {
        key: Id,
        from: String,
        to: String,
        before: u64,
        head: FileHead,
        displaced: Option<i64>,
        /// The deleted file that gets its path back, because the renamed file leaves it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        readmitted: Option<i64>,
    },
}

/// The deleted files whose paths change with a rename: the one whose path is taken, and the one that gets the path back
/// which becomes free.
#[derive(Clone, Copy, Default)]
struct MovedPaths {
    displaced: Option<i64>,
    readmitted: Option<i64>,
}

impl MovedPaths {
    /// Gives all files the paths that they had before; `head` is that of the renamed file.
    fn take_back(self, changes: &FileChanges<'_>, head: &FileHead) -> Result<(), StoreError> {
        self.readmitted.map_or(Ok(()), |file| changes.displace(file))?;
        changes.set_head(head)?;
        self.displaced.map_or(Ok(()), |file| changes.restore_path(file))
    }
}

impl Executor {
    /// Writes a text into a file: the result of `text_for` for the current content, computed again if the file changed
    /// in the meantime.
    pub(super) fn write_text(
        &mut self,
        order: &FileOrder,
        what: u64,
        path: &WorkspacePath,
        mut text_for: impl FnMut(&mut Self, Option<&str>) -> Result<EditedText, FileFailure>,
    ) -> Result<FileAnswer, FileFailure> {
        for _ in 0..TRIES {
            let now = self.present(path)?;
            let new = text_for(self, now.as_ref().map(|(text, _)| &**text))?;
            keep_permission(order, path, now.as_ref().map_or("", |(text, _)| text), &new.text)?;
            if let Some(answer) = self.try_put(order, what, path, (&new.text, new.report.as_ref()), now)? {
                self.note_own_change(path, Some(content_hash(new.text.as_bytes())));
                return Ok(answer);
            }
        }
        Err(invalid_request(format!("'{path}' keeps changing; try again.")))
    }

    /// Makes one attempt of [`Self::write_text`]; `None` if someone else changed the file meanwhile. `report` is what a
    /// described edit does.
    pub(super) fn try_put(
        &mut self,
        order: &FileOrder,
        what: u64,
        path: &WorkspacePath,
        (text, report): (&str, Option<&EditReport>),
        now: Option<(Arc<str>, EntryMetadata)>,
    ) -> Result<Option<FileAnswer>, FileFailure> {
        if let Some((old, found)) = &now {
            let is_same = **old == *text;
            let version = self
                .record_external_text(path, old, found, (!is_same).then_some(order))
                .map_err(|error| history(&error))?;
            if is_same {
                self.readers.note(path.as_str(), &order.author);
                return Ok(Some(match report.cloned() {
                    None => FileAnswer::Unchanged { path: path.as_str().to_owned(), version },
                    Some(report) => FileAnswer::Edited { done: None, conflict_with: Vec::new(), report },
                }));
            }
        }
        let old_bytes = now.as_ref().map(|(old, _)| old.len() as u64);
        if !order.is_save_of_room() {
            let (count, total) = self.used();
            self.limits.allow(path, text.len() as u64, old_bytes, count, total).map_err(invalid_request)?;
        }
        let beside = beside_name(&order.key);
        self.root.write_temporary(path, &beside, text).map_err(|trouble| path_failure(path, &trouble))?;
        self.reached(LastStep::WrittenBeside);
        let over = now.as_ref().map(|(old, _)| content_hash(old.as_bytes()));
        let (replaced, saved_ms) = (self.replaced_version(order, path), now_ms());
        let recorded = self.record_write((order, what), path, (text, report), over, &beside);
        let (step, head, answer) = recorded.map_err(|error| {
            self.root.drop_beside(path, &beside);
            history(&error)
        })?;
        self.reached(LastStep::Recorded);
        let placed = self.root.put_in_place_keeping(path, &beside, over);
        let Ok((Replacement::Replaced, old_file)) = placed else {
            self.root.drop_beside(path, &beside);
            self.revert_write(order, path, step, &head)?;
            return placed.map(|_| None).map_err(|trouble| path_failure(path, &trouble));
        };
        if let (Some(file), Some((old, _))) = (old_file, now) {
            self.unfinished.watch(path, file, old);
        }
        self.reached(LastStep::InPlace);
        let found = self.root.metadata(path).map_err(|trouble| path_failure(path, &trouble))?;
        if order.is_save_of_room() {
            self.room_saves.insert(head.file, RoomSave { version: head.version, saved_ms });
        }
        self.complete_change(step, &FileHead { size: found.size, modified_ns: found.modified_ns, ..head }, replaced);
        self.index.note(path.as_str(), &found);
        self.index.cache(path.as_str(), text.into(), found);
        self.readers.note(path.as_str(), &order.author);
        self.reached(LastStep::Settled);
        Ok(Some(with_content(answer, text)))
    }

    fn record_write(
        &mut self,
        (order, what): (&FileOrder, u64),
        path: &WorkspacePath,
        (text, report): (&str, Option<&EditReport>),
        over: Option<u64>,
        beside: &str,
    ) -> Result<(i64, FileHead, FileAnswer), StoreError> {
        let before = self.heads.get(path.as_str()).cloned();
        let conflict_with = self.readers.others(path.as_str(), &order.author);
        let (chars, hash) = (text.chars().count() as u64, content_hash(text.as_bytes()));
        let draft = VersionDraft {
            author: &order.author.0,
            activation: order.activation.as_deref(),
            order_key: Some(&order.key),
            text,
        };
        let place = path.as_str().to_owned();
        // A save is synced to disk only once: after a power failure, the file is complete, and at worst its author is
        // unknown.
        let surety = if order.must_be_done_once() { Durability::Power } else { Durability::Process };
        self.versions.change(surety, |changes| {
            let file = before.as_ref().map_or_else(|| changes.add_file(&place), |head| Ok(head.file))?;
            let version = changes.add_version(file, &draft)?;
            let done =
                FileResult::Written { path: place.clone(), version, chars, is_new: over.is_none(), content: None };
            let answer = match report.cloned() {
                None => FileAnswer::Changed { done, conflict_with },
                Some(report) => FileAnswer::Edited { done: Some(done), conflict_with, report },
            };
            let step = PendingChange::Write {
                key: order.key.clone(),
                path: place.clone(),
                beside: beside.to_owned(),
                file,
                version,
                before: over,
                head: before.clone(),
            };
            let step = keep(changes, order, what, &answer, &step)?;
            let head = FileHead { file, path: place.clone(), is_there: true, version, hash, size: 0, modified_ns: 0 };
            Ok((step, head, answer))
        })
    }

    /// Reverts a recorded write that did not reach its final path.
    fn revert_write(
        &mut self,
        order: &FileOrder,
        path: &WorkspacePath,
        step: i64,
        head: &FileHead,
    ) -> Result<(), FileFailure> {
        let before = self.heads.get(path.as_str()).cloned();
        let taken_back = self.versions.change(Durability::Process, |changes| {
            changes.end_step(step)?;
            changes.delete_answer(&order.key)?;
            changes.remove_newest_version(head.file, head.version, before.as_ref())
        });
        taken_back.map_err(|error| history(&error))
    }

    /// The room's own version that a save replaces: saves within the same period are one version, so that a busy room
    /// does not displace other people's versions. Saves from before the start of this service stay.
    fn replaced_version(&self, order: &FileOrder, path: &WorkspacePath) -> Option<u64> {
        let stretch_ms = self.limits.save_version_secs.saturating_mul(1000);
        let head = self.heads.get(path.as_str()).filter(|_| order.is_save_of_room() && stretch_ms > 0)?;
        let save = self.room_saves.get(&head.file).filter(|save| save.version == head.version)?;
        (save.saved_ms / stretch_ms == now_ms() / stretch_ms).then_some(save.version)
    }

    /// Removes a completed step from the record, with the version that it `replaced`. If that fails, the next start
    /// finds the step completed.
    fn complete_change(&mut self, step: i64, head: &FileHead, replaced: Option<u64>) {
        let kept = self.limits.versions_kept.max(1);
        let settled = self.versions.change(Durability::Process, |changes| {
            changes.end_step(step)?;
            changes.set_head(head)?;
            replaced.map_or(Ok(()), |version| changes.drop_version(head.file, version))?;
            changes.prune(head.file, kept)
        });
        if let Err(error) = settled {
            tracing::warn!("{} is on disk, but could not be recorded: {error}", head.path);
        }
        self.heads.insert(head.path.clone(), head.clone());
        self.note_changed(&head.path);
    }

    /// Deletes a file; `None` if there is none.
    pub(super) fn delete(
        &mut self,
        order: &FileOrder,
        what: u64,
        path: &WorkspacePath,
    ) -> Result<Option<FileAnswer>, FileFailure> {
        let Some((text, found)) = self.present(path)? else {
            self.note_deleted(path);
            return Ok(None);
        };
        keep_permission(order, path, &text, "")?;
        self.record_external_text(path, &text, &found, Some(order)).map_err(|error| history(&error))?;
        let head = self.head_of(path)?;
        let done = FileResult::Deleted { path: path.as_str().to_owned(), version: head.version };
        let conflict_with = self.readers.others(path.as_str(), &order.author);
        let answer = FileAnswer::Changed { done, conflict_with };
        let gone = FileHead { is_there: false, ..head.clone() };
        let step = PendingChange::Delete {
            key: order.key.clone(),
            path: path.as_str().to_owned(),
            before: head.hash,
            head: head.clone(),
        };
        let recorded = self.versions.change(Durability::Power, |changes| {
            changes.set_head(&gone)?;
            keep(changes, order, what, &answer, &step)
        });
        let step = recorded.map_err(|error| history(&error))?;
        self.reached(LastStep::Recorded);
        let taken = self.root.take_away(path, &beside_name(&order.key), head.hash);
        if !matches!(taken, Ok(Replacement::Replaced)) {
            self.take_back(order, step, &head, MovedPaths::default())?;
            let changed =
                || invalid_request(format!("'{path}' was just changed; check it again before you delete it."));
            return Err(taken.map_or_else(|trouble| path_failure(path, &trouble), |_| changed()));
        }
        self.reached(LastStep::InPlace);
        self.complete_change(step, &gone, None);
        self.index.forget(path.as_str());
        self.readers.forget(path.as_str());
        self.note_own_change(path, None);
        self.reached(LastStep::Settled);
        Ok(Some(answer))
    }

    /// Renames a file; `None` if there is none.
    pub(super) fn rename(
        &mut self,
        order: &FileOrder,
        what: u64,
        from: &WorkspacePath,
        to: &WorkspacePath,
    ) -> Result<Option<FileAnswer>, FileFailure> {
        let Some((text, found)) = self.present(from)? else {
            self.note_deleted(from);
            return Ok(None);
        };
        match self.root.metadata(to) {
            Err(PathError::Missing) => {}
            Ok(_) => {
                return Err(invalid_request(format!("'{to}' already exists; delete it first or choose another path.")));
            }
            Err(trouble) => return Err(path_failure(to, &trouble)),
        }
        // Otherwise a task could be moved away, changed, and moved back.
        keep_permission(order, from, &text, "")?;
        keep_permission(order, to, "", &text)?;
        self.record_external_text(from, &text, &found, Some(order)).map_err(|error| history(&error))?;
        let head = self.head_of(from)?;
        let displaced = self.heads.get(to.as_str()).map(|gone| gone.file);
        // Its history must be found again, so that its deletion can be undone.
        let readmitted = self.versions.displaced(from.as_str()).map_err(|error| history(&error))?;
        let paths = MovedPaths { displaced, readmitted: readmitted.as_ref().map(|head| head.file) };
        let moved = FileHead { path: to.as_str().to_owned(), ..head.clone() };
        let done = FileResult::Renamed { from: from.as_str().to_owned(), to: to.as_str().to_owned(), content: None };
        let answer = FileAnswer::Changed { done, conflict_with: self.readers.others(from.as_str(), &order.author) };
        let step = PendingChange::Rename {
            key: order.key.clone(),
            from: from.as_str().to_owned(),
            to: to.as_str().to_owned(),
            before: head.hash,
            head: head.clone(),
            displaced,
            readmitted: paths.readmitted,
        };
        let recorded = self.versions.change(Durability::Power, |changes| {
            displaced.map_or(Ok(()), |file| changes.displace(file))?;
            changes.set_head(&moved)?;
            paths.readmitted.map_or(Ok(()), |file| changes.restore_path(file))?;
            keep(changes, order, what, &answer, &step)
        });
        let step = recorded.map_err(|error| history(&error))?;
        self.reached(LastStep::Recorded);
        if let Err(trouble) = self.root.rename(from, to) {
            self.take_back(order, step, &head, paths)?;
            return Err(path_failure(to, &trouble));
        }
        self.reached(LastStep::InPlace);
        match readmitted {
            Some(head) => drop(self.heads.insert(from.as_str().to_owned(), FileHead { is_there: false, ..head })),
            None => drop(self.heads.remove(from.as_str())),
        }
        self.complete_change(step, &moved, None);
        self.index.forget(from.as_str());
        self.note_changed(from.as_str());
        self.index.note(to.as_str(), &found);
        self.readers.renamed(from.as_str(), to.as_str());
        self.note_own_change(from, None);
        self.note_own_change(to, Some(head.hash));
        self.reached(LastStep::Settled);
        Ok(Some(with_content(answer, &text)))
    }

    /// Returns the recorded answer if this order was executed before, even in an earlier run. The text for the room is
    /// the current one: a newer text may have been written since, and the room must not go back to an older one.
    pub(super) fn recorded_answer(&mut self, order: &FileOrder, what: u64) -> Result<Option<FileAnswer>, StoreError> {
        let Some((asked, answer)) = self.versions.answer(&order.key)? else { return Ok(None) };
        if asked != what {
            tracing::warn!("the order {} differs from before; it is carried out", order.key);
            return Ok(None);
        }
        let answer: FileAnswer = match serde_json::from_str(&answer) {
            Ok(answer) => answer,
            Err(source) => return Err(StoreError::Json { doing: "read an answer", source }),
        };
        let path = match answer.change() {
            Some((FileResult::Written { path, .. } | FileResult::Renamed { to: path, .. }, _)) => {
                WorkspacePath::new(path).ok()
            }
            _ => None,
        };
        let now = path.and_then(|path| self.present(&path).ok().flatten());
        Ok(Some(match now {
            Some((text, _)) => with_content(answer, &text),
            None => answer,
        }))
    }

    /// Completes a recorded change that is not on disk, or reverts it if that is impossible.
    pub(super) fn finish_interrupted_changes(&mut self) -> Result<(), FileServiceError> {
        for (number, step) in self.versions.steps()? {
            let step: PendingChange = match serde_json::from_str(&step) {
                Ok(step) => step,
                Err(error) => {
                    let what = format!("an interrupted file change cannot be read: {error}");
                    let remedy = "compare the last changes by agents with the versions of those files";
                    self.problems.push(Problem::warning("files", what, remedy));
                    self.versions.change(Durability::Process, |changes| changes.end_step(number))?;
                    continue;
                }
            };
            let done = self.finish(&step);
            if let Err(trouble) = &done {
                tracing::warn!("rolled back an interrupted change: {trouble:?}");
            }
            let is_done = done.is_ok();
            self.versions.change(Durability::Process, |changes| {
                changes.end_step(number)?;
                if is_done { Ok(()) } else { undo(changes, &step) }
            })?;
        }
        self.room_saves.clear();
        self.heads = self.versions.heads()?.into_iter().map(|head| (head.path.clone(), head)).collect();
        Ok(())
    }

    fn finish(&mut self, step: &PendingChange) -> Result<(), PathError> {
        match step {
            PendingChange::Write { path, beside, file, version, before, .. } => {
                let path = normal(path)?;
                let now = self.hash_now(&path)?;
                let text = self.versions.text(*file, *version).map_err(|error| broken(&error))?;
                let text = text.ok_or_else(|| PathError::Failed(std::io::ErrorKind::NotFound.into()))?;
                let ours = content_hash(text.as_bytes());
                let known: Vec<u64> = before.iter().copied().chain([ours]).collect();
                if let Some(kept) = self.root.clear_placing(&path, beside, Some(ours), &known)? {
                    self.problems.push(displaced_text_problem(path.as_str(), &kept));
                }
                // A text that is neither the old nor the new one was written by someone else later and is kept.
                if now == *before && now != Some(ours) {
                    self.root.write_temporary(&path, beside, &text)?;
                    self.root.put_in_place(&path, beside, *before)?;
                }
                self.root.drop_beside(&path, beside);
                self.push_idle_task(IdleTask::Examine(path.as_str().to_owned()));
            }
            PendingChange::Delete { key, path, before, .. } => {
                let path = normal(path)?;
                let beside = beside_name(key);
                if let Some(kept) = self.root.clear_placing(&path, &beside, None, &[*before])? {
                    self.problems.push(displaced_text_problem(path.as_str(), &kept));
                }
                if self.hash_now(&path)? == Some(*before) {
                    self.root.take_away(&path, &beside, *before)?;
                }
                self.push_idle_task(IdleTask::Examine(path.as_str().to_owned()));
            }
            PendingChange::Rename { from, to, before, .. } => {
                let (from, to) = (normal(from)?, normal(to)?);
                if self.hash_now(&to)?.is_none() {
                    match self.hash_now(&from)? {
                        Some(hash) if hash == *before => self.root.rename(&from, &to)?,
                        _ => self.push_idle_task(IdleTask::Examine(from.as_str().to_owned())),
                    }
                }
                self.push_idle_task(IdleTask::Examine(to.as_str().to_owned()));
            }
        }
        Ok(())
    }

    fn hash_now(&mut self, path: &WorkspacePath) -> Result<Option<u64>, PathError> {
        match self.root.read(path, u64::MAX - 1) {
            Ok((text, _)) => Ok(Some(content_hash(text.as_bytes()))),
            Err(PathError::Missing | PathError::NotAFolder) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    fn head_of(&self, path: &WorkspacePath) -> Result<FileHead, FileFailure> {
        let missing = || invalid_request(format!("the history of '{path}' is missing; try again."));
        self.heads.get(path.as_str()).cloned().ok_or_else(missing)
    }

    fn take_back(
        &mut self,
        order: &FileOrder,
        step: i64,
        head: &FileHead,
        paths: MovedPaths,
    ) -> Result<(), FileFailure> {
        let taken_back = self.versions.change(Durability::Process, |changes| {
            changes.end_step(step)?;
            changes.delete_answer(&order.key)?;
            paths.take_back(changes, head)
        });
        taken_back.map_err(|error| history(&error))
    }

    /// Calls the test hooks for this step.
    fn reached(&mut self, step: LastStep) {
        #[cfg(test)]
        {
            assert_ne!(self.stop_at, Some(step), "stopped as if killed");
            if let Some((_, act)) = self.act_at.as_mut().filter(|(at, _)| *at == step) {
                act();
            }
        }
        #[cfg(not(test))]
        let _ = step;
    }

    /// Records an operation's change of a file that the room uses. It is reported with the outcome of the operation,
    /// not as an event. The room's saves do not overwrite it, because the room did not write it.
    fn note_own_change(&mut self, path: &WorkspacePath, hash: Option<u64>) {
        if let Some(room) = self.room.as_mut().filter(|_| layout::is_used_by_room(path.as_str())) {
            room.know(path.as_str(), hash);
            self.news.forget_change(path.as_str());
        }
    }

    /// Records a version by someone outside of this program.
    pub(super) fn record_seen(
        &mut self,
        path: &WorkspacePath,
        text: &str,
        found: &EntryMetadata,
    ) -> Result<u64, StoreError> {
        self.record_version(path, text, found, OUTSIDE)
    }

    /// Records the text of a file as a version by an author.
    pub(super) fn record_version(
        &mut self,
        path: &WorkspacePath,
        text: &str,
        found: &EntryMetadata,
        author: &str,
    ) -> Result<u64, StoreError> {
        let before = self.heads.get(path.as_str()).cloned();
        let draft = VersionDraft { author, activation: None, order_key: None, text };
        let kept = self.limits.versions_kept.max(1);
        let head = self.versions.change(Durability::Process, |changes| {
            let file = before.as_ref().map_or_else(|| changes.add_file(path.as_str()), |head| Ok(head.file))?;
            let head = FileHead {
                file,
                path: path.as_str().to_owned(),
                is_there: true,
                version: changes.add_version(file, &draft)?,
                hash: content_hash(text.as_bytes()),
                size: found.size,
                modified_ns: found.modified_ns,
            };
            changes.set_head(&head)?;
            changes.prune(file, kept)?;
            Ok(head)
        })?;
        let version = head.version;
        self.note_changed(&head.path);
        self.heads.insert(head.path.clone(), head);
        Ok(version)
    }
}

/// Refuses changes of a task file by an agent that only a person may make.
fn keep_permission(order: &FileOrder, path: &WorkspacePath, before: &str, after: &str) -> Result<(), FileFailure> {
    if !layout::is_task_file(&folded(path.as_str())) || !is_agent(&order.author) {
        return Ok(());
    }
    match only_for_a_person(before, after) {
        Some(why) => Err(FileFailure { what: format!("'{path}' was not changed: {why}."), is_refusal: true }),
        None => Ok(()),
    }
}

fn keep(
    changes: &FileChanges<'_>,
    order: &FileOrder,
    what: u64,
    answer: &FileAnswer,
    step: &PendingChange,
) -> Result<i64, StoreError> {
    let json = |source| StoreError::Json { doing: "put an answer into words", source };
    if order.must_be_done_once() {
        changes.keep_answer(&order.key, what, &serde_json::to_string(answer).map_err(json)?)?;
    }
    changes.begin_step(&serde_json::to_string(step).map_err(json)?)
}

fn undo(changes: &FileChanges<'_>, step: &PendingChange) -> Result<(), StoreError> {
    match step {
        PendingChange::Write { key, file, version, head, .. } => {
            changes.delete_answer(key)?;
            changes.remove_newest_version(*file, *version, head.as_ref())
        }
        PendingChange::Delete { key, head, .. } => {
            changes.delete_answer(key)?;
            changes.set_head(head)
        }
        PendingChange::Rename { key, head, displaced, readmitted, .. } => {
            changes.delete_answer(key)?;
            MovedPaths { displaced: *displaced, readmitted: *readmitted }.take_back(changes, head)
        }
    }
}

/// Adds the text to the answer if the room uses the file.
fn with_content(mut answer: FileAnswer, text: &str) -> FileAnswer {
    if let FileAnswer::Changed { done, .. } | FileAnswer::Edited { done: Some(done), .. } = &mut answer {
        match done {
            FileResult::Written { path, content, .. } | FileResult::Renamed { to: path, content, .. } => {
                *content = layout::is_used_by_room(path).then(|| text.to_owned());
            }
            FileResult::Deleted { .. } => {}
        }
    }
    answer
}

fn normal(path: &str) -> Result<WorkspacePath, PathError> {
    WorkspacePath::new(path).map_err(|refusal| PathError::Failed(std::io::Error::other(refusal.to_string())))
}

fn broken(error: &StoreError) -> PathError {
    PathError::Failed(std::io::Error::other(error.to_string()))
}
