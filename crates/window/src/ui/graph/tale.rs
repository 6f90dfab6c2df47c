//! Records as the room writes them, for the tests of the graph.

use serde_json::{Value, json};

use crate::base::{Id, Seq};
use crate::log::{EventDraft, EventKind, EventRecord};
use crate::view::book::EventBook;

/// An agent at a piece of work.
pub type Work<'a> = (&'a str, u64);

/// A log that grows.
pub struct Tale {
    /// What is in it.
    pub book: EventBook,
    /// The run that goes on.
    pub run: Id,
    next: u64,
}

impl Tale {
    /// An empty log.
    pub fn new() -> Self {
        Self { book: EventBook::default(), run: "run-1".into(), next: 1 }
    }

    /// Puts down a record. Its place in the log.
    pub fn put(&mut self, kind: EventKind, who: Option<Work>, cause: Option<u64>, data: Value) -> u64 {
        let mut draft = EventDraft::new(kind, data).cause(cause.map(Seq));
        if let Some((agent, activation)) = who {
            draft = draft.agent(&agent.into()).activation(&format!("act-{activation}").into());
        }
        let seq = self.next;
        self.next += 1;
        let record = EventRecord { seq: Seq(seq), tick: seq, time_ms: 0, run: self.run.clone(), draft };
        self.book.push(&record);
        seq
    }

    /// Somebody is given work. Its number.
    pub fn work(&mut self, agent: &str, data: Value) -> u64 {
        let number = self.next;
        self.put(EventKind::Activation, Some((agent, number)), None, data)
    }

    /// The person gives a task.
    pub fn task(&mut self, agent: &str) -> u64 {
        self.work(agent, json!({ "task": "do it", "by": "user", "depth": 0, "profile": agent }))
    }

    /// An agent starts another. The number of the other's work.
    pub fn spawn(&mut self, by: Work, child: &str, depth: u32) -> u64 {
        let path = format!("agents/{child}.md");
        let call = self.call(by, "spawn_agent", &format!("{child}.md"));
        self.put(EventKind::FileChange, Some(by), Some(call), json!({ "path": path, "by": by.0, "new": true }));
        let parent = format!("act-{}", by.1);
        let data = json!({ "task": "help", "by": by.0, "parent": parent, "depth": depth, "profile": child });
        let work = self.work(child, data);
        let data = json!({ "child": child, "path": path, "depth": depth, "activation": format!("act-{work}") });
        self.put(EventKind::Spawn, Some(by), Some(work), data);
        self.result(by, "spawn_agent", call, true);
        work
    }

    /// A tool is called. The place of the record.
    pub fn call(&mut self, who: Work, tool: &str, target: &str) -> u64 {
        let data = json!({ "tool": tool, "id": "c", "target": target, "turn": 1, "gate": "allow" });
        self.put(EventKind::ToolCall, Some(who), None, data)
    }

    /// A tool answers.
    pub fn result(&mut self, who: Work, tool: &str, call: u64, is_done: bool) {
        let data = json!({ "tool": tool, "id": "c", "ok": is_done, "text": "…" });
        self.put(EventKind::ToolResult, Some(who), Some(call), data);
    }

    /// An agent reads a file.
    pub fn reads(&mut self, who: Work, path: &str) {
        let call = self.call(who, "vfs_read", path);
        self.result(who, "vfs_read", call, true);
    }

    /// An agent writes a file.
    pub fn writes(&mut self, who: Work, path: &str, is_new: bool) {
        let call = self.call(who, "vfs_write", path);
        let data = json!({ "path": path, "by": who.0, "chars": 9, "new": is_new });
        self.put(EventKind::FileChange, Some(who), Some(call), data);
        self.result(who, "vfs_write", call, true);
    }

    /// A model is asked.
    pub fn asks(&mut self, who: Work, tokens: (u64, u64)) {
        let data = json!({ "kind": "work", "provider": "offline", "model": "m", "tokens_in": tokens.0,
            "tokens_out": tokens.1, "cached_tokens": 0, "finish": null, "cost_usd": 0.0 });
        self.put(EventKind::ModelCall, Some(who), None, data);
    }

    /// Work is over.
    pub fn ends(&mut self, who: Work, kind: EventKind, tokens: u64) {
        let data = json!({ "turns": 2, "calls": 2, "tokens": tokens, "cost_usd": 0.0, "text": "done" });
        self.put(kind, Some(who), None, data);
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
            tale.ends(*helper, EventKind::Complete, 700);
        }
        tale
    }
}
