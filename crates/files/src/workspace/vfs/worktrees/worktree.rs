//! One agent's copy of the workspace. Its orders are executed as everywhere, by a separate executor on the copy; each
//! change becomes a commit with its cause, and changes in the workspace are merged into the copy when the agent starts
//! its next piece of work.
//!
//! The files in the copy are authoritative: a commit that was prevented by a kill is made at the next start from the
//! files that exist then, and is marked as such. Orders happen exactly once as everywhere, because the executor records
//! them in `state/`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::super::layout;
use super::super::super::text_merge::TextMerge;
use super::super::executor::{Executor, FileServiceError};
use super::super::order::{FileAnswer, FileFailure, FileOperation, FileOrder, FileResult, WorktreeChanges};
use super::FILES;
use super::repository::{Branch, GitError, Repository};
use super::scan::{self, ScanError, Stamps};
use super::tree::{Blob, TreeFile, TreeFiles, WorktreeUpdate, differing, take_over};
use crate::base::{Author, Id};

/// The folder of the history, in the agent's own folder.
const HISTORY: &str = "history.git";
/// The folder of the executor's state, which makes each order happen once.
const STATE: &str = "state";
/// The file with the activation for which changes in the workspace were last merged.
const ACTIVATION: &str = "activation";
/// The file with the conflicts that a person decides about, perhaps only in the next run.
const CONFLICTS: &str = "conflicts.json";
/// The maximum size of that file in bytes.
const MAX_CONFLICTS_BYTES: u64 = 4 * 1024 * 1024;
/// The author of commits that no agent made.
pub(super) const ROOM_NAME: &str = "workshop";

/// Why a copy cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum WorktreeError {
    #[error("its name cannot be used for a folder")]
    Name,
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Scan(#[from] ScanError),
    #[error(transparent)]
    Files(#[from] FileServiceError),
    #[error("{0}")]
    Disk(#[from] std::io::Error),
}

/// An open copy.
pub(super) struct Worktree {
    place: PathBuf,
    pub(super) files: Executor,
    /// The history, using the `.gitignore` files of the copy.
    pub(super) repository: Repository,
    /// The same history, using the `.gitignore` files of the workspace.
    of_workspace: Repository,
    /// The files of the newest commit.
    pub(super) head: TreeFiles,
    /// The workspace as it was last merged, except for files whose changes could not be merged.
    pub(super) base: TreeFiles,
    stamps: Stamps,
    workspace_stamps: Stamps,
    /// The activation for which changes in the workspace were last merged.
    activation: Option<Id>,
    /// Files that changed both here and in the workspace and cannot be merged; reported once.
    crossed: Vec<String>,
    /// Files of which a merge found the same lines changed in the workspace, with its version then. A person chooses one
    /// of the two versions.
    pub(super) conflicts: BTreeMap<String, Option<TreeFile>>,
    /// The hash of the changes that were last reported.
    reported: Option<u64>,
    #[cfg(test)]
    pub(super) is_killed_before_commit: bool,
}

impl Worktree {
    /// Opens the copy at `place`, or creates it with every file of the workspace.
    pub(super) fn open(place: &Path, workspace: &mut Executor) -> Result<Self, WorktreeError> {
        let (copy, history, state) = (place.join(FILES), place.join(HISTORY), place.join(STATE));
        std::fs::create_dir_all(&copy)?;
        let repository = Repository::open(&history, &copy)?;
        let of_workspace = Repository::open(&history, workspace.root.path())?;
        let files = Executor::open(&copy, &state, workspace.limits.clone())?;
        let (base, head) = (repository.files(Branch::Base)?, repository.files(Branch::Acts)?);
        let is_new = base.is_none();
        let mut worktree = Self {
            place: place.to_owned(),
            files,
            repository,
            of_workspace,
            head: head.unwrap_or_default(),
            base: base.unwrap_or_default(),
            stamps: Stamps::default(),
            workspace_stamps: Stamps::default(),
            activation: crate::safe_fs::read_text(&place.join(ACTIVATION), 200).ok().flatten().map(Id::from),
            crossed: Vec::new(),
            conflicts: kept_conflicts(place),
            reported: None,
            #[cfg(test)]
            is_killed_before_commit: false,
        };
        if is_new {
            // A copy whose creation was interrupted is updated like any other: each file exists or does not.
            worktree.head.clear();
            worktree.take_over(workspace)?;
        } else {
            let words = "recovered: changes from before the program was stopped";
            worktree.commit_everything(ROOM_NAME, words)?;
        }
        Ok(worktree)
    }

    /// Prepares the copy for an order: with a new activation, changes in the workspace are merged.
    pub(super) fn begin(&mut self, order: &FileOrder, workspace: &mut Executor) -> Result<(), WorktreeError> {
        if order.activation.is_some() && order.activation == self.activation {
            return Ok(());
        }
        self.commit_everything(ROOM_NAME, "recovered: changes of unknown origin")?;
        // The person may have edited the workspace so that both fit together.
        if !self.conflicts.is_empty() {
            self.conflicts.clear();
            self.keep_conflicts()?;
        }
        self.take_over(workspace)?;
        self.activation.clone_from(&order.activation);
        let words = self.activation.as_deref().unwrap_or_default();
        Ok(crate::safe_fs::replace_text(&self.place.join(ACTIVATION), words)?)
    }

    /// Executes an order in the copy.
    pub(super) fn act(&mut self, order: &FileOrder) -> Result<Result<FileAnswer, FileFailure>, WorktreeError> {
        if let FileOperation::CommitWorktree { what } = &order.operation {
            let message = message(what, order);
            self.commit_everything(&order.author.0, &message)?;
            return Ok(Ok(FileAnswer::Committed));
        }
        if let Some(path) = written(&order.operation).into_iter().find(|path| layout::is_used_by_room(path)) {
            let what = format!(
                "'{path}' belongs to the room and cannot be changed in a worktree; only a person or an agent outside a \
                    worktree can change it."
            );
            return Ok(Err(FileFailure { what, is_refusal: true }));
        }
        let outcome = self.files.execute(order);
        #[cfg(test)]
        assert!(!self.is_killed_before_commit, "stopped as if killed");
        if let Some((done, _)) = outcome.result.as_ref().ok().and_then(FileAnswer::change) {
            let (paths, what) = done_words(done);
            self.commit_paths(&paths, &order.author, &message(&what, order))?;
        }
        Ok(outcome.result)
    }

    /// Returns the changes if they are new, and marks them as reported. A merge conflict is reported once.
    pub(super) fn changes_to_report(&mut self, mut changes: WorktreeChanges) -> Option<WorktreeChanges> {
        changes.crossed = std::mem::take(&mut self.crossed);
        let is_news = self.reported != Some(changes.hash) || !changes.crossed.is_empty();
        self.reported = Some(changes.hash);
        is_news.then_some(changes)
    }

    /// Commits the current state of some files.
    fn commit_paths(&mut self, paths: &[&str], author: &Author, message: &str) -> Result<(), WorktreeError> {
        let mut changed = Vec::new();
        for path in paths {
            let file = match scan::read(&self.files.root, path) {
                Some((bytes, is_program)) => Some(TreeFile { blob: self.repository.store_blob(&bytes)?, is_program }),
                None => None,
            };
            if self.head.get(*path) != file.as_ref() {
                changed.push(((*path).to_owned(), file));
            }
        }
        self.commit(changed, &author.0, message)
    }

    /// Commits everything that differs from the newest commit.
    pub(super) fn commit_everything(&mut self, author: &str, message: &str) -> Result<(), WorktreeError> {
        let now = scan::scan(&self.files.root, &self.repository, &self.head, &mut self.stamps)?;
        let changed = differing(&self.head, &now).into_iter().map(|path| (path.to_owned(), now.get(path).copied()));
        let changed = changed.collect();
        self.commit(changed, author, message)
    }

    fn commit(
        &mut self,
        changed: Vec<(String, Option<TreeFile>)>,
        author: &str,
        message: &str,
    ) -> Result<(), WorktreeError> {
        if changed.is_empty() {
            return Ok(());
        }
        self.repository.commit(Branch::Acts, &changed, author, message)?;
        apply(&mut self.head, changed);
        Ok(())
    }

    /// Records the state of the workspace that changes are compared with.
    pub(super) fn set_base(
        &mut self,
        changed: Vec<(String, Option<TreeFile>)>,
        is_first: bool,
    ) -> Result<(), WorktreeError> {
        if changed.is_empty() && !is_first {
            return Ok(());
        }
        self.repository.commit(Branch::Base, &changed, ROOM_NAME, "the workspace as it was copied")?;
        apply(&mut self.base, changed);
        Ok(())
    }

    /// Merges changes in the workspace into the copy. If both changed the same lines, the copy is left alone and the
    /// file counts as not merged.
    fn take_over(&mut self, workspace: &mut Executor) -> Result<(), WorktreeError> {
        let is_first = self.repository.files(Branch::Base)?.is_none();
        let now = scan::scan(&workspace.root, &self.of_workspace, &self.base, &mut self.workspace_stamps)?;
        let mut base = Vec::new();
        let mut taken_paths: Vec<String> = Vec::new();
        for (path, taken) in take_over(&self.base, &self.head, &now) {
            let theirs = now.get(&path).copied();
            match taken {
                WorktreeUpdate::Same => {}
                WorktreeUpdate::Over(file) => {
                    let bytes = file.map(|file| self.repository.bytes(file.blob)).transpose()?;
                    let bytes = bytes.as_deref().zip(file.map(|file| file.is_program));
                    scan::write(&self.files.root, &path, bytes)?;
                    taken_paths.push(path.clone());
                }
                WorktreeUpdate::Both => match self.merged(&path, theirs)? {
                    Some(text) => {
                        let is_program = theirs.is_some_and(|file| file.is_program);
                        scan::write(&self.files.root, &path, Some((text.as_bytes(), is_program)))?;
                        taken_paths.push(path.clone());
                    }
                    None => {
                        self.crossed.push(path);
                        continue;
                    }
                },
            }
            base.push((path, theirs));
        }
        let paths: Vec<&str> = taken_paths.iter().map(String::as_str).collect();
        self.commit_paths(&paths, &Author(ROOM_NAME.into()), "merge changes from the workspace")?;
        self.set_base(base, is_first)
    }

    /// Returns the merged text of a file that both changed; `None` if it cannot be merged.
    fn merged(&self, path: &str, theirs: Option<TreeFile>) -> Result<Option<String>, WorktreeError> {
        let (Some(base), Some(ours), Some(theirs)) =
            (self.text(self.base.get(path))?, self.text(self.head.get(path))?, self.text(theirs.as_ref())?)
        else {
            return Ok(None);
        };
        Ok(TextMerge::new(&base, &ours, &theirs).text())
    }

    /// Returns the text of a file in a tree; `None` if there is no file or it is not text.
    pub(super) fn text(&self, file: Option<&TreeFile>) -> Result<Option<String>, WorktreeError> {
        let Some(file) = file else { return Ok(None) };
        Ok(String::from_utf8(self.repository.bytes(file.blob)?).ok())
    }

    /// Saves the conflicts.
    pub(super) fn keep_conflicts(&self) -> Result<(), WorktreeError> {
        let kept = |file: &TreeFile| (file.blob.0, file.is_program);
        let conflicts: KeptConflicts =
            self.conflicts.iter().map(|(path, file)| (path.clone(), file.as_ref().map(kept))).collect();
        let text = serde_json::to_string(&conflicts).map_err(std::io::Error::other)?;
        Ok(crate::safe_fs::replace_text(&self.place.join(CONFLICTS), &text)?)
    }

    /// Causes the copy's own changes to be reported again.
    pub(super) fn report_again(&mut self) {
        self.reported = None;
    }
}

/// Conflicts as they are saved: the hash of the workspace's version in the history, and whether it is executable.
type KeptConflicts = BTreeMap<String, Option<([u8; 20], bool)>>;

/// The saved conflicts of the copy at `place`. Without them, a conflict is found again by the next merge.
fn kept_conflicts(place: &Path) -> BTreeMap<String, Option<TreeFile>> {
    let text = crate::safe_fs::read_text(&place.join(CONFLICTS), MAX_CONFLICTS_BYTES).ok().flatten();
    let kept: KeptConflicts = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let file = |(blob, is_program)| TreeFile { blob: Blob(blob), is_program };
    kept.into_iter().map(|(path, kept)| (path, kept.map(file))).collect()
}

fn apply(files: &mut TreeFiles, changed: Vec<(String, Option<TreeFile>)>) {
    for (path, file) in changed {
        match file {
            Some(file) => files.insert(path, file),
            None => files.remove(&path),
        };
    }
}

/// Returns the message of a commit: the operation, and its cause.
pub(super) fn message(what: &str, order: &FileOrder) -> String {
    let mut message = format!("{what}\n\nOrder: {}\nRecord: {}\n", order.key, order.cause);
    if let Some(activation) = &order.activation {
        message.push_str(&format!("Work: {activation}\n"));
    }
    message
}

/// Returns the paths that an operation would change.
fn written(operation: &FileOperation) -> Vec<&str> {
    use FileOperation as Do;
    match operation {
        Do::Write { path, .. }
        | Do::Save { path, .. }
        | Do::Edit { path, .. }
        | Do::EditWith { path, .. }
        | Do::Append { path, .. }
        | Do::CreateFolder { path }
        | Do::Delete { path }
        | Do::DeleteUnchanged { path, .. }
        | Do::Restore { path, .. }
        | Do::Record { path, .. }
        | Do::KeepRecord { path } => vec![path],
        Do::Rename { from, to } => vec![from, to],
        Do::Read { .. }
        | Do::ReadLines { .. }
        | Do::List { .. }
        | Do::Search { .. }
        | Do::CommitWorktree { .. }
        | Do::MergeWorktree { .. } => Vec::new(),
    }
}

fn done_words(done: &FileResult) -> (Vec<&str>, String) {
    match done {
        FileResult::Written { path, is_new: true, .. } => (vec![path], format!("create {path}")),
        FileResult::Written { path, .. } => (vec![path], format!("write {path}")),
        FileResult::Deleted { path, .. } => (vec![path], format!("delete {path}")),
        FileResult::Renamed { from, to, .. } => (vec![from, to], format!("rename {from} to {to}")),
    }
}
