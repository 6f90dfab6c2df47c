//! A person's decisions about work, which are inputs of the room.

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::{ActivationKey, AllowScope, AnswerPlace, Id};
use crate::schedule::Input;

/// A person's decision about work.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum KernelCommand {
    /// Starts no work, and stops running work before its next tool call or request.
    Pause,
    /// Resumes all work, even if a budget stopped it.
    Resume,
    /// Lets each piece of work take one more turn with its tool calls and then wait.
    OneTurnEach,
    /// Ends a piece of work.
    Kill {
        /// The key of the work.
        activation: ActivationKey,
    },
    /// Ends all queued and running work of an agent.
    KillAgent {
        /// The id of the agent.
        agent: Id,
    },
    /// Ends all work, and starts none until work is resumed.
    KillAll,
    /// Sets the limits for work that begins from now on.
    Limits {
        /// The number of activations that may run at the same time.
        concurrency: Option<u32>,
        /// The maximum depth to which agents may start agents.
        depth_at_most: Option<u32>,
    },
    /// Allows or refuses a tool call that waits for a person.
    Decide {
        /// The activation that made the call.
        activation: ActivationKey,
        /// The turn of the activation.
        turn: u32,
        /// The index of the call in the turn.
        call: usize,
        /// Whether the call is allowed.
        allow: bool,
        /// The scope of the permission.
        #[serde(default, skip_serializing_if = "AllowScope::is_once")]
        scope: AllowScope,
        /// The person's message to the agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
        /// The form values that the person entered, if the question has a form.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        form: Map<String, Value>,
        /// Where the person answered.
        #[serde(default, skip_serializing_if = "AnswerPlace::is_window")]
        answered_in: AnswerPlace,
    },
}

impl KernelCommand {
    /// A decision about this call only, without a message.
    pub fn decide(activation: ActivationKey, turn: u32, call: usize, allow: bool) -> Self {
        let (scope, because, form, answered_in) = (AllowScope::Once, None, Map::new(), AnswerPlace::Window);
        Self::Decide { activation, turn, call, allow, scope, because, form, answered_in }
    }

    /// Sets where the decision was made.
    #[must_use]
    pub fn answered_in(mut self, place: AnswerPlace) -> Self {
        if let Self::Decide { answered_in, .. } = &mut self {
            *answered_in = place;
        }
        self
    }
}

impl Input for KernelCommand {
    const KIND: &'static str = "kernel";
}

/// Work that a session file calls unfinished, but about which nothing else is known. An input of the room.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WorkDropped {
    /// The id of the agent.
    pub agent: Id,
    /// The work, since when it is unfinished, and why it is dropped.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl Input for WorkDropped {
    const KIND: &'static str = "work_dropped";
}
