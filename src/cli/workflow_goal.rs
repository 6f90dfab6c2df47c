//! A workflow run that a command line waits for, from its start to its end.

use bevy::ecs::prelude::*;

use super::Ending;
use super::report::Verdict;
use super::waiting_steps::waiting;
use crate::app::approvals::has_answers;
use crate::base::ids::USER;
use crate::kernel::{Kernel, KernelCommand};
use crate::log::EventRecord;
use crate::log::events::{Warning, WorkflowStep};
use crate::orchestration::workflow::{Run, RunKey, RunStatus, StepStatus, WorkflowCommand, WorkflowRuns};
use crate::schedule::InputQueue;

/// Said where all work is paused.
pub(super) const WORK_PAUSED: &str = "all work in this workspace is paused, by Pause work or Stop all in the window; \
    choose Continue work there, or run again with --unpause";

/// The workflow run that a command waits for.
pub(super) struct WorkflowGoal {
    /// What brings it about.
    command: WorkflowCommand,
    /// What a person says to steps that are theirs.
    answers: Vec<WorkflowCommand>,
    stage: Stage,
}

enum Stage {
    Early,
    Given,
    Taken(RunKey),
    Refused(String),
}

impl WorkflowGoal {
    pub(super) fn new(command: WorkflowCommand, answers: Vec<WorkflowCommand>) -> Self {
        Self { command, answers, stage: Stage::Early }
    }

    /// The run, once it began.
    pub(super) fn run<'a>(&self, world: &'a World) -> Option<&'a Run> {
        match self.stage {
            Stage::Taken(key) => world.resource::<WorkflowRuns>().get(key),
            _ => None,
        }
    }

    /// Starts or continues the workflow once the room is open. Returns how the run ends if a person has to do something
    /// first.
    pub(super) fn give(&mut self, world: &mut World, unpause: bool) -> Option<Verdict> {
        if !matches!(self.stage, Stage::Early) {
            return None;
        }
        if unpause {
            world.resource_mut::<InputQueue<KernelCommand>>().push(KernelCommand::Resume);
        } else if world.resource::<Kernel>().is_paused() {
            return Some(Verdict::new(Ending::Waiting, format!("the workflow did not start: {WORK_PAUSED}")));
        }
        self.stage = Stage::Given;
        if let WorkflowCommand::Resume { run: key, .. } = &self.command {
            let known = world.resource::<WorkflowRuns>().get(*key);
            if known.is_some_and(|run| run.is_running() || run.status == RunStatus::Done) {
                // It continues by itself.
                self.stage = Stage::Taken(*key);
            }
        }
        let mut door = world.resource_mut::<InputQueue<WorkflowCommand>>();
        if matches!(self.stage, Stage::Given) {
            door.push(self.command.clone());
        }
        self.answers.drain(..).for_each(|answer| door.push(answer));
        None
    }

    /// Checks its result.
    pub(super) fn watch(&mut self, events: &[EventRecord]) {
        if !matches!(self.stage, Stage::Given) {
            return;
        }
        let begun = events.iter().filter_map(|event| event.read::<WorkflowStep>()).find(|event| {
            let is_mine = event.to == "resumed" || event.by.as_deref() == Some(USER);
            event.step.is_empty() && ["started", "resumed"].contains(&event.to.as_str()) && is_mine
        });
        if let Some(key) = begun.and_then(|event| RunKey::parse(event.run.as_deref()?)) {
            self.stage = Stage::Taken(key);
            return;
        }
        // It was admitted in this tick: from now on it counts as this run.
        let refusal =
            events.iter().filter(|event| event.draft.agent.is_none()).find_map(|event| event.read::<Warning>());
        let why = refusal.map_or_else(|| "the room rejected it; see its log".into(), |warning| warning.what);
        self.stage = Stage::Refused(why.into_owned());
    }

    /// How it ended, if it did, or what a person must do before it can continue.
    pub(super) fn verdict(&self, world: &World) -> Option<Verdict> {
        if let Stage::Refused(why) = &self.stage {
            return Some(Verdict::new(Ending::Failed, why.clone()));
        }
        let run = self.run(world)?;
        if run.is_running() {
            return waits(world, run);
        }
        if !run.is_settled() {
            return None;
        }
        let words = Some(run.result_text()).filter(|words| !words.is_empty());
        let result = words.or_else(|| run.result.as_ref().map(|path| format!("The result is in {path}.")));
        Some(match run.status {
            RunStatus::Done | RunStatus::Running => Verdict { result, ..Verdict::done() },
            RunStatus::Failed | RunStatus::Stopped => {
                let failed =
                    run.plan.steps.iter().zip(&run.steps).filter(|(_, state)| state.status == StepStatus::Failed);
                let why: Vec<String> = failed.map(|(step, state)| format!("step {}: {}", step.id, state.why)).collect();
                let why = if why.is_empty() { run.why.clone() } else { why.join("; ") };
                let hint = format!("fix it, then continue with: workshop workflow resume {}", run.key);
                let ending = if run.is_limited() { Ending::Limited } else { Ending::Failed };
                Verdict { result: None, ..Verdict::new(ending, why).hint(hint) }
            }
        })
    }
}

/// What a person must do, if nothing else is running.
fn waits(world: &World, run: &Run) -> Option<Verdict> {
    let is_quiet = run.active().next().is_none() && world.resource::<InputQueue<WorkflowCommand>>().is_empty();
    if !is_quiet || has_answers(world) {
        return None;
    }
    waiting(&run.questions().collect::<Vec<_>>())
}
