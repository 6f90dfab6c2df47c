//! Merges new memories with known ones: the questions to a model, parsing its answers, and decisions without a model.
//! Pure: data in, acts out.

mod answer;
mod offline;
mod prompts;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use answer::{AnswerError, decide, parse_candidates};
pub use offline::{SAME_FROM, decide_offline};
pub use prompts::{consolidation_question, extraction_question};

use super::memory::{Memory, MemoryKind, USUAL_IMPORTANCE, hundredths, tidy};
use crate::base::Id;

/// A candidate for a new memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Candidate {
    /// In words that can be understood by themselves.
    pub content: String,
    /// What it is about.
    pub kind: MemoryKind,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// How much it matters, from 0 to 1.
    pub importance: f32,
}

impl Candidate {
    /// A fact of usual importance.
    pub fn new(content: &str) -> Self {
        let content = tidy(content).text;
        Self { content, kind: MemoryKind::default(), tags: Vec::new(), importance: USUAL_IMPORTANCE }
    }

    /// The memory that it becomes.
    pub fn into_memory(self, agent: &Id, created: Option<i64>) -> Memory {
        let memory = Memory::new(agent, &self.content, created);
        Memory { kind: self.kind, tags: self.tags, importance: hundredths(self.importance), ..memory }
    }
}

/// A known memory that is similar to a candidate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Similar {
    /// What is known.
    pub memory: Memory,
    /// How alike both are, from -1 to 1.
    pub similarity: f32,
}

/// A candidate with the most similar known memories, the most similar first.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Case {
    /// What is new.
    pub candidate: Candidate,
    /// What is known.
    pub similar: Vec<Similar>,
}

/// What is done with a candidate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum Act {
    /// It becomes a memory; with edges to known ones, in the order of their ids.
    Add {
        /// The new one.
        candidate: Candidate,
        /// Known ones that it relates to, and how.
        edges: Vec<super::memory::Edge>,
    },
    /// A known memory says this from now on.
    Update {
        /// Which one.
        id: Id,
        /// What it says.
        candidate: Candidate,
    },
    /// A known memory is wrong now and is forgotten.
    Delete {
        /// Which one.
        id: Id,
    },
    /// It is known already.
    Keep {
        /// As this one.
        id: Id,
    },
    /// It is not worth remembering.
    Skip,
}

/// The decision about one candidate, and its reason.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// Which candidate, by its place in the list, from 0.
    pub case: usize,
    /// What is done.
    pub act: Act,
    /// Why not what the model wanted, where it wanted something that may not be done.
    pub told: Option<String>,
}

/// Adds a candidate, without a relation to anything.
fn add(candidate: &Candidate) -> Act {
    Act::Add { candidate: candidate.clone(), edges: Vec::new() }
}
