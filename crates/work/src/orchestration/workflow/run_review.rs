//! What there is to learn from a run that is over: all of its steps together, looked back at once.

use bevy::ecs::message::Message;

use super::definition::Assignee;
use super::run_key::RunKey;
use super::run_state::{Run, RunStatus, StepStatus};
use crate::base::ids::USER;
use crate::base::{Id, Seq};
use crate::mind::context::Line;
use crate::mind::transcript::{bounded, line};

/// How many steps are looked back at, the newest.
const STEPS_AT_MOST: usize = 39;
/// Whose words the first line is.
const WORKFLOW: &str = "workflow";

/// A run that is over, to be learned from as a whole.
#[derive(Message, Clone, PartialEq, Debug)]
pub struct RunReview {
    /// Which run.
    pub run: RunKey,
    /// The agents that took part, by id, whoever gave something last as the first: the first that can learns.
    pub agents: Vec<Id>,
    /// What was asked and given, step by step; the speakers by id.
    pub lines: Vec<Line>,
    /// The record that it comes from.
    pub cause: Seq,
}

impl Run {
    /// What there is to learn from it; nothing while it is running, if a person stopped it and may resume it, or if no
    /// agent gave anything.
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
        let newest = over.split_off(over.len().saturating_sub(STEPS_AT_MOST));
        let lines = line(&WORKFLOW.into(), &self.subject(), false).into_iter();
        let lines = lines.chain(newest.into_iter().flat_map(|at| self.lines_of(at))).collect();
        Some(RunReview { run: self.key, agents, lines: bounded(lines), cause: self.cause })
    }

    /// What it is about, in one line.
    fn subject(&self) -> String {
        let variables: Vec<String> = self.variables.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let about = if variables.is_empty() { String::new() } else { format!(" ({})", variables.join("; ")) };
        let outcome = if self.why.is_empty() { String::new() } else { format!(", {}", self.why) };
        format!("{}{about}: {}{outcome}", self.name, self.status.word())
    }

    /// What a step was asked, and what it gave.
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
