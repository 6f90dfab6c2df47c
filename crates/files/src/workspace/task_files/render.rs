//! Writes a new task as text, in the usual style of such files.

use super::model::{Priority, Quote, Status, Task, Value};
use super::quoting;

/// A task to be written.
#[derive(Clone, PartialEq, Debug)]
pub struct NewTask {
    /// The status.
    pub status: Status,
    /// The priority.
    pub priority: Option<Priority>,
    /// The stakeholders, without `@`.
    pub stakeholders: Vec<String>,
    /// The tags, without `#`.
    pub tags: Vec<String>,
    /// The title.
    pub title: String,
    /// The keys, including `id`.
    pub fields: Vec<(String, Value)>,
}

impl NewTask {
    /// Creates an open task with this title.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            status: Status::Open,
            priority: None,
            stakeholders: Vec::new(),
            tags: Vec::new(),
            title: title.into(),
            fields: Vec::new(),
        }
    }

    /// Copies an existing task, without its children.
    pub fn like(task: &Task) -> Self {
        Self {
            status: task.status,
            priority: task.priority.as_ref().map(|(priority, _)| *priority),
            stakeholders: task.stakeholders.iter().map(|name| name.text.to_string()).collect(),
            tags: task.tags.iter().map(|name| name.text.to_string()).collect(),
            title: task.title.text.clone(),
            fields: task.fields.iter().map(|field| (field.key.to_string(), field.value.clone())).collect(),
        }
    }
}

/// Returns the lines of a task, each with its line break.
pub fn render(task: &NewTask, indent: usize, line_end: &str) -> String {
    let lead = " ".repeat(indent);
    let mut text = format!("{lead}- {}", task.status.mark());
    if let Some(priority) = task.priority {
        text.extend([" ", priority.letter()]);
    }
    task.stakeholders.iter().for_each(|name| text.extend([" @", name]));
    task.tags.iter().for_each(|name| text.extend([" #", name]));
    text.extend([" ", &quoting::write(&task.title, Quote::Straight), line_end]);
    for (key, value) in &task.fields {
        text.push_str(&field_line(key, value, indent, line_end));
        text.push_str(line_end);
    }
    text
}

/// Returns a key on a line of its own, without the line break at its end. `indent` is that of its task.
pub(super) fn field_line(key: &str, value: &Value, indent: usize, line_end: &str) -> String {
    let written = value.formatted(key, Some(indent + 2), line_end);
    let blank = if written.is_empty() { "" } else { " " };
    format!("{}{key}:{blank}{written}", " ".repeat(indent + 2))
}
