//! The task of the command line, from its start to the end of everything that it started.

use bevy::ecs::prelude::*;

use super::command_hints::Commands;
use super::report::Verdict;
pub(super) use super::workflow_goal::WORK_PAUSED;
use super::workflow_goal::WorkflowGoal;
use super::{Complaint, Ending};
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
    /// Where it is no agent's task, but a workflow.
    workflow: Option<WorkflowGoal>,
}

/// How far the task is.
enum Stage {
    /// The room has not come in yet.
    Early,
    /// It is waiting to be accepted by the room.
    Given,
    /// It began this run.
    Taken(ActivationKey),
    /// The room would not have it.
    Refused(String),
}

impl Task {
    /// This task for this agent.
    pub(super) fn new(agent: &str, text: String) -> Self {
        Self { agent: agent.into(), text, stage: Stage::Early, workflow: None }
    }

    /// This one, which began this run and is unfinished.
    pub(super) fn resumed(agent: &str, text: String, run: ActivationKey) -> Self {
        Self { agent: agent.into(), text, stage: Stage::Taken(run), workflow: None }
    }

    /// A workflow, which belongs to no single agent.
    pub(super) fn workflow(goal: WorkflowGoal) -> Self {
        Self { agent: "".into(), text: String::new(), stage: Stage::Early, workflow: Some(goal) }
    }

    /// Whether it is a workflow.
    pub(super) fn is_workflow(&self) -> bool {
        self.workflow.is_some()
    }

    /// The run of the workflow that it is.
    pub(super) fn workflow_run<'a>(&self, world: &'a World) -> Option<&'a WorkflowRun> {
        self.workflow.as_ref()?.run(world)
    }

    /// Whether a piece of work belongs to it, by its session.
    fn owns(&self, world: &World, thread: ActivationKey) -> bool {
        let root = world.resource::<Kernel>().thread(thread).map(|thread| thread.root);
        match &self.workflow {
            Some(goal) => goal.run(world).is_some_and(|run| run.work().any(|work| Some(work.thread) == root)),
            None => root.is_some() && root == self.run(),
        }
    }

    /// Who has it, by id.
    pub(super) fn agent(&self) -> &str {
        &self.agent
    }

    /// Gives the task once the room is open. If a person has to do something before it could begin, or if the same task
    /// is unfinished already, it is not given, and the run ends that way.
    pub(super) fn give(
        &mut self,
        world: &mut World,
        unpause: bool,
        commands: &Commands,
    ) -> Result<Option<Verdict>, Complaint> {
        let is_early = world.resource::<SimClock>().tick() == 0 || !world.resource::<EventTap>().has_ticked;
        if !matches!(self.stage, Stage::Early) || is_early {
            return Ok(None);
        }
        if let Some(goal) = &mut self.workflow {
            return Ok(goal.give(world, unpause));
        }
        self.look_for_agent(world)?;
        if let Some(run) = world.resource::<Kernel>().activation_for_task(&self.agent, &self.text) {
            let what = format!("{} already has this task, and it is unfinished ({})", self.agent, run.id());
            let hint = format!("continue with: {}; to do it again, change the wording", commands.resume(&run.id()));
            return Ok(Some(Verdict::new(Ending::BadUsage, what).hint(hint)));
        }
        if unpause && is_paused(world, &self.agent) {
            world.resource_mut::<InputQueue<AgentCommand>>().push(AgentCommand::Resume { agent: self.agent.clone() });
        } else if let Some(why) = self.paused(world) {
            return Ok(Some(Verdict::new(Ending::Waiting, format!("the task was not given: {why}"))));
        }
        let command = TaskCommand { agent: self.agent.clone(), text: self.text.clone() };
        world.resource_mut::<InputQueue<TaskCommand>>().push(command);
        self.stage = Stage::Given;
        Ok(None)
    }

    fn look_for_agent(&self, world: &World) -> Result<(), Complaint> {
        let profiles = world.resource::<Profiles>();
        if world.resource::<Roster>().key(&self.agent).is_some() || profiles.is_defined(&self.agent) {
            return Ok(());
        }
        let complaint = Complaint::usage(format!("no such agent or profile: {:?}", &*self.agent));
        Err(match nearest(&self.agent, profiles.ids().map(|id| &**id)) {
            Some(near) => complaint.hint(format!("did you mean {near:?}?")),
            None => complaint,
        })
    }

    /// Why it could not begin: a pause that was saved with the room.
    fn paused(&self, world: &World) -> Option<String> {
        if world.resource::<Kernel>().is_paused() {
            return Some(WORK_PAUSED.to_owned());
        }
        is_paused(world, &self.agent).then(|| agent_paused(&self.agent))
    }

    /// Checks its result.
    pub(super) fn watch(&mut self, events: &[EventRecord]) {
        if let Some(goal) = &mut self.workflow {
            return goal.watch(events);
        }
        if !matches!(self.stage, Stage::Given) {
            return;
        }
        let is_taken = |event: &EventRecord| {
            let work = event.read::<Activation>().filter(|_| event.draft.agent.as_ref() == Some(&self.agent));
            work.is_some_and(|work| *work.by == *USER && work.task == self.text)
        };
        let taken = events.iter().find(|event| is_taken(event)).and_then(|event| event.draft.activation.as_deref());
        if let Some(key) = taken.and_then(ActivationKey::parse) {
            self.stage = Stage::Taken(key);
            return;
        }
        // It was admitted in this tick: from now on it counts as this task.
        let mut refusals = events.iter().filter(|event| event.draft.agent.is_none());
        let why = refusals.find_map(|event| Some(event.read::<Warning>()?.what.into_owned()));
        let why = why.unwrap_or_else(|| "the room rejected it; see its log".to_owned());
        self.stage = Stage::Refused(why);
    }

    /// The run that it began.
    pub(super) fn run(&self) -> Option<ActivationKey> {
        match self.stage {
            Stage::Taken(run) => Some(run),
            _ => None,
        }
    }

    /// How it ended, if it and everything that it set going is over: what the agent said last is the result.
    pub(super) fn verdict(&self, world: &World) -> Option<Verdict> {
        if let Some(goal) = &self.workflow {
            return goal.verdict(world);
        }
        let kernel = world.resource::<Kernel>();
        let run = match &self.stage {
            Stage::Refused(why) => return Some(Verdict::new(Ending::Failed, format!("the task was refused: {why}"))),
            Stage::Taken(run) => *run,
            _ => return None,
        };
        is_over(kernel, run).then(|| ending_of(kernel, run, &self.agent))
    }
}

/// Said where an agent is paused.
pub(super) fn agent_paused(agent: &str) -> String {
    format!("{agent} is paused; resume it in the window, or run again with --unpause")
}

/// Whether a person holds an agent back.
pub(super) fn is_paused(world: &World, agent: &str) -> bool {
    let roster = world.resource::<Roster>();
    let entity = roster.key(agent).and_then(|key| roster.entity(key));
    let state = entity.and_then(|entity| world.get::<AgentState>(entity));
    state.is_some_and(|state| state.0.state() == State::Paused)
}

/// Agents of the task that a person paused hold their work.
pub(super) fn held_work(world: &World, task: Option<&Task>) -> Vec<Hold> {
    let kernel = world.resource::<Kernel>();
    let is_its = |key| task.is_none_or(|task| task.owns(world, key));
    kernel.held_by(|one| is_its(one.thread), |agent| is_paused(world, agent))
}

/// Whether a run and everything that it set going is over.
pub(super) fn is_over(kernel: &Kernel, run: ActivationKey) -> bool {
    !kernel.threads().any(|(_, thread)| thread.root == run)
}

/// How a run ended that is over.
fn ending_of(kernel: &Kernel, run: ActivationKey, agent: &Id) -> Verdict {
    let its = kernel.finished().filter(|one| one.root == run && one.agent == *agent);
    match its.last().map(|one| &one.ending) {
        Some(WorkEnding::Completed { text }) => Verdict { result: Some(text.clone()), ..Verdict::done() },
        Some(WorkEnding::Aborted { why, by_person: false }) => Verdict::new(Ending::Limited, why.clone()),
        Some(WorkEnding::Failed { why } | WorkEnding::Aborted { why, .. }) => Verdict::new(Ending::Failed, why.clone()),
        None => Verdict::new(
            Ending::Failed,
            "the outcome of the task is no longer known; see the log with: workshop \
            export",
        ),
    }
}

/// Work that was unfinished when the room was opened: it continues by itself, and its result is reported, too.
pub(super) struct Unfinished(Vec<(ActivationKey, Id)>);

impl Unfinished {
    /// What is unfinished now, of all runs.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let roots = kernel.threads().filter(|(key, thread)| *key == thread.root);
        Self(roots.map(|(key, thread)| (key, thread.agent.clone())).collect())
    }

    /// How those runs ended that are over now, the oldest first: all their results, and the first that went wrong.
    pub(super) fn verdict(&self, kernel: &Kernel) -> Verdict {
        let over = self.0.iter().filter(|(run, _)| is_over(kernel, *run));
        let verdicts: Vec<Verdict> = over.map(|(run, agent)| ending_of(kernel, *run, agent)).collect();
        let results: Vec<String> = verdicts.iter().filter_map(|verdict| verdict.result.clone()).collect();
        let wrong = verdicts.into_iter().find(|verdict| verdict.ending != Ending::Done);
        let result = (!results.is_empty()).then(|| results.join("\n\n"));
        Verdict { result, ..wrong.unwrap_or_else(Verdict::done) }
    }
}
