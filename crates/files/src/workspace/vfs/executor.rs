//! Executes file orders one at a time: checks the path and the permissions, acts, and reports the result. How a change
//! reaches the disk exactly once is in [`super::write_ahead`]; external changes are in [`super::external_edits`], and
//! the room's own saves in [`super::saving`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::super::layout;
use super::super::session_files::is_session_file;
use super::change_feed::{ChangeFeed, ChangedFile, FileInfo};
use super::error_messages;
use super::index::Index;
use super::is_agent;
use super::large_files;
use super::limits::FileLimits;
use super::order::{FileAnswer, FileFailure, FileOperation, FileOrder, FileOutcome, FileResult, TextMatch, Unsearched};
use super::path::{PathAccess, WorkspacePath, quoted};
use super::readers::Readers;
use super::recent_answers::Recent;
use super::resolve::{PathError, Root};
use super::rights::{Rights, RightsCache};
use super::room_files::RoomFiles;
use super::running_programs::Programs;
use super::service_events::ServiceEventQueue;
use super::session_texts::SessionRecords;
use super::text_edit::EditedText;
use super::unfinished_saves::UnfinishedSaves;
use crate::base::hash::content_hash;
use crate::base::text::truncate;
use crate::base::text_normalization::nfc;
use crate::base::{Problem, globs};
use crate::store::{FileHead, FileVersions, StoreError};

/// The maximum length of a prefix or a search text, in bytes.
const MAX_WANTED_BYTES: usize = 4096;
/// The maximum number of skipped files that a search result names.
const UNSEARCHED_NAMED: usize = 5;
/// The maximum number of tasks that wait for an idle moment; beyond that, the oldest is dropped.
const MAX_IDLE_TASKS: usize = 20_000;

/// Why the files of a workspace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileServiceError {
    /// The folder cannot be opened, or the thread cannot be started.
    #[error("the workspace's files are not accessible: {0}")]
    Files(#[from] std::io::Error),
    /// The history cannot be opened.
    #[error("{0}; {remedy}", remedy = .0.remedy())]
    Store(#[from] StoreError),
}

/// The last completed step of a change, for tests that stop there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LastStep {
    WrittenBeside,
    Recorded,
    InPlace,
    Settled,
}

/// A task for idle moments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum IdleTask {
    /// Examine this path: someone else may have changed it.
    Examine(String),
    /// Read this path into the cache: it will probably be requested soon.
    Fetch(String),
    /// Keep the text of this path as its first version.
    KeepFirst(String),
}

/// The intended use of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathUse {
    Read,
    Write,
    /// Reading and writing: the answer would reveal the content.
    Change,
    Record,
}

/// A version of a file that was saved by the room.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoomSave {
    pub(super) version: u64,
    pub(super) saved_ms: u64,
}

/// Executes orders on the files of one workspace and records their history.
pub(super) struct Executor {
    pub(super) root: Root,
    pub(super) versions: FileVersions,
    /// The head of the history of each file, by path.
    pub(super) heads: BTreeMap<String, FileHead>,
    /// The version that the room saved last, and when, by the number of the file.
    pub(super) room_saves: BTreeMap<i64, RoomSave>,
    pub(super) index: Index,
    pub(super) readers: Readers,
    pub(super) limits: FileLimits,
    /// The files that the room itself reads and writes; `None` without a room.
    pub(super) room: Option<RoomFiles>,
    /// External changes and completed saves, to be reported to the world.
    pub(super) news: ServiceEventQueue,
    /// Changed files, to be reported to a window.
    pub(super) feed: ChangeFeed,
    /// Changed paths that are reported once the whole change is known.
    changed: BTreeSet<String>,
    /// Files that are empty or missing, with the time at which that was first seen.
    pub(super) unsettled: BTreeMap<String, Instant>,
    /// Files that other programs may still be writing.
    pub(super) unfinished: UnfinishedSaves,
    pub(super) idle_tasks: VecDeque<IdleTask>,
    /// The number of operations performed for the person outside of the room.
    pub(super) changes_beside_room: u64,
    /// Problems with the files that are shown to a person.
    pub(super) problems: Vec<Problem>,
    /// Files that the program itself writes into the workspace for a person; they have no events and no versions.
    pub(super) ignored: BTreeSet<String>,
    /// The state of the session files.
    pub(super) sessions: SessionRecords,
    /// The running programs of agents.
    pub(super) programs: Programs,
    rights: RightsCache,
    recent: Recent,
    /// A test hook: the step at which to stop as if the process had been killed there.
    #[cfg(test)]
    pub(super) stop_at: Option<LastStep>,
    /// A test hook: an action of another program each time that this step is reached.
    #[cfg(test)]
    pub(super) act_at: Option<(LastStep, Box<dyn FnMut() + Send>)>,
}

impl Executor {
    /// Opens the files of a workspace whose history is in `dir`, completes unfinished changes, and scans every folder.
    pub(super) fn open(root: &Path, dir: &Path, limits: FileLimits) -> Result<Self, FileServiceError> {
        let mut files = Self::closed(root, dir)?;
        files.finish_interrupted_changes()?;
        files.index = Index::walk(&files.root);
        let kept = std::mem::take(&mut files.index.kept);
        files.problems.extend(kept.iter().map(|(path, kept)| displaced_text_problem(path, kept)));
        files.set_limits(limits);
        files.queue_edits_made_while_closed();
        Ok(files)
    }

    /// Opens the workspace without examining its files.
    pub(super) fn closed(root: &Path, dir: &Path) -> Result<Self, FileServiceError> {
        let versions = FileVersions::open(dir)?;
        let heads = versions.heads()?.into_iter().map(|head| (head.path.clone(), head)).collect();
        Ok(Self {
            root: Root::open(root)?,
            versions,
            heads,
            room_saves: BTreeMap::new(),
            index: Index::default(),
            readers: Readers::default(),
            limits: FileLimits::default(),
            room: None,
            news: ServiceEventQueue::default(),
            feed: ChangeFeed::default(),
            changed: BTreeSet::new(),
            unsettled: BTreeMap::new(),
            unfinished: UnfinishedSaves::default(),
            idle_tasks: VecDeque::new(),
            changes_beside_room: 0,
            problems: Vec::new(),
            ignored: BTreeSet::new(),
            sessions: SessionRecords::default(),
            programs: Programs::default(),
            rights: RightsCache::default(),
            recent: Recent::default(),
            #[cfg(test)]
            stop_at: None,
            #[cfg(test)]
            act_at: None,
        })
    }

    pub(super) fn set_limits(&mut self, limits: FileLimits) {
        let mib = usize::try_from(limits.memory_mib_at_most).unwrap_or(usize::MAX);
        self.index.limit_memory(mib.saturating_mul(1024 * 1024));
        self.limits = limits;
    }

    /// Performs an operation, or returns the earlier outcome of the same order.
    pub(super) fn execute(&mut self, order: &FileOrder) -> FileOutcome {
        let what = request_hash_of(order);
        let result = match self.recent.answer(&order.key, what) {
            Some(result) => result,
            None => {
                let result = match self.recorded_answer(order, what) {
                    Ok(Some(answer)) => Ok(answer),
                    Ok(None) => self.act(order, what),
                    Err(error) => Err(history(&error)),
                };
                let result = result.map(|answer| self.masked(order, answer));
                self.recent.insert(&order.key, what, &result);
                result
            }
        };
        FileOutcome {
            key: order.key.clone(),
            author: order.author.clone(),
            activation: order.activation.clone(),
            result,
            cause: order.cause,
            worktree: None,
            restores: matches!(order.operation, FileOperation::Restore { .. }),
        }
    }

    /// Records that the content, existence or history of a file changed.
    pub(super) fn note_changed(&mut self, path: &str) {
        self.changed.insert(path.to_owned());
    }

    /// Reports what changed since the last call.
    pub(super) fn report_changed(&mut self) {
        for path in std::mem::take(&mut self.changed) {
            let (entry, head) = (self.index.get(&path), self.heads.get(&path));
            let hash = head.filter(|head| head.is_there).map(|head| head.hash);
            self.feed.push(ChangedFile { info: FileInfo::of(&path, entry, head), hash });
        }
    }

    /// Performs the next task for idle moments; `false` if there is none.
    pub(super) fn do_idle_task(&mut self) -> bool {
        match self.idle_tasks.pop_front() {
            Some(IdleTask::Examine(path)) => self.examine(&path),
            Some(IdleTask::Fetch(path)) => {
                if let Ok(path) = WorkspacePath::new(&path) {
                    // Errors are ignored: they are reported when the file is requested.
                    let _ = self.index.read(&self.root, &path, self.limits.bytes_at_most(&path));
                }
            }
            Some(IdleTask::KeepFirst(path)) => self.keep_first_version(&path),
            None => return false,
        }
        true
    }

    pub(super) fn push_idle_task(&mut self, later: IdleTask) {
        if self.idle_tasks.len() >= MAX_IDLE_TASKS {
            self.idle_tasks.pop_front();
        }
        self.idle_tasks.push_back(later);
    }

    fn act(&mut self, order: &FileOrder, what: u64) -> Result<FileAnswer, FileFailure> {
        let rights = self.rights.get_or_compile(&order.rights).map_err(|error| {
            let what = format!("the permissions of this order are invalid, so it was refused: {error}.");
            FileFailure { what, is_refusal: true }
        })?;
        let is_person = order.author.is_user();
        let is_no_agent = !is_agent(&order.author);
        let open = |given: &str, want| resolve_permitted_path(given, &rights, want, is_no_agent);
        match &order.operation {
            // Agents can read a file that is too large to be edited in parts.
            FileOperation::Read { path } => {
                self.read(order, &rights, &open(path, PathUse::Read)?, (!is_person).then_some((1, None)))
            }
            FileOperation::ReadLines { path, from_line, lines } => {
                self.read(order, &rights, &open(path, PathUse::Read)?, Some((*from_line, *lines)))
            }
            FileOperation::Write { path, content } => {
                let path = open(path, PathUse::Write)?;
                let may_know = rights.may_read(path.as_str());
                let bytes = content.len() as u64;
                self.limits.allow(&path, bytes, Some(bytes), 0, 0).map_err(invalid_request)?;
                // The reason for a failure may reveal the content of the file.
                let put = self.write_text(order, what, &path, |_, _| Ok(content.clone().into()));
                put.map_err(
                    |why| if may_know { why } else { invalid_request(format!("'{path}' could not be written.")) },
                )
            }
            FileOperation::Save { path, base, content } if is_person && is_session_file(path) => {
                self.save_session(&open(path, PathUse::Read)?, *base, content)
            }
            FileOperation::Save { path, base, content } => {
                let path = open(path, PathUse::Change)?;
                self.write_text(order, what, &path, |_, now| {
                    let now = now.map(|text| content_hash(text.as_bytes()));
                    // The file already has this text, no matter who wrote it.
                    if now == *base || now == Some(content_hash(content.as_bytes())) {
                        return Ok(content.clone().into());
                    }
                    Err(invalid_request(match (now, base) {
                        (None, _) => format!(
                            "'{path}' was deleted; save it under a new name, or save again to restore \
                            it."
                        ),
                        (Some(_), None) => format!("'{path}' already exists; choose another name."),
                        (Some(_), Some(_)) => format!("'{path}' was changed in the meantime; compare and save again."),
                    }))
                })
            }
            FileOperation::Edit { path, old, new } => {
                let path = open(path, PathUse::Change)?;
                self.write_text(order, what, &path, |files, now| match now {
                    Some(text) => {
                        let edited = error_messages::edit(path.as_str(), text, old, new);
                        edited.map(EditedText::from).map_err(invalid_request)
                    }
                    None => Err(files.missing(path.as_str(), &rights)),
                })
            }
            FileOperation::EditWith { path, edit } => {
                self.edit_with(order, what, &open(path, PathUse::Change)?, edit, &rights)
            }
            FileOperation::Append { path, text } => {
                let path = open(path, PathUse::Change)?;
                self.write_text(order, what, &path, |_, now| Ok([now.unwrap_or_default(), text].concat().into()))
            }
            FileOperation::CreateFolder { path } => {
                let path = open(path, PathUse::Change)?;
                let made = self.root.make_folder(&path).map_err(|trouble| path_failure(&path, &trouble))?;
                Ok(FileAnswer::Folder { path: path.as_str().to_owned(), is_new: made })
            }
            FileOperation::List { prefix } => self.list(&rights, prefix),
            FileOperation::Search { text, glob } => self.search(&rights, text.as_deref(), glob.as_deref()),
            FileOperation::Delete { path } => {
                let path = open(path, PathUse::Change)?;
                self.delete(order, what, &path)?.ok_or_else(|| self.missing(path.as_str(), &rights))
            }
            FileOperation::DeleteUnchanged { path, hash } => {
                let path = open(path, PathUse::Change)?;
                match self.present(&path)? {
                    Some((text, _)) if content_hash(text.as_bytes()) != *hash => {
                        return Err(invalid_request(format!(
                            "'{path}' was changed in the meantime and was left as it is."
                        )));
                    }
                    Some(_) => {
                        if let Some(answer) = self.delete(order, what, &path)? {
                            return Ok(answer);
                        }
                    }
                    None => self.note_deleted(&path),
                }
                let version = self.heads.get(path.as_str()).map_or(0, |head| head.version);
                Ok(FileAnswer::Unchanged { path: path.as_str().to_owned(), version })
            }
            FileOperation::Rename { from, to } => {
                let (from, to) = (open(from, PathUse::Change)?, open(to, PathUse::Change)?);
                self.rename(order, what, &from, &to)?.ok_or_else(|| self.missing(from.as_str(), &rights))
            }
            FileOperation::Restore { path, version } => {
                if is_person && is_session_file(path) {
                    return self.restore_session(&open(path, PathUse::Read)?, *version, &rights);
                }
                let path = open(path, PathUse::Change)?;
                let text = self.text_of_version(&path, *version, &rights)?;
                self.write_text(order, what, &path, |_, _| Ok(text.clone().into()))
            }
            FileOperation::CommitWorktree { .. } | FileOperation::MergeWorktree { .. } => {
                let what = "this needs a worktree, and there is none here.".to_owned();
                Err(FileFailure { what, is_refusal: true })
            }
            FileOperation::Record { path, content, over } => {
                let path = open(path, PathUse::Record)?;
                match is_session_file(path.as_str()) {
                    true => self.record_session(&path, content, *over),
                    false => self.write_record(&path, content),
                }
            }
            FileOperation::KeepRecord { path } => self.keep_record(&open(path, PathUse::Record)?),
        }
    }

    /// Reads the text of a file, or, if it is too large and `part` is given, some of its lines.
    fn read(
        &mut self,
        order: &FileOrder,
        rights: &Rights,
        path: &WorkspacePath,
        part: Option<(usize, Option<usize>)>,
    ) -> Result<FileAnswer, FileFailure> {
        let present = self.index.read(&self.root, path, self.limits.bytes_at_most(path));
        let (text, found) = match (present, part) {
            (Ok(present), _) => present,
            (Err(PathError::Missing), _) => {
                self.note_deleted(path);
                return Err(self.missing(path.as_str(), rights));
            }
            (Err(PathError::TooLarge { .. }), Some((from_line, lines))) => {
                let (file, _) = self.root.open_record(path).map_err(|trouble| path_failure(path, &trouble))?;
                let answer = large_files::lines(path.as_str(), file, from_line, lines).map_err(invalid_request)?;
                self.readers.note(path.as_str(), &order.author);
                return Ok(answer);
            }
            (Err(trouble), _) => return Err(path_failure(path, &trouble)),
        };
        let version = self.notice(path, &text, &found).map_err(|error| history(&error))?;
        self.readers.note(path.as_str(), &order.author);
        Ok(FileAnswer::Text { path: path.as_str().to_owned(), content: text.to_string(), version })
    }

    /// Returns the content of a file; `None` if there is no file.
    pub(super) fn present(
        &mut self,
        path: &WorkspacePath,
    ) -> Result<Option<(Arc<str>, crate::safe_fs::EntryMetadata)>, FileFailure> {
        match self.index.read(&self.root, path, self.limits.bytes_at_most(path)) {
            Ok(present) => Ok(Some(present)),
            Err(PathError::Missing) => Ok(None),
            Err(trouble) => Err(path_failure(path, &trouble)),
        }
    }

    pub(super) fn missing(&mut self, wanted: &str, rights: &Rights) -> FileFailure {
        self.refresh("");
        let paths: Vec<&str> = self.index.paths_under("").filter(|path| rights.may_read(path)).collect();
        invalid_request(error_messages::not_found(wanted, &paths, self.limits.listed_at_most.div_ceil(10)))
    }

    fn list(&mut self, rights: &Rights, prefix: &str) -> Result<FileAnswer, FileFailure> {
        let prefix = plain_prefix(prefix)?;
        self.refresh(&prefix);
        let (mut paths, mut more) = (Vec::new(), 0);
        for path in self.index.paths_under(&prefix).filter(|path| rights.may_read(path)) {
            if paths.len() < self.limits.listed_at_most {
                paths.push(path.to_owned());
            } else {
                more += 1;
            }
        }
        let mut prefixes = Vec::new();
        if paths.is_empty() {
            self.refresh("");
            let readable = self.index.paths_under("").filter(|path| rights.may_read(path));
            for folder in readable.filter_map(|path| path.split_once('/')).map(|(folder, _)| folder) {
                if prefixes.last().is_none_or(|last: &String| last.strip_suffix('/') != Some(folder)) {
                    prefixes.push(format!("{folder}/"));
                }
            }
            prefixes.truncate(self.limits.listed_at_most);
        }
        paths.iter().for_each(|path| self.push_idle_task(IdleTask::Fetch(path.clone())));
        Ok(FileAnswer::Listing { paths, more, prefixes })
    }

    fn search(&mut self, rights: &Rights, text: Option<&str>, wanted: Option<&str>) -> Result<FileAnswer, FileFailure> {
        let text = text.filter(|text| !text.is_empty());
        if text.is_some_and(|text| text.contains(['\n', '\r'])) {
            return Err(invalid_request("search for a text on one line.".to_owned()));
        }
        if text.is_some_and(|text| text.len() > MAX_WANTED_BYTES) {
            return Err(invalid_request("the text to search for is too long.".to_owned()));
        }
        let wanted = wanted.filter(|glob| !glob.is_empty()).map(globs::plain).transpose();
        let wanted =
            wanted.map_err(|error| invalid_request(format!("the files to search are not a valid glob: {error}.")))?;
        let line = text.map(|text| {
            let mut builder = regex::RegexBuilder::new(&regex::escape(text));
            builder.case_insensitive(true).build()
        });
        let line = line.transpose().map_err(|error| invalid_request(format!("cannot search for this: {error}.")))?;
        self.refresh("");
        let is_wanted =
            |path: &&str| wanted.as_ref().is_none_or(|globs| globs::any_matches(globs, path)) && rights.may_read(path);
        let paths: Vec<String> = self.index.paths_under("").filter(is_wanted).map(str::to_owned).collect();
        let (mut matches, mut more) = (Vec::new(), 0);
        let mut unsearched =
            Unsearched { has_unknown_folders: self.index.has_unknown_folders(), ..Unsearched::default() };
        for path in paths {
            let Some(line) = &line else {
                matches.push(TextMatch { path, line: 0, text: String::new() });
                continue;
            };
            let Ok(normal) = WorkspacePath::new(&path) else { continue };
            let text = match self.index.read(&self.root, &normal, self.limits.bytes_at_most(&normal)) {
                Ok((text, _)) => text,
                Err(trouble) => {
                    note_unsearched(&mut unsearched, path, &trouble);
                    continue;
                }
            };
            let room = self.limits.matches_at_most.saturating_sub(matches.len());
            more += find_lines(&path, &text, line, room, self.limits.line_chars_at_most, &mut matches);
        }
        if matches.len() > self.limits.matches_at_most {
            more = matches.len() - self.limits.matches_at_most;
            matches.truncate(self.limits.matches_at_most);
        }
        Ok(FileAnswer::Matches { matches, more, unsearched })
    }

    pub(super) fn text_of_version(
        &mut self,
        path: &WorkspacePath,
        version: u64,
        rights: &Rights,
    ) -> Result<String, FileFailure> {
        let Some(head) = self.heads.get(path.as_str()) else {
            return Err(match self.present(path)? {
                Some(_) => invalid_request(format!("'{path}' has no earlier versions.")),
                None => self.missing(path.as_str(), rights),
            });
        };
        let file = head.file;
        let text = self.versions.text(file, version).map_err(|error| history(&error))?;
        text.map_or_else(
            || {
                let kept = self.versions.versions(file).map_err(|error| history(&error))?;
                let numbers = kept.iter().rev().map(|version| version.number).collect::<Vec<_>>();
                Err(invalid_request(format!("'{path}' has no version {version}; there are {}.", spans(&numbers))))
            },
            Ok,
        )
    }

    /// Scans changed folders again. New and missing files are examined in idle moments.
    pub(super) fn refresh(&mut self, prefix: &str) {
        let difference = self.index.refresh(&self.root, prefix);
        difference.went.iter().for_each(|path| self.note_changed(path));
        for path in difference.came.into_iter().chain(difference.went) {
            self.push_idle_task(IdleTask::Examine(path));
        }
    }

    /// Removes everything from an answer that the caller is not permitted to know.
    fn masked(&mut self, order: &FileOrder, answer: FileAnswer) -> FileAnswer {
        let FileOperation::Write { content, .. } = &order.operation else { return answer };
        let (path, known) = match &answer {
            FileAnswer::Unchanged { path, .. } => {
                (path.clone(), layout::is_used_by_room(path).then(|| content.clone()))
            }
            FileAnswer::Changed { done: FileResult::Written { path, content, .. }, .. } => {
                (path.clone(), content.clone())
            }
            _ => return answer,
        };
        if self.rights.get_or_compile(&order.rights).is_ok_and(|rights| rights.may_read(&path)) {
            return answer;
        }
        let chars = content.chars().count() as u64;
        let done = FileResult::Written { path, version: 0, chars, is_new: true, content: known };
        FileAnswer::Changed { done, conflict_with: Vec::new() }
    }
}

/// Returns a hash of the request, to detect a different order under the same key.
fn request_hash_of(order: &FileOrder) -> u64 {
    let what = serde_json::to_vec(&(&order.operation, &order.rights, &order.author));
    content_hash(&what.expect("an order is plain data with string keys"))
}

/// Resolves the path of an operation if its location and the rights permit the intended use.
fn resolve_permitted_path(
    given: &str,
    rights: &Rights,
    want: PathUse,
    is_no_agent: bool,
) -> Result<WorkspacePath, FileFailure> {
    let refusal = |what: String| FileFailure { what, is_refusal: true };
    let path = WorkspacePath::new(given).map_err(|why| refusal(format!("{why}.")))?;
    let reach = path.reach();
    if reach == PathAccess::Closed {
        return Err(refusal(format!("{} is closed to file tools.", quoted(path.as_str()))));
    }
    let reads = matches!(want, PathUse::Read | PathUse::Change);
    if rights.is_private(path.as_str()) && (reads || !rights.may_write(path.as_str())) {
        let what = if rights.is_record_of_another(path.as_str()) {
            "is the record of another agent's work, not yours."
        } else if rights.is_knowledge_of_another(path.as_str()) {
            "says what others remember, and is not yours to read."
        } else {
            "holds an inbox that is not yours."
        };
        return Err(refusal(format!("{} {what}", quoted(path.as_str()))));
    }
    if reads && !rights.may_read(path.as_str()) {
        return Err(refusal(format!("{} is outside what you may read.", quoted(path.as_str()))));
    }
    if want != PathUse::Read && rights.is_held_elsewhere(path.as_str()) {
        let why = "is the content of an element in another scene; only the user can change it now.";
        return Err(refusal(format!("{} {why}", quoted(path.as_str()))));
    }
    if want != PathUse::Read && rights.is_closed_knowledge(path.as_str()) {
        let why = "holds memories; people edit it, and you add to it with knowledge_contribute.";
        return Err(refusal(format!("{} {why}", quoted(path.as_str()))));
    }
    if want != PathUse::Read && !rights.may_write(path.as_str()) {
        return Err(refusal(format!("{} is outside what you may write.", quoted(path.as_str()))));
    }
    let why = match (want, reach) {
        (PathUse::Read, _)
        | (PathUse::Write | PathUse::Change, PathAccess::Open)
        | (PathUse::Record, PathAccess::Records) => {
            return Ok(path);
        }
        // Settings and the like belong to the person; outgoing messages are written by the room.
        (PathUse::Write | PathUse::Change, PathAccess::ReadOnly) if is_no_agent => return Ok(path),
        (PathUse::Record, _) => "is not a place for the program's records; they are in sessions/.",
        (_, PathAccess::Records) => "is a record of the program; file tools can only read it.",
        _ => "cannot be changed by file tools; a person can change it in an editor.",
    };
    Err(refusal(format!("{} {why}", quoted(path.as_str()))))
}

/// Returns the problem that tells a person where a text that was displaced when the process was killed is kept.
pub(super) fn displaced_text_problem(path: &str, kept: &str) -> Problem {
    let what = format!("the program was stopped while replacing it; the earlier text is kept as {kept}");
    Problem::warning(path, what, "compare the two, and delete the copy if nothing is missing")
}

/// Creates the failure for an invalid request, or for a file that does not exist.
pub(super) fn invalid_request(what: String) -> FileFailure {
    FileFailure { what, is_refusal: false }
}

pub(super) fn path_failure(path: &WorkspacePath, trouble: &PathError) -> FileFailure {
    FileFailure { what: trouble.message(path.as_str()), is_refusal: trouble.is_refusal() }
}

pub(super) fn history(error: &StoreError) -> FileFailure {
    invalid_request(format!("the file history is not accessible, so nothing was changed: {error}."))
}

/// Writes ascending numbers as spans: “1 and 30 to 129”.
fn spans(numbers: &[u64]) -> String {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => spans.push((number, number)),
        }
    }
    let written =
        |(first, last): (u64, u64)| if first == last { first.to_string() } else { format!("{first} to {last}") };
    let words: Vec<String> = spans.into_iter().map(written).collect();
    match words.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => words.concat(),
    }
}

fn plain_prefix(prefix: &str) -> Result<String, FileFailure> {
    if prefix.len() > MAX_WANTED_BYTES {
        return Err(invalid_request("the prefix is too long.".to_owned()));
    }
    let prefix = prefix.strip_prefix("./").or_else(|| prefix.strip_prefix('/')).unwrap_or(prefix);
    let prefix = if prefix == "." { "" } else { prefix };
    Ok(nfc(prefix).into_owned())
}

/// Records a file that was not searched. A file that was deleted meanwhile contains nothing and is not recorded.
fn note_unsearched(unsearched: &mut Unsearched, path: String, trouble: &PathError) {
    let count = match trouble {
        PathError::Missing => return,
        PathError::TooLarge { .. } => &mut unsearched.too_large,
        PathError::NotText { .. } => &mut unsearched.not_text,
        _ => &mut unsearched.unreadable,
    };
    *count += 1;
    if unsearched.named.len() < UNSEARCHED_NAMED {
        unsearched.named.push(path);
    } else if matches!(trouble, PathError::TooLarge { .. }) && unsearched.too_large <= UNSEARCHED_NAMED {
        // Files that are too large come first: the searching agent can read them in parts.
        unsearched.named.insert(unsearched.too_large - 1, path);
        unsearched.named.truncate(UNSEARCHED_NAMED);
    }
}

/// Adds the matching lines up to a limit. Returns the number of further matches.
fn find_lines(
    path: &str,
    text: &str,
    wanted: &regex::Regex,
    room: usize,
    chars: usize,
    matches: &mut Vec<TextMatch>,
) -> usize {
    let (mut line, mut counted_to, mut at, mut found) = (1_u32, 0, 0, 0);
    while let Some(hit) = wanted.find_at(text, at) {
        let start = text[..hit.start()].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[hit.end()..].find('\n').map_or(text.len(), |newline| hit.end() + newline);
        found += 1;
        if found <= room {
            let newlines = text.as_bytes()[counted_to..start].iter().filter(|byte| **byte == b'\n').count();
            line += u32::try_from(newlines).unwrap_or(u32::MAX);
            counted_to = start;
            let text = shown(&text[start..end], hit.start() - start, chars);
            matches.push(TextMatch { path: path.to_owned(), line, text });
        }
        at = end + 1;
        if at > text.len() {
            break;
        }
    }
    found.saturating_sub(room)
}

/// Shortens a line to `chars` characters around the match at `at`.
fn shown(line: &str, at: usize, chars: usize) -> String {
    let line = line.trim_end();
    if line.chars().count() <= chars {
        return line.to_owned();
    }
    let before = line.get(..at).map_or(0, |before| before.chars().count());
    let skipped = before.saturating_sub(chars / 3);
    let rest: String = line.chars().skip(skipped).collect();
    let rest = if skipped > 0 { format!("…{rest}") } else { rest };
    truncate(&rest, chars)
}

#[cfg(test)]
#[path = "crash_tests.rs"]
mod crash_tests;
#[cfg(test)]
#[path = "executor_tests.rs"]
pub(in crate::workspace) mod tests;
