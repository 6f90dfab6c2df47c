//! A query as data.

use super::like::Pattern;
use crate::workspace::task_files::edit::Change;

/// A parsed query.
#[derive(Clone, PartialEq, Debug)]
pub enum Query {
    /// Find tasks.
    Select(Select),
    /// Change tasks.
    Update(Update),
    /// Take tasks away.
    Delete(Delete),
    /// Add a task.
    Insert(Insert),
}

/// `SELECT … FROM … [WHERE …] [ORDER BY …] [LIMIT n] [INTO file]`
#[derive(Clone, PartialEq, Debug)]
pub struct Select {
    /// What is shown of each; none for everything.
    pub columns: Option<Vec<Column>>,
    /// A file or a glob.
    pub from: String,
    /// Which tasks.
    pub filter: Option<Condition>,
    /// In which order.
    pub order: Vec<Order>,
    /// How many at most.
    pub limit: Option<usize>,
    /// Where the result goes.
    pub into: Option<String>,
}

/// `UPDATE … SET … [WHERE …]`
#[derive(Clone, PartialEq, Debug)]
pub struct Update {
    /// A file or a glob.
    pub files: String,
    /// What becomes of each.
    pub changes: Vec<Change>,
    /// Which tasks.
    pub filter: Option<Condition>,
}

/// `DELETE FROM … [WHERE …]`
#[derive(Clone, PartialEq, Debug)]
pub struct Delete {
    /// A file or a glob.
    pub from: String,
    /// Which tasks.
    pub filter: Option<Condition>,
}

/// `INSERT INTO … SET …`
#[derive(Clone, PartialEq, Debug)]
pub struct Insert {
    /// The file.
    pub into: String,
    /// What the new task is.
    pub changes: Vec<Change>,
    /// The id of its intended parent.
    pub parent: Option<String>,
}

/// A column of tasks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Column {
    /// Its id.
    Id,
    /// Its title.
    Title,
    /// `open`, `completed` or `skipped`.
    Status,
    /// `A` to `D`.
    Priority,
    /// Whom it concerns.
    Stakeholders,
    /// What it is about.
    Tags,
    /// The id of the task above it.
    Parent,
    /// The ids that it waits for.
    DependsOn,
    /// The number of ancestors.
    Depth,
    /// Its line in the file.
    Line,
    /// Its file.
    File,
    /// One of its keys.
    Field(String),
}

/// In front of a key that is called as something else is.
const FIELD_LEAD: &str = "field.";

impl Column {
    /// The meaning of a word.
    pub fn of_word(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "id" => Self::Id,
            "title" => Self::Title,
            "status" => Self::Status,
            "priority" => Self::Priority,
            "stakeholders" | "stakeholder" => Self::Stakeholders,
            "tags" | "tag" => Self::Tags,
            "parent" => Self::Parent,
            "depends_on" => Self::DependsOn,
            "depth" => Self::Depth,
            "line" => Self::Line,
            "file" => Self::File,
            lower => match lower.strip_prefix(FIELD_LEAD) {
                Some(_) => Self::Field(word[FIELD_LEAD.len()..].to_owned()),
                None => Self::Field(word.to_owned()),
            },
        }
    }

    /// The word for it.
    pub fn word(&self) -> String {
        match self {
            Self::Id => "id".into(),
            Self::Title => "title".into(),
            Self::Status => "status".into(),
            Self::Priority => "priority".into(),
            Self::Stakeholders => "stakeholders".into(),
            Self::Tags => "tags".into(),
            Self::Parent => "parent".into(),
            Self::DependsOn => "depends_on".into(),
            Self::Depth => "depth".into(),
            Self::Line => "line".into(),
            Self::File => "file".into(),
            Self::Field(key) if Self::of_word(key) == Self::Field(key.clone()) => key.clone(),
            Self::Field(key) => format!("{FIELD_LEAD}{key}"),
        }
    }
}

/// A value in a query.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// `NULL`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, and how it is written.
    Number(f64, String),
    /// Text.
    Text(String),
}

impl Literal {
    /// As text.
    pub fn text(&self) -> &str {
        match self {
            Self::Null => "",
            Self::Bool(true) => "true",
            Self::Bool(false) => "false",
            Self::Number(_, written) => written,
            Self::Text(text) => text,
        }
    }
}

/// A sort key of the results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    /// By what.
    pub column: Column,
    /// Whether the greatest comes first.
    pub is_descending: bool,
}

/// A comparison operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Comparison {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
}

/// A condition on tasks.
#[derive(Clone, PartialEq, Debug)]
pub enum Condition {
    /// All of these.
    And(Vec<Condition>),
    /// Any of these.
    Or(Vec<Condition>),
    /// Not this.
    Not(Box<Condition>),
    /// A value compared with one that is given.
    Compare(Column, Comparison, Literal),
    /// A text that has this in it, or a list that has it among others; in lower case.
    Contains(Column, String),
    /// A text of this form.
    Like(Column, Pattern),
    /// One of these.
    In(Column, Vec<Literal>),
    /// There is none.
    IsNull(Column),
}
