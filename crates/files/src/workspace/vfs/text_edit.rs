//! Edits that are described as data, so that the file thread can apply them to the text that a file has when it is
//! written. Pure: a new kind of edit is a variant of [`TextEdit`] and one of [`EditReport`].

use serde::{Deserialize, Serialize};

use super::super::task_files::task_edit::{self, TaskEdit};

/// The description of an edit of one file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextEdit {
    /// Adds or changes a task in a task file.
    Task(TaskEdit),
}

/// What an edit did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditReport {
    /// A task was added or changed.
    Task {
        /// The id of the task.
        id: String,
        /// The title of the task.
        title: String,
    },
}

/// The text that an order writes into a file.
pub(super) struct EditedText {
    /// The whole text.
    pub(super) text: String,
    /// What was done to it, if the order describes an edit.
    pub(super) report: Option<EditReport>,
}

impl From<String> for EditedText {
    fn from(text: String) -> Self {
        Self { text, report: None }
    }
}

impl TextEdit {
    /// Applies the edit to the text of a file; `None` if there is no file. The error says why the edit does not fit.
    pub(super) fn apply(&self, text: Option<&str>) -> Result<EditedText, String> {
        match self {
            Self::Task(edit) => {
                let edited = task_edit::apply(text, edit)?;
                let report = EditReport::Task { id: edited.id, title: edited.title };
                Ok(EditedText { text: edited.text, report: Some(report) })
            }
        }
    }

    /// Whether the edit changes something that must be in the file already.
    pub(super) fn needs_file(&self) -> bool {
        match self {
            Self::Task(TaskEdit::Update { .. }) => true,
            Self::Task(TaskEdit::Create { .. }) => false,
        }
    }
}
