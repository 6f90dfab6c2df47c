//! Conversations as data: participants, topic, whose turn it is, and what was said.

use std::collections::BTreeMap;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::{AgentKey, Author, ConversationKey, Id, MessageKey, Seq};
use crate::log::events::TalkInput;
use crate::schedule::Input;

/// Why agents talk, in order of precedence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConversationKind {
    /// A person set them a topic.
    Task,
    /// One went to tell the other something.
    Tell,
    /// They are related and ran into each other.
    Relationship,
    /// They ran into each other.
    Chance,
}

/// One thing said.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Utterance {
    /// Who said it: an agent's id, or the person.
    pub by: Author,
    /// What, without markers.
    pub text: String,
    /// When, in ticks.
    pub tick: u64,
    /// Its id as a message; none where an older version kept it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MessageKey>,
}

/// Agents talking to each other.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Conversation {
    /// The room's number for it.
    pub key: ConversationKey,
    /// Why they talk.
    pub kind: ConversationKind,
    /// Those who still take part, in speaking order.
    pub participants: Vec<AgentKey>,
    /// Those who left it before its end and had heard something.
    #[serde(default)]
    pub left: Vec<AgentKey>,
    /// What it is about, where there is something.
    pub topic: Option<String>,
    /// What was said in it.
    pub said: Vec<Utterance>,
    /// Turns taken by agents.
    pub turns_taken: u32,
    /// After so many turns it ends; the last one asks for a conclusion.
    pub turns_at_most: u32,
    /// Index into `participants` of whose turn it is.
    pub speaker: usize,
    /// The record of its start.
    pub started: Seq,
}

impl Conversation {
    /// Whether the turn that is due is the last.
    pub fn is_last_turn(&self) -> bool {
        self.turns_taken + 1 >= self.turns_at_most
    }
}

/// All running conversations, and what pairs said to each other before. Written by `simulation` only.
#[derive(Resource, Default, Debug, Serialize, Deserialize)]
pub struct Conversations {
    /// Going on, by key.
    pub(super) running: BTreeMap<ConversationKey, Conversation>,
    /// The last things that a pair (smaller key first) said to each other in earlier conversations.
    pub(super) earlier: BTreeMap<AgentKey, BTreeMap<AgentKey, Vec<Utterance>>>,
}

impl Conversations {
    /// One that goes on.
    pub fn get(&self, key: ConversationKey) -> Option<&Conversation> {
        self.running.get(&key)
    }

    /// All that go on, in order of key.
    pub fn iter(&self) -> impl Iterator<Item = &Conversation> {
        self.running.values()
    }

    /// Keeps the last lines that these two said to each other, for a limited number of pairs.
    pub(super) fn keep(&mut self, pair: (AgentKey, AgentKey), said: &[Utterance], (utterances, pairs): (usize, usize)) {
        let (low, high) = (pair.0.min(pair.1), pair.0.max(pair.1));
        let earlier = self.earlier.entry(low).or_default().entry(high).or_default();
        earlier.extend(said.iter().cloned());
        let surplus = earlier.len().saturating_sub(utterances);
        earlier.drain(..surplus);
        let count: usize = self.earlier.values().map(BTreeMap::len).sum();
        let all = self.earlier.iter().flat_map(|(low, with)| with.iter().map(move |(high, said)| (*low, *high, said)));
        let mut by_age: Vec<_> =
            all.map(|(low, high, said)| (said.last().map_or(0, |last| last.tick), low, high)).collect();
        by_age.sort_unstable();
        for (_, low, high) in by_age.into_iter().take(count.saturating_sub(pairs)) {
            self.forget_pair(low, high);
        }
    }

    fn forget_pair(&mut self, low: AgentKey, high: AgentKey) {
        if let Some(with) = self.earlier.get_mut(&low) {
            with.remove(&high);
            if with.is_empty() {
                self.earlier.remove(&low);
            }
        }
    }

    /// Forgets an agent that has left the room: its number is never given to another.
    pub(super) fn forget(&mut self, agent: AgentKey) {
        self.earlier.remove(&agent);
        for with in self.earlier.values_mut() {
            with.remove(&agent);
        }
        self.earlier.retain(|_, with| !with.is_empty());
    }

    /// What these two said to each other before, oldest first.
    pub fn earlier(&self, one: AgentKey, other: AgentKey) -> &[Utterance] {
        let (low, high) = (one.min(other), one.max(other));
        self.earlier.get(&low).and_then(|with| with.get(&high)).map_or(&[], Vec::as_slice)
    }
}

/// A conversation is over.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ConversationEnded {
    /// As it was when it ended; it is not among the [`Conversations`] any more.
    pub conversation: Conversation,
    /// Why it ended, in words.
    pub why: String,
    /// The record of its end.
    pub cause: Seq,
}

/// A person's command about conversations. An input.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum ConversationCommand {
    /// Lets these agents talk about something.
    Start {
        /// At least two agents, by id.
        participants: Vec<Id>,
        /// About what.
        topic: String,
    },
    /// Says something in a conversation.
    Speak {
        /// In which.
        conversation: ConversationKey,
        /// What.
        text: String,
    },
    /// Ends a conversation.
    Stop {
        /// Which.
        conversation: ConversationKey,
    },
    /// The master switch: off ends all conversations among agents and prevents new ones. Solo tasks continue.
    Switch {
        /// Whether agents may talk to each other.
        on: bool,
    },
}

/// As the log says it.
impl From<&ConversationCommand> for TalkInput {
    fn from(command: &ConversationCommand) -> Self {
        match command.clone() {
            ConversationCommand::Start { participants, topic } => Self::Start { participants, topic },
            ConversationCommand::Speak { conversation, text } => Self::Speak { conversation, text },
            ConversationCommand::Stop { conversation } => Self::Stop { conversation },
            ConversationCommand::Switch { on } => Self::Switch { on },
        }
    }
}

impl Input for ConversationCommand {
    const KIND: &'static str = "conversation";
}
