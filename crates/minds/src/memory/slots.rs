//! The memory slots of one agent as data, and the operations on them.

use std::collections::BTreeMap;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::{AgentKey, ElementKey, Id, Seq};

/// What an agent knows about an element that it has read.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// At most 200 characters of the content at that time.
    pub summary: String,
    /// When it last looked, in ticks.
    pub last_read: u64,
    /// The version that a model last saw. A newer one is news to the agent even if it has looked meanwhile without
    /// asking a model, which the room counts as read (`simulation::Activity::read`).
    pub version: u32,
}

/// An agent's memory slots. Written by this module only.
#[derive(Component, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The rolling summary of older sessions; at most 400 tokens.
    pub context_summary: String,
    /// From `[REMEMBER: …]`, oldest first; at most 10.
    pub workspace_notes: Vec<String>,
    /// "talked to Ada about …", oldest first; at most 5.
    pub recent_interactions: Vec<String>,
    /// What it knows of the elements that it has read.
    pub environment_state: BTreeMap<ElementKey, Seen>,
    /// Pins that it keeps at hand, by element and pin id, oldest first; at most 5.
    pub kept_pins: Vec<(ElementKey, Id)>,
}

/// An act on an agent's memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum MemoryAct {
    /// Appends a note.
    Note { text: String },
    /// Appends a line on whom it met and about what.
    Interaction { text: String },
    /// It has read this version of an element.
    Saw { element: ElementKey, version: u32, summary: String },
    /// It has looked at an element and found the version that it knows.
    Looked { element: ElementKey },
    /// Keeps a pin at hand.
    KeepPin { element: ElementKey, pin: Id },
    /// Lets a kept pin go.
    ReleasePin { pin: Id },
    /// Replaces the summary.
    Summary { text: String },
    /// Empties every slot.
    Clear,
}

/// An edit of an agent's memory, by whichever part of the program has a reason for it.
#[derive(Message, Clone, Debug)]
pub struct MemoryEdit {
    /// Whose.
    pub agent: AgentKey,
    /// What.
    pub act: MemoryAct,
    /// The record that it comes from.
    pub cause: Seq,
}
