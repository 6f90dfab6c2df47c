//! Stands in for the history of an agent's copy in a program that was built without git: no history can be opened, so no
//! agent works in a copy, and nothing of an earlier copy is changed.

use std::convert::Infallible;
use std::path::Path;

use super::tree::{Blob, TreeFile, TreeFiles};

/// Says that this program has no worktrees.
#[derive(Debug, thiserror::Error)]
#[error(
    "this program was built without worktrees; use one that was built with its feature `worktrees`, which is on by \
     default, or write `workspace: shared` into the agent's file"
)]
pub(super) struct GitError;

/// One of the two branches of the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Branch {
    /// The agent's actions.
    Acts,
    /// The state of the workspace that they are compared with.
    Base,
}

/// An open history, of which there is none.
pub(super) struct Repository(Infallible);

impl Repository {
    /// Fails.
    pub(super) fn open(_place: &Path, _files: &Path) -> Result<Self, GitError> {
        Err(GitError)
    }

    /// Returns the files of a branch's newest commit.
    pub(super) fn files(&self, _line: Branch) -> Result<Option<TreeFiles>, GitError> {
        match self.0 {}
    }

    /// Stores the content of a file as a blob.
    pub(super) fn store_blob(&self, _bytes: &[u8]) -> Result<Blob, GitError> {
        match self.0 {}
    }

    /// Returns the content of a blob.
    pub(super) fn bytes(&self, _blob: Blob) -> Result<Vec<u8>, GitError> {
        match self.0 {}
    }

    /// Adds a commit to a branch.
    pub(super) fn commit(
        &self,
        _line: Branch,
        _changed: &[(String, Option<TreeFile>)],
        _author: &str,
        _message: &str,
    ) -> Result<(), GitError> {
        match self.0 {}
    }

    /// Whether the `.gitignore` files of the folder exclude a path.
    pub(super) fn is_ignored(&self, _path: &str) -> bool {
        match self.0 {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_worktrees_says_what_is_missing_and_what_to_do_and_leaves_an_earlier_copy_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("HEAD.lock"), "").expect("it is written");
        let error = Repository::open(folder.path(), folder.path()).err().expect("there are no worktrees").to_string();
        assert!(error.starts_with("this program was built without worktrees"), "{error}");
        assert!(error.contains("feature `worktrees`") && error.contains("`workspace: shared`"), "{error}");
        assert!(folder.path().join("HEAD.lock").exists());
    }
}
