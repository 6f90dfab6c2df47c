//! External changes of files: each becomes a version and a message to the world.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::super::files::{FileChanged, FileContent};
use super::super::layout;
use super::super::session_files::is_session_file;
use super::executor::{Executor, IdleTask};
use super::order::{FileOperation, FileOrder};
use super::path::{FileKind, PathAccess, WorkspacePath};
use super::resolve::PathError;
use super::room_files::fingerprint;
use super::service_events::{OutsideChange, ServiceEvent};
use crate::base::Author;
use crate::base::hash::content_hash;
use crate::safe_fs::EntryMetadata;
use crate::store::{Durability, FileHead, StoreError};

/// The time for which a file must be empty or missing before that counts as a change: other programs truncate or remove
/// a file and then write it.
pub(super) const SETTLE: Duration = Duration::from_millis(300);

impl Executor {
    /// Compares a text that was just read with the recorded state of its file. Returns the newest version.
    pub(super) fn notice(
        &mut self,
        path: &WorkspacePath,
        text: &str,
        found: &EntryMetadata,
    ) -> Result<u64, StoreError> {
        self.record_external_text(path, text, found, None)
    }

    /// Like [`Self::notice`]. If `displaced_by` is given, that order is about to overwrite or delete the text, which
    /// becomes a version even if it is unchanged.
    pub(super) fn record_external_text(
        &mut self,
        path: &WorkspacePath,
        text: &str,
        found: &EntryMetadata,
        displaced_by: Option<&FileOrder>,
    ) -> Result<u64, StoreError> {
        self.note_session_change(path.as_str(), text);
        let must_keep = displaced_by.is_some();
        let hash = content_hash(text.as_bytes());
        let entry = self.index.get(path.as_str());
        self.index.note(path.as_str(), found);
        let looks_the_same =
            entry.is_some_and(|entry| (entry.size, entry.modified_ns) == (found.size, found.modified_ns));
        if !looks_the_same {
            self.note_changed(path.as_str());
        }
        let head = self.heads.get_mut(path.as_str());
        let newest = head.as_ref().map_or(0, |head| head.version);
        let has_history = head.is_some();
        if let Some(head) = head.filter(|head| head.is_there && head.hash == hash) {
            (head.size, head.modified_ns) = (found.size, found.modified_ns);
            return Ok(newest);
        }
        let is_first_sight = !has_history && looks_the_same;
        let room = self.room.as_ref().filter(|_| layout::is_used_by_room(path.as_str()));
        let is_known = room.is_some_and(|room| room.known.get(path.as_str()) == Some(&hash));
        let is_left = (is_first_sight || self.ignored.contains(path.as_str())) && !must_keep;
        if is_left || path.kind() == FileKind::Session {
            return Ok(newest);
        }
        if !is_first_sight && let Some((version, _)) = self.record_program_text(path, text, found)? {
            return Ok(version);
        }
        let version = self.record_seen(path, text, found)?;
        // A room is informed in another way about files that it uses, unless the text is about to be overwritten.
        let is_told = layout::is_used_by_room(path.as_str()) && (!must_keep || is_known);
        let is_saved_over = displaced_by.is_some_and(|order| order.is_save_of_room() && !order.must_be_done_once());
        if !is_first_sight && !is_told && !is_saved_over {
            // A change that is based on the present text does not lose any of it.
            let loses = |order: &&FileOrder| {
                use FileOperation::{Append, Edit, EditWith, Rename};
                !matches!(order.operation, Edit { .. } | EditWith { .. } | Append { .. } | Rename { .. })
            };
            let displaced_by = displaced_by.filter(loses).map(|order| order.author.0.clone());
            let path = path.as_str().to_owned();
            self.news.push(ServiceEvent::Outside(OutsideChange {
                path,
                version,
                is_gone: false,
                displaced_by,
                by: None,
                program: None,
            }));
        }
        Ok(version)
    }

    /// Examines one file that someone else may have changed.
    pub(super) fn examine(&mut self, path: &str) {
        if layout::is_used_by_room(path) && self.room.as_ref().is_some_and(|room| room.is_watched) {
            return self.look_for_room(path);
        }
        let Ok(path) = WorkspacePath::new(path) else { return };
        let is_hidden = path.reach() == PathAccess::Closed || path.parts().any(|part| part.starts_with('.'));
        if is_hidden || self.ignored.contains(path.as_str()) {
            return;
        }
        let looked = match self.index.read(&self.root, &path, self.limits.bytes_at_most(&path)) {
            Ok((text, found)) => self.notice(&path, &text, &found).map(drop),
            Err(PathError::Missing | PathError::NotAFolder | PathError::IsFolder) => {
                self.note_deleted(&path);
                Ok(())
            }
            Err(trouble) => {
                if is_session_file(path.as_str()) && self.room.is_some() {
                    self.report_unusable(&path, &trouble);
                }
                self.no_text(&path);
                Ok(())
            }
        };
        if let Err(error) = looked {
            tracing::warn!("an edit of {path} could not be recorded: {error}");
        }
    }

    /// Reads a file of the room once, both for its history and to inform the room if its text differs from the room's
    /// text.
    fn look_for_room(&mut self, path: &str) {
        let Some(room) = self.room.as_mut().filter(|room| room.is_in_place()) else {
            self.unsettled.remove(path);
            return;
        };
        let root = room.root().to_owned();
        match room.stamp(path) {
            Some(stamp) => room.stamps.insert(path.to_owned(), stamp),
            None => room.stamps.remove(path),
        };
        let known = room.known.get(path).copied();
        let normal = WorkspacePath::new(path).ok();
        let most = layout::most_bytes(path);
        let read = normal.as_ref().and_then(|path| {
            let most = self.limits.bytes_at_most(path).max(most as u64);
            self.index.read(&self.root, path, most).ok()
        });
        let content = match &read {
            Some((text, _)) if text.len() <= most => FileContent::Text(text.to_string()),
            // A link, or a file that a room cannot use: the reason is reported.
            _ => layout::read_file(&root, path),
        };
        let hash = fingerprint(&content);
        if hash != known && self.is_unsettled(path, &content) {
            return;
        }
        self.unsettled.remove(path);
        if let Some(normal) = &normal {
            match (&read, &content) {
                (Some((text, found)), _) => {
                    if let Err(error) = self.notice(normal, text, found) {
                        tracing::warn!("an edit of {path} could not be recorded: {error}");
                    }
                }
                (None, FileContent::Removed) => self.note_deleted(normal),
                (None, FileContent::Unusable { .. }) => self.no_text(normal),
                // A file read through a link within the workspace: its versions belong to the target.
                (None, FileContent::Text(_)) => {}
            }
        }
        if hash == known {
            return;
        }
        if let Some(room) = &mut self.room {
            room.know(path, hash);
        }
        let is_newest = |head: &&FileHead| head.is_there && Some(head.hash) == hash;
        let version = self.heads.get(path).filter(is_newest).map(|head| head.version);
        let changed_ns = read.as_ref().map(|(_, found)| found.changed_ns);
        let by = self.programs.agent_of(path, changed_ns).unwrap_or_else(Author::user);
        self.news.push(ServiceEvent::Changed(FileChanged { version, by, ..FileChanged::new(path, content) }));
    }

    /// Whether a file has been empty or gone for too short a time to be believed.
    fn is_unsettled(&mut self, path: &str, content: &FileContent) -> bool {
        let is_missing_or_empty = match content {
            FileContent::Text(text) => text.is_empty(),
            content => *content == FileContent::Removed,
        };
        is_missing_or_empty && self.unsettled.entry(path.to_owned()).or_insert_with(Instant::now).elapsed() < SETTLE
    }

    /// Examines again the files that have been empty or missing for long enough.
    pub(super) fn recheck_unsettled(&mut self) {
        let is_settled = |since: &Instant| since.elapsed() >= SETTLE;
        let settled: Vec<String> =
            self.unsettled.iter().filter(|(_, since)| is_settled(since)).map(|(path, _)| path.clone()).collect();
        for path in settled {
            self.examine(&path);
            // Files that changed again meanwhile have to be examined again.
            if self.unsettled.get(&path).is_some_and(is_settled) {
                self.unsettled.remove(&path);
            }
        }
    }

    /// Examines every file of the room that exists or existed, and reads those that appear changed.
    pub(super) fn examine_room_files(&mut self) {
        let Some(room) = self.room.as_ref().filter(|room| room.is_watched && room.is_in_place()) else { return };
        let (mut paths, _) = layout::list(room.root());
        let there: HashSet<&String> = paths.iter().collect();
        let gone: Vec<String> = room.known.keys().filter(|path| !there.contains(path)).cloned().collect();
        paths.extend(gone);
        paths.retain(|path| {
            let stamp = room.stamp(path);
            stamp.is_none() || stamp != room.stamps.get(path).copied() || self.unsettled.contains_key(path)
        });
        paths.iter().for_each(|path| self.examine(path));
    }

    /// Examines every file.
    pub(super) fn examine_everything(&mut self) {
        for path in self.index.compare(&self.root) {
            self.examine(&path);
        }
    }

    /// Whether a file is missing or empty, as it is for a moment while other programs write it.
    pub(super) fn is_missing_or_empty(&self, path: &str) -> bool {
        let Ok(path) = WorkspacePath::new(path) else { return false };
        match self.root.metadata(&path) {
            Ok(found) => found.size == 0,
            Err(trouble) => matches!(trouble, PathError::Missing),
        }
    }

    /// Records that a file is missing, if it existed before.
    pub(super) fn note_deleted(&mut self, path: &WorkspacePath) {
        let was_listed = self.index.forget(path.as_str());
        let head = self.heads.get(path.as_str()).filter(|head| head.is_there).cloned();
        if !was_listed && head.is_none() {
            return;
        }
        self.note_changed(path.as_str());
        if let Err(error) = self.mark_deleted(path) {
            tracing::warn!("the deletion of {path} could not be recorded: {error}");
        }
        let is_others = self.record_program_deletion(path).is_none();
        if is_others && !layout::is_used_by_room(path.as_str()) && path.kind() != FileKind::Session {
            let version = head.map_or(0, |head| head.version);
            let path = path.as_str().to_owned();
            self.news.push(ServiceEvent::Outside(OutsideChange {
                path,
                version,
                is_gone: true,
                displaced_by: None,
                by: None,
                program: None,
            }));
        }
    }

    /// Marks a file as deleted in its history, if it has one.
    pub(super) fn mark_deleted(&mut self, path: &WorkspacePath) -> Result<(), StoreError> {
        let Some(head) = self.heads.get_mut(path.as_str()).filter(|head| head.is_there) else { return Ok(()) };
        head.is_there = false;
        let gone = head.clone();
        self.versions.change(Durability::Process, |changes| changes.set_head(&gone))
    }

    /// Records that something other than text was put at this path.
    fn no_text(&mut self, path: &WorkspacePath) {
        let Ok(found) = self.root.metadata(path) else { return };
        self.note_changed(path.as_str());
        let entry = self.index.get(path.as_str());
        self.index.note(path.as_str(), &found);
        let is_changed = entry.is_none_or(|entry| (entry.size, entry.modified_ns) != (found.size, found.modified_ns));
        if is_changed && !self.report_program_bytes(path, &found) {
            let path = path.as_str().to_owned();
            self.news.push(ServiceEvent::Outside(OutsideChange {
                path,
                version: 0,
                is_gone: false,
                displaced_by: None,
                by: None,
                program: None,
            }));
        }
    }

    /// Schedules the files for examination whose state differs from their history.
    pub(super) fn queue_edits_made_while_closed(&mut self) {
        let changed: Vec<String> = self
            .heads
            .values()
            .filter(|head| {
                let entry = self.index.get(&head.path);
                let is_same =
                    entry.is_some_and(|entry| (entry.size, entry.modified_ns) == (head.size, head.modified_ns));
                if head.is_there { !is_same } else { entry.is_some() }
            })
            .map(|head| head.path.clone())
            .collect();
        changed.into_iter().for_each(|path| self.push_idle_task(IdleTask::Examine(path)));
    }
}

#[cfg(test)]
#[path = "external_edits_tests.rs"]
mod tests;
