//! Resets a workspace to its state before any agent worked in it: the room's records and temporary files are moved
//! aside, and files changed by agents are restored. Nothing is deleted.
//!
//! The whole plan is recorded before the first file is touched. Files are restored first, and the history, which alone
//! could restore them, is moved last. A start that finds a recorded plan completes it: each step can be repeated, and a
//! file that somebody changed meanwhile is left alone.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::layout::{APPROVALS_FILE, CHECK_IN_FILE, KEPT_BLACKBOARD};
use super::session_files::{COPY_ENDING, ENDING};
use super::vfs::worktrees::WORKTREES;
use super::vfs::{FileHistory, FileServiceError, PathAccess, ROOM, WorkspacePath, is_agent};
use crate::base::hash::content_hash;
use crate::base::{Author, Problem, unique_names};
use crate::safe_fs::{self, EntryKind, Folder};
use crate::store::{BESIDE_HISTORY, HISTORY_FILE, StoreError, empty_write_ahead_log, while_closed};

/// The folder in `.workshop` to which files are moved, each time into a new subfolder.
const ASIDE: &str = "cleaned";
/// The recorded plan in `.workshop`, until it is carried out.
const PLAN: &str = "cleaning.json";
/// The maximum size of a recorded plan in bytes.
const MAX_PLAN_BYTES: u64 = 1 << 30;
/// The folders of the room's own records and of messages, with the extensions of their files.
const RECORD_FOLDERS: [(&str, &str); 4] =
    [("sessions", ENDING), ("sessions", COPY_ENDING), ("inbox", ".jsonl"), ("outbox", ".jsonl")];
/// Single files that the room maintains.
const KEPT_BY_THE_ROOM: [&str; 3] = [APPROVALS_FILE, KEPT_BLACKBOARD, CHECK_IN_FILE];

/// The plan for resetting a workspace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cleaning {
    /// The files that are moved aside, sorted by path.
    pub aside: BTreeSet<String>,
    /// The files among these that are replaced by an earlier text, with that text.
    pub put_back: Vec<(String, String)>,
    /// Files written by agents whose earlier text is no longer stored; they are left alone.
    pub stays: Vec<String>,
}

/// Why a workspace could not be reset.
#[derive(Debug, thiserror::Error)]
pub enum CleaningError {
    /// The history cannot be read, or another process has it open.
    #[error("{0}; {remedy}", remedy = .0.remedy())]
    Store(#[from] StoreError),
    /// The files cannot be read.
    #[error(transparent)]
    Files(#[from] FileServiceError),
    /// A file cannot be set aside or put back.
    #[error("{path}: {source}; the files moved so far are in {aside}")]
    Move {
        /// The path of the file.
        path: String,
        /// The error of the system.
        source: io::Error,
        /// The folder of the files that were already moved.
        aside: String,
    },
    /// The plan cannot be recorded or read.
    #[error("the plan in {path} cannot be used: {why}")]
    Plan {
        /// The path of the plan, relative to the workspace.
        path: String,
        /// The reason.
        why: String,
    },
}

/// What is to be done, as it is recorded. A stored format.
#[derive(Serialize, Deserialize, Debug)]
struct RecordedCleaning {
    /// The folder to which files are moved, relative to the workspace.
    aside: String,
    put_back: Vec<RestoredFile>,
    /// The other files that are moved, in this order.
    moved: Vec<String>,
}

/// A file that gets an earlier text.
#[derive(Serialize, Deserialize, Debug)]
struct RestoredFile {
    path: String,
    /// The hash of the text that is moved aside.
    now: u64,
    text: String,
}

/// The result of a cleaning.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cleaned {
    /// The folder to which the files were moved, relative to the workspace.
    pub aside: String,
    /// Files that were to be restored, but were changed in the meantime; they are left alone.
    pub left: Vec<String>,
}

impl Cleaning {
    /// Plans the reset of the workspace `root`, whose state is in `dir`.
    pub fn plan(root: &Path, dir: &Path) -> Result<Self, CleaningError> {
        let mut plan = Self::default();
        plan.aside.extend(KEPT_BY_THE_ROOM.into_iter().filter(|path| is_file(root, path)).map(str::to_owned));
        for (folder, ending) in RECORD_FOLDERS {
            let names = names_in(root, folder);
            plan.aside
                .extend(names.into_iter().filter(|name| name.ends_with(ending)).map(|name| format!("{folder}/{name}")));
        }
        let history = FileHistory::open(root, dir)?;
        for file in history.files()? {
            if is_file(root, &file.path) && !plan.aside.contains(&file.path) {
                plan.take_back(&history, &file.path)?;
            }
        }
        let state = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let of_history = BESIDE_HISTORY.iter().chain(&[""]).map(|beside| format!("{state}/{HISTORY_FILE}{beside}"));
        plan.aside.extend(of_history.filter(|path| is_file(root, path)));
        let copies = format!("{state}/{WORKTREES}");
        if root.join(&copies).symlink_metadata().is_ok_and(|found| found.is_dir()) {
            plan.aside.insert(copies);
        }
        Ok(plan)
    }

    /// Plans to restore a file that agents wrote to its text before the first of these writes.
    fn take_back(&mut self, history: &FileHistory, path: &str) -> Result<(), StoreError> {
        let mut versions = history.versions(path)?;
        versions.reverse();
        // In task files, the room writes on behalf of agents: the assignee of a task, and its result.
        let is_task_file = path.ends_with(".task.md");
        let by_agent = |author: &str| is_agent(&Author(author.into())) || is_task_file && author == ROOM;
        let Some(first) = versions.iter().position(|version| by_agent(&version.author)) else { return Ok(()) };
        let before = match first.checked_sub(1) {
            Some(before) => history.text(path, versions[before].number)?,
            None if versions[0].number == 1 => {
                self.aside.insert(path.to_owned());
                return Ok(());
            }
            None => None,
        };
        match before {
            Some(text) => {
                self.aside.insert(path.to_owned());
                self.put_back.push((path.to_owned(), text));
            }
            None => self.stays.push(path.to_owned()),
        }
        Ok(())
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.aside.is_empty()
    }

    /// Carries out the plan.
    pub fn carry_out(&self, root: &Path, dir: &Path) -> Result<Cleaned, CleaningError> {
        while_closed(dir, || self.record(root, dir)?.carry_out(root, dir, &mut || Ok(())))?
    }

    /// Records the plan for the present files.
    fn record(&self, root: &Path, dir: &Path) -> Result<RecordedCleaning, CleaningError> {
        let state = state_name(dir);
        let names = unique_names::numbered(&format!("{state}/{ASIDE}"), "", 1);
        let aside = unique_names::first_free(names, |name| root.join(name).symlink_metadata().is_ok());
        let mut put_back = Vec::new();
        for (path, text) in &self.put_back {
            let failed = |source| CleaningError::Move { path: path.clone(), source, aside: aside.clone() };
            let Some(now) = hash_of(root, path).map_err(failed)? else { continue };
            put_back.push(RestoredFile { path: path.clone(), now, text: text.clone() });
        }
        let is_put_back = |path: &&String| self.put_back.iter().any(|(back, _)| back == *path);
        let mut moved: Vec<String> = self.aside.iter().filter(|path| !is_put_back(path)).cloned().collect();
        moved.sort_by_key(|path| history_rank(dir, path));
        let plan = RecordedCleaning { aside, put_back, moved };
        let failed = |why: String| CleaningError::Plan { path: format!("{state}/{PLAN}"), why };
        let text = serde_json::to_string(&plan).map_err(|error| failed(error.to_string()))?;
        safe_fs::replace_text(&dir.join(PLAN), &text).map_err(|error| failed(error.to_string()))?;
        Ok(plan)
    }
}

/// Completes a cleaning that a previous process was interrupted in. Call this before the history is opened. `None` if
/// there is none.
pub fn complete_interrupted(root: &Path, dir: &Path) -> Result<Option<Cleaned>, CleaningError> {
    if dir.join(PLAN).symlink_metadata().is_err() {
        return Ok(None);
    }
    while_closed(dir, || match RecordedCleaning::read(dir)? {
        // Another process has completed it meanwhile.
        None => Ok(None),
        Some(plan) => plan.carry_out(root, dir, &mut || Ok(())).map(Some),
    })?
}

/// Like [`complete_interrupted`], for a room that is being opened. Returns what the person should know.
pub fn complete_before_opening(root: &Path, dir: &Path) -> Option<Problem> {
    let place = || format!("{}/{PLAN}", state_name(dir));
    match complete_interrupted(root, dir) {
        // If another process has the room open, opening it fails with the same error.
        Ok(None) | Err(CleaningError::Store(StoreError::InUse { .. })) => None,
        Ok(Some(cleaned)) => {
            let what = format!("an interrupted `workshop clean` was completed; what it moved is in {}", cleaned.aside);
            Some(Problem::warning(place(), what, "nothing to do; move back from there what you want to keep"))
        }
        Err(error) => {
            let what = format!("an interrupted `workshop clean` could not be completed: {error}");
            Some(Problem::error(place(), what, "fix that and open the workspace again, or delete this file"))
        }
    }
}

/// The problem of an interrupted cleaning, for a command that changes nothing.
pub fn interrupted(dir: &Path) -> Option<Problem> {
    dir.join(PLAN).symlink_metadata().ok()?;
    let what = "a `workshop clean` was interrupted: some files are restored or moved aside, others are not";
    let remedy = "open the workspace, or run `workshop clean` again: either completes it";
    Some(Problem::warning(format!("{}/{PLAN}", state_name(dir)), what, remedy))
}

impl RecordedCleaning {
    /// Reads the recorded plan; `None` if there is none. A plan that names anything but files of the workspace is
    /// refused.
    fn read(dir: &Path) -> Result<Option<Self>, CleaningError> {
        let state = state_name(dir);
        let failed = |why: String| CleaningError::Plan { path: format!("{state}/{PLAN}"), why };
        let text = safe_fs::read_text(&dir.join(PLAN), MAX_PLAN_BYTES).map_err(|error| failed(error.to_string()))?;
        let Some(text) = text else { return Ok(None) };
        let plan: Self = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        let is_aside = |path: &str| {
            let number = path.strip_prefix(state).and_then(|rest| rest.strip_prefix('/')?.strip_prefix(ASIDE));
            number.is_some_and(|rest| !rest.contains(['/', '.']))
        };
        let is_plain = |path: &str| {
            WorkspacePath::new(path).is_ok_and(|plain| plain.as_str() == path && plain.reach() != PathAccess::Closed)
        };
        let may_move = |path: &str| is_plain(path) || is_history(dir, path) || path == format!("{state}/{WORKTREES}");
        let odd = plan.put_back.iter().map(|file| &file.path).find(|path| !is_plain(path));
        match odd.or_else(|| plan.moved.iter().find(|path| !may_move(path))) {
            Some(odd) => Err(failed(format!("{odd:?} is not a file that is cleaned"))),
            None if !is_aside(&plan.aside) => Err(failed(format!("{:?} is not a folder for files", plan.aside))),
            None => Ok(Some(plan)),
        }
    }

    /// Carries out what is left of the plan. `before` is called before each change of the disk; a test fails there, as
    /// if the process were killed.
    fn carry_out(
        &self,
        root: &Path,
        dir: &Path,
        before: &mut dyn FnMut() -> io::Result<()>,
    ) -> Result<Cleaned, CleaningError> {
        let mut cleaned = Cleaned { aside: self.aside.clone(), left: Vec::new() };
        for file in &self.put_back {
            let is_restored = self.put_back(root, file, before).map_err(self.failure(&file.path))?;
            if !is_restored {
                cleaned.left.push(file.path.clone());
            }
        }
        // With an empty log, the database is one file. Without this, its parts are moved one by one, which is as good
        // once all of them were moved.
        before().map_err(self.failure(HISTORY_FILE))?;
        if self.moved.iter().any(|path| is_history(dir, path))
            && let Err(error) = empty_write_ahead_log(dir)
        {
            tracing::debug!("the history is moved with its log: {error}");
        }
        for path in &self.moved {
            self.move_aside(root, path, before).map_err(self.failure(path))?;
        }
        before().map_err(self.failure(PLAN))?;
        std::fs::remove_file(dir.join(PLAN)).map_err(self.failure(PLAN))?;
        Ok(cleaned)
    }

    /// Restores the earlier text of a file, and moves the present one aside. Returns whether the file had the text that
    /// it had when the plan was made, or is done already.
    fn put_back(
        &self,
        root: &Path,
        file: &RestoredFile,
        before: &mut dyn FnMut() -> io::Result<()>,
    ) -> io::Result<bool> {
        if !exists(root, &format!("{}/{}", self.aside, file.path)) {
            if hash_of(root, &file.path)? != Some(file.now) {
                return Ok(false);
            }
            self.move_aside(root, &file.path, before)?;
        }
        if !exists(root, &file.path) {
            before()?;
            safe_fs::write_new(root, &file.path, |mut new| new.write_all(file.text.as_bytes()))?;
        }
        Ok(true)
    }

    /// Moves a file aside, unless that is done; what is in its place then is newer.
    fn move_aside(&self, root: &Path, path: &str, before: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        let aside = format!("{}/{path}", self.aside);
        if exists(root, &aside) || !exists(root, path) {
            return Ok(());
        }
        before()?;
        safe_fs::move_below(root, path, &aside)
    }

    fn failure(&self, path: &str) -> impl FnOnce(io::Error) -> CleaningError {
        let (path, aside) = (path.to_owned(), self.aside.clone());
        move |source| CleaningError::Move { path, source, aside }
    }
}

/// The name of the state folder.
fn state_name(dir: &Path) -> &str {
    dir.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Whether a path is that of the history, or of a file that SQLite keeps beside it.
fn is_history(dir: &Path, path: &str) -> bool {
    history_rank(dir, path) > 0
}

/// The order in which files are moved: those beside the history after all others, and the history itself last.
fn history_rank(dir: &Path, path: &str) -> u8 {
    let name = path.strip_prefix(state_name(dir)).and_then(|rest| rest.strip_prefix('/')?.strip_prefix(HISTORY_FILE));
    match name {
        Some("") => 2,
        Some(beside) if BESIDE_HISTORY.contains(&beside) => 1,
        _ => 0,
    }
}

fn exists(root: &Path, path: &str) -> bool {
    root.join(path).symlink_metadata().is_ok()
}

/// Returns the hash of the content of a file; `None` if there is no file.
fn hash_of(root: &Path, path: &str) -> io::Result<Option<u64>> {
    match safe_fs::read_bytes(&root.join(path), u64::MAX - 1) {
        Ok(bytes) => Ok(Some(content_hash(&bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the path is a regular file.
fn is_file(root: &Path, path: &str) -> bool {
    root.join(path).symlink_metadata().is_ok_and(|found| found.is_file())
}

/// Returns the names of the files in a folder of the workspace; empty if there is no such folder.
fn names_in(root: &Path, folder: &str) -> Vec<String> {
    let entries = Folder::open(root).and_then(|root| root.child(folder)).and_then(|folder| folder.entries());
    let files = entries.unwrap_or_default().into_iter().filter(|(_, kind)| *kind == EntryKind::File);
    files.map(|(name, _)| name).collect()
}

#[cfg(test)]
#[path = "cleaning_tests.rs"]
mod tests;
