//! The section `mind` of `settings.yaml`: limits of prompts, replies and sessions.

use serde::{Deserialize, Serialize};

use crate::workspace::SettingsSection;

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

settings! {
    /// Limits of prompts, replies and sessions.
    pub struct MindSettings {
        /// Characters of a whole prompt. A bit more than half of them is for the rulebooks and the agent's
        /// instructions.
        pub max_prompt_chars: usize = 96_000, in 1_000.0..=10_000_000.0;
        /// Maximum tokens of a reply.
        pub max_output_tokens: u32 = 400, in 1.0..=1_000_000.0;
        /// Maximum tokens of a work reply, including the content it writes to files.
        pub max_work_output_tokens: u32 = 8_192, in 1.0..=1_000_000.0;
        /// A description of the person, for agents whose profile shares it; if empty, prompts contain none.
        pub person: String = String::new();
        /// A session is compacted after this many replies.
        pub compact_after_turns: u32 = 8, in 0.0..=1_000_000.0;
        /// A session is compacted above this estimate.
        pub compact_above_tokens: u32 = 6_000, in 0.0..=1_000_000_000.0;
        /// Messages that stay after a compaction.
        pub compaction_keeps_messages: usize = 2, in 0.0..=1_000_000.0;
        /// The delay before a failed compaction is retried, doubled with each failure.
        pub min_compaction_retry_delay_secs: f32 = 30.0, in 0.0..=604_800.0, once "compaction_retry_secs";
        /// The maximum delay before a failed compaction is retried.
        pub max_compaction_retry_delay_secs: f32 = 1_800.0, in 0.0..=604_800.0, once "compaction_retry_at_most_secs";
        /// After this many failures, a compaction is only retried when the session has grown.
        pub max_compaction_retries: u32 = 4, in 0.0..=1_000_000.0, once "compaction_retries_at_most";
        /// Messages of a session, whether or not compaction works.
        pub max_session_messages: usize = 64, in 0.0..=1_000_000.0, once "session_messages_at_most";
        /// Characters of one message of a session.
        pub max_session_message_chars: usize = 2_000, in 0.0..=1_000_000_000.0, once "session_message_chars_at_most";
        /// Remarks about its replies that are kept for an agent.
        pub max_feedback: usize = 5, in 0.0..=1_000_000.0, once "feedback_at_most";
        /// Acts of one reply that are carried out.
        pub max_intents: usize = 20, in 0.0..=1_000_000.0, once "intents_at_most";
        /// How agents act with a reply: `tools` (they call functions), `markers` in their text, or `auto`: functions
        /// with models at the addresses of their vendors and with tools at work, otherwise markers.
        pub acts: ActMode = ActMode::Auto;
        /// Pending requests of one agent; the oldest is dropped.
        pub max_pending_per_agent: usize = 3, in 1.0..=100.0, once "pending_per_agent_at_most";
        /// How long a prompt waits for data gathered for it, such as recalled memories; anything later is left out.
        pub gather_secs: f32 = 10.0, in 0.1..=3_600.0;
        /// How far an agent sees others and things nearby.
        pub near_units: f32 = 280.0, in 0.0..=100_000.0;
        /// How close an agent must be to be at an element.
        pub at_units: f32 = 70.0, in 0.0..=100_000.0;
        /// How many agents, and how many elements, a prompt lists as near.
        pub max_near: usize = 8, in 0.0..=1_000_000.0, once "near_at_most";
    }
}

impl SettingsSection for MindSettings {
    const NAME: &'static str = "mind";
}
