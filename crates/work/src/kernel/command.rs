//! A person's decisions about running work. Inputs.

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::{ActivationKey, AllowScope, AnsweredIn, Id};
use crate::schedule::Input;

/// A person's decision.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum KernelCommand {
    /// No work begins, and running work stops before its next tool call or request.
    Pause,
    /// Work continues, even if a budget had stopped it.
    Resume,
    /// Every piece of work has one more turn, with what it calls in it, and then waits.
    OneTurnEach,
    /// One piece of work ends now.
    Kill {
        /// Which.
        activation: ActivationKey,
    },
    /// Whatever this agent works at or has waiting ends now.
    KillAgent {
        /// Whose, by id.
        agent: Id,
    },
    /// All work ends now, and none begins until it is resumed.
    KillAll,
    /// How much runs in parallel, and how deep agents may start agents; for work that begins from now on.
    Limits {
        /// Pieces of work at once.
        concurrency: Option<u32>,
        /// Depth.
        depth_at_most: Option<u32>,
    },
    /// A tool call that waits for a person may happen, or may not.
    Decide {
        /// Of which piece of work.
        activation: ActivationKey,
        /// In which turn of it.
        turn: u32,
        /// Which call of the turn.
        call: usize,
        /// Whether it may.
        allow: bool,
        /// How far it reaches that it may.
        #[serde(default, skip_serializing_if = "AllowScope::is_once")]
        scope: AllowScope,
        /// The person's message; the agent is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
        /// What the person filled in, where the question has a form.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        form: Map<String, Value>,
        /// Where the person answered.
        #[serde(default, skip_serializing_if = "AnsweredIn::is_window")]
        answered_in: AnsweredIn,
    },
}

impl KernelCommand {
    /// A decision about this call alone, without a word.
    pub fn decide(activation: ActivationKey, turn: u32, call: usize, allow: bool) -> Self {
        let (scope, because, form, answered_in) = (AllowScope::Once, None, Map::new(), AnsweredIn::Window);
        Self::Decide { activation, turn, call, allow, scope, because, form, answered_in }
    }

    /// The same decision, made there.
    #[must_use]
    pub fn answered_in(mut self, place: AnsweredIn) -> Self {
        if let Self::Decide { answered_in, .. } = &mut self {
            *answered_in = place;
        }
        self
    }
}

impl Input for KernelCommand {
    const KIND: &'static str = "kernel";
}

/// Work that a session's file calls unfinished and that nothing else is known of. An input.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WorkDropped {
    /// Whose it was, by id.
    pub agent: Id,
    /// Which work, since when, and why it is dropped.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl Input for WorkDropped {
    const KIND: &'static str = "work_dropped";
}
