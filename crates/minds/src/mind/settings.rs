//! The section `mind` of `settings.yaml`: limits of prompts, replies and sessions.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::workspace::{Range, SettingsSection};

/// How agents act on the room with a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActMode {
    /// By calling functions if their model is known to be able to, otherwise by markers.
    #[default]
    Auto,
    /// By markers at the start of a line.
    Markers,
    /// By calling functions, with every model that is not the offline brain or a coding agent.
    Tools,
}

/// Limits of prompts, replies and sessions.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct MindSettings {
    /// Characters of a whole prompt. A bit more than half of them is for the rulebooks and the agent's instructions.
    pub max_prompt_chars: usize,
    /// Maximum tokens of a reply.
    pub max_output_tokens: u32,
    /// Maximum tokens of a work reply, including the content it writes to files.
    pub max_work_output_tokens: u32,
    /// A description of the person, for agents whose profile shares it; if empty, prompts contain none.
    pub person: String,
    /// A session is compacted after this many replies.
    pub compact_after_turns: u32,
    /// A session is compacted above this estimate.
    pub compact_above_tokens: u32,
    /// Messages that stay after a compaction.
    pub compaction_keeps_messages: usize,
    /// The delay before a failed compaction is retried, doubled with each failure.
    pub compaction_retry_secs: f32,
    /// The maximum delay before a failed compaction is retried.
    pub compaction_retry_at_most_secs: f32,
    /// After this many failures, a compaction is only retried when the session has grown.
    pub compaction_retries_at_most: u32,
    /// Messages of a session, whether or not compaction works.
    pub session_messages_at_most: usize,
    /// Characters of one message of a session.
    pub session_message_chars_at_most: usize,
    /// Remarks about its replies that are kept for an agent.
    pub feedback_at_most: usize,
    /// Acts of one reply that are carried out.
    pub intents_at_most: usize,
    /// How agents act with a reply: `tools` (they call functions), `markers` in their text, or `auto`: functions with
    /// models at the addresses of their vendors and with tools at work, otherwise markers.
    pub acts: ActMode,
    /// Pending requests of one agent; the oldest is dropped.
    pub pending_per_agent_at_most: usize,
    /// How long a prompt waits for data gathered for it, such as recalled memories; anything later is left out.
    pub gather_secs: f32,
    /// How far an agent sees others and things nearby.
    pub near_units: f32,
    /// How close an agent must be to be at an element.
    pub at_units: f32,
    /// How many agents, and how many elements, a prompt lists as near.
    pub near_at_most: usize,
}

impl Default for MindSettings {
    fn default() -> Self {
        Self {
            max_prompt_chars: 96_000,
            max_output_tokens: 400,
            max_work_output_tokens: 8_192,
            person: String::new(),
            compact_after_turns: 8,
            compact_above_tokens: 6_000,
            compaction_keeps_messages: 2,
            compaction_retry_secs: 30.0,
            compaction_retry_at_most_secs: 1_800.0,
            compaction_retries_at_most: 4,
            session_messages_at_most: 64,
            session_message_chars_at_most: 2_000,
            feedback_at_most: 5,
            intents_at_most: 20,
            acts: ActMode::Auto,
            pending_per_agent_at_most: 3,
            gather_secs: 10.0,
            near_units: 280.0,
            at_units: 70.0,
            near_at_most: 8,
        }
    }
}

impl SettingsSection for MindSettings {
    const NAME: &'static str = "mind";
    const RANGES: &'static [Range] = &[
        Range::of("max_prompt_chars", 1_000.0, 10_000_000.0),
        Range::of("max_output_tokens", 1.0, 1_000_000.0),
        Range::of("max_work_output_tokens", 1.0, 1_000_000.0),
        Range::of("pending_per_agent_at_most", 1.0, 100.0),
        Range::of("gather_secs", 0.1, 3_600.0),
    ];
}
