//! A scene as data: where things are, what a person changed, and what is to be written.

use bevy::ecs::message::Message;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::decor::{Decor, DecorChange};
use crate::base::Behaviour;
use crate::base::{Author, Id, Seq};

/// One element of a scene.
#[derive(Clone, PartialEq, Debug)]
pub struct ElementEntry {
    /// Its id; unique among elements.
    pub id: Id,
    /// The word of its kind.
    pub kind: Id,
    /// What it is called.
    pub label: Option<String>,
    /// The position of the element; always finite.
    pub position: Vec2,
    /// The agent it belongs to, by id or profile.
    pub owner: Option<Id>,
    /// The file that holds its content.
    pub file: Option<String>,
    /// Every key of the entry as written, including those above.
    pub keys: Map<String, Value>,
    /// The line on which it starts, counted from 1.
    pub line: Option<usize>,
}

/// One agent of a scene.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentEntry {
    /// Its id; unique among agents.
    pub id: Id,
    /// The profile it runs.
    pub profile: Id,
    /// Where it is at home; always finite. The room chooses a place where absent.
    pub position: Option<Vec2>,
    /// What it does when it has nothing to do; its profile's choice where absent.
    pub behaviour: Option<Behaviour>,
    /// Every key of the entry as written, including those above.
    pub keys: Map<String, Value>,
    /// The line on which it starts, counted from 1.
    pub line: Option<usize>,
}

/// A labelled rope between two agents.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Relationship {
    /// Who.
    pub from: Id,
    /// To whom.
    pub to: Id,
    /// What `from` is to `to`: "mentors".
    pub label: String,
}

/// A difference between the scene as the world knows it and its previous state: everything when the room is first
/// opened, or a person's changes when the file is edited outside.
#[derive(Message, Clone, PartialEq, Debug)]
pub enum SceneEdit {
    /// An element is new (`before` is absent) or its entry changed.
    Element {
        /// The entry as it is now.
        now: ElementEntry,
        /// The entry as it was.
        before: Option<ElementEntry>,
        /// Who edited it.
        by: Author,
        /// The record of the edit in the log, where there is one.
        cause: Option<Seq>,
    },
    /// An element's entry is gone.
    ElementGone {
        /// Its id.
        id: Id,
        /// Who took it out.
        by: Author,
        /// The record of the edit in the log, where there is one.
        cause: Option<Seq>,
    },
    /// An agent is new (`before` is absent) or its entry changed.
    Agent {
        /// The entry as it is now.
        now: AgentEntry,
        /// The entry as it was.
        before: Option<AgentEntry>,
    },
    /// An agent's entry is gone.
    AgentGone {
        /// Its id.
        id: Id,
    },
    /// The list of relationships is this now.
    Relationships(Vec<Relationship>),
    /// The room is furnished with this now.
    Decor(Vec<Decor>),
}

/// A change to be written into the scene file or a file of the workspace, without touching the rest of it.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SceneWrite {
    /// Sets these keys of an element's entry; a key whose value is null is removed.
    Element {
        /// Which.
        id: Id,
        /// Key and new value.
        keys: Map<String, Value>,
    },
    /// Appends an element.
    AddElement {
        /// All its keys, `id` first.
        keys: Map<String, Value>,
    },
    /// Removes an element's entry.
    RemoveElement {
        /// Which.
        id: Id,
    },
    /// Sets these keys of an agent's entry; a key whose value is null is removed.
    Agent {
        /// Which.
        id: Id,
        /// Key and new value.
        keys: Map<String, Value>,
    },
    /// Appends an agent.
    AddAgent {
        /// All its keys, `id` first.
        keys: Map<String, Value>,
    },
    /// Removes an agent's entry.
    RemoveAgent {
        /// Which.
        id: Id,
    },
    /// Replaces the list of relationships.
    Relationships(Vec<Relationship>),
    /// Changes what the room is furnished with.
    Decor(DecorChange),
    /// Replaces the whole text of a file that an element names.
    File {
        /// Relative to the workspace, `/` between parts.
        path: String,
        /// The new text.
        text: String,
    },
}
