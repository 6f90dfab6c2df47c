//! The syntax tree of a query.

use super::like::Pattern;
use crate::workspace::task_files::edit::Change;

/// A parsed query.
#[derive(Clone, PartialEq, Debug)]
pub enum Query {
    /// Find tasks.
    Select(Select),
    /// Change tasks.
    Update(Update),
    /// Delete tasks.
    Delete(Delete),
    /// Add a task.
    Insert(Insert),
}

/// `SELECT … FROM … [WHERE …] [ORDER BY …] [LIMIT n] [INTO file]`
#[derive(Clone, PartialEq, Debug)]
pub struct Select {
    /// The selected columns; `None` for `*`.
    pub columns: Option<Vec<Column>>,
    /// The path of a file, or a glob.
    pub from: String,
    /// The condition after `WHERE`.
    pub filter: Option<Condition>,
    /// The sort keys, the most important first.
    pub order: Vec<Order>,
    /// The maximum number of results.
    pub limit: Option<usize>,
    /// The path of the file for the result.
    pub into: Option<String>,
}

/// `UPDATE … SET … [WHERE …]`
#[derive(Clone, PartialEq, Debug)]
pub struct Update {
    /// The path of a file, or a glob.
    pub files: String,
    /// The changes of each task.
    pub changes: Vec<Change>,
    /// The condition after `WHERE`.
    pub filter: Option<Condition>,
}

/// `DELETE FROM … [WHERE …]`
#[derive(Clone, PartialEq, Debug)]
pub struct Delete {
    /// The path of a file, or a glob.
    pub from: String,
    /// The condition after `WHERE`.
    pub filter: Option<Condition>,
}

/// `INSERT INTO … SET …`
#[derive(Clone, PartialEq, Debug)]
pub struct Insert {
    /// The path of the file.
    pub into: String,
    /// The properties of the new task.
    pub changes: Vec<Change>,
    /// The id of the parent, if one is given.
    pub parent: Option<String>,
}

/// A column of tasks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Column {
    /// The id.
    Id,
    /// The title.
    Title,
    /// `open`, `completed` or `skipped`.
    Status,
    /// `A` to `D`.
    Priority,
    /// The stakeholders.
    Stakeholders,
    /// The tags.
    Tags,
    /// The id of the parent.
    Parent,
    /// The ids of its dependencies.
    DependsOn,
    /// The number of ancestors.
    Depth,
    /// The line in the file.
    Line,
    /// The path of the file.
    File,
    /// A key of the task.
    Field(String),
}

/// The prefix of a key with the same name as another column.
const FIELD_LEAD: &str = "field.";

impl Column {
    /// Parses the name of a column.
    pub fn from_name(word: &str) -> Self {
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

    /// Returns the name of the column.
    pub fn name(&self) -> String {
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
            Self::Field(key) if Self::from_name(key) == Self::Field(key.clone()) => key.clone(),
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
    /// Returns the value as text.
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
    /// The column.
    pub column: Column,
    /// Whether the greatest value comes first.
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
    /// All of these hold.
    And(Vec<Condition>),
    /// At least one of these holds.
    Or(Vec<Condition>),
    /// This does not hold.
    Not(Box<Condition>),
    /// Compares the value of a column with a literal.
    Compare(Column, Comparison, Literal),
    /// The column's text contains this text, or its list has this entry; in lower case.
    Contains(Column, String),
    /// The column's text matches this pattern.
    Like(Column, Pattern),
    /// The column's value is one of these.
    In(Column, Vec<Literal>),
    /// The column has no value.
    IsNull(Column),
}
