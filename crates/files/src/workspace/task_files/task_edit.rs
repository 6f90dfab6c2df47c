//! Edits of task files by agents and the room, described as data, and their effect on a file's text. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::edit::{self, Change};
use super::model::{Priority, Status, Task, TaskFile, Value};
use super::parse::parse;
use super::render::NewTask;

/// The key of the field with the id of the session that requested the task.
pub const ASKED_IN: &str = "requesting_agent_session_id";

/// An edit of a task file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "snake_case")]
pub enum TaskEdit {
    /// Adds a task.
    Create {
        /// The task.
        task: TaskDraft,
        /// Fields that the author of the task does not choose, in order.
        keys: Vec<(String, String)>,
    },
    /// Changes a task.
    Update {
        /// The id of the task.
        id: String,
        /// The changes.
        update: TaskUpdate,
    },
}

/// A task to create.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskDraft {
    /// The task in one line.
    pub title: String,
    /// The agents that it is assigned to, or `human`.
    pub assignees: Vec<String>,
    /// `A` to `D`.
    pub priority: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// The ids of tasks that must be done first.
    pub depends_on: Vec<String>,
    /// The id of the intended parent.
    pub parent: Option<String>,
    /// A longer description.
    pub description: Option<String>,
}

/// A change of a task; absent fields stay as they are.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskUpdate {
    /// `open`, `completed` or `skipped`.
    pub status: Option<String>,
    /// `A` to `D`.
    pub priority: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// The agents that it is assigned to.
    pub assignees: Option<Vec<String>>,
    /// The new values of other keys; an empty value removes the key.
    pub fields: BTreeMap<String, String>,
}

/// The result of an edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EditedTask {
    /// The new text of the file.
    pub text: String,
    /// The id of the task.
    pub id: String,
    /// The title of the task.
    pub title: String,
}

/// Applies an edit to the text of a file; `None` if there is no file. The error says why the edit is impossible.
pub fn apply(text: Option<&str>, edit: &TaskEdit) -> Result<EditedTask, String> {
    let file = parse(text.unwrap_or_default());
    match edit {
        TaskEdit::Create { task, keys } => create(&file, task, keys),
        TaskEdit::Update { .. } if text.is_none() => Err("there is no such file".to_owned()),
        TaskEdit::Update { id, update } => change(&file, id, update),
    }
}

fn create(file: &TaskFile, draft: &TaskDraft, keys: &[(String, String)]) -> Result<EditedTask, String> {
    if let Some(there) = written_already(file, draft, keys) {
        let (id, title) = (there.id.clone(), there.title.text.clone());
        return Ok(EditedTask { text: file.text.clone(), id, title });
    }
    let mut task = NewTask::new(draft.title.trim());
    task.priority = priority(draft.priority.as_deref())?;
    task.stakeholders.clone_from(&draft.assignees);
    task.tags.clone_from(&draft.tags);
    if !draft.depends_on.is_empty() {
        task.fields.push(("depends_on".to_owned(), Value::Text(draft.depends_on.join(", ").into())));
    }
    task.fields.extend(keys.iter().map(|(key, value)| (key.clone(), Value::Text(value.as_str().into()))));
    if let Some(description) = draft.description.as_deref().map(block).filter(|text| !text.is_empty()) {
        task.fields.push(("description".to_owned(), Value::Text(description.into())));
    }
    let parent = match &draft.parent {
        None => None,
        Some(parent) => {
            let found = file.tasks.iter().position(|task| task.id == *parent);
            Some(found.ok_or_else(|| format!("there is no parent task {parent:?}"))?)
        }
    };
    let (text, id) = edit::insert(file, parent, &task).map_err(|error| error.to_string())?;
    Ok(EditedTask { text, id, title: task.title })
}

/// The existing task with the same title that was requested in the same session. Without this check, an interrupted
/// agent could create a task twice.
fn written_already<'a>(file: &'a TaskFile, draft: &TaskDraft, keys: &[(String, String)]) -> Option<&'a Task> {
    let session = keys.iter().find(|(key, _)| key == ASKED_IN).map(|(_, session)| session.as_str())?;
    file.tasks.iter().find(|task| {
        let asked_in = task.field(ASKED_IN).map(|field| field.value.text());
        task.title.text == draft.title.trim() && asked_in == Some(session)
    })
}

fn change(file: &TaskFile, id: &str, update: &TaskUpdate) -> Result<EditedTask, String> {
    let Some(index) = file.tasks.iter().position(|task| task.id == id) else {
        let mut ids: Vec<&str> = file.tasks.iter().map(|task| task.id.as_str()).collect();
        ids.truncate(20);
        return Err(format!("there is no task {id:?} in it; its tasks: {}", ids.join(", ")));
    };
    let mut changes = Vec::new();
    if let Some(status) = &update.status {
        let status = Status::from_name(status).ok_or_else(|| format!("there is no status {status:?}"))?;
        changes.push(Change::Status(status));
    }
    if let Some(priority) = priority(update.priority.as_deref())? {
        changes.push(Change::Priority(Some(priority)));
    }
    changes.extend(update.title.iter().map(|title| Change::Title(title.trim().to_owned())));
    changes.extend(update.assignees.iter().map(|names| Change::Stakeholders(names.clone())));
    changes.extend(update.fields.iter().map(|(key, value)| {
        let value = block(value);
        Change::Field(key.clone(), (!value.is_empty()).then_some(Value::Text(value.into())))
    }));
    let updated = edit::update(file, &BTreeMap::from([(index, changes)])).map_err(|error| error.to_string())?;
    let title = file.tasks[index].title.text.clone();
    Ok(EditedTask { text: updated.text, id: id.to_owned(), title: update.title.clone().unwrap_or(title) })
}

fn priority(letter: Option<&str>) -> Result<Option<Priority>, String> {
    let Some(letter) = letter else { return Ok(None) };
    let found = Priority::from_letter(&letter.to_uppercase());
    found.map(Some).ok_or_else(|| format!("there is no priority {letter:?}; use A to D"))
}

/// Normalizes text for a block: uniform line endings, no trailing spaces, no blank lines at the start or end.
fn block(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_end().replace('\t', "  "));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "# Plan\r\n\r\n## TODO\r\n\r\n- [ ] A @ada \"Count the chairs\"\r\n  note: odd   \r\n- [ ] Rest\r\n";

    fn update(id: &str, update: TaskUpdate) -> Result<EditedTask, String> {
        apply(Some(FILE), &TaskEdit::Update { id: id.into(), update })
    }

    #[test]
    fn a_task_can_be_added_to_an_existing_or_new_file() {
        let task = TaskDraft {
            title: "Look for Redis".into(),
            assignees: vec!["executor-001".into()],
            priority: Some("b".into()),
            depends_on: vec!["one".into(), "two".into()],
            description: Some("First line.  \n\n\tSecond line.\n".into()),
            ..TaskDraft::default()
        };
        let edit = TaskEdit::Create { task, keys: vec![("created".into(), "2026-01-02".into())] };
        let new = apply(None, &edit).expect("it can be written");
        assert_eq!((new.id.as_str(), new.title.as_str()), ("look-for-redis", "Look for Redis"));
        let read = parse(new.text.as_str());
        assert_eq!(read.issues, []);
        assert!(read.tasks[0].dependencies().eq(["one", "two"]));
        assert_eq!(
            read.tasks[0].field("description").map(|field| field.value.text()),
            Some("First line.\n\n  Second line.")
        );
        let TaskEdit::Create { task, mut keys } = edit.clone() else { panic!("it is one") };
        keys.push((ASKED_IN.into(), "lead.act-7".into()));
        let asked = TaskEdit::Create { task, keys };
        let once = apply(None, &asked).expect("it can be written").text;
        assert_eq!(apply(Some(&once), &asked).map(|edited| edited.text), Ok(once), "it is there already");
        let added = apply(Some(FILE), &edit).expect("it can be written");
        assert!(added.text.starts_with(FILE), "what stands there stays: {}", added.text);
    }

    #[test]
    fn an_update_changes_only_its_task() {
        let fields = BTreeMap::from([("status".to_owned(), "working".to_owned())]);
        let done = update("rest", TaskUpdate { status: Some("completed".into()), fields, ..TaskUpdate::default() });
        let done = done.expect("it can be changed").text;
        let (before, _) = FILE.split_once("- [ ] Rest").expect("it should exist");
        assert!(
            done.starts_with(before) && done.contains("- [x] Rest\r\n  id: rest\r\n  status: working\r\n"),
            "{done}"
        );
        assert!(update("nobody", TaskUpdate::default()).is_err_and(|why| why.contains("count-the-chairs")));
        let odd = TaskUpdate { status: Some("perhaps".into()), ..TaskUpdate::default() };
        assert!(update("rest", odd).is_err());
        assert!(apply(None, &TaskEdit::Update { id: "x".into(), update: TaskUpdate::default() }).is_err());
    }
}
