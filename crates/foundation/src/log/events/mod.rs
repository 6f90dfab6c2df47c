//! The data of each kind of record: one struct per kind, which serialises to the data of the record. The JSON is a
//! contract: keys keep their names and order, and an absent key stays absent.
//!
//! Reading is lenient, because logs of other versions are read, too: a missing key has a default, an unknown key is
//! skipped, and a record whose data cannot be read is an [`UnknownEvent`].

use std::borrow::Cow;
use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use super::event::{EventDraft, EventJson};
use super::narration::NarrationContext;

mod collaboration;
mod conversations;
mod errors;
mod files;
mod inputs;
mod knowledge;
mod models;
mod room;
mod work;

pub use collaboration::{Blackboard, Deliver, HandOver, Publish, Subscribe, TaskPriority, TaskResultReturned};
pub use conversations::{Compaction, ConversationEnd, ConversationStart, Memory, Message};
pub use errors::{Error, RequestFailed, Warning};
pub use files::FileChange;
pub use inputs::{AgentInput, Furnishing, Input, RelationshipInput, TalkInput, Tie, WorkInput};
pub use knowledge::{Knowledge, RecalledScore};
pub use models::{Budget, CallFailure, ModelCall, Provider};
pub use room::{
    ActionDropped, ActionQueued, AgentAdded, AgentRemoved, ElementChanged, ElementDeed, Read, ReadOutcome, RunEnd,
    RunStart, State,
};
pub use work::{
    Abort, Activation, ApprovalDecided, ApprovalRequested, Complete, Gate, Signal, Spawn, ToolCall, ToolResult, Touch,
    WorkEnd, WorkFailed, WorkOutcome, WorkflowStep,
};

/// A word defined by a higher floor, such as the name of an action or of a tool.
pub type Word = Cow<'static, str>;

/// The word that a small enum of an upper floor has in JSON.
pub fn word(of: impl Serialize) -> Word {
    match serde_json::to_value(of) {
        Ok(serde_json::Value::String(word)) => word.into(),
        _ => "".into(),
    }
}

/// The data of a record, as plain data that serialises to a JSON object.
pub trait EventData: Serialize + DeserializeOwned + Debug {
    /// The kind of its records.
    const KIND: EventKind;

    /// What happened, in the past tense, with a small letter at its head and of any length.
    fn narrate(&self, telling: &NarrationContext<'_>) -> String;

    /// What a person can do about it; empty if there is nothing to do.
    fn to_do(&self) -> &str {
        ""
    }
}

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident = $word:literal),* $(,)?) => {
        /// The kind of a record. The words are a contract: exported logs use them.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum EventKind {
            $($(#[$doc])* $name,)*
            /// A kind that is not in the table, by its word: one that was added, or one of another version.
            Other(Word),
        }

        impl EventKind {
            /// Every kind that this version knows, in the order of the contract.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// All kinds, and one that represents every kind that this version does not know.
            pub const ALL_AND_OTHERS: &'static [Self] = &[$(Self::$name,)* Self::Other(Cow::Borrowed("other"))];

            /// Its place in that list.
            pub fn index(&self) -> usize {
                enum Place { $($name,)* Other }
                match self {
                    $(Self::$name => Place::$name as usize,)*
                    Self::Other(_) => Place::Other as usize,
                }
            }

            /// The word in the exported log.
            pub fn word(&self) -> &str {
                match self {
                    $(Self::$name => $word,)*
                    Self::Other(word) => word,
                }
            }

            /// The kind with this word, [`EventKind::Other`] where this version does not know it.
            pub fn from_word(word: &str) -> Self {
                match word {
                    $($word => Self::$name,)*
                    _ => Self::Other(word.to_owned().into()),
                }
            }
        }

        /// The typed data of a record.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Event {
            $($(#[$doc])* $name($name),)*
            /// A record that this version cannot read.
            Unknown(UnknownEvent),
        }

        impl Event {
            /// What a record of this kind with this data says.
            pub fn parse(kind: &EventKind, data: &EventJson) -> Self {
                let parsed = match kind {
                    $(EventKind::$name => data.parse().map(Self::$name),)*
                    EventKind::Other(_) => None,
                };
                parsed.unwrap_or_else(|| Self::Unknown(UnknownEvent { kind: kind.clone(), data: data.clone() }))
            }

            /// The kind of its record.
            pub fn kind(&self) -> EventKind {
                match self {
                    $(Self::$name(_) => EventKind::$name,)*
                    Self::Unknown(unknown) => unknown.kind.clone(),
                }
            }

            /// What happened, in the past tense, with a small letter at its head and of any length.
            pub fn narrate(&self, telling: &NarrationContext<'_>) -> String {
                match self {
                    $(Self::$name(event) => event.narrate(telling),)*
                    Self::Unknown(unknown) => unknown.narrate(),
                }
            }

            /// What a person can do about it; empty where there is nothing to do.
            pub fn to_do(&self) -> &str {
                match self {
                    $(Self::$name(event) => event.to_do(),)*
                    Self::Unknown(_) => "",
                }
            }
        }

        impl From<Event> for EventDraft {
            fn from(event: Event) -> Self {
                match event {
                    $(Event::$name(event) => Self::of(&event),)*
                    Event::Unknown(UnknownEvent { kind, data }) => Self::kept(kind, data),
                }
            }
        }

        $(impl From<$name> for Event {
            fn from(event: $name) -> Self {
                Self::$name(event)
            }
        })*
    };
}

events! {
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
    /// An agent learned something, was reminded of it, or forgot it.
    Knowledge = "knowledge",
    /// A piece of work was queued for an agent.
    Activation = "activation",
    /// An agent started another.
    Spawn = "spawn",
    /// An agent sent its parent a message.
    Signal = "signal",
    /// An agent handed a task over to another.
    HandOver = "hand_over",
    /// An agent gave back what it was handed over, or could not.
    TaskResultReturned = "hand_back",
    /// Something was said in a channel.
    Publish = "publish",
    /// An agent listens to a channel, or does so no more.
    Subscribe = "subscribe",
    /// An agent received the messages of a channel.
    Deliver = "deliver",
    /// An entry of the blackboard changed.
    Blackboard = "blackboard",
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
    /// Something is wrong, and the room continues.
    Warning = "warning",
    /// Something failed: a piece of work, a request to a model, or the reading of a file.
    Error = "error",
    /// Something was stopped by a person or a limit.
    Abort = "abort",
    /// A piece of work was finished.
    Complete = "complete",
    /// Something came in from outside.
    Input = "input",
}

/// A record that this version cannot read: of an unknown kind, or with invalid data.
#[derive(Clone, PartialEq, Debug)]
pub struct UnknownEvent {
    kind: EventKind,
    data: EventJson,
}

impl UnknownEvent {
    /// A record as another version may have written it: for tests.
    pub fn new(kind: EventKind, data: impl Serialize) -> Self {
        Self { kind, data: EventJson::of(&data) }
    }

    /// What it is about.
    pub fn kind(&self) -> &EventKind {
        &self.kind
    }

    fn narrate(&self) -> String {
        let words = match self.kind.word().replace('_', " ") {
            words if words.trim().is_empty() => "a record".to_owned(),
            words => super::narration::clip(&words),
        };
        format!("{words} (this version cannot read its data: {})", super::narration::clip(self.data.as_kept()))
    }
}

/// Reads a key that may be missing, null, or hold something: `None`, `Some(None)`, `Some(Some(_))`.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Whether a flag that is written only if it is set is to be left out.
fn is_false(flag: &bool) -> bool {
    !flag
}

fn yes() -> bool {
    true
}

#[cfg(test)]
pub(crate) mod tests;
