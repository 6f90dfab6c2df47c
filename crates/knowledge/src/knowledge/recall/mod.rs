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

/// How many results of each search are fused.
const CANDIDATES: usize = 50;
/// The constant of reciprocal rank fusion: smaller than the 60 of its authors, who fused lists of a thousand.
const RANK_CONSTANT: f32 = 10.0;
/// How much of the score of a memory stays that nobody has recalled for ages.
const OLD_SHARE: f32 = 0.9;
/// How much of the score of a memory stays that does not matter at all; with [`USUAL_IMPORTANCE`] all of it does.
///
/// [`USUAL_IMPORTANCE`]: super::memory::USUAL_IMPORTANCE
const UNIMPORTANT_SHARE: f32 = 0.9;

/// A search query.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// Who asks: nobody is shown what is not theirs.
    pub viewer: Viewer,
    /// In words.
    pub text: &'a str,
    /// What the words mean; without it only the words themselves are looked for.
    pub embedding: Option<&'a Embedding>,
    /// What time it is, in seconds since 1970.
    pub now: i64,
    /// How many at most.
    pub limit: usize,
    /// Which ones at all.
    pub filter: Filter,
}

/// Which memories are searched; empty fields do not filter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// Only of these kinds.
    pub kinds: Vec<MemoryKind>,
    /// Only with all of these tags.
    pub tags: Vec<String>,
    /// Only of this agent.
    pub agent: Option<Id>,
    /// Only those that are shared.
    pub is_shared: bool,
    /// Only those that are from this moment or later, in seconds since 1970; one without a date is from no moment.
    pub since: Option<i64>,
}

impl Filter {
    /// Whether a memory is one of those.
    pub fn takes(&self, memory: &Memory) -> bool {
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
    /// Its rank among those that are near in meaning, from 1.
    pub meaning_rank: Option<usize>,
    /// How alike the meanings are, from -1 to 1.
    pub similarity: Option<f32>,
    /// Its rank among those that have the words, from 1.
    pub word_rank: Option<usize>,
    /// What BM25 gives it.
    pub word_score: Option<f32>,
    /// The share of the question's words that it contains, from 0 to 1.
    pub coverage: f32,
    /// Both ranks fused: 1 for one that is first in both and has all the words.
    pub relevance: f32,
    /// How fresh it is, from 0 to 1.
    pub recency: f32,
    /// How much it matters, from 0 to 1.
    pub importance: f32,
}

/// A memory that was recalled.
#[derive(Clone, Copy, Debug)]
pub struct Recalled<'a> {
    /// What is remembered, and how often it was recalled before.
    pub entry: &'a Entry,
    /// By what it is sorted.
    pub score: f32,
    /// What that is made of.
    pub parts: ScoreParts,
}

/// After how many days a memory of a kind that nobody recalls is half as fresh.
fn half_life_days(kind: MemoryKind) -> f32 {
    match kind {
        MemoryKind::Observation => 7.0,
        MemoryKind::Fact => 90.0,
        MemoryKind::Preference | MemoryKind::Mistake => 180.0,
        MemoryKind::Skill | MemoryKind::Procedure => 365.0,
    }
}

/// How fresh a memory is: by when it was last recalled, changed or made. One that a person wrote without a date, or
/// pinned, does not grow old.
pub fn recency(memory: &Memory, recalls: RecallCount, now: i64) -> f32 {
    let Some(since) = recalls.last.max(memory.dated()).filter(|_| !memory.pinned) else { return 1.0 };
    let days = now.saturating_sub(since).max(0) as f32 / SECS_PER_DAY as f32;
    (-days / half_life_days(memory.kind)).exp2()
}

/// Two ranks as one number: 1 if both are first. A shared word or two means little: the rank by words is weighted with
/// the square of the share of the query's words that the memory contains.
fn relevance(parts: &ScoreParts) -> f32 {
    let share = |rank: Option<usize>| rank.map_or(0.0, |rank| 1.0 / (RANK_CONSTANT + rank as f32));
    let words = share(parts.word_rank) * parts.coverage * parts.coverage;
    (share(parts.meaning_rank) + words) * (RANK_CONSTANT + 1.0) / 2.0
}

/// The score of parts.
fn score(parts: &ScoreParts) -> f32 {
    let recency = OLD_SHARE + (1.0 - OLD_SHARE) * parts.recency;
    let importance = UNIMPORTANT_SHARE + 2.0 * (1.0 - UNIMPORTANT_SHARE) * parts.importance;
    parts.relevance * recency * importance
}

impl Index {
    /// What the viewer knows about something, the best first; ties by id.
    pub fn recall(&self, query: &Query<'_>) -> Vec<Recalled<'_>> {
        let takes = |memory: &Memory| query.filter.takes(memory);
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

    /// The memories that are most alike in meaning, with how alike: what a new one may say again.
    pub fn similar(&self, viewer: &Viewer, wanted: &Embedding, limit: usize) -> Vec<(&Entry, f32)> {
        self.nearest(viewer, wanted, limit, &|_| true).into_iter().map(|found| (found.entry, found.score)).collect()
    }
}
