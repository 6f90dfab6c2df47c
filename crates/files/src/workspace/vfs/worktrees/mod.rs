//! Worktrees: agents that work in their own copy of the workspace. Each such agent has a folder in
//! `.workshop/worktrees/`: `files/` with its copy of the workspace, `history.git/` with a commit for each of its
//! actions, and `state/` with records by which each of its orders is executed exactly once. The history is a bare
//! repository of the agent's own: a repository that belongs to the person is never opened, so none of its hooks,
//! filters, attributes or settings apply, and nothing in it changes.
//!
//! Reading order: `repository` (git; nothing else uses it), `tree` (the list of files, and merging changes: pure),
//! `scan` (reading and writing whole trees on disk), `worktree` (one agent's copy), `merging` (proposing its changes
//! and merging them into the workspace).

mod diff;
mod merging;
#[cfg_attr(not(feature = "worktrees"), path = "no_repository.rs")]
mod repository;
mod scan;
#[cfg(all(test, feature = "worktrees"))]
mod tests;
mod tree;
mod worktree;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use super::executor::{Executor, invalid_request};
use super::order::{FileAnswer, FileFailure, FileOperation, FileOrder, FileOutcome, WorktreeChanges};
use crate::base::Id;
use worktree::{Worktree, WorktreeError};

/// Whether this program has worktrees. In one that was built without them, every order in a worktree fails.
pub const ARE_BUILT_IN: bool = cfg!(feature = "worktrees");
/// The folder of all worktrees, in the `.workshop` folder.
pub const WORKTREES: &str = "worktrees";
/// The folder with the files of a worktree, in the agent's own folder.
pub const FILES: &str = "files";

/// Returns an agent's own folder in the `.workshop` folder; `None` if the agent's name cannot be used for a folder.
pub fn place_of(dir: &Path, agent: &str) -> Option<PathBuf> {
    let path = super::path::WorkspacePath::new(agent).ok()?;
    let is_plain = path.as_str() == agent && !agent.contains('/') && !agent.starts_with('.');
    is_plain.then(|| dir.join(WORKTREES).join(agent))
}

/// The worktrees used in this run.
#[derive(Default)]
pub(super) struct Worktrees {
    dir: PathBuf,
    open: BTreeMap<Id, Worktree>,
}

impl Worktrees {
    /// Creates the set of worktrees that are stored in this folder. Each is opened when it is first used.
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), open: BTreeMap::new() }
    }

    /// Executes an order in an agent's worktree.
    pub(super) fn carry_out(&mut self, agent: &Id, order: &FileOrder, workspace: &mut Executor) -> FileOutcome {
        let unusable = |error: WorktreeError| invalid_request(format!("{agent}'s worktree cannot be used: {error}."));
        let (result, worktree) = match self.try_carry_out(agent, order, workspace) {
            Ok((result, changes)) => (result, changes.map(Box::new)),
            Err(error) => (Err(unusable(error)), None),
        };
        FileOutcome {
            key: order.key.clone(),
            author: order.author.clone(),
            activation: order.activation.clone(),
            result,
            cause: order.cause,
            worktree,
            restores: matches!(order.operation, FileOperation::Restore { .. }),
        }
    }

    fn try_carry_out(
        &mut self,
        agent: &Id,
        order: &FileOrder,
        workspace: &mut Executor,
    ) -> Result<(Result<FileAnswer, FileFailure>, Option<WorktreeChanges>), WorktreeError> {
        let worktree = match self.open.entry(agent.clone()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let place = place_of(&self.dir, agent).ok_or(WorktreeError::Name)?;
                entry.insert(Worktree::open(&place, workspace)?)
            }
        };
        let result = match order.operation {
            // Only the changes that a person was shown are merged.
            FileOperation::MergeWorktree { hash } => merging::merge(worktree, hash, order, workspace)?,
            _ => {
                worktree.begin(order, workspace)?;
                worktree.act(order)?
            }
        };
        let changes = merging::changes_of(worktree)?;
        Ok((result, worktree.changes_to_report(changes)))
    }
}
