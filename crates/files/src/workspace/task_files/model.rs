//! The content of a task file, with the position of every part in its text.

use std::ops::Range;

use serde::Serialize;
use smol_str::SmolStr;

use super::issue::Issue;
use crate::base::Severity;

/// A range of the text, in bytes.
pub type Span = Range<usize>;

/// The status of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// To be done: `[ ]` or `[_]`, or no mark.
    Open,
    /// Done: `[x]`.
    Completed,
    /// Will not be done: `[-]`.
    Skipped,
}

impl Status {
    /// Returns its name in queries and results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Completed => "completed",
            Self::Skipped => "skipped",
        }
    }

    /// Parses a name that a person may use for a status.
    pub fn from_name(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "open" | "todo" | "[ ]" | "[_]" | "_" => Some(Self::Open),
            "completed" | "done" | "x" | "[x]" => Some(Self::Completed),
            "skipped" | "-" | "[-]" => Some(Self::Skipped),
            _ => None,
        }
    }

    /// Returns its mark in task files.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Open => "[ ]",
            Self::Completed => "[x]",
            Self::Skipped => "[-]",
        }
    }
}

/// The priority of a task; A is the most urgent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[expect(missing_docs, reason = "the letters say it")]
pub enum Priority {
    A,
    B,
    C,
    D,
}

impl Priority {
    /// Returns its letter.
    pub fn letter(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
        }
    }

    /// Parses the letter of a priority.
    pub fn from_letter(letter: &str) -> Option<Self> {
        match letter {
            "A" => Some(Self::A),
            "B" => Some(Self::B),
            "C" => Some(Self::C),
            "D" => Some(Self::D),
            _ => None,
        }
    }
}

/// The quotes of a title or a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quote {
    /// No quotes.
    None,
    /// `"…"`
    Straight,
    /// `“…”`
    Curly,
    /// `` `…` ``
    Backtick,
}

/// A `@stakeholder` or a `#tag`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name, without its sign.
    pub text: SmolStr,
    /// Its position, including the sign.
    pub span: Span,
}

/// The title of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Title {
    /// The text, without quotes and escapes.
    pub text: String,
    /// Its position, including the quotes.
    pub span: Span,
    /// The quotes.
    pub quote: Quote,
}

/// The value of a key.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Nothing after the colon.
    Empty,
    /// `true` or `false`.
    Bool(bool),
    /// A number, and how it is written.
    Number(f64, SmolStr),
    /// Anything else.
    Text(SmolStr),
}

/// A `key: value` pair of a task.
#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    /// The key.
    pub key: SmolStr,
    /// The value.
    pub value: Value,
    /// The span from the key to the end of the value; for a key on lines of its own, the whole lines.
    pub span: Span,
    /// The span from the colon, exclusive, to the end of the value.
    pub value_span: Span,
    /// Whether it is on the title's line.
    pub is_inline: bool,
}

/// A task.
#[derive(Clone, PartialEq, Debug)]
pub struct Task {
    /// The id: as written, otherwise derived from the title and unique in the file.
    pub id: String,
    /// Whether the id is in the file.
    pub has_written_id: bool,
    /// The status.
    pub status: Status,
    /// The position of the status.
    pub status_span: Option<Span>,
    /// The priority and its position.
    pub priority: Option<(Priority, Span)>,
    /// The people and agents that the task concerns.
    pub stakeholders: Vec<Name>,
    /// The tags.
    pub tags: Vec<Name>,
    /// The title.
    pub title: Title,
    /// The keys, in file order.
    pub fields: Vec<Field>,
    /// The index of the parent task.
    pub parent: Option<usize>,
    /// The number of ancestors.
    pub depth: usize,
    /// The number of spaces before the dash.
    pub indent: usize,
    /// The first line, without its line break.
    pub head: Span,
    /// The offset at which the first line continues after the dash.
    pub words_start: usize,
    /// The end of the task's own lines, before its first child.
    pub own_end: usize,
    /// The span of all lines, including those of its descendants.
    pub span: Span,
    /// The index after its last descendant.
    pub next: usize,
    /// Whether the task has an error, which prevents changes.
    pub has_errors: bool,
}

impl Task {
    /// Returns the field with this key.
    pub fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key.eq_ignore_ascii_case(key))
    }

    /// Iterates over the ids of tasks that this one depends on.
    pub fn dependencies(&self) -> impl Iterator<Item = &str> {
        let text = match self.field("depends_on").map(|field| &field.value) {
            Some(Value::Text(text) | Value::Number(_, text)) => text.as_str(),
            _ => "",
        };
        let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let parts = text.split([',', ' ', '\t', '\n']);
        let bare = parts.map(|part| part.trim_matches(['"', '\'', '`']));
        bare.filter(|part| !part.is_empty() && *part != "-")
    }
}

/// A list of tasks: below a `TODO` heading, or the whole file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// The start, after its heading.
    pub start: usize,
    /// The end of its last line that is not empty; if all are, its start or the end of its heading.
    pub text_end: usize,
    /// Whether it has a heading.
    pub has_heading: bool,
}

/// A parsed task file.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskFile {
    /// The text.
    pub text: String,
    /// The tasks, in file order: parents before their children.
    pub tasks: Vec<Task>,
    /// The sections that can hold tasks; at least one.
    pub sections: Vec<Section>,
    /// The issues of the text and of the relations between tasks.
    pub issues: Vec<Issue>,
    /// The line break that the file uses.
    pub line_end: &'static str,
    /// The byte offsets at which lines begin.
    pub line_starts: Vec<usize>,
}

impl TaskFile {
    /// Returns the line and the column of a byte offset, both counted from 1, the column in characters.
    pub fn position(&self, at: usize) -> (usize, usize) {
        let at = at.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= at).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column = 1 + self.text.get(start..at).map_or(0, |text| text.chars().count());
        (line, column)
    }

    /// Returns the first error of a task.
    pub fn error_of(&self, task: usize) -> Option<&Issue> {
        if !self.tasks[task].has_errors {
            return None;
        }
        self.issues.iter().find(|issue| issue.task == Some(task) && issue.severity == Severity::Error)
    }

    /// Returns the line break that a task uses.
    pub fn line_end_of(&self, task: &Task) -> &'static str {
        match self.text.get(task.head.end..) {
            Some(rest) if rest.starts_with("\r\n") => "\r\n",
            Some(rest) if rest.starts_with('\n') => "\n",
            _ => self.line_end,
        }
    }
}
