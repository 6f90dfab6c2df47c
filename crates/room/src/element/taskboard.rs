//! The task board: it shows a task file, and its acts change that file. Its only content is the text of the file, byte
//! for byte.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::act::{ActContext, ActKind, ElementAct, News, Offer, element_acts};
use super::change::{ChangeKind, ElementChange, ItemNews, Wake};
use super::content::{Content, Reader};
use super::kind::Kind;
use super::pin::read_text;
use super::task_act::{TaskAct, applied, inverse};
use crate::base::{Id, Problem, Urgency, text};
use crate::workspace::task_files::columns::{field_text, is_question};
use crate::workspace::task_files::{Column, Task, TaskFile, carry_over, parse};

/// The words of changes of a task board.
pub mod changed {
    /// A task was added.
    pub const ADDED: &str = "task_added";
    /// The text or attributes of a task changed.
    pub const EDITED: &str = "task_edited";
    /// A task was started.
    pub const TAKEN: &str = "task_taken";
    /// A task is done.
    pub const DONE: &str = "task_done";
    /// A task was skipped.
    pub const SKIPPED: &str = "task_skipped";
    /// A task was reopened.
    pub const REOPENED: &str = "task_reopened";
    /// A task was removed.
    pub const REMOVED: &str = "task_removed";
    /// A note was added to a task, such as its result.
    pub const NOTED: &str = "task_noted";
    /// Only lines around the tasks, or their order, changed.
    pub const LINES: &str = "lines_edited";
    /// Too many tasks changed to list them one by one.
    pub const MANY: &str = "tasks_changed";
}

/// The kind of task boards.
pub static KIND: Kind = Kind {
    purpose: "Tasks from a file, to do, assign and track",
    colour: [0x0f, 0x76, 0x6e],
    task_file: true,
    file_begins: BEGINNING,
    acts: &[
        ActKind {
            offer: Some(Offer { button: "Add task", argument: "line", hint: "A @agent #tag Title of the task" }),
            ..ActKind::new("add_task")
        },
        ActKind { news: News::Never, ..ActKind::new("follow_notes") },
    ],
    changes: &[
        ChangeKind {
            says: "added a task to",
            ..ChangeKind::new(changed::ADDED, Wake::Everyone(Urgency::Read)).news(ItemNews::Added)
        },
        ChangeKind {
            says: "changed a task on",
            ..ChangeKind::new(changed::EDITED, Wake::Everyone(Urgency::Read)).news(ItemNews::Edited)
        },
        ChangeKind { says: "marked a task as in progress on", ..ChangeKind::new(changed::TAKEN, Wake::Nobody) },
        ChangeKind {
            says: "completed a task on",
            ..ChangeKind::new(changed::DONE, Wake::Nobody).news(ItemNews::Edited)
        },
        ChangeKind {
            says: "skipped a task on",
            ..ChangeKind::new(changed::SKIPPED, Wake::Nobody).news(ItemNews::Edited)
        },
        ChangeKind {
            says: "reopened a task on",
            ..ChangeKind::new(changed::REOPENED, Wake::Everyone(Urgency::Read)).news(ItemNews::Edited)
        },
        ChangeKind {
            says: "removed a task from",
            ..ChangeKind::new(changed::REMOVED, Wake::Nobody).news(ItemNews::Removed)
        },
        ChangeKind { says: "added a note to a task on", ..ChangeKind::new(changed::NOTED, Wake::Nobody) },
        ChangeKind { says: "edited the file of", ..ChangeKind::new(changed::LINES, Wake::Nobody) },
        ChangeKind { says: "changed many tasks on", ..ChangeKind::new(changed::MANY, Wake::Everyone(Urgency::Read)) },
    ],
    ..Kind::new(
        "taskboard",
        "task board",
        |entry, place| {
            let mut problems = Vec::new();
            let text = entry.get("text").map(read_text).unwrap_or(Some(String::new()));
            if text.is_none() {
                let remedy = "name a task file instead, as file: tasks/work.task.md";
                problems.push(Problem::error(place, "the value of text is not text", remedy));
            }
            (Box::new(TaskBoard::new(text.unwrap_or_default())), problems)
        },
        |text| Box::new(TaskBoard::new(text)),
    )
};

/// The initial text of a new task file.
pub const BEGINNING: &str = "## TODO\n";
/// The maximum number of changes that are described one by one.
const MAX_CHANGES: usize = 40;
/// How many tasks are described to a reader.
const TASKS_DESCRIBED: usize = 40;
/// The maximum length of a shown title, in characters.
const TITLE_CHARS: usize = 160;

/// Acts that result from changes of a board's file, by their author.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
enum FollowAct {
    /// Sets the text of the file.
    FollowFile { text: String },
    /// Sets the text of the file if only notes of tasks changed.
    FollowNotes { text: String },
    /// Reports that a change of a task on the board could not be carried over to the new text of the file.
    TellNotKept { id: String, why: String },
}

element_acts!(FollowAct);

/// A task file on a board.
#[derive(Clone, Debug)]
pub struct TaskBoard {
    file: Arc<TaskFile>,
    /// The author of each task, if it names one.
    authors: Vec<Id>,
}

impl TaskBoard {
    fn new(text: impl Into<String>) -> Self {
        let file = parse(text);
        let authors = file.tasks.iter().map(|task| field_text(task, "created_by").unwrap_or_default().into()).collect();
        Self { file: Arc::new(file), authors }
    }

    fn set(&mut self, text: String) -> Vec<ElementChange> {
        if text == self.file.text {
            return Vec::new();
        }
        let newer = Self::new(text);
        let changes = changes_between(&self.file, &newer.file);
        *self = newer;
        changes
    }
}

/// The changes between two states of a file, task by task.
fn changes_between(older: &TaskFile, newer: &TaskFile) -> Vec<ElementChange> {
    let by_id = |file: &TaskFile| -> BTreeMap<String, usize> {
        file.tasks.iter().enumerate().rev().map(|(place, task)| (task.id.clone(), place)).collect()
    };
    let (before, after) = (by_id(older), by_id(newer));
    let change = |word: &'static str, task: &Task| {
        ElementChange::of_item(word, &task.id.as_str().into()).because(text::truncate(&task.title.text, TITLE_CHARS))
    };
    let mut changes = Vec::new();
    for (place, task) in newer.tasks.iter().enumerate().filter(|(place, task)| after[&task.id] == *place) {
        let word = match before.get(&task.id) {
            None => Some(changed::ADDED),
            Some(old) => word_of(older, &older.tasks[*old], newer, &newer.tasks[place]),
        };
        changes.extend(word.map(|word| change(word, task)));
    }
    let gone = older.tasks.iter().filter(|task| !after.contains_key(&task.id));
    changes.extend(gone.map(|task| change(changed::REMOVED, task)));
    match changes.len() {
        0 => vec![ElementChange::new(changed::LINES)],
        1..=MAX_CHANGES => changes,
        _ => vec![ElementChange::new(changed::MANY)],
    }
}

/// The word of the most important change of one task.
fn word_of(older: &TaskFile, old: &Task, newer: &TaskFile, new: &Task) -> Option<&'static str> {
    let names = |names: &[crate::workspace::task_files::model::Name]| -> Vec<String> {
        names.iter().map(|name| name.text.to_string()).collect()
    };
    let letter = |task: &Task| task.priority.as_ref().map(|(priority, _)| *priority);
    let (from, to) = (Column::of(old), Column::of(new));
    let is_edited = old.title.text != new.title.text
        || letter(old) != letter(new)
        || names(&old.stakeholders) != names(&new.stakeholders)
        || names(&old.tags) != names(&new.tags)
        || field_text(old, "depends_on") != field_text(new, "depends_on")
        || field_text(old, "description") != field_text(new, "description");
    if from != to {
        match to {
            Column::Done => return Some(changed::DONE),
            Column::Skipped => return Some(changed::SKIPPED),
            Column::InWork => return Some(changed::TAKEN),
            Column::Open | Column::NeedsPerson if from.is_closed() => return Some(changed::REOPENED),
            Column::Open | Column::NeedsPerson => {}
        }
    }
    if is_edited {
        return Some(changed::EDITED);
    }
    (own_lines(older, old) != own_lines(newer, new)).then_some(changed::NOTED)
}

fn own_lines<'a>(file: &'a TaskFile, task: &Task) -> &'a str {
    file.text.get(task.head.start..task.own_end).unwrap_or_default()
}

/// Whether changes are only notes, which are not news to those who know the tasks.
fn are_notes(changes: &[ElementChange]) -> bool {
    changes.iter().all(|change| [changed::TAKEN, changed::NOTED, changed::LINES].contains(&change.as_str()))
}

fn follow(older: &TaskFile, text: &str) -> Vec<ElementAct> {
    if older.text == text {
        return Vec::new();
    }
    let changes = changes_between(older, &parse(text));
    let text = text.to_owned();
    let act = if are_notes(&changes) { FollowAct::FollowNotes { text } } else { FollowAct::FollowFile { text } };
    vec![act.into()]
}

impl Content for TaskBoard {
    fn to_scene(&self) -> Map<String, Value> {
        Map::from_iter([("text".to_owned(), json!(self.file.text))])
    }

    fn to_markdown(&self) -> String {
        self.file.text.clone()
    }

    fn acts_to(&self, newer: &dyn Content) -> Vec<ElementAct> {
        newer.tasks().map_or_else(Vec::new, |newer| follow(&self.file, &newer.text))
    }

    fn acts_since(&self, base: &dyn Content, newer: &dyn Content) -> Vec<ElementAct> {
        let Some((base, newer)) = base.tasks().zip(newer.tasks()) else { return Vec::new() };
        // Changes made on the board meanwhile are carried over to the new text of the file.
        let carried = carry_over(&base.text, &self.file.text, &newer.text);
        let not_kept = carried.left.into_iter().map(|(id, why)| FollowAct::TellNotKept { id, why }.into());
        follow(&self.file, &carried.text).into_iter().chain(not_kept).collect()
    }

    fn acts_back_to(&self, before: &dyn Content) -> Vec<ElementAct> {
        let other = before.tasks().filter(|before| before.text != self.file.text);
        other.map_or_else(Vec::new, |before| vec![inverse(before, &self.file).into()])
    }

    fn apply(&mut self, act: &ElementAct, context: &ActContext<'_>) -> Result<Vec<ElementChange>, String> {
        match act.read() {
            Some(FollowAct::FollowFile { text } | FollowAct::FollowNotes { text }) => return Ok(self.set(text)),
            Some(FollowAct::TellNotKept { id, why }) => {
                return Err(format!("the change to task {id:?} on the board was not saved: {why}"));
            }
            None => {}
        }
        match act.read::<TaskAct>() {
            Some(act) if context.by.is_user() => applied(&self.file, &act).map(|text| self.set(text)),
            Some(_) => Err("agents change tasks with create_task and update_task".to_owned()),
            None => Err("a task board only accepts tasks".to_owned()),
        }
    }

    fn tasks(&self) -> Option<&Arc<TaskFile>> {
        Some(&self.file)
    }

    fn item(&self, id: &str) -> Option<(&Id, &str)> {
        let at = self.file.tasks.iter().position(|task| task.id == id)?;
        Some((&self.authors[at], &self.file.tasks[at].title.text))
    }

    fn prompt_text(&self, reader: &Reader) -> String {
        let columns: Vec<Column> = self.file.tasks.iter().map(Column::of).collect();
        let is_told = |task: &Task| !is_question(task);
        let open = self.file.tasks.iter().zip(&columns).filter(|(task, column)| !column.is_closed() && is_told(task));
        let mut lines = String::new();
        for (task, column) in open.clone().take(TASKS_DESCRIBED) {
            let _ = writeln!(lines, "{}", task_line(&self.file, task, *column, reader));
        }
        let left_out = open.count().saturating_sub(TASKS_DESCRIBED);
        if left_out > 0 {
            let _ = writeln!(lines, "… and {left_out} more open tasks");
        }
        if lines.is_empty() {
            lines.push_str("(no open tasks)\n");
        }
        let questions =
            self.file.tasks.iter().zip(&columns).filter(|(task, column)| !column.is_closed() && !is_told(task));
        match questions.count() {
            0 => {}
            1 => lines.push_str("One question waits for the person\n"),
            many => drop(writeln!(lines, "{many} questions wait for the person")),
        }
        let done = columns.iter().filter(|column| **column == Column::Done).count();
        if done > 0 {
            let _ = writeln!(lines, "Done: {done}");
        }
        lines.truncate(lines.trim_end().len());
        lines
    }

    fn summary(&self, _reader: &Reader, max_chars: usize) -> String {
        let titles: Vec<String> = self
            .file
            .tasks
            .iter()
            .filter(|task| !Column::of(task).is_closed() && !is_question(task))
            .map(|task| text::one_line(&task.title.text))
            .collect();
        let tasks = if titles.len() == 1 { "open task" } else { "open tasks" };
        text::truncate(&format!("{} {tasks}: {}", titles.len(), titles.join(" · ")), max_chars)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn Content> {
        Box::new(self.clone())
    }
}

/// A task as a line: its id, its status and assignees, its dependencies, and its title.
fn task_line(file: &TaskFile, task: &Task, column: Column, reader: &Reader) -> String {
    let mut about = vec![
        match column {
            Column::InWork => "in progress",
            Column::NeedsPerson => "needs the person",
            _ => "open",
        }
        .to_owned(),
    ];
    about.extend(task.priority.as_ref().map(|(priority, _)| format!("priority {}", priority.letter())));
    let names: Vec<String> = task.stakeholders.iter().map(|name| reader.called(&name.text)).collect();
    about.push(if names.is_empty() { "nobody has it".to_owned() } else { format!("for {}", names.join(" and ")) });
    let waits = open_dependencies(file, task);
    if !waits.is_empty() {
        about.push(format!("after {}", waits.join(", ")));
    }
    let title = text::truncate(&text::one_line(&task.title.text), TITLE_CHARS);
    format!("{} ({}): {title}", text::one_line(&task.id), about.join(", "))
}

/// The ids of unfinished tasks that a task waits for, as far as this file knows.
pub fn open_dependencies<'a>(file: &TaskFile, task: &'a Task) -> Vec<&'a str> {
    let is_done = |id: &&str| file.tasks.iter().any(|task| task.id == *id && Column::of(task) == Column::Done);
    task.dependencies().filter(|id| !is_done(id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Author, MessageKey, RunTag};
    use crate::element::ElementSettings;

    const PLAN: &str = "\u{feff}# Plan\r\n\r\n- [ ] A @ada \"Count\"\r\n  id: count\r\n- Paint  \r\n  depends_on: count\r\n\
        - [x] \"Sweep\"\r\n- [ ] A @human `May ada run it?`\r\n  id: q\r\n  approval_type: terminal_command\r\n";

    fn apply(board: &mut TaskBoard, act: impl Into<ElementAct>, by: &Author) -> Result<Vec<String>, String> {
        let limits = ElementSettings::default();
        let message = MessageKey::new(0, RunTag::default());
        let context = ActContext { by, now_secs: 0.0, limits: &limits, message };
        let changes = board.apply(&act.into(), &context)?;
        Ok(changes.iter().map(|change| change.as_str().to_owned()).collect())
    }

    #[test]
    fn a_board_contains_its_file_byte_for_byte() {
        let board = TaskBoard::new(PLAN);
        assert_eq!(board.to_markdown(), PLAN);
        let saved = (KIND.from_scene)(&board.to_saved(), "").0;
        assert_eq!(saved.to_markdown(), PLAN);
        assert!((KIND.faults)(PLAN).is_empty());
    }

    #[test]
    fn changes_of_the_file_and_on_the_board_are_merged() {
        let mut board = TaskBoard::new(PLAN);
        let done = TaskAct::MoveTask { id: "count".into(), column: Some(Column::Done), place: None };
        assert_eq!(apply(&mut board, done, &Author::user()), Ok(vec![changed::DONE.to_owned()]));
        let theirs = TaskBoard::new(PLAN.replace("- Paint  ", "- @bo Paint  "));
        let acts = board.acts_since(&TaskBoard::new(PLAN), &theirs);
        let changes = apply(&mut board, acts[0].clone(), &Author("bo".into()));
        assert_eq!(changes, Ok(vec![changed::EDITED.to_owned()]));
        assert_eq!(board.to_markdown(), theirs.to_markdown().replace("[ ] A @ada", "[x] A @ada"));
        assert!(board.acts_to(&board.clone()).is_empty());
        // Acts on a task that is gone from the file are reported.
        let gone = TaskBoard::new(PLAN.replace("- [ ] A @ada \"Count\"\r\n  id: count\r\n", "- new\r\n"));
        let mut board = TaskBoard::new(PLAN);
        let done = TaskAct::MoveTask { id: "count".into(), column: Some(Column::Done), place: None };
        apply(&mut board, done, &Author::user()).expect("it can be done");
        let acts = board.acts_since(&TaskBoard::new(PLAN), &gone);
        let told: Vec<_> = acts.into_iter().map(|act| apply(&mut board, act, &Author::user())).collect();
        assert!(
            told.last().is_some_and(|told| told
                .as_ref()
                .is_err_and(|why| why.contains("\"count\" on the board was not saved"))),
            "{told:?}"
        );
        assert_eq!(board.to_markdown(), gone.to_markdown());
    }

    #[test]
    fn notes_are_no_news_and_other_changes_are() {
        let board = TaskBoard::new(PLAN);
        let word = |text: String| board.acts_to(&TaskBoard::new(text))[0].as_str().to_owned();
        assert_eq!(word(PLAN.replace("  id: count\r\n", "  id: count\r\n  status: working\r\n")), "follow_notes");
        assert_eq!(word(PLAN.replace("# Plan", "# Our plan")), "follow_notes");
        assert_eq!(word(PLAN.replace("\"Count\"", "\"Count all\"")), "follow_file");
        assert_eq!(word(format!("{PLAN}- new\r\n")), "follow_file");
        let many: String = (0..100).map(|number| format!("- task {number}\n")).collect();
        let told = changes_between(&parse(PLAN), &parse(many.as_str()));
        assert_eq!(told.iter().map(ElementChange::as_str).collect::<Vec<_>>(), [changed::MANY]);
    }

    #[test]
    fn agents_see_the_assignees_and_cannot_change_the_board() {
        let mut board = TaskBoard::new(PLAN);
        let called = |id: &str| if id == "ada" { "Ada".into() } else { id.into() };
        let text = board.prompt_text(&Reader { id: "bo", called: &called });
        assert_eq!(
            text,
            "count (open, priority A, for Ada): Count\npaint (open, nobody has it, after count): Paint\n\
             One question waits for the person\nDone: 1"
        );
        assert_eq!(board.summary(&Reader::of_id("bo"), 100), "2 open tasks: Count · Paint");
        let remove = TaskAct::RemoveTask { id: "count".into() };
        assert!(apply(&mut board, remove, &Author("bo".into())).is_err_and(|why| why.contains("update_task")));
        assert_eq!(board.to_markdown(), PLAN);
        let many: String = (0..100).map(|number| format!("- task {number}\n")).collect();
        assert_eq!(TaskBoard::new(many).prompt_text(&Reader::of_id("bo")).lines().count(), TASKS_DESCRIBED + 1);
    }
}
