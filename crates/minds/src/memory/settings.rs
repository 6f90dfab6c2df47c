//! The section `memory` of `settings.yaml`: limits of the memory slots.

use crate::workspace::SettingsSection;

settings! {
    /// Limits of the memory slots.
    pub struct MemorySettings {
        /// Workspace notes per agent; the oldest is dropped.
        pub max_notes: usize = 10, in 0.0..=1_000_000.0, once "notes_at_most";
        /// Characters of one note.
        pub max_note_chars: usize = 500, in 0.0..=1_000_000_000.0, once "note_chars_at_most";
        /// Lines on recent interactions per agent; the oldest is dropped.
        pub max_interactions: usize = 5, in 0.0..=1_000_000.0, once "interactions_at_most";
        /// Tokens of the context summary.
        pub max_summary_tokens: u32 = 400, in 0.0..=1_000_000_000.0, once "summary_tokens_at_most";
        /// Characters of an agent's knowledge of one element.
        pub max_environment_chars: usize = 200, in 0.0..=1_000_000_000.0, once "environment_chars_at_most";
        /// Pins that an agent remembers; the oldest is dropped.
        pub max_kept_pins: usize = 5, in 0.0..=1_000_000.0, once "kept_pins_at_most";
        /// Agents that left and whose memory is kept in case they return; the first to leave is forgotten first.
        pub max_archived_agents: usize = 1_000, in 0.0..=1_000_000.0, once "archived_agents_at_most";
    }
}

impl SettingsSection for MemorySettings {
    const NAME: &'static str = "memory";
}
