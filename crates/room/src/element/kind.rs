//! The kinds of elements there are: the list that a new kind adds one line to.

use super::content::{Content, ElementChange};
use super::{inbox, messageboard, pinboard, rulebook};
use crate::base::{Problem, Urgency};

/// Whom a change wakes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wake {
    /// Nobody.
    Nobody,
    /// Every agent in the room.
    Everyone(Urgency),
    /// The agent that the element belongs to.
    Owner(Urgency),
    /// The agent that wrote the item that changed.
    Author(Urgency),
}

/// What an entry says that an element holds, and what is wrong with it.
pub type ReadContent = (Box<dyn Content>, Vec<Problem>);

/// A line of a file that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

/// One kind of element.
pub struct Kind {
    /// The word in scene files.
    pub word: &'static str,
    /// How a person would say it: "message board".
    pub name: &'static str,
    /// Whether what it holds stands at the head of every prompt (a rulebook).
    pub standing_instructions: bool,
    /// Whether only its owner reads it (an inbox).
    pub private: bool,
    /// Whom a change of its content wakes.
    pub wakes: fn(&ElementChange) -> Wake,
    /// Reads the keys of a scene entry. What cannot be used becomes a problem at `place`; the rest is used.
    pub from_scene: fn(entry: &serde_json::Map<String, serde_json::Value>, place: &str) -> ReadContent,
    /// Reads the file that an element names.
    pub from_markdown: fn(text: &str) -> Box<dyn Content>,
    /// What in such a file cannot be read, so that its text does not say what the element is to hold.
    pub faults: fn(text: &str) -> Vec<Fault>,
}

/// Every kind.
pub static KINDS: &[&Kind] = &[&pinboard::KIND, &messageboard::KIND, &inbox::KIND, &rulebook::KIND];

/// The kind of this word.
pub fn kind(word: &str) -> Option<&'static Kind> {
    KINDS.iter().copied().find(|kind| kind.word == word)
}
