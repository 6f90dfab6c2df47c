//! The data of the graph: which agents started each other, and which files they read and wrote. It is updated
//! incrementally from the rows of the log.

use std::collections::{BTreeMap, BTreeSet};

use super::texts;
use crate::base::ids::USER;
use crate::base::{ActivationKey, Id, Seq};
use crate::log::events::{
    Activation, FileChange, HandOver, ModelCall, Spawn, ToolCall, ToolResult, WorkEnd, WorkOutcome,
};
use crate::log::{Event, EventKind};
use crate::view::event_list::{EventList, EventRow};

/// Index of the user in [`Model::agents`].
pub const YOU: usize = 0;
/// Maximum number of tool calls waiting for a result; the oldest are dropped.
const MAX_PENDING_CALLS: usize = 4_096;

/// The work status of an agent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Status {
    /// Its work is queued.
    #[default]
    Queued,
    /// Waiting for a model's response.
    Thinking,
    /// A tool call is running.
    UsingTool,
    /// Waiting for the user's approval.
    AsksYou,
    /// Its work was completed.
    Done,
    /// Its work failed.
    Failed,
    /// Its work was stopped.
    Aborted,
    /// Its work never ended and is no longer running, for example because the app was closed.
    Interrupted,
}

impl Status {
    /// Returns the label shown on a card.
    pub fn label(self) -> &'static str {
        match self {
            Self::Queued => texts::QUEUED,
            Self::Thinking => texts::THINKING,
            Self::UsingTool => texts::USING_A_TOOL,
            Self::AsksYou => texts::ASKS_YOU,
            Self::Done => texts::DONE,
            Self::Failed => texts::FAILED,
            Self::Aborted => texts::ABORTED,
            Self::Interrupted => texts::INTERRUPTED,
        }
    }

    /// Parses the stage of a piece of work, as the room reports it.
    pub fn of_stage(stage: &str) -> Self {
        match stage {
            "thinking" => Self::Thinking,
            "using a tool" => Self::UsingTool,
            "needs you" => Self::AsksYou,
            _ => Self::Queued,
        }
    }
}

/// An agent that was given work, or the user.
#[derive(Clone, Debug, Default)]
pub struct AgentNode {
    /// The agent's id, or `user`.
    pub id: String,
    /// The profile of its latest work.
    pub profile: Option<Id>,
    /// The profile file that it was started from, if another agent wrote it.
    pub path: Option<Id>,
    /// The agent that started it first.
    pub parent: Option<usize>,
    /// The agents that it started first.
    pub children: Vec<usize>,
    /// Depth in the tree; agents started by the user have depth 0.
    pub depth: u32,
    /// Tokens used by all its model calls.
    pub tokens: u64,
    /// Number of pieces of work that it was given.
    pub pieces: u32,
    /// Number of times it reported to the agent that started it.
    pub reports: u32,
    /// Files shown below its card, in order of appearance.
    pub files: Vec<usize>,
    /// Files that it read.
    pub reads: BTreeSet<usize>,
    /// Files that it wrote.
    pub writes: BTreeSet<usize>,
    /// The status according to the log.
    pub status: Status,
    /// Unfinished work, with the tokens counted so far for each piece.
    pub open: BTreeMap<ActivationKey, u64>,
}

impl AgentNode {
    /// Whether all its work has ended.
    pub fn is_finished(&self) -> bool {
        self.open.is_empty() && matches!(self.status, Status::Done | Status::Failed | Status::Aborted)
    }
}

/// A file that an agent read or wrote.
#[derive(Clone, Debug)]
pub struct FileNode {
    /// Path in the workspace.
    pub path: Id,
    /// Creator: an agent's id, `user`, or a word for an external program; `None` if the file existed before.
    pub creator: Option<Id>,
    /// The agent whose card the file is shown below: its creator, else the first agent that read or wrote it.
    pub home: Option<usize>,
    /// Whether it was deleted.
    pub is_deleted: bool,
    /// Agents that read it.
    pub readers: BTreeSet<usize>,
    /// Agents that wrote it.
    pub writers: BTreeSet<usize>,
}

/// A tool call whose result or effects have not been logged yet.
#[derive(Clone, Debug)]
enum PendingCall {
    Read { agent: usize, path: Id },
    Spawn,
}

/// The whole graph.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Agents in order of appearance; the first is the user.
    pub agents: Vec<AgentNode>,
    /// Files in order of appearance.
    pub files: Vec<FileNode>,
    /// Pairs of agents where the first started the second, with the number of pieces of work given.
    pub started: BTreeMap<(usize, usize), u32>,
    agent_numbers: BTreeMap<Id, usize>,
    file_numbers: BTreeMap<Id, usize>,
    pending_calls: BTreeMap<Seq, PendingCall>,
    run: Option<Id>,
    generation: u64,
    next_row: u64,
    shows_all_runs: bool,
    rebuilds: u64,
    revision: u64,
}

impl Model {
    /// Processes at most `max_rows` new rows, of the newest run or of all runs. Returns whether all rows are processed.
    pub fn apply_events(&mut self, events: &EventList, shows_all_runs: bool, max_rows: u64) -> bool {
        let newest = events.count().checked_sub(1).and_then(|number| events.row(number)).map(|row| row.run.clone());
        let must_rebuild = self.generation != events.generation()
            || self.shows_all_runs != shows_all_runs
            || events.count() < self.next_row
            || (!shows_all_runs && self.run != newest);
        if must_rebuild || self.agents.is_empty() {
            let first = if shows_all_runs { events.first() } else { first_of_run(events, newest.as_ref()) };
            *self = Self {
                agents: vec![AgentNode { id: USER.to_owned(), ..AgentNode::default() }],
                run: newest,
                generation: events.generation(),
                next_row: first,
                shows_all_runs,
                rebuilds: self.rebuilds + 1,
                revision: self.revision + 1,
                ..Self::default()
            };
        }
        let until = events.count().min(self.next_row.max(events.first()).saturating_add(max_rows));
        for (number, row) in events.since(self.next_row) {
            if number >= until {
                break;
            }
            self.apply_row(row);
        }
        self.next_row = until.max(self.next_row);
        self.next_row >= events.count()
    }

    /// Changes whenever an agent, a file or an arrow is added, or work ends.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Number of times the model was rebuilt, after which indices have a new meaning.
    pub fn rebuilds(&self) -> u64 {
        self.rebuilds
    }

    /// Whether no agent has been given work.
    pub fn is_empty(&self) -> bool {
        self.agents.len() <= 1
    }

    /// Returns the index of the agent with this id.
    pub fn agent(&self, id: &str) -> Option<usize> {
        self.agent_numbers.get(id).copied()
    }

    /// Returns the index of the file with this path.
    pub fn file(&self, path: &str) -> Option<usize> {
        self.file_numbers.get(path).copied()
    }

    fn apply_row(&mut self, row: &EventRow) {
        if !is_relevant(&row.kind) {
            return;
        }
        let event = match row.event() {
            Event::FileChange(change) => return self.apply_file_change(row, change),
            event => event,
        };
        // Events that are not about work do not concern this graph.
        let (Some(id), Some(activation)) = (&row.agent, &row.activation) else { return };
        let agent = self.get_or_add_agent(id);
        let key = ActivationKey::parse(activation);
        match event {
            Event::Activation(work) => self.apply_activation(work, agent, key),
            Event::Spawn(spawn) => self.apply_spawn(spawn, agent),
            Event::HandOver(hand_over) => {
                let HandOver { to: child, depth, activation, .. } = hand_over;
                self.apply_spawn(Spawn { child, depth, activation, ..Spawn::default() }, agent);
            }
            Event::Signal(_) => self.agents[agent].reports += 1,
            Event::ToolCall(call) => {
                self.agents[agent].status = Status::UsingTool;
                self.apply_tool_call(row, &call, agent);
            }
            Event::ToolResult(result) => {
                self.agents[agent].status = Status::Thinking;
                self.apply_tool_result(row, &result);
            }
            Event::ModelCall(call) => self.apply_model_call(&call, agent, key),
            Event::ApprovalRequested(_) => self.agents[agent].status = Status::AsksYou,
            Event::ApprovalDecided(_) => self.agents[agent].status = Status::UsingTool,
            event => {
                if let Some(end) = event.work_end() {
                    self.apply_work_end(&end, agent, key);
                }
            }
        }
    }

    fn get_or_add_agent(&mut self, id: &Id) -> usize {
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

    fn apply_activation(&mut self, work: Activation, agent: usize, key: Option<ActivationKey>) {
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
            let starter = self.get_or_add_agent(&work.by);
            self.set_parent(starter, agent);
            *self.started.entry((starter, agent)).or_default() += 1;
        }
    }

    fn apply_spawn(&mut self, spawn: Spawn, agent: usize) {
        if spawn.child.is_empty() {
            return;
        }
        let child = self.get_or_add_agent(&spawn.child);
        if !spawn.path.is_empty() {
            self.agents[child].path = Some(spawn.path);
        }
        // The activation has already recorded this, unless it was dropped from the log.
        if !self.started.contains_key(&(agent, child)) {
            self.agents[child].depth = spawn.depth;
            self.set_parent(agent, child);
            self.started.insert((agent, child), 0);
            self.revision += 1;
        }
    }

    /// Sets the parent of an agent to its first starter, unless that would make a cycle.
    fn set_parent(&mut self, starter: usize, agent: usize) {
        if agent == YOU || self.agents[agent].parent.is_some() {
            return;
        }
        let mut ancestor = Some(starter);
        while let Some(number) = ancestor {
            if number == agent {
                return;
            }
            ancestor = self.agents[number].parent;
        }
        self.agents[agent].parent = Some(starter);
        self.agents[starter].children.push(agent);
    }

    fn apply_tool_call(&mut self, row: &EventRow, call: &ToolCall, agent: usize) {
        let call = match call.file_read() {
            Some(path) => PendingCall::Read { agent, path },
            None if call.starts_agent() => PendingCall::Spawn,
            None => return,
        };
        self.pending_calls.insert(row.seq, call);
        if self.pending_calls.len() > MAX_PENDING_CALLS {
            self.pending_calls.pop_first();
        }
    }

    fn apply_tool_result(&mut self, row: &EventRow, result: &ToolResult) {
        let Some(PendingCall::Read { agent, path }) = row.cause.and_then(|cause| self.pending_calls.remove(&cause))
        else {
            return;
        };
        if !result.ok {
            return;
        }
        let file = self.get_or_add_file(&path, None, Some(agent));
        self.agents[agent].reads.insert(file);
        if self.files[file].readers.insert(agent) {
            self.revision += 1;
        }
    }

    fn apply_file_change(&mut self, row: &EventRow, change: FileChange) {
        if change.path.is_empty() {
            return;
        }
        // The file of a started agent is shown by the arrow to that agent.
        if row.cause.is_some_and(|cause| matches!(self.pending_calls.get(&cause), Some(PendingCall::Spawn))) {
            return;
        }
        let agent = row.agent.as_ref().filter(|_| row.activation.is_some()).map(|id| self.get_or_add_agent(id));
        if let Some(from) = &change.from {
            self.rename(from, &change.path);
        }
        let by = Some(change.by).filter(|by| !by.is_empty());
        let creator = if change.new == Some(true) { by.or_else(|| row.agent.clone()) } else { None };
        let file = self.get_or_add_file(&change.path, creator, agent);
        self.files[file].is_deleted = change.gone;
        if let Some(agent) = agent {
            self.agents[agent].writes.insert(file);
            if self.files[file].writers.insert(agent) {
                self.revision += 1;
            }
        }
    }

    fn get_or_add_file(&mut self, path: &Id, creator: Option<Id>, agent: Option<usize>) -> usize {
        let number = match self.file_numbers.get(path) {
            Some(&number) => number,
            None => {
                let (readers, writers) = (BTreeSet::new(), BTreeSet::new());
                let node =
                    FileNode { path: path.clone(), creator: None, home: None, is_deleted: false, readers, writers };
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

    /// Renames a file. A file that already has the new name is overwritten.
    fn rename(&mut self, from: &str, to: &Id) {
        let Some(number) = self.file_numbers.remove(from) else { return };
        if self.file_numbers.contains_key(to) {
            self.files[number].is_deleted = true;
            return;
        }
        self.files[number].path = to.clone();
        self.file_numbers.insert(to.clone(), number);
    }

    fn apply_model_call(&mut self, call: &ModelCall, agent: usize, key: Option<ActivationKey>) {
        let tokens = call.tokens_in.unwrap_or(0).saturating_add(call.tokens_out.unwrap_or(0));
        let node = &mut self.agents[agent];
        node.tokens = node.tokens.saturating_add(tokens);
        if let Some(counted) = key.and_then(|key| node.open.get_mut(&key)) {
            *counted = counted.saturating_add(tokens);
            node.status = Status::Thinking;
        }
    }

    fn apply_work_end(&mut self, end: &WorkEnd, agent: usize, key: Option<ActivationKey>) {
        let node = &mut self.agents[agent];
        // The total at the end includes calls that have no record.
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

/// Skips other rows without parsing them; most are about agents' states.
fn is_relevant(kind: &EventKind) -> bool {
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

/// Returns the number of the first row of `run`, which must be the last run in the list.
fn first_of_run(events: &EventList, run: Option<&Id>) -> u64 {
    let (mut low, mut high) = (events.first(), events.count());
    while low < high {
        let middle = low + (high - low) / 2;
        if events.row(middle).map(|row| &row.run) == run {
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
