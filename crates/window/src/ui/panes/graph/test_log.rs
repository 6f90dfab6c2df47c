//! A log with records as the room writes them, for the tests of the graph.

use crate::base::{Id, Seq};
use crate::log::events::{
    Abort, Activation, Complete, Error, FileChange, ModelCall, Spawn, ToolCall, ToolResult, Touch, WorkFailed,
    WorkOutcome,
};
use crate::log::{Event, EventDraft, EventRecord};
use crate::view::event_list::EventList;

/// An agent's id, and the number of its piece of work.
pub type Work<'a> = (&'a str, u64);

/// A log to which records are added.
pub struct TestLog {
    /// The records.
    pub book: EventList,
    /// The current run.
    pub run: Id,
    next: u64,
}

impl TestLog {
    /// An empty log.
    pub fn new() -> Self {
        Self { book: EventList::default(), run: "run-1".into(), next: 1 }
    }

    /// Adds a record and returns its sequence number.
    pub fn push(&mut self, who: Option<Work>, cause: Option<u64>, event: impl Into<Event>) -> u64 {
        let mut draft = EventDraft::from(event.into()).cause(cause.map(Seq));
        if let Some((agent, activation)) = who {
            draft = draft.agent(&agent.into()).activation(&act(activation));
        }
        let seq = self.next;
        self.next += 1;
        let record = EventRecord { seq: Seq(seq), tick: seq, time_ms: 0, run: self.run.clone(), draft };
        self.book.push(&record);
        seq
    }

    /// Gives work to an agent and returns the number of the work.
    pub fn work(&mut self, agent: &str, work: Activation) -> u64 {
        let number = self.next;
        self.push(Some((agent, number)), None, work)
    }

    /// Gives a task from the user and returns the number of the work.
    pub fn task(&mut self, agent: &str) -> u64 {
        let (task, depth, profile) = ("do it".into(), Some(0), Some(agent.into()));
        self.work(agent, Activation { task, by: "user".into(), depth, profile, ..Activation::default() })
    }

    /// Starts an agent from another and returns the number of its work.
    pub fn spawn(&mut self, by: Work, child: &str, depth: u32) -> u64 {
        let path: Id = format!("agents/{child}.md").into();
        let call = self.call(by, "spawn_agent", &[("agent.spawn", &path)]);
        self.push(Some(by), Some(call), FileChange { new: Some(true), ..FileChange::new(path.clone(), by.0) });
        let work = Activation {
            task: "help".into(),
            by: by.0.into(),
            parent: Some(act(by.1)),
            depth: Some(depth),
            profile: Some(child.into()),
            ..Activation::default()
        };
        let work = self.work(child, work);
        self.push(Some(by), Some(work), Spawn { child: child.into(), path, depth, activation: act(work) });
        self.result(by, "spawn_agent", call, true);
        work
    }

    /// Adds a tool call with these touches and returns its sequence number.
    pub fn call(&mut self, who: Work, tool: &str, touches: &[(&'static str, &str)]) -> u64 {
        let touches = touches.iter().map(|(kind, target)| Touch::new(*kind, *target)).collect();
        self.push(Some(who), None, ToolCall { tool: tool.into(), id: "c".into(), touches, ..ToolCall::default() })
    }

    /// Adds the result of a tool call.
    pub fn result(&mut self, who: Work, tool: &str, call: u64, ok: bool) {
        self.push(Some(who), Some(call), ToolResult { tool: tool.into(), id: "c".into(), ok, text: "…".into() });
    }

    /// Adds a file read.
    pub fn reads(&mut self, who: Work, path: &str) {
        let call = self.call(who, "vfs_read", &[("file.read", path)]);
        self.result(who, "vfs_read", call, true);
    }

    /// Adds a file write.
    pub fn writes(&mut self, who: Work, path: &str, is_new: bool) {
        let call = self.call(who, "vfs_write", &[("file.write", path)]);
        let change = FileChange { chars: Some(9), new: Some(is_new), ..FileChange::new(path, who.0) };
        self.push(Some(who), Some(call), change);
        self.result(who, "vfs_write", call, true);
    }

    /// Adds a model call.
    pub fn model_call(&mut self, who: Work, (tokens_in, tokens_out): (u64, u64)) {
        let tokens = (Some(tokens_in), Some(tokens_out));
        let call = ModelCall { kind: "work".into(), provider: "offline".into(), ..ModelCall::default() };
        self.push(Some(who), None, ModelCall { tokens_in: tokens.0, tokens_out: tokens.1, ..call });
    }

    /// Ends a piece of work.
    pub fn end_work(&mut self, who: Work, outcome: WorkOutcome, tokens: u64) {
        let end: Event = match outcome {
            WorkOutcome::Completed => Complete { tokens, ..Complete::default() }.into(),
            WorkOutcome::Failed => Error::Work(WorkFailed { tokens, ..WorkFailed::default() }).into(),
            WorkOutcome::Aborted => Abort { tokens, ..Abort::default() }.into(),
        };
        self.push(Some(who), None, end);
    }

    /// A lead with three helpers. The first two are done, and the third reads what the second wrote.
    pub fn sample() -> Self {
        let mut log = Self::new();
        let lead = ("lead", log.task("lead"));
        log.model_call(lead, (1_000, 200));
        let helpers = ["finder", "writer", "checker"].map(|name| (name, log.spawn(lead, name, 1)));
        log.writes(helpers[0], "artifacts/found.md", true);
        log.writes(helpers[1], "artifacts/text.md", true);
        log.reads(helpers[1], "artifacts/found.md");
        log.reads(helpers[2], "artifacts/text.md");
        for helper in &helpers[..2] {
            log.end_work(*helper, WorkOutcome::Completed, 700);
        }
        log
    }
}

fn act(number: u64) -> Id {
    format!("act-{number}").into()
}
