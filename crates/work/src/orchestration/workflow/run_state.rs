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
    /// It waits for others, or for a place.
    #[default]
    Waiting,
    /// An agent works on it, or will at once.
    Running,
    /// A person is asked.
    Asked,
    /// It gave what it must give.
    Done,
    /// It did not.
    Failed,
    /// It is not done in this run.
    Skipped,
}

impl StepStatus {
    /// Whether nothing more becomes of it, unless it is done again.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Skipped)
    }

    /// The word for logs and files.
    pub fn word(self) -> &'static str {
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
    /// Every step is done or was passed over.
    Done,
    /// A step failed.
    Failed,
    /// A person stopped it.
    Stopped,
}

impl RunStatus {
    /// The word for logs and files.
    pub fn word(self) -> &'static str {
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
    /// It is to begin when there is a place.
    #[default]
    Open,
    /// An agent has it.
    Begun,
    /// A required output is missing: its agent is to be asked once more.
    Missing {
        /// What.
        what: String,
    },
    /// The files with its outputs are being read.
    Reading {
        /// The outputs that are not there yet.
        left: BTreeSet<String>,
        /// What is wrong with those that were looked at.
        wrong: Vec<String>,
        /// Whether the orders were given.
        is_ordered: bool,
    },
    /// It gave everything.
    Done,
    /// It did not.
    Failed,
}

/// One part of a step: the step itself, or its repetition for one list entry.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Part {
    /// How far it is.
    pub stage: PartStage,
    /// The entry.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub item: Value,
    /// The outputs given.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub given: BTreeMap<String, Value>,
    /// The work that it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<PartWork>,
    /// How often it was begun.
    pub tries: u32,
    /// The number of its work in the run, from 1.
    #[serde(skip_serializing_if = "is_zero")]
    pub number: u64,
    /// Whether its agent was asked for what is missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub was_asked_again: bool,
    /// What was said last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Whether a limit or a budget is why.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_limited: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The kernel's work of a part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartWork {
    /// Which.
    pub activation: ActivationKey,
    /// Its session.
    pub thread: ActivationKey,
    /// Who has it, by id.
    pub agent: Id,
}

/// The state of a step.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepState {
    /// What it is at.
    pub status: StepStatus,
    /// Why, in words; empty where there is nothing to say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Whether it is passed over because one before it failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_blocked: bool,
    /// Whether it failed because of a limit or a budget.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_limited: bool,
    /// The agents that gave something for it, in all rounds, whoever did so last as the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<Id>,
    /// How often it was begun anew because it is repeated, from 1; 0 before it was begun at all.
    pub round: u32,
    /// Its pieces, once it was begun.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// What it gave, in this round or in the one before.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, Value>,
    /// The tick in which it was begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began_tick: Option<u64>,
    /// The tick in which it was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_tick: Option<u64>,
}

/// The state of steps that are repeated together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LoopState {
    /// How often they were begun.
    pub rounds: u32,
    /// Whether they are not repeated any more.
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
    /// Which step; none where it is about the whole run.
    pub step: Option<usize>,
    /// What it is now.
    pub to: String,
    /// Why, or what follows.
    pub why: String,
    /// Who is at it, by id.
    pub agent: Option<Id>,
    /// Whose results it goes on with, by id.
    pub from: Vec<Id>,
}

/// A run of a workflow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Names it.
    pub key: RunKey,
    /// The file of the workflow, as it was when the run began.
    pub file: String,
    /// What the workflow is called.
    pub name: String,
    /// Who began it: `user`, or what triggered it.
    pub by: Id,
    /// What it is at.
    pub status: RunStatus,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What it was asked about.
    pub variables: BTreeMap<String, String>,
    /// The tick in which it began.
    pub began_tick: u64,
    /// The tick in which it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_tick: Option<u64>,
    /// The record that it comes from.
    pub cause: Seq,
    /// The file with what it came to, once it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Whether that file was written, or could not be.
    #[serde(default)]
    pub(super) is_written: bool,
    /// The plan of the run.
    pub plan: Arc<Plan>,
    /// How far each step is, in the order of the plan.
    pub steps: Vec<StepState>,
    /// How far each loop of the plan is.
    pub loops: Vec<LoopState>,
    /// Steps without unmet conditions that were not examined yet.
    pub(super) ready: BTreeSet<usize>,
    /// Pieces that are to begin.
    pub(super) open: BTreeSet<PartAt>,
    /// Pieces that agents have.
    pub(super) active: BTreeSet<PartAt>,
    /// Steps of a person that are open.
    pub(super) asked: BTreeSet<usize>,
    /// Sessions that nobody continues.
    pub(super) let_go: Vec<ActivationKey>,
    /// Work that is to end.
    pub(super) to_end: Vec<ActivationKey>,
    /// How many pieces were begun, each try counted.
    #[serde(default)]
    pub(super) begun: u64,
    /// The changes to report.
    #[serde(skip)]
    pub(super) changes: Vec<Change>,
    /// Counts the changes, for views.
    #[serde(default)]
    pub(super) revision: u64,
}

impl Run {
    /// Whether it goes on.
    pub fn is_going_on(&self) -> bool {
        self.status == RunStatus::Running
    }

    /// A number that grows whenever something about it is another.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether nothing but limits and budgets keeps it from being done.
    pub fn is_limited(&self) -> bool {
        let mut failed = self.steps.iter().filter(|state| state.status == StepStatus::Failed).peekable();
        self.status == RunStatus::Failed && failed.peek().is_some() && failed.all(|state| state.is_limited)
    }

    /// Whether it is over and nothing of it is left to be done.
    pub fn is_settled(&self) -> bool {
        self.status != RunStatus::Running && self.is_written && self.let_go.is_empty() && self.to_end.is_empty()
    }

    /// What a person is asked by a step that is theirs.
    pub fn question(&self, step: usize) -> String {
        let prompt = self.plan.steps.get(step).map(|step| step.prompt.clone()).unwrap_or_default();
        prompt.render(|token| self.text(token, (step, 0)))
    }

    /// The pieces that agents have.
    pub fn active(&self) -> impl Iterator<Item = PartAt> {
        self.active.iter().copied()
    }

    /// The steps of a person that are open, by their places.
    pub fn asked(&self) -> impl Iterator<Item = usize> {
        self.asked.iter().copied()
    }

    /// The work that it set going and that is not over.
    pub fn work(&self) -> impl Iterator<Item = &PartWork> {
        self.active.iter().filter_map(|(step, part)| self.steps.get(*step)?.parts.get(*part)?.work.as_ref())
    }

    /// A piece.
    pub fn part(&self, (step, part): PartAt) -> Option<&Part> {
        self.steps.get(step)?.parts.get(part)
    }

    pub(super) fn part_mut(&mut self, (step, part): PartAt) -> Option<&mut Part> {
        self.steps.get_mut(step)?.parts.get_mut(part)
    }

    /// The piece that this work is.
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

    /// What a text says in a place of a step.
    pub(super) fn text(&self, token: &Token, at: PartAt) -> String {
        value::text(&self.value(token, at))
    }

    /// Whether its statements about steps are possible: a file may contain anything.
    pub(super) fn fits_its_plan(&self) -> bool {
        let count = self.plan.steps.len();
        let parts = self.open.iter().chain(&self.active);
        let steps = self.ready.iter().chain(&self.asked).copied();
        self.steps.len() == count
            && self.loops.len() == self.plan.loops.len()
            && steps.into_iter().all(|step| step < count)
            && parts.into_iter().all(|(step, part)| self.steps.get(*step).is_some_and(|step| *part < step.parts.len()))
    }

    /// How many steps are at this; ends of workflows within it do not count.
    pub fn count(&self, status: StepStatus) -> usize {
        let is_it = |(at, state): &(usize, &StepState)| state.status == status && !self.is_join(*at);
        self.steps.iter().enumerate().filter(is_it).count()
    }

    /// Whether a step only represents the end of a nested workflow.
    pub fn is_join(&self, step: usize) -> bool {
        self.plan.steps.get(step).is_some_and(|step| step.doer == Assignee::Join)
    }

    /// What the steps gave that nothing comes after: what the run comes to.
    pub fn result_text(&self) -> String {
        let done = |at: &usize| self.steps.get(*at).is_some_and(|state| state.status == StepStatus::Done);
        let last: Vec<String> = self.plan.graph.last().filter(done).map(|at| self.output_text(at)).collect();
        last.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// What a step gave in words: its outputs by name, or what was said where it has none.
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
