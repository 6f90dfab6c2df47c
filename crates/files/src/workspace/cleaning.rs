//! Resets a workspace to its state before any agent worked in it: the room's records and temporary files are moved
//! aside, and files changed by agents are restored. Nothing is deleted.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use super::layout::{APPROVALS_FILE, CHECK_IN_FILE, KEPT_BLACKBOARD};
use super::session_files::{COPY_ENDING, ENDING};
use super::vfs::worktrees::WORKTREES;
use super::vfs::{FileHistory, FileServiceError, ROOM, is_agent};
use crate::base::{Author, unique_names};
use crate::safe_fs::{self, EntryKind, Folder};
use crate::store::{BESIDE_HISTORY, HISTORY_FILE, StoreError, while_closed};

/// The folder in `.workshop` to which files are moved, each time into a new subfolder.
const ASIDE: &str = "cleaned";
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

    /// Carries out the plan. Returns the folder to which the files were moved, relative to the workspace.
    pub fn carry_out(&self, root: &Path, dir: &Path) -> Result<String, CleaningError> {
        while_closed(dir, || self.move_all(root, dir))?
    }

    fn move_all(&self, root: &Path, dir: &Path) -> Result<String, CleaningError> {
        let state = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let names = unique_names::numbered(&format!("{state}/{ASIDE}"), "", 1);
        let aside = unique_names::first_free(names, |name| root.join(name).symlink_metadata().is_ok());
        let failed = |path: &str| {
            let (path, aside) = (path.to_owned(), aside.clone());
            move |source| CleaningError::Move { path, source, aside }
        };
        for path in &self.aside {
            safe_fs::move_below(root, path, &format!("{aside}/{path}")).map_err(failed(path))?;
        }
        for (path, text) in &self.put_back {
            safe_fs::write_new(root, path, |mut file| file.write_all(text.as_bytes())).map_err(failed(path))?;
        }
        Ok(aside)
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
