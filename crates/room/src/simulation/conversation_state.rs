//! The room's state of conversations besides their utterances: proposals, turns, which agents talked with each other,
//! and whether conversations are enabled.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::conversation::{Conversation, ConversationEnded, ConversationKind, Conversations};
use super::conversation_rules::{Proposal, TalkLedger, TurnState};
use crate::base::{AgentKey, ConversationKey, Seq};
use crate::workspace::Relationship;

/// The room's state of conversations besides [`Conversations`].
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct ConversationState {
    pub waiting: Vec<Proposal>,
    pub turns: BTreeMap<ConversationKey, TurnState>,
    pub ledger: TalkLedger,
    pub ties: Vec<Relationship>,
    pub next_check: u64,
    /// The agent with which the next search for a pair begins, in a room too large to search at once.
    #[serde(default)]
    pub(super) next_look: u32,
    pub(super) next_proposal: u32,
    pub(super) next_conversation: u32,
    /// The person's choice of the master switch; `None` for that of the settings.
    pub switch: Option<bool>,
    /// The log record of that choice.
    #[serde(default)]
    pub switch_record: Option<Seq>,
    /// The choice of the settings, as of this tick.
    pub(super) enabled: bool,
    /// Whether rest mode is on.
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

/// Whether there is no conversation, proposal or unreported end, except for those of a person that wait until a model
/// can be called. `waits` says so of an agent.
pub(super) fn is_quiet(
    state: &ConversationState,
    conversations: &Conversations,
    waits: impl Fn(AgentKey) -> bool,
) -> bool {
    let is_proposal_waiting = |proposal: &Proposal| {
        proposal.kind == ConversationKind::Task && proposal.participants.iter().any(|agent| waits(*agent))
    };
    let is_talk_waiting = |talk: &Conversation| talk.is_of_person() && talk.current_speaker().is_some_and(&waits);
    state.over.is_empty()
        && state.waiting.iter().all(is_proposal_waiting)
        && conversations.running.values().all(is_talk_waiting)
}
