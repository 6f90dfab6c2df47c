//! Events about what agents learn, recall and forget.

use serde::{Deserialize, Serialize};

use super::{EventData, EventKind, Word, is_false};
use crate::base::Id;
use crate::log::narration::{NarrationContext, counted, in_brackets, joined, with};

/// A change or use of an agent's knowledge.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Knowledge {
    /// Memories were added to a prompt.
    Recalled {
        /// The query, shortened.
        about: String,
        /// The memories, the best first.
        memories: Vec<RecalledScore>,
    },
    /// A memory was added.
    Added {
        /// The id of the memory.
        id: Id,
        /// The kind of memory: `fact`.
        kind: Word,
        /// The text, shortened.
        text: String,
        /// Whether it is shared with all agents.
        #[serde(default, skip_serializing_if = "is_false")]
        shared: bool,
    },
    /// The text of a memory changed.
    Updated {
        /// The id of the memory.
        id: Id,
        /// The new text, shortened.
        text: String,
        /// The previous text, shortened.
        before: String,
    },
    /// A memory was removed.
    Forgotten {
        /// The id of the memory.
        id: Id,
        /// The text, shortened.
        text: String,
    },
    /// A text was not added because a memory already says the same.
    Known {
        /// The id of that memory.
        id: Id,
        /// The text, shortened.
        text: String,
    },
    /// A session was reviewed for memories.
    Learned {
        /// The number of new memories.
        added: u64,
        /// The number of changed memories.
        updated: u64,
        /// The number of removed memories.
        forgotten: u64,
        /// The number of candidates that were already known or not worth remembering.
        passed_over: u64,
        /// A problem with the review, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        but: Option<String>,
    },
    /// The review failed.
    Failed {
        /// The reason.
        why: String,
    },
}

/// A recalled memory with the parts of its score: see the formula in `docs/knowledge.md`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RecalledScore {
    /// The id of the memory.
    pub id: Id,
    /// The text, shortened.
    pub text: String,
    /// The total score.
    pub score: f32,
    /// The similarity of the embeddings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f32>,
    /// The share of the query's words that it contains.
    pub coverage: f32,
    /// The fused relevance of both ranks.
    pub relevance: f32,
    /// The recency.
    pub recency: f32,
    /// The importance.
    pub importance: f32,
    /// The agent that shared it, if it is shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_by: Option<Id>,
    /// The run in which it was learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Id>,
    /// The session or conversation of that run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Id>,
}

impl EventData for Knowledge {
    const KIND: EventKind = EventKind::Knowledge;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let who = context.who();
        match self {
            Self::Recalled { memories, .. } => {
                let first = memories.first().map(|memory| memory.text.clone()).unwrap_or_default();
                let more = memories.len().saturating_sub(1) as u64;
                let more = if more > 0 { format!("and {}", counted(more, "other", "others")) } else { String::new() };
                in_brackets(&with(&format!("{who} recalled"), ": ", &first), &more)
            }
            Self::Added { text, shared: false, .. } => with(&format!("{who} learned"), ": ", text),
            Self::Added { text, .. } => with(&format!("{who} shared with everyone"), ": ", text),
            Self::Updated { text, .. } => with(&format!("{who} updated a memory"), ": ", text),
            Self::Forgotten { text, .. } => with(&format!("{who} forgot"), ": ", text),
            Self::Known { text, .. } => with(&format!("{who} already knew"), ": ", text),
            Self::Learned { added, updated, forgotten, but, .. } => {
                let some = |count: &u64, word: &str| (*count > 0).then(|| format!("{count} {word}"));
                let counts = joined([some(added, "new"), some(updated, "changed"), some(forgotten, "forgotten")]);
                let counts = if counts.is_empty() { "nothing new".to_owned() } else { counts };
                let said = format!("{who} reviewed what was said and done");
                with(&in_brackets(&said, &counts), "; ", but.as_deref().unwrap_or_default())
            }
            Self::Failed { why } => with(&format!("{who} could not learn from what was said and done"), ": ", why),
        }
    }
}
