//! The content of elements and the acts on it: the contract between kinds of elements and the rest of the program.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use super::act::{ActContext, ElementAct};
use super::change::ElementChange;
use super::mail::Mail;
use super::pin::Pin;
use crate::base::text::one_line;
use crate::base::{Author, ElementKey, Id, Seq};
use crate::schedule::Input;
use crate::workspace::task_files::TaskFile;

/// An element without its content.
#[derive(Component, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Element {
    /// Its key in the room.
    pub key: ElementKey,
    /// Its id in the scene.
    pub id: Id,
    /// The word of its kind: `pinboard`.
    pub kind: Id,
    /// Its name on screen and in prompts; never empty.
    pub label: Id,
    /// Its center, in world units.
    pub position: Vec2,
    /// The id of the agent that owns it (an inbox).
    pub owner: Option<Id>,
    /// The file with its content, relative to the workspace; `None` if the scene file contains it.
    pub file: Option<String>,
    /// The number of changes of its content: equal versions read the same. Marking mail as read and closing it do not
    /// count, because the owner knows about them.
    pub version: u32,
}

/// The content of an element: the component next to [`Element`].
#[derive(Component, Debug)]
pub struct HeldContent(pub Box<dyn Content>);

/// The content of one kind of element. Pure: no ECS, no files, no clock.
pub trait Content: Any + Send + Sync + Debug {
    /// The content as keys of the scene entry: `{ text: … }`, `{ pins: […] }`, `{ items: […] }`. Unknown keys within
    /// are kept.
    fn to_scene(&self) -> serde_json::Map<String, serde_json::Value>;

    /// The content as the text of the element's file: plain Markdown that a person can edit.
    fn to_markdown(&self) -> String;

    /// The acts that change `self` to `newer`, for a change made in a file.
    fn acts_to(&self, newer: &dyn Content) -> Vec<ElementAct>;

    /// The acts for a change from `base` to `newer` in a file, while the content was changed to `self` in the room.
    /// Items have their ids in `self`.
    fn acts_since(&self, base: &dyn Content, newer: &dyn Content) -> Vec<ElementAct> {
        base.acts_to(newer)
    }

    /// The acts with which a person undoes the change from `before` to `self`; others may make further changes before
    /// they are applied.
    fn acts_back_to(&self, before: &dyn Content) -> Vec<ElementAct> {
        self.acts_to(before)
    }

    /// Applies an act, or returns the reason for a refusal, as a sentence for the author of the act. An empty result
    /// means that nothing changed.
    fn apply(&mut self, act: &ElementAct, context: &ActContext<'_>) -> Result<Vec<ElementChange>, String>;

    /// The content as in [`Content::to_scene`], plus internal state of the room (such as counters). The kind's
    /// `from_scene` reads it back.
    fn to_saved(&self) -> serde_json::Map<String, serde_json::Value> {
        self.to_scene()
    }

    /// Sets the ids of the agents that currently own a private element.
    fn set_readers(&mut self, _readers: &BTreeSet<Id>) {}

    /// The text for a reader's prompt; empty for agents that may not read it.
    fn prompt_text(&self, reader: &Reader) -> String;

    /// The author and text of an item in its list (a pin, a mail).
    fn item(&self, _id: &str) -> Option<(&Id, &str)> {
        None
    }

    /// Its text, if it is one.
    fn text(&self) -> Option<&str> {
        None
    }

    /// Its pins, oldest first, if it has pins.
    fn pins(&self) -> Option<&[Pin]> {
        None
    }

    /// The task file that it shows, if any.
    fn tasks(&self) -> Option<&Arc<TaskFile>> {
        None
    }

    /// Received mail and copies of sent mail, oldest first, if it has mail.
    fn mail(&self) -> Option<(&[Mail], &[Mail])> {
        None
    }

    /// At most `max_chars` of the content, for the reader's memory.
    fn summary(&self, reader: &Reader, max_chars: usize) -> String;

    /// The content as `Any`, for code that knows the kind.
    fn as_any(&self) -> &dyn Any;

    /// A boxed copy.
    fn boxed_clone(&self) -> Box<dyn Content>;
}

/// The reader of an element.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The agent's id; empty if there is no particular reader.
    pub id: &'a str,
    /// Returns the name of an author for the reader.
    pub called: &'a dyn Fn(&str) -> Id,
}

impl<'a> Reader<'a> {
    /// Creates a reader with this id that names everyone by id.
    pub fn of_id(id: &'a str) -> Self {
        Self { id, called: &|author| author.into() }
    }

    /// The name of an author for this reader, on one line.
    pub fn called(&self, author: &str) -> String {
        one_line(&(self.called)(author))
    }
}

/// An edit of an element: by the person (as an input) or by an agent's intent (within the world).
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ElementEdit {
    /// The id of the element.
    pub element: Id,
    /// The act.
    pub act: ElementAct,
    /// The author.
    pub by: Author,
    /// The log record that caused it.
    pub cause: Option<Seq>,
}

impl Input for ElementEdit {
    const KIND: &'static str = "element_edit";
}

/// A change of an element. There is exactly one message for each change, sent after the change.
#[derive(Message, Clone, Debug)]
pub struct ElementChanged {
    /// The key of the element.
    pub element: ElementKey,
    /// The change.
    pub change: ElementChange,
    /// The author.
    pub by: Author,
    /// The log record of the change.
    pub cause: Seq,
}

/// An item was removed because of a limit, to be reported to its author.
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub struct ItemLost {
    /// The author of the item.
    pub author: Author,
    /// What happened, as a sentence for the author.
    pub what: String,
    /// The log record of the change.
    pub cause: Seq,
}

/// A refused edit, to be reported to its author.
#[derive(Message, Clone, Debug)]
pub struct ElementRefused {
    /// The author.
    pub by: Author,
    /// The reason, as a sentence for the author.
    pub why: String,
    /// The file, if the edit was a change of a file.
    pub file: Option<String>,
    /// The log record of the refusal.
    pub cause: Seq,
}
