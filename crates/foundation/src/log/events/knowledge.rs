//! Events about what agents learn, recall and forget.

use serde::{Deserialize, Serialize};

use super::{EventData, EventKind, Word, is_false};
use crate::base::Id;
use crate::log::narration::{NarrationContext, aside, counted, joined, with};

/// Something about an agent's knowledge.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Knowledge {
    /// Memories were put into a prompt.
    Recalled {
        /// What they were looked for by, cut to a length.
        about: String,
        /// Which, the best first.
        memories: Vec<RecalledScore>,
    },
    /// Something new is remembered.
    Added {
        /// Its id.
        id: Id,
        /// What kind of memory: `fact`.
        kind: Word,
        /// What, cut to a length.
        text: String,
        /// Whether everybody knows it.
        #[serde(default, skip_serializing_if = "is_false")]
        shared: bool,
    },
    /// Something that was known says something else now.
    Updated {
        /// Its id.
        id: Id,
        /// What it says, cut to a length.
        text: String,
        /// What it said before, cut to a length.
        before: String,
    },
    /// Something is not remembered any more.
    Forgotten {
        /// Its id.
        id: Id,
        /// What it said, cut to a length.
        text: String,
    },
    /// What was to be remembered was known already.
    Known {
        /// The memory that says it.
        id: Id,
        /// What was to be remembered, cut to a length.
        text: String,
    },
    /// What was said and done was reviewed, and what is worth knowing was remembered.
    Learned {
        /// How many are new.
        added: u64,
        /// How many say something else.
        updated: u64,
        /// How many were forgotten.
        forgotten: u64,
        /// How many were known already, or not worth it.
        passed_over: u64,
        /// What was not as it should be, where something was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        but: Option<String>,
    },
    /// Nothing could be learned.
    Failed {
        /// Why, in words.
        why: String,
    },
}

/// A recalled memory with the parts of its score: see the formula in `docs/knowledge.md`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RecalledScore {
    /// Its id.
    pub id: Id,
    /// What it says, cut to a length.
    pub text: String,
    /// The whole score.
    pub score: f32,
    /// How alike the meanings are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f32>,
    /// The share of the question that it covers.
    pub coverage: f32,
    /// Both ranks fused.
    pub relevance: f32,
    /// How fresh it is.
    pub recency: f32,
    /// How much it matters.
    pub importance: f32,
    /// Who shared it, where everybody knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_by: Option<Id>,
    /// The run that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Id>,
    /// The session or the conversation of that run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Id>,
}

impl EventData for Knowledge {
    const KIND: EventKind = EventKind::Knowledge;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let who = telling.who();
        match self {
            Self::Recalled { memories, .. } => {
                let first = memories.first().map(|memory| memory.text.clone()).unwrap_or_default();
                let more = memories.len().saturating_sub(1) as u64;
                let more = if more > 0 { format!("and {}", counted(more, "other", "others")) } else { String::new() };
                aside(&with(&format!("{who} recalled"), ": ", &first), &more)
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
                with(&aside(&said, &counts), "; ", but.as_deref().unwrap_or_default())
            }
            Self::Failed { why } => with(&format!("{who} could not learn from what was said and done"), ": ", why),
        }
    }
}
