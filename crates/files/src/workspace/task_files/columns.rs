//! The columns of a task board: the column of a task, and the changes of its file when it is moved to another column.

use serde::{Deserialize, Serialize};

use super::edit::Change;
use super::lint::PEOPLE;
use super::model::{Status, Task, Value};
use super::permission::{APPROVED_KEY, waits_for_person};

/// The key for the progress of a task and its result.
pub const STATUS_KEY: &str = "status";
/// The value of that key while an agent or a person works on the task.
pub const WORKING: &str = "working";
/// The key that makes a task a question to a person: it is answered, not done.
pub const QUESTION_KEY: &str = "approval_type";

/// A column of a task board: the progress of its tasks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// Work on it has not started.
    Open,
    /// An agent or a person is working on it.
    InWork,
    /// A person must do it, answer it, or release it.
    NeedsPerson,
    /// It is done.
    Done,
    /// It will not be done.
    Skipped,
}

impl Column {
    /// The columns of a board from left to right. Skipped tasks are shown among the finished ones.
    pub const SHOWN: [Self; 4] = [Self::Open, Self::InWork, Self::NeedsPerson, Self::Done];

    /// Returns the column of a task.
    pub fn of(task: &Task) -> Self {
        match task.status {
            Status::Completed => Self::Done,
            Status::Skipped => Self::Skipped,
            Status::Open if field_text(task, STATUS_KEY) == Some(WORKING) => Self::InWork,
            Status::Open if is_for_person(task) || waits_for_person(task) => Self::NeedsPerson,
            Status::Open => Self::Open,
        }
    }

    /// Returns the column of the board that shows these tasks.
    pub fn shown(self) -> Self {
        if self == Self::Skipped { Self::Done } else { self }
    }

    /// Whether the task is finished or skipped.
    pub fn is_closed(self) -> bool {
        matches!(self, Self::Done | Self::Skipped)
    }

    /// Returns the name of the column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::InWork => "In progress",
            Self::NeedsPerson => "Needs you",
            Self::Done => "Done",
            Self::Skipped => "Skipped",
        }
    }

    /// Returns the changes of the file that move a task into this column.
    pub fn changes(self, task: &Task) -> Vec<Change> {
        let (status, word) = match self {
            Self::Open | Self::NeedsPerson => (Status::Open, None),
            Self::InWork => (Status::Open, Some(WORKING)),
            Self::Done => (Status::Completed, Some("completed")),
            Self::Skipped => (Status::Skipped, Some("skipped")),
        };
        let text = |word: &str| Value::Text(word.into());
        let mut changes = Vec::new();
        if task.status != status {
            changes.push(Change::Status(status));
        }
        // A task without the key needs it only while it is being worked on.
        if field_text(task, STATUS_KEY).is_some() || self == Self::InWork {
            changes.push(Change::Field(STATUS_KEY.to_owned(), word.map(text)));
        }
        let names = task.stakeholders.iter().map(|name| name.text.to_string());
        match self {
            Self::NeedsPerson if !is_for_person(task) && !waits_for_person(task) => {
                changes.push(Change::Stakeholders([PEOPLE[0].to_owned()].into_iter().chain(names).collect()));
            }
            Self::Open => {
                if is_for_person(task) {
                    changes.push(Change::Stakeholders(names.filter(|name| !is_person(name)).collect()));
                }
                if waits_for_person(task) {
                    changes.push(Change::Field(APPROVED_KEY.to_owned(), Some(Value::Bool(true))));
                }
            }
            _ => {}
        }
        changes
    }
}

/// Whether a name means the person.
pub fn is_person(name: &str) -> bool {
    PEOPLE.iter().any(|person| name.eq_ignore_ascii_case(person))
}

/// Whether a task is for the person and not for an agent.
pub fn is_for_person(task: &Task) -> bool {
    task.stakeholders.iter().any(|name| is_person(&name.text))
}

/// Whether a task is a question of an agent or a workflow to a person.
pub fn is_question(task: &Task) -> bool {
    task.field(QUESTION_KEY).is_some()
}

/// Returns the value of a key of a task; `None` if it is empty.
pub fn field_text<'a>(task: &'a Task, key: &str) -> Option<&'a str> {
    task.field(key).map(|field| field.value.text().trim()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{edit, parse};
    use super::*;

    #[test]
    fn a_task_moves_through_all_columns_without_changing_the_rest_of_the_file() {
        let mut text = "# Plan\r\n\r\n- a   \r\n- [_] B \"move me\"\r\n  note: kept\r\n<!-- end -->".to_owned();
        let before = text.clone();
        use Column::{Done, InWork, NeedsPerson, Open, Skipped};
        for column in [InWork, Done, Open, NeedsPerson, InWork, Skipped, NeedsPerson, Open] {
            let file = parse(text.as_str());
            let changes = BTreeMap::from([(1, column.changes(&file.tasks[1]))]);
            text = edit::update(&file, &changes).expect("it has no errors").text;
            let file = parse(text.as_str());
            // A person's task that is in work is still a person's.
            assert_eq!((Column::of(&file.tasks[1]), file.issues.len()), (column, 0), "{text}");
            assert_eq!(Column::of(&file.tasks[0]), Column::Open);
        }
        assert_eq!(text.replace("[ ]", "[_]").replace("  id: move-me\r\n", ""), before);
    }

    #[test]
    fn moving_a_task_to_open_approves_it() {
        let file = parse("- [ ] @ada \"deploy\"\n  approval_required: true\n- [ ] @human @bo \"look\"\n");
        assert_eq!(Column::of(&file.tasks[0]), Column::NeedsPerson);
        assert_eq!(Column::of(&file.tasks[1]), Column::NeedsPerson);
        let changes = (0..2).map(|index| (index, Column::Open.changes(&file.tasks[index]))).collect();
        let text = edit::update(&file, &changes).expect("it has no errors").text;
        let file = parse(text.as_str());
        assert!(file.tasks.iter().all(|task| Column::of(task) == Column::Open), "{text}");
        assert!(text.contains("  approved: true\n") && text.contains("- [ ] @bo \"look\"\n"), "{text}");
    }
}
