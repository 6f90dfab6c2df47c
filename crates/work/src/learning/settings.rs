//! What agents are reminded of: section `knowledge` of `settings.yaml`.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::workspace::{Range, SettingsSection};

/// The model of embeddings that is part of the program.
pub const BUILT_IN: &str = "built-in";

/// How much agents are reminded of, and what they learn from.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct KnowledgeSettings {
    /// What says what texts mean: `built-in`; `minilm`, from a cache on this computer or a folder (`minilm:FOLDER`); or a
    /// provider's model of embeddings, such as `ollama:all-minilm` or `openai:text-embedding-3-small`, which is then sent
    /// every memory and whatever memories are looked for by.
    pub embedder: String,
    /// Memories in a prompt; 0 puts none there.
    pub recalled_at_most: usize,
    /// A memory is put into a prompt where its meaning is as near to what is asked as this, from 0 to 1, …
    pub similarity_at_least: f32,
    /// … or so much of what is asked stands in it, from 0 to 1.
    pub coverage_at_least: f32,
    /// Whether an agent's model is asked what is worth remembering when a piece of work is over.
    pub learns_from_work: bool,
    /// The same when a conversation is over, for each agent that took part in it.
    pub learns_from_conversations: bool,
    /// Nothing is learned from conversations in which less was said, in characters.
    pub conversation_chars_at_least: usize,
}

impl Default for KnowledgeSettings {
    fn default() -> Self {
        // Of the labelled questions that the docs speak of, 29 of 30 right answers are above these, and what is found
        // for questions about something else is below.
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
