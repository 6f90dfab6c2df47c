//! The memory slots of an agent as data, and the acts that change them.

use std::collections::BTreeMap;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::{AgentKey, ElementKey, Id, Seq};

/// An agent's knowledge of an element that it has read.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SeenElement {
    /// A summary of the content at that time, at most 200 characters.
    pub summary: String,
    /// The tick of the last look.
    pub last_read: u64,
    /// The version that a model last saw. A newer one is news to the agent, even if it has looked since without calling
    /// a model, which the room counts as read (`simulation::Activity::read`).
    pub version: u32,
}

/// An agent's memory slots. Written by this module only.
#[derive(Component, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The rolling summary of older sessions; at most 400 tokens.
    pub context_summary: String,
    /// The notes from `[REMEMBER: …]`, oldest first; at most 10.
    pub workspace_notes: Vec<String>,
    /// Lines such as “talked to Ada about …”, oldest first; at most 5.
    pub recent_interactions: Vec<String>,
    /// The agent's knowledge of elements that it has read.
    pub environment_state: BTreeMap<ElementKey, SeenElement>,
    /// The kept pins, by element and pin id, oldest first; at most 5.
    pub kept_pins: Vec<(ElementKey, Id)>,
}

/// A change to an agent's memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum MemoryAct {
    /// Appends a note.
    Note { text: String },
    /// Appends a line on a conversation.
    Interaction { text: String },
    /// Records that a version of an element was read.
    Saw { element: ElementKey, version: u32, summary: String },
    /// Records that an element was looked at and had the known version.
    Looked { element: ElementKey },
    /// Adds a pin to the kept ones.
    KeepPin { element: ElementKey, pin: Id },
    /// Releases a kept pin.
    ReleasePin { pin: Id },
    /// Replaces the summary.
    Summary { text: String },
    /// Clears all slots.
    Clear,
}

/// A request of any layer to edit an agent's memory.
#[derive(Message, Clone, Debug)]
pub struct MemoryEdit {
    /// The agent.
    pub agent: AgentKey,
    /// The change.
    pub act: MemoryAct,
    /// The log record that caused it.
    pub cause: Seq,
}
