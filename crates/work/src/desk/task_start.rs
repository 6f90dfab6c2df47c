//! Turns tasks in files into work: assigns agents, orders the work from the kernel, and writes the results to the
//! files.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use super::message_answers::Hops;
use super::sessions::agent_in;
use super::settings::TaskSettings;
use super::task_assignments::{
    AssignmentStage, CONCLUSION_CHARS, Outcome, STATUS_KEY, TaskAssignment, TaskAssignments, TaskNotice, WORKING,
    task_of, task_words,
};
use super::task_cache::KnownTasks;
use super::task_writes::{TaskWrite, TaskWrites, WriteFor};
use crate::agent::{Agent, Profiles, Roster};
use crate::base::ids::ROOM;
use crate::base::text::{slug, truncate};
use crate::base::{ActivationKey, Author, Id, Problem, RunTag, Seq};
use crate::element::kinds::kind;
use crate::element::{Element, Elements};
use crate::kernel::{Kernel, WorkAnswer, WorkNotice, WorkOrder, WorkTerms, WorkWanted};
use crate::log::events::Warning;
use crate::log::{EventDraft, EventLog};
use crate::mind::Ending;
use crate::schedule::{RoomDate, SimClock, TICKS_PER_SEC};
use crate::workspace::ProblemReport;
use crate::workspace::task_files::task_edit::{TaskEdit, TaskUpdate};
use crate::workspace::task_files::{Status, Task, lint};
use crate::workspace::trust::StartsHeld;
use crate::workspace::vfs::{FileOrder, FileRights};

/// The name in the log under which tasks are given to agents.
const DESK_NAME: &str = "tasks";
/// The prefix of the ids of its work orders.
const ORDERS: &str = "task/";
/// The delay in seconds before refused work is ordered again.
const RETRY_SECS: u64 = 10;

/// The parts of the room that task assignment reads and writes.
#[derive(SystemParam)]
pub(super) struct TaskContext<'w, 's> {
    tasks: Res<'w, KnownTasks>,
    assignments: ResMut<'w, TaskAssignments>,
    writes: ResMut<'w, TaskWrites>,
    settings: Res<'w, TaskSettings>,
    kernel: Res<'w, Kernel>,
    profiles: Res<'w, Profiles>,
    roster: Res<'w, Roster>,
    agents: Query<'w, 's, &'static Agent>,
    elements: Res<'w, Elements>,
    things: Query<'w, 's, &'static Element>,
    clock: Res<'w, SimClock>,
    date: Res<'w, RoomDate>,
    log: ResMut<'w, EventLog>,
    orders: MessageWriter<'w, WorkOrder>,
    files: MessageWriter<'w, FileOrder>,
    notices: MessageWriter<'w, WorkNotice>,
    reports: MessageWriter<'w, ProblemReport>,
}

/// Assigns due tasks, orders the work of marked ones, and closes finished ones.
pub(super) fn start_and_close_tasks(
    mut context: TaskContext,
    mut reported: Local<BTreeMap<String, Vec<Problem>>>,
    held: StartsHeld,
) {
    let are_others = context.profiles.is_changed() || context.roster.is_changed();
    if context.tasks.is_changed() || (are_others && !context.tasks.texts().is_empty()) {
        context.report_problems(&mut reported);
    }
    if held.holds() {
        // Changes are handled when the room continues.
        context.assignments.is_up_to_date &= !context.tasks.is_changed();
        return;
    }
    let is_other = context.tasks.is_changed() || are_others || !context.assignments.is_up_to_date;
    if context.assignments.is_at_work() {
        context.end_work();
        context.begin_work();
    }
    if !is_other {
        return;
    }
    context.assignments.is_up_to_date = true;
    context.take_due();
    context.report_orphans();
    context.assignments.bypass_change_detection().watch(context.tasks.texts());
    for notice in context.assignments.take_notices() {
        context.send_notice(&notice);
    }
    context.keep_sessions();
}

/// Records which sessions were started by messages.
pub(super) fn apply_started_sessions(mut hops: ResMut<Hops>, mut work_answers: MessageReader<WorkAnswer>) {
    for answer in work_answers.read() {
        match answer {
            WorkAnswer::Begun { order, thread, .. } => hops.bypass_change_detection().begun(order, Some(*thread)),
            WorkAnswer::Refused { order, .. } => hops.bypass_change_detection().begun(order, None),
            WorkAnswer::Ended { .. } => {}
        }
    }
}

/// Applies the kernel's answers about the work of tasks.
pub(super) fn apply_work_answers(
    mut assignments: ResMut<TaskAssignments>,
    kernel: Res<Kernel>,
    clock: Res<SimClock>,
    mut work_answers: MessageReader<WorkAnswer>,
) {
    if work_answers.is_empty() || !assignments.is_at_work() {
        work_answers.clear();
        return;
    }
    for answer in work_answers.read() {
        match answer {
            WorkAnswer::Begun { order, thread, .. } => {
                if let Some(assignment) = of_order(&mut assignments, order) {
                    assignment.stage = AssignmentStage::Working { thread: *thread, last: None };
                }
            }
            WorkAnswer::Refused { order, .. } => {
                if let Some(assignment) = of_order(&mut assignments, order) {
                    assignment.stage = AssignmentStage::Ready { not_before: clock.tick() + RETRY_SECS * TICKS_PER_SEC };
                }
            }
            WorkAnswer::Ended { activation, ending, .. } => {
                let is_its = |thread: ActivationKey| {
                    kernel.thread(thread).is_some_and(|thread| thread.earlier.contains(activation))
                };
                for assignment in assignments.iter_mut() {
                    if let AssignmentStage::Working { thread, last } = &mut assignment.stage
                        && is_its(*thread)
                    {
                        *last = Some((*activation, outcome(ending)));
                    }
                }
            }
        }
    }
}

fn of_order<'a>(assignments: &'a mut TaskAssignments, order: &str) -> Option<&'a mut TaskAssignment> {
    let number: u64 = order.strip_prefix(ORDERS)?.rsplit('/').next()?.parse().ok()?;
    assignments
        .iter_mut()
        .find(|assignment| assignment.number == number && assignment.stage == AssignmentStage::Ordered)
}

fn outcome(ending: &Ending) -> Outcome {
    let status = match ending {
        Ending::Completed { .. } => "completed",
        Ending::Aborted { by_person: true, .. } => "stopped",
        _ => "failed",
    };
    Outcome { status: status.to_owned(), text: ending.text().to_owned() }
}

/// The names by which tasks are given to the agents of a room; see [`names_of`].
pub(super) fn names_in(world: &World) -> BTreeMap<String, Id> {
    let here: Vec<&Agent> =
        world.resource::<Roster>().iter().filter_map(|(_, entity)| world.get::<Agent>(entity)).collect();
    names_of(&here, world.resource::<Profiles>())
}

/// All names of agents in lower case, with the ids by which work is ordered.
fn names_of(here: &[&Agent], profiles: &Profiles) -> BTreeMap<String, Id> {
    let mut names: BTreeMap<String, Id> = BTreeMap::new();
    for agent in here {
        names.entry(agent.id.to_lowercase()).or_insert_with(|| agent.id.clone());
    }
    for id in profiles.ids().filter(|id| profiles.is_defined(id)) {
        names.entry(id.to_lowercase()).or_insert_with(|| id.clone());
    }
    for agent in here {
        names.entry(slug(&agent.name)).or_insert_with(|| agent.id.clone());
    }
    names
}

impl TaskContext<'_, '_> {
    fn run(&self) -> String {
        RunTag::of(self.log.run()).to_string()
    }

    /// All names of agents in lower case, with the ids by which work is ordered.
    fn names(&self) -> BTreeMap<String, Id> {
        names_of(&self.roster.agents(&self.agents).collect::<Vec<_>>(), &self.profiles)
    }

    /// Reports the problems of the task files, and withdraws those that were fixed.
    fn report_problems(&mut self, reported: &mut BTreeMap<String, Vec<Problem>>) {
        let names = self.names();
        let found = lint::problems_by_file(self.tasks.texts(), names.keys().cloned());
        let known = std::mem::take(reported);
        for source in known.keys().filter(|path| !found.contains_key(*path)).cloned() {
            self.reports.write(ProblemReport { source, problems: Vec::new() });
        }
        for (path, problems) in found.iter().filter(|(path, problems)| known.get(*path) != Some(problems)) {
            self.reports.write(ProblemReport { source: path.clone(), problems: problems.clone() });
        }
        *reported = found;
    }

    /// Assigns the tasks that are due, and marks them in their files.
    fn take_due(&mut self) {
        if !self.settings.begin {
            return;
        }
        let names = self.names();
        let agent_of = |name: &str| names.get(&name.to_lowercase()).cloned();
        let at_once = self.settings.at_once as usize;
        for assignment in self.assignments.take_due(self.tasks.texts(), &agent_of, at_once) {
            let mut fields = BTreeMap::from([(STATUS_KEY.to_owned(), WORKING.to_owned())]);
            fields.extend(self.date.stamp(&self.clock).map(|now| ("assigned".to_owned(), now)));
            let update = TaskUpdate { fields, ..TaskUpdate::default() };
            self.write(&assignment, WriteFor::Mark(assignment.number), update, self.tasks.cause(&assignment.path));
        }
    }

    /// Reports tasks that are marked as taken but that no agent here works on.
    fn report_orphans(&mut self) {
        let names = self.names();
        let orphans = self.assignments.orphans(self.tasks.texts(), &|name| names.get(&name.to_lowercase()).cloned());
        let problem = |(path, line, task): (&str, usize, &Task)| {
            let what = format!("task {} is marked as in progress, but no agent in this room works on it", task.id);
            let remedy = "if no agent elsewhere does, remove its line `status: working` to start it again";
            Problem::warning(path, what, remedy).at_line(Some(line))
        };
        let problems = orphans.into_iter().map(problem).collect();
        self.reports.write(ProblemReport { source: DESK_NAME.to_owned(), problems });
    }

    fn write(&mut self, assignment: &TaskAssignment, made_for: WriteFor, update: TaskUpdate, cause: Seq) {
        let write = TaskWrite {
            path: assignment.path.clone(),
            edit: TaskEdit::Update { id: assignment.id.clone(), update },
            made_for,
            author: Author(ROOM.into()),
            activation: None,
            rights: FileRights::default(),
            cause,
        };
        let run = self.run();
        self.files.write(self.writes.push(&run, write));
    }

    /// Orders the work of tasks that are marked as taken.
    fn begin_work(&mut self) {
        let now = self.clock.tick();
        let is_due = |assignment: &&TaskAssignment| matches!(assignment.stage, AssignmentStage::Ready { not_before } if now >= not_before);
        let due: Vec<TaskAssignment> = self.assignments.iter().filter(is_due).cloned().collect();
        let run = self.run();
        for assignment in due {
            let task = task_of(self.tasks.texts(), &assignment.path, &assignment.id)
                .filter(|task| task.status == Status::Open);
            let words = task.and_then(|_| task_words(self.tasks.texts(), &assignment));
            let Some(words) = words else {
                // The task was done or removed by someone else.
                self.assignments.remove(assignment.number);
                continue;
            };
            let from = assignment.asked_in.as_deref().and_then(|session| self.agent_of_session(session));
            let wanted = WorkWanted {
                order: format!("{ORDERS}{run}/{}", assignment.number).into(),
                agent: assignment.agent.clone(),
                task: words,
                by: DESK_NAME.into(),
                terms: WorkTerms { is_kept: true, from, at: self.board_of(&assignment.path), ..WorkTerms::default() },
                cause: self.tasks.cause(&assignment.path),
            };
            self.orders.write(WorkOrder::Begin(Box::new(wanted)));
            if let Some(assignment) = self.assignments.iter_mut().find(|one| one.number == assignment.number) {
                assignment.stage = AssignmentStage::Ordered;
            }
        }
    }

    /// Closes the tasks whose work has ended, including all work started by it.
    fn end_work(&mut self) {
        let mut over = Vec::new();
        for assignment in self.assignments.iter() {
            let AssignmentStage::Working { thread, last } = &assignment.stage else { continue };
            let lost = || Outcome { status: "stopped".to_owned(), text: "its work is no longer known".to_owned() };
            let outcome = match self.kernel.thread(*thread) {
                None => Some(last.clone().map_or_else(lost, |(_, outcome)| outcome)),
                // Work that ended in this tick is reported later in the tick.
                Some(known) => last
                    .clone()
                    .filter(|(ended, _)| known.earlier.last() == Some(ended) && self.kernel.has_ended(*thread))
                    .map(|(_, outcome)| outcome),
            };
            over.extend(outcome.map(|outcome| (assignment.clone(), *thread, outcome)));
        }
        for (assignment, thread, outcome) in over {
            self.orders.write(WorkOrder::Release { thread });
            self.assignments.conclude(assignment.number, &outcome);
            let update = self.closing(
                &outcome,
                task_of(self.tasks.texts(), &assignment.path, &assignment.id).map(|task| task.status),
            );
            self.write(&assignment, WriteFor::Close(assignment.number), update, self.tasks.cause(&assignment.path));
        }
    }

    /// The update that closes a task in its file.
    fn closing(&self, outcome: &Outcome, now: Option<Status>) -> TaskUpdate {
        let is_done = outcome.status == "completed";
        let is_skipped = now == Some(Status::Skipped);
        let status = if is_skipped { "skipped" } else { &outcome.status };
        let mut fields = BTreeMap::from([(STATUS_KEY.to_owned(), status.to_owned())]);
        let key = if is_done { "conclusion" } else { "why" };
        fields.insert(key.to_owned(), truncate(&outcome.text, CONCLUSION_CHARS));
        if is_done && !is_skipped {
            fields.extend(self.date.stamp(&self.clock).map(|now| ("completed".to_owned(), now)));
        }
        let status = (is_done && !is_skipped).then(|| "completed".to_owned());
        TaskUpdate { status, fields, ..TaskUpdate::default() }
    }

    /// The id of the first element in the room that shows this task file.
    fn board_of(&self, path: &str) -> Option<Id> {
        let mut shown = self.elements.iter().filter_map(|(_, entity)| self.things.get(entity).ok());
        let is_its = |element: &&Element| {
            element.file.as_deref() == Some(path) && kind(&element.kind).is_some_and(|kind| kind.task_file)
        };
        shown.find(is_its).map(|element| element.id.clone())
    }

    /// The agent in the room to which a session belongs.
    fn agent_of_session(&self, session: &str) -> Option<Id> {
        if let Some(thread) = self.kernel.session_named(session).and_then(|key| self.kernel.thread(key)) {
            return Some(thread.agent.clone());
        }
        let agent = agent_in(session)?;
        let here = self.roster.agents(&self.agents);
        here.into_iter().find(|one| slug(&one.id) == agent).map(|one| one.id.clone())
    }

    /// Delivers a notice to the session that requested the task, or in a new session of its agent if the session has
    /// ended.
    fn send_notice(&mut self, notice: &TaskNotice) {
        let cause = Seq(0);
        if let Some(thread) = self.kernel.session_named(&notice.session) {
            let (text, from) = (notice.text.clone(), notice.from.clone());
            self.notices.write(WorkNotice { thread, text, from, from_work: None, cause });
        } else if let Some(agent) = self.agent_of_session(&notice.session) {
            let wanted = WorkWanted {
                order: format!("told/{}", notice.session).into(),
                agent,
                task: notice.text.clone(),
                by: notice.from.clone(),
                terms: WorkTerms::default(),
                cause,
            };
            self.orders.write(WorkOrder::Begin(Box::new(wanted)));
        } else {
            let what = format!(
                "nobody reads session {} any more, so this was not delivered: {}",
                notice.session,
                truncate(&notice.text, 200)
            );
            self.log.write(EventDraft::of(&Warning::new(what)));
        }
    }

    /// Keeps the sessions in which an agent waits for a task, and releases all others.
    fn keep_sessions(&mut self) {
        let threads =
            self.assignments.waiting_sessions().into_iter().filter_map(|session| self.kernel.session_named(session));
        let wanted: BTreeSet<ActivationKey> = threads.collect();
        if wanted == self.assignments.kept {
            return;
        }
        for thread in wanted.difference(&self.assignments.kept) {
            self.orders.write(WorkOrder::Keep { thread: *thread });
        }
        for thread in self.assignments.kept.difference(&wanted) {
            self.orders.write(WorkOrder::Release { thread: *thread });
        }
        self.assignments.kept = wanted;
    }
}
