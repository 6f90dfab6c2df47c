//! The kinds of problems in task files, each with a stable code and a remedy.

use serde::Serialize;

use crate::base::Severity;

/// A kind of error in a task file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// A quote is opened and not closed on its line.
    UnclosedQuote,
    /// A status, priority, stakeholder or tag is in a place where none is allowed.
    MisplacedToken,
    /// A task has no title.
    MissingTitle,
    /// A key has no value.
    MissingValue,
    /// A task has the same key twice.
    DuplicateField,
    /// A line is not indented by two spaces a level.
    BadIndentation,
    /// A task is indented with no task above it.
    OrphanChild,
    /// Two tasks have the same id.
    DuplicateId,
    /// A written parent differs from the task above it.
    ParentMismatch,
    /// A task depends on an id that nobody has.
    UnknownDependency,
    /// Tasks wait for each other.
    DependencyCycle,
    /// A stakeholder does not exist in this workspace.
    UnknownStakeholder,
    /// The file contains merge conflict markers.
    ConflictMarker,
}

impl Code {
    /// The code as it is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::UnclosedQuote => "unclosed-quote",
            Self::MisplacedToken => "misplaced-token",
            Self::MissingTitle => "missing-title",
            Self::MissingValue => "missing-value",
            Self::DuplicateField => "duplicate-field",
            Self::BadIndentation => "bad-indentation",
            Self::OrphanChild => "orphan-child",
            Self::DuplicateId => "duplicate-id",
            Self::ParentMismatch => "parent-mismatch",
            Self::UnknownDependency => "unknown-dependency",
            Self::DependencyCycle => "dependency-cycle",
            Self::UnknownStakeholder => "unknown-stakeholder",
            Self::ConflictMarker => "conflict-marker",
        }
    }

    /// What to do about it, as one sentence without a full stop.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::UnclosedQuote => "close the quote on the same line, or escape a literal quote with \\",
            Self::MisplacedToken => "put status, priority, @names and #tags once each before the title",
            Self::MissingTitle => "write a title after the dash, preferably in quotes",
            Self::MissingValue => "write a value after the colon, or remove the key",
            Self::DuplicateField => "keep one of them",
            Self::BadIndentation => "indent by two spaces per level: a task below its parent, a key below its task",
            Self::OrphanChild => "put it below the task that it belongs to, or remove its indentation",
            Self::DuplicateId => "give each task a unique id",
            Self::ParentMismatch => "remove the key, or move the task below that parent",
            Self::UnknownDependency => "use the id of an existing task",
            Self::DependencyCycle => "remove one of the dependencies",
            Self::UnknownStakeholder => "name an agent of this workspace or @human",
            Self::ConflictMarker => "resolve the conflict and remove the lines with <<<<<<<, ======= and >>>>>>>",
        }
    }
}

/// An error found in a task file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Issue {
    /// Which kind.
    pub code: Code,
    /// An error keeps its task from being written to.
    pub severity: Severity,
    /// Which task, as a place in the list of the file's tasks.
    pub task: Option<usize>,
    /// Where in the text, in bytes.
    pub at: usize,
    /// What is wrong, as one sentence without a full stop.
    pub what: String,
}
