//! What elements hold and what may be done to it: the contract between kinds of elements and the rest.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::Debug;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::settings::ElementSettings;
use crate::base::text::one_line;
use crate::base::{Author, ElementKey, Id, Seq};
use crate::log::events::ElementDeed;
use crate::schedule::Input;

/// What an element is apart from what it holds.
#[derive(Component, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Element {
    /// The room's number for it.
    pub key: ElementKey,
    /// Its id in the scene.
    pub id: Id,
    /// The kind's word: `pinboard`.
    pub kind: Id,
    /// What it is called on screen and in prompts; never empty.
    pub label: Id,
    /// Its middle, in world units.
    pub position: Vec2,
    /// The agent it belongs to (an inbox), by id.
    pub owner: Option<Id>,
    /// The file that holds its content, relative to the workspace; the scene file where absent.
    pub file: Option<String>,
    /// Counts the changes of its content; equal versions of one element read the same. Mail that becomes read,
    /// or is closed by its owner, is no such change: its owner knows.
    pub version: u32,
}

/// What an element holds. The component that stands beside [`Element`].
#[derive(Component, Debug)]
pub struct Held(pub Box<dyn Content>);

/// What one kind of element holds. Pure: no ECS, no files, no clock.
pub trait Content: Any + Send + Sync + Debug {
    /// As the keys of the scene entry: `{ text: … }`, `{ pins: […] }`, `{ items: […] }`. Unknown keys within are kept.
    fn to_scene(&self) -> serde_json::Map<String, serde_json::Value>;

    /// As the text of the file that an element names: plain Markdown that a person can edit.
    fn to_markdown(&self) -> String;

    /// What was done to it in a file: the acts that lead from `self` to `newer`.
    fn acts_to(&self, newer: &dyn Content) -> Vec<ElementAct>;

    /// The same where the file was changed before it held what `self` holds by now: the acts that lead from `base`
    /// to `newer`, named as `self` knows the items.
    fn acts_since(&self, base: &dyn Content, newer: &dyn Content) -> Vec<ElementAct> {
        base.acts_to(newer)
    }

    /// Does something to it, or says why not in words for whoever tried. `now_secs` is simulated time. No
    /// change in the answer means that it was so already.
    fn apply(
        &mut self,
        act: &ElementAct,
        by: &Author,
        now_secs: f64,
        limits: &ElementSettings,
    ) -> Result<Vec<ElementChange>, String>;

    /// As [`Content::to_scene`], with what only the room needs to go on (the numbers it counts up). The kind's
    /// `from_scene` reads it back.
    fn to_saved(&self) -> serde_json::Map<String, serde_json::Value> {
        self.to_scene()
    }

    /// Tells a private element which agents it belongs to now, by id.
    fn set_readers(&mut self, _readers: &BTreeSet<Id>) {}

    /// What a reader sees: the text that goes into a prompt; nothing for those whom it is not meant for.
    fn prompt_text(&self, reader: &Reader) -> String;

    /// Who wrote an item of its list (a pin, a piece of mail), and what it says.
    fn item(&self, _id: &str) -> Option<(&Id, &str)> {
        None
    }

    /// At most `max_chars` of what stands there, for what a reader remembers.
    fn summary(&self, reader: &Reader, max_chars: usize) -> String;

    /// Itself, for the code that knows the kind.
    fn as_any(&self) -> &dyn Any;

    /// Itself, copied.
    fn boxed_clone(&self) -> Box<dyn Content>;
}

/// Who reads an element.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The agent's id; empty where nobody reads for itself.
    pub id: &'a str,
    /// What the reader calls an author.
    pub called: &'a dyn Fn(&str) -> Id,
}

impl<'a> Reader<'a> {
    /// A reader of this id who calls everyone by id.
    pub fn of_id(id: &'a str) -> Self {
        Self { id, called: &|author| author.into() }
    }

    /// An author as this reader calls it, on one line.
    pub fn called(&self, author: &str) -> String {
        one_line(&(self.called)(author))
    }
}

/// Something that can be done to an element's content. A kind refuses what does not fit it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum ElementAct {
    /// Replaces the text of a message board or rulebook.
    SetText { text: String },
    /// Pins a text up; the id is made by the board where absent.
    AddPin { id: Option<Id>, text: String },
    /// Changes the text of a pin.
    EditPin { id: Id, text: String },
    /// Takes a pin down: its author or the person only.
    RemovePin { id: Id },
    /// Votes on a pin; voting the other way moves the vote.
    Vote { id: Id, up: bool },
    /// Comments on a pin.
    Comment { id: Id, text: String },
    /// Puts mail into an inbox.
    AddMail { id: Option<Id>, from: Id, to: Id, subject: String, text: String, attachments: Vec<String> },
    /// Changes whether a piece of mail is open, pending or closed.
    SetMailStatus { id: Id, status: MailStatus },
    /// The model has seen these pieces of mail.
    MarkMailRead { ids: Vec<Id> },
    /// Takes mail out of the box.
    RemoveMail { id: Id },
    /// Keeps a copy of mail that the owner sent; the oldest copy goes.
    KeepSent { to: Id, subject: String, text: String, attachments: Vec<String> },
    /// From a person's file: puts a whole pin or piece of mail in at a place of its list.
    Put { list: ItemList, item: Map<String, Value>, at: usize },
    /// From a person's file: sets these keys of a pin or piece of mail; null takes a key away.
    Correct { list: ItemList, id: Id, keys: Map<String, Value> },
    /// From a person's file: appends a comment as it stands there.
    PutComment { id: Id, comment: Map<String, Value> },
    /// From a person: takes the last comment away that reads like this one.
    RemoveComment { id: Id, comment: Map<String, Value> },
    /// From a person's file: this voter votes so, or not at all.
    CorrectVote { id: Id, voter: Id, up: Option<bool> },
    /// From a person's file: those of these that are there stand in this order.
    Order { list: ItemList, ids: Vec<Id> },
    /// From a person's file: the lines below the list, which belong to no item, are these.
    KeepLines { below: Vec<String> },
}

/// Which list of an element an item stands in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemList {
    /// The pins of a pinboard.
    Pins,
    /// The mail that came in.
    Items,
    /// The copies of mail that went out.
    Outbox,
}

impl ItemList {
    /// The key of the scene entry that holds the list.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pins => "pins",
            Self::Items => "items",
            Self::Outbox => "outbox",
        }
    }
}

/// Where a piece of mail stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailStatus {
    /// Not answered yet.
    #[default]
    Open,
    /// Being worked on.
    Pending,
    /// Done with.
    Closed,
}

/// What became different about an element.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum ElementChange {
    /// The element is new in the room.
    Added,
    /// The element left the room.
    Removed,
    /// It stands elsewhere, or is called something else, or belongs to someone else.
    Rearranged,
    /// Its text is another.
    TextSet,
    PinAdded {
        id: Id,
    },
    PinEdited {
        id: Id,
    },
    PinRemoved {
        id: Id,
        why: String,
    },
    PinVoted {
        id: Id,
    },
    PinFlagged {
        id: Id,
    },
    PinCommented {
        id: Id,
    },
    MailAdded {
        id: Id,
    },
    /// It says something else now.
    MailEdited {
        id: Id,
    },
    /// Where it stands, or that it was read.
    MailChanged {
        id: Id,
    },
    MailRemoved {
        id: Id,
    },
}

impl ElementChange {
    /// What the log calls it.
    pub fn deed(&self) -> ElementDeed {
        match self {
            Self::Added => ElementDeed::Added,
            Self::Removed => ElementDeed::Removed,
            Self::Rearranged => ElementDeed::Rearranged,
            Self::TextSet => ElementDeed::TextSet,
            Self::PinAdded { .. } => ElementDeed::PinAdded,
            Self::PinEdited { .. } => ElementDeed::PinEdited,
            Self::PinRemoved { .. } => ElementDeed::PinRemoved,
            Self::PinVoted { .. } => ElementDeed::PinVoted,
            Self::PinFlagged { .. } => ElementDeed::PinFlagged,
            Self::PinCommented { .. } => ElementDeed::PinCommented,
            Self::MailAdded { .. } => ElementDeed::MailAdded,
            Self::MailEdited { .. } => ElementDeed::MailEdited,
            Self::MailChanged { .. } => ElementDeed::MailChanged,
            Self::MailRemoved { .. } => ElementDeed::MailRemoved,
        }
    }

    /// Why it was done, where a reason is given.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::PinRemoved { why, .. } => Some(why),
            _ => None,
        }
    }

    /// The item of a list that it is about, where it is about one.
    pub fn item(&self) -> Option<&Id> {
        match self {
            Self::Added | Self::Removed | Self::Rearranged | Self::TextSet => None,
            Self::PinAdded { id }
            | Self::PinEdited { id }
            | Self::PinRemoved { id, .. }
            | Self::PinVoted { id }
            | Self::PinFlagged { id }
            | Self::PinCommented { id }
            | Self::MailAdded { id }
            | Self::MailEdited { id }
            | Self::MailChanged { id }
            | Self::MailRemoved { id } => Some(id),
        }
    }
}

/// Something to be done to an element: by the person (through the door) or by an agent's intent (within the world).
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ElementEdit {
    /// Which, by id.
    pub element: Id,
    /// What.
    pub act: ElementAct,
    /// Who does it.
    pub by: Author,
    /// The record that it comes from.
    pub cause: Option<Seq>,
}

impl Input for ElementEdit {
    const KIND: &'static str = "element_edit";
}

/// An element changed. Every reader may rely on one message for each change, after the change.
#[derive(Message, Clone, Debug)]
pub struct ElementChanged {
    /// Which.
    pub element: ElementKey,
    /// What became different.
    pub change: ElementChange,
    /// Who did it.
    pub by: Author,
    /// The record of it in the log.
    pub cause: Seq,
}

/// An edit was refused; the one who tried is to be told.
#[derive(Message, Clone, Debug)]
pub struct ElementRefused {
    /// Who tried.
    pub by: Author,
    /// Why not, as a sentence for the one who tried.
    pub why: String,
    /// The file in which it was tried, where it was done by changing one.
    pub file: Option<String>,
    /// The record of it in the log.
    pub cause: Seq,
}
