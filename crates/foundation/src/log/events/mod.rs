//! The data of each kind of record: one struct per kind, which serialises to the data of the record. The JSON is a
//! stable format: keys keep their names and order, and an absent key stays absent.
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
pub use conversations::{ActWay, Acted, Compaction, ConversationEnd, ConversationStart, Memory, Message};
pub use errors::{Error, RequestFailed, Warning};
pub use files::FileChange;
pub use inputs::{AgentInput, Furnishing, Input, RelationshipData, RelationshipInput, TalkInput, WorkInput};
pub use knowledge::{Knowledge, RecalledScore};
pub use models::{Budget, CallFailure, ModelCall, Provider};
pub use room::{
    ActionDropped, ActionQueued, AgentAdded, AgentRemoved, ElementChangeKind, ElementChanged, Reaction, Read,
    ReadOutcome, RunEnd, RunStart, State,
};
pub use work::{
    Abort, Activation, ApprovalDecided, ApprovalRequested, Complete, Gate, Signal, Spawn, ToolCall, ToolResult, Touch,
    WorkEnd, WorkFailed, WorkOutcome, WorkflowStep,
};

/// A word defined by a higher layer, such as the name of an action or of a tool.
pub type Word = Cow<'static, str>;

/// Returns the JSON name of a small enum of a higher layer.
pub fn enum_name(of: impl Serialize) -> Word {
    match serde_json::to_value(of) {
        Ok(serde_json::Value::String(word)) => word.into(),
        _ => "".into(),
    }
}

/// The data of a record, which serialises to a JSON object.
pub trait EventData: Serialize + DeserializeOwned + Debug {
    /// The kind of its records.
    const KIND: EventKind;

    /// Describes what happened, in the past tense, starting with a lower-case letter, of any length.
    fn narrate(&self, context: &NarrationContext<'_>) -> String;

    /// What a person can do about it; empty if there is nothing to do.
    fn remedy(&self) -> &str {
        ""
    }
}

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident = $word:literal),* $(,)?) => {
        /// The kind of a record. Its name is a stable format: exported logs use it.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum EventKind {
            $($(#[$doc])* $name,)*
            /// A kind that is not in the table, by its name: one that was added by other code or another version.
            Other(Word),
        }

        impl EventKind {
            /// Every kind that this version knows, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// All kinds, and one that represents every kind that this version does not know.
            pub const ALL_AND_OTHERS: &'static [Self] = &[$(Self::$name,)* Self::Other(Cow::Borrowed("other"))];

            /// Returns its index in that list.
            pub fn index(&self) -> usize {
                enum Place { $($name,)* Other }
                match self {
                    $(Self::$name => Place::$name as usize,)*
                    Self::Other(_) => Place::Other as usize,
                }
            }

            /// Returns its name in the exported log.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $word,)*
                    Self::Other(word) => word,
                }
            }

            /// Parses a name; [`EventKind::Other`] if this version does not know it.
            pub fn from_name(word: &str) -> Self {
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
            /// A record that this version cannot parse.
            Unknown(UnknownEvent),
        }

        impl Event {
            /// Parses the event of a record of this kind with this data.
            pub fn parse(kind: &EventKind, data: &EventJson) -> Self {
                let parsed = match kind {
                    $(EventKind::$name => data.parse().map(Self::$name),)*
                    EventKind::Other(_) => None,
                };
                parsed.unwrap_or_else(|| Self::Unknown(UnknownEvent { kind: kind.clone(), data: data.clone() }))
            }

            /// Returns the kind of its record.
            pub fn kind(&self) -> EventKind {
                match self {
                    $(Self::$name(_) => EventKind::$name,)*
                    Self::Unknown(unknown) => unknown.kind.clone(),
                }
            }

            /// Describes what happened, in the past tense, starting with a lower-case letter, of any length.
            pub fn narrate(&self, context: &NarrationContext<'_>) -> String {
                match self {
                    $(Self::$name(event) => event.narrate(context),)*
                    Self::Unknown(unknown) => unknown.narrate(),
                }
            }

            /// Returns what a person can do about it; empty if nothing can be done.
            pub fn remedy(&self) -> &str {
                match self {
                    $(Self::$name(event) => event.remedy(),)*
                    Self::Unknown(_) => "",
                }
            }
        }

        impl From<Event> for EventDraft {
            fn from(event: Event) -> Self {
                match event {
                    $(Event::$name(event) => Self::of(&event),)*
                    Event::Unknown(UnknownEvent { kind, data }) => Self::from_stored(kind, data),
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
    /// A room was closed.
    RunEnd = "run_end",
    /// An agent was added to the room.
    AgentAdded = "agent_added",
    /// An agent left the room.
    AgentRemoved = "agent_removed",
    /// An agent's state changed: `from`, `to`, `why`.
    State = "state",
    /// The content of an element changed.
    ElementChanged = "element_changed",
    /// An action was queued.
    ActionQueued = "action_queued",
    /// An action was refused or replaced.
    ActionDropped = "action_dropped",
    /// An agent read an element.
    Read = "read",
    /// A conversation started.
    ConversationStart = "conversation_start",
    /// Someone said something in a conversation.
    Message = "message",
    /// A conversation ended.
    ConversationEnd = "conversation_end",
    /// A memory slot changed.
    Memory = "memory",
    /// A session was summarised, or that failed.
    Compaction = "compaction",
    /// An agent's knowledge was used or changed.
    Knowledge = "knowledge",
    /// An activation was queued for an agent.
    Activation = "activation",
    /// An agent started another.
    Spawn = "spawn",
    /// An agent sent its parent a message.
    Signal = "signal",
    /// An agent handed a task over to another.
    HandOver = "hand_over",
    /// An agent returned the result of a task that was handed over to it, or failed to.
    TaskResultReturned = "hand_back",
    /// A message was published in a channel.
    Publish = "publish",
    /// An agent subscribed to a channel, or unsubscribed.
    Subscribe = "subscribe",
    /// An agent received the messages of a channel.
    Deliver = "deliver",
    /// An entry of the blackboard changed.
    Blackboard = "blackboard",
    /// A tool was called.
    ToolCall = "tool_call",
    /// A tool returned a result.
    ToolResult = "tool_result",
    /// A file of the workspace changed.
    FileChange = "file_change",
    /// An approval was requested from a person.
    ApprovalRequested = "approval_requested",
    /// An approval was answered.
    ApprovalDecided = "approval_decided",
    /// The status of a workflow's step changed.
    WorkflowStep = "workflow_step",
    /// Tokens or costs were reserved, settled, or refused.
    Budget = "budget",
    /// A model was called. Never contains a key.
    ModelCall = "model_call",
    /// A provider started to fail, fails in another way, works again, or is tried again.
    Provider = "provider",
    /// Something is wrong, and the room continues.
    Warning = "warning",
    /// Something failed: an activation, a request to a model, or reading a file.
    Error = "error",
    /// Something was stopped by a person or a limit.
    Abort = "abort",
    /// An activation was finished.
    Complete = "complete",
    /// An input arrived from outside.
    Input = "input",
    /// An agent reacted to someone or something that it passed or looked at.
    Reaction = "reaction",
    /// An agent acted on the room with a reply: by calling functions or by markers.
    Acted = "acted",
}

/// A record that this version cannot read: of an unknown kind, or with invalid data.
#[derive(Clone, PartialEq, Debug)]
pub struct UnknownEvent {
    kind: EventKind,
    data: EventJson,
}

impl UnknownEvent {
    /// Creates a record as another version may have written it, for tests.
    pub fn new(kind: EventKind, data: impl Serialize) -> Self {
        Self { kind, data: EventJson::of(&data) }
    }

    /// Returns the kind.
    pub fn kind(&self) -> &EventKind {
        &self.kind
    }

    fn narrate(&self) -> String {
        let words = match self.kind.as_str().replace('_', " ") {
            words if words.trim().is_empty() => "a record".to_owned(),
            words => super::narration::clip(&words),
        };
        format!("{words} (this version cannot read its data: {})", super::narration::clip(self.data.as_json()))
    }
}

/// Deserialises a key that may be missing, null, or have a value: `None`, `Some(None)`, `Some(Some(_))`.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Whether a flag is false, and so is not written.
fn is_false(flag: &bool) -> bool {
    !flag
}

fn yes() -> bool {
    true
}

#[cfg(test)]
pub(crate) mod tests;
