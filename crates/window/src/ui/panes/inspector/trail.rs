//! What the log says about each agent's work and model calls, and about who read which file: updated as the log grows,
//! a bounded number of rows per frame, so that selecting another agent costs nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::texts;
use crate::base::text::first_paragraph;
use crate::base::{Id, Seq};
use crate::gateway::acp::log_events::OwnPlan;
use crate::log::events::{Activation, FileChange, Knowledge, ModelCall, ToolCall, ToolResult, WorkEnd, WorkOutcome};
use crate::log::{EventData, EventKind};
use crate::mind::PlanStep;
use crate::ui::widgets::text_format;
use crate::view::event_list::{EventList, EventRow};

/// Rows that are looked through in one frame.
const ROWS_A_FRAME: usize = 20_000;
/// Pieces of work that are kept of an agent.
const WORKS_KEPT: usize = 500;
/// Calls that are kept of an agent.
const CALLS_KEPT: usize = 1_000;
/// Files of which it is kept who read them.
const FILES_KEPT: usize = 20_000;
/// Tool calls whose result is awaited.
const AWAITED: usize = 4_000;

/// What the log says, by agent and by file.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    /// The generation of the log that this follows.
    generation: u64,
    /// The number of the row that comes next.
    next: u64,
    agents: BTreeMap<Id, AgentTrail>,
    readers: BTreeMap<Id, BTreeMap<Id, Arc<EventRow>>>,
    /// Files that are being read, by the record of the call: who, and which.
    awaited: BTreeMap<Seq, (Id, Id)>,
}

/// What the log says of an agent, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentTrail {
    pub(super) works: VecDeque<PastWork>,
    pub(super) calls: VecDeque<Arc<EventRow>>,
    /// The plan that it reported last, if a coding agent answers for it.
    pub(super) plan: Vec<PlanStep>,
    /// The record of what it was last reminded of.
    pub(super) reminded: Option<Arc<EventRow>>,
}

/// A piece of work according to the log.
#[derive(Clone, Debug)]
pub(super) struct PastWork {
    /// `act-12`.
    pub(super) activation: Id,
    /// The record that it began with.
    pub(super) began: Arc<EventRow>,
    /// Its task, in one line; empty if that is no longer known.
    task: String,
    /// How it ended, once it is over.
    pub(super) ended: Option<WorkEnd>,
}

impl Trail {
    /// Processes the new records of the log. Returns whether there are more.
    pub(super) fn follow(&mut self, book: &EventList) -> bool {
        if self.generation != book.generation() || self.next > book.count() {
            *self = Self { generation: book.generation(), ..Self::default() };
        }
        let mut taken = 0;
        for (number, row) in book.since(self.next).take(ROWS_A_FRAME) {
            self.next = number + 1;
            taken += 1;
            self.note(row);
        }
        taken == ROWS_A_FRAME
    }

    /// What is known of an agent.
    pub(super) fn agent(&self, id: &str) -> Option<&AgentTrail> {
        self.agents.get(id)
    }

    /// Who has read a file, and the record of the last time.
    pub(super) fn readers(&self, path: &str) -> impl ExactSizeIterator<Item = (&Id, &Arc<EventRow>)> {
        static NOBODY: BTreeMap<Id, Arc<EventRow>> = BTreeMap::new();
        self.readers.get(path).unwrap_or(&NOBODY).iter()
    }

    fn note(&mut self, row: &Arc<EventRow>) {
        match row.kind {
            EventKind::Activation => self.begin(row),
            EventKind::Complete | EventKind::Abort | EventKind::Error => {
                if let Some(end) = row.event().work_end() {
                    self.end(row, end);
                }
            }
            EventKind::ModelCall => {
                if let Some(agent) = &row.agent {
                    push(&mut self.agents.entry(agent.clone()).or_default().calls, row.clone(), CALLS_KEPT);
                }
            }
            EventKind::ToolCall => {
                let path = row.read::<ToolCall>().and_then(|call| call.file_read());
                if let (Some(agent), Some(path)) = (&row.agent, path) {
                    self.awaited.insert(row.seq, (agent.clone(), path));
                    if self.awaited.len() > AWAITED {
                        self.awaited.pop_first();
                    }
                }
            }
            EventKind::ToolResult => {
                let asked = row.cause.and_then(|cause| self.awaited.remove(&cause));
                let is_read = |_: &_| row.read::<ToolResult>().is_some_and(|result| result.ok);
                if let Some((agent, path)) = asked.filter(is_read) {
                    self.readers.entry(path).or_default().insert(agent, row.clone());
                    if self.readers.len() > FILES_KEPT {
                        self.readers.pop_first();
                    }
                }
            }
            EventKind::FileChange => {
                // A file that was given another path is the same file.
                let Some(FileChange { path, from: Some(from), .. }) = row.read() else { return };
                if let Some(readers) = self.readers.remove(&from) {
                    self.readers.insert(path, readers);
                }
            }
            EventKind::Knowledge => {
                if let (Some(agent), Some(Knowledge::Recalled { .. })) = (&row.agent, row.read()) {
                    self.agents.entry(agent.clone()).or_default().reminded = Some(row.clone());
                }
            }
            EventKind::Other(_) => self.note_plan(row),
            _ => {}
        }
    }

    /// Keeps the plan that a coding agent reports.
    fn note_plan(&mut self, row: &Arc<EventRow>) {
        if let (Some(agent), Some(OwnPlan { steps })) = (&row.agent, row.read()) {
            self.agents.entry(agent.clone()).or_default().plan = steps;
        }
    }

    fn begin(&mut self, row: &Arc<EventRow>) {
        let (Some(agent), Some(activation)) = (&row.agent, &row.activation) else { return };
        let task = row.read::<Activation>().map(|work| first_paragraph(&work.task)).unwrap_or_default();
        let work = PastWork { activation: activation.clone(), began: row.clone(), task, ended: None };
        let trail = self.agents.entry(agent.clone()).or_default();
        // A plan is one for a piece of work.
        trail.plan.clear();
        push(&mut trail.works, work, WORKS_KEPT);
    }

    fn end(&mut self, row: &Arc<EventRow>, end: WorkEnd) {
        let (Some(agent), Some(activation)) = (&row.agent, &row.activation) else { return };
        let works = &mut self.agents.entry(agent.clone()).or_default().works;
        match works.iter_mut().rev().find(|work| work.activation == *activation) {
            Some(work) => work.ended = Some(end),
            // Where it began is no longer at hand.
            None => {
                let (activation, began) = (activation.clone(), row.clone());
                push(works, PastWork { activation, began, task: String::new(), ended: Some(end) }, WORKS_KEPT);
            }
        }
    }
}

fn push<T>(list: &mut VecDeque<T>, item: T, most: usize) {
    if list.len() >= most {
        list.pop_front();
    }
    list.push_back(item);
}

impl PastWork {
    /// What it was asked, as far as that is known.
    pub(super) fn task(&self) -> &str {
        if self.task.is_empty() { &self.activation } else { &self.task }
    }

    /// How it ended, in a few words.
    pub(super) fn ending(&self) -> String {
        let Some(ended) = &self.ended else { return texts::NOT_OVER.to_owned() };
        let word = match ended.outcome {
            WorkOutcome::Completed => texts::ENDED_DONE,
            WorkOutcome::Failed => texts::ENDED_FAILED,
            WorkOutcome::Aborted => texts::ENDED_STOPPED,
        };
        texts::work_ended(word, ended.turns as usize, &text_format::compact(ended.tokens))
    }
}

/// A call of a model, in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct CallFacts {
    /// What for, and who was asked: `task · offline`.
    pub(super) title: String,
    /// Tokens, how long it took, and how it ended.
    pub(super) about: String,
    /// What failed and what to do; empty where it was answered.
    pub(super) error: String,
}

impl CallFacts {
    /// Of the record of a call; of any other there are none.
    pub(super) fn of(row: &EventRow) -> Self {
        let Some(call) = row.read::<ModelCall>() else { return Self::default() };
        let (provider, model) = (&call.provider, &call.model);
        let asked =
            if model.is_empty() || model == provider { provider.clone() } else { format!("{provider} · {model}") };
        let kind = if call.kind.is_empty() { texts::CALL } else { &call.kind };
        let title = if asked.is_empty() { kind.to_owned() } else { format!("{kind} · {asked}") };
        let secs = call.duration_ms as f64 / 1_000.0;
        let took = if secs < 10.0 { format!("{secs:.1} s") } else { text_format::duration(secs) };
        let error = call.error.as_ref().map_or(String::new(), |error| match call.to_do() {
            "" => error.what.clone(),
            remedy => texts::call_error(&error.what, remedy),
        });
        let ended = match (&call.error, call.finish.as_ref().and_then(Option::as_deref)) {
            (Some(_), _) => texts::CALL_FAILED.to_owned(),
            (None, finish) => finish.unwrap_or(texts::CALL_ENDED).replace('_', " "),
        };
        let tokens = |count: Option<u64>| text_format::compact(count.unwrap_or(0));
        let (sent, came) = (tokens(call.tokens_in), tokens(call.tokens_out));
        Self { title, about: texts::about_call(&sent, &came, &took, &ended), error }
    }
}

#[cfg(test)]
#[path = "trail_tests.rs"]
mod tests;
