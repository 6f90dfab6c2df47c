//! A change of an element, as data: a word declared by its kind, and the item concerned.

use serde::{Deserialize, Serialize};

use crate::base::{Id, MessageKey, Urgency};
use crate::log::events::Word;

/// A change of an element.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ElementChange {
    change: Word,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Id>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<MessageKey>,
}

impl ElementChange {
    /// The element is new in the room.
    pub const ADDED: &'static str = "added";
    /// The element left the room.
    pub const REMOVED: &'static str = "removed";
    /// Its position, its name or its owner changed.
    pub const REARRANGED: &'static str = "rearranged";
    /// Its text is another.
    pub const TEXT_SET: &'static str = "text_set";

    /// A change of the element as a whole.
    pub fn new(word: impl Into<Word>) -> Self {
        Self { change: word.into(), id: None, why: None, message: None }
    }

    /// A change of an item of its list.
    pub fn of_item(word: impl Into<Word>, id: &Id) -> Self {
        Self { id: Some(id.clone()), ..Self::new(word) }
    }

    /// The same, with why it was done.
    pub fn because(self, why: impl Into<String>) -> Self {
        Self { why: Some(why.into()), ..self }
    }

    /// The same, where the item is a message.
    pub fn of_message(self, message: MessageKey) -> Self {
        Self { message: Some(message), ..self }
    }

    /// Its word.
    pub fn word(&self) -> &str {
        &self.change
    }

    /// Whether it is of this word.
    pub fn is(&self, word: &str) -> bool {
        self.change == word
    }

    /// Why it was done, where a reason is given.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// The message that it brought.
    pub fn message(&self) -> Option<MessageKey> {
        self.message
    }

    /// The item of a list that it is about, where it is about one.
    pub fn item(&self) -> Option<&Id> {
        self.id.as_ref()
    }
}

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

/// A change that a kind declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChangeKind {
    /// Its word.
    pub word: &'static str,
    /// Whom it wakes.
    pub wakes: Wake,
    /// The change as news for those who read the item before; `None` if they are not notified.
    pub news: Option<ItemNews>,
    /// What the log says of it, between who did it and what the element is called: "drew a stroke on". The changes
    /// that the log has sentences of its own for need none.
    pub says: &'static str,
}

impl ChangeKind {
    /// A change of this word that wakes these.
    pub const fn new(word: &'static str, wakes: Wake) -> Self {
        Self { word, wakes, news: None, says: "" }
    }

    /// The same, of an item that is this to those who read it before.
    pub const fn news(self, news: ItemNews) -> Self {
        Self { news: Some(news), ..self }
    }
}

/// What a change of an item means to an agent that read the element before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemNews {
    /// The item is new.
    #[default]
    Added,
    /// It says something else.
    Edited,
    /// Somebody commented on it.
    Commented,
    /// Somebody voted on it.
    VotedOn,
    /// It was taken away.
    Removed,
}
