//! Session files on disk, which both the room and a person write: the room never overwrites a text that it has not
//! seen. A person's edits are passed to the room first; meanwhile, new content of the room is written to a copy next to
//! the file.

use std::time::Instant;

use super::super::files::FileContent;
use super::super::session_files::own_checksum::is_own;
use super::super::session_files::update::brought_up_to_date;
use super::super::session_files::{copy_of, is_older, is_session_file};
use super::executor::{Executor, history, invalid_request, path_failure};
use super::external_edits::SETTLE;
use super::order::{FileAnswer, FileFailure, FileResult};
use super::path::WorkspacePath;
use super::resolve::{PathError, beside_name};
use super::rights::Rights;
use super::service_events::{RecordChanged, ServiceEvent};
use super::session_texts::{MAX_SESSION_BYTES, reported_content};
use crate::base::hash::content_hash;
use crate::base::ids::ROOM;

impl Executor {
    /// Writes a session over the room's own text, or over a person's text that the session includes (`over`),
    /// preserving all parts that have not changed. Any other text is left alone, and the session is written to a copy.
    pub(super) fn record_session(
        &mut self,
        path: &WorkspacePath,
        content: &str,
        over: Option<u64>,
    ) -> Result<FileAnswer, FileFailure> {
        let there = match self.root.read(path, MAX_SESSION_BYTES) {
            Ok((text, _)) => text,
            Err(PathError::Missing) => return self.put_session(path, content, true),
            Err(trouble @ (PathError::NotText { .. } | PathError::TooLarge { .. })) => {
                self.report_unusable(path, &trouble);
                return self.copy_session(path, content);
            }
            Err(trouble) => return Err(path_failure(path, &trouble)),
        };
        let hash = content_hash(there.as_bytes());
        match self.sessions.written.get(path.as_str()) {
            Some((last, true)) if *last == hash => self.put_session(path, content, true),
            Some((last, false)) if *last == hash => self.join_session(path, &there, content),
            _ if over == Some(hash) || is_older(&there) => self.join_session(path, &there, content),
            None if is_own(&there) => self.join_session(path, &there, content),
            _ => {
                self.report_session(path.as_str(), reported_content(there), hash);
                self.copy_session(path, content)
            }
        }
    }

    fn copy_session(&mut self, path: &WorkspacePath, content: &str) -> Result<FileAnswer, FileFailure> {
        let copy = WorkspacePath::new(&copy_of(path.as_str())).map_err(|why| invalid_request(why.to_string()))?;
        self.sessions.copied.insert(path.as_str().to_owned(), copy.clone());
        self.write_record(&copy, content)
    }

    fn join_session(&mut self, path: &WorkspacePath, there: &str, content: &str) -> Result<FileAnswer, FileFailure> {
        let text = brought_up_to_date(there, content);
        let is_plain = text == content;
        self.put_session(path, &text, is_plain)
    }

    fn put_session(&mut self, path: &WorkspacePath, text: &str, is_plain: bool) -> Result<FileAnswer, FileFailure> {
        let answer = self.write_record(path, text)?;
        let hash = content_hash(text.as_bytes());
        self.sessions.written.insert(path.as_str().to_owned(), (hash, is_plain));
        self.sessions.keep_text(path.as_str(), text);
        self.sessions.reported.remove(path.as_str());
        if let Some(copy) = self.sessions.copied.remove(path.as_str()) {
            // The file now contains everything that the copy does.
            let _ = self.root.with_folder_of(&copy, |folder| Ok(folder.remove(copy.name())?));
            self.index.forget(copy.as_str());
            self.note_changed(copy.as_str());
        }
        Ok(answer)
    }

    /// Keeps the current content of a session file as a version before it is replaced.
    pub(super) fn keep_record(&mut self, path: &WorkspacePath) -> Result<FileAnswer, FileFailure> {
        let (text, found) = self.root.read(path, MAX_SESSION_BYTES).map_err(|trouble| path_failure(path, &trouble))?;
        let hash = content_hash(text.as_bytes());
        let kept = self.heads.get(path.as_str()).filter(|head| head.hash == hash).map(|head| head.version);
        let version = match kept {
            Some(version) => version,
            None => self.record_version(path, &text, &found, ROOM).map_err(|error| history(&error))?,
        };
        Ok(FileAnswer::Unchanged { path: path.as_str().to_owned(), version })
    }

    /// Saves a session that a person edited in this program: like an edit in any other editor, unless the file changed
    /// in the meantime.
    pub(super) fn save_session(
        &mut self,
        path: &WorkspacePath,
        base: Option<u64>,
        content: &str,
    ) -> Result<FileAnswer, FileFailure> {
        let now = match self.root.read(path, MAX_SESSION_BYTES) {
            Ok((text, _)) => Some(content_hash(text.as_bytes())),
            Err(PathError::Missing) => None,
            Err(trouble) => return Err(path_failure(path, &trouble)),
        };
        let hash = content_hash(content.as_bytes());
        if now != base && now != Some(hash) {
            return Err(invalid_request(format!("'{path}' was changed in the meantime; compare and save again.")));
        }
        let answer = self.write_record(path, content)?;
        self.report_session(path.as_str(), reported_content(content.to_owned()), hash);
        Ok(answer)
    }

    /// Restores an earlier version of a session for a person. The current content becomes a version, and the room is
    /// notified as if the person had saved it.
    pub(super) fn restore_session(
        &mut self,
        path: &WorkspacePath,
        version: u64,
        rights: &Rights,
    ) -> Result<FileAnswer, FileFailure> {
        let text = self.text_of_version(path, version, rights)?;
        if self.root.metadata(path).is_ok() {
            self.keep_record(path)?;
        }
        let answer = self.write_record(path, &text)?;
        self.sessions.forget(path.as_str());
        let hash = content_hash(text.as_bytes());
        self.report_session(path.as_str(), reported_content(text), hash);
        Ok(answer)
    }

    /// Writes one of the program's own records over whatever exists.
    pub(super) fn write_record(&mut self, path: &WorkspacePath, text: &str) -> Result<FileAnswer, FileFailure> {
        let old = match self.root.metadata(path) {
            Ok(found) => Some(found.size),
            Err(PathError::Missing) => None,
            Err(trouble) => return Err(path_failure(path, &trouble)),
        };
        // The number of records is limited below, and their total size does not limit agents.
        self.limits.allow(path, text.len() as u64, old, 0, 0).map_err(invalid_request)?;
        let beside = beside_name(path.as_str());
        let put = self.root.write_temporary(path, &beside, text).and_then(|()| self.root.put_over(path, &beside));
        let found = put.and_then(|()| self.root.metadata(path)).map_err(|trouble| path_failure(path, &trouble))?;
        self.index.note(path.as_str(), &found);
        self.note_changed(path.as_str());
        if old.is_none() {
            self.thin_records();
        }
        let done = FileResult::Written {
            path: path.as_str().to_owned(),
            version: 0,
            chars: text.chars().count() as u64,
            is_new: old.is_none(),
            content: None,
        };
        Ok(FileAnswer::Changed { done, conflict_with: Vec::new() })
    }

    /// Records a possible change of a session file. The room is notified once the text has been stable for a moment.
    pub(super) fn note_session_change(&mut self, path: &str, text: &str) {
        if self.room.is_none() || !is_session_file(path) || self.ignored.contains(path) {
            return;
        }
        let hash = content_hash(text.as_bytes());
        let written = self.sessions.written.get(path).map(|(hash, _)| *hash);
        if written == Some(hash) || self.sessions.reported.get(path) == Some(&hash) {
            self.sessions.pending.remove(path);
            return;
        }
        if written.is_none() && (is_own(text) || is_older(text)) {
            return;
        }
        let is_seen = self.sessions.pending.insert(path.to_owned(), hash) == Some(hash);
        if !is_seen {
            self.unsettled.insert(path.to_owned(), Instant::now());
        }
        let since = *self.unsettled.entry(path.to_owned()).or_insert_with(Instant::now);
        if since.elapsed() >= SETTLE {
            self.report_session(path, reported_content(text.to_owned()), hash);
        }
    }

    /// Reports that the content of a session file was replaced by something other than text.
    pub(super) fn report_unusable(&mut self, path: &WorkspacePath, trouble: &PathError) {
        let what = trouble.message(path.as_str());
        let remedy = "replace it with a UTF-8 text, or remove the file".to_owned();
        let hash = content_hash(what.as_bytes());
        self.report_session(path.as_str(), FileContent::Unusable { what, remedy }, hash);
    }

    fn report_session(&mut self, path: &str, content: FileContent, hash: u64) {
        self.sessions.pending.remove(path);
        if self.sessions.reported.insert(path.to_owned(), hash) != Some(hash) {
            let ours = self.sessions.text(path).map(str::to_owned);
            self.news.push(ServiceEvent::Record(RecordChanged { path: path.to_owned(), content, ours }));
        }
    }
}

#[cfg(test)]
#[path = "session_records_tests.rs"]
mod tests;
