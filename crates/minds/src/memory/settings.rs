//! The section `memory` of `settings.yaml`: limits of the memory slots.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::workspace::SettingsSection;

/// Limits of the memory slots.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct MemorySettings {
    /// Workspace notes per agent; the oldest is dropped.
    pub notes_at_most: usize,
    /// Characters of one note.
    pub note_chars_at_most: usize,
    /// Lines on recent interactions per agent; the oldest is dropped.
    pub interactions_at_most: usize,
    /// Tokens of the context summary.
    pub summary_tokens_at_most: u32,
    /// Characters of an agent's knowledge of one element.
    pub environment_chars_at_most: usize,
    /// Pins that an agent remembers; the oldest is dropped.
    pub kept_pins_at_most: usize,
    /// Agents that left and whose memory is kept in case they return; the first to leave is forgotten first.
    pub archived_agents_at_most: usize,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            notes_at_most: 10,
            note_chars_at_most: 500,
            interactions_at_most: 5,
            summary_tokens_at_most: 400,
            environment_chars_at_most: 200,
            kept_pins_at_most: 5,
            archived_agents_at_most: 1_000,
        }
    }
}

impl SettingsSection for MemorySettings {
    const NAME: &'static str = "memory";
}
