//! Records as the room writes them, for the tests of the graph.

use crate::base::{Id, Seq};
use crate::log::events::{
    Abort, Activation, Complete, Error, FileChange, ModelCall, Spawn, ToolCall, ToolResult, Touch, WorkFailed,
    WorkOutcome,
};
use crate::log::{Event, EventDraft, EventRecord};
use crate::view::event_list::EventList;

/// An agent at a piece of work.
pub type Work<'a> = (&'a str, u64);

/// A log that grows.
pub struct TestLog {
    /// What is in it.
    pub book: EventList,
    /// The run that goes on.
    pub run: Id,
    next: u64,
}

impl TestLog {
    /// An empty log.
    pub fn new() -> Self {
        Self { book: EventList::default(), run: "run-1".into(), next: 1 }
    }

    /// Puts down a record. Its place in the log.
    pub fn put(&mut self, who: Option<Work>, cause: Option<u64>, event: impl Into<Event>) -> u64 {
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

    /// Somebody is given work. Its number.
    pub fn work(&mut self, agent: &str, work: Activation) -> u64 {
        let number = self.next;
        self.put(Some((agent, number)), None, work)
    }

    /// The person gives a task.
    pub fn task(&mut self, agent: &str) -> u64 {
        let (task, depth, profile) = ("do it".into(), Some(0), Some(agent.into()));
        self.work(agent, Activation { task, by: "user".into(), depth, profile, ..Activation::default() })
    }

    /// An agent starts another. The number of the other's work.
    pub fn spawn(&mut self, by: Work, child: &str, depth: u32) -> u64 {
        let path: Id = format!("agents/{child}.md").into();
        let call = self.call(by, "spawn_agent", &[("agent.spawn", &path)]);
        self.put(Some(by), Some(call), FileChange { new: Some(true), ..FileChange::new(path.clone(), by.0) });
        let work = Activation {
            task: "help".into(),
            by: by.0.into(),
            parent: Some(act(by.1)),
            depth: Some(depth),
            profile: Some(child.into()),
            ..Activation::default()
        };
        let work = self.work(child, work);
        self.put(Some(by), Some(work), Spawn { child: child.into(), path, depth, activation: act(work) });
        self.result(by, "spawn_agent", call, true);
        work
    }

    /// A tool is called that touches this. The place of the record.
    pub fn call(&mut self, who: Work, tool: &str, touches: &[(&'static str, &str)]) -> u64 {
        let touches = touches.iter().map(|(kind, target)| Touch::new(*kind, *target)).collect();
        self.put(Some(who), None, ToolCall { tool: tool.into(), id: "c".into(), touches, ..ToolCall::default() })
    }

    /// A tool answers.
    pub fn result(&mut self, who: Work, tool: &str, call: u64, ok: bool) {
        self.put(Some(who), Some(call), ToolResult { tool: tool.into(), id: "c".into(), ok, text: "…".into() });
    }

    /// An agent reads a file.
    pub fn reads(&mut self, who: Work, path: &str) {
        let call = self.call(who, "vfs_read", &[("file.read", path)]);
        self.result(who, "vfs_read", call, true);
    }

    /// An agent writes a file.
    pub fn writes(&mut self, who: Work, path: &str, is_new: bool) {
        let call = self.call(who, "vfs_write", &[("file.write", path)]);
        let change = FileChange { chars: Some(9), new: Some(is_new), ..FileChange::new(path, who.0) };
        self.put(Some(who), Some(call), change);
        self.result(who, "vfs_write", call, true);
    }

    /// A model is asked.
    pub fn asks(&mut self, who: Work, (tokens_in, tokens_out): (u64, u64)) {
        let tokens = (Some(tokens_in), Some(tokens_out));
        let call = ModelCall { kind: "work".into(), provider: "offline".into(), ..ModelCall::default() };
        self.put(Some(who), None, ModelCall { tokens_in: tokens.0, tokens_out: tokens.1, ..call });
    }

    /// Work is over.
    pub fn ends(&mut self, who: Work, outcome: WorkOutcome, tokens: u64) {
        let end: Event = match outcome {
            WorkOutcome::Completed => Complete { tokens, ..Complete::default() }.into(),
            WorkOutcome::Failed => Error::Work(WorkFailed { tokens, ..WorkFailed::default() }).into(),
            WorkOutcome::Aborted => Abort { tokens, ..Abort::default() }.into(),
        };
        self.put(Some(who), None, end);
    }

    /// A lead with three helpers, of whom the first two are done and the third reads what the first wrote.
    pub fn sample() -> Self {
        let mut tale = Self::new();
        let lead = ("lead", tale.task("lead"));
        tale.asks(lead, (1_000, 200));
        let helpers = ["finder", "writer", "checker"].map(|name| (name, tale.spawn(lead, name, 1)));
        tale.writes(helpers[0], "artifacts/found.md", true);
        tale.writes(helpers[1], "artifacts/text.md", true);
        tale.reads(helpers[1], "artifacts/found.md");
        tale.reads(helpers[2], "artifacts/text.md");
        for helper in &helpers[..2] {
            tale.ends(*helper, WorkOutcome::Completed, 700);
        }
        tale
    }
}

fn act(number: u64) -> Id {
    format!("act-{number}").into()
}
