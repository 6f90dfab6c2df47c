//! The approvals file without a room: parses a person's answers, and updates the text. Pure.

use std::collections::BTreeMap;

use super::approval_task::{PENDING, QuestionTask, keys};
use crate::base::{AllowScope, AnswerPlace, Problem};
use crate::workspace::layout::APPROVALS_FILE;
use crate::workspace::task_files::edit::{self, Change, EditError};
use crate::workspace::task_files::issue::Code;
use crate::workspace::task_files::model::Value;
use crate::workspace::task_files::{self, Status, Task, TaskFile};

/// The beginning of a new file.
const BEGINNING: &str = "# Approvals

Agents ask for your approval here. Put an x between the brackets to allow it, or a - to refuse
it, and save. To add a comment, write `because: TEXT` below the task. Answered approvals stay here.

## TODO

";
/// The maximum size of the file in bytes. Above it, the oldest decisions are removed; they are kept in the file's
/// versions.
const MAX_BYTES: usize = 700 * 1024;
/// The size to which the file is reduced, in bytes.
const BYTES_KEPT: usize = 500 * 1024;

/// A person's answer in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MarkedAnswer {
    /// The id of the question.
    pub id: String,
    /// The line of its task, from 1.
    pub line: usize,
    /// Whether it is allowed.
    pub allow: bool,
    /// The scope of the permission.
    pub scope: AllowScope,
    /// The person's comment.
    pub because: Option<String>,
    /// The form values, by field name.
    pub filled: BTreeMap<String, String>,
}

/// The outcome of a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A person allowed it.
    Approved,
    /// A person refused it.
    Refused,
    /// It was withdrawn before it was answered.
    Withdrawn,
}

impl Outcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Refused => "refused",
            Self::Withdrawn => "withdrawn",
        }
    }

    fn mark(self) -> Status {
        match self {
            Self::Approved => Status::Completed,
            Self::Refused | Self::Withdrawn => Status::Skipped,
        }
    }
}

/// The decision about a closed question.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Decided {
    /// The outcome.
    pub outcome: Outcome,
    /// The scope of a permission.
    pub scope: AllowScope,
    /// The person's comment.
    pub because: Option<String>,
    /// Where it was answered, if it was.
    pub answered_in: Option<AnswerPlace>,
    /// The time of the decision, if known.
    pub time: Option<String>,
}

/// The parsed answers of an approvals file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ParsedAnswers {
    /// The answers to pending questions.
    pub ticked: Vec<MarkedAnswer>,
    /// The marks that are not accepted, with the reasons.
    pub problems: Vec<Problem>,
    /// Whether the file can be written to.
    pub is_usable: bool,
}

/// Parses the answers in a file. `pending` contains the questions of this room, and `scene` is the name of its scene.
pub fn read(text: &str, pending: &BTreeMap<String, &QuestionTask>, scene: &str) -> ParsedAnswers {
    let file = task_files::parse(text);
    if let Some(line) = merge_mark(text) {
        let what = "it contains merge conflict markers; answers are ignored until you resolve them";
        let problem = Problem::error(APPROVALS_FILE, what, Code::ConflictMarker.remedy()).at_line(Some(line));
        return ParsedAnswers { problems: vec![problem], ..ParsedAnswers::default() };
    }
    let mut parsed = ParsedAnswers { is_usable: true, ..ParsedAnswers::default() };
    for (index, task) in file.tasks.iter().enumerate() {
        let is_question = task.field(keys::TYPE).is_some() || pending.contains_key(&task.id);
        if task.status == Status::Open {
            parsed.problems.extend(pending.get(&task.id).and_then(|_| mistyped_mark(&file, index)));
            continue;
        }
        if !is_question {
            continue;
        }
        match answer(&file, index, pending, scene) {
            Ok(Some(ticked)) => parsed.ticked.push(ticked),
            Ok(None) => {}
            Err(problem) => parsed.problems.push(problem),
        }
    }
    for id in pending.keys().filter(|id| !has_task(&file, id)) {
        if let Some(line) = line_of_id(text, id) {
            let what = format!("the task {id:?} is not read as one, so it is not answered");
            let remedy =
                "begin its first line with \"- [x] \" to allow it or \"- [-] \" to refuse it, at the left margin";
            parsed.problems.push(Problem::error(APPROVALS_FILE, what, remedy).at_line(Some(line)));
        }
    }
    parsed
}

/// The problem of a question whose mark is not one of those that are read, such as `[ x ]` or `[✓]`.
fn mistyped_mark(file: &TaskFile, index: usize) -> Option<Problem> {
    let issue = file.issues.iter().find(|issue| issue.task == Some(index) && issue.code == Code::MistypedStatus)?;
    let task = &file.tasks[index];
    let rest = file.text.get(issue.at..task.head.end)?;
    let mark = rest.find(']').map_or(rest, |end| &rest[..=end]);
    let what = format!("{mark} is not a mark, so {:?} is not answered", task.id);
    let line = file.position(issue.at).0;
    Some(Problem::error(APPROVALS_FILE, what, "write [x] to allow it, or [-] to refuse it").at_line(Some(line)))
}

/// The line, from 1, of the first unresolved merge marker anywhere in the file. Text between markers may have been
/// written by an agent.
fn merge_mark(text: &str) -> Option<usize> {
    let is_mark = |line: &str| {
        ["<<<<<<<", ">>>>>>>"]
            .iter()
            .any(|sign| line.strip_prefix(sign).is_some_and(|rest| rest.trim_end().is_empty() || rest.starts_with(' ')))
    };
    text.lines().position(is_mark).map(|line| line + 1)
}

/// The answer in a marked task; `None` if it was decided before or belongs to another room.
fn answer(
    file: &TaskFile,
    index: usize,
    pending: &BTreeMap<String, &QuestionTask>,
    scene: &str,
) -> Result<Option<MarkedAnswer>, Problem> {
    let task = &file.tasks[index];
    let line = file.position(task.head.start).0;
    let problem = |what: String, remedy: &str| Problem::error(APPROVALS_FILE, what, remedy).at_line(Some(line));
    let value = |key: &str| task.field(key).map(|field| field.value.text().trim().to_owned());
    let Some(asked) = pending.get(&task.id) else {
        let is_open = value(keys::STATUS).as_deref() == Some(PENDING);
        let is_of_another = value(keys::SCENE).is_some_and(|other| other != scene);
        if !is_open || is_of_another {
            return Ok(None);
        }
        let what = format!("the approval {:?} is no longer open or never existed; the mark is ignored", task.id);
        return Err(problem(what, "remove the task, or list the open approvals: workshop approvals list"));
    };
    if file.tasks.iter().filter(|other| written_id(other) == Some(&task.id)).count() > 1 {
        let what = format!("two tasks have the id {:?}; both are ignored", task.id);
        return Err(problem(what, "remove the wrong one, or answer in the window"));
    }
    if let Some(issue) = file.error_of(index) {
        let what = format!("{} ({}); the task is ignored", issue.what, issue.code.as_str());
        return Err(Problem::error(APPROVALS_FILE, what, issue.code.remedy()).at_line(Some(file.position(issue.at).0)));
    }
    if let Some(key) = asked.first_difference(task) {
        // A mark only counts if the task still says word for word what was asked.
        rule!("marks-on-edited-approvals-are-ignored");
        let what = format!("the {key} of {:?} was edited; the mark is ignored", task.id);
        return Err(problem(what, "remove the task to be asked again, or answer in the window"));
    }
    if asked.is_partial && task.status == Status::Completed {
        let what = format!("{:?} is too long to be shown whole in this file; the mark is ignored", task.id);
        let remedy = "see all of it and answer in the window, or with: workshop approvals show ID";
        return Err(problem(what, remedy));
    }
    let scope = AllowScope::parse(value(keys::REACH).as_deref().unwrap_or_default()).map_err(|error| {
        let what = format!("{}: {error}; the mark is ignored", keys::REACH);
        problem(what, "write once, task, always, or a time such as: until 18:00, or remove the line")
    })?;
    let filled = asked.fills.iter().filter_map(|name| Some((name.clone(), value(&format!("{}{name}", keys::FILL))?)));
    // A person answers an approval in its file with `[x]` to allow it or `[-]` to refuse it.
    rule!("a-mark-in-the-file-answers");
    Ok(Some(MarkedAnswer {
        id: task.id.clone(),
        line,
        allow: task.status == Status::Completed,
        scope,
        because: value(keys::BECAUSE).filter(|word| !word.is_empty()),
        filled: filled.collect(),
    }))
}

fn written_id(task: &Task) -> Option<&String> {
    task.has_written_id.then_some(&task.id)
}

/// An updated file, and the entries that could not be written to it.
#[derive(Clone, PartialEq, Debug)]
pub struct UpdatedFile {
    /// The text of the file.
    pub text: String,
    /// The entries that are missing in the file, and why.
    pub problems: Vec<Problem>,
}

impl UpdatedFile {
    fn take(&mut self, written: Result<String, EditError>) {
        match written {
            Ok(text) => self.text = text,
            Err(error) => {
                let what = format!("it is missing approvals or answers: {error}");
                let remedy = "fix the task; approvals are in the window, and answers in the log";
                self.problems.push(Problem::warning(APPROVALS_FILE, what, remedy));
            }
        }
    }
}

/// Adds pending questions and decisions to the file. Only the tasks of these questions are changed. If a decided
/// question has no task, one is added only if its decision is due to be written.
pub fn bring_up_to_date<'a>(
    text: &str,
    pending: impl Iterator<Item = &'a QuestionTask>,
    decided: impl Iterator<Item = (&'a QuestionTask, &'a Decided, bool)>,
) -> UpdatedFile {
    let mut renewed = UpdatedFile { text: text.to_owned(), problems: Vec::new() };
    for asked in pending {
        let file = task_files::parse(&*renewed.text);
        // A task that a person damaged is not written a second time.
        if !has_task(&file, &asked.id) && line_of_id(&renewed.text, &asked.id).is_none() {
            renewed.take(with_task(&file, asked));
        }
    }
    for (asked, decision, is_due) in decided {
        let file = task_files::parse(&*renewed.text);
        if has_task(&file, &asked.id) {
            renewed.take(decided_text(&file, &asked.id, decision));
        } else if is_due {
            let written = with_task(&file, asked);
            renewed.take(written.and_then(|text| decided_text(&task_files::parse(text), &asked.id, decision)));
        }
    }
    renewed.text = without_the_oldest(renewed.text);
    renewed
}

/// Marks the open questions of this scene that the room does not know as withdrawn.
pub fn withdraw(text: String, scene: &str, is_known: impl Fn(&str) -> bool) -> String {
    let file = task_files::parse(&*text);
    let says = |task: &Task, key: &str, value: &str| task.field(key).is_some_and(|field| field.value.text() == value);
    let forgotten = file.tasks.iter().filter(|task| {
        task.status == Status::Open
            && says(task, keys::STATUS, PENDING)
            && says(task, keys::SCENE, scene)
            && task.field(keys::TYPE).is_some()
            && !is_known(&task.id)
    });
    let withdrawn =
        Decided { outcome: Outcome::Withdrawn, scope: AllowScope::Once, because: None, answered_in: None, time: None };
    forgotten.fold(text.clone(), |text, task| {
        // A task with an error made by a person is left as it is.
        decided_text(&task_files::parse(&*text), &task.id, &withdrawn).unwrap_or(text)
    })
}

/// Whether the file contains the decision about this question.
pub fn contains_decision(file: &TaskFile, id: &str) -> bool {
    let task = file.tasks.iter().find(|task| task.id == id);
    let status = task.and_then(|task| task.field(keys::STATUS)).map(|field| field.value.text());
    status.is_some_and(|status| status != PENDING)
}

fn has_task(file: &TaskFile, id: &str) -> bool {
    file.tasks.iter().any(|task| task.id == id)
}

/// The line, from 1, with the id of a question as its task has it.
fn line_of_id(text: &str, id: &str) -> Option<usize> {
    let is_it = |line: &str| line.trim().strip_prefix("id:").is_some_and(|written| written.trim() == id);
    text.lines().position(is_it).map(|line| line + 1)
}

fn with_task(file: &TaskFile, asked: &QuestionTask) -> Result<String, EditError> {
    let is_new = file.text.trim().is_empty();
    let beginning = is_new.then(|| task_files::parse(BEGINNING));
    edit::insert(beginning.as_ref().unwrap_or(file), None, &asked.task()).map(|(text, _)| text)
}

/// Writes a decision to its task. The text is unchanged if there is no such task or the decision is there already.
fn decided_text(file: &TaskFile, id: &str, decided: &Decided) -> Result<String, EditError> {
    let Some(index) = file.tasks.iter().position(|task| task.id == id) else { return Ok(file.text.clone()) };
    if contains_decision(file, id) {
        return Ok(file.text.clone());
    }
    let set = |key: &str, value: &str| Change::Field(key.to_owned(), Some(Value::Text(value.into())));
    let mut changes = vec![Change::Status(decided.outcome.mark()), set(keys::STATUS, decided.outcome.as_str())];
    if let Some(place) = decided.answered_in {
        changes.push(set("decided_by", place.decided_by()));
        changes.push(set("decided_in", place.as_str()));
    }
    changes.extend(decided.time.as_deref().map(|time| set("decided", time)));
    if !decided.scope.is_once() {
        changes.push(set(keys::REACH, &decided.scope.to_text()));
    }
    changes.extend(decided.because.as_deref().map(|word| set(keys::BECAUSE, word)));
    edit::update(file, &BTreeMap::from([(index, changes)])).map(|updated| updated.text)
}

/// Removes the oldest decisions if the file is too large.
fn without_the_oldest(text: String) -> String {
    if text.len() <= MAX_BYTES {
        return text;
    }
    let file = task_files::parse(&*text);
    let mut surplus = text.len() - BYTES_KEPT;
    let is_over = |task: &Task| {
        let status = task.field(keys::STATUS).map(|field| field.value.text());
        task.field(keys::TYPE).is_some() && matches!(status, Some("approved" | "refused" | "withdrawn"))
    };
    let mut gone = std::collections::BTreeSet::new();
    for (index, task) in file.tasks.iter().enumerate() {
        if surplus == 0 {
            break;
        }
        if is_over(task) && !task.has_errors && task.next == index + 1 {
            surplus = surplus.saturating_sub(task.span.len());
            gone.insert(index);
        }
    }
    edit::delete(&file, &gone, false).unwrap_or(text)
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
