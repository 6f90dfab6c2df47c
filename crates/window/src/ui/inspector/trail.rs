//! What the log says of each agent's work and calls of models, and of who read which file: followed as the log
//! grows, a bounded number of rows a frame, so that choosing somebody else costs nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use crate::base::{Id, Seq};
use crate::log::EventKind;
use crate::ui::words;
use crate::view::book::{EventBook, EventRow};

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
/// The tool that reads a file.
const READING_TOOL: &str = "vfs_read";

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
}

/// A piece of work as the log tells of it.
#[derive(Clone, Debug)]
pub(super) struct PastWork {
    /// `act-12`.
    pub(super) activation: Id,
    /// The record that it began with.
    pub(super) began: Arc<EventRow>,
    /// The record that it ended with.
    pub(super) ended: Option<Arc<EventRow>>,
}

impl Trail {
    /// Takes in what was logged since. Whether there is more to take in.
    pub(super) fn follow(&mut self, book: &EventBook) -> bool {
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
            EventKind::Complete | EventKind::Abort | EventKind::Error => self.end(row),
            EventKind::ModelCall => {
                if let Some(agent) = &row.agent {
                    push(&mut self.agents.entry(agent.clone()).or_default().calls, row.clone(), CALLS_KEPT);
                }
            }
            EventKind::ToolCall if row.tool.as_deref() == Some(READING_TOOL) => {
                let value = row.value();
                if let (Some(agent), Some(path)) = (&row.agent, value["target"].as_str()) {
                    self.awaited.insert(row.seq, (agent.clone(), path.into()));
                    if self.awaited.len() > AWAITED {
                        self.awaited.pop_first();
                    }
                }
            }
            EventKind::ToolResult => {
                let asked = row.cause.and_then(|cause| self.awaited.remove(&cause));
                if let Some((agent, path)) = asked.filter(|_| row.value()["ok"] == true) {
                    self.readers.entry(path).or_default().insert(agent, row.clone());
                    if self.readers.len() > FILES_KEPT {
                        self.readers.pop_first();
                    }
                }
            }
            EventKind::FileChange => {
                // A file that was given another path is the same file.
                let from = row.value()["from"].as_str().map(Id::from);
                if let (Some(path), Some(readers)) = (&row.path, from.and_then(|from| self.readers.remove(&from))) {
                    self.readers.insert(path.clone(), readers);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, row: &Arc<EventRow>) {
        let (Some(agent), Some(activation)) = (&row.agent, &row.activation) else { return };
        let work = PastWork { activation: activation.clone(), began: row.clone(), ended: None };
        push(&mut self.agents.entry(agent.clone()).or_default().works, work, WORKS_KEPT);
    }

    fn end(&mut self, row: &Arc<EventRow>) {
        let (Some(agent), Some(activation)) = (&row.agent, &row.activation) else { return };
        let works = &mut self.agents.entry(agent.clone()).or_default().works;
        match works.iter_mut().rev().find(|work| work.activation == *activation) {
            Some(work) => work.ended = Some(row.clone()),
            // Where it began is no longer at hand.
            None => {
                let work = PastWork { activation: activation.clone(), began: row.clone(), ended: Some(row.clone()) };
                push(works, work, WORKS_KEPT);
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
    pub(super) fn task(&self) -> String {
        let value = self.began.value();
        let task = value["task"].as_str().map(crate::base::text::one_line).unwrap_or_default();
        if task.is_empty() { self.activation.to_string() } else { task }
    }

    /// How it ended, in a few words.
    pub(super) fn ending(&self) -> String {
        let Some(ended) = &self.ended else { return "not over".to_owned() };
        let value = ended.value();
        let word = match ended.kind {
            EventKind::Complete => "done",
            EventKind::Abort => "stopped",
            _ => "failed",
        };
        let turns = value["turns"].as_u64().map(|turns| format!(", {}", words::count(turns as usize, "turn", "turns")));
        let tokens = value["tokens"].as_u64().map(|tokens| format!(", {} tokens", words::compact(tokens)));
        format!("{word}{}{}", turns.unwrap_or_default(), tokens.unwrap_or_default())
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
    /// Of a record of the kind `model_call`.
    pub(super) fn of(row: &EventRow) -> Self {
        let value = row.value();
        let text = |key: &str| value[key].as_str().unwrap_or_default();
        let number = |key: &str| value[key].as_u64().unwrap_or(0);
        let (provider, model) = (text("provider"), text("model"));
        let asked =
            if model.is_empty() || model == provider { provider.to_owned() } else { format!("{provider} · {model}") };
        let kind = if text("kind").is_empty() { "call" } else { text("kind") };
        let title = if asked.is_empty() { kind.to_owned() } else { format!("{kind} · {asked}") };
        let secs = number("duration_ms") as f64 / 1_000.0;
        let took = if secs < 10.0 { format!("{secs:.1} s") } else { words::duration(secs) };
        let error = match value.get("error") {
            Some(error) => {
                let (what, remedy) = (said(error, "what"), said(error, "remedy"));
                if remedy.is_empty() { what } else { format!("{what}. To do: {remedy}.") }
            }
            None => String::new(),
        };
        let ended = match value.get("error") {
            Some(_) => "failed".to_owned(),
            None => value["finish"].as_str().unwrap_or("ended").replace('_', " "),
        };
        let tokens =
            format!("{} in, {} out", words::compact(number("tokens_in")), words::compact(number("tokens_out")));
        Self { title, about: format!("{tokens}, {took}, {ended}"), error }
    }
}

fn said(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
#[path = "trail_tests.rs"]
mod tests;
