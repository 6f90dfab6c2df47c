//! File orders and their outcomes.

use std::collections::BTreeSet;

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use super::record_text::RecordText;
use crate::base::ids::ROOM;
use crate::base::{Author, Id, Seq};
use crate::schedule::Input;

/// An operation on files. Paths are as they were given; resolving normalises or rejects them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum FileOperation {
    /// Read a text.
    Read {
        /// Which.
        path: String,
    },
    /// Read some lines of a text, which may be larger than what is read as a whole.
    ReadLines {
        /// Of which.
        path: String,
        /// The first, counted from 1.
        from_line: usize,
        /// How many; as many as are shown at once where absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<usize>,
    },
    /// Write a complete text, replacing an existing file or creating a new one.
    Write {
        /// Where.
        path: String,
        /// The whole text.
        content: String,
    },
    /// Write a whole text, if nobody changed the file since it was read: what a person saves.
    Save {
        /// Where.
        path: String,
        /// The hash of the text that the new one was made from; absent where there must be no file yet.
        base: Option<u64>,
        /// The whole text.
        content: String,
    },
    /// Replace one passage, which must occur exactly once.
    Edit {
        /// In which text.
        path: String,
        /// The passage in its present form.
        old: String,
        /// What takes its place.
        new: String,
    },
    /// Append a text to a file, or create the file.
    Append {
        /// Behind which text.
        path: String,
        /// What comes behind it, letter for letter.
        text: String,
    },
    /// Create a folder with its parents; no effect if it exists.
    CreateFolder {
        /// Where.
        path: String,
    },
    /// Name the files under a prefix.
    List {
        /// What their paths begin with; all where empty.
        prefix: String,
    },
    /// Find lines that hold a text, in files that a glob names.
    Search {
        /// The text, without regard to case; every file that the glob names where absent.
        text: Option<String>,
        /// Which files; all where absent.
        glob: Option<String>,
    },
    /// Take a file away; its versions stay.
    Delete {
        /// Which.
        path: String,
    },
    /// Delete a file if it still has this text; for undoing an import.
    DeleteUnchanged {
        /// Which.
        path: String,
        /// The hash of the text that it was brought in with.
        hash: u64,
    },
    /// Give a file another path.
    Rename {
        /// From where.
        from: String,
        /// To where; nothing may be there.
        to: String,
    },
    /// Write an earlier version again, as a new one.
    Restore {
        /// Of which file.
        path: String,
        /// Which version, by its number.
        version: u64,
    },
    /// Commit the changes in the copy of an agent that has one: those that a command left there without an operation.
    /// Creates the copy if there is none.
    CommitWorktree {
        /// What was done, for the message of the commit.
        what: String,
    },
    /// Merge the changes of an agent's own copy into the workspace, if they still match this hash.
    MergeWorktree {
        /// Of the changes that a person was shown.
        hash: u64,
    },
    /// Keep a record of the program's own (a session): no version, no conflict, not for tools.
    Record {
        /// Where.
        path: String,
        /// The whole text.
        content: RecordText,
        /// Of a session that a person edited: the hash of their text, which this one was made from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        over: Option<u64>,
    },
    /// Keep the current content of a record as a version before it is replaced; not for tools.
    KeepRecord {
        /// Which.
        path: String,
    },
}

/// What the sender of an order may see and change: globs over normalised paths. `None` is everything that the workspace
/// allows; anything outside is neither done nor mentioned. Every list must allow the path: an agent that was started by
/// another has both its own permissions and its starter's.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileRights {
    /// One list of globs for each whose rights bound this order: a path is readable if each list names it.
    pub reads: Vec<Vec<String>>,
    /// The same for writing, deleting and renaming.
    pub writes: Vec<Vec<String>>,
    /// Files that are private to others: as if they were not there.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unreadable: BTreeSet<String>,
    /// Files that are not written, deleted or renamed either.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unwritable: BTreeSet<String>,
    /// Of the program's records in `sessions/`, only those whose paths begin so can be read; `None` is all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records_of: Option<String>,
    /// Of the files in `memory/knowledge/`, only this one and everybody's can be read, and none is written; `None` is
    /// all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knowledge_of: Option<String>,
}

/// A request for a file operation on someone's behalf. Answered with exactly one [`FileOutcome`].
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileOrder {
    /// Names this order for ever: after a crash the same order is sent again under the same key and is not
    /// carried out again if it was.
    pub key: Id,
    /// Who orders it.
    pub author: Author,
    /// As part of which piece of work.
    pub activation: Option<Id>,
    /// What.
    pub operation: FileOperation,
    /// Within which rights.
    pub rights: FileRights,
    /// The record that it comes from.
    pub cause: Seq,
    /// The agent in whose own copy of the workspace it is carried out; in the workspace itself where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Id>,
}

impl FileOrder {
    /// Whether it saves the room's own data: such an operation is never refused for lack of space, and requested only
    /// once, so that its result is not asked for again.
    pub(in crate::workspace) fn is_save_of_room(&self) -> bool {
        // What is put behind a text is another text each time: whether that was done must be known for ever.
        &*self.author.0 == ROOM && !matches!(self.operation, FileOperation::Append { .. })
    }
}

/// A line that was found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TextMatch {
    /// In which file.
    pub path: String,
    /// Counted from 1; 0 where only the file was asked for.
    pub line: u32,
    /// The line, cut to a bearable length.
    pub text: String,
}

/// Files that a search skipped, and why.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Unsearched {
    /// So many are larger than what is read as a whole.
    pub too_large: usize,
    /// So many are no text.
    pub not_text: usize,
    /// So many cannot be read.
    pub unreadable: usize,
    /// Some of them, those that are too large first.
    pub named: Vec<String>,
    /// Whether there are more folders than are known.
    pub has_unknown_folders: bool,
}

impl Unsearched {
    /// Whether everything was looked into.
    pub fn is_nothing(&self) -> bool {
        self == &Self::default()
    }

    /// How many files it is.
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
        /// The lines, as far as they are shown at once; empty where the file ends before them.
        content: String,
        /// The line to continue with; absent at the end of the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_line: Option<usize>,
        /// How many lines the file has, where its end was reached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<usize>,
    },
    /// The paths under a prefix, in order; if there are none, the existing folders.
    Listing {
        /// The paths.
        paths: Vec<String>,
        /// How many more there are than are named.
        more: usize,
        /// Where no path matched: folders that hold something.
        prefixes: Vec<String>,
    },
    /// Lines or files that were found.
    Matches {
        /// In order of path and line.
        matches: Vec<TextMatch>,
        /// How many more there are than are named.
        more: usize,
        /// What was not looked into.
        #[serde(default, skip_serializing_if = "Unsearched::is_nothing")]
        unsearched: Unsearched,
    },
    /// A file changed.
    Changed {
        /// What happened to which file.
        done: FileDone,
        /// Agents that have read it since its writer last did: they know an older text.
        conflict_with: Vec<Id>,
    },
    /// A folder is there.
    Folder {
        /// Its normalised path.
        path: String,
        /// Whether it was not there before.
        is_new: bool,
    },
    /// What lay in the copy is committed.
    Committed,
    /// The copy's own changes were merged into the workspace, as far as possible.
    Merged {
        /// What happened to which file of the workspace.
        done: Vec<FileDone>,
        /// Files that stay as they are, each with why: others changed the same lines meanwhile.
        crossed: Vec<String>,
        /// Files that are never merged, each with why.
        left_out: Vec<String>,
    },
    /// The text was there already; no version was made.
    Unchanged {
        /// The normalised path.
        path: String,
        /// Its newest version.
        version: u64,
    },
}

/// What was done to a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "done", rename_all = "snake_case")]
pub enum FileDone {
    /// It has a new text.
    Written {
        /// Its normalised path.
        path: String,
        /// The number of the new version, counted from 1 per file.
        version: u64,
        /// Characters of the text.
        chars: u64,
        /// Whether there was no such file before.
        is_new: bool,
        /// The text itself, where the room must know it (agent files, boards, scenes).
        content: Option<String>,
    },
    /// It is gone.
    Deleted {
        /// Its normalised path.
        path: String,
    },
    /// It has another path.
    Renamed {
        /// The path that it had.
        from: String,
        /// The path that it has.
        to: String,
        /// The text itself, where the room must know it.
        content: Option<String>,
    },
}

/// Why something was not done, described for the model or person that ordered it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileFailure {
    /// One sentence that says what and why: "'notes/plan.md' not found. Similar: 'artifacts/plan.md'."
    pub what: String,
    /// Whether the order asked for something that it may never have (a path outside, a forbidden place), as
    /// opposed to something that is merely not there or does not fit.
    pub is_refusal: bool,
}

/// The outcome of an order. An input, because the state of the disk comes from outside.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileOutcome {
    /// Which order.
    pub key: Id,
    /// Who ordered it.
    pub author: Author,
    /// As part of which piece of work.
    pub activation: Option<Id>,
    /// How it went.
    pub result: Result<FileAnswer, FileFailure>,
    /// The record that the order came from.
    pub cause: Seq,
    /// What the copy in which it was carried out has of its own now, where that is news.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Box<WorktreeChanges>>,
    /// Whether it put a version back that was kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restores: bool,
}

/// The changes in an agent's worktree that are not in the workspace.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorktreeChanges {
    /// Stands for exactly these changes; 0 where there are none.
    pub hash: u64,
    /// The files, in order of paths.
    pub files: Vec<ChangedInWorktree>,
    /// The difference of those that can be merged, as a patch.
    pub diff: String,
    /// Whether the patch is longer than this.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Files that changed in the workspace as well and could not be merged into the copy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crossed: Vec<String>,
}

/// One of these files.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangedInWorktree {
    /// Its path.
    pub path: String,
    /// Whether the workspace has no such file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_new: bool,
    /// Whether the copy has none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_gone: bool,
    /// Lines that come.
    pub added: usize,
    /// Lines that go.
    pub removed: usize,
    /// Why it is not merged, where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

impl Input for FileOutcome {
    const KIND: &'static str = "file_outcome";
}
