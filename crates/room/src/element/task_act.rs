//! Acts on a task board, as data, and their effect on the text of its task file: the same edits as those of every other
//! writer of task files, so that everything else stays byte for byte the same. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::act::element_acts;
use crate::base::common_parts::{common_prefix, common_suffix};
use crate::workspace::task_files::edit::{self, Change};
use crate::workspace::task_files::render::NewTask;
use crate::workspace::task_files::{Column, Priority, TaskFile, carry_over, columns, parse};

/// An act on a task board.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum TaskAct {
    /// Adds an open task, written as after its dash in the file (`A @ada #tag Title`), last or below another.
    AddTask {
        line: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        below: Option<String>,
    },
    /// Changes the attributes of a task; absent ones stay. An empty priority removes it.
    ChangeTask {
        id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        priority: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assignees: Option<Vec<String>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tags: Option<Vec<String>>,
    },
    /// Moves a task to a column, to another place in its list, or both.
    MoveTask {
        id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        column: Option<Column>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<TaskPlace>,
    },
    /// Removes a task and all tasks below it.
    RemoveTask { id: String },
    /// Restores earlier lines: at this byte, the text after a change (`is`) is replaced by the text before it (`was`).
    /// If others changed the file since, their changes are merged task by task.
    RestoreTasks {
        at: usize,
        is: String,
        was: String,
        /// The top-level task after which that place is, and the distance from its end in bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        behind: Option<(String, usize)>,
    },
}

/// The place of a task in its list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskPlace {
    /// Before the task with this id.
    Before(String),
    /// After all others.
    Last,
}

element_acts!(TaskAct);

/// The text of a task file after an act, or the reason for a refusal, for the author.
pub fn applied(file: &TaskFile, act: &TaskAct) -> Result<String, String> {
    match act {
        TaskAct::AddTask { line, below } => add(file, line, below.as_deref()),
        TaskAct::ChangeTask { id, title, priority, assignees, tags } => {
            let index = changeable(file, id)?;
            let mut changes = Vec::new();
            changes.extend(title.iter().map(|title| Change::Title(one_line(title))));
            if let Some(letter) = priority {
                changes.push(Change::Priority(priority_of(letter)?));
            }
            changes.extend(assignees.iter().cloned().map(Change::Stakeholders));
            changes.extend(tags.iter().cloned().map(Change::Tags));
            update(file, index, changes)
        }
        TaskAct::MoveTask { id, column, place } => {
            let index = changeable(file, id)?;
            let Some(place) = place else {
                return update(
                    file,
                    index,
                    column.map(|column| column.changes(&file.tasks[index])).unwrap_or_default(),
                );
            };
            let before = match place {
                TaskPlace::Before(other) => Some(find(file, other)?),
                TaskPlace::Last => None,
            };
            let text = edit::reorder(file, index, before).map_err(|error| error.to_string())?;
            let Some(column) = column else { return Ok(text) };
            let file = parse(text);
            let index = find(&file, id)?;
            update(&file, index, column.changes(&file.tasks[index]))
        }
        TaskAct::RemoveTask { id } => {
            let index = changeable(file, id)?;
            edit::delete(file, &[index].into(), true).map_err(|error| error.to_string())
        }
        TaskAct::RestoreTasks { at, is, was, behind } => restore(file, *at, is, was, behind.as_ref()),
    }
}

fn one_line(text: &str) -> String {
    crate::base::text::one_line(text).trim().to_owned()
}

fn find(file: &TaskFile, id: &str) -> Result<usize, String> {
    let at = file.tasks.iter().position(|task| task.id == id);
    at.ok_or_else(|| format!("task {id:?} is no longer on this board"))
}

/// The index of a task that can be changed here. A question can only be answered on its card or in its file.
fn changeable(file: &TaskFile, id: &str) -> Result<usize, String> {
    let index = find(file, id)?;
    if columns::is_question(&file.tasks[index]) {
        return Err(format!("{id:?} is an approval: answer it on its card, or in its file"));
    }
    Ok(index)
}

fn update(file: &TaskFile, index: usize, changes: Vec<Change>) -> Result<String, String> {
    let updated = edit::update(file, &BTreeMap::from([(index, changes)]));
    updated.map(|updated| updated.text).map_err(|error| error.to_string())
}

fn priority_of(letter: &str) -> Result<Option<Priority>, String> {
    if letter.trim().is_empty() {
        return Ok(None);
    }
    let found = Priority::from_letter(&letter.trim().to_uppercase());
    found.map(Some).ok_or_else(|| format!("there is no priority {letter:?}; use A to D"))
}

fn add(file: &TaskFile, line: &str, below: Option<&str>) -> Result<String, String> {
    let below = below.map(|below| changeable(file, below)).transpose()?;
    let task = written_task(line)?;
    edit::insert(file, below, &task).map(|(text, _)| text).map_err(|error| error.to_string())
}

/// Parses a task line as written after the dash in a file.
pub fn written_task(line: &str) -> Result<NewTask, String> {
    let line = one_line(line);
    let read = parse(format!("- {line}"));
    if let Some(error) = read.issues.first() {
        return Err(format!("{}; {}", error.what, error.code.remedy()));
    }
    let mut task = read.tasks.first().map(NewTask::like).ok_or("a task needs a title")?;
    task.fields.retain(|(key, _)| !key.eq_ignore_ascii_case(columns::QUESTION_KEY));
    Ok(task)
}

/// The act that undoes a change: it restores the top-level tasks in which the two texts differ.
pub fn inverse(before: &TaskFile, after: &TaskFile) -> TaskAct {
    let (old, new) = (before.text.as_bytes(), after.text.as_bytes());
    let same = common_prefix(old, new);
    let same_end = common_suffix(&old[same..], &new[same..]);
    // Whole tasks on both sides, with all tasks below them, so that each part can be parsed by itself.
    let starts = [before, after].map(|file| span_start(file, same));
    let start = starts[0].min(starts[1]);
    let ends = [before, after].map(|file| file.text.len() - span_end(file, file.text.len() - same_end));
    let end = ends[0].min(ends[1]);
    let part = |file: &TaskFile| file.text.get(start..file.text.len() - end).unwrap_or(&file.text).to_owned();
    let last = after.tasks.iter().rfind(|task| task.depth == 0 && task.span.end <= start);
    let behind = last.map(|task| (task.id.clone(), start - task.span.end));
    TaskAct::RestoreTasks { at: start, is: part(after), was: part(before), behind }
}

/// The start of the top-level task, or of the line, that contains a position.
fn span_start(file: &TaskFile, at: usize) -> usize {
    let line = file.text.as_bytes()[..at.min(file.text.len())].iter().rposition(|byte| *byte == b'\n');
    let line = line.map_or(0, |line| line + 1);
    let task = top_tasks(file).find(|span| span.start < line && line < span.end);
    task.map_or(line, |span| span.start)
}

/// The end of the top-level task, or of the line, that contains a position.
fn span_end(file: &TaskFile, at: usize) -> usize {
    let is_at_start = at == 0 || file.text.as_bytes().get(at - 1) == Some(&b'\n');
    let line = file.text.as_bytes()[at..].iter().position(|byte| *byte == b'\n').map(|line| at + line + 1);
    let line = if is_at_start { at } else { line.unwrap_or(file.text.len()) };
    let task = top_tasks(file).find(|span| span.start < line && line < span.end);
    task.map_or(line, |span| span.end)
}

fn top_tasks(file: &TaskFile) -> impl Iterator<Item = &std::ops::Range<usize>> {
    file.tasks.iter().filter(|task| task.depth == 0).map(|task| &task.span)
}

fn restore(
    file: &TaskFile,
    at: usize,
    is: &str,
    was: &str,
    behind: Option<&(String, usize)>,
) -> Result<String, String> {
    let after_other = behind.and_then(|(id, bytes)| {
        let other = file.tasks.iter().find(|task| task.depth == 0 && task.id == *id)?;
        other.span.end.checked_add(*bytes)
    });
    // Tries the place after the same task first, then the same byte.
    for at in after_other.into_iter().chain([at]) {
        let end = at.saturating_add(is.len());
        if file.text.get(at..end) == Some(is) && is_between(file, at) && is_between(file, end) {
            return Ok(format!("{}{was}{}", &file.text[..at], &file.text[end..]));
        }
    }
    let carried = carry_over(is, was, &file.text);
    match carried.left.first() {
        None => Ok(carried.text),
        Some((id, why)) => Err(format!("{id:?} has been changed since: {why}")),
    }
}

/// Whether a position is between two lines, and within no task.
fn is_between(file: &TaskFile, at: usize) -> bool {
    let is_line = at == 0 || at == file.text.len() || file.text.as_bytes().get(at - 1) == Some(&b'\n');
    is_line && !top_tasks(file).any(|span| span.start < at && at < span.end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAN: &str = "# Plan\r\n\r\n- [ ] A @ada #shop \"Count the chairs\"\r\n  id: chairs\r\n  odd:   kept  \r\n  \
        - [x] \"Find the list\"\r\n    id: list\r\n<!-- mine -->\r\n- [ ] Paint\r\n- [ ] \"broken\r\n\
        - [ ] A @human #approval `Run it`\r\n  id: q1\r\n  approval_type: terminal_command\r\n";

    fn act(text: &str, act: TaskAct) -> Result<String, String> {
        applied(&parse(text), &act)
    }

    fn change(id: &str) -> TaskAct {
        TaskAct::ChangeTask { id: id.into(), title: None, priority: None, assignees: None, tags: None }
    }

    /// Every act that a person can do on the plan.
    fn acts() -> Vec<TaskAct> {
        let add =
            |line: &str, below: Option<&str>| TaskAct::AddTask { line: line.into(), below: below.map(Into::into) };
        let to = |id: &str, column, place| TaskAct::MoveTask { id: id.into(), column, place };
        let change =
            |title: Option<&str>, priority: Option<&str>, assignees: Option<Vec<String>>| TaskAct::ChangeTask {
                id: "chairs".into(),
                title: title.map(Into::into),
                priority: priority.map(Into::into),
                assignees,
                tags: None,
            };
        vec![
            add("B @bo Sweep", None),
            add("Sweep under them", Some("chairs")),
            change(Some("Count the tables"), None, None),
            change(None, Some(""), None),
            change(None, Some("d"), Some(vec!["bo".into(), "ada".into()])),
            to("chairs", Some(Column::Done), None),
            to("paint", Some(Column::InWork), None),
            to("paint", Some(Column::NeedsPerson), Some(TaskPlace::Before("chairs".into()))),
            to("chairs", None, Some(TaskPlace::Last)),
            TaskAct::RemoveTask { id: "chairs".into() },
            TaskAct::RemoveTask { id: "list".into() },
        ]
    }

    #[test]
    fn every_act_is_undone_to_the_last_byte() {
        for one in acts() {
            let done = act(PLAN, one.clone()).unwrap_or_else(|why| panic!("{one:?}: {why}"));
            assert_ne!(done, PLAN, "{one:?}");
            let back = inverse(&parse(PLAN), &parse(done.as_str()));
            assert_eq!(act(&done, back.clone()).as_deref(), Ok(PLAN), "{one:?}: {back:?}");
            let again = inverse(&parse(done.as_str()), &parse(PLAN));
            assert_eq!(act(PLAN, again), Ok(done));
        }
    }

    #[test]
    fn changes_by_others_stay_when_an_act_is_undone() {
        let done = act(PLAN, TaskAct::AddTask { line: "@ada Sweep".into(), below: None }).unwrap();
        let back = inverse(&parse(PLAN), &parse(done.as_str()));
        let meanwhile = done.replace("- [ ] Paint", "- [x] Paint").replace("# Plan", "# Our plan");
        let undone = act(&meanwhile, back.clone()).unwrap();
        assert_eq!(undone, PLAN.replace("- [ ] Paint", "- [x] Paint").replace("# Plan", "# Our plan"));
        // A deleted task is restored with its original text, at the current position of its former neighbour.
        let deleted = act(PLAN, TaskAct::RemoveTask { id: "paint".into() }).unwrap();
        let undelete = inverse(&parse(PLAN), &parse(deleted.as_str()));
        let meanwhile = deleted.replace("Count the chairs", "Count all of the chairs");
        assert_eq!(act(&meanwhile, undelete), Ok(PLAN.replace("Count the chairs", "Count all of the chairs")));
        // The new task was already started: it is undone with all of its notes.
        let taken = done.replace("  id: sweep\r\n", "  id: sweep\r\n  status: working\r\n");
        assert_ne!(taken, done);
        assert_eq!(act(&taken, back).as_deref(), Ok(PLAN));
        // The same task was changed by another: what this act did is undone, and the rest of it stays.
        let done =
            act(PLAN, TaskAct::MoveTask { id: "chairs".into(), column: Some(Column::Done), place: None }).unwrap();
        let back = inverse(&parse(PLAN), &parse(done.as_str()));
        let meanwhile = done.replace("Count the chairs", "Count the tables");
        assert_eq!(act(&meanwhile, back), Ok(PLAN.replace("Count the chairs", "Count the tables")));
    }

    #[test]
    fn impossible_acts_are_refused_without_changes() {
        let why = |one: TaskAct| act(PLAN, one).expect_err("it is refused");
        assert!(why(change("nobody")).contains("task \"nobody\" is no longer on this board"));
        let answer = TaskAct::MoveTask { id: "q1".into(), column: Some(Column::Done), place: None };
        assert!(why(answer).contains("on its card"));
        assert!(why(TaskAct::RemoveTask { id: "q1".into() }).contains("on its card"));
        let broken = parse(PLAN).tasks.iter().find(|task| task.has_errors).map(|task| task.id.clone());
        let broken = TaskAct::MoveTask { id: broken.unwrap(), column: Some(Column::Done), place: None };
        assert!(why(broken).contains("line 10"), "the line and the reason are told");
        assert!(why(TaskAct::AddTask { line: "  ".into(), below: None }).contains("title"));
        assert!(why(TaskAct::AddTask { line: "\"open".into(), below: None }).contains("quote"));
        let away =
            TaskAct::MoveTask { id: "list".into(), column: None, place: Some(TaskPlace::Before("paint".into())) };
        assert!(why(away).contains("within its list"));
        let question = act(PLAN, TaskAct::AddTask { line: "Free approval_type: x".into(), below: None }).unwrap();
        assert_eq!(question.matches("approval_type").count(), 1, "nobody writes a question here");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn acts_change_only_their_task(picks in proptest::collection::vec(0_usize..11, 1..8), ends_open in any::<bool>()) {
            let mut text = if ends_open { PLAN.trim_end().to_owned() } else { PLAN.to_owned() };
            for pick in picks {
                let Ok(done) = act(&text, acts().swap_remove(pick)) else { continue };
                let back = inverse(&parse(text.as_str()), &parse(done.as_str()));
                prop_assert_eq!(act(&done, back), Ok(text.clone()));
                for line in ["# Plan\r\n", "<!-- mine -->\r\n", "- [ ] \"broken\r\n", "approval_type: terminal_command"] {
                    prop_assert!(done.contains(line), "{:?} is gone from {}", line, done);
                }
                text = done;
            }
        }
    }
}
