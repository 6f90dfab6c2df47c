//! The columns of a board of tasks: in which one a task stands, and what is written into its file when it moves.

use serde::{Deserialize, Serialize};

use super::edit::Change;
use super::model::{Status, Task, Value};

/// The key that says who is at a task and how it went.
pub const STATUS_KEY: &str = "status";
/// What that key says while somebody is at it.
pub const WORKING: &str = "working";

/// How far a task is, as a board shows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// It is to be done, and nobody is at it.
    Open,
    /// Somebody is at it.
    InWork,
    /// It is done.
    Done,
    /// It is not going to be done.
    Skipped,
}

impl Column {
    /// All of them, from left to right.
    pub const ALL: [Self; 4] = [Self::Open, Self::InWork, Self::Done, Self::Skipped];

    /// Where a task stands.
    pub fn of(task: &Task) -> Self {
        match task.status {
            Status::Completed => Self::Done,
            Status::Skipped => Self::Skipped,
            Status::Open if says(task) == Some(WORKING) => Self::InWork,
            Status::Open => Self::Open,
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::InWork => "In work",
            Self::Done => "Done",
            Self::Skipped => "Skipped",
        }
    }

    /// What becomes of a task that is put here.
    pub fn changes(self, task: &Task) -> Vec<Change> {
        let (status, word) = match self {
            Self::Open => (Status::Open, None),
            Self::InWork => (Status::Open, Some(WORKING)),
            Self::Done => (Status::Completed, Some("completed")),
            Self::Skipped => (Status::Skipped, Some("skipped")),
        };
        let mut changes = vec![Change::Status(status)];
        // A task of which the key says nothing needs it only to be in work.
        if says(task).is_some() || self == Self::InWork {
            changes.push(Change::Field(STATUS_KEY.to_owned(), word.map(|word| Value::Text(word.to_owned()))));
        }
        changes
    }
}

fn says(task: &Task) -> Option<&str> {
    task.field(STATUS_KEY).map(|field| field.value.text().trim()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{edit, parse};
    use super::*;

    #[test]
    fn a_task_moves_through_all_columns_and_the_rest_of_the_file_stays() {
        let mut text = "# Plan\r\n\r\n- a   \r\n- [_] B \"move me\"\r\n  note: kept\r\n<!-- end -->".to_owned();
        let before = text.clone();
        for column in [Column::InWork, Column::Done, Column::Open, Column::InWork, Column::Skipped, Column::Open] {
            let file = parse(text.as_str());
            let changes = BTreeMap::from([(1, column.changes(&file.tasks[1]))]);
            text = edit::update(&file, &changes).expect("it has no errors").text;
            let file = parse(text.as_str());
            assert_eq!((Column::of(&file.tasks[1]), file.issues.len()), (column, 0), "{text}");
            assert_eq!(Column::of(&file.tasks[0]), Column::Open);
        }
        assert_eq!(text.replace("[ ]", "[_]").replace("  id: move-me\r\n", ""), before);
    }
}
