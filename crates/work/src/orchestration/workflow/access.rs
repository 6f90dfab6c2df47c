//! The workflows' access to the room: agents, the log, and the executors of their orders.

use std::collections::BTreeSet;

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use super::check::{self, WorkflowContext};
use super::engine::WorkflowAction;
use super::format::NO_STEPS;
use super::run_files::RunFile;
use super::run_record;
use super::run_review::RunReview;
use super::run_state::{Change, Run, RunStatus};
use super::runs::{WorkflowRuns, Workflows, Written};
use super::settings::WorkflowSettings;
use super::step_prompt::GIVE_OUTPUT;
use crate::agent::{Profiles, Roster};
use crate::base::hash::content_hash;
use crate::base::ids::ROOM;
use crate::base::{Author, Id, Problem, RunTag, Seq, Severity};
use crate::kernel::{Kernel, WorkFileRights, WorkOrder, WorkTerms, WorkWanted};
use crate::log::events::{Warning, WorkflowStep};
use crate::log::{EventDraft, EventLog};
use crate::memory::{MemoryAct, MemoryEdit};
use crate::schedule::{SimClock, ticks};
use crate::workspace::vfs::{FileOperation, FileOrder, FileRights, OwnedOrders, RecordText};
use crate::workspace::{KnownFiles, ProblemReport, RoomStart};

/// The beginning of the keys of orders that write the progress of runs.
const STATES: &str = "workflow-state/";
/// A state of this size in bytes is written half as often as a short one.
const BYTES_PER_WRITE: u64 = 64 * 1024;

/// Everything in the room that workflows access.
#[derive(SystemParam)]
pub(super) struct RunsAccess<'w, 's> {
    pub(super) clock: Res<'w, SimClock>,
    pub(super) settings: Res<'w, WorkflowSettings>,
    pub(super) kernel: Res<'w, Kernel>,
    pub(super) known: Res<'w, KnownFiles>,
    pub(super) log: ResMut<'w, EventLog>,
    profiles: Res<'w, Profiles>,
    roster: Res<'w, Roster>,
    file_rights: WorkFileRights<'w, 's>,
    start: Option<Res<'w, RoomStart>>,
    orders: MessageWriter<'w, WorkOrder>,
    files: MessageWriter<'w, FileOrder>,
    reports: MessageWriter<'w, ProblemReport>,
    memories: MessageWriter<'w, MemoryEdit>,
    reviews: MessageWriter<'w, RunReview>,
}

impl RunsAccess<'_, '_> {
    /// The tag of this run of the room, for keys created in it.
    pub(super) fn room(&self) -> RunTag {
        RunTag::of(self.log.run())
    }

    fn scene(&self) -> String {
        self.start.as_ref().map_or_else(String::new, |start| start.scene.clone())
    }

    /// Warns the person, without naming an agent.
    pub(super) fn warn(&mut self, what: String, remedy: &str) {
        self.log.write(EventDraft::of(&Warning::new(what).with_remedy(remedy.to_owned())));
    }

    /// The ids of agents and profiles that a step may name.
    pub(super) fn agents(&self) -> BTreeSet<Id> {
        let here = self.roster.iter().filter_map(|(key, _)| self.roster.id(key).cloned());
        here.chain(self.profiles.ids().cloned()).collect()
    }

    /// Whether agents were added, removed or changed since the last check.
    pub(super) fn have_agents_changed(&self) -> bool {
        self.profiles.is_changed() || self.roster.is_changed()
    }

    /// Checks all workflows against agents and other workflows, and reports problems again if they changed.
    pub(super) fn check_all(&mut self, workflows: &mut Workflows) {
        let agents = self.agents();
        for path in workflows.files.keys().cloned().collect::<Vec<_>>() {
            let there = WorkflowContext { agents: Some(&agents), workflows: &workflows.files };
            let found = workflows.files.get(&path).map(|file| check::check(&file.workflow, there)).unwrap_or_default();
            if workflows.problems.get(&path) != Some(&found) {
                workflows.problems.insert(path.clone(), found);
                let mut problems = workflows.problems(&path);
                // A workflow without steps is not a problem yet; running it is an error that is reported.
                problems.retain(|problem| problem.what != NO_STEPS);
                self.report(&path, problems);
            }
        }
    }

    /// Reports the problems of a workflow file.
    pub(super) fn report(&mut self, path: &str, problems: Vec<Problem>) {
        self.reports.write(ProblemReport { source: format!("workflow {path}"), problems });
    }

    /// Logs the changes of a run's steps.
    pub(super) fn record_progress(&mut self, run: &mut Run) {
        for Change { step, to, why, agent, from } in run.take_changes() {
            let step = step.and_then(|step| run.plan.steps.get(step)).map(|step| step.id.as_str());
            let event = WorkflowStep {
                workflow: run.name.as_str().into(),
                step: step.unwrap_or_default().into(),
                to,
                why: Some(why).filter(|why| !why.is_empty()),
                run: Some(run.key.id()),
                by: (step.is_none()).then(|| run.by.clone()),
                from,
            };
            let draft = EventDraft::of(&event);
            let draft = match &agent {
                Some(agent) => draft.agent(agent),
                None => draft,
            };
            let cause = Some(run.cause).filter(|cause| cause.0 > 0);
            let record = self.log.write(draft.cause(cause));
            // Later events have the start of the run as their cause.
            if run.cause.0 == 0 {
                run.cause = record;
            }
        }
    }

    /// Advances a run and executes its actions.
    pub(super) fn advance(&mut self, run: &mut Run, file_orders: &mut OwnedOrders<RunFile>) {
        let effects = run.step(self.clock.tick(), &self.settings.limits());
        self.record_progress(run);
        for effect in effects {
            self.execute(run, effect, file_orders);
        }
    }

    fn execute(&mut self, run: &Run, effect: WorkflowAction, file_orders: &mut OwnedOrders<RunFile>) {
        let (by, cause) = (Id::from(format!("workflow {}", run.name)), run.cause);
        match effect {
            WorkflowAction::Begin { order, agent, task, model, turns_at_most, gives, from, .. } => {
                let tools = if gives { vec![GIVE_OUTPUT.to_owned()] } else { Vec::new() };
                let terms =
                    WorkTerms { model, turns_at_most, tools, is_kept: true, from, at: None, is_part_of_more: true };
                self.orders.write(WorkOrder::Begin(Box::new(WorkWanted { order, agent, task, by, terms, cause })));
            }
            WorkflowAction::Continue { order, thread, text, .. } => {
                self.orders.write(WorkOrder::Continue { order, thread, text, by, cause });
            }
            WorkflowAction::Release { thread } => {
                self.orders.write(WorkOrder::Release { thread });
            }
            WorkflowAction::End { activation } => {
                self.orders.write(WorkOrder::End { activation, why: "its workflow was stopped".to_owned() });
            }
            WorkflowAction::Read { at, output, order, path, agent, thread } => {
                let rights = self.file_rights.reading(&self.kernel, thread, &agent, &path);
                let read = FileOrder {
                    key: RunFile::read_key(&order),
                    author: Author::agent(&agent),
                    activation: None,
                    operation: FileOperation::Read { path },
                    rights,
                    cause,
                    worktree: None,
                };
                let attempt = run.part(at).map_or(0, |part| part.number);
                file_orders.add(&read, RunFile::Output { run: run.key, attempt, output });
                self.files.write(read);
            }
        }
    }

    /// Stores the progress of a run if that is due, and its result once it has ended.
    pub(super) fn write(&mut self, run: &mut Run, written: &mut Written, file_orders: &mut OwnedOrders<RunFile>) {
        let now = self.clock.tick();
        if run.status != RunStatus::Running && run.result.is_none() {
            let path = run_record::result_path(run);
            let ended = run.ended_tick.unwrap_or(now);
            run.result = Some(path.clone());
            run.revision += 1;
            written.is_behind = true;
            let content = run_record::result(run);
            let result = FileOrder {
                key: RunFile::result_key(run.key, ended),
                author: Author(ROOM.into()),
                activation: None,
                operation: FileOperation::Write { path, content },
                rights: FileRights::default(),
                cause: run.cause,
                worktree: None,
            };
            file_orders.add(&result, RunFile::Result { run: run.key });
            self.files.write(result);
            self.remember(run);
        }
        let every = ticks(self.settings.state_write_secs.clamp(0.0, 3_600.0)).max(1);
        let is_due = written.tick == 0 || now >= written.tick + every * (1 + written.bytes / BYTES_PER_WRITE);
        if written.is_behind && (is_due || run.status != RunStatus::Running) {
            let order = state_order(run, &self.scene(), now);
            *written = Written { is_behind: false, tick: now, bytes: run_record::estimated_bytes(run) };
            self.files.write(order);
        }
    }

    /// Adds the run to the memories of its participants in the room, and queues the review of the run.
    fn remember(&mut self, run: &Run) {
        self.reviews.write_batch(run.review());
        for (agent, text) in run.memories() {
            if let Some(agent) = self.roster.key(&agent) {
                self.memories.write(MemoryEdit { agent, act: MemoryAct::Interaction { text }, cause: run.cause });
            }
        }
    }

    /// Saves a person's change if the file still has the text that it was based on.
    pub(super) fn save(&mut self, path: &str, base: u64, content: String) {
        let (now, hash) = (self.clock.tick(), content_hash(content.as_bytes()));
        self.files.write(FileOrder {
            key: format!("workflow-edit/{}/{now}/{hash:016x}", self.room()).into(),
            author: Author::user(),
            activation: None,
            operation: FileOperation::Save { path: path.to_owned(), base: Some(base), content },
            rights: FileRights::default(),
            cause: Seq(0),
            worktree: None,
        });
    }
}

/// The operation that stores the progress of a run. Formatting thousands of steps takes a while, so the thread of the
/// file service does it.
fn state_order(run: &Run, scene: &str, now: u64) -> FileOrder {
    let path = run_record::path(run);
    let (as_it_is, scene) = (run.clone(), scene.to_owned());
    let content = RecordText::deferred(move || run_record::to_yaml(&as_it_is, &scene, now));
    FileOrder {
        key: format!("{STATES}{}/{now}/{}", run.key, run.status.as_str()).into(),
        author: Author(ROOM.into()),
        activation: None,
        operation: FileOperation::Record { path, content, over: None },
        rights: FileRights::default(),
        cause: run.cause,
        worktree: None,
    }
}

/// The progress of all unfinished runs, in the form saved when the room closes.
pub fn runs_at_rest(world: &World) -> Vec<FileOrder> {
    let (Some(runs), Some(clock)) = (world.get_resource::<WorkflowRuns>(), world.get_resource::<SimClock>()) else {
        return Vec::new();
    };
    let scene = world.get_resource::<RoomStart>().map_or("", |start| start.scene.as_str());
    let behind = runs.iter().filter(|run| run.is_running());
    behind.map(|run| state_order(run, scene, clock.tick())).collect()
}

/// Returns the first error that prevents a workflow from running.
pub(super) fn can_run(problems: &[Problem]) -> Result<(), &Problem> {
    problems.iter().find(|problem| problem.severity == Severity::Error).map_or(Ok(()), Err)
}
