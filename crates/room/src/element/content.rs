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

/// The content of an element: the component next to [`Element`].
#[derive(Component, Debug)]
pub struct HeldContent(pub Box<dyn Content>);

/// The content of one kind of element. Pure: no ECS, no files, no clock.
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

    /// What takes back what was done between `before` and `self`, for a person who undoes it; others may have done more
    /// until then.
    fn acts_back_to(&self, before: &dyn Content) -> Vec<ElementAct> {
        self.acts_to(before)
    }

    /// Applies an act to it, or returns why not, in words for the author of the act. An answer without a change means
    /// that nothing changed.
    fn apply(&mut self, act: &ElementAct, context: &ActContext<'_>) -> Result<Vec<ElementChange>, String>;

    /// As [`Content::to_scene`], plus what only the room needs to continue (such as counters). The kind's `from_scene`
    /// reads it back.
    fn to_saved(&self) -> serde_json::Map<String, serde_json::Value> {
        self.to_scene()
    }

    /// Tells a private element which agents it belongs to now, by id.
    fn set_readers(&mut self, _readers: &BTreeSet<Id>) {}

    /// The text for a reader's prompt; `None` for agents that it is not meant for.
    fn prompt_text(&self, reader: &Reader) -> String;

    /// The author of an item of its list (a pin, a piece of mail), and its text.
    fn item(&self, _id: &str) -> Option<(&Id, &str)> {
        None
    }

    /// The text that it holds, where it holds one.
    fn text(&self) -> Option<&str> {
        None
    }

    /// Its pins, oldest first, if it has pins.
    fn pins(&self) -> Option<&[Pin]> {
        None
    }

    /// The task file that it shows, where it shows one.
    fn tasks(&self) -> Option<&Arc<TaskFile>> {
        None
    }

    /// Received mail and copies of sent mail, oldest first, if it has mail.
    fn mail(&self) -> Option<(&[Mail], &[Mail])> {
        None
    }

    /// At most `max_chars` of the content, for the reader's memory.
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

/// An edit of an element: by the person (through the door) or by an agent's intent (within the world).
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

/// An element changed. There is exactly one message for each change, sent after the change.
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

/// A refused edit; its author must be told.
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
