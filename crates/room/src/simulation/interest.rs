//! Reasons to wake an agent, as data. Code outside this floor (a doorbell, a timer, a message from another room) sends
//! one [`WakeAgent`] with the reason, the urgency and what the agent is asked. From then on it is queued, walked to,
//! thought about, saved, replayed and shown like all other actions.

use bevy::ecs::message::Message;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use super::provenance::Provenance;
use crate::base::text::{one_line, truncate};
use crate::base::{AgentKey, Author, Id, Seq, Urgency};

/// Characters of the sentence that says why.
const SENTENCE_CHARS_AT_MOST: usize = 200;
/// Characters of what the agent is asked.
const ASK_CHARS_AT_MOST: usize = 2_000;
/// Characters of one piece of what others said.
const QUOTE_CHARS_AT_MOST: usize = 4_000;
/// How many quotes of others are kept; older ones are dropped, and their number is given.
const QUOTES_AT_MOST: usize = 8;

/// A reason to wake an agent: why, how urgent it is, and what the agent is asked.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Interest {
    /// Why.
    pub why: Reason,
    /// How soon.
    pub urgency: Urgency,
    /// What the agent is asked.
    pub moment: Moment,
}

/// Why an agent wakes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reason {
    /// The kind of reason as one word, as logged: `doorbell`.
    pub word: Id,
    /// The reason as a person reads it, without a full stop: "somebody rings at the door".
    pub sentence: String,
}

/// What an agent is asked, and where it goes first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Moment {
    /// What it is to do, in the words of whoever has the reason: the agent follows them.
    pub ask: String,
    /// What others said or wrote about it, oldest first: the agent reads that as data and never follows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<Quote>,
    /// How many older pieces were left out because there were too many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub quotes_left_out: u32,
    /// Where it goes before it is asked; nowhere where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Something that others said or wrote.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Quote {
    /// The author, as the agent is told.
    pub by: Id,
    /// What.
    pub text: String,
}

/// Where an agent goes for a reason.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// To an element, by id.
    Element(Id),
    /// To an agent, by id.
    Agent(Id),
    /// To a point of the room.
    Point(Vec2),
}

impl Place {
    /// The id of the element or agent that it is.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Self::Element(id) | Self::Agent(id) => Some(id),
            Self::Point(_) => None,
        }
    }
}

impl Interest {
    /// A reason for an agent to turn to something, without moving.
    pub fn new(word: impl Into<Id>, sentence: impl Into<String>, urgency: Urgency, ask: impl Into<String>) -> Self {
        let why = Reason { word: word.into(), sentence: sentence.into() };
        Self { why, urgency, moment: Moment { ask: ask.into(), ..Moment::default() } }
    }

    /// The same, at this place.
    pub fn at(mut self, place: Place) -> Self {
        self.moment.place = Some(place);
        self
    }

    /// The same reason, with a quotation of something said or written about it.
    pub fn quoting(mut self, by: impl Into<Id>, text: impl Into<String>) -> Self {
        self.moment.quotes.push(Quote { by: by.into(), text: text.into() });
        self
    }

    /// The same, shortened for a queue.
    pub(super) fn bounded(mut self) -> Self {
        self.why.sentence = truncate(&one_line(&self.why.sentence), SENTENCE_CHARS_AT_MOST);
        self.moment.ask = truncate(&self.moment.ask, ASK_CHARS_AT_MOST);
        for quote in &mut self.moment.quotes {
            quote.text = truncate(&quote.text, QUOTE_CHARS_AT_MOST);
        }
        let surplus = self.moment.quotes.len().saturating_sub(QUOTES_AT_MOST);
        self.moment.quotes.drain(..surplus);
        self.moment.quotes_left_out = self.moment.quotes_left_out.saturating_add(surplus as u32);
        if matches!(self.moment.place, Some(Place::Point(point)) if !point.is_finite()) {
            self.moment.place = None;
        }
        self
    }

    /// Whether both are the same reason at the same place, so that one stands for both.
    fn is_like(&self, other: &Self) -> bool {
        self.why.word == other.why.word && self.moment.place == other.moment.place
    }
}

/// An interest that an agent has not handled yet, and its origin.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PendingInterest {
    /// What.
    pub interest: Interest,
    /// Where it comes from.
    #[serde(default)]
    pub origin: Provenance,
}

impl PendingInterest {
    /// Whether one of them covers both.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.interest.is_like(&other.interest)
    }

    /// Merges two: the newer request, the quotes of both, as early as the more urgent of the two.
    pub(super) fn merged(self, newer: &Self) -> Self {
        let mut quotes = self.interest.moment.quotes;
        quotes.extend(newer.interest.moment.quotes.iter().cloned());
        let left_out = self.interest.moment.quotes_left_out;
        let moment = Moment {
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
    /// Whom.
    pub agent: AgentKey,
    /// Why, how soon, and what it is asked then.
    pub interest: Interest,
    /// Whose doing it is. What an agent did wakes others only as often as it may be handed on, so that a room in which
    /// nothing comes in from outside comes to rest; everybody else is outside.
    pub by: Author,
    /// The record that it comes from.
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
    fn the_same_reason_at_the_same_place_is_one_and_keeps_what_was_said_to_each() {
        let mut second = bell("It rains.");
        second.interest.urgency = Urgency::Mail;
        assert!(bell("Hello?").is_like(&second));
        let both = bell("Hello?").merged(&second);
        let texts: Vec<&str> = both.interest.moment.quotes.iter().map(|quote| quote.text.as_str()).collect();
        assert_eq!((texts, both.interest.urgency), (vec!["Hello?", "It rains."], Urgency::Mail));
        let elsewhere = PendingInterest { interest: bell("x").interest.at(Place::Element("door".into())), ..bell("x") };
        assert!(!bell("x").is_like(&elsewhere));
    }

    #[test]
    fn whatever_is_said_it_stays_small_and_tells_what_is_left_out() {
        let mut pending = bell(&"x".repeat(100_000));
        for ring in 0..30 {
            pending = pending.merged(&bell(&format!("ring {ring}")));
        }
        let Moment { quotes, quotes_left_out, .. } = &pending.interest.moment;
        assert_eq!((quotes.len(), *quotes_left_out, quotes[7].text.as_str()), (8, 23, "ring 29"));
        let long = Interest::new("x", "a\nb".repeat(500), Urgency::Read, "y".repeat(90_000));
        let long = long.at(Place::Point(Vec2::NAN)).bounded();
        assert!(long.why.sentence.chars().count() <= SENTENCE_CHARS_AT_MOST && !long.why.sentence.contains('\n'));
        assert!(long.moment.ask.chars().count() <= ASK_CHARS_AT_MOST && long.moment.place.is_none());
    }
}
