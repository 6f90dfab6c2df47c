//! Requests from the room to a mind, and its answers.

use std::borrow::Cow;

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use super::interest::Interest;
use crate::base::{ActivationKey, AgentKey, ConversationKey, ElementKey, Id, Seq, Urgency};
use crate::schedule::Input;

/// The number of an agent's activity. An answer for an older one is too late and changes no state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActivityId(pub u32);

/// What an agent thinks about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "think", rename_all = "snake_case")]
pub enum Think {
    /// The agent is at an element and reads it.
    Read {
        /// The element.
        element: ElementKey,
    },
    /// It is the agent's turn to speak (see [`super::Conversations`]).
    Turn {
        /// The conversation.
        conversation: ConversationKey,
    },
    /// Its session has become long and is to be compacted.
    Compact,
    /// An interest called it.
    Attend {
        /// The interest.
        interest: Box<Interest>,
    },
}

/// An agent is ready to think about something. `mind` answers each with exactly one [`ThinkDone`], at once or many
/// ticks later.
#[derive(Message, Clone, Debug)]
pub struct ThinkDue {
    /// The agent.
    pub agent: AgentKey,
    /// The number of its activity, returned in [`ThinkDone`].
    pub activity: ActivityId,
    /// The subject.
    pub think: Think,
    /// The urgency.
    pub urgency: Urgency,
    /// The log record that caused it.
    pub cause: Seq,
}

/// An agent arrived for the work that was requested of it. The layer that owns the work answers with one [`ThinkDone`]
/// when it is over.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArrivedForWork {
    /// The agent.
    pub agent: AgentKey,
    /// The number of its activity, returned in [`ThinkDone`].
    pub activity: ActivityId,
    /// The activation.
    pub activation: ActivationKey,
    /// The log record that caused it.
    pub cause: Seq,
}

/// Thinking or work is over.
#[derive(Message, Clone, Debug)]
pub struct ThinkDone {
    /// The agent.
    pub agent: AgentKey,
    /// The number of its activity.
    pub activity: ActivityId,
    /// The subject; `None` for work.
    pub think: Option<Think>,
    /// The outcome.
    pub outcome: ThinkOutcome,
    /// The record of the model's answer, or of why there is none.
    pub cause: Seq,
}

/// The outcome of thinking.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ThinkOutcome {
    /// Its reply, without markers; may be empty.
    Said {
        /// The text.
        text: String,
    },
    /// Its reply about a part of a content that was too long for one prompt: the rest still has to be read.
    Partly {
        /// The text.
        text: String,
    },
    /// In a conversation: its reply, possibly empty, which ends the conversation.
    Bye {
        /// The text.
        text: String,
    },
    /// There was nothing to ask a model about; no call was made.
    Nothing {
        /// The reason, for the log and the badge.
        why: String,
    },
    /// No model was called yet, and the request was postponed for something more urgent.
    PutOff,
    /// It failed.
    Failed {
        /// What failed and what to do, for a person.
        why: String,
        /// What has to change before it can succeed.
        cause: FailureCause,
    },
}

/// What has to change before a failed thought can succeed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// Nothing: the same thought may succeed a little later.
    Passing,
    /// The model cannot be called now: an outage, a missing key, a limit. The thought is fine, and waits.
    Model,
    /// The content: the model does not take it, however often it is asked.
    Content,
}

/// Whether the model that answers an agent can be called. While it cannot, the agent's reading waits in its queue.
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub struct ModelAvailability {
    /// The agent.
    pub agent: AgentKey,
    /// Why its model cannot be called now; `None` if it can.
    pub waits_because: Option<String>,
}

/// Lets some of these agents try their model although it could not be called so far: those with the most important
/// reading waiting.
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub struct TryModel {
    /// The agents that wait for the same model.
    pub agents: Vec<AgentKey>,
    /// How many of them may try.
    pub at_most: usize,
}

/// The models, keys or settings were changed, or a new run began: content that models did not take before is read
/// again.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModelsChanged {}

/// Something more urgent than an agent's current thought is waiting: if no model was called yet, that thought is
/// cancelled and ends with [`ThinkOutcome::PutOff`].
#[derive(Message, Clone, Copy, Debug)]
pub struct ThinkPutOff {
    /// The agent.
    pub agent: AgentKey,
    /// The number of its activity.
    pub activity: ActivityId,
}

/// The reason why an agent waits for a model, as text. Shown as the reason of its state; ignored if the activity is
/// over.
#[derive(Message, Clone, Debug)]
pub struct Explain {
    /// The agent.
    pub agent: AgentKey,
    /// The number of its activity.
    pub activity: ActivityId,
    /// The reason, such as "waiting for a free model slot, 2nd of 5".
    pub why: Cow<'static, str>,
    /// Whether it waits for a person to decide.
    pub for_person: bool,
    /// The log record that caused it, if there is one.
    pub cause: Option<Seq>,
}

/// Work waits for an agent, which begins it with [`ArrivedForWork`] as soon as it is free.
#[derive(Message, Clone, Debug)]
pub struct WorkRequested {
    /// The agent.
    pub agent: AgentKey,
    /// The activation.
    pub activation: ActivationKey,
    /// The agent that hands it over: the receiver goes there first.
    pub from: Option<AgentKey>,
    /// The element at which the work is found, by id: the agent goes there first.
    pub at: Option<Id>,
    /// The record that queued it.
    pub cause: Seq,
}

/// Work that was requested of an agent ended before the agent arrived.
#[derive(Message, Clone, Copy, Debug)]
pub struct WorkRequestWithdrawn {
    /// The agent.
    pub agent: AgentKey,
    /// The activation.
    pub activation: ActivationKey,
}

/// An agent noticed something that is new to others: it has news about this element.
#[derive(Message, Clone, Debug)]
pub struct NewsNoted {
    /// The agent that noted it.
    pub agent: AgentKey,
    /// The element.
    pub element: ElementKey,
    /// The version of the element that it read.
    pub version: u32,
    /// The note.
    pub note: String,
    /// Whether it may be passed on to others (the profile's share flag).
    pub may_tell: bool,
    /// The record of the note.
    pub cause: Seq,
}

/// An agent's session has become long: it is to be compacted when the agent has time ([`Think::Compact`]).
#[derive(Message, Clone, Debug)]
pub struct CompactionWanted {
    /// The agent.
    pub agent: AgentKey,
    /// The log record that caused it.
    pub cause: Seq,
}

/// A person gives an agent a task. An input; the kernel queues it as work.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TaskCommand {
    /// The id of the agent.
    pub agent: Id,
    /// The task, in the person's words.
    pub text: String,
}

impl Input for TaskCommand {
    const KIND: &'static str = "task";
}
