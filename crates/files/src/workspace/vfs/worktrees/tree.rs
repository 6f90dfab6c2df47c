//! Which files a copy contains, and the result of merging others' changes into it. Pure.

use std::collections::{BTreeMap, BTreeSet};

/// The content of a file, by its hash in the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Blob(pub(super) [u8; 20]);

/// One file of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TreeFile {
    /// The content.
    pub(super) blob: Blob,
    /// Whether it is executable.
    pub(super) is_program: bool,
}

/// All files, by path.
pub(super) type TreeFiles = BTreeMap<String, TreeFile>;

/// How a file of the worktree is updated because it changed in the workspace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum WorktreeUpdate {
    /// It is replaced by the workspace's version, or deleted if it was deleted there.
    Over(Option<TreeFile>),
    /// Both have the same new content.
    Same,
    /// Both changed it differently: the texts must be merged.
    Both,
}

/// Returns every path in which two trees differ, sorted.
pub(super) fn differing<'a>(one: &'a TreeFiles, other: &'a TreeFiles) -> Vec<&'a str> {
    let paths: BTreeSet<&str> = one.keys().chain(other.keys()).map(String::as_str).collect();
    paths.into_iter().filter(|path| one.get(*path) != other.get(*path)).collect()
}

/// Returns how the changes of the workspace since `base` affect the worktree `ours`, by path.
pub(super) fn take_over(base: &TreeFiles, ours: &TreeFiles, workspace: &TreeFiles) -> Vec<(String, WorktreeUpdate)> {
    let taken = |path: &str| {
        let (base, ours, theirs) = (base.get(path), ours.get(path), workspace.get(path));
        if ours == base {
            WorktreeUpdate::Over(theirs.copied())
        } else if ours == theirs {
            WorktreeUpdate::Same
        } else {
            WorktreeUpdate::Both
        }
    };
    differing(base, workspace).into_iter().map(|path| (path.to_owned(), taken(path))).collect()
}
