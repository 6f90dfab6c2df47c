//! Events about the work of agents: its start, delegation, tool calls, approvals and end.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Error, Event, EventData, EventKind, Word, is_false, yes};
use crate::base::{AllowScope, Id};
use crate::log::narration::{NarrationContext, aside, counted, joined, with};

/// A piece of work was queued for an agent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Activation {
    /// Its task or instruction.
    pub task: String,
    /// Who asked.
    pub by: Id,
    /// The work whose agent told this and woke it: `act-3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal_of: Option<Id>,
    /// The work that started it: `act-3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Id>,
    /// How deep it is: what a person starts has depth 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// The profile that the agent runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Id>,
}

impl EventData for Activation {
    const KIND: EventKind = EventKind::Activation;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let by = if self.by.is_empty() { String::new() } else { telling.called(&self.by) };
        let verb = if self.signal_of.is_some() { "was woken" } else { "was asked" };
        with(&with(&format!("{} {verb}", telling.who()), " by ", &by), ": ", &self.task)
    }
}

/// An agent started another.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Spawn {
    /// The agent that was started, by id.
    pub child: Id,
    /// The file that it was started from.
    pub path: Id,
    /// How deep it is.
    pub depth: u32,
    /// Its work: `act-9`.
    pub activation: Id,
}

impl EventData for Spawn {
    const KIND: EventKind = EventKind::Spawn;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        aside(&format!("{} started {}", telling.who(), telling.called(&self.child)), &self.path)
    }
}

/// An agent sent a message to its parent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Signal {
    /// Whom, by id.
    pub to: Id,
    /// What.
    pub message: String,
    /// Whether that one has new work because of it.
    pub woke: bool,
    /// Whether it is kept for that one, whom a person stopped.
    #[serde(skip_serializing_if = "is_false")]
    pub kept: bool,
}

impl EventData for Signal {
    const KIND: EventKind = EventKind::Signal;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let told = format!("{} reported to {}", telling.who(), telling.called(&self.to));
        let kept = if self.kept { "kept, because you stopped that one" } else { "" };
        aside(&with(&told, ": ", &self.message), kept)
    }
}

/// The gate's decision about a tool call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// It may happen.
    Allow,
    /// A person is asked first.
    Ask,
    /// It may not happen.
    Deny,
}

/// A tool was called.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolCall {
    /// Which.
    pub tool: Id,
    /// The provider's id for the call.
    pub id: String,
    /// On what, cut to a length; null where the call makes no sense.
    pub target: Option<String>,
    /// The turn of the work, from 1.
    pub turn: u32,
    /// What the gate said; null where the call makes no sense.
    pub gate: Option<Gate>,
    /// What it touches; old logs do not say it, and neither does a call that makes no sense.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<Touch>,
    /// The file that it is about: old logs only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Id>,
}

/// Something that a call touches.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Touch {
    /// In which way: `file.write`.
    pub kind: Word,
    /// What: a path, an id, an address. May be empty.
    pub target: Id,
}

impl Touch {
    /// Touches this in this way.
    pub fn new(kind: impl Into<Word>, target: impl Into<Id>) -> Self {
        Self { kind: kind.into(), target: target.into() }
    }
}

impl ToolCall {
    /// The file that it reads and leaves as it is, if it does that.
    pub fn file_read(&self) -> Option<Id> {
        let touches = self.known_touches();
        let read = touches.iter().find(|touch| touch.kind == "file.read")?;
        let is_changed = touches.iter().any(|touch| touch.kind == "file.write" && touch.target == read.target);
        (!is_changed).then(|| read.target.clone())
    }

    /// The file that it is about, if it is about one.
    pub fn file(&self) -> Option<Id> {
        let touches = self.known_touches();
        let is_of_file = |touch: &&Touch| touch.kind.starts_with("file.") && !touch.target.is_empty();
        touches.iter().find(is_of_file).map(|touch| touch.target.clone())
    }

    /// Whether it starts an agent with a file of its own.
    pub fn starts_agent(&self) -> bool {
        self.known_touches().iter().any(|touch| touch.kind == "agent.spawn")
    }

    /// What it touches. Old logs contain only the tool and a target, which may be cut.
    fn known_touches(&self) -> Cow<'_, [Touch]> {
        if !self.touches.is_empty() {
            return Cow::Borrowed(&self.touches);
        }
        let kind = match &*self.tool {
            "vfs_read" => "file.read",
            "vfs_write" | "vfs_append" | "vfs_edit" => "file.write",
            "vfs_rename" => "file.rename",
            "vfs_delete" => "file.delete",
            "spawn_agent" => "agent.spawn",
            _ => return Cow::Borrowed(&[]),
        };
        let target = self.path.clone().or_else(|| Some(self.target.as_deref()?.into()));
        let target = target.filter(|target| !target.ends_with('…'));
        Cow::Owned(target.map(|target| Touch::new(kind, target)).into_iter().collect())
    }
}

impl EventData for ToolCall {
    const KIND: EventKind = EventKind::ToolCall;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let target = self.target.as_deref().or(self.path.as_deref()).unwrap_or_default();
        let call = with(&format!("{} called {}", telling.who(), tool(&self.tool)), ": ", target);
        let gate = match self.gate {
            Some(Gate::Ask) => "you are asked first",
            Some(Gate::Deny) => "not allowed",
            Some(Gate::Allow) | None => "",
        };
        aside(&call, gate)
    }
}

/// A tool returned a result.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolResult {
    /// Which.
    pub tool: Id,
    /// The provider's id for the call.
    pub id: String,
    /// Whether it did what it was to do.
    #[serde(default = "yes")]
    pub ok: bool,
    /// The answer, cut to a length.
    pub text: String,
}

impl EventData for ToolResult {
    const KIND: EventKind = EventKind::ToolResult;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let answered = match self.ok {
            true => format!("{} answered", tool(&self.tool)),
            false => format!("{} could not use {}", telling.who(), tool(&self.tool)),
        };
        with(&answered, ": ", &self.text)
    }
}

fn tool(name: &str) -> String {
    if name.is_empty() { "a tool".to_owned() } else { with("", "", name) }
}

/// An approval was requested from a person.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovalRequested {
    /// The tool that was called.
    pub tool: Id,
    /// What it is to do, in words.
    pub what: String,
    /// What its agent wants to do, so that it reads on behind "wants to"; older versions left it out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub wants: String,
    /// Why a person decides, in words.
    pub why: String,
    /// The turn of the work, from 1.
    pub turn: u32,
    /// The index of the call in the turn.
    pub call: usize,
}

impl EventData for ApprovalRequested {
    const KIND: EventKind = EventKind::ApprovalRequested;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        if self.wants.is_empty() {
            return aside(&with(&format!("{} asked you", telling.who()), " about ", &self.what), &self.why);
        }
        aside(&with(&telling.who(), " wants to ", &self.wants), &with("", "because ", &self.why))
    }
}

/// An approval was answered by a person, or decided by the gate.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovalDecided {
    /// Whether the call may happen.
    pub decision: Option<Gate>,
    /// Who decided: `user` or `gate`.
    pub by: Id,
    /// The tool that was called.
    pub tool: Id,
    /// Why not, where the gate decided; what the person said of it, where a person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How far it reaches that it is allowed.
    #[serde(skip_serializing_if = "AllowScope::is_once")]
    pub scope: AllowScope,
}

impl EventData for ApprovalDecided {
    const KIND: EventKind = EventKind::ApprovalDecided;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let by = match &*self.by {
            "" | "gate" => "the gate".to_owned(),
            by => telling.called(by),
        };
        let decided = match self.decision {
            Some(Gate::Allow) => "allowed",
            Some(Gate::Deny) => "refused",
            Some(Gate::Ask) | None => "decided about",
        };
        let decided = format!("{by} {decided} {}", tool(&self.tool));
        with(
            &(with(&decided, " for ", &telling.agent()) + &self.scope.clause()),
            ": ",
            self.why.as_deref().unwrap_or_default(),
        )
    }
}

/// A workflow's step changed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkflowStep {
    /// The workflow.
    pub workflow: Id,
    /// The step.
    pub step: Id,
    /// What became of it: `done`.
    pub to: String,
    /// Why, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The run of the workflow: `wf-3-3kq9x2mf`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Id>,
    /// Who began it, where it is about the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Id>,
    /// The agents whose results it goes on with, where an agent begins with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<Id>,
}

impl EventData for WorkflowStep {
    const KIND: EventKind = EventKind::WorkflowStep;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let why = self.why.as_deref().unwrap_or_default();
        if self.step.is_empty() && self.run.is_some() {
            let workflow = with("the workflow", " ", &self.workflow);
            let by = self.by.as_ref().map(|by| telling.called(by)).unwrap_or_default();
            return match self.to.as_str() {
                "started" => with(&with(&format!("{workflow} started"), ", started by ", &by), ": ", why),
                "resumed" => with(&format!("{workflow} continues"), ": ", why),
                "done" => with(&format!("{workflow} is done"), ": ", why),
                to => with(&format!("{workflow} {to}"), ": ", why),
            };
        }
        let step = if self.step.is_empty() { "a step".to_owned() } else { with("step", " ", &self.step) };
        let step = with(&step, " of ", &self.workflow);
        let by = telling.agent();
        let changed = match self.to.replace('_', " ") {
            to if to.is_empty() => format!("{step} changed"),
            to if to == "running" && !by.is_empty() => format!("{by} started {step}"),
            to if to == "asked" => format!("{step} asks you"),
            to => with(&step, " is ", &to) + " now",
        };
        with(&changed, ": ", why)
    }
}

/// A piece of work was finished.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Complete {
    /// Turns that it took.
    pub turns: u32,
    /// Calls of models.
    pub calls: u64,
    /// Tokens of all calls, in and out.
    pub tokens: u64,
    /// What the calls cost, in US dollars; null where that is not known.
    pub cost_usd: Option<f64>,
    /// What the agent said last, cut to a length.
    pub text: String,
}

impl EventData for Complete {
    const KIND: EventKind = EventKind::Complete;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        over(telling, "finished", (self.turns, self.tokens), &self.text)
    }
}

/// A piece of work was stopped by a person or a limit.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Abort {
    /// Turns that it took.
    pub turns: u32,
    /// Calls of models.
    pub calls: u64,
    /// Tokens of all calls, in and out.
    pub tokens: u64,
    /// What the calls cost, in US dollars; null where that is not known.
    pub cost_usd: Option<f64>,
    /// Why, in words.
    pub what: String,
    /// Whether a person stopped it.
    pub by_person: bool,
}

impl EventData for Abort {
    const KIND: EventKind = EventKind::Abort;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        over(telling, "was stopped", (self.turns, self.tokens), &self.what)
    }
}

/// A piece of work failed: one of the things that an [`Error`] is.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkFailed {
    /// Turns that it took.
    pub turns: u32,
    /// Calls of models.
    pub calls: u64,
    /// Tokens of all calls, in and out.
    pub tokens: u64,
    /// What the calls cost, in US dollars; null where that is not known.
    pub cost_usd: Option<f64>,
    /// Why, in words.
    pub what: String,
}

impl WorkFailed {
    pub(super) fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        over(telling, "could not finish", (self.turns, self.tokens), &self.what)
    }
}

/// How a piece of work ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkOutcome {
    /// It was finished.
    Completed,
    /// It failed.
    Failed,
    /// A person or a limit stopped it.
    Aborted,
}

/// The end of a piece of work.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkEnd {
    /// How it ended.
    pub outcome: WorkOutcome,
    /// Turns that it took.
    pub turns: u32,
    /// Tokens of all calls, in and out.
    pub tokens: u64,
    /// What the agent said last, or why it ended otherwise.
    pub said: String,
}

impl Event {
    /// The end of a piece of work, if it is one. A request that was refused is none, and neither is a broken file.
    pub fn work_end(self) -> Option<WorkEnd> {
        let (outcome, turns, tokens, said) = match self {
            Self::Complete(end) => (WorkOutcome::Completed, end.turns, end.tokens, end.text),
            Self::Abort(end) => (WorkOutcome::Aborted, end.turns, end.tokens, end.what),
            Self::Error(Error::Work(end)) => (WorkOutcome::Failed, end.turns, end.tokens, end.what),
            _ => return None,
        };
        Some(WorkEnd { outcome, turns, tokens, said })
    }
}

/// Work is over.
fn over(telling: &NarrationContext<'_>, verb: &str, (turns, tokens): (u32, u64), said: &str) -> String {
    let (turns, tokens) = (counted(turns.into(), "turn", "turns"), counted(tokens, "token", "tokens"));
    let used = aside(&format!("{} {verb}", telling.who()), &joined([Some(turns), Some(tokens)]));
    with(&used, ": ", said)
}
