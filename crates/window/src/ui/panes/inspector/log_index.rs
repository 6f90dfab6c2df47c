//! An index of the log: the work and model calls of each agent, and the readers of each file. Built incrementally with
//! a bounded number of rows per frame, so that selecting another agent costs nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::texts;
use crate::base::text::first_paragraph;
use crate::base::{Id, Seq};
use crate::gateway::acp::log_events::AgentPlanReported;
use crate::log::events::{
    ActWay, Acted, Activation, FileChange, Knowledge, ModelCall, ToolCall, ToolResult, WorkEnd, WorkOutcome,
};
use crate::log::{EventData, EventKind};
use crate::mind::PlanStep;
use crate::ui::widgets::text_format;
use crate::view::event_list::{EventList, EventRow};

/// The maximum number of rows processed per frame.
const ROWS_PER_FRAME: usize = 20_000;
/// The maximum number of pieces of work per agent.
const MAX_WORK_PER_AGENT: usize = 500;
/// The maximum number of model calls per agent.
const MAX_CALLS_PER_AGENT: usize = 1_000;
/// The maximum number of files whose readers are indexed.
const MAX_FILES: usize = 20_000;
/// The maximum number of tool calls without a result.
const MAX_PENDING_READS: usize = 4_000;

/// An index of the log by agent and by file.
#[derive(Clone, Debug, Default)]
pub(super) struct LogIndex {
    /// The generation of the indexed event list.
    generation: u64,
    /// The number of the next row to be processed.
    next: u64,
    agents: BTreeMap<Id, AgentLog>,
    readers: BTreeMap<Id, BTreeMap<Id, Arc<EventRow>>>,
    /// File reads without a result, as agent and path by the record of the tool call.
    pending_reads: BTreeMap<Seq, (Id, Id)>,
}

/// The indexed records of an agent, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentLog {
    pub(super) works: VecDeque<PastWork>,
    pub(super) calls: VecDeque<Arc<EventRow>>,
    /// The acts on the room that its replies asked for.
    acts: VecDeque<Arc<EventRow>>,
    /// The latest reported plan, if a coding agent answers for it.
    pub(super) plan: Vec<PlanStep>,
    /// The record of the memories that it recalled last.
    pub(super) last_recalled: Option<Arc<EventRow>>,
}

/// A piece of work according to the log.
#[derive(Clone, Debug)]
pub(super) struct PastWork {
    /// The activation id, such as `act-12`.
    pub(super) activation: Id,
    /// The first record.
    pub(super) began: Arc<EventRow>,
    /// The task in one line; empty if it is no longer known.
    task: String,
    /// How it ended; `None` while it is running.
    pub(super) ended: Option<WorkEnd>,
}

impl LogIndex {
    /// Processes the new records of the log. Returns whether there are more.
    pub(super) fn update(&mut self, book: &EventList) -> bool {
        if self.generation != book.generation() || self.next > book.count() {
            *self = Self { generation: book.generation(), ..Self::default() };
        }
        let mut processed = 0;
        for (number, row) in book.since(self.next).take(ROWS_PER_FRAME) {
            self.next = number + 1;
            processed += 1;
            self.add_row(row);
        }
        processed == ROWS_PER_FRAME
    }

    /// Returns the records of an agent.
    pub(super) fn agent(&self, id: &str) -> Option<&AgentLog> {
        self.agents.get(id)
    }

    /// Returns the readers of a file, each with the record of the latest read.
    pub(super) fn readers(&self, path: &str) -> impl ExactSizeIterator<Item = (&Id, &Arc<EventRow>)> {
        static NOBODY: BTreeMap<Id, Arc<EventRow>> = BTreeMap::new();
        self.readers.get(path).unwrap_or(&NOBODY).iter()
    }

    fn add_row(&mut self, row: &Arc<EventRow>) {
        match row.kind {
            EventKind::Activation => self.start_work(row),
            EventKind::Complete | EventKind::Abort | EventKind::Error => {
                if let Some(end) = row.event().work_end() {
                    self.end_work(row, end);
                }
            }
            EventKind::ModelCall => {
                if let Some(agent) = &row.agent {
                    push(&mut self.agents.entry(agent.clone()).or_default().calls, row.clone(), MAX_CALLS_PER_AGENT);
                }
            }
            EventKind::Acted => {
                if let Some(agent) = &row.agent {
                    push(&mut self.agents.entry(agent.clone()).or_default().acts, row.clone(), MAX_CALLS_PER_AGENT);
                }
            }
            EventKind::ToolCall => {
                let path = row.read::<ToolCall>().and_then(|call| call.file_read());
                if let (Some(agent), Some(path)) = (&row.agent, path) {
                    self.pending_reads.insert(row.seq, (agent.clone(), path));
                    if self.pending_reads.len() > MAX_PENDING_READS {
                        self.pending_reads.pop_first();
                    }
                }
            }
            EventKind::ToolResult => {
                let read = row.cause.and_then(|cause| self.pending_reads.remove(&cause));
                let is_read = |_: &_| row.read::<ToolResult>().is_some_and(|result| result.ok);
                if let Some((agent, path)) = read.filter(is_read) {
                    self.readers.entry(path).or_default().insert(agent, row.clone());
                    if self.readers.len() > MAX_FILES {
                        self.readers.pop_first();
                    }
                }
            }
            EventKind::FileChange => {
                // Readers follow a renamed file.
                let Some(FileChange { path, from: Some(from), .. }) = row.read() else { return };
                if let Some(readers) = self.readers.remove(&from) {
                    self.readers.insert(path, readers);
                }
            }
            EventKind::Knowledge => {
                if let (Some(agent), Some(Knowledge::Recalled { .. })) = (&row.agent, row.read()) {
                    self.agents.entry(agent.clone()).or_default().last_recalled = Some(row.clone());
                }
            }
            EventKind::Other(_) => self.update_plan(row),
            _ => {}
        }
    }

    /// Stores the plan that a coding agent reports.
    fn update_plan(&mut self, row: &Arc<EventRow>) {
        if let (Some(agent), Some(AgentPlanReported { steps })) = (&row.agent, row.read()) {
            self.agents.entry(agent.clone()).or_default().plan = steps;
        }
    }

    fn start_work(&mut self, row: &Arc<EventRow>) {
        let (Some(agent), Some(activation)) = (&row.agent, &row.activation) else { return };
        let task = row.read::<Activation>().map(|work| first_paragraph(&work.task)).unwrap_or_default();
        let work = PastWork { activation: activation.clone(), began: row.clone(), task, ended: None };
        let agent_log = self.agents.entry(agent.clone()).or_default();
        // A plan belongs to one piece of work.
        agent_log.plan.clear();
        push(&mut agent_log.works, work, MAX_WORK_PER_AGENT);
    }

    fn end_work(&mut self, row: &Arc<EventRow>, end: WorkEnd) {
        let (Some(agent), Some(activation)) = (&row.agent, &row.activation) else { return };
        let works = &mut self.agents.entry(agent.clone()).or_default().works;
        match works.iter_mut().rev().find(|work| work.activation == *activation) {
            Some(work) => work.ended = Some(end),
            // The first record is no longer in the log.
            None => {
                let (activation, began) = (activation.clone(), row.clone());
                push(works, PastWork { activation, began, task: String::new(), ended: Some(end) }, MAX_WORK_PER_AGENT);
            }
        }
    }
}

fn push<T>(list: &mut VecDeque<T>, item: T, capacity: usize) {
    if list.len() >= capacity {
        list.pop_front();
    }
    list.push_back(item);
}

impl AgentLog {
    /// Returns what the reply to a model call did in the room, and whether by function calls or by markers: one line
    /// for each way.
    pub(super) fn acts_of(&self, call: &EventRow) -> impl Iterator<Item = String> {
        let of_call =
            |row: &&Arc<EventRow>| (row.tick, row.cause, &row.activation) == (call.tick, call.cause, &call.activation);
        self.acts.iter().filter(of_call).filter_map(|row| row.read::<Acted>()).map(|acted| {
            let way = match acted.way {
                ActWay::Call => texts::BY_CALLS,
                ActWay::Marker => texts::BY_MARKERS,
            };
            texts::acted(way, &acted.acts.join(" "))
        })
    }
}

impl PastWork {
    /// Returns the task, or the activation id if the task is not known.
    pub(super) fn task(&self) -> &str {
        if self.task.is_empty() { &self.activation } else { &self.task }
    }

    /// Returns how it ended in a few words.
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

/// A model call in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct CallFacts {
    /// The purpose and the model: `task · offline`.
    pub(super) title: String,
    /// Tokens, duration and result.
    pub(super) about: String,
    /// What failed and how to fix it; empty if it succeeded.
    pub(super) error: String,
}

impl CallFacts {
    /// Describes the record of a model call; empty for other records.
    pub(super) fn of(row: &EventRow) -> Self {
        let Some(call) = row.read::<ModelCall>() else { return Self::default() };
        let (provider, model) = (&call.provider, &call.model);
        let model_label =
            if model.is_empty() || model == provider { provider.clone() } else { format!("{provider} · {model}") };
        let kind = if call.kind.is_empty() { texts::CALL } else { &call.kind };
        let title = if model_label.is_empty() { kind.to_owned() } else { format!("{kind} · {model_label}") };
        let secs = call.duration_ms as f64 / 1_000.0;
        let took = if secs < 10.0 { format!("{secs:.1} s") } else { text_format::duration(secs) };
        let error = call.error.as_ref().map_or(String::new(), |error| match call.remedy() {
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
#[path = "log_index_tests.rs"]
mod tests;
