//! Conversations as data: participants, topic, current speaker, and utterances.

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
    /// A person gave them a topic.
    Task,
    /// One went to tell the other something.
    Tell,
    /// They are related and met.
    Relationship,
    /// They met by chance.
    Chance,
}

/// One utterance.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Utterance {
    /// The author: an agent's id, or the person.
    pub by: Author,
    /// The text, without markers.
    pub text: String,
    /// The tick.
    pub tick: u64,
    /// Its id as a message; `None` if an older version saved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MessageKey>,
}

/// A conversation between agents.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Conversation {
    /// Its key in the room.
    pub key: ConversationKey,
    /// Why they talk.
    pub kind: ConversationKind,
    /// The present participants, in speaking order.
    pub participants: Vec<AgentKey>,
    /// Former participants that left before its end and had heard something.
    #[serde(default)]
    pub left: Vec<AgentKey>,
    /// The topic, if there is one.
    pub topic: Option<String>,
    /// All utterances.
    pub said: Vec<Utterance>,
    /// The number of turns taken by agents.
    pub turns_taken: u32,
    /// The maximum number of turns; the last one asks for a conclusion.
    pub turns_at_most: u32,
    /// The index in `participants` of the agent whose turn it is.
    pub speaker: usize,
    /// The record of its start.
    pub started: Seq,
}

impl Conversation {
    /// Whether the next turn is the last.
    pub fn is_last_turn(&self) -> bool {
        self.turns_taken + 1 >= self.turns_at_most
    }

    /// Whether a person started it or spoke in it, so that it waits while a model cannot be called.
    pub fn is_of_person(&self) -> bool {
        self.kind == ConversationKind::Task || self.said.iter().any(|line| line.by.is_user())
    }

    /// What a person said after the last words of an agent.
    pub(super) fn unanswered(&self) -> &[Utterance] {
        let answered = self.said.iter().rposition(|line| !line.by.is_user()).map_or(0, |last| last + 1);
        &self.said[answered..]
    }

    /// The agent whose turn it is.
    pub fn current_speaker(&self) -> Option<AgentKey> {
        self.participants.get(self.speaker).copied()
    }
}

/// All running conversations, and the last utterances of pairs in earlier ones. Written by `simulation` only.
#[derive(Resource, Default, Debug, Serialize, Deserialize)]
pub struct Conversations {
    /// The running conversations, by key.
    pub(super) running: BTreeMap<ConversationKey, Conversation>,
    /// The last utterances of a pair (smaller key first) in earlier conversations.
    pub(super) earlier: BTreeMap<AgentKey, BTreeMap<AgentKey, Vec<Utterance>>>,
}

impl Conversations {
    /// A running conversation.
    pub fn get(&self, key: ConversationKey) -> Option<&Conversation> {
        self.running.get(&key)
    }

    /// All running conversations, in order of key.
    pub fn iter(&self) -> impl Iterator<Item = &Conversation> {
        self.running.values()
    }

    /// Keeps the last utterances of a pair, for a limited number of pairs.
    pub(super) fn retain_recent(
        &mut self,
        pair: (AgentKey, AgentKey),
        said: &[Utterance],
        (utterances, pairs): (usize, usize),
    ) {
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

    /// Forgets an agent that has left the room; its key is never reused.
    pub(super) fn forget(&mut self, agent: AgentKey) {
        self.earlier.remove(&agent);
        for with in self.earlier.values_mut() {
            with.remove(&agent);
        }
        self.earlier.retain(|_, with| !with.is_empty());
    }

    /// The utterances of these two in earlier conversations, oldest first.
    pub fn earlier(&self, one: AgentKey, other: AgentKey) -> &[Utterance] {
        let (low, high) = (one.min(other), one.max(other));
        self.earlier.get(&low).and_then(|with| with.get(&high)).map_or(&[], Vec::as_slice)
    }
}

/// A conversation has ended.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ConversationEnded {
    /// The conversation at its end; it is no longer in [`Conversations`].
    pub conversation: Conversation,
    /// The reason as text.
    pub why: String,
    /// The record of its end.
    pub cause: Seq,
}

/// A person's command about conversations. An input.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum ConversationCommand {
    /// Starts a conversation.
    Start {
        /// At least two agents, by id.
        participants: Vec<Id>,
        /// The topic.
        topic: String,
    },
    /// Says something in a conversation.
    Speak {
        /// The conversation.
        conversation: ConversationKey,
        /// The text.
        text: String,
    },
    /// Ends a conversation.
    Stop {
        /// The conversation.
        conversation: ConversationKey,
    },
    /// Sets the master switch: off ends all conversations among agents and prevents new ones. Solo tasks continue.
    Switch {
        /// Whether agents may talk to each other.
        on: bool,
    },
}

/// Converts a command to its form in the log.
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
