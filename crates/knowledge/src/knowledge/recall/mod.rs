//! Hybrid recall: search by meaning and by words, fused by rank and weighted by recency and importance. The formula and
//! its sources are in `docs/knowledge.md`.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

use super::embedding::Embedding;
use super::index::{Entry, Found, Index, RecallCount, Viewer};
use super::memory::{Memory, MemoryKind};
use crate::base::Id;
use crate::base::calendar::SECS_PER_DAY;

/// The number of results of each search that are fused.
const CANDIDATES: usize = 50;
/// The constant of reciprocal rank fusion: smaller than the 60 of its authors, who fused lists of a thousand.
const RANK_CONSTANT: f32 = 10.0;
/// The share of its score that a memory keeps if its recency is zero.
const OLD_SHARE: f32 = 0.9;
/// The share of its score that a memory keeps if it is not important at all; with [`DEFAULT_IMPORTANCE`], it keeps all of
/// it.
///
/// [`DEFAULT_IMPORTANCE`]: super::memory::DEFAULT_IMPORTANCE
const UNIMPORTANT_SHARE: f32 = 0.9;

/// A search query.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// The viewer, who only gets visible memories.
    pub viewer: Viewer,
    /// The text.
    pub text: &'a str,
    /// The embedding of the text; `None` to search by words only.
    pub embedding: Option<&'a Embedding>,
    /// The present time, in seconds since 1970.
    pub now: i64,
    /// The maximum number of results.
    pub limit: usize,
    /// Which memories are searched.
    pub filter: Filter,
}

/// Which memories are searched; empty fields do not filter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// Only these kinds.
    pub kinds: Vec<MemoryKind>,
    /// Only memories with all of these tags.
    pub tags: Vec<String>,
    /// Only memories of this agent.
    pub agent: Option<Id>,
    /// Only shared memories.
    pub is_shared: bool,
    /// Only memories since this time, in seconds since 1970; those without a date do not match.
    pub since: Option<i64>,
}

impl Filter {
    /// Whether a memory matches.
    pub fn matches(&self, memory: &Memory) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&memory.kind))
            && self.tags.iter().all(|tag| memory.tags.contains(tag))
            && self.agent.as_ref().is_none_or(|agent| *agent == memory.agent)
            && (!self.is_shared || memory.shared)
            && self.since.is_none_or(|since| memory.dated().is_some_and(|dated| dated >= since))
    }
}

/// The parts of a memory's score.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct ScoreParts {
    /// The rank by meaning, from 1.
    pub meaning_rank: Option<usize>,
    /// The cosine similarity, from -1 to 1.
    pub similarity: Option<f32>,
    /// The rank by words, from 1.
    pub word_rank: Option<usize>,
    /// The BM25 score.
    pub word_score: Option<f32>,
    /// The share of the query's words that it contains, from 0 to 1.
    pub coverage: f32,
    /// The fused relevance of both ranks: 1 if it is first in both and contains all words.
    pub relevance: f32,
    /// The recency, from 0 to 1.
    pub recency: f32,
    /// The importance, from 0 to 1.
    pub importance: f32,
}

/// A memory that was recalled.
#[derive(Clone, Copy, Debug)]
pub struct Recalled<'a> {
    /// The memory, with its recall count before this recall.
    pub entry: &'a Entry,
    /// The score by which it is sorted.
    pub score: f32,
    /// The parts of the score.
    pub parts: ScoreParts,
}

/// Returns the days after which the recency of a memory of this kind halves if it is not recalled.
fn half_life_days(kind: MemoryKind) -> f32 {
    match kind {
        MemoryKind::Observation => 7.0,
        MemoryKind::Fact => 90.0,
        MemoryKind::Preference | MemoryKind::Mistake => 180.0,
        MemoryKind::Skill | MemoryKind::Procedure => 365.0,
    }
}

/// Returns the recency of a memory, by when it was last recalled, changed or created. A memory without a date, which a
/// person wrote, or a pinned one does not age.
pub fn recency(memory: &Memory, recalls: RecallCount, now: i64) -> f32 {
    let Some(since) = recalls.last.max(memory.dated()).filter(|_| !memory.pinned) else { return 1.0 };
    let days = now.saturating_sub(since).max(0) as f32 / SECS_PER_DAY as f32;
    (-days / half_life_days(memory.kind)).exp2()
}

/// Fuses two ranks: 1 if both are first. A shared word or two means little, so the rank by words is weighted with the
/// square of the share of the query's words that the memory contains.
fn relevance(parts: &ScoreParts) -> f32 {
    let share = |rank: Option<usize>| rank.map_or(0.0, |rank| 1.0 / (RANK_CONSTANT + rank as f32));
    let words = share(parts.word_rank) * parts.coverage * parts.coverage;
    (share(parts.meaning_rank) + words) * (RANK_CONSTANT + 1.0) / 2.0
}

/// Returns the total score.
fn score(parts: &ScoreParts) -> f32 {
    let recency = OLD_SHARE + (1.0 - OLD_SHARE) * parts.recency;
    let importance = UNIMPORTANT_SHARE + 2.0 * (1.0 - UNIMPORTANT_SHARE) * parts.importance;
    parts.relevance * recency * importance
}

impl Index {
    /// Returns the viewer's memories that match a query, the best first; ties are sorted by id.
    pub fn recall(&self, query: &Query<'_>) -> Vec<Recalled<'_>> {
        let takes = |memory: &Memory| query.filter.matches(memory);
        let candidates = CANDIDATES.max(query.limit);
        let near = match query.embedding {
            Some(wanted) => self.nearest(&query.viewer, wanted, candidates, &takes),
            None => Vec::new(),
        };
        let with_words = self.with_words(&query.viewer, query.text, candidates, &takes);
        let mut found: BTreeMap<&str, (&Entry, ScoreParts)> = BTreeMap::new();
        for (index, Found { entry, score, .. }) in near.into_iter().enumerate() {
            let (_, parts) = found.entry(&entry.memory.id).or_insert((entry, ScoreParts::default()));
            (parts.meaning_rank, parts.similarity) = (Some(index + 1), Some(score));
        }
        for (index, Found { entry, score, coverage }) in with_words.into_iter().enumerate() {
            // Memories are recalled by meaning and by words together, weighted by how recent and important they are.
            rule!("recall-is-by-meaning-and-words");
            let (_, parts) = found.entry(&entry.memory.id).or_insert((entry, ScoreParts::default()));
            (parts.word_rank, parts.word_score) = (Some(index + 1), Some(score));
            parts.coverage = coverage;
        }
        let mut recalled: Vec<Recalled<'_>> = found
            .into_values()
            .map(|(entry, parts)| {
                let parts = ScoreParts {
                    relevance: relevance(&parts),
                    recency: recency(&entry.memory, entry.recalls, query.now),
                    importance: entry.memory.importance,
                    ..parts
                };
                Recalled { entry, score: score(&parts), parts }
            })
            .collect();
        recalled.sort_by(|one, other| {
            other.score.total_cmp(&one.score).then_with(|| one.entry.memory.id.cmp(&other.entry.memory.id))
        });
        recalled.truncate(query.limit);
        recalled
    }

    /// Returns the memories that are most similar in meaning, with their similarity, to detect that a new one repeats
    /// them.
    pub fn similar(&self, viewer: &Viewer, wanted: &Embedding, limit: usize) -> Vec<(&Entry, f32)> {
        self.nearest(viewer, wanted, limit, &|_| true).into_iter().map(|found| (found.entry, found.score)).collect()
    }
}
