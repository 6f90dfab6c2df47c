//! The progress of a run: plain data, saved with the room and in a file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::definition::{Assignee, RESULT};
use super::plan::Plan;
use super::run_key::RunKey;
use super::template::Token;
use super::value;
use crate::base::{ActivationKey, Id, Seq};

/// The status of a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// It waits for other steps, or for a free slot.
    #[default]
    Waiting,
    /// An agent works on it, or will at once.
    Running,
    /// A person is asked.
    Asked,
    /// It has all its outputs.
    Done,
    /// It failed.
    Failed,
    /// It is skipped in this run.
    Skipped,
}

impl StepStatus {
    /// Whether it has ended, at least in this round.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Skipped)
    }

    /// The word for logs and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Asked => "asked",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// The status of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It is running, or waits for a person.
    #[default]
    Running,
    /// Every step is done or was skipped.
    Done,
    /// A step failed.
    Failed,
    /// A person stopped it.
    Stopped,
}

impl RunStatus {
    /// The word for logs and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// The stage of one part of a step.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum PartStage {
    /// It waits for a free slot.
    #[default]
    Open,
    /// An agent works on it.
    Begun,
    /// A required output is missing, and the agent will be asked once more.
    Missing {
        /// The missing outputs.
        what: String,
    },
    /// The files with its outputs are being read.
    Reading {
        /// The outputs that were not read yet.
        left: BTreeSet<String>,
        /// The problems of the outputs that were read.
        wrong: Vec<String>,
        /// Whether the read orders were issued.
        is_ordered: bool,
    },
    /// It has all its outputs.
    Done,
    /// It failed.
    Failed,
}

/// One part of a step: the step itself, or its repetition for one list entry.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Part {
    /// The stage.
    pub stage: PartStage,
    /// The list entry.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub item: Value,
    /// Its outputs so far.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub given: BTreeMap<String, Value>,
    /// Why the values that its agent last gave for other outputs were not accepted, by output.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, String>,
    /// The current work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<PartWork>,
    /// The number of attempts.
    pub tries: u32,
    /// The number of its current attempt within the run, from 1.
    #[serde(skip_serializing_if = "is_zero")]
    pub number: u64,
    /// Whether its agent was asked for missing outputs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub was_asked_again: bool,
    /// The agent's last message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Whether it failed because of a limit or a budget.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_limited: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The kernel's work of a part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartWork {
    /// The activation.
    pub activation: ActivationKey,
    /// The session.
    pub thread: ActivationKey,
    /// The id of the agent.
    pub agent: Id,
}

/// The state of a step.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepState {
    /// The status.
    pub status: StepStatus,
    /// The reason for the status; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Whether it is skipped because a step before it failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_blocked: bool,
    /// Whether it failed because of a limit or a budget.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_limited: bool,
    /// The ids of the agents that contributed in all rounds, the latest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<Id>,
    /// The current round, from 1; 0 before the step was started.
    pub round: u32,
    /// Its parts, once it was started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Its outputs in this round, or in the previous one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, Value>,
    /// The tick in which it was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began_tick: Option<u64>,
    /// The tick in which it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_tick: Option<u64>,
}

/// The state of a loop.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LoopState {
    /// The number of rounds that were started.
    pub rounds: u32,
    /// Whether the loop has ended.
    pub is_over: bool,
}

impl Default for LoopState {
    fn default() -> Self {
        Self { rounds: 1, is_over: false }
    }
}

/// The position of a part: the step and the part's number.
pub type PartAt = (usize, usize);

/// A change of a step, for the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The step; `None` for the whole run.
    pub step: Option<usize>,
    /// The new status.
    pub to: String,
    /// The reason, or the consequence.
    pub why: String,
    /// The id of the agent that works on it.
    pub agent: Option<Id>,
    /// The ids of the agents whose results it continues with.
    pub from: Vec<Id>,
}

/// A run of a workflow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// The key.
    pub key: RunKey,
    /// The path of the workflow file when the run started.
    pub file: String,
    /// The name of the workflow.
    pub name: String,
    /// Who started it: `user`, or the trigger.
    pub by: Id,
    /// The status.
    pub status: RunStatus,
    /// The reason for the status.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The values of the variables.
    pub variables: BTreeMap<String, String>,
    /// The tick in which it started.
    pub began_tick: u64,
    /// The tick in which it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_tick: Option<u64>,
    /// The log record that caused it.
    pub cause: Seq,
    /// The path of the result file, once the run is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Whether the result file was written, or failed to be.
    #[serde(default)]
    pub(super) is_written: bool,
    /// The plan of the run.
    pub plan: Arc<Plan>,
    /// The state of each step, in the order of the plan.
    pub steps: Vec<StepState>,
    /// The state of each loop of the plan.
    pub loops: Vec<LoopState>,
    /// Steps whose dependencies are over and that were not examined yet.
    pub(super) ready: BTreeSet<usize>,
    /// Parts that wait for a free slot.
    pub(super) open: BTreeSet<PartAt>,
    /// Parts that agents work on.
    pub(super) active: BTreeSet<PartAt>,
    /// Steps that wait for a person's answer.
    pub(super) asked: BTreeSet<usize>,
    /// Sessions that are no longer needed.
    pub(super) let_go: Vec<ActivationKey>,
    /// Work to abort.
    pub(super) to_end: Vec<ActivationKey>,
    /// The number of attempts at parts.
    #[serde(default)]
    pub(super) begun: u64,
    /// The changes to report.
    #[serde(skip)]
    pub(super) changes: Vec<Change>,
    /// The number of changes, for views.
    #[serde(default)]
    pub(super) revision: u64,
}

impl Run {
    /// Whether it is running.
    pub fn is_running(&self) -> bool {
        self.status == RunStatus::Running
    }

    /// A number that grows with every change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether it failed only because of limits and budgets.
    pub fn is_limited(&self) -> bool {
        let mut failed = self.steps.iter().filter(|state| state.status == StepStatus::Failed).peekable();
        self.status == RunStatus::Failed && failed.peek().is_some() && failed.all(|state| state.is_limited)
    }

    /// Whether it is over and all its actions are done.
    pub fn is_settled(&self) -> bool {
        self.status != RunStatus::Running && self.is_written && self.let_go.is_empty() && self.to_end.is_empty()
    }

    /// The rendered question of a step to a person.
    pub fn question(&self, step: usize) -> String {
        let prompt = self.plan.steps.get(step).map(|step| step.prompt.clone()).unwrap_or_default();
        prompt.render(|token| self.text(token, (step, 0)))
    }

    /// The parts that agents work on.
    pub fn active(&self) -> impl Iterator<Item = PartAt> {
        self.active.iter().copied()
    }

    /// The indexes of the steps that wait for a person's answer.
    pub fn asked(&self) -> impl Iterator<Item = usize> {
        self.asked.iter().copied()
    }

    /// The unfinished work of the run.
    pub fn work(&self) -> impl Iterator<Item = &PartWork> {
        self.active.iter().filter_map(|(step, part)| self.steps.get(*step)?.parts.get(*part)?.work.as_ref())
    }

    /// A part by its position.
    pub fn part(&self, (step, part): PartAt) -> Option<&Part> {
        self.steps.get(step)?.parts.get(part)
    }

    pub(super) fn part_mut(&mut self, (step, part): PartAt) -> Option<&mut Part> {
        self.steps.get_mut(step)?.parts.get_mut(part)
    }

    /// The part with this work.
    pub(super) fn at_work(&self, activation: ActivationKey) -> Option<PartAt> {
        let is_it = |at: &PartAt| {
            self.part(*at).and_then(|part| part.work.as_ref()).is_some_and(|work| work.activation == activation)
        };
        self.active.iter().copied().find(is_it)
    }

    /// The value of a placeholder in a step's texts.
    pub(super) fn value(&self, token: &Token, (step, part): PartAt) -> Value {
        match token {
            Token::Variable(name) => self.variables.get(name).map(|text| text.as_str().into()).unwrap_or_default(),
            Token::Output { .. } => {
                let Some((from, output)) = self.plan.output(token) else { return Value::Null };
                self.steps.get(from).and_then(|state| state.outputs.get(output)).cloned().unwrap_or_default()
            }
            Token::Item => self.part((step, part)).map(|part| part.item.clone()).unwrap_or_default(),
            Token::Index => Value::from(part + 1),
            Token::Round => Value::from(self.steps.get(step).map_or(1, |state| state.round.max(1))),
        }
    }

    /// The value of a placeholder as text.
    pub(super) fn text(&self, token: &Token, at: PartAt) -> String {
        value::text(&self.value(token, at))
    }

    /// Whether all indexes fit the plan, because a file may contain anything.
    pub(super) fn is_consistent(&self) -> bool {
        let count = self.plan.steps.len();
        let parts = self.open.iter().chain(&self.active);
        let steps = self.ready.iter().chain(&self.asked).copied();
        self.steps.len() == count
            && self.loops.len() == self.plan.loops.len()
            && steps.into_iter().all(|step| step < count)
            && parts.into_iter().all(|(step, part)| self.steps.get(*step).is_some_and(|step| *part < step.parts.len()))
    }

    /// The number of steps with this status, without the ends of nested workflows.
    pub fn count(&self, status: StepStatus) -> usize {
        let is_it = |(at, state): &(usize, &StepState)| state.status == status && !self.is_join(*at);
        self.steps.iter().enumerate().filter(is_it).count()
    }

    /// Whether a step only represents the end of a nested workflow.
    pub fn is_join(&self, step: usize) -> bool {
        self.plan.steps.get(step).is_some_and(|step| step.doer == Assignee::Join)
    }

    /// The result of the run: the outputs of the steps that no other step waits for.
    pub fn result_text(&self) -> String {
        let done = |at: &usize| self.steps.get(*at).is_some_and(|state| state.status == StepStatus::Done);
        let last: Vec<String> = self.plan.graph.last().filter(done).map(|at| self.output_text(at)).collect();
        last.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// The outputs of a step as text, by name if there are several; the agent's last message if there are none.
    pub fn output_text(&self, step: usize) -> String {
        let (Some(plan), Some(state)) = (self.plan.steps.get(step), self.steps.get(step)) else { return String::new() };
        let given = |name: &str| state.outputs.get(name).map(value::text).unwrap_or_default();
        match plan.outputs.as_slice() {
            [] => given(RESULT),
            [only] => given(&only.name),
            outputs => {
                let named = outputs.iter().map(|output| format!("**{}:** {}", output.name, given(&output.name)));
                named.collect::<Vec<_>>().join("\n\n")
            }
        }
    }
}
