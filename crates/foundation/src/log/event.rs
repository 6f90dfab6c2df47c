//! One record of the event log, and the kinds there are.

use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::base::{Id, Seq};

macro_rules! event_kinds {
    ($($(#[$doc:meta])* $name:ident = $word:literal),* $(,)?) => {
        /// What a record is about. The words are a contract: exported logs use them.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum EventKind { $($(#[$doc])* $name),* }

        impl EventKind {
            /// Every kind, in the order of the contract.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The word in the exported log.
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word),* }
            }

            /// The kind with this word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$name),)* _ => None }
            }
        }
    };
}

event_kinds! {
    /// A room was opened.
    RunStart = "run_start",
    /// A room was closed, with why.
    RunEnd = "run_end",
    /// An agent came into the room: its profile and place.
    AgentAdded = "agent_added",
    /// An agent left the room.
    AgentRemoved = "agent_removed",
    /// An agent's state changed: `from`, `to`, `why`.
    State = "state",
    /// What an element holds changed.
    ElementChanged = "element_changed",
    /// An action was queued.
    ActionQueued = "action_queued",
    /// An action was refused or pushed out, with why.
    ActionDropped = "action_dropped",
    /// An agent read an element.
    Read = "read",
    /// Agents began to talk.
    ConversationStart = "conversation_start",
    /// Someone said something in a conversation.
    Message = "message",
    /// A conversation ended, with why.
    ConversationEnd = "conversation_end",
    /// A memory slot changed.
    Memory = "memory",
    /// A session was summed up, or failed to be.
    Compaction = "compaction",
    /// A piece of work was queued for an agent.
    Activation = "activation",
    /// An agent started another.
    Spawn = "spawn",
    /// An agent told its parent.
    Signal = "signal",
    /// A tool was called.
    ToolCall = "tool_call",
    /// A tool answered.
    ToolResult = "tool_result",
    /// A file of the workspace changed.
    FileChange = "file_change",
    /// A person was asked.
    ApprovalRequested = "approval_requested",
    /// A person answered.
    ApprovalDecided = "approval_decided",
    /// A workflow's step changed.
    WorkflowStep = "workflow_step",
    /// Tokens or money were reserved, settled, or refused.
    Budget = "budget",
    /// A model was asked: kind, provider, model, tokens, duration, finish reason; never a key.
    ModelCall = "model_call",
    /// A provider began to fail, fails otherwise, works again, or is given another chance: `state`, `kind`, `what`.
    Provider = "provider",
    /// Something is off and the room goes on.
    Warning = "warning",
    /// Something failed.
    Error = "error",
    /// Something was stopped by a person or a limit.
    Abort = "abort",
    /// A piece of work was finished.
    Complete = "complete",
    /// Something came in from outside.
    Input = "input",
}

/// A record before the log gives it its [`Seq`], tick and time.
#[derive(Clone, Debug)]
pub struct EventDraft {
    /// What it is about.
    pub kind: EventKind,
    /// The agent that it concerns.
    pub agent: Option<Id>,
    /// The activation it belongs to.
    pub activation: Option<Id>,
    /// The session or conversation it belongs to.
    pub session: Option<Id>,
    /// The record that it came from.
    pub cause: Option<Seq>,
    /// The rest, as a JSON object.
    pub data: Box<RawValue>,
    /// A long text that belongs to it and is kept beside the log: never exported, and not for ever.
    pub enclosure: Option<Arc<str>>,
}

impl EventDraft {
    /// A record with this data, which must serialise to a JSON object: `json!({ … })` or a small struct.
    pub fn new(kind: EventKind, data: impl Serialize) -> Self {
        let data = serde_json::value::to_raw_value(&data).expect("event data is plain data with string keys");
        Self { kind, agent: None, activation: None, session: None, cause: None, data, enclosure: None }
    }

    /// With this text beside it.
    pub fn enclose(mut self, text: impl Into<Arc<str>>) -> Self {
        self.enclosure = Some(text.into());
        self
    }

    /// About this agent.
    pub fn agent(mut self, agent: &Id) -> Self {
        self.agent = Some(agent.clone());
        self
    }

    /// Part of this activation.
    pub fn activation(mut self, activation: &Id) -> Self {
        self.activation = Some(activation.clone());
        self
    }

    /// In this session or conversation.
    pub fn session(mut self, session: impl Into<Id>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Because of this record.
    pub fn cause(mut self, cause: impl Into<Option<Seq>>) -> Self {
        self.cause = cause.into();
        self
    }
}

/// A record as it is kept.
#[derive(Clone, Debug)]
pub struct EventRecord {
    /// Its place in the log, counted up across all runs of a workspace.
    pub seq: Seq,
    /// The tick in which it happened.
    pub tick: u64,
    /// Wall-clock time in milliseconds since 1970, for people; nothing decides by it.
    pub time_ms: u64,
    /// The run it happened in.
    pub run: Id,
    /// Everything else.
    pub draft: EventDraft,
}

/// One line of an exported log: `seq tick time run type agent activation session cause data`, absent ones left out.
impl Serialize for EventRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(self.time_ms);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("tick", &self.tick)?;
        map.serialize_entry("time", &humantime::format_rfc3339_millis(time).to_string())?;
        map.serialize_entry("run", &self.run)?;
        map.serialize_entry("type", self.draft.kind.word())?;
        for (key, value) in
            [("agent", &self.draft.agent), ("activation", &self.draft.activation), ("session", &self.draft.session)]
        {
            if let Some(value) = value {
                map.serialize_entry(key, value)?;
            }
        }
        if let Some(cause) = self.draft.cause {
            map.serialize_entry("cause", &cause)?;
        }
        map.serialize_entry("data", &self.draft.data)?;
        map.end()
    }
}
