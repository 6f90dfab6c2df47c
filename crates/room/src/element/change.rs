//! A change of an element, as data: a word declared by its kind, and the item concerned.

use serde::{Deserialize, Serialize};

use crate::base::{Author, Id, MessageKey, Urgency};
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loser: Option<Author>,
}

impl ElementChange {
    /// The element is new in the room.
    pub const ADDED: &'static str = "added";
    /// The element left the room.
    pub const REMOVED: &'static str = "removed";
    /// Its position, its label or its owner changed.
    pub const REARRANGED: &'static str = "rearranged";
    /// Its text changed.
    pub const TEXT_SET: &'static str = "text_set";

    /// Creates a change of the element as a whole.
    pub fn new(word: impl Into<Word>) -> Self {
        Self { change: word.into(), id: None, why: None, message: None, loser: None }
    }

    /// Creates a change of an item in its list.
    pub fn of_item(word: impl Into<Word>, id: &Id) -> Self {
        Self { id: Some(id.clone()), ..Self::new(word) }
    }

    /// Adds a reason.
    pub fn because(self, why: impl Into<String>) -> Self {
        Self { why: Some(why.into()), ..self }
    }

    /// Sets the author of an item that a limit removed, who is told about it.
    pub fn lost_by(self, author: &Author) -> Self {
        Self { loser: Some(author.clone()), ..self }
    }

    /// The author of the item that a limit removed, if one did.
    pub fn loser(&self) -> Option<&Author> {
        self.loser.as_ref()
    }

    /// Adds the id of the message that the item is.
    pub fn of_message(self, message: MessageKey) -> Self {
        Self { message: Some(message), ..self }
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        &self.change
    }

    /// Whether it has this word.
    pub fn is(&self, word: &str) -> bool {
        self.change == word
    }

    /// The reason, if there is one.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// The id of the message that it added, if any.
    pub fn message(&self) -> Option<MessageKey> {
        self.message
    }

    /// The id of the changed item, if it is about one.
    pub fn item(&self) -> Option<&Id> {
        self.id.as_ref()
    }
}

/// Who is woken by a change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wake {
    /// No agent.
    Nobody,
    /// Every agent in the room.
    Everyone(Urgency),
    /// The agent that owns the element.
    Owner(Urgency),
    /// The author of the changed item.
    Author(Urgency),
}

/// A change that a kind declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChangeKind {
    /// The word.
    pub word: &'static str,
    /// Who is woken by it.
    pub wakes: Wake,
    /// The change as news for those who read the item before; `None` if they are not notified.
    pub news: Option<ItemNews>,
    /// The verb phrase in the log, between the author and the element's label: "drew a stroke on". Empty for changes
    /// for which the log has its own sentences.
    pub says: &'static str,
}

impl ChangeKind {
    /// Creates a change with this word that wakes these agents.
    pub const fn new(word: &'static str, wakes: Wake) -> Self {
        Self { word, wakes, news: None, says: "" }
    }

    /// Makes the change news for those who read the item before.
    pub const fn news(self, news: ItemNews) -> Self {
        Self { news: Some(news), ..self }
    }
}

/// How a change of an item is reported to an agent that read the element before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemNews {
    /// The item is new.
    #[default]
    Added,
    /// Its text changed.
    Edited,
    /// It has a new comment.
    Commented,
    /// It has a new vote.
    VotedOn,
    /// It was removed.
    Removed,
}
