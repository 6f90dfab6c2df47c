//! Events about the work of agents: its start, delegation, tool calls, approvals and end.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Error, Event, EventData, EventKind, Word, is_false, yes};
use crate::base::ids::ON_ASK;
use crate::base::{AllowScope, Id};
use crate::log::narration::{NarrationContext, counted, in_brackets, joined, with};

/// An activation was queued for an agent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Activation {
    /// The task or instruction.
    pub task: String,
    /// The id of the requester.
    pub by: Id,
    /// The activation whose agent sent the signal that woke this one: `act-3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal_of: Option<Id>,
    /// The activation that started it: `act-3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Id>,
    /// The depth of delegation: 0 if a person started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// The profile of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Id>,
}

impl EventData for Activation {
    const KIND: EventKind = EventKind::Activation;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let by = if self.by.is_empty() { String::new() } else { context.called(&self.by) };
        let verb = if self.signal_of.is_some() { "was woken" } else { "was asked" };
        with(&with(&format!("{} {verb}", context.who()), " by ", &by), ": ", &self.task)
    }
}

/// An agent started another.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Spawn {
    /// The id of the started agent.
    pub child: Id,
    /// The path of the file that it was started from.
    pub path: Id,
    /// The depth of delegation.
    pub depth: u32,
    /// Its activation: `act-9`.
    pub activation: Id,
}

impl EventData for Spawn {
    const KIND: EventKind = EventKind::Spawn;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        in_brackets(&format!("{} started {}", context.who(), context.called(&self.child)), &self.path)
    }
}

/// An agent sent a message to its parent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Signal {
    /// The id of the parent.
    pub to: Id,
    /// The message.
    pub message: String,
    /// Whether the parent has new work because of it.
    pub woke: bool,
    /// Whether it is kept for a parent that a person stopped.
    #[serde(skip_serializing_if = "is_false")]
    pub kept: bool,
}

impl EventData for Signal {
    const KIND: EventKind = EventKind::Signal;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let told = format!("{} reported to {}", context.who(), context.called(&self.to));
        let kept = if self.kept { "kept, because you stopped that one" } else { "" };
        in_brackets(&with(&told, ": ", &self.message), kept)
    }
}

/// The gate's decision about a tool call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The call is allowed.
    Allow,
    /// A person must allow it first.
    Ask,
    /// The call is denied.
    Deny,
}

/// A tool was called.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolCall {
    /// The name of the tool.
    pub tool: Id,
    /// The provider's id for the call.
    pub id: String,
    /// The target, shortened; null for an invalid call.
    pub target: Option<String>,
    /// The turn of the activation, from 1.
    pub turn: u32,
    /// The decision of the gate; null for an invalid call.
    pub gate: Option<Gate>,
    /// The resources that it accesses; absent in old logs and for an invalid call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<Touch>,
    /// The file that it is about, in old logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Id>,
}

/// A resource that a call accesses.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Touch {
    /// The kind of access: `file.write`.
    pub kind: Word,
    /// The path, id or address of the resource; may be empty.
    pub target: Id,
}

impl Touch {
    /// Creates a touch.
    pub fn new(kind: impl Into<Word>, target: impl Into<Id>) -> Self {
        Self { kind: kind.into(), target: target.into() }
    }
}

impl ToolCall {
    /// Returns the file that it only reads, if it is such a call.
    pub fn file_read(&self) -> Option<Id> {
        let touches = self.known_touches();
        let read = touches.iter().find(|touch| touch.kind == "file.read")?;
        let is_changed = touches.iter().any(|touch| touch.kind == "file.write" && touch.target == read.target);
        (!is_changed).then(|| read.target.clone())
    }

    /// Returns the file that it is about, if there is one.
    pub fn file(&self) -> Option<Id> {
        let touches = self.known_touches();
        let is_of_file = |touch: &&Touch| touch.kind.starts_with("file.") && !touch.target.is_empty();
        touches.iter().find(is_of_file).map(|touch| touch.target.clone())
    }

    /// Whether it starts an agent from a file.
    pub fn starts_agent(&self) -> bool {
        self.known_touches().iter().any(|touch| touch.kind == "agent.spawn")
    }

    /// Returns the resources that it accesses. Old logs contain only the tool and a target, which may be shortened.
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

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let target = self.target.as_deref().or(self.path.as_deref()).unwrap_or_default();
        let call = with(&format!("{} called {}", context.who(), tool(&self.tool)), ": ", target);
        let gate = match self.gate {
            Some(Gate::Ask) => "you are asked first",
            Some(Gate::Deny) => "not allowed",
            Some(Gate::Allow) | None => "",
        };
        in_brackets(&call, gate)
    }
}

/// A tool returned a result.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolResult {
    /// The name of the tool.
    pub tool: Id,
    /// The provider's id for the call.
    pub id: String,
    /// Whether it succeeded.
    #[serde(default = "yes")]
    pub ok: bool,
    /// The result, shortened.
    pub text: String,
}

impl EventData for ToolResult {
    const KIND: EventKind = EventKind::ToolResult;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let answered = match self.ok {
            true => format!("{} answered", tool(&self.tool)),
            false => format!("{} could not use {}", context.who(), tool(&self.tool)),
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
    /// The name of the tool.
    pub tool: Id,
    /// A description of the call.
    pub what: String,
    /// The call as a clause after "wants to"; absent in older versions.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub wants: String,
    /// Why a person must decide.
    pub why: String,
    /// The turn of the activation, from 1.
    pub turn: u32,
    /// The index of the call in the turn.
    pub call: usize,
}

impl EventData for ApprovalRequested {
    const KIND: EventKind = EventKind::ApprovalRequested;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        if self.wants.is_empty() {
            return in_brackets(&with(&format!("{} asked you", context.who()), " about ", &self.what), &self.why);
        }
        in_brackets(&with(&context.who(), " wants to ", &self.wants), &with("", "because ", &self.why))
    }
}

/// An approval was answered by a person, or decided by the gate.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovalDecided {
    /// Whether the call is allowed.
    pub decision: Option<Gate>,
    /// Who decided: `user`, `gate`, or `--on-ask` for the option of a command.
    pub by: Id,
    /// The name of the tool.
    pub tool: Id,
    /// The gate's reason to deny it, or the person's comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The scope of the permission.
    #[serde(skip_serializing_if = "AllowScope::is_once")]
    pub scope: AllowScope,
}

impl EventData for ApprovalDecided {
    const KIND: EventKind = EventKind::ApprovalDecided;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let by = match &*self.by {
            "" | "gate" => "the gate".to_owned(),
            ON_ASK => "the option --on-ask".to_owned(),
            by => context.called(by),
        };
        let decided = match self.decision {
            Some(Gate::Allow) => "allowed",
            Some(Gate::Deny) => "refused",
            Some(Gate::Ask) | None => "decided about",
        };
        let decided = format!("{by} {decided} {}", tool(&self.tool));
        with(
            &(with(&decided, " for ", &context.agent()) + &self.scope.clause()),
            ": ",
            self.why.as_deref().unwrap_or_default(),
        )
    }
}

/// A workflow's step changed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkflowStep {
    /// The name of the workflow.
    pub workflow: Id,
    /// The name of the step.
    pub step: Id,
    /// The new status: `done`.
    pub to: String,
    /// The reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The run of the workflow: `wf-3-3kq9x2mf`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Id>,
    /// Who started it, if it is about the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Id>,
    /// The agents whose results are the input of the step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<Id>,
}

impl EventData for WorkflowStep {
    const KIND: EventKind = EventKind::WorkflowStep;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let why = self.why.as_deref().unwrap_or_default();
        if self.step.is_empty() && self.run.is_some() {
            let workflow = with("the workflow", " ", &self.workflow);
            let by = self.by.as_ref().map(|by| context.called(by)).unwrap_or_default();
            return match self.to.as_str() {
                "started" => with(&with(&format!("{workflow} started"), ", started by ", &by), ": ", why),
                "resumed" => with(&format!("{workflow} continues"), ": ", why),
                "done" => with(&format!("{workflow} is done"), ": ", why),
                to => with(&format!("{workflow} {to}"), ": ", why),
            };
        }
        let step = if self.step.is_empty() { "a step".to_owned() } else { with("step", " ", &self.step) };
        let step = with(&step, " of ", &self.workflow);
        let by = context.agent();
        let changed = match self.to.replace('_', " ") {
            to if to.is_empty() => format!("{step} changed"),
            to if to == "running" && !by.is_empty() => format!("{by} started {step}"),
            to if to == "asked" => format!("{step} asks you"),
            to => with(&step, " is ", &to) + " now",
        };
        with(&changed, ": ", why)
    }
}

/// An activation was finished.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Complete {
    /// The number of turns.
    pub turns: u32,
    /// The number of calls of models.
    pub calls: u64,
    /// The number of input and output tokens of all calls.
    pub tokens: u64,
    /// The cost of the calls in US dollars; null if it is not known.
    pub cost_usd: Option<f64>,
    /// The agent's last text, shortened.
    pub text: String,
}

impl EventData for Complete {
    const KIND: EventKind = EventKind::Complete;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        over(context, "finished", (self.turns, self.tokens), &self.text)
    }
}

/// An activation was stopped by a person or a limit.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Abort {
    /// The number of turns.
    pub turns: u32,
    /// The number of calls of models.
    pub calls: u64,
    /// The number of input and output tokens of all calls.
    pub tokens: u64,
    /// The cost of the calls in US dollars; null if it is not known.
    pub cost_usd: Option<f64>,
    /// The reason.
    pub what: String,
    /// Whether a person stopped it.
    pub by_person: bool,
}

impl EventData for Abort {
    const KIND: EventKind = EventKind::Abort;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        over(context, "was stopped", (self.turns, self.tokens), &self.what)
    }
}

/// An activation failed: one variant of [`Error`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkFailed {
    /// The number of turns.
    pub turns: u32,
    /// The number of calls of models.
    pub calls: u64,
    /// The number of input and output tokens of all calls.
    pub tokens: u64,
    /// The cost of the calls in US dollars; null if it is not known.
    pub cost_usd: Option<f64>,
    /// The reason.
    pub what: String,
}

impl WorkFailed {
    pub(super) fn narrate(&self, context: &NarrationContext<'_>) -> String {
        over(context, "could not finish", (self.turns, self.tokens), &self.what)
    }
}

/// How an activation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkOutcome {
    /// It was finished.
    Completed,
    /// It failed.
    Failed,
    /// A person or a limit stopped it.
    Aborted,
}

/// The end of an activation.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkEnd {
    /// The outcome.
    pub outcome: WorkOutcome,
    /// The number of turns.
    pub turns: u32,
    /// The number of input and output tokens of all calls.
    pub tokens: u64,
    /// The agent's last text, or why it did not finish.
    pub said: String,
}

impl Event {
    /// Returns the end of an activation, if the event is one. A refused request or a broken file is not.
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

/// Describes the end of an activation.
fn over(context: &NarrationContext<'_>, verb: &str, (turns, tokens): (u32, u64), said: &str) -> String {
    let (turns, tokens) = (counted(turns.into(), "turn", "turns"), counted(tokens, "token", "tokens"));
    let used = in_brackets(&format!("{} {verb}", context.who()), &joined([Some(turns), Some(tokens)]));
    with(&used, ": ", said)
}
