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
        /// Which.
        element: ElementKey,
    },
    /// It is the agent's turn to speak (see [`super::Conversations`]).
    Turn {
        /// In which conversation.
        conversation: ConversationKey,
    },
    /// Its session has grown long and is to be summed up.
    Compact,
    /// A reason called it: which one, and what it is asked.
    Attend {
        /// Why it turns to that, and what it is asked.
        interest: Box<Interest>,
    },
}

/// An agent is ready to think about something: `mind` answers each with exactly one [`ThinkDone`],
/// at once or many ticks later.
#[derive(Message, Clone, Debug)]
pub struct ThinkDue {
    /// Who.
    pub agent: AgentKey,
    /// Which of its activities; goes back in [`ThinkDone`].
    pub activity: ActivityId,
    /// About what.
    pub think: Think,
    /// How soon.
    pub urgency: Urgency,
    /// The record that this came from.
    pub cause: Seq,
}

/// An agent arrived for the work that was requested of it: the floor that owns the work reports with one [`ThinkDone`]
/// when it is over.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArrivedForWork {
    /// Who.
    pub agent: AgentKey,
    /// Which of its activities; goes back in [`ThinkDone`].
    pub activity: ActivityId,
    /// To which piece of work.
    pub activation: ActivationKey,
    /// The record that this came from.
    pub cause: Seq,
}

/// Thinking or work is over.
#[derive(Message, Clone, Debug)]
pub struct ThinkDone {
    /// Who.
    pub agent: AgentKey,
    /// Which of its activities.
    pub activity: ActivityId,
    /// About what; nothing where it was at work.
    pub think: Option<Think>,
    /// How it went.
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
        /// The words.
        text: String,
    },
    /// Its reply about what it read, which was too much for one prompt: the rest has still to be read.
    Partly {
        /// The words.
        text: String,
    },
    /// In a conversation: its reply, possibly empty, which ends the conversation.
    Bye {
        /// The words.
        text: String,
    },
    /// There was nothing to ask a model about; no call was made.
    Nothing {
        /// Why, for the log and the badge.
        why: String,
    },
    /// No model was asked yet, and the question gave way to something more urgent.
    PutOff,
    /// It failed, in words for a person.
    Failed {
        /// What failed and what to do.
        why: String,
        /// Whether the same may work later without anybody doing anything.
        passing: bool,
    },
}

/// Something more urgent than an agent's current thought is waiting: if no model was called yet, that thought is
/// cancelled and ends with [`ThinkOutcome::PutOff`].
#[derive(Message, Clone, Copy, Debug)]
pub struct ThinkPutOff {
    /// Who.
    pub agent: AgentKey,
    /// Which of its activities.
    pub activity: ActivityId,
}

/// The reason why an agent waits for a model, as text. Shown as the reason of its state; ignored if the activity is
/// over.
#[derive(Message, Clone, Debug)]
pub struct Explain {
    /// Who.
    pub agent: AgentKey,
    /// Which of its activities.
    pub activity: ActivityId,
    /// "waiting for a free model slot, 2nd of 5"
    pub why: Cow<'static, str>,
    /// Whether it waits for a person to decide.
    pub for_person: bool,
    /// The record that it comes from, if there is one.
    pub cause: Option<Seq>,
}

/// Work waits for an agent: it comes as soon as it is free, with [`ArrivedForWork`].
#[derive(Message, Clone, Debug)]
pub struct WorkRequested {
    /// Who.
    pub agent: AgentKey,
    /// To which piece of work.
    pub activation: ActivationKey,
    /// The agent that hands it over: the receiver goes there first.
    pub from: Option<AgentKey>,
    /// The element at which the work is found, by id: the agent goes there before all else.
    pub at: Option<Id>,
    /// The record that queued it.
    pub cause: Seq,
}

/// Work that was requested of an agent ended before the agent arrived.
#[derive(Message, Clone, Copy, Debug)]
pub struct WorkRequestWithdrawn {
    /// Who.
    pub agent: AgentKey,
    /// To which piece of work.
    pub activation: ActivationKey,
}

/// An agent noticed something that is new to others: it has news about this element.
#[derive(Message, Clone, Debug)]
pub struct NewsHeard {
    /// Who noted it.
    pub agent: AgentKey,
    /// What it is about.
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
    /// Whose.
    pub agent: AgentKey,
    /// The record that it comes from.
    pub cause: Seq,
}

/// A person gives an agent a task. An input; the kernel queues it as work.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TaskCommand {
    /// Who, by id.
    pub agent: Id,
    /// What, in the person's words.
    pub text: String,
}

impl Input for TaskCommand {
    const KIND: &'static str = "task";
}
