//! File orders and their outcomes.

use std::collections::BTreeSet;

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use super::record_text::RecordText;
use super::text_edit::{EditReport, TextEdit};
use crate::base::ids::ROOM;
use crate::base::{Author, Id, Seq};
use crate::schedule::Input;

/// An operation on files. Paths are unresolved; resolving normalises or rejects them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum FileOperation {
    /// Read a text.
    Read {
        /// The path of the file.
        path: String,
    },
    /// Read some lines of a text, which may be too large to be read as a whole.
    ReadLines {
        /// The path of the file.
        path: String,
        /// The first line, counted from 1.
        from_line: usize,
        /// The number of lines; `None` for as many as one answer may contain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<usize>,
    },
    /// Write a complete text, replacing an existing file or creating a new one.
    Write {
        /// The path of the file.
        path: String,
        /// The whole text.
        content: String,
    },
    /// Write a complete text if the file is unchanged since it was read: a person's save.
    Save {
        /// The path of the file.
        path: String,
        /// The hash of the text that the new one is based on; `None` if the file must not exist yet.
        base: Option<u64>,
        /// The whole text.
        content: String,
    },
    /// Replace one passage, which must occur exactly once.
    Edit {
        /// The path of the file.
        path: String,
        /// The passage as it is now.
        old: String,
        /// Its replacement.
        new: String,
    },
    /// Edit the text that the file has when the order is carried out, or create the file: a change of several steps as
    /// one order. Not available to tools.
    EditWith {
        /// The path of the file.
        path: String,
        /// The description of the edit.
        edit: Box<TextEdit>,
    },
    /// Append a text to a file, or create the file.
    Append {
        /// The path of the file.
        path: String,
        /// The text to append, verbatim.
        text: String,
    },
    /// Create a folder with its parents; no effect if it exists.
    CreateFolder {
        /// The path of the folder.
        path: String,
    },
    /// List the files under a prefix.
    List {
        /// The prefix of their paths; empty for all files.
        prefix: String,
    },
    /// Find lines that contain a text, in files that match a glob.
    Search {
        /// The text, ignoring case; `None` to list the matching files only.
        text: Option<String>,
        /// The glob; `None` for all files.
        glob: Option<String>,
    },
    /// Delete a file; its versions are kept.
    Delete {
        /// The path of the file.
        path: String,
    },
    /// Delete a file if it still has this text; for undoing an import.
    DeleteUnchanged {
        /// The path of the file.
        path: String,
        /// The hash of the imported text.
        hash: u64,
    },
    /// Rename or move a file.
    Rename {
        /// The current path.
        from: String,
        /// The new path; nothing may exist there.
        to: String,
    },
    /// Write an earlier version again, as a new one.
    Restore {
        /// The path of the file.
        path: String,
        /// The number of the version.
        version: u64,
    },
    /// Commit the changes that commands made in an agent's own copy of the workspace, without a file operation. Creates
    /// the copy if there is none.
    CommitWorktree {
        /// The message of the commit.
        what: String,
    },
    /// Merge the changes of an agent's own copy into the workspace, if they still match this hash.
    MergeWorktree {
        /// The hash of the changes that a person was shown.
        hash: u64,
    },
    /// Write one of the program's own records (a session): no version, no conflict, not available to tools.
    Record {
        /// The path of the record.
        path: String,
        /// The whole text.
        content: RecordText,
        /// For a session that a person edited: the hash of their text, which the new one is based on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        over: Option<u64>,
    },
    /// Keep the current content of a record as a version before it is replaced; not available to tools.
    KeepRecord {
        /// The path of the record.
        path: String,
    },
}

/// The files that the sender of an order may see and change, as globs over normalised paths. `None` is everything that
/// the workspace allows; anything outside is neither changed nor mentioned. Every list must allow the path: an agent
/// that was started by another has both its own permissions and its starter's.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileRights {
    /// One list of globs for each agent whose rights limit this order: a path is readable if every list matches it.
    pub reads: Vec<Vec<String>>,
    /// The same for writing, deleting and renaming.
    pub writes: Vec<Vec<String>>,
    /// Files that are private to others; they are treated as missing.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unreadable: BTreeSet<String>,
    /// Files that cannot be written, deleted or renamed either.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unwritable: BTreeSet<String>,
    /// The prefix of the paths in `sessions/` that can be read; `None` is all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records_of: Option<String>,
    /// The only file in `memory/knowledge/` that can be read, besides the shared one; none can be written. `None` is
    /// all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knowledge_of: Option<String>,
}

/// A request for a file operation on someone's behalf. Answered with exactly one [`FileOutcome`].
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileOrder {
    /// The permanent key of this order: if the order is sent again after a crash, it is not executed a second time.
    pub key: Id,
    /// The author of the change.
    pub author: Author,
    /// The activation that this order is part of.
    pub activation: Option<Id>,
    /// The operation.
    pub operation: FileOperation,
    /// The rights that limit it.
    pub rights: FileRights,
    /// The log record that caused it.
    pub cause: Seq,
    /// The agent in whose own copy of the workspace it is executed; `None` for the workspace itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Id>,
}

impl FileOrder {
    /// Whether it saves the room's own data. Such an operation is never refused for lack of space.
    pub(in crate::workspace) fn is_save_of_room(&self) -> bool {
        &*self.author.0 == ROOM && !matches!(self.operation, FileOperation::Append { .. })
    }

    /// Whether it could change a file again if it were executed a second time, so that its outcome is remembered for
    /// good. A save of the room contains the whole text; every append adds another one, and an edit could undo what
    /// somebody changed since.
    pub(in crate::workspace) fn must_be_done_once(&self) -> bool {
        !self.is_save_of_room() || matches!(self.operation, FileOperation::EditWith { .. })
    }
}

/// A search result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TextMatch {
    /// The path of the file.
    pub path: String,
    /// The line number, counted from 1; 0 if only files were searched for.
    pub line: u32,
    /// The line, shortened if it is long.
    pub text: String,
}

/// The files that a search skipped, by reason.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Unsearched {
    /// The number of files that are too large to be read as a whole.
    pub too_large: usize,
    /// The number of files that are not text.
    pub not_text: usize,
    /// The number of files that cannot be read.
    pub unreadable: usize,
    /// Some of their paths, those that are too large first.
    pub named: Vec<String>,
    /// Whether there are more folders than the index holds.
    pub has_unknown_folders: bool,
}

impl Unsearched {
    /// Whether nothing was skipped.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Returns the number of skipped files.
    pub fn count(&self) -> usize {
        self.too_large + self.not_text + self.unreadable
    }
}

/// The answer to an order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum FileAnswer {
    /// The text of a file.
    Text {
        /// Its normalised path.
        path: String,
        /// The whole text.
        content: String,
        /// Its newest version.
        version: u64,
    },
    /// Some lines of a file that is too large to be read as a whole.
    Lines {
        /// Its normalised path.
        path: String,
        /// The lines, as many as one answer may contain; empty if the file ends before them.
        content: String,
        /// The line to continue with; absent at the end of the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_line: Option<usize>,
        /// The number of lines in the file, if its end was reached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<usize>,
    },
    /// The paths under a prefix, sorted; if there are none, the existing folders.
    Listing {
        /// The paths.
        paths: Vec<String>,
        /// The number of paths that were left out.
        more: usize,
        /// If no path matched: the folders that contain files.
        prefixes: Vec<String>,
    },
    /// The lines or files that match.
    Matches {
        /// The matches, sorted by path and line.
        matches: Vec<TextMatch>,
        /// The number of matches that were left out.
        more: usize,
        /// The files that were skipped.
        #[serde(default, skip_serializing_if = "Unsearched::is_empty")]
        unsearched: Unsearched,
    },
    /// A file changed.
    Changed {
        /// What was done to the file.
        done: FileResult,
        /// The agents that read the file after its writer last did, and so know an older text.
        conflict_with: Vec<Id>,
    },
    /// An edit that was described was carried out.
    Edited {
        /// What was done to the file; absent if it already had the edited text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        done: Option<FileResult>,
        /// As in [`FileAnswer::Changed`].
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conflict_with: Vec<Id>,
        /// What the edit did.
        report: EditReport,
    },
    /// An edit that was described does not fit the text of the file, which was left as it is.
    NotEdited {
        /// One sentence that says why: "tasks/work.task.md: there is no task \"milk\" in it".
        why: String,
        /// The hash of that text; absent if there is no file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<u64>,
    },
    /// The folder exists.
    Folder {
        /// Its normalised path.
        path: String,
        /// Whether it was created.
        is_new: bool,
    },
    /// The changes in the agent's copy are committed.
    Committed,
    /// The copy's own changes were merged into the workspace, as far as possible.
    Merged {
        /// What was done to each file of the workspace.
        done: Vec<FileResult>,
        /// Files that were not merged because others changed the same lines, each with the reason.
        crossed: Vec<String>,
        /// Files that are never merged, each with the reason.
        left_out: Vec<String>,
    },
    /// The file already had this text; no version was created.
    Unchanged {
        /// The normalised path.
        path: String,
        /// Its newest version.
        version: u64,
    },
}

impl FileAnswer {
    /// The change of a single file, and the agents that know an older text of it; `None` if no file changed.
    pub fn change(&self) -> Option<(&FileResult, &[Id])> {
        match self {
            Self::Changed { done, conflict_with } | Self::Edited { done: Some(done), conflict_with, .. } => {
                Some((done, conflict_with))
            }
            _ => None,
        }
    }
}

/// What was done to a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "done", rename_all = "snake_case")]
pub enum FileResult {
    /// The file has a new text.
    Written {
        /// Its normalised path.
        path: String,
        /// The number of the new version, counted from 1 per file.
        version: u64,
        /// The length of the text in characters.
        chars: u64,
        /// Whether the file did not exist before.
        is_new: bool,
        /// The text, for files that the room uses (agent files, boards, scenes).
        content: Option<String>,
    },
    /// The file was deleted.
    Deleted {
        /// Its normalised path.
        path: String,
        /// The number of the version that has its last text; 0 if there is none.
        #[serde(default, skip_serializing_if = "is_zero")]
        version: u64,
    },
    /// The file has another path.
    Renamed {
        /// The previous path.
        from: String,
        /// The new path.
        to: String,
        /// The text, for files that the room uses.
        content: Option<String>,
    },
}

fn is_zero(version: &u64) -> bool {
    *version == 0
}

/// Why an operation was not carried out, described for the model or person that requested it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileFailure {
    /// One sentence that says what and why: "'notes/plan.md' not found. Similar: 'artifacts/plan.md'."
    pub what: String,
    /// Whether the operation is forbidden (a path outside the workspace, a protected file), rather than merely wrong or
    /// aimed at a missing file.
    pub is_refusal: bool,
}

/// The outcome of an order. An input, because the state of the disk comes from outside.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileOutcome {
    /// The key of the order.
    pub key: Id,
    /// The author of the order.
    pub author: Author,
    /// The activation that the order is part of.
    pub activation: Option<Id>,
    /// The answer, or why there is none.
    pub result: Result<FileAnswer, FileFailure>,
    /// The log record that caused the order.
    pub cause: Seq,
    /// The changes in the agent's worktree, if they differ from those last reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Box<WorktreeChanges>>,
    /// Whether it restored an earlier version.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restores: bool,
}

/// The changes in an agent's worktree that are not in the workspace.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorktreeChanges {
    /// The hash of exactly these changes; 0 if there are none.
    pub hash: u64,
    /// The changed files, sorted by path.
    pub files: Vec<ChangedInWorktree>,
    /// The whole diff of the files that can be merged, as a patch.
    pub diff: String,
    /// Files that also changed in the workspace and could not be merged into the worktree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crossed: Vec<String>,
}

/// A file that differs between a worktree and the workspace.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangedInWorktree {
    /// The path of the file.
    pub path: String,
    /// Whether the file does not exist in the workspace.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_new: bool,
    /// Whether the file was deleted in the worktree.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_gone: bool,
    /// The number of added lines.
    pub added: usize,
    /// The number of removed lines.
    pub removed: usize,
    /// Why the file is not merged; `None` if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// Whether it is not merged because a person could not be shown all of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_too_long: bool,
    /// Whether it conflicts with the workspace, so that the diff is from what the workspace has, which it would replace.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_conflict: bool,
}

impl Input for FileOutcome {
    const KIND: &'static str = "file_outcome";
}
