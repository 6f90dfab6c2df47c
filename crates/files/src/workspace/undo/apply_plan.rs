//! Applies an undo plan: each file gets the planned content if it has not changed since. The previous state is first
//! saved in `.workshop/undone/`, so that the undo itself can be reverted.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use similar::TextDiff;

use super::super::vfs::{
    DirectFiles, FileAnswer, FileHandle, FileOperation, FileService, FileServiceError, FileServiceOptions, PathAccess,
    WorkspacePath,
};
use super::plan::{FilePlan, Outcome, UndoPlan, revert};
use crate::base::hash::content_hash;
use crate::log::now_ms;
use crate::safe_fs;
use crate::store::{StoreError, while_closed};

/// The folder of the records, in `.workshop`.
const FOLDER: &str = "undone";
/// The number of records that are kept.
const KEPT: usize = 50;
/// The maximum size of a record, in bytes.
const MAX_RECORD_BYTES: u64 = 256 * 1024 * 1024;
/// The maximum size of a file that is changed, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// The number of unchanged lines around each change in a diff.
const LINES_AROUND: usize = 3;

/// The record of one undo. A stored format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UndoRecord {
    /// The number of the record, counted from 1.
    pub number: u64,
    /// The time of the undo, in milliseconds since 1970.
    pub time_ms: u64,
    /// The agent whose work was undone.
    pub agent: String,
    /// The changed files.
    pub files: Vec<UndoneFile>,
    /// Whether the undo was reverted.
    #[serde(default)]
    pub is_taken_back: bool,
}

/// The effect of an undo on a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UndoneFile {
    /// The path before the undo.
    pub path: String,
    /// The path after the undo, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The text before the change; `None` if there was no file.
    pub before: Option<String>,
    /// The text after the change.
    pub after: Option<String>,
}

/// A file that was not changed, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkippedFile {
    /// The path of the file.
    pub path: String,
    /// The reason, as a whole sentence.
    pub why: String,
}

/// Why nothing was undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// The files cannot be used.
    #[error(transparent)]
    Files(#[from] FileServiceError),
    /// The record of the undo cannot be written.
    #[error("the undo could not be recorded in .workshop/{FOLDER}, so nothing was changed: {0}")]
    Record(io::Error),
    /// There is no undo that could be reverted.
    #[error("there is no undo to revert")]
    Nothing,
}

/// How files are changed during an undo.
enum FileAccess {
    /// Through the file service of this process: the changes are the person's, with versions.
    Service(FileHandle),
    /// Directly; a room that another process has open treats them like the edits of an editor.
    AtRest(DirectFiles),
}

/// Carries out a plan. Returns its record, and the files that were skipped because they changed since the plan was
/// made. `open` gives access to the files if this process has the workspace open.
pub fn apply_plan(
    root: &Path,
    dir: &Path,
    plan: &UndoPlan,
    open: Option<FileHandle>,
) -> Result<(UndoRecord, Vec<SkippedFile>), UndoError> {
    let files = plan.files.iter().filter(|file| file.changes()).map(|file: &FilePlan| UndoneFile {
        path: file.path.clone(),
        to: match &file.outcome {
            Outcome::Write { to, .. } => to.clone(),
            _ => None,
        },
        before: file.now.clone(),
        after: file.after().map(str::to_owned),
    });
    let number = numbers(dir).last().map_or(1, |last| last + 1);
    let undone = UndoRecord {
        number,
        time_ms: now_ms(),
        agent: plan.agent.clone(),
        files: files.collect(),
        is_taken_back: false,
    };
    keep(dir, &undone).map_err(UndoError::Record)?;
    let not_done = with_access(root, dir, open, |access| {
        let done = undone.files.iter().map(|file| (file, put(access, file)));
        done.filter_map(|(file, done)| Some(SkippedFile { path: file.path.clone(), why: done.err()? })).collect()
    })?;
    thin(dir);
    Ok((undone, not_done))
}

/// Returns the latest undo that was not reverted.
pub fn last_undone(dir: &Path) -> Option<UndoRecord> {
    numbers(dir).into_iter().rev().filter_map(|number| read(dir, number)).find(|undone| !undone.is_taken_back)
}

/// Reverts the latest undo. Later changes by others are kept; a file in which both changed the same lines is left alone
/// and named.
pub fn revert_latest(root: &Path, dir: &Path) -> Result<(UndoRecord, Vec<SkippedFile>), UndoError> {
    turn(root, dir, last_undone(dir).ok_or(UndoError::Nothing)?, None)
}

/// Reverts the undo with this number, or repeats it if it was already reverted, with the same handling of later
/// changes.
pub fn toggle_undone(
    root: &Path,
    dir: &Path,
    number: u64,
    open: Option<FileHandle>,
) -> Result<(UndoRecord, Vec<SkippedFile>), UndoError> {
    turn(root, dir, read(dir, number).ok_or(UndoError::Nothing)?, open)
}

fn turn(
    root: &Path,
    dir: &Path,
    undone: UndoRecord,
    open: Option<FileHandle>,
) -> Result<(UndoRecord, Vec<SkippedFile>), UndoError> {
    let is_redone = undone.is_taken_back;
    let not_done = with_access(root, dir, open, |access| {
        let done = undone.files.iter().map(|file| (file, turn_file(access, file, is_redone)));
        done.filter_map(|(file, done)| Some(SkippedFile { path: file.path.clone(), why: done.err()? })).collect()
    })?;
    let undone = UndoRecord { is_taken_back: !is_redone, ..undone };
    keep(dir, &undone).map_err(UndoError::Record)?;
    Ok((undone, not_done))
}

/// Returns the difference between two texts of a file in the format of `diff -u`.
pub fn unified_diff(path: (&str, &str), before: Option<&str>, after: Option<&str>) -> String {
    let name = |side: &str, path: &str, text: Option<&str>| match text {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (old, new) = (name("a", path.0, before), name("b", path.1, after));
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    diff.unified_diff().context_radius(LINES_AROUND).header(&old, &new).to_string()
}

fn with_access<T>(
    root: &Path,
    dir: &Path,
    open: Option<FileHandle>,
    act: impl FnOnce(&FileAccess) -> T,
) -> Result<T, UndoError> {
    if let Some(handle) = open {
        return Ok(act(&FileAccess::Service(handle)));
    }
    let mut act = Some(act);
    let alone = while_closed(dir, || -> Result<Option<T>, FileServiceError> {
        let service = FileService::open(FileServiceOptions { dir: dir.to_owned(), ..FileServiceOptions::new(root) })?;
        let done = service.handle().zip(act.take()).map(|(handle, act)| act(&FileAccess::Service(handle)));
        service.close();
        Ok(done)
    });
    match alone {
        Ok(done) => {
            if let Some(done) = done? {
                return Ok(done);
            }
        }
        Err(StoreError::InUse { .. }) => {}
        Err(error) => return Err(FileServiceError::from(error).into()),
    }
    let at_rest = FileAccess::AtRest(DirectFiles::open(root).map_err(FileServiceError::from)?);
    match act.take() {
        Some(act) => Ok(act(&at_rest)),
        None => Err(FileServiceError::Files(io::Error::other("the files were closed")).into()),
    }
}

/// Changes a file as planned, if it has not changed since the plan was made.
fn put(access: &FileAccess, file: &UndoneFile) -> Result<(), String> {
    let UndoneFile { path, to, before, after } = file;
    let to = to.as_ref().unwrap_or(path);
    access.replace((path, before.as_deref()), (to, after.as_deref()))
}

/// Reverts or repeats the undo of a file, and merges later changes by others.
fn turn_file(access: &FileAccess, file: &UndoneFile, is_redone: bool) -> Result<(), String> {
    let UndoneFile { path, to, before, after } = file;
    let mut places = (to.as_ref().unwrap_or(path), path);
    let mut texts = (after.as_deref(), before.as_deref());
    if is_redone {
        (places, texts) = ((places.1, places.0), (texts.1, texts.0));
    }
    let now = access.read(places.0)?;
    if now.is_none() && places.0 != places.1 && access.read(places.1)?.as_deref() == texts.1 {
        // The undo was interrupted before this file.
        return Ok(());
    }
    match revert(texts.0, texts.1, now.as_deref()) {
        Some(text) => {
            let text = text.map(std::borrow::Cow::into_owned);
            access.replace((places.0, now.as_deref()), (places.1, text.as_deref()))
        }
        None => Err(format!("'{}' was not changed: others have changed the same lines since.", places.0)),
    }
}

impl FileAccess {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        match self {
            Self::Service(handle) => match handle.change(FileOperation::Read { path: path.to_owned() }) {
                Ok(FileAnswer::Text { content, .. }) => Ok(Some(content)),
                Ok(_) => Err(format!("'{path}' cannot be read.")),
                // A missing file is an error only if something is to be written there.
                Err(_) => Ok(None),
            },
            Self::AtRest(files) => files.read(&workspace_path(path)?, MAX_BYTES).map_err(|error| error.to_string()),
        }
    }

    /// Replaces the text of a file, and renames it if the path differs.
    fn replace(&self, (from, old): (&str, Option<&str>), (to, new): (&str, Option<&str>)) -> Result<(), String> {
        if old.is_some() && new.is_some() && from != to {
            self.rename(from, to)?;
        }
        match (old, new) {
            _ if old == new => Ok(()),
            (Some(old), None) => self.remove(from, old),
            (old, Some(new)) => self.write(to, old, new),
            (None, None) => Ok(()),
        }
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), String> {
        match self {
            Self::Service(handle) => {
                let operation = FileOperation::Rename { from: from.to_owned(), to: to.to_owned() };
                handle.change(operation).map(drop)
            }
            Self::AtRest(files) => {
                files.rename(&workspace_path(from)?, &workspace_path(to)?).map_err(|error| error.to_string())
            }
        }
    }

    fn remove(&self, path: &str, old: &str) -> Result<(), String> {
        match self {
            Self::Service(handle) => {
                let hash = content_hash(old.as_bytes());
                handle.change(FileOperation::DeleteUnchanged { path: path.to_owned(), hash }).map(drop)
            }
            Self::AtRest(files) => {
                let taken = files.remove(&workspace_path(path)?, old).map_err(|error| error.to_string())?;
                if taken { Ok(()) } else { Err(crossed(path)) }
            }
        }
    }

    fn write(&self, path: &str, old: Option<&str>, new: &str) -> Result<(), String> {
        match self {
            Self::Service(handle) => {
                let base = old.map(|text| content_hash(text.as_bytes()));
                handle.change(FileOperation::Save { path: path.to_owned(), base, content: new.to_owned() }).map(drop)
            }
            Self::AtRest(files) => {
                let written = files.write(&workspace_path(path)?, new, old).map_err(|error| error.to_string())?;
                if written { Ok(()) } else { Err(crossed(path)) }
            }
        }
    }
}

fn crossed(path: &str) -> String {
    format!("'{path}' was changed in the meantime and was left as it is.")
}

fn workspace_path(path: &str) -> Result<WorkspacePath, String> {
    let path = WorkspacePath::new(path).map_err(|why| why.to_string())?;
    if path.reach() == PathAccess::Closed { Err(format!("'{path}' belongs to the program.")) } else { Ok(path) }
}

fn name(number: u64) -> String {
    format!("{number:06}.json")
}

/// Returns the numbers of all records, sorted.
fn numbers(dir: &Path) -> Vec<u64> {
    let entries = std::fs::read_dir(dir.join(FOLDER)).into_iter().flatten().flatten();
    let number = |name: &str| name.strip_suffix(".json")?.parse::<u64>().ok();
    let mut numbers: Vec<u64> = entries.filter_map(|entry| number(entry.file_name().to_str()?)).collect();
    numbers.sort_unstable();
    numbers
}

fn read(dir: &Path, number: u64) -> Option<UndoRecord> {
    let text = safe_fs::read_text(&dir.join(FOLDER).join(name(number)), MAX_RECORD_BYTES).ok()??;
    serde_json::from_str(&text).ok()
}

fn keep(dir: &Path, undone: &UndoRecord) -> io::Result<()> {
    let folder = dir.join(FOLDER);
    std::fs::create_dir_all(&folder)?;
    safe_fs::replace_text(&folder.join(name(undone.number)), &serde_json::to_string(undone)?)
}

fn thin(dir: &Path) {
    let numbers = numbers(dir);
    for number in numbers.iter().take(numbers.len().saturating_sub(KEPT)) {
        // A record that cannot be deleted only takes up space.
        let _ = std::fs::remove_file(dir.join(FOLDER).join(name(*number)));
    }
}
