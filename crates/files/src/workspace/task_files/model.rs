//! The content of a task file, with the place of every part in its text.

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
    /// It is to be done: `[ ]` or `[_]`, or no mark.
    Open,
    /// It is done: `[x]`.
    Completed,
    /// It is not going to be done: `[-]`.
    Skipped,
}

impl Status {
    /// Its name in queries and results.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Completed => "completed",
            Self::Skipped => "skipped",
        }
    }

    /// What a person may call it.
    pub fn of_word(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "open" | "todo" | "[ ]" | "[_]" | "_" => Some(Self::Open),
            "completed" | "done" | "x" | "[x]" => Some(Self::Completed),
            "skipped" | "-" | "[-]" => Some(Self::Skipped),
            _ => None,
        }
    }

    /// Its mark as it is written.
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
    /// Its letter.
    pub fn letter(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
        }
    }

    /// The priority of a letter.
    pub fn of_letter(letter: &str) -> Option<Self> {
        match letter {
            "A" => Some(Self::A),
            "B" => Some(Self::B),
            "C" => Some(Self::C),
            "D" => Some(Self::D),
            _ => None,
        }
    }
}

/// How a title or a value is quoted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quote {
    /// Plain words.
    None,
    /// `"…"`
    Straight,
    /// `“…”`
    Curly,
    /// `` `…` ``
    Backtick,
}

/// A `@stakeholder` or a `#tag`, without its sign.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name.
    pub text: SmolStr,
    /// Its position, including the sign.
    pub span: Span,
}

/// The title of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Title {
    /// Its words, without quotes and escapes.
    pub text: String,
    /// Its position, including the quotes.
    pub span: Span,
    /// How it is quoted.
    pub quote: Quote,
}

/// The value of a key.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// There is nothing after the colon.
    Empty,
    /// `true` or `false`.
    Bool(bool),
    /// A number, and how it is written.
    Number(f64, SmolStr),
    /// Anything else.
    Text(SmolStr),
}

/// `key: value` of a task.
#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    /// The key.
    pub key: SmolStr,
    /// The value.
    pub value: Value,
    /// From the key to the end of the value; of a key on a line of its own, its whole lines.
    pub span: Span,
    /// From behind the colon to the end of the value.
    pub value_span: Span,
    /// Whether it is on the line of the title.
    pub is_inline: bool,
}

/// One task.
#[derive(Clone, PartialEq, Debug)]
pub struct Task {
    /// Its id: as written, else made from its title and unlike all others in the file.
    pub id: String,
    /// Whether its id is written.
    pub has_written_id: bool,
    /// How far it is.
    pub status: Status,
    /// The position of the status.
    pub status_span: Option<Span>,
    /// The priority and its position.
    pub priority: Option<(Priority, Span)>,
    /// Whom it concerns.
    pub stakeholders: Vec<Name>,
    /// What it is about.
    pub tags: Vec<Name>,
    /// What it is called.
    pub title: Title,
    /// Its keys, in the order of the file.
    pub fields: Vec<Field>,
    /// The parent task.
    pub parent: Option<usize>,
    /// The number of ancestors.
    pub depth: usize,
    /// By how many spaces it is indented.
    pub indent: usize,
    /// Its first line, without its end.
    pub head: Span,
    /// Where its first line goes on behind the dash.
    pub words_start: usize,
    /// The end of its own lines before its first child.
    pub own_end: usize,
    /// All its lines, and those of the tasks below it.
    pub span: Span,
    /// The place in the list behind its last descendant.
    pub next: usize,
    /// Whether it has an error, and is not written to.
    pub has_errors: bool,
}

impl Task {
    /// The field of this key.
    pub fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key.eq_ignore_ascii_case(key))
    }

    /// The ids that it waits for.
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

/// Where tasks are listed: below a heading `TODO`, or in the whole file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// Where it begins, behind its heading.
    pub start: usize,
    /// The end of its last line that says something; its start or its heading's end where none does.
    pub text_end: usize,
    /// Whether it has a heading.
    pub has_heading: bool,
}

/// A complete task file.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskFile {
    /// Its text.
    pub text: String,
    /// Its tasks, in the order of the file: parents before their children.
    pub tasks: Vec<Task>,
    /// The sections that can hold tasks; at least one.
    pub sections: Vec<Section>,
    /// What is wrong with its text and with what its tasks are to each other.
    pub issues: Vec<Issue>,
    /// How its lines end.
    pub line_end: &'static str,
    /// Where its lines begin.
    pub line_starts: Vec<usize>,
}

impl TaskFile {
    /// The line and the column of a place in the text, both from 1, the column in characters.
    pub fn position(&self, at: usize) -> (usize, usize) {
        let at = at.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= at).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column = 1 + self.text.get(start..at).map_or(0, |text| text.chars().count());
        (line, column)
    }

    /// The first error of a task.
    pub fn error_of(&self, task: usize) -> Option<&Issue> {
        if !self.tasks[task].has_errors {
            return None;
        }
        self.issues.iter().find(|issue| issue.task == Some(task) && issue.severity == Severity::Error)
    }

    /// How the lines of a task end.
    pub fn line_end_of(&self, task: &Task) -> &'static str {
        match self.text.get(task.head.end..) {
            Some(rest) if rest.starts_with("\r\n") => "\r\n",
            Some(rest) if rest.starts_with('\n') => "\n",
            _ => self.line_end,
        }
    }
}
