//! The task of a command line, from its start to the end of all work that it started.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;

use super::command_hints::CommandHints;
use super::report::{FailedWork, Verdict};
pub(super) use super::workflow_goal::WORK_PAUSED;
use super::workflow_goal::WorkflowGoal;
use super::{CliError, ExitStatus};
use crate::agent::{AgentCommand, Profiles, Roster};
use crate::app::clock_driver::EventTap;
use crate::base::ids::USER;
use crate::base::text::nearest;
use crate::base::{ActivationKey, Id};
use crate::kernel::{Ending as WorkEnding, Hold, Kernel};
use crate::log::EventRecord;
use crate::log::events::{Activation, Warning};
use crate::orchestration::workflow::Run as WorkflowRun;
use crate::schedule::{InputQueue, SimClock};
use crate::simulation::{AgentState, State, TaskCommand};

/// A task for an agent in the scene, or for a profile, which is then added to it.
pub(super) struct Task {
    agent: Id,
    text: String,
    stage: Stage,
    /// The workflow, if the task is one.
    workflow: Option<WorkflowGoal>,
}

/// The stage of a task or a workflow.
enum Stage {
    /// Not submitted yet, because the room has not been opened.
    NotSubmitted,
    /// Submitted, but not accepted by the room yet.
    Submitted,
    /// Accepted by the room: it started this run.
    Started(ActivationKey),
    /// Rejected by the room, with the reason.
    Rejected(String),
}

impl Task {
    /// Creates a new task for an agent.
    pub(super) fn new(agent: &str, text: String) -> Self {
        Self { agent: agent.into(), text, stage: Stage::NotSubmitted, workflow: None }
    }

    /// Creates a task that is already running as `run`.
    pub(super) fn resumed(agent: &str, text: String, run: ActivationKey) -> Self {
        Self { agent: agent.into(), text, stage: Stage::Started(run), workflow: None }
    }

    /// Creates a task from a workflow, which belongs to no single agent.
    pub(super) fn workflow(goal: WorkflowGoal) -> Self {
        Self { agent: "".into(), text: String::new(), stage: Stage::NotSubmitted, workflow: Some(goal) }
    }

    /// Whether the task is a workflow.
    pub(super) fn is_workflow(&self) -> bool {
        self.workflow.is_some()
    }

    /// The workflow run, once it has started.
    pub(super) fn workflow_run<'a>(&self, world: &'a World) -> Option<&'a WorkflowRun> {
        self.workflow.as_ref()?.run(world)
    }

    /// Whether a session belongs to this task.
    fn owns(&self, world: &World, thread: ActivationKey) -> bool {
        let root = world.resource::<Kernel>().thread(thread).map(|thread| thread.root);
        match &self.workflow {
            Some(goal) => goal.run(world).is_some_and(|run| run.work().any(|work| Some(work.thread) == root)),
            None => root.is_some() && root == self.run(),
        }
    }

    /// The id of the agent; empty for a workflow.
    pub(super) fn agent(&self) -> &str {
        &self.agent
    }

    /// Submits the task once the room is open. Returns a verdict, without submitting it, if work is paused or the agent
    /// already has the same task.
    pub(super) fn submit(
        &mut self,
        world: &mut World,
        unpause: bool,
        hints: &CommandHints,
    ) -> Result<Option<Verdict>, CliError> {
        let is_too_early = world.resource::<SimClock>().tick() == 0 || !world.resource::<EventTap>().has_ticked;
        if !matches!(self.stage, Stage::NotSubmitted) || is_too_early {
            return Ok(None);
        }
        if let Some(goal) = &mut self.workflow {
            return Ok(goal.submit(world, unpause));
        }
        self.check_agent(world)?;
        if let Some(run) = world.resource::<Kernel>().activation_for_task(&self.agent, &self.text) {
            let what = format!("{} already has this task, and it is unfinished ({})", self.agent, run.id());
            let hint = format!("continue with: {}; to do it again, change the wording", hints.resume(&run.id()));
            return Ok(Some(Verdict::new(ExitStatus::BadUsage, what).hint(hint)));
        }
        if unpause && is_paused(world, &self.agent) {
            world.resource_mut::<InputQueue<AgentCommand>>().push(AgentCommand::Resume { agent: self.agent.clone() });
        } else if let Some(why) = self.paused(world) {
            return Ok(Some(Verdict::new(ExitStatus::Waiting, format!("the task was not given: {why}"))));
        }
        let command = TaskCommand { agent: self.agent.clone(), text: self.text.clone() };
        world.resource_mut::<InputQueue<TaskCommand>>().push(command);
        self.stage = Stage::Submitted;
        Ok(None)
    }

    fn check_agent(&self, world: &World) -> Result<(), CliError> {
        let profiles = world.resource::<Profiles>();
        if world.resource::<Roster>().key(&self.agent).is_some() || profiles.is_defined(&self.agent) {
            return Ok(());
        }
        let error = CliError::usage(format!("no such agent or profile: {:?}", &*self.agent));
        Err(match nearest(&self.agent, profiles.ids().map(|id| &**id)) {
            Some(near) => error.hint(format!("did you mean {near:?}?")),
            None => error,
        })
    }

    /// Why the task cannot start: the work or the agent was paused when the room was saved.
    fn paused(&self, world: &World) -> Option<String> {
        if world.resource::<Kernel>().is_paused() {
            return Some(WORK_PAUSED.to_owned());
        }
        is_paused(world, &self.agent).then(|| agent_paused(&self.agent))
    }

    /// Looks for the result of the submitted task in the events of the next tick.
    pub(super) fn watch(&mut self, events: &[EventRecord]) {
        if let Some(goal) = &mut self.workflow {
            return goal.watch(events);
        }
        if !matches!(self.stage, Stage::Submitted) {
            return;
        }
        let is_taken = |event: &EventRecord| {
            let work = event.read::<Activation>().filter(|_| event.draft.agent.as_ref() == Some(&self.agent));
            work.is_some_and(|work| *work.by == *USER && work.task == self.text)
        };
        let taken = events.iter().find(|event| is_taken(event)).and_then(|event| event.draft.activation.as_deref());
        if let Some(key) = taken.and_then(ActivationKey::parse) {
            self.stage = Stage::Started(key);
            return;
        }
        // The task was handled in this tick; if no work started, it was rejected.
        let mut refusals = events.iter().filter(|event| event.draft.agent.is_none());
        let why = refusals.find_map(|event| Some(event.read::<Warning>()?.what.into_owned()));
        let why = why.unwrap_or_else(|| "the room rejected it; see its log".to_owned());
        self.stage = Stage::Rejected(why);
    }

    /// The run that the task started.
    pub(super) fn run(&self) -> Option<ActivationKey> {
        match self.stage {
            Stage::Started(run) => Some(run),
            _ => None,
        }
    }

    /// How the task ended; `None` until all work that it started is finished. The result is the agent's last answer.
    pub(super) fn verdict(&self, world: &World) -> Option<Verdict> {
        if let Some(goal) = &self.workflow {
            return goal.verdict(world);
        }
        let kernel = world.resource::<Kernel>();
        let run = match &self.stage {
            Stage::Rejected(why) => {
                return Some(Verdict::new(ExitStatus::Failed, format!("the task was refused: {why}")));
            }
            Stage::Started(run) => *run,
            _ => return None,
        };
        is_over(kernel, run).then(|| verdict_of(kernel, run, &self.agent))
    }
}

/// The message if an agent is paused.
pub(super) fn agent_paused(agent: &str) -> String {
    format!("{agent} is paused; resume it in the window, or run again with --unpause")
}

/// Whether a person paused an agent.
pub(super) fn is_paused(world: &World, agent: &str) -> bool {
    let roster = world.resource::<Roster>();
    let entity = roster.key(agent).and_then(|key| roster.entity(key));
    let state = entity.and_then(|entity| world.get::<AgentState>(entity));
    state.is_some_and(|state| state.0.state() == State::Paused)
}

/// The approvals and paused agents that hold the task's work, or all work without a task.
pub(super) fn held_work(world: &World, task: Option<&Task>) -> Vec<Hold> {
    let kernel = world.resource::<Kernel>();
    let is_its = |key| task.is_none_or(|task| task.owns(world, key));
    kernel.held_by(|one| is_its(one.thread), |agent| is_paused(world, agent))
}

/// Whether a run and all work that it started are finished.
pub(super) fn is_over(kernel: &Kernel, run: ActivationKey) -> bool {
    !kernel.threads().any(|(_, thread)| thread.root == run)
}

/// The verdict of a finished run.
fn verdict_of(kernel: &Kernel, run: ActivationKey, agent: &Id) -> Verdict {
    let its = kernel.finished().filter(|one| one.root == run && one.agent == *agent);
    match its.last().map(|one| &one.ending) {
        Some(WorkEnding::Completed { text }) => Verdict { result: Some(text.clone()), ..Verdict::done() },
        Some(WorkEnding::Aborted { why, by_person: false }) => Verdict::new(ExitStatus::Limited, why.clone()),
        Some(WorkEnding::Failed { why } | WorkEnding::Aborted { why, .. }) => {
            Verdict::new(ExitStatus::Failed, why.clone())
        }
        None => Verdict::new(
            ExitStatus::Failed,
            "the outcome of the task is no longer known; see the log with: workshop \
            export",
        ),
    }
}

/// The work of other agents below a run whose latest end was a failure, and whether all of them failed.
pub(super) fn failed_work(kernel: &Kernel, run: ActivationKey, agent: &str) -> (Vec<FailedWork>, bool) {
    let mut latest: BTreeMap<&Id, &WorkEnding> = BTreeMap::new();
    latest.extend(
        kernel.finished().filter(|one| one.root == run && *one.agent != *agent).map(|one| (&one.agent, &one.ending)),
    );
    let failed = latest.iter().filter_map(|(agent, ending)| match ending {
        WorkEnding::Failed { why } | WorkEnding::Aborted { why, by_person: false } => {
            Some(FailedWork { agent: (*agent).clone(), why: why.clone() })
        }
        WorkEnding::Completed { .. } | WorkEnding::Aborted { .. } => None,
    });
    let failed: Vec<FailedWork> = failed.collect();
    let are_all = !failed.is_empty() && failed.len() == latest.len();
    (failed, are_all)
}

/// The runs that were unfinished when the room was opened. They continue, and their results are reported, too.
pub(super) struct Unfinished(Vec<(ActivationKey, Id)>);

impl Unfinished {
    /// The runs that are unfinished now.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let roots = kernel.threads().filter(|(key, thread)| *key == thread.root);
        Self(roots.map(|(key, thread)| (key, thread.agent.clone())).collect())
    }

    /// The verdict of those runs that are finished now: all results, oldest first, and the first failure.
    pub(super) fn verdict(&self, kernel: &Kernel) -> Verdict {
        let over = self.0.iter().filter(|(run, _)| is_over(kernel, *run));
        let verdicts: Vec<Verdict> = over.map(|(run, agent)| verdict_of(kernel, *run, agent)).collect();
        let results: Vec<String> = verdicts.iter().filter_map(|verdict| verdict.result.clone()).collect();
        let wrong = verdicts.into_iter().find(|verdict| verdict.exit != ExitStatus::Done);
        let result = (!results.is_empty()).then(|| results.join("\n\n"));
        Verdict { result, ..wrong.unwrap_or_else(Verdict::done) }
    }
}
