//! The kinds of problems in task files, each with a stable code and a remedy.

use serde::Serialize;

use crate::base::Severity;

/// A kind of error in a task file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// A quote is not closed on its line.
    UnclosedQuote,
    /// A status, priority, stakeholder or tag is in a place where none is allowed.
    MisplacedToken,
    /// A task has no title.
    MissingTitle,
    /// A key has no value.
    MissingValue,
    /// A task has the same key twice.
    DuplicateField,
    /// A line is not indented by two spaces per level.
    BadIndentation,
    /// A task is indented but has no task above it.
    OrphanChild,
    /// Two tasks have the same id.
    DuplicateId,
    /// A written parent differs from the task above it.
    ParentMismatch,
    /// A task depends on an id that does not exist.
    UnknownDependency,
    /// Tasks depend on each other in a cycle.
    DependencyCycle,
    /// A stakeholder does not exist in this workspace.
    UnknownStakeholder,
    /// The file contains merge conflict markers.
    ConflictMarker,
    /// A word in brackets at the beginning of a task looks like a status, but is none.
    MistypedStatus,
    /// A line or a section looks as if it contained tasks, but is not read.
    NotRead,
    /// A date cannot be read.
    UnreadableDate,
    /// A title contains a character that cannot be seen.
    ControlCharacter,
}

impl Code {
    /// Returns the code as it is printed.
    pub fn as_str(self) -> &'static str {
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
            Self::MistypedStatus => "mistyped-status",
            Self::NotRead => "not-read",
            Self::UnreadableDate => "unreadable-date",
            Self::ControlCharacter => "control-character",
        }
    }

    /// Returns the remedy, as one sentence without a full stop.
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
            Self::MistypedStatus => "write [ ], [x] or [-], or put the title in quotes",
            Self::NotRead => {
                "write each task as a line that begins with a dash, directly below ## TODO if there is one"
            }
            Self::UnreadableDate => "write a date like 2026-01-31 or 2026-01-31T18:00",
            Self::ControlCharacter => "remove it",
            Self::ConflictMarker => "resolve the conflict and remove the lines with <<<<<<<, ======= and >>>>>>>",
        }
    }
}

/// An error found in a task file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Issue {
    /// The kind of the error.
    pub code: Code,
    /// The severity. An error prevents changes of its task.
    pub severity: Severity,
    /// The index of the task in the file.
    pub task: Option<usize>,
    /// The byte offset in the text.
    pub at: usize,
    /// The description, as one sentence without a full stop.
    pub what: String,
}
