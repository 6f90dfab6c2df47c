//! Tasks in files that become work by themselves: which are due, who works on which, and what the requester is told.
//! Pure: takes the files and the agents in the room, returns what to do.
//!
//! A task is due once: when it is open, valid, names an agent and no person, has no `status` of its own, and all its
//! dependencies are completed. First its file is marked as taken, then the work starts; so a marked task is never
//! started again, whatever else is lost. A person who removes that line restarts it.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};

use super::task_edits::ASKED_IN;
use crate::base::hash::content_hash;
use crate::base::text::truncate;
use crate::base::{ActivationKey, Id};
use crate::mind::headings::{TASK_BEFORE, TASK_PLACE};
use crate::workspace::task_files::columns::is_for_person;
pub use crate::workspace::task_files::columns::{STATUS_KEY, WORKING};
use crate::workspace::task_files::permission::waits_for_person;
use crate::workspace::task_files::{Status, Task, TaskFile};

/// The file of questions to a person; its tasks are nobody's work.
const APPROVALS: &str = "tasks/approvals.task.md";
/// The number of characters of a conclusion that are written to the file.
pub const CONCLUSION_CHARS: usize = 2_000;
/// How many characters of each earlier result a task quotes.
const BEFORE_CHARS: usize = 1_500;
/// How many tasks are watched for the agents that asked for them.
const WATCHED_AT_MOST: usize = 10_000;

/// The stage of a task that is assigned to an agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AssignmentStage {
    /// Its file must be updated to show that it is taken.
    Marking,
    /// Its file says so; the work is to begin, not before this tick.
    Ready {
        /// The tick.
        not_before: u64,
    },
    /// The work is ordered.
    Ordered,
    /// An agent has it.
    Working {
        /// In this session.
        thread: ActivationKey,
        /// The last piece of work of it that ended, and how.
        last: Option<(ActivationKey, Outcome)>,
    },
    /// It is over, and its file is to say so.
    Closing,
    /// Its file could not be changed while it said this, by hash.
    Blocked {
        /// What it said.
        seen: u64,
    },
    /// It is over, and its file cannot say so.
    Over,
}

/// How work ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// `completed`, `failed` or `stopped`.
    pub status: String,
    /// The agent's last words, or why there are none.
    pub text: String,
}

/// A task that is assigned to an agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TaskAssignment {
    /// Names it here.
    pub number: u64,
    /// Its file.
    pub path: String,
    /// Its id in that file.
    pub id: String,
    /// Its title when it was taken.
    pub title: String,
    /// Whose it is: the id of an agent, or of a profile.
    pub agent: Id,
    /// The session in which it was asked for.
    pub asked_in: Option<String>,
    /// How far it is.
    pub stage: AssignmentStage,
}

/// A task for whose result somebody waits, until it is over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct AwaitedTask {
    path: String,
    id: String,
    title: String,
    session: String,
}

/// A message to the requester of a task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TaskNotice {
    /// In which session.
    pub session: String,
    /// By whom the task was done.
    pub from: Id,
    /// What.
    pub text: String,
}

/// All assigned tasks. Part of the saved world; written by this floor only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskAssignments {
    all: Vec<TaskAssignment>,
    asked: Vec<AwaitedTask>,
    told: Vec<TaskNotice>,
    /// Sessions that are kept because their agent waits for a task.
    pub(super) kept: BTreeSet<ActivationKey>,
    newest: u64,
    /// Whether nothing changed since the last look.
    #[serde(skip)]
    pub(super) is_looked_at: bool,
}

/// The task files of a workspace, by path.
pub type TaskTexts = BTreeMap<String, TaskFile>;

/// What a key of a task says.
fn field_text(task: &Task, key: &str) -> Option<String> {
    task.field(key).map(|field| field.value.text().trim().to_owned()).filter(|text| !text.is_empty())
}

/// Whether a task says that it was taken, or how that went.
fn is_taken(task: &Task) -> bool {
    field_text(task, STATUS_KEY).is_some_and(|status| !matches!(status.to_lowercase().as_str(), "open" | "todo"))
}

/// The tasks that a task depends on: in its own file, else in another.
fn before<'a>(files: &'a TaskTexts, path: &str, task: &Task) -> Vec<Option<&'a Task>> {
    let in_file = |file: &'a TaskFile, id: &str| file.tasks.iter().find(|task| task.id == id);
    let find = |id: &str| {
        let own = files.get(path).and_then(|file| in_file(file, id));
        own.or_else(|| files.values().find_map(|file| in_file(file, id)))
    };
    task.dependencies().map(find).collect()
}

fn is_free(files: &TaskTexts, path: &str, task: &Task) -> bool {
    before(files, path, task).into_iter().all(|before| before.is_some_and(|before| before.status == Status::Completed))
}

/// The complete message to an agent about its task.
pub fn task_words(files: &TaskTexts, duty: &TaskAssignment) -> Option<String> {
    let task = task_of(files, &duty.path, &duty.id)?;
    let mut text = task.title.text.clone();
    if let Some(description) = field_text(task, "description") {
        text += &format!("\n\n{description}");
    }
    for before in before(files, &duty.path, task).into_iter().flatten() {
        if let Some(conclusion) = field_text(before, "conclusion") {
            let conclusion = truncate(&conclusion, BEFORE_CHARS);
            text += &format!("\n\n{TASK_BEFORE} “{}” ({}). Its result:\n{conclusion}", before.title.text, before.id);
        }
    }
    text += &format!("\n\n{TASK_PLACE}{} in {}.", duty.id, duty.path);
    text += match &duty.asked_in {
        Some(_) => " Your final answer is its result; whoever asked for it receives it.",
        None => " Your final answer is its result.",
    };
    Some(text)
}

/// A task of a file by its id.
pub fn task_of<'a>(files: &'a TaskTexts, path: &str, id: &str) -> Option<&'a Task> {
    files.get(path)?.tasks.iter().find(|task| task.id == id)
}

impl TaskAssignments {
    /// The assigned tasks.
    pub fn iter(&self) -> impl Iterator<Item = &TaskAssignment> {
        self.all.iter()
    }

    /// Whether anything is about to happen, or goes on.
    pub fn is_at_work(&self) -> bool {
        let is_still =
            |duty: &TaskAssignment| matches!(duty.stage, AssignmentStage::Blocked { .. } | AssignmentStage::Over);
        !self.told.is_empty() || !self.all.iter().all(is_still)
    }

    /// Whether anything happens at once, without a turn of an agent or a person: `now` is the tick, and `is_over` says
    /// whether nothing goes on in a session.
    pub fn goes_on_by_itself(&self, now: u64, is_over: impl Fn(ActivationKey) -> bool) -> bool {
        let moves = |duty: &TaskAssignment| match &duty.stage {
            AssignmentStage::Marking | AssignmentStage::Ordered | AssignmentStage::Closing => true,
            AssignmentStage::Ready { not_before } => now >= *not_before,
            AssignmentStage::Working { thread, .. } => is_over(*thread),
            AssignmentStage::Blocked { .. } | AssignmentStage::Over => false,
        };
        !self.told.is_empty() || self.all.iter().any(moves)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut TaskAssignment> {
        self.is_looked_at = false;
        self.all.iter_mut()
    }

    fn of(&self, path: &str, id: &str) -> Option<&TaskAssignment> {
        self.all.iter().find(|duty| duty.path == path && duty.id == id)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut TaskAssignment> {
        self.is_looked_at = false;
        self.all.iter_mut().find(|duty| duty.number == number)
    }

    /// Takes the tasks that are due and for which there is a place; their files are to say so.
    pub fn take_due(
        &mut self,
        files: &TaskTexts,
        agent_of: &dyn Fn(&str) -> Option<Id>,
        at_once: usize,
    ) -> Vec<TaskAssignment> {
        let is_other =
            |path: &str, seen: u64| files.get(path).is_none_or(|file| content_hash(file.text.as_bytes()) != seen);
        self.all.retain(|duty| match &duty.stage {
            AssignmentStage::Blocked { seen } => !is_other(&duty.path, *seen),
            AssignmentStage::Over => task_of(files, &duty.path, &duty.id).is_some(),
            _ => true,
        });
        let is_still =
            |duty: &&TaskAssignment| matches!(duty.stage, AssignmentStage::Blocked { .. } | AssignmentStage::Over);
        let places = at_once.saturating_sub(self.all.len() - self.all.iter().filter(is_still).count());
        if places == 0 {
            return Vec::new();
        }
        let mut due = Vec::new();
        for (path, file) in files.iter().filter(|(path, _)| path.as_str() != APPROVALS) {
            for task in &file.tasks {
                let is_open = task.status == Status::Open && !task.has_errors && !is_taken(task);
                if !is_open || is_for_person(task) || waits_for_person(task) || self.of(path, &task.id).is_some() {
                    continue;
                }
                let agent = task.stakeholders.iter().find_map(|name| agent_of(&name.text));
                let Some(agent) = agent.filter(|_| is_free(files, path, task)) else { continue };
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
                asked_in: field_text(task, ASKED_IN),
                stage: AssignmentStage::Marking,
            }
        });
        let taken: Vec<TaskAssignment> = taken.collect();
        self.all.extend(taken.iter().cloned());
        taken
    }

    /// The tasks whose files say that an agent has them while none here does: who had them was lost, or they are those
    /// of another room.
    /// Each with its path and its line.
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
                && field_text(task, STATUS_KEY).as_deref() == Some(WORKING)
                && self.of(path, &task.id).is_none()
                && task.stakeholders.iter().any(|name| agent_of(&name.text).is_some())
        };
        all.filter(is_orphan).collect()
    }

    /// Checks the tasks whose results are awaited, and prepares the notices about those that have ended.
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
        for (path, file) in files.iter().filter(|(path, _)| path.as_str() != APPROVALS) {
            for task in file.tasks.iter().filter(|task| task.status == Status::Open) {
                let Some(session) = field_text(task, ASKED_IN) else { continue };
                let is_new = !known.contains(&(path.clone(), task.id.clone())) && self.of(path, &task.id).is_none();
                if is_new && task.has_written_id && asked.len() < WATCHED_AT_MOST {
                    let (path, id, title) = (path.clone(), task.id.clone(), task.title.text.clone());
                    asked.push(AwaitedTask { path, id, title, session });
                }
            }
        }
        self.asked = asked;
    }

    fn notify(&mut self, asked: &AwaitedTask, from: Id, what: String) {
        let text = format!("Your task {} “{}” {what}", asked.id, asked.title);
        self.told.push(TaskNotice { session: asked.session.clone(), from, text });
    }

    /// Returns the pending notices and marks them as delivered.
    pub fn take_notices(&mut self) -> Vec<TaskNotice> {
        std::mem::take(&mut self.told)
    }

    /// The sessions whose agents wait for a task.
    pub fn awaited_in(&self) -> BTreeSet<&str> {
        let asked = self.asked.iter().map(|one| one.session.as_str());
        asked.chain(self.all.iter().filter_map(|duty| duty.asked_in.as_deref())).collect()
    }

    /// Applies the result of marking a task as taken in its file: it was marked, or the file with the hash `seen` could
    /// not be changed.
    pub fn was_marked(&mut self, number: u64, marked: Result<String, String>, seen: u64) {
        let Some(duty) = self.get_mut(number).filter(|duty| duty.stage == AssignmentStage::Marking) else { return };
        match marked {
            Ok(id) => (duty.id, duty.stage) = (id, AssignmentStage::Ready { not_before: 0 }),
            Err(_) => duty.stage = AssignmentStage::Blocked { seen },
        }
    }

    /// Ends the work of a task and notifies the agent that requested it.
    pub fn conclude(&mut self, number: u64, outcome: &Outcome) {
        let Some(duty) = self.get_mut(number) else { return };
        duty.stage = AssignmentStage::Closing;
        let duty = duty.clone();
        self.asked.retain(|one| one.path != duty.path || one.id != duty.id);
        let Some(session) = duty.asked_in else { return };
        let (path, id, title) = (duty.path, duty.id, duty.title);
        let did = match outcome.status.as_str() {
            "completed" => format!("was done by {}. Its result:\n", duty.agent),
            status => format!("has no result (work of {}: {status}): ", duty.agent),
        };
        let asked = AwaitedTask { path, id, title, session };
        self.notify(&asked, duty.agent, format!("{did}{}", outcome.text));
    }

    /// The file of a task says that it is over, or cannot.
    pub fn was_closed(&mut self, number: u64, why_not: Option<String>) {
        match why_not {
            None => self.all.retain(|duty| duty.number != number),
            Some(_) => drop(self.get_mut(number).map(|duty| duty.stage = AssignmentStage::Over)),
        }
        self.is_looked_at = false;
    }

    /// A task was done or taken away by others before its work began.
    pub(super) fn give_up(&mut self, number: u64) {
        self.all.retain(|duty| duty.number != number);
        self.is_looked_at = false;
    }
}

#[cfg(test)]
#[path = "task_assignments_tests.rs"]
mod tests;
