//! A workflow run that a command waits for, from its start to its end.

use bevy::ecs::prelude::*;

use super::ExitStatus;
use super::report::Verdict;
use super::waiting_steps::waiting;
use crate::app::approvals::has_answers;
use crate::base::ids::USER;
use crate::kernel::{Kernel, KernelCommand};
use crate::log::EventRecord;
use crate::log::events::{Warning, WorkflowStep};
use crate::orchestration::workflow::{Run, RunKey, RunStatus, StepStatus, WorkflowCommand, WorkflowRuns};
use crate::schedule::InputQueue;

/// The message if all work is paused.
pub(super) const WORK_PAUSED: &str = "all work in this workspace is paused, by Pause work or Stop all in the window; \
    choose Continue work there, or run again with --unpause";

/// The workflow run that a command waits for.
pub(super) struct WorkflowGoal {
    /// The command that starts or resumes the run.
    command: WorkflowCommand,
    /// The person's answers to steps that ask for one.
    answers: Vec<WorkflowCommand>,
    stage: Stage,
}

enum Stage {
    NotSubmitted,
    Submitted,
    Started(RunKey),
    Rejected(String),
}

impl WorkflowGoal {
    pub(super) fn new(command: WorkflowCommand, answers: Vec<WorkflowCommand>) -> Self {
        Self { command, answers, stage: Stage::NotSubmitted }
    }

    /// The workflow run, once it has started.
    pub(super) fn run<'a>(&self, world: &'a World) -> Option<&'a Run> {
        match self.stage {
            Stage::Started(key) => world.resource::<WorkflowRuns>().get(key),
            _ => None,
        }
    }

    /// Starts or resumes the workflow once the room is open. Returns a verdict if all work is paused, so that it cannot
    /// start.
    pub(super) fn submit(&mut self, world: &mut World, unpause: bool) -> Option<Verdict> {
        if !matches!(self.stage, Stage::NotSubmitted) {
            return None;
        }
        if unpause {
            world.resource_mut::<InputQueue<KernelCommand>>().push(KernelCommand::Resume);
        } else if world.resource::<Kernel>().is_paused() {
            return Some(Verdict::new(ExitStatus::Waiting, format!("the workflow did not start: {WORK_PAUSED}")));
        }
        self.stage = Stage::Submitted;
        if let WorkflowCommand::Resume { run: key, .. } = &self.command {
            let known = world.resource::<WorkflowRuns>().get(*key);
            if known.is_some_and(|run| run.is_running() || run.status == RunStatus::Done) {
                // The run continues without a command.
                self.stage = Stage::Started(*key);
            }
        }
        let mut queue = world.resource_mut::<InputQueue<WorkflowCommand>>();
        if matches!(self.stage, Stage::Submitted) {
            queue.push(self.command.clone());
        }
        self.answers.drain(..).for_each(|answer| queue.push(answer));
        None
    }

    /// Looks for the result of the submitted command in the events of the next tick.
    pub(super) fn watch(&mut self, events: &[EventRecord]) {
        if !matches!(self.stage, Stage::Submitted) {
            return;
        }
        let begun = events.iter().filter_map(|event| event.read::<WorkflowStep>()).find(|event| {
            let is_mine = event.to == "resumed" || event.by.as_deref() == Some(USER);
            event.step.is_empty() && ["started", "resumed"].contains(&event.to.as_str()) && is_mine
        });
        if let Some(key) = begun.and_then(|event| RunKey::parse(event.run.as_deref()?)) {
            self.stage = Stage::Started(key);
            return;
        }
        // The command was handled in this tick; if no run started, it was rejected.
        let refusal =
            events.iter().filter(|event| event.draft.agent.is_none()).find_map(|event| event.read::<Warning>());
        let why = refusal.map_or_else(|| "the room rejected it; see its log".into(), |warning| warning.what);
        self.stage = Stage::Rejected(why.into_owned());
    }

    /// How the run ended, or what a person must do before it can continue; `None` while it is running.
    pub(super) fn verdict(&self, world: &World) -> Option<Verdict> {
        if let Stage::Rejected(why) = &self.stage {
            return Some(Verdict::new(ExitStatus::Failed, why.clone()));
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
                let exit = if run.is_limited() { ExitStatus::Limited } else { ExitStatus::Failed };
                Verdict { result: None, ..Verdict::new(exit, why).hint(hint) }
            }
        })
    }
}

/// What a person must do, if no other step is running.
fn waits(world: &World, run: &Run) -> Option<Verdict> {
    let is_quiet = run.active().next().is_none() && world.resource::<InputQueue<WorkflowCommand>>().is_empty();
    if !is_quiet || has_answers(world) {
        return None;
    }
    waiting(&run.questions().collect::<Vec<_>>())
}
