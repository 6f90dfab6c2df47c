//! Merges new memories with known ones: the prompts for a model, parsing its answers, and decisions without a model.
//! Pure: data in, decisions out.

mod answer;
mod objects;
mod offline;
mod prompts;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use answer::{AnswerError, ParsedCandidates, decide, parse_candidates};
pub use offline::{SAME_FROM, decide_offline};
pub use prompts::{consolidation_question, extraction_question};

use super::memory::{DEFAULT_IMPORTANCE, Memory, MemoryKind, hundredths, normalize};
use crate::base::Id;

/// A candidate for a new memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Candidate {
    /// The text, which must be understandable on its own.
    pub content: String,
    /// The kind of memory.
    pub kind: MemoryKind,
    /// Tags for finding it.
    pub tags: Vec<String>,
    /// The importance, from 0 to 1.
    pub importance: f32,
}

impl Candidate {
    /// Creates a fact of default importance.
    pub fn new(content: &str) -> Self {
        let content = normalize(content).text;
        Self { content, kind: MemoryKind::default(), tags: Vec::new(), importance: DEFAULT_IMPORTANCE }
    }

    /// Converts it to a memory.
    pub fn into_memory(self, agent: &Id, created: Option<i64>) -> Memory {
        let memory = Memory::new(agent, &self.content, created);
        Memory { kind: self.kind, tags: self.tags, importance: hundredths(self.importance), ..memory }
    }
}

/// A known memory that is similar to a candidate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Similar {
    /// The known memory.
    pub memory: Memory,
    /// The similarity, from -1 to 1.
    pub similarity: f32,
}

/// A candidate with the most similar known memories, the most similar first.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Case {
    /// The candidate.
    pub candidate: Candidate,
    /// The known memories.
    pub similar: Vec<Similar>,
}

/// The action for a candidate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum CandidateAction {
    /// It is added as a new memory, with edges to known ones sorted by id.
    Add {
        /// The candidate.
        candidate: Candidate,
        /// The edges to known memories.
        edges: Vec<super::memory::Edge>,
    },
    /// A known memory is updated with it.
    Update {
        /// The id of the known memory.
        id: Id,
        /// The candidate.
        candidate: Candidate,
    },
    /// A known memory is wrong now and is removed.
    Delete {
        /// The id of the known memory.
        id: Id,
    },
    /// It is already known.
    Keep {
        /// The id of the known memory.
        id: Id,
    },
    /// It is not worth remembering.
    Skip,
}

/// A decision about a candidate, and its reason. There may be several: one about the candidate itself, and one for each
/// known memory that it makes untrue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// The index of the candidate, from 0.
    pub case: usize,
    /// The action.
    pub act: CandidateAction,
    /// Why the model's own decision was not permitted, if that is the case.
    pub told: Option<String>,
}

/// Returns the action that adds a candidate without edges.
fn add(candidate: &Candidate) -> CandidateAction {
    CandidateAction::Add { candidate: candidate.clone(), edges: Vec::new() }
}
