//! Reasons to wake an agent, as data. Code outside this layer (a doorbell, a timer, a message from another room) sends
//! one [`WakeAgent`] with the reason, the urgency and the request to the agent. From then on, the interest is queued,
//! handled, saved, replayed and shown like any other action.

use bevy::ecs::message::Message;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use super::provenance::Provenance;
use crate::base::text::{one_line, truncate};
use crate::base::{AgentKey, Author, Id, Seq, Urgency};

/// The maximum length of the sentence with the reason, in characters.
const MAX_SENTENCE_CHARS: usize = 200;
/// The maximum length of the request to the agent, in characters.
const MAX_ASK_CHARS: usize = 2_000;
/// The maximum length of one quote, in characters.
const MAX_QUOTE_CHARS: usize = 4_000;
/// How many quotes of others are kept; older ones are dropped, and their number is given.
const MAX_QUOTES: usize = 8;

/// An occasion to wake an agent: the reason, the urgency, and the request to the agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Interest {
    /// The reason.
    pub why: Reason,
    /// The urgency.
    pub urgency: Urgency,
    /// The request to the agent.
    pub moment: WakeRequest,
}

/// Why an agent wakes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reason {
    /// The kind of reason as one word, as logged: `doorbell`.
    pub word: Id,
    /// The reason as a person reads it, without a full stop: "somebody rings at the door".
    pub sentence: String,
}

/// The request to an agent, and where it goes first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct WakeRequest {
    /// The instruction by the sender of the interest, which the agent follows.
    pub ask: String,
    /// Quotes of others about it, oldest first: data that the agent must not follow as instructions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<Quote>,
    /// The number of older quotes that were dropped.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub quotes_left_out: u32,
    /// Where it goes before it is asked; `None` if it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A quote with its author.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Quote {
    /// The author, as named to the agent.
    pub by: Id,
    /// The text.
    pub text: String,
}

/// Where an agent goes for an interest.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// An element, by id.
    Element(Id),
    /// An agent, by id.
    Agent(Id),
    /// A point of the room.
    Point(Vec2),
}

impl Place {
    /// The id of the element or agent.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Self::Element(id) | Self::Agent(id) => Some(id),
            Self::Point(_) => None,
        }
    }
}

impl Interest {
    /// Creates an interest without a place.
    pub fn new(word: impl Into<Id>, sentence: impl Into<String>, urgency: Urgency, ask: impl Into<String>) -> Self {
        let why = Reason { word: word.into(), sentence: sentence.into() };
        Self { why, urgency, moment: WakeRequest { ask: ask.into(), ..WakeRequest::default() } }
    }

    /// Sets the place.
    pub fn at(mut self, place: Place) -> Self {
        self.moment.place = Some(place);
        self
    }

    /// Adds a quote of something said or written about it.
    pub fn quoting(mut self, by: impl Into<Id>, text: impl Into<String>) -> Self {
        self.moment.quotes.push(Quote { by: by.into(), text: text.into() });
        self
    }

    /// Truncates its texts for a queue.
    pub(super) fn bounded(mut self) -> Self {
        self.why.sentence = truncate(&one_line(&self.why.sentence), MAX_SENTENCE_CHARS);
        self.moment.ask = truncate(&self.moment.ask, MAX_ASK_CHARS);
        for quote in &mut self.moment.quotes {
            quote.text = truncate(&quote.text, MAX_QUOTE_CHARS);
        }
        let surplus = self.moment.quotes.len().saturating_sub(MAX_QUOTES);
        self.moment.quotes.drain(..surplus);
        self.moment.quotes_left_out = self.moment.quotes_left_out.saturating_add(surplus as u32);
        if matches!(self.moment.place, Some(Place::Point(point)) if !point.is_finite()) {
            self.moment.place = None;
        }
        self
    }

    /// Whether both have the same reason and place, so that they can be merged.
    fn can_merge(&self, other: &Self) -> bool {
        self.why.word == other.why.word && self.moment.place == other.moment.place
    }
}

/// An interest that an agent has not handled yet, and its origin.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PendingInterest {
    /// The interest.
    pub interest: Interest,
    /// The origin.
    #[serde(default)]
    pub origin: Provenance,
}

impl PendingInterest {
    /// Whether both can be merged.
    pub(super) fn can_merge(&self, other: &Self) -> bool {
        self.interest.can_merge(&other.interest)
    }

    /// Merges two: the newer request, the quotes of both, and the higher urgency.
    pub(super) fn merged(self, newer: &Self) -> Self {
        let mut quotes = self.interest.moment.quotes;
        quotes.extend(newer.interest.moment.quotes.iter().cloned());
        let left_out = self.interest.moment.quotes_left_out;
        let moment = WakeRequest {
            quotes,
            quotes_left_out: left_out.saturating_add(newer.interest.moment.quotes_left_out),
            ..newer.interest.moment.clone()
        };
        let urgency = self.interest.urgency.min(newer.interest.urgency);
        let interest = Interest { why: newer.interest.why.clone(), urgency, moment }.bounded();
        Self { interest, origin: self.origin.newer(newer.origin) }
    }
}

/// Wakes an agent for a reason given as data. Send it before the phase `Record` of a tick, in which it is processed.
#[derive(Message, Clone, PartialEq, Debug)]
pub struct WakeAgent {
    /// The agent.
    pub agent: AgentKey,
    /// The reason, the urgency and the request.
    pub interest: Interest,
    /// Who caused it. An interest caused by an agent wakes others only while its origin may still be passed on, so that
    /// a room without new input becomes idle; any other author counts as outside.
    pub by: Author,
    /// The log record that caused it.
    pub cause: Seq,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bell(text: &str) -> PendingInterest {
        let interest = Interest::new("doorbell", "somebody rings", Urgency::Seek, "Open.").quoting("guest", text);
        PendingInterest { interest: interest.bounded(), origin: Provenance::default() }
    }

    #[test]
    fn equal_reasons_at_the_same_place_are_merged_with_all_quotes() {
        let mut second = bell("It rains.");
        second.interest.urgency = Urgency::Mail;
        assert!(bell("Hello?").can_merge(&second));
        let both = bell("Hello?").merged(&second);
        let texts: Vec<&str> = both.interest.moment.quotes.iter().map(|quote| quote.text.as_str()).collect();
        assert_eq!((texts, both.interest.urgency), (vec!["Hello?", "It rains."], Urgency::Mail));
        let elsewhere = PendingInterest { interest: bell("x").interest.at(Place::Element("door".into())), ..bell("x") };
        assert!(!bell("x").can_merge(&elsewhere));
    }

    #[test]
    fn interests_are_bounded_and_state_omissions() {
        let mut pending = bell(&"x".repeat(100_000));
        for ring in 0..30 {
            pending = pending.merged(&bell(&format!("ring {ring}")));
        }
        let WakeRequest { quotes, quotes_left_out, .. } = &pending.interest.moment;
        assert_eq!((quotes.len(), *quotes_left_out, quotes[7].text.as_str()), (8, 23, "ring 29"));
        let long = Interest::new("x", "a\nb".repeat(500), Urgency::Read, "y".repeat(90_000));
        let long = long.at(Place::Point(Vec2::NAN)).bounded();
        assert!(long.why.sentence.chars().count() <= MAX_SENTENCE_CHARS && !long.why.sentence.contains('\n'));
        assert!(long.moment.ask.chars().count() <= MAX_ASK_CHARS && long.moment.place.is_none());
    }
}
