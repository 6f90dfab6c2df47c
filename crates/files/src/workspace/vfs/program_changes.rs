//! Files that programs of agents change. While such a program runs, a change without an order has its agent as the
//! author: it becomes one version for each file, with the earlier text before it, so that the agent's work can be undone.
//!
//! Before the program starts, all files are examined, so that earlier changes have their own authors, and the texts of
//! files without a history are kept in memory, within limits. After it has ended, all files are examined again. A change
//! that somebody else makes in another program at the same moment looks the same and cannot be told apart, unless the
//! program could not write that file, or the file changed after the program had ended.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::layout;
use super::OUTSIDE;
use super::executor::Executor;
use super::index::Entry;
use super::path::{FileKind, WorkspacePath};
use super::running_programs::{
    ChangedByProgram, EarlierTexts, LastChange, ProgramAuthor, ProgramOwner, RunningProgram,
};
use super::service_events::{OutsideChange, ProgramChange, ServiceEvent};
use crate::base::hash::content_hash;
use crate::base::ids::is_reserved;
use crate::base::{Author, Id};
use crate::safe_fs::{EntryKind, EntryMetadata};
use crate::store::{Durability, FileHead, StoreError, VersionDraft};

/// The maximum size of a text that is kept before a program starts, in bytes.
const MAX_EARLIER_TEXT_BYTES: u64 = 1024 * 1024;
/// The maximum size of all texts that are kept, in bytes.
const MAX_EARLIER_TEXTS_BYTES: usize = 64 * 1024 * 1024;
/// The maximum time for reading them.
const MAX_EARLIER_TEXTS_TIME: Duration = Duration::from_secs(2);
/// The maximum number of new files of one program that become versions; a build makes thousands.
const MAX_NEW_FILES: usize = 500;
/// The maximum number of changed paths that are reported to the program's agent.
const MAX_REPORTED: usize = 50;

impl Executor {
    /// A program of an agent is about to start. Returns its number.
    pub(super) fn begin_program(&mut self, owner: ProgramOwner) -> u64 {
        self.examine_everything();
        self.examine_room_files();
        if self.programs.running.is_empty() {
            self.keep_earlier_texts();
        }
        self.programs.started += 1;
        let number = self.programs.started;
        let (changed, ended_ns) = (BTreeMap::new(), None);
        self.programs.running.push(RunningProgram { number, owner, ended_ns, changed, new_files: 0, more: 0 });
        number
    }

    /// A program ended at this time, in nanoseconds since 1970. Returns what it changed.
    pub(super) fn end_program(&mut self, number: u64, ended_ns: i64) -> ChangedByProgram {
        if let Some(program) = self.programs.program(number) {
            program.ended_ns = Some(ended_ns);
        }
        self.examine_everything();
        self.examine_room_files();
        let Some(at) = self.programs.running.iter().position(|program| program.number == number) else {
            return ChangedByProgram::default();
        };
        let program = self.programs.running.remove(at);
        let mut paths: Vec<String> = program.changed.into_keys().collect();
        let more = program.more + paths.len().saturating_sub(MAX_REPORTED);
        paths.truncate(MAX_REPORTED);
        ChangedByProgram { paths, more }
    }

    /// Ends the attribution of changes to a program, without examining the files.
    pub(super) fn forget_program(&mut self, number: u64) {
        self.programs.running.retain(|program| program.number != number);
    }

    /// The agents that wrote the present texts of these files, themselves or with their programs. Files whose history
    /// cannot be read are left out.
    pub(super) fn agent_writers(&self, paths: Vec<String>) -> BTreeMap<String, Id> {
        paths
            .into_iter()
            .filter_map(|path| Some((self.agent_writer(&path)?, path)))
            .map(|(id, path)| (path, id))
            .collect()
    }

    /// The wanted files whose present texts agents wrote, themselves or with their programs.
    pub(super) fn agent_files(&self, is_wanted: fn(&str) -> bool) -> Vec<String> {
        let wanted = self.heads.keys().filter(|path| is_wanted(path.as_str()));
        wanted.filter(|path| self.agent_writer(path).is_some()).cloned().collect()
    }

    /// The agent that wrote the present text of a file; `None` if nobody else did, or its history cannot be read.
    fn agent_writer(&self, path: &str) -> Option<Id> {
        let head = self.heads.get(path).filter(|head| head.is_there)?;
        let author = self.versions.author(head.file, head.version).ok().flatten()?;
        (!is_reserved(&author)).then(|| Id::from(author))
    }

    /// Keeps the texts of files without a history. Texts that are kept already and look unchanged are not read again.
    fn keep_earlier_texts(&mut self) {
        let begun = Instant::now();
        let mut known = std::mem::take(&mut self.programs.earlier);
        let mut kept = EarlierTexts::default();
        let files: Vec<(String, Entry)> = (self.index.files())
            .filter(|(path, _)| !self.heads.contains_key(*path) && !self.ignored.contains(*path))
            .map(|(path, entry)| (path.to_owned(), entry))
            .collect();
        let mut bytes = 0;
        for (path, entry) in files {
            let is_same = |(earlier, text): &(Entry, Option<Arc<str>>)| *earlier == entry && text.is_some();
            let text = match known.texts.remove(&path).filter(is_same) {
                Some((_, text)) => text,
                None if begun.elapsed() > MAX_EARLIER_TEXTS_TIME => None,
                None => self.earlier_text(&path, entry),
            };
            let text = text.filter(|text| bytes + text.len() <= MAX_EARLIER_TEXTS_BYTES);
            bytes += text.as_ref().map_or(0, |text| text.len());
            kept.texts.insert(path, (entry, text));
        }
        debug_assert_eq!(kept.bytes(), bytes, "every kept text should be counted");
        self.programs.earlier = kept;
    }

    fn earlier_text(&self, path: &str, entry: Entry) -> Option<Arc<str>> {
        let path = WorkspacePath::new(path).ok()?;
        if entry.size > MAX_EARLIER_TEXT_BYTES || path.kind() == FileKind::Session {
            return None;
        }
        self.root.read(&path, MAX_EARLIER_TEXT_BYTES).ok().map(|(text, _)| text.into())
    }

    /// Records a changed text as a version of the program that may have written it. Returns its version and author;
    /// `None` if no program may have.
    pub(super) fn record_program_text(
        &mut self,
        path: &WorkspacePath,
        text: &str,
        found: &EntryMetadata,
    ) -> Result<Option<(u64, Author)>, StoreError> {
        let Some(ProgramAuthor { number, owner, others }) =
            self.programs.author_of(path.as_str(), Some(found.changed_ns))
        else {
            return Ok(None);
        };
        let earlier = self.programs.earlier.texts.remove(path.as_str());
        let head = self.heads.get(path.as_str()).cloned();
        if let (Some((_, Some(before))), None) = (&earlier, &head)
            && **before == *text
        {
            // Only its time changed.
            let entry = Entry { size: found.size, modified_ns: found.modified_ns };
            self.programs.earlier.texts.insert(path.as_str().to_owned(), (entry, Some(before.clone())));
            return Ok(Some((0, owner.author)));
        }
        let is_new = head.as_ref().map_or(earlier.is_none(), |head| !head.is_there);
        let Some(program) = self.programs.program(number) else { return Ok(None) };
        let before = program.changed.get(path.as_str()).copied();
        if head.is_none() && is_new && before.is_none() {
            program.new_files += 1;
            if program.new_files > MAX_NEW_FILES {
                program.more += 1;
                self.note_changed(path.as_str());
                return Ok(Some((0, owner.author)));
            }
        }
        let replaces = head
            .as_ref()
            .is_some_and(|head| head.is_there && before == Some(LastChange::Wrote { version: head.version }));
        let version =
            self.record_program_version(path, (text, found), earlier.map(|(_, text)| text), replaces, &owner)?;
        if let Some(program) = self.programs.program(number) {
            program.changed.insert(path.as_str().to_owned(), LastChange::Wrote { version });
        }
        if !replaces && !self.is_reported_otherwise(path.as_str()) {
            self.report_program_change(path.as_str(), version, false, is_new, &owner, others);
        }
        Ok(Some((version, owner.author)))
    }

    /// Stores the version, after the earlier text if that has no version. An earlier text that was not kept leaves a gap
    /// in the numbers, so that the file does not seem to be new.
    fn record_program_version(
        &mut self,
        path: &WorkspacePath,
        (text, found): (&str, &EntryMetadata),
        earlier: Option<Option<Arc<str>>>,
        replaces: bool,
        owner: &ProgramOwner,
    ) -> Result<u64, StoreError> {
        let head = self.heads.get(path.as_str()).cloned();
        let kept = self.limits.max_versions.max(2);
        let draft = |author, activation, text| VersionDraft { author, activation, order_key: None, text };
        let head = self.versions.change(Durability::Process, |changes| {
            let file = head.as_ref().map_or_else(|| changes.add_file(path.as_str()), |head| Ok(head.file))?;
            let mut gap = None;
            match (&earlier, &head) {
                (Some(earlier), None) => {
                    let text = earlier.as_deref().unwrap_or_default();
                    let number = changes.add_version(file, &draft(OUTSIDE, None, text))?;
                    gap = earlier.is_none().then_some(number);
                }
                (_, Some(head)) if replaces => {
                    let before = FileHead { version: head.version.saturating_sub(1), ..head.clone() };
                    changes.remove_newest_version(file, head.version, Some(&before))?;
                }
                _ => {}
            }
            let activation = owner.activation.as_deref();
            let head = FileHead {
                file,
                path: path.as_str().to_owned(),
                is_there: true,
                version: changes.add_version(file, &draft(&owner.author.0, activation, text))?,
                hash: content_hash(text.as_bytes()),
                size: found.size,
                modified_ns: found.modified_ns,
            };
            changes.set_head(&head)?;
            gap.map_or(Ok(()), |number| changes.drop_version(file, number))?;
            changes.prune(file, kept)?;
            Ok(head)
        })?;
        let version = head.version;
        self.note_changed(&head.path);
        self.heads.insert(head.path.clone(), head);
        Ok(version)
    }

    /// Records that a file is gone that a program may have deleted. Its earlier text becomes a version if it has none.
    /// Returns the author; `None` if no program may have.
    pub(super) fn record_program_deletion(&mut self, path: &WorkspacePath) -> Option<Author> {
        let ProgramAuthor { number, owner, others } = self.programs.author_of(path.as_str(), None)?;
        if let Some((entry, Some(text))) = self.programs.earlier.texts.remove(path.as_str())
            && !self.heads.contains_key(path.as_str())
        {
            let found = metadata_of(entry);
            let recorded = self.record_version(path, &text, &found, OUTSIDE);
            if let Err(error) = recorded.and_then(|_| self.mark_deleted(path)) {
                tracing::warn!("the text of {path}, which a program deleted, could not be kept: {error}");
            }
        }
        let program = self.programs.program(number)?;
        program.changed.insert(path.as_str().to_owned(), LastChange::Deleted);
        if !self.is_reported_otherwise(path.as_str()) {
            let version = self.heads.get(path.as_str()).map_or(0, |head| head.version);
            self.report_program_change(path.as_str(), version, true, false, &owner, others);
        }
        Some(owner.author)
    }

    /// Reports a file that is not text and that a program may have changed. Returns whether one may have.
    pub(super) fn report_program_bytes(&mut self, path: &WorkspacePath, found: &EntryMetadata) -> bool {
        let author = self.programs.author_of(path.as_str(), Some(found.changed_ns));
        let Some(ProgramAuthor { number, owner, others }) = author else { return false };
        let is_new =
            self.programs.earlier.texts.remove(path.as_str()).is_none() && !self.heads.contains_key(path.as_str());
        let Some(program) = self.programs.program(number) else { return false };
        if program.changed.contains_key(path.as_str()) {
            return true;
        }
        program.new_files += usize::from(is_new);
        if program.new_files > MAX_NEW_FILES {
            program.more += 1;
            return true;
        }
        program.changed.insert(path.as_str().to_owned(), LastChange::Wrote { version: 0 });
        self.report_program_change(path.as_str(), 0, false, is_new, &owner, others);
        true
    }

    /// Whether a change of this file reaches the world as a change of the room's files.
    fn is_reported_otherwise(&self, path: &str) -> bool {
        layout::is_used_by_room(path) && self.room.as_ref().is_some_and(|room| room.is_watched)
    }

    fn report_program_change(
        &mut self,
        path: &str,
        version: u64,
        is_gone: bool,
        is_new: bool,
        owner: &ProgramOwner,
        others: Vec<Id>,
    ) {
        let program = ProgramChange { activation: owner.activation.clone(), is_new, others };
        self.news.push(ServiceEvent::Outside(OutsideChange {
            path: path.to_owned(),
            version,
            is_gone,
            displaced_by: None,
            by: Some(owner.author.0.clone()),
            program: Some(Box::new(program)),
        }));
    }
}

/// The metadata of an ordinary file, from its entry in the index.
fn metadata_of(entry: Entry) -> EntryMetadata {
    let Entry { size, modified_ns } = entry;
    let (names, is_read_only, number) = (1, false, 0);
    EntryMetadata { kind: EntryKind::File, size, modified_ns, changed_ns: modified_ns, names, is_read_only, number }
}

#[cfg(test)]
#[path = "program_changes_tests.rs"]
mod tests;
