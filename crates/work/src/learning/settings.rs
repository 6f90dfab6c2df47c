//! The section `knowledge` of `settings.yaml`: recall, learning and the embedding model.

use crate::workspace::SettingsSection;

/// The name of the built-in embedding model.
pub const BUILT_IN: &str = "built-in";

settings! {
    /// How much agents recall, and from which events they learn.
    pub struct KnowledgeSettings {
        /// The embedding model: `built-in`; `minilm`, from a cache on this computer or a folder (`minilm:FOLDER`); or a
        /// provider's, such as `ollama:all-minilm` or `openai:text-embedding-3-small`, which then receives every memory
        /// and every search text.
        pub embedder: String = BUILT_IN.to_owned();
        /// The maximum number of memories in a prompt; 0 turns recall off.
        pub max_recalled_memories: usize = 6, in 0.0..=50.0, once "recalled_at_most";
        // With these two limits, 29 of the 30 labelled questions in the docs find the right memory, and unrelated
        // questions find none.
        /// A memory is added to a prompt if its meaning is at least this similar to the query (0 to 1), or if it has
        /// the share of words in `min_coverage`.
        pub min_similarity: f32 = 0.25, in 0.0..=1.0, once "similarity_at_least";
        /// A memory is also added to a prompt if it contains at least this share of the query's words (0 to 1).
        pub min_coverage: f32 = 0.25, in 0.0..=1.0, once "coverage_at_least";
        /// Whether an agent's model is asked for things worth remembering after a piece of work.
        pub learns_from_work: bool = true;
        /// Whether the model of each participant is asked for things worth remembering after a conversation.
        pub learns_from_conversations: bool = true;
        /// The minimum length of a conversation to learn from, in characters.
        pub min_conversation_chars: usize = 400, in 0.0..=1_000_000_000.0, once "conversation_chars_at_least";
    }
}

impl SettingsSection for KnowledgeSettings {
    const NAME: &'static str = "knowledge";
}
