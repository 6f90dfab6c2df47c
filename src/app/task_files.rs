//! Task files of a workspace for commands: selecting, reading and writing them.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::opening::state_folder;
use crate::base::globs::{self, GlobError};
use crate::workspace::task_files;
use crate::workspace::task_files::lint::{ENDING, LintContext};
use crate::workspace::task_files::query::evaluate::Source;
use crate::workspace::task_files::query::execute::Changes;
use crate::workspace::vfs::{DirectFileError, DirectFiles, PathAccess, PathRefusal, WorkspacePath};

/// Larger task files are not read, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum number of attempts to write a file that others keep changing.
const TRIES: usize = 8;
/// How long a command waits for its turn. After that, for example because another command is stopped, it writes without:
/// only the text that it read is replaced in any case.
const TURN_WAIT: Duration = Duration::from_secs(2);
/// How often the turn is tried meanwhile.
const TURN_INTERVAL: Duration = Duration::from_millis(10);

/// Why task files cannot be read or written.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum TaskFilesError {
    /// The given path is not a path of the workspace.
    #[error(transparent)]
    Path(#[from] PathRefusal),
    /// The glob is invalid.
    #[error("{glob:?} is not a valid glob: {error}")]
    Glob {
        /// The glob as given.
        glob: String,
        /// The parser's error.
        error: GlobError,
    },
    /// The file is not a task file.
    #[error("'{0}' is not a task file: its name must end in {ENDING}")]
    Kind(String),
    /// The file does not exist.
    #[error("there is no file '{0}' in this workspace")]
    Missing(String),
    /// The glob matches no task file.
    #[error("no task file of this workspace is named by {0:?}")]
    NoMatch(String),
    /// The file may not be read.
    #[error("'{0}' is the program's own and is not read as a task file")]
    Closed(String),
    /// The file may not be written.
    #[error("'{0}' is not written by queries: only you change it, in an editor")]
    ReadOnly(String),
    /// The file already exists.
    #[error("'{0}' already exists; choose another name")]
    Exists(String),
    /// An I/O error.
    #[error(transparent)]
    Disk(#[from] DirectFileError),
    /// Others kept changing the file.
    #[error("'{0}' was changed by others while it was being written; nothing was changed in it, try again")]
    Conflict(String),
}

/// The task files of a workspace.
pub struct TaskFiles {
    files: DirectFiles,
    folder: PathBuf,
}

impl TaskFiles {
    /// Opens a workspace.
    pub fn open(workspace: &Path) -> std::io::Result<Self> {
        Ok(Self { files: DirectFiles::open(workspace)?, folder: workspace.to_owned() })
    }

    /// Reads a task file, or all that match a glob.
    pub fn read(&self, file_or_glob: &str) -> Result<Vec<Source>, TaskFilesError> {
        if !file_or_glob.contains(['*', '?', '{']) {
            let path = task_path(file_or_glob)?;
            let missing = || TaskFilesError::Missing(path.to_string());
            return Ok(vec![self.read_one(&path)?.ok_or_else(missing)?]);
        }
        let plain = globs::plain(file_or_glob);
        let plain = plain.map_err(|error| TaskFilesError::Glob { glob: file_or_glob.to_owned(), error })?;
        let mut sources = Vec::new();
        for path in self.files.find(&plain)? {
            if path.as_str().ends_with(ENDING) && path.reach() != PathAccess::Closed {
                // A file that was deleted in the meantime is skipped.
                sources.extend(self.read_one(&path)?);
            }
        }
        if sources.is_empty() { Err(TaskFilesError::NoMatch(file_or_glob.to_owned())) } else { Ok(sources) }
    }

    /// Reads a task file, or an empty one if it does not exist. Returns whether it exists.
    pub fn read_or_new(&self, file: &str) -> Result<(Source, bool), TaskFilesError> {
        let path = task_path(file)?;
        let found = self.read_one(&path)?;
        let is_there = found.is_some();
        Ok((found.unwrap_or_else(|| Source { path: path.to_string(), file: task_files::parse("") }), is_there))
    }

    fn read_one(&self, path: &WorkspacePath) -> Result<Option<Source>, TaskFilesError> {
        let text = self.files.read(path, MAX_BYTES)?;
        Ok(text.map(|text| Source { path: path.to_string(), file: task_files::parse(text) }))
    }

    /// Writes the text that `plan` returns for each file. A file that changed in the meantime is read and planned
    /// again; `tell` is called for each file written, with the changes made.
    pub fn change<E>(
        &self,
        sources: &[Source],
        is_there: bool,
        plan: impl Fn(&Source) -> Result<Changes, E>,
        mut tell: impl FnMut(&Source, Changes),
    ) -> Result<Result<(), E>, TaskFilesError> {
        let mut planned = Vec::new();
        for source in sources {
            match plan(source) {
                Ok(changes) => planned.push(changes),
                // If one fails, nothing is written.
                Err(error) => return Ok(Err(error)),
            }
        }
        for source in sources.iter().zip(&planned).filter(|(_, changes)| !changes.texts.is_empty()).map(|(one, _)| one)
        {
            writable(source)?;
        }
        for (source, changes) in sources.iter().zip(planned) {
            let mut now = source.clone();
            let mut changes = changes;
            let mut before = is_there;
            let mut tries = 0;
            while let Some((_, text)) = changes.texts.first() {
                let path = WorkspacePath::new(&now.path)?;
                if self.write(&path, text, before.then_some(now.file.text.as_str()))? {
                    break;
                }
                tries += 1;
                if tries >= TRIES {
                    return Err(TaskFilesError::Conflict(now.path));
                }
                (now, before) = self.read_or_new(&now.path)?;
                changes = match plan(&now) {
                    Ok(changes) => changes,
                    Err(error) => return Ok(Err(error)),
                };
            }
            tell(&now, changes);
        }
        Ok(Ok(()))
    }

    /// Replaces a text that was read. Commands take turns, so that none overwrites another's change; an open room
    /// merges the change like an edit by any other program.
    fn write(&self, path: &WorkspacePath, text: &str, over: Option<&str>) -> Result<bool, DirectFileError> {
        let _turn = self.take_turn(path);
        self.files.write(path, text, over)
    }

    /// Locks the folder of a task file against other commands; `None` if that is impossible or takes too long.
    ///
    /// The folder of the workspace itself is locked by an open room for as long as it is open, and a command that locked
    /// it would keep a room from opening; for its files, commands lock the room's state folder instead.
    fn take_turn(&self, path: &WorkspacePath) -> Option<File> {
        let parent = path.as_str().rsplit_once('/').map(|(parent, _)| self.folder.join(parent));
        let folder = File::open(parent.unwrap_or_else(|| state_folder(&self.folder))).ok()?;
        let until = Instant::now() + TURN_WAIT;
        loop {
            match folder.try_lock() {
                Ok(()) => return Some(folder),
                Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(TURN_INTERVAL),
                Err(_) => return None,
            }
        }
    }

    /// Creates a file.
    pub fn write_new(&self, file: &str, text: &str) -> Result<(), TaskFilesError> {
        let path = task_path(file)?;
        writable_path(&path)?;
        if self.write(&path, text, None)? { Ok(()) } else { Err(TaskFilesError::Exists(path.to_string())) }
    }

    /// Replaces the text of a file.
    pub fn replace(&self, source: &Source, text: &str) -> Result<(), TaskFilesError> {
        writable(source)?;
        let path = WorkspacePath::new(&source.path)?;
        let written = self.write(&path, text, Some(&source.file.text))?;
        if written { Ok(()) } else { Err(TaskFilesError::Conflict(source.path.clone())) }
    }

    /// The context for checking these files: `agents` of the workspace, and tasks in other files.
    pub fn known(&self, agents: impl IntoIterator<Item = String>, beside: &[Source]) -> LintContext {
        // Unreadable files contribute no names.
        let others = self.read("tasks/**").unwrap_or_default();
        let is_other = |source: &&Source| beside.iter().all(|one| one.path != source.path);
        let ids = others.iter().filter(is_other).chain(beside.iter().filter(|_| beside.len() > 1));
        let other_ids: BTreeSet<String> =
            ids.flat_map(|source| source.file.tasks.iter().map(|task| task.id.clone())).collect();
        LintContext::of(agents, Some(other_ids))
    }
}

fn task_path(file: &str) -> Result<WorkspacePath, TaskFilesError> {
    let path = WorkspacePath::new(file)?;
    if !path.as_str().ends_with(ENDING) {
        return Err(TaskFilesError::Kind(path.to_string()));
    }
    if path.reach() == PathAccess::Closed { Err(TaskFilesError::Closed(path.to_string())) } else { Ok(path) }
}

fn writable(source: &Source) -> Result<(), TaskFilesError> {
    writable_path(&WorkspacePath::new(&source.path)?)
}

/// Protects approval files: an agent may have written the query, but only a person answers approvals.
fn writable_path(path: &WorkspacePath) -> Result<(), TaskFilesError> {
    if path.reach() == PathAccess::Open { Ok(()) } else { Err(TaskFilesError::ReadOnly(path.to_string())) }
}
