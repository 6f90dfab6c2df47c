//! Decides when a run without a window ends, and with which verdict.

use bevy::ecs::prelude::*;

use super::ExitStatus;
use super::approval_prompts::{ApprovalPrompts, asks};
use super::report::Verdict;
use super::task_goal::{Task, WORK_PAUSED, agent_paused, is_paused};
use super::waiting_steps::waiting;
use crate::app::approvals::has_answers;
use crate::app::clock_driver::EventTap;
use crate::base::visible_text::visible;
use crate::desk::person_tasks::{self, PersonTask, TasksBehind};
use crate::desk::{
    CheckIns, SessionEdits, SlackChannels, Streams, TaskAssignments, awaits_first_poll, is_returning_answers,
};
use crate::gateway::RequestQueue;
use crate::kernel::{Hold, Kernel};
use crate::learning::Lessons;
use crate::orchestration::workflow::{WorkflowCommand, WorkflowRuns};
use crate::schedule::{InputQueue, SimClock};
use crate::simulation;
use crate::workspace::WorkspaceTrust;

/// When a run stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StopCondition {
    /// After this tick.
    AtTick(u64),
    /// When nothing is queued, waiting for a model or running.
    WhenIdle,
    /// When each piece of work has had one turn, and nothing else is running.
    AfterOneTurnEach,
    /// When the task and the reflection on it are finished.
    AfterTask,
    /// When the task is finished, without waiting for the reflection on it.
    AfterAnswer,
    /// When a person interrupts it.
    Never,
}

impl StopCondition {
    /// Whether the run ends by default when only a person can continue it.
    pub(super) fn ends_when_held(self) -> bool {
        matches!(self, Self::WhenIdle | Self::AfterTask | Self::AfterAnswer | Self::AfterOneTurnEach)
    }

    /// How the run ended; `None` if it continues.
    pub(super) fn verdict(self, world: &mut World, task: Option<&Task>, prompts: &ApprovalPrompts) -> Option<Verdict> {
        let ended = match self {
            Self::AtTick(last) => {
                (world.resource::<SimClock>().tick() >= last).then(|| time_is_over(world, task, prompts))
            }
            Self::AfterTask | Self::AfterAnswer => task?.verdict(world).or_else(|| held(world, task, prompts)),
            Self::WhenIdle => idle(world, task, prompts),
            Self::AfterOneTurnEach => after_one_turn_each(world, prompts),
            Self::Never => held(world, None, prompts),
        };
        // The room is closed only after the agents have reflected on their work.
        let looks_back = self.ends_when_held() && self != Self::AfterAnswer;
        let is_learning = looks_back && !world.resource::<Lessons>().is_empty();
        let ended = ended.filter(|_| !is_learning);
        ended.or_else(|| Some(Verdict::new(ExitStatus::Limited, limit(world)?)))
    }
}

fn idle(world: &mut World, task: Option<&Task>, prompts: &ApprovalPrompts) -> Option<Verdict> {
    let of_task = task.and_then(|task| task.verdict(world));
    let waits_for_task = task.is_some() && of_task.is_none();
    if !has_ticked(world) {
        return None;
    }
    let is_between_steps = world.resource::<WorkflowRuns>().is_at_work()
        || world.resource::<TaskAssignments>().is_at_work()
        || is_delivering_messages(world)
        || is_applying_edits(world);
    if !waits_for_task && !is_between_steps && world.resource::<Kernel>().is_idle() && simulation::is_idle(world) {
        // A pending answer continues them.
        let is_answered = has_answers(world) || !world.resource::<InputQueue<WorkflowCommand>>().is_empty();
        let waits = || steps_wait(world, prompts).or_else(|| people_wait(world, None, prompts));
        let verdict = || of_task.or_else(waits).unwrap_or_else(Verdict::done);
        return (!is_answered).then(verdict);
    }
    let is_early = waits_for_task && task.is_some_and(|task| task.run().is_none());
    if is_early || !simulation::is_idle_beside_work(world) { None } else { held(world, None, prompts) }
}

/// The verdict of a step in which each piece of work has had one turn: whether there is more to do, or who waits for
/// what.
fn after_one_turn_each(world: &mut World, prompts: &ApprovalPrompts) -> Option<Verdict> {
    if !has_ticked(world) || has_answers(world) || world.resource::<WorkflowRuns>().is_at_work() {
        return None;
    }
    let kernel = world.resource::<Kernel>();
    let (goes_on, is_idle) = (kernel.can_continue_unattended(|agent| is_paused(world, agent)), kernel.is_idle());
    let has_more = kernel.waits_for_turn();
    let now = world.resource::<SimClock>().tick();
    let moves = is_delivering_messages(world)
        || world.resource::<CheckIns>().is_asking()
        || is_applying_edits(world)
        || world.resource::<TaskAssignments>().can_continue_unattended(now, |thread| kernel.has_ended(thread));
    if goes_on || moves || !simulation::is_idle_beside_work(world) || (is_idle && !simulation::is_idle(world)) {
        return None;
    }
    if is_idle {
        let waits = steps_wait(world, prompts).or_else(|| people_wait(world, None, prompts));
        return Some(waits.unwrap_or_else(Verdict::done));
    }
    if has_more {
        return Some(Verdict::new(ExitStatus::Done, "there is more to do; it continues with the next pump"));
    }
    held(world, None, prompts).or_else(|| Some(Verdict::new(ExitStatus::Done, "the remaining work is waiting")))
}

/// The verdict if workflow steps wait for a person; `None` if the run does not end for that.
fn steps_wait(world: &World, prompts: &ApprovalPrompts) -> Option<Verdict> {
    let questions: Vec<_> = world.resource::<WorkflowRuns>().questions().collect();
    waiting(&questions).filter(|_| prompts.ends_when_held())
}

/// The verdict if work waits for tasks that only a person can continue: the work of the task, or all work without one.
/// `None` if something can still happen, or if the run does not end for that.
fn people_wait(world: &World, task: Option<&Task>, prompts: &ApprovalPrompts) -> Option<Verdict> {
    let kernel = world.resource::<Kernel>();
    let is_moving = !kernel.is_idle()
        || world.resource::<TaskAssignments>().is_at_work()
        || world.resource::<WorkflowRuns>().is_at_work()
        || is_applying_edits(world)
        || is_delivering_messages(world);
    if is_moving || !prompts.ends_when_held() || task.is_some_and(Task::is_workflow) {
        return None;
    }
    let TasksBehind { of_person, can_continue } = match task.map(Task::run) {
        None => person_tasks::behind_all(world),
        // Not taken by the room yet.
        Some(None) => return None,
        Some(Some(run)) => person_tasks::behind_sessions(world, |session| {
            let thread = kernel.session_named(session).and_then(|key| kernel.thread(key));
            thread.is_some_and(|thread| thread.root == run)
        }),
    };
    (!can_continue && !of_person.is_empty()).then(|| {
        let tasks: Vec<String> = of_person.iter().map(person_task_message).collect();
        let mut files: Vec<&str> = of_person.iter().map(|task| task.file.as_str()).collect();
        files.dedup();
        let hint = format!("{}; in {}; {}", remedies(of_person.iter()), files.join(", "), prompts.how_to_continue());
        Verdict::new(ExitStatus::Waiting, format!("waiting for a person: {}", tasks.join("; "))).hint(hint)
    })
}

/// A task that only a person can continue, in one line.
pub(super) fn person_task_message(task: &PersonTask) -> String {
    format!("{}:{}: “{}” ({}): {}", task.file, task.line, visible(&task.title), task.id, task.why)
}

/// What a person can do about these tasks, each once.
fn remedies<'a>(tasks: impl Iterator<Item = &'a PersonTask>) -> String {
    let mut remedies: Vec<&str> = tasks.map(|task| task.remedy.as_str()).collect();
    remedies.sort_unstable();
    remedies.dedup();
    remedies.join("; ")
}

/// Whether messages from streams or Slack are being delivered.
/// Whether edited session files are being applied. In a restricted workspace, they wait for the person.
fn is_applying_edits(world: &World) -> bool {
    let now = world.resource::<SimClock>().tick();
    !world.resource::<WorkspaceTrust>().is_restricted() && world.resource::<SessionEdits>().has_pending_edit(now)
}

/// Whether messages from streams or Slack are being delivered. In a restricted workspace, those of streams wait for the
/// person.
fn is_delivering_messages(world: &World) -> bool {
    let now = world.resource::<SimClock>().tick();
    let is_restricted = world.resource::<WorkspaceTrust>().is_restricted();
    (!is_restricted && world.resource::<Streams>().has_pending_messages(now))
        || world.resource::<SlackChannels>().has_pending_batch(now)
        || awaits_first_poll(world)
        || is_returning_answers(world)
}

fn has_ticked(world: &World) -> bool {
    world.resource::<SimClock>().tick() > 0 && world.resource::<EventTap>().has_ticked
}

/// The limit that stopped the run, as text.
fn limit(world: &World) -> Option<String> {
    world.resource::<RequestQueue>().run_cap_reached().map(str::to_owned)
}

/// The verdict if the task's work (or all work, without a task) cannot continue without a person or a higher limit.
fn held(world: &World, task: Option<&Task>, prompts: &ApprovalPrompts) -> Option<Verdict> {
    if !prompts.ends_when_held() || !has_ticked(world) {
        return None;
    }
    let kernel = world.resource::<Kernel>();
    if kernel.is_paused() && !kernel.is_idle() {
        return Some(Verdict::new(ExitStatus::Waiting, WORK_PAUSED));
    }
    if let Some(why) = kernel.stopped_by() {
        return Some(Verdict::new(ExitStatus::Limited, why));
    }
    let run = task.filter(|task| !task.is_workflow()).map(Task::run);
    if let Some(why) = kernel.waits_for_cap(run.flatten()).filter(|_| run != Some(None)) {
        let why = format!("{why}; the work is saved and continues with the next run");
        return Some(Verdict::new(ExitStatus::Limited, why));
    }
    let holds = prompts.holds(world, task);
    if holds.is_empty() {
        return people_wait(world, task, prompts);
    }
    let messages: Vec<String> = holds.iter().map(|hold| hold_message(world, hold)).collect();
    Some(Verdict::new(ExitStatus::Waiting, messages.join("; ")).hint(prompts.how_to_answer(&holds)))
}

fn hold_message(world: &World, hold: &Hold) -> String {
    match hold {
        Hold::Approval(approval) => asks(world, approval),
        Hold::AgentPaused(agent) => agent_paused(agent),
    }
}

/// The verdict when the time limit of the command line has passed: the task's result, or why there is none yet.
fn time_is_over(world: &World, task: Option<&Task>, prompts: &ApprovalPrompts) -> Verdict {
    if let Some(verdict) = task.and_then(|task| task.verdict(world)) {
        return verdict;
    }
    let holds = prompts.holds(world, task);
    if !holds.is_empty() {
        let messages: Vec<String> = holds.iter().map(|hold| hold_message(world, hold)).collect();
        let what = format!("the time limit was reached while waiting for a person: {}", messages.join("; "));
        return Verdict::new(ExitStatus::Waiting, what).hint(prompts.how_to_answer(&holds));
    }
    match task {
        None => Verdict::done(),
        Some(_) => Verdict::new(
            ExitStatus::Limited,
            "the time limit (--for or --ticks) was reached before the task was finished",
        ),
    }
}
