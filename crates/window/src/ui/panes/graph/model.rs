//! The data of the graph: who started whom and who read and wrote which file, collected from the rows of the log as
//! they arrive.

use std::collections::{BTreeMap, BTreeSet};

use super::texts;
use crate::base::ids::USER;
use crate::base::{ActivationKey, Id, Seq};
use crate::log::events::{
    Activation, FileChange, HandOver, ModelCall, Spawn, ToolCall, ToolResult, WorkEnd, WorkOutcome,
};
use crate::log::{Event, EventKind};
use crate::view::event_list::{EventList, EventRow};

/// The number of the person, who stands at the beginning.
pub const YOU: usize = 0;
/// How many calls wait for their results; the oldest are forgotten.
const CALLS_KEPT: usize = 4_096;

/// What an agent is at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Status {
    /// Its work waits.
    #[default]
    Queued,
    /// A model is asked for it.
    Thinking,
    /// A tool that it called is at work.
    UsingTool,
    /// A person must decide.
    AsksYou,
    /// Its work was done.
    Done,
    /// Its work failed.
    Failed,
    /// Its work was stopped.
    Aborted,
    /// Its work never ended, but does not continue any more.
    LeftOff,
}

impl Status {
    /// As it stands on a card.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => texts::QUEUED,
            Self::Thinking => texts::THINKING,
            Self::UsingTool => texts::USING_A_TOOL,
            Self::AsksYou => texts::ASKS_YOU,
            Self::Done => texts::DONE,
            Self::Failed => texts::FAILED,
            Self::Aborted => texts::ABORTED,
            Self::LeftOff => texts::LEFT_OFF,
        }
    }

    /// What the word for the stage of a piece of work means.
    pub fn of_stage(stage: &str) -> Self {
        match stage {
            "thinking" => Self::Thinking,
            "using a tool" => Self::UsingTool,
            "needs you" => Self::AsksYou,
            _ => Self::Queued,
        }
    }
}

/// An agent that had work, or the person.
#[derive(Clone, Debug, Default)]
pub struct AgentNode {
    /// Its id; the person's is `user`.
    pub id: String,
    /// The profile that it ran.
    pub profile: Option<Id>,
    /// The file that it was started from, where another agent wrote that.
    pub path: Option<Id>,
    /// Who started it first.
    pub parent: Option<usize>,
    /// Whom it started first.
    pub children: Vec<usize>,
    /// How deep it is: what a person starts has depth 0.
    pub depth: u32,
    /// Tokens of everything that it was asked for its work.
    pub tokens: u64,
    /// Pieces of work that it was given.
    pub pieces: u32,
    /// What it told whoever started it, how often.
    pub told: u32,
    /// Files that stand with it, in order of appearance.
    pub files: Vec<usize>,
    /// Files that it read.
    pub reads: BTreeSet<usize>,
    /// Files that it wrote.
    pub writes: BTreeSet<usize>,
    /// As far as the log tells.
    pub status: Status,
    /// Work that is not over, and the tokens of each that are counted.
    pub open: BTreeMap<ActivationKey, u64>,
}

impl AgentNode {
    /// Whether all its work is over.
    pub fn is_finished(&self) -> bool {
        self.open.is_empty() && matches!(self.status, Status::Done | Status::Failed | Status::Aborted)
    }
}

/// A file that an agent read or wrote.
#[derive(Clone, Debug)]
pub struct FileNode {
    /// Its path.
    pub path: Id,
    /// Who made it: an agent, `user`, or a word for something outside; absent where it was there before.
    pub creator: Option<Id>,
    /// With whom it stands: the agent that made it, else the first that had to do with it.
    pub home: Option<usize>,
    /// Whether it was deleted.
    pub is_gone: bool,
    /// Who read it.
    pub readers: BTreeSet<usize>,
    /// Who wrote it.
    pub writers: BTreeSet<usize>,
}

/// A call whose result or deeds are awaited.
#[derive(Clone, Debug)]
enum Call {
    Read { agent: usize, path: Id },
    Spawn,
}

/// Everything that is known.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Agents in order of appearance; the first is the person.
    pub agents: Vec<AgentNode>,
    /// Files in order of appearance.
    pub files: Vec<FileNode>,
    /// Who started whom, and how many pieces of work that began.
    pub started: BTreeMap<(usize, usize), u32>,
    agent_numbers: BTreeMap<Id, usize>,
    file_numbers: BTreeMap<Id, usize>,
    calls: BTreeMap<Seq, Call>,
    run: Option<Id>,
    generation: u64,
    next_row: u64,
    is_whole: bool,
    beginnings: u64,
    revision: u64,
}

impl Model {
    /// Takes in at most so many rows that are new: of the newest run, or of all. Whether everything is taken in.
    pub fn apply_events(&mut self, book: &EventList, is_whole: bool, rows_at_most: u64) -> bool {
        let newest = book.count().checked_sub(1).and_then(|number| book.row(number)).map(|row| row.run.clone());
        let is_other = self.generation != book.generation()
            || self.is_whole != is_whole
            || book.count() < self.next_row
            || (!is_whole && self.run != newest);
        if is_other || self.agents.is_empty() {
            let first = if is_whole { book.first() } else { first_of_run(book, newest.as_ref()) };
            *self = Self {
                agents: vec![AgentNode { id: USER.to_owned(), ..AgentNode::default() }],
                run: newest,
                generation: book.generation(),
                next_row: first,
                is_whole,
                beginnings: self.beginnings + 1,
                revision: self.revision + 1,
                ..Self::default()
            };
        }
        let until = book.count().min(self.next_row.max(book.first()).saturating_add(rows_at_most));
        for (number, row) in book.since(self.next_row) {
            if number >= until {
                break;
            }
            self.note(row);
        }
        self.next_row = until.max(self.next_row);
        self.next_row >= book.count()
    }

    /// Changes whenever there is somebody or something new, another arrow, or something is over.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Changes whenever it was begun anew: numbers mean something else then.
    pub fn beginnings(&self) -> u64 {
        self.beginnings
    }

    /// Whether nobody had work.
    pub fn is_empty(&self) -> bool {
        self.agents.len() <= 1
    }

    /// The agent of this id.
    pub fn agent(&self, id: &str) -> Option<usize> {
        self.agent_numbers.get(id).copied()
    }

    /// The file of this path.
    pub fn file(&self, path: &str) -> Option<usize> {
        self.file_numbers.get(path).copied()
    }

    fn note(&mut self, row: &EventRow) {
        if !matters(&row.kind) {
            return;
        }
        let event = match row.event() {
            Event::FileChange(change) => return self.note_change(row, change),
            event => event,
        };
        // Events that are not about work do not concern this graph.
        let (Some(id), Some(activation)) = (&row.agent, &row.activation) else { return };
        let agent = self.ensure(id);
        let key = ActivationKey::parse(activation);
        match event {
            Event::Activation(work) => self.note_activation(work, agent, key),
            Event::Spawn(spawn) => self.note_spawn(spawn, agent),
            Event::HandOver(handed) => {
                let HandOver { to: child, depth, activation, .. } = handed;
                self.note_spawn(Spawn { child, depth, activation, ..Spawn::default() }, agent);
            }
            Event::Signal(_) => self.agents[agent].told += 1,
            Event::ToolCall(call) => {
                self.agents[agent].status = Status::UsingTool;
                self.note_call(row, &call, agent);
            }
            Event::ToolResult(result) => {
                self.agents[agent].status = Status::Thinking;
                self.note_result(row, &result);
            }
            Event::ModelCall(call) => self.note_model_call(&call, agent, key),
            Event::ApprovalRequested(_) => self.agents[agent].status = Status::AsksYou,
            Event::ApprovalDecided(_) => self.agents[agent].status = Status::UsingTool,
            event => {
                if let Some(end) = event.work_end() {
                    self.note_end(&end, agent, key);
                }
            }
        }
    }

    fn ensure(&mut self, id: &Id) -> usize {
        if &**id == USER {
            return YOU;
        }
        if let Some(&number) = self.agent_numbers.get(id) {
            return number;
        }
        let number = self.agents.len();
        self.agents.push(AgentNode { id: id.to_string(), ..AgentNode::default() });
        self.agent_numbers.insert(id.clone(), number);
        self.revision += 1;
        number
    }

    fn note_activation(&mut self, work: Activation, agent: usize, key: Option<ActivationKey>) {
        let node = &mut self.agents[agent];
        if node.pieces == 0 {
            node.depth = work.depth.unwrap_or(node.depth);
        }
        node.pieces += 1;
        if let Some(key) = key {
            node.open.insert(key, 0);
        }
        node.status = Status::Queued;
        node.profile = work.profile.or_else(|| node.profile.take());
        self.revision += 1;
        // An agent that receives a message has work again, but was not started by its sender.
        if work.signal_of.is_none() && !work.by.is_empty() {
            let starter = self.ensure(&work.by);
            self.start(starter, agent);
            *self.started.entry((starter, agent)).or_default() += 1;
        }
    }

    fn note_spawn(&mut self, spawn: Spawn, agent: usize) {
        if spawn.child.is_empty() {
            return;
        }
        let child = self.ensure(&spawn.child);
        if !spawn.path.is_empty() {
            self.agents[child].path = Some(spawn.path);
        }
        // The record of the work itself says it already, unless that was dropped.
        if !self.started.contains_key(&(agent, child)) {
            self.agents[child].depth = spawn.depth;
            self.start(agent, child);
            self.started.insert((agent, child), 0);
            self.revision += 1;
        }
    }

    /// Puts an agent below the one that started it first; an agent is never below one that it started itself.
    fn start(&mut self, starter: usize, agent: usize) {
        if agent == YOU || self.agents[agent].parent.is_some() {
            return;
        }
        let mut above = Some(starter);
        while let Some(number) = above {
            if number == agent {
                return;
            }
            above = self.agents[number].parent;
        }
        self.agents[agent].parent = Some(starter);
        self.agents[starter].children.push(agent);
    }

    fn note_call(&mut self, row: &EventRow, call: &ToolCall, agent: usize) {
        let call = match call.file_read() {
            Some(path) => Call::Read { agent, path },
            None if call.starts_agent() => Call::Spawn,
            None => return,
        };
        self.calls.insert(row.seq, call);
        if self.calls.len() > CALLS_KEPT {
            self.calls.pop_first();
        }
    }

    fn note_result(&mut self, row: &EventRow, result: &ToolResult) {
        let Some(Call::Read { agent, path }) = row.cause.and_then(|cause| self.calls.remove(&cause)) else { return };
        if !result.ok {
            return;
        }
        let file = self.ensure_file(&path, None, Some(agent));
        self.agents[agent].reads.insert(file);
        if self.files[file].readers.insert(agent) {
            self.revision += 1;
        }
    }

    fn note_change(&mut self, row: &EventRow, change: FileChange) {
        if change.path.is_empty() {
            return;
        }
        // The file of a started agent is shown by the arrow to that agent.
        if row.cause.is_some_and(|cause| matches!(self.calls.get(&cause), Some(Call::Spawn))) {
            return;
        }
        let agent = row.agent.as_ref().filter(|_| row.activation.is_some()).map(|id| self.ensure(id));
        if let Some(from) = &change.from {
            self.rename(from, &change.path);
        }
        let by = Some(change.by).filter(|by| !by.is_empty());
        let creator = if change.new == Some(true) { by.or_else(|| row.agent.clone()) } else { None };
        let file = self.ensure_file(&change.path, creator, agent);
        self.files[file].is_gone = change.gone;
        if let Some(agent) = agent {
            self.agents[agent].writes.insert(file);
            if self.files[file].writers.insert(agent) {
                self.revision += 1;
            }
        }
    }

    fn ensure_file(&mut self, path: &Id, creator: Option<Id>, agent: Option<usize>) -> usize {
        let number = match self.file_numbers.get(path) {
            Some(&number) => number,
            None => {
                let (readers, writers) = (BTreeSet::new(), BTreeSet::new());
                let node = FileNode { path: path.clone(), creator: None, home: None, is_gone: false, readers, writers };
                self.files.push(node);
                self.file_numbers.insert(path.clone(), self.files.len() - 1);
                self.files.len() - 1
            }
        };
        let file = &mut self.files[number];
        file.creator = file.creator.take().or(creator);
        if file.home.is_none()
            && let Some(agent) = agent
        {
            file.home = Some(agent);
            self.agents[agent].files.push(number);
            self.revision += 1;
        }
        number
    }

    /// A file is called something else from now on. Another one of that name is overwritten.
    fn rename(&mut self, from: &str, to: &Id) {
        let Some(number) = self.file_numbers.remove(from) else { return };
        if self.file_numbers.contains_key(to) {
            self.files[number].is_gone = true;
            return;
        }
        self.files[number].path = to.clone();
        self.file_numbers.insert(to.clone(), number);
    }

    fn note_model_call(&mut self, call: &ModelCall, agent: usize, key: Option<ActivationKey>) {
        let tokens = call.tokens_in.unwrap_or(0).saturating_add(call.tokens_out.unwrap_or(0));
        let node = &mut self.agents[agent];
        node.tokens = node.tokens.saturating_add(tokens);
        if let Some(counted) = key.and_then(|key| node.open.get_mut(&key)) {
            *counted = counted.saturating_add(tokens);
            node.status = Status::Thinking;
        }
    }

    fn note_end(&mut self, end: &WorkEnd, agent: usize, key: Option<ActivationKey>) {
        let node = &mut self.agents[agent];
        // Calls without a record are included in the total at the end.
        if let Some(counted) = key.and_then(|key| node.open.remove(&key)) {
            node.tokens = node.tokens.saturating_add(end.tokens.saturating_sub(counted));
        }
        node.status = match end.outcome {
            WorkOutcome::Completed => Status::Done,
            WorkOutcome::Failed => Status::Failed,
            WorkOutcome::Aborted => Status::Aborted,
        };
        self.revision += 1;
    }
}

/// Only what may matter is looked into: most records are about states.
fn matters(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::Activation
            | EventKind::Spawn
            | EventKind::HandOver
            | EventKind::Signal
            | EventKind::ToolCall
            | EventKind::ToolResult
            | EventKind::FileChange
            | EventKind::ModelCall
            | EventKind::ApprovalRequested
            | EventKind::ApprovalDecided
            | EventKind::Complete
            | EventKind::Error
            | EventKind::Abort
    )
}

/// The number of the first row of a run whose rows are the last ones.
fn first_of_run(book: &EventList, run: Option<&Id>) -> u64 {
    let (mut low, mut high) = (book.first(), book.count());
    while low < high {
        let middle = low + (high - low) / 2;
        if book.row(middle).map(|row| &row.run) == run {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
