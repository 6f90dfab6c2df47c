//! Prepares the review of a finished run: all of its steps together.

use bevy::ecs::message::Message;

use super::definition::Assignee;
use super::run_key::RunKey;
use super::run_state::{Run, RunStatus, StepStatus};
use crate::base::ids::USER;
use crate::base::{Id, Seq};
use crate::mind::context::Line;
use crate::mind::transcript::{bounded, line};

/// How many steps are reviewed, the newest.
const MAX_STEPS: usize = 39;
/// The speaker of the first line.
const WORKFLOW: &str = "workflow";

/// A finished run to review as a whole.
#[derive(Message, Clone, PartialEq, Debug)]
pub struct RunReview {
    /// The run.
    pub run: RunKey,
    /// The ids of the participating agents, the one that contributed last first: the first that can reviews the run.
    pub agents: Vec<Id>,
    /// The tasks and results, step by step, with the ids of the speakers.
    pub lines: Vec<Line>,
    /// The log record of the run.
    pub cause: Seq,
}

impl Run {
    /// The review of the run; `None` while it is running, if a person stopped it and may resume it, or if no agent
    /// contributed.
    pub(super) fn review(&self) -> Option<RunReview> {
        if matches!(self.status, RunStatus::Running | RunStatus::Stopped) {
            return None;
        }
        let is_over = |at: &usize| matches!(self.steps[*at].status, StepStatus::Done | StepStatus::Failed);
        let mut over: Vec<usize> = (0..self.steps.len()).filter(|at| is_over(at) && !self.is_join(*at)).collect();
        over.sort_by_key(|at| (self.steps[*at].ended_tick, *at));
        let mut agents: Vec<Id> = Vec::new();
        for agent in over.iter().rev().flat_map(|at| self.steps[*at].by.iter().rev()) {
            if !agents.contains(agent) {
                agents.push(agent.clone());
            }
        }
        if agents.is_empty() {
            return None;
        }
        let newest = over.split_off(over.len().saturating_sub(MAX_STEPS));
        let lines = line(&WORKFLOW.into(), &self.subject(), false).into_iter();
        let lines = lines.chain(newest.into_iter().flat_map(|at| self.lines_of(at))).collect();
        Some(RunReview { run: self.key, agents, lines: bounded(lines), cause: self.cause })
    }

    /// The subject of the run, in one line.
    fn subject(&self) -> String {
        let variables: Vec<String> = self.variables.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let about = if variables.is_empty() { String::new() } else { format!(" ({})", variables.join("; ")) };
        let outcome = if self.why.is_empty() { String::new() } else { format!(", {}", self.why) };
        format!("{}{about}: {}{outcome}", self.name, self.status.as_str())
    }

    /// The task and the result of a step.
    fn lines_of(&self, at: usize) -> Vec<Line> {
        let (step, state) = (&self.plan.steps[at], &self.steps[at]);
        let by_person = matches!(step.doer, Assignee::Person { .. });
        let by = match (by_person, state.by.last(), &step.doer) {
            (true, ..) => USER.into(),
            (false, Some(agent), _) => agent.clone(),
            (false, None, Assignee::Agent { agent }) => agent.clone(),
            _ => Id::from(step.id.as_str()),
        };
        let gave = match state.status {
            StepStatus::Failed => format!("failed: {}", state.why),
            _ => self.output_text(at),
        };
        let asked = line(&format!("step {}", step.id).into(), &self.question(at), false);
        asked.into_iter().chain(line(&by, &gave, by_person)).collect()
    }
}
