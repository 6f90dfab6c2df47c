//! A scene as data: its entries, a person's edits, and pending writes.

use bevy::ecs::message::Message;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::decor::{Decor, DecorChange};
use crate::base::Behaviour;
use crate::base::{Author, Id, Seq};

/// An element of a scene.
#[derive(Clone, PartialEq, Debug)]
pub struct ElementEntry {
    /// The id; unique among elements.
    pub id: Id,
    /// The name of its kind.
    pub kind: Id,
    /// The label.
    pub label: Option<String>,
    /// The position in world units; always finite.
    pub position: Vec2,
    /// The owner, as the id or the profile of an agent.
    pub owner: Option<Id>,
    /// The path of the file with its content.
    pub file: Option<String>,
    /// All keys of the entry, including those above.
    pub keys: Map<String, Value>,
    /// The line on which the entry starts, counted from 1.
    pub line: Option<usize>,
}

/// An agent of a scene.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentEntry {
    /// The id; unique among agents.
    pub id: Id,
    /// The id of its profile.
    pub profile: Id,
    /// The home position; always finite. `None`: the room chooses one.
    pub position: Option<Vec2>,
    /// Its behaviour when idle; `None` for that of its profile.
    pub behaviour: Option<Behaviour>,
    /// All keys of the entry, including those above.
    pub keys: Map<String, Value>,
    /// The line on which the entry starts, counted from 1.
    pub line: Option<usize>,
}

/// A labelled rope between two agents.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Relationship {
    /// The id of the first agent.
    pub from: Id,
    /// The id of the second agent.
    pub to: Id,
    /// The role of `from` towards `to`, such as "mentors".
    pub label: String,
}

/// A difference between the scene as the world knows it and its previous state: everything when the room is first
/// opened, or a person's changes when the file is edited outside.
#[derive(Message, Clone, PartialEq, Debug)]
pub enum SceneEdit {
    /// An element is new (`before` is `None`) or its entry changed.
    Element {
        /// The present entry.
        now: ElementEntry,
        /// The previous entry.
        before: Option<ElementEntry>,
        /// The author of the edit.
        by: Author,
        /// The log record of the edit, if there is one.
        cause: Option<Seq>,
    },
    /// An element was removed.
    ElementGone {
        /// The id of the element.
        id: Id,
        /// The author of the edit.
        by: Author,
        /// The log record of the edit, if there is one.
        cause: Option<Seq>,
    },
    /// An agent is new (`before` is `None`) or its entry changed.
    Agent {
        /// The present entry.
        now: AgentEntry,
        /// The previous entry.
        before: Option<AgentEntry>,
    },
    /// An agent was removed.
    AgentGone {
        /// The id of the agent.
        id: Id,
    },
    /// The relationships changed; this is the whole list.
    Relationships(Vec<Relationship>),
    /// The furniture changed; this is the whole list.
    Decor(Vec<Decor>),
}

/// A change to be written into the scene file or another file of the workspace, preserving the rest of it.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SceneWrite {
    /// Sets these keys of an element's entry; null removes a key.
    Element {
        /// The id of the element.
        id: Id,
        /// The new values by key.
        keys: Map<String, Value>,
    },
    /// Adds an element at the end.
    AddElement {
        /// All keys of the entry, `id` first.
        keys: Map<String, Value>,
    },
    /// Removes an element.
    RemoveElement {
        /// The id of the element.
        id: Id,
    },
    /// Sets these keys of an agent's entry; null removes a key.
    Agent {
        /// The id of the agent.
        id: Id,
        /// The new values by key.
        keys: Map<String, Value>,
    },
    /// Adds an agent at the end.
    AddAgent {
        /// All keys of the entry, `id` first.
        keys: Map<String, Value>,
    },
    /// Removes an agent.
    RemoveAgent {
        /// The id of the agent.
        id: Id,
    },
    /// Replaces the list of relationships.
    Relationships(Vec<Relationship>),
    /// Changes the furniture.
    Decor(DecorChange),
    /// Replaces the whole text of a file that an element names.
    File {
        /// The path relative to the workspace, with `/` between parts.
        path: String,
        /// The new text.
        text: String,
    },
}
