//! Turns tasks in files into work: assigns agents, orders the work from the kernel, and writes the results to the
//! files.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use super::sessions::{Hops, agent_in};
use super::settings::TaskSettings;
use super::task_assignments::{
    AssignmentStage, CONCLUSION_CHARS, Outcome, STATUS_KEY, TaskAssignment, TaskAssignments, TaskNotice, WORKING,
    task_of, task_words,
};
use super::task_cache::KnownTasks;
use super::task_edits::TaskEdit;
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
use crate::schedule::{RoomDate, SimClock, Standstill, TICKS_PER_SEC};
use crate::tools::TaskUpdate;
use crate::workspace::ProblemReport;
use crate::workspace::task_files::{Status, Task, lint};
use crate::workspace::vfs::FileRights;

/// The name in the log under which tasks are given to agents.
const DESK_NAME: &str = "tasks";
/// The prefix of the ids of its work orders.
const ORDERS: &str = "task/";
/// The delay in seconds before refused work is ordered again.
const AGAIN_SECS: u64 = 10;

/// The parts of the room that task assignment reads and writes.
#[derive(SystemParam)]
pub(super) struct TaskContext<'w, 's> {
    tasks: Res<'w, KnownTasks>,
    duties: ResMut<'w, TaskAssignments>,
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
    news: MessageWriter<'w, WorkNotice>,
    reports: MessageWriter<'w, ProblemReport>,
}

/// Assigns due tasks, orders the work of marked ones, and closes finished ones.
pub(super) fn start_and_close_tasks(
    mut desk: TaskContext,
    mut told: Local<BTreeMap<String, Vec<Problem>>>,
    standstill: Option<Res<Standstill>>,
) {
    let are_others = desk.profiles.is_changed() || desk.roster.is_changed();
    if desk.tasks.is_changed() || (are_others && !desk.tasks.texts().is_empty()) {
        desk.report_problems(&mut told);
    }
    if standstill.is_some_and(|standstill| standstill.holds()) {
        // Changes are handled when the room continues.
        desk.duties.is_looked_at &= !desk.tasks.is_changed();
        return;
    }
    let is_other = desk.tasks.is_changed() || are_others || !desk.duties.is_looked_at;
    if desk.duties.is_at_work() {
        desk.end_work();
        desk.begin_work();
    }
    if !is_other {
        return;
    }
    desk.duties.is_looked_at = true;
    desk.take_due();
    desk.report_orphans();
    desk.duties.bypass_change_detection().watch(desk.tasks.texts());
    for told in desk.duties.take_notices() {
        desk.send_notice(&told);
    }
    desk.keep_sessions();
}

/// Records which sessions were started by messages.
pub(super) fn apply_started_sessions(mut hops: ResMut<Hops>, mut news: MessageReader<WorkAnswer>) {
    for news in news.read() {
        match news {
            WorkAnswer::Begun { order, thread, .. } => hops.bypass_change_detection().begun(order, Some(*thread)),
            WorkAnswer::Refused { order, .. } => hops.bypass_change_detection().begun(order, None),
            WorkAnswer::Ended { .. } => {}
        }
    }
}

/// Applies the kernel's answers about the work of tasks.
pub(super) fn apply_work_answers(
    mut duties: ResMut<TaskAssignments>,
    kernel: Res<Kernel>,
    clock: Res<SimClock>,
    mut news: MessageReader<WorkAnswer>,
) {
    if news.is_empty() || !duties.is_at_work() {
        news.clear();
        return;
    }
    for news in news.read() {
        match news {
            WorkAnswer::Begun { order, thread, .. } => {
                if let Some(duty) = of_order(&mut duties, order) {
                    duty.stage = AssignmentStage::Working { thread: *thread, last: None };
                }
            }
            WorkAnswer::Refused { order, .. } => {
                if let Some(duty) = of_order(&mut duties, order) {
                    duty.stage = AssignmentStage::Ready { not_before: clock.tick() + AGAIN_SECS * TICKS_PER_SEC };
                }
            }
            WorkAnswer::Ended { activation, ending, .. } => {
                let is_its = |thread: ActivationKey| {
                    kernel.thread(thread).is_some_and(|thread| thread.earlier.contains(activation))
                };
                for duty in duties.iter_mut() {
                    if let AssignmentStage::Working { thread, last } = &mut duty.stage
                        && is_its(*thread)
                    {
                        *last = Some((*activation, outcome(ending)));
                    }
                }
            }
        }
    }
}

fn of_order<'a>(duties: &'a mut TaskAssignments, order: &str) -> Option<&'a mut TaskAssignment> {
    let number: u64 = order.strip_prefix(ORDERS)?.rsplit('/').next()?.parse().ok()?;
    duties.iter_mut().find(|duty| duty.number == number && duty.stage == AssignmentStage::Ordered)
}

fn outcome(ending: &Ending) -> Outcome {
    let status = match ending {
        Ending::Completed { .. } => "completed",
        Ending::Aborted { by_person: true, .. } => "stopped",
        _ => "failed",
    };
    Outcome { status: status.to_owned(), text: ending.words().to_owned() }
}

impl TaskContext<'_, '_> {
    fn run(&self) -> String {
        RunTag::of(self.log.run()).to_string()
    }

    /// All names of agents in lower case, with the ids by which work is ordered.
    fn names(&self) -> BTreeMap<String, Id> {
        let mut names: BTreeMap<String, Id> = BTreeMap::new();
        let here: Vec<&Agent> = self.roster.iter().filter_map(|(_, entity)| self.agents.get(entity).ok()).collect();
        for agent in &here {
            names.entry(agent.id.to_lowercase()).or_insert_with(|| agent.id.clone());
        }
        for id in self.profiles.ids().filter(|id| self.profiles.is_defined(id)) {
            names.entry(id.to_lowercase()).or_insert_with(|| id.clone());
        }
        for agent in &here {
            names.entry(slug(&agent.name)).or_insert_with(|| agent.id.clone());
        }
        names
    }

    /// Reports the problems of the task files, and withdraws those that were fixed.
    fn report_problems(&mut self, told: &mut BTreeMap<String, Vec<Problem>>) {
        let names = self.names();
        let found = lint::problems_by_file(self.tasks.texts(), names.keys().cloned());
        let known = std::mem::take(told);
        for source in known.keys().filter(|path| !found.contains_key(*path)).cloned() {
            self.reports.write(ProblemReport { source, problems: Vec::new() });
        }
        for (path, problems) in found.iter().filter(|(path, problems)| known.get(*path) != Some(problems)) {
            self.reports.write(ProblemReport { source: path.clone(), problems: problems.clone() });
        }
        *told = found;
    }

    /// Assigns the tasks that are due, and marks them in their files.
    fn take_due(&mut self) {
        if !self.settings.begin {
            return;
        }
        let names = self.names();
        let agent_of = |name: &str| names.get(&name.to_lowercase()).cloned();
        let at_once = self.settings.at_once as usize;
        for duty in self.duties.take_due(self.tasks.texts(), &agent_of, at_once) {
            let mut fields = BTreeMap::from([(STATUS_KEY.to_owned(), WORKING.to_owned())]);
            fields.extend(self.date.stamp(&self.clock).map(|now| ("assigned".to_owned(), now)));
            let update = TaskUpdate { fields, ..TaskUpdate::default() };
            self.write(&duty, WriteFor::Mark(duty.number), update, self.tasks.cause(&duty.path));
        }
    }

    /// Reports tasks that are marked as taken but that no agent here works on.
    fn report_orphans(&mut self) {
        let names = self.names();
        let orphans = self.duties.orphans(self.tasks.texts(), &|name| names.get(&name.to_lowercase()).cloned());
        let problem = |(path, line, task): (&str, usize, &Task)| {
            let what = format!("task {} is marked as in progress, but no agent in this room works on it", task.id);
            let remedy = "if no agent elsewhere does, remove its line `status: working` to start it again";
            Problem::warning(path, what, remedy).at_line(Some(line))
        };
        let problems = orphans.into_iter().map(problem).collect();
        self.reports.write(ProblemReport { source: DESK_NAME.to_owned(), problems });
    }

    fn write(&mut self, duty: &TaskAssignment, made_for: WriteFor, update: TaskUpdate, cause: Seq) {
        let write = TaskWrite {
            path: duty.path.clone(),
            edit: TaskEdit::Update { id: duty.id.clone(), update },
            made_for,
            author: Author(ROOM.into()),
            activation: None,
            rights: FileRights::default(),
            cause,
        };
        let run = self.run();
        self.writes.push(&run, write);
    }

    /// Orders the work of tasks that are marked as taken.
    fn begin_work(&mut self) {
        let now = self.clock.tick();
        let is_due =
            |duty: &&TaskAssignment| matches!(duty.stage, AssignmentStage::Ready { not_before } if now >= not_before);
        let due: Vec<TaskAssignment> = self.duties.iter().filter(is_due).cloned().collect();
        let run = self.run();
        for duty in due {
            let task = task_of(self.tasks.texts(), &duty.path, &duty.id).filter(|task| task.status == Status::Open);
            let words = task.and_then(|_| task_words(self.tasks.texts(), &duty));
            let Some(words) = words else {
                // Somebody did or removed the task.
                self.duties.give_up(duty.number);
                continue;
            };
            let from = duty.asked_in.as_deref().and_then(|session| self.agent_of_session(session));
            let wanted = WorkWanted {
                order: format!("{ORDERS}{run}/{}", duty.number).into(),
                agent: duty.agent.clone(),
                task: words,
                by: DESK_NAME.into(),
                terms: WorkTerms { is_kept: true, from, at: self.board_of(&duty.path), ..WorkTerms::default() },
                cause: self.tasks.cause(&duty.path),
            };
            self.orders.write(WorkOrder::Begin(Box::new(wanted)));
            if let Some(duty) = self.duties.iter_mut().find(|one| one.number == duty.number) {
                duty.stage = AssignmentStage::Ordered;
            }
        }
    }

    /// Closes the tasks whose work has ended, including all work started by it.
    fn end_work(&mut self) {
        let mut over = Vec::new();
        for duty in self.duties.iter() {
            let AssignmentStage::Working { thread, last } = &duty.stage else { continue };
            let lost = || Outcome { status: "stopped".to_owned(), text: "its work is no longer known".to_owned() };
            let outcome = match self.kernel.thread(*thread) {
                None => Some(last.clone().map_or_else(lost, |(_, outcome)| outcome)),
                // Work that ended in this tick is reported later in the tick.
                Some(known) => last
                    .clone()
                    .filter(|(ended, _)| known.earlier.last() == Some(ended) && self.kernel.is_over(*thread))
                    .map(|(_, outcome)| outcome),
            };
            over.extend(outcome.map(|outcome| (duty.clone(), *thread, outcome)));
        }
        for (duty, thread, outcome) in over {
            self.orders.write(WorkOrder::LetGo { thread });
            self.duties.conclude(duty.number, &outcome);
            let update =
                self.closing(&outcome, task_of(self.tasks.texts(), &duty.path, &duty.id).map(|task| task.status));
            self.write(&duty, WriteFor::Close(duty.number), update, self.tasks.cause(&duty.path));
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
        let here = self.roster.iter().filter_map(|(_, entity)| self.agents.get(entity).ok());
        here.into_iter().find(|one| slug(&one.id) == agent).map(|one| one.id.clone())
    }

    /// Delivers a notice to the session that requested the task, or in a new session of its agent if the session has
    /// ended.
    fn send_notice(&mut self, told: &TaskNotice) {
        let cause = Seq(0);
        if let Some(thread) = self.kernel.session_named(&told.session) {
            let (text, from) = (told.text.clone(), told.from.clone());
            self.news.write(WorkNotice { thread, text, from, from_work: None, cause });
        } else if let Some(agent) = self.agent_of_session(&told.session) {
            let wanted = WorkWanted {
                order: format!("told/{}", told.session).into(),
                agent,
                task: told.text.clone(),
                by: told.from.clone(),
                terms: WorkTerms::default(),
                cause,
            };
            self.orders.write(WorkOrder::Begin(Box::new(wanted)));
        } else {
            let what = format!(
                "nobody reads session {} any more, so this was not delivered: {}",
                told.session,
                truncate(&told.text, 200)
            );
            self.log.write(EventDraft::of(&Warning::new(what)));
        }
    }

    /// Keeps the sessions in which an agent waits for a task, and releases all others.
    fn keep_sessions(&mut self) {
        let threads = self.duties.awaited_in().into_iter().filter_map(|session| self.kernel.session_named(session));
        let wanted: BTreeSet<ActivationKey> = threads.collect();
        if wanted == self.duties.kept {
            return;
        }
        for thread in wanted.difference(&self.duties.kept) {
            self.orders.write(WorkOrder::Keep { thread: *thread });
        }
        for thread in self.duties.kept.difference(&wanted) {
            self.orders.write(WorkOrder::LetGo { thread: *thread });
        }
        self.duties.kept = wanted;
    }
}
