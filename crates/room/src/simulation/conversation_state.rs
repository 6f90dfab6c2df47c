//! The room's state of conversations besides what is said in them: who waits for one, whose turn it is, who talked with
//! whom, and whether they are enabled.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::conversation::{ConversationEnded, Conversations};
use super::conversation_rules::{Proposal, TalkLedger, TurnState};
use crate::base::{ConversationKey, Seq};
use crate::workspace::Relationship;

/// The room's state of conversations besides [`Conversations`].
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct ConversationState {
    pub waiting: Vec<Proposal>,
    pub turns: BTreeMap<ConversationKey, TurnState>,
    pub ledger: TalkLedger,
    pub ties: Vec<Relationship>,
    pub next_check: u64,
    /// With whom the next look for a pair begins, in a room too large to look at everyone.
    #[serde(default)]
    pub(super) next_look: u32,
    pub(super) next_proposal: u32,
    pub(super) next_conversation: u32,
    /// What a person set the master switch to; the settings' choice where absent.
    pub switch: Option<bool>,
    /// The record of that.
    #[serde(default)]
    pub switch_record: Option<Seq>,
    /// What the settings say, as of this tick.
    pub(super) enabled: bool,
    /// Whether everybody rests who is not at work.
    #[serde(default)]
    pub(super) resting: bool,
    /// Ended but not reported yet. Most end with their last turn, at the end of a tick: the next tick reports it, and a
    /// world that is saved in between must not lose it.
    #[serde(default)]
    pub(super) over: Vec<ConversationEnded>,
}

impl ConversationState {
    pub fn next_proposal(&mut self) -> u32 {
        self.next_proposal += 1;
        self.next_proposal
    }

    pub fn switched_on(&self) -> bool {
        self.switch.unwrap_or(self.enabled) && !self.resting
    }

    pub(super) fn set_resting(&mut self, resting: bool) {
        self.resting = resting;
    }
}

/// Whether nobody talks, and nobody is about to.
pub(super) fn is_quiet(state: &ConversationState, conversations: &Conversations) -> bool {
    state.waiting.is_empty() && state.over.is_empty() && conversations.running.is_empty()
}
