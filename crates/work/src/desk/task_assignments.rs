//! Assignments of tasks in files to agents: which tasks are due, who works on them, and the notices to those who
//! requested them. Pure: takes the files and the agents in the room and returns the actions.
//!
//! A task is due once: when it is open and valid, names an agent and no person, has no `status`, and all its
//! dependencies are completed. It is marked as taken in its file before its work starts, so a marked task is never
//! started again, whatever else is lost. A person restarts it by removing that line.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};

use crate::base::hash::content_hash;
use crate::base::text::truncate;
use crate::base::{ActivationKey, Id};
use crate::mind::headings::{TASK_BEFORE, TASK_PLACE, TASK_RESULT};
use crate::mind::untrusted_text::{name, push_fenced, quoted};
use crate::workspace::layout::APPROVALS_FILE;
pub use crate::workspace::task_files::columns::{STATUS_KEY, WORKING};
use crate::workspace::task_files::columns::{field_text, is_for_person};
use crate::workspace::task_files::permission::waits_for_person;
use crate::workspace::task_files::task_edit::ASKED_IN;
use crate::workspace::task_files::{Status, Task, TaskFile};

/// The maximum length in characters of a conclusion in the file.
pub const CONCLUSION_CHARS: usize = 2_000;
/// The maximum number of characters quoted from each earlier result.
const DEPENDENCY_RESULT_CHARS: usize = 1_500;
/// The number of these characters that the fence around it may take.
const FENCE_CHARS: usize = 20;
/// The maximum number of characters of a task's title in a message about it.
const TITLE_CHARS: usize = 300;
/// The maximum number of tasks that are watched for agents that requested them.
const MAX_WATCHED: usize = 10_000;

/// The stage of an assignment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AssignmentStage {
    /// The task is being marked as taken in its file.
    Marking,
    /// The task is marked; its work can be ordered from this tick on.
    Ready {
        /// The tick.
        not_before: u64,
    },
    /// The work is ordered.
    Ordered,
    /// An agent is working on the task.
    Working {
        /// The session of the work.
        thread: ActivationKey,
        /// The activation of this session that ended last, and its outcome.
        last: Option<(ActivationKey, Outcome)>,
    },
    /// The work has ended, and the file is being updated.
    Closing,
    /// The file could not be changed. The assignment is retried when the file changes.
    Blocked {
        /// Hash of the file's text.
        seen: u64,
    },
    /// The work has ended, but the file could not be updated.
    Over,
}

/// The outcome of a task's work.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The status in the file: `completed`, `failed` or `stopped`.
    pub status: String,
    /// The agent's final text, or the reason why there is none.
    pub text: String,
}

/// The assignment of a task to an agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TaskAssignment {
    /// The number that identifies the assignment.
    pub number: u64,
    /// The path of the task file.
    pub path: String,
    /// The id of the task in its file.
    pub id: String,
    /// The title of the task when it was assigned.
    pub title: String,
    /// The id of the agent or profile that the task is assigned to.
    pub agent: Id,
    /// The id of the session that requested the task.
    pub asked_in: Option<String>,
    /// The current stage.
    pub stage: AssignmentStage,
}

/// An unfinished task whose result a session is waiting for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct AwaitedTask {
    path: String,
    id: String,
    title: String,
    session: String,
}

/// A message to the session that requested a task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TaskNotice {
    /// The id of the session.
    pub session: String,
    /// The id of the agent that did the task.
    pub from: Id,
    /// The text of the message.
    pub text: String,
}

/// All assignments. Part of the saved world; written by this layer only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskAssignments {
    all: Vec<TaskAssignment>,
    asked: Vec<AwaitedTask>,
    told: Vec<TaskNotice>,
    /// Sessions that are kept because their agent is waiting for a task.
    pub(super) kept: BTreeSet<ActivationKey>,
    newest: u64,
    /// Whether nothing changed since the last check.
    #[serde(skip)]
    pub(super) is_up_to_date: bool,
}

/// The parsed task files of a workspace, by path.
pub type TaskTexts = BTreeMap<String, TaskFile>;

/// Whether a task is marked as taken or finished.
fn is_taken(task: &Task) -> bool {
    field_text(task, STATUS_KEY).is_some_and(|status| !matches!(status.to_lowercase().as_str(), "open" | "todo"))
}

/// The tasks that a task depends on. They are searched in its own file first.
fn dependencies<'a>(files: &'a TaskTexts, path: &str, task: &Task) -> Vec<Option<&'a Task>> {
    let in_file = |file: &'a TaskFile, id: &str| file.tasks.iter().find(|task| task.id == id);
    let find = |id: &str| {
        let own = files.get(path).and_then(|file| in_file(file, id));
        own.or_else(|| files.values().find_map(|file| in_file(file, id)))
    };
    task.dependencies().map(find).collect()
}

fn are_dependencies_completed(files: &TaskTexts, path: &str, task: &Task) -> bool {
    // A task in a file starts once every task that it depends on is completed.
    rule!("tasks-wait-for-their-dependencies");
    dependencies(files, path, task)
        .into_iter()
        .all(|before| before.is_some_and(|before| before.status == Status::Completed))
}

/// The complete message to an agent about its task.
pub fn task_words(files: &TaskTexts, assignment: &TaskAssignment) -> Option<String> {
    let task = task_of(files, &assignment.path, &assignment.id)?;
    let mut text = task.title.text.clone();
    if let Some(description) = field_text(task, "description") {
        text += &format!("\n\n{description}");
    }
    for before in dependencies(files, &assignment.path, task).into_iter().flatten() {
        if let Some(conclusion) = field_text(before, "conclusion") {
            let conclusion = truncate(conclusion, DEPENDENCY_RESULT_CHARS - FENCE_CHARS);
            let (title, id) = (quoted(&before.title.text, TITLE_CHARS), name(&before.id));
            text += &format!("\n\n{TASK_BEFORE} {title} ({id}). Its result:\n");
            push_fenced(&mut text, &conclusion, DEPENDENCY_RESULT_CHARS);
        }
    }
    text += &format!("\n\n{TASK_PLACE}{} in {}.", name(&assignment.id), path_in_prompt(&assignment.path));
    text += match &assignment.asked_in {
        Some(_) => " Your final answer is its result; whoever asked for it receives it.",
        None => " Your final answer is its result.",
    };
    Some(text)
}

/// A path as it is written in a prompt: unchanged if it is plain, otherwise quoted and on one line.
fn path_in_prompt(path: &str) -> String {
    let is_plain = path.chars().all(|letter| letter.is_alphanumeric() || "/-_.".contains(letter));
    if is_plain { path.to_owned() } else { quoted(path, TITLE_CHARS) }
}

/// The task with this id in a file.
pub fn task_of<'a>(files: &'a TaskTexts, path: &str, id: &str) -> Option<&'a Task> {
    files.get(path)?.tasks.iter().find(|task| task.id == id)
}

impl TaskAssignments {
    /// The assignments.
    pub fn iter(&self) -> impl Iterator<Item = &TaskAssignment> {
        self.all.iter()
    }

    /// Whether any assignment is in progress or any notice is pending.
    pub fn is_at_work(&self) -> bool {
        let is_inactive = |assignment: &TaskAssignment| {
            matches!(assignment.stage, AssignmentStage::Blocked { .. } | AssignmentStage::Over)
        };
        !self.told.is_empty() || !self.all.iter().all(is_inactive)
    }

    /// Whether anything will happen without a turn of an agent or a person. `is_over` returns whether all work of a
    /// session has ended.
    pub fn can_continue_unattended(&self, now: u64, is_over: impl Fn(ActivationKey) -> bool) -> bool {
        let moves = |assignment: &TaskAssignment| match &assignment.stage {
            AssignmentStage::Marking | AssignmentStage::Ordered | AssignmentStage::Closing => true,
            AssignmentStage::Ready { not_before } => now >= *not_before,
            AssignmentStage::Working { thread, .. } => is_over(*thread),
            AssignmentStage::Blocked { .. } | AssignmentStage::Over => false,
        };
        !self.told.is_empty() || self.all.iter().any(moves)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut TaskAssignment> {
        self.is_up_to_date = false;
        self.all.iter_mut()
    }

    fn of(&self, path: &str, id: &str) -> Option<&TaskAssignment> {
        self.all.iter().find(|assignment| assignment.path == path && assignment.id == id)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut TaskAssignment> {
        self.is_up_to_date = false;
        self.all.iter_mut().find(|assignment| assignment.number == number)
    }

    /// Assigns the tasks that are due, up to `at_once` at a time, and returns the new assignments. The caller must
    /// mark the tasks in their files.
    pub fn take_due(
        &mut self,
        files: &TaskTexts,
        agent_of: &dyn Fn(&str) -> Option<Id>,
        at_once: usize,
    ) -> Vec<TaskAssignment> {
        let is_other =
            |path: &str, seen: u64| files.get(path).is_none_or(|file| content_hash(file.text.as_bytes()) != seen);
        self.all.retain(|assignment| match &assignment.stage {
            AssignmentStage::Blocked { seen } => !is_other(&assignment.path, *seen),
            AssignmentStage::Over => task_of(files, &assignment.path, &assignment.id).is_some(),
            _ => true,
        });
        let is_inactive = |assignment: &&TaskAssignment| {
            matches!(assignment.stage, AssignmentStage::Blocked { .. } | AssignmentStage::Over)
        };
        let places = at_once.saturating_sub(self.all.len() - self.all.iter().filter(is_inactive).count());
        if places == 0 {
            return Vec::new();
        }
        let mut due = Vec::new();
        for (path, file) in files.iter().filter(|(path, _)| path.as_str() != APPROVALS_FILE) {
            for task in &file.tasks {
                let is_open = task.status == Status::Open && !task.has_errors && !is_taken(task);
                if !is_open || is_for_person(task) || waits_for_person(task) || self.of(path, &task.id).is_some() {
                    continue;
                }
                let agent = task.stakeholders.iter().find_map(|name| agent_of(&name.text));
                let Some(agent) = agent.filter(|_| are_dependencies_completed(files, path, task)) else { continue };
                let urgency = task.priority.as_ref().map_or(u8::MAX, |(priority, _)| *priority as u8);
                due.push((urgency, path, task, agent));
            }
        }
        due.sort_by_key(|(urgency, ..)| *urgency);
        let taken = due.into_iter().take(places).map(|(_, path, task, agent)| {
            self.newest += 1;
            TaskAssignment {
                number: self.newest,
                path: path.clone(),
                id: task.id.clone(),
                title: task.title.text.clone(),
                agent,
                asked_in: field_text(task, ASKED_IN).map(str::to_owned),
                stage: AssignmentStage::Marking,
            }
        });
        let taken: Vec<TaskAssignment> = taken.collect();
        self.all.extend(taken.iter().cloned());
        taken
    }

    /// The tasks that are marked as taken but have no assignment here, each with its path and line. Their assignments
    /// were lost or belong to another room.
    pub fn orphans<'a>(
        &self,
        files: &'a TaskTexts,
        agent_of: &dyn Fn(&str) -> Option<Id>,
    ) -> Vec<(&'a str, usize, &'a Task)> {
        let tasks = |(path, file): (&'a String, &'a TaskFile)| {
            file.tasks.iter().map(move |task| (path.as_str(), file.position(task.head.start).0, task))
        };
        let all = files.iter().flat_map(tasks);
        let is_orphan = |(path, _, task): &(&str, usize, &Task)| {
            task.status == Status::Open
                && field_text(task, STATUS_KEY) == Some(WORKING)
                && self.of(path, &task.id).is_none()
                && task.stakeholders.iter().any(|name| agent_of(&name.text).is_some())
        };
        all.filter(is_orphan).collect()
    }

    /// Checks the awaited tasks, and queues notices about those that have ended.
    pub fn watch(&mut self, files: &TaskTexts) {
        let mut asked = std::mem::take(&mut self.asked);
        asked.retain(|one| {
            let Some(task) = task_of(files, &one.path, &one.id) else {
                self.notify(one, "user".into(), "was removed from its file.".to_owned());
                return false;
            };
            if task.status == Status::Open || self.of(&one.path, &one.id).is_some() {
                return true;
            }
            let by = task.stakeholders.first().map_or("user", |name| &name.text);
            let said = field_text(task, "conclusion").or_else(|| field_text(task, "note"));
            let said = said.map(|said| format!(":\n{said}")).unwrap_or_else(|| ".".to_owned());
            let did = if task.status == Status::Skipped { "will not be done" } else { "is done" };
            self.notify(one, by.into(), format!("{did}{said}"));
            false
        });
        let known: BTreeSet<(String, String)> = asked.iter().map(|one| (one.path.clone(), one.id.clone())).collect();
        for (path, file) in files.iter().filter(|(path, _)| path.as_str() != APPROVALS_FILE) {
            for task in file.tasks.iter().filter(|task| task.status == Status::Open) {
                let Some(session) = field_text(task, ASKED_IN) else { continue };
                let is_new = !known.contains(&(path.clone(), task.id.clone())) && self.of(path, &task.id).is_none();
                if is_new && task.has_written_id && asked.len() < MAX_WATCHED {
                    let (path, id, title) = (path.clone(), task.id.clone(), task.title.text.clone());
                    asked.push(AwaitedTask { path, id, title, session: session.to_owned() });
                }
            }
        }
        self.asked = asked;
    }

    fn notify(&mut self, asked: &AwaitedTask, from: Id, what: String) {
        let (id, title) = (name(&asked.id), quoted(&asked.title, TITLE_CHARS));
        let text = format!("{TASK_RESULT}{id} {title} {what}");
        self.told.push(TaskNotice { session: asked.session.clone(), from, text });
    }

    /// Removes and returns the pending notices.
    pub fn take_notices(&mut self) -> Vec<TaskNotice> {
        std::mem::take(&mut self.told)
    }

    /// The unfinished tasks that sessions are waiting for: path, id and session.
    pub(super) fn awaited(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let asked = self.asked.iter().map(|one| (one.path.as_str(), one.id.as_str(), one.session.as_str()));
        let assigned =
            self.all.iter().filter_map(|one| Some((one.path.as_str(), one.id.as_str(), one.asked_in.as_deref()?)));
        asked.chain(assigned)
    }

    /// The ids of the sessions that are waiting for a task.
    pub fn waiting_sessions(&self) -> BTreeSet<&str> {
        let asked = self.asked.iter().map(|one| one.session.as_str());
        asked.chain(self.all.iter().filter_map(|assignment| assignment.asked_in.as_deref())).collect()
    }

    /// Applies the result of marking a task as taken. `marked` is the id of the task, or why the file with the hash
    /// `seen` could not be changed.
    pub fn apply_marked(&mut self, number: u64, marked: Result<String, String>, seen: u64) {
        let Some(assignment) = self.get_mut(number).filter(|assignment| assignment.stage == AssignmentStage::Marking)
        else {
            return;
        };
        match marked {
            Ok(id) => (assignment.id, assignment.stage) = (id, AssignmentStage::Ready { not_before: 0 }),
            Err(_) => assignment.stage = AssignmentStage::Blocked { seen },
        }
    }

    /// Ends the work of a task and notifies the session that requested it.
    pub fn conclude(&mut self, number: u64, outcome: &Outcome) {
        let Some(assignment) = self.get_mut(number) else { return };
        assignment.stage = AssignmentStage::Closing;
        let assignment = assignment.clone();
        self.asked.retain(|one| one.path != assignment.path || one.id != assignment.id);
        let Some(session) = assignment.asked_in else { return };
        let (path, id, title) = (assignment.path, assignment.id, assignment.title);
        let did = match outcome.status.as_str() {
            "completed" => format!("was done by {}. Its result:\n", assignment.agent),
            status => format!("has no result (work of {}: {status}):\n", assignment.agent),
        };
        let asked = AwaitedTask { path, id, title, session };
        self.notify(&asked, assignment.agent, format!("{did}{}", outcome.text));
    }

    /// Removes an assignment whose task was closed in its file, or marks it as over if the file could not be changed.
    pub fn apply_closed(&mut self, number: u64, why_not: Option<String>) {
        match why_not {
            None => self.all.retain(|assignment| assignment.number != number),
            Some(_) => drop(self.get_mut(number).map(|assignment| assignment.stage = AssignmentStage::Over)),
        }
        self.is_up_to_date = false;
    }

    /// Removes an assignment whose task was done or removed by others before its work began.
    pub(super) fn remove(&mut self, number: u64) {
        self.all.retain(|assignment| assignment.number != number);
        self.is_up_to_date = false;
    }
}

#[cfg(test)]
#[path = "task_assignments_tests.rs"]
mod tests;
