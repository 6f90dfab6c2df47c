//! The index of all memories, with one collection per owner, so that private memories can neither be found nor affect
//! the scores of others' searches.

mod collection;
mod keywords;
mod words;

use std::collections::BTreeMap;

use collection::Collection;
pub use collection::{Entry, RecallCount};
use keywords::{WordMatch, WordQuery};

use super::embedding::{Embedding, EmbeddingError, ModelId, QueryVector};
use super::file::Owner;
use super::memory::{Edge, Memory};
use crate::base::Id;

/// The person or agent that searches.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Viewer {
    /// An agent, which can see its own memories and the shared ones.
    Agent(Id),
    /// The person, who can see all memories.
    Person,
}

impl Viewer {
    /// Whether it can see this owner's memories.
    pub fn may_see(&self, owner: &Owner) -> bool {
        match (self, owner) {
            (Self::Person, _) | (_, Owner::Shared) => true,
            (Self::Agent(viewer), Owner::Agent(agent)) => {
                // What an agent remembers is never shown to another agent, unless it is shared.
                rule!("memories-are-private");
                viewer == agent
            }
        }
    }
}

/// The searchable index of all memories. It can be rebuilt from the files at any time, except for the recall counts.
pub struct Index {
    model: ModelId,
    dimensions: usize,
    collections: BTreeMap<Owner, Collection>,
}

/// A memory found by a search, before weighting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub(super) entry: &'a Entry,
    pub(super) score: f32,
    /// The share of the query's words that it contains, if it was found by words.
    pub(super) coverage: f32,
}

impl Index {
    /// Creates an empty index for the vectors of one model.
    pub fn new(model: &ModelId, dimensions: usize) -> Self {
        Self { model: model.clone(), dimensions, collections: BTreeMap::new() }
    }

    /// Returns the model of its vectors.
    pub fn model(&self) -> &ModelId {
        &self.model
    }

    /// Returns the number of memories.
    pub fn len(&self) -> usize {
        self.collections.values().map(|collection| collection.entries().len()).sum()
    }

    /// Whether there are no memories.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a memory, or replaces one. If its owner changed, it is removed from the previous one. A vector of another
    /// model or length is an error.
    pub fn insert(
        &mut self,
        memory: Memory,
        recalls: RecallCount,
        embedding: Option<&Embedding>,
    ) -> Result<(), EmbeddingError> {
        if let Some(other) = embedding.filter(|one| one.model() != &self.model || one.levels().len() != self.dimensions)
        {
            let (model, given) = (other.model().clone(), other.levels().len());
            return Err(EmbeddingError::Dimensions { model, given, wanted: self.dimensions });
        }
        let owner = Owner::of(&memory);
        for (other, collection) in &mut self.collections {
            if *other != owner {
                collection.remove(&memory.id, self.dimensions);
            }
        }
        self.collections.entry(owner).or_default().insert(Entry { memory, recalls }, embedding, self.dimensions);
        Ok(())
    }

    /// Sets the vector of a memory that had none. Returns whether the memory exists and the vector is of this model.
    pub(super) fn set_vector(&mut self, id: &str, embedding: &Embedding) -> bool {
        let is_of_it = *embedding.model() == self.model && embedding.levels().len() == self.dimensions;
        is_of_it && self.collections.values_mut().any(|collection| collection.set_vector(id, embedding))
    }

    /// Removes a memory.
    pub fn remove(&mut self, id: &str) -> Option<Entry> {
        let dimensions = self.dimensions;
        let gone = self.collections.values_mut().find_map(|collection| collection.remove(id, dimensions));
        self.collections.retain(|_, collection| !collection.entries().is_empty());
        gone
    }

    /// Returns the memory with this id if the viewer can see it.
    pub fn get(&self, viewer: &Viewer, id: &str) -> Option<&Entry> {
        self.visible(viewer).find_map(|(_, collection)| collection.get(id))
    }

    /// Returns all memories that the viewer can see, sorted by id.
    pub fn all(&self, viewer: &Viewer) -> Vec<&Entry> {
        let mut all: Vec<&Entry> = self.visible(viewer).flat_map(|(_, collection)| collection.entries()).collect();
        all.sort_unstable_by(|one, other| one.memory.id.cmp(&other.memory.id));
        all
    }

    /// Returns the relations from and to a memory if the viewer can see both ends: the other memory, and the edge.
    pub fn edges_at(&self, viewer: &Viewer, id: &str) -> Vec<(&Entry, &Edge)> {
        let Some(_) = self.get(viewer, id) else { return Vec::new() };
        let mut edges = Vec::new();
        for (_, collection) in self.visible(viewer) {
            for entry in collection.entries().iter().filter(|entry| !entry.memory.edges.is_empty()) {
                let is_from = *entry.memory.id == *id;
                let of_it = entry.memory.edges.iter().filter(|edge| {
                    if is_from { self.get(viewer, &edge.target).is_some() } else { *edge.target == *id }
                });
                edges.extend(of_it.map(|edge| (entry, edge)));
            }
        }
        edges.sort_by(|(one, a), (other, b)| {
            (&one.memory.id, a.relation, &a.target).cmp(&(&other.memory.id, b.relation, &b.target))
        });
        edges
    }

    /// Records that a memory was recalled. Returns the new count.
    pub fn note_recalled(&mut self, id: &str, now: i64) -> Option<RecallCount> {
        let recalls = self.collections.values_mut().find_map(|collection| collection.recalls_mut(id))?;
        *recalls = RecallCount {
            last: Some(recalls.last.map_or(now, |last| last.max(now))),
            times: recalls.times.saturating_add(1),
        };
        Some(*recalls)
    }

    fn visible<'a, 'v>(
        &'a self,
        viewer: &'v Viewer,
    ) -> impl Iterator<Item = (&'a Owner, &'a Collection)> + use<'a, 'v> {
        self.collections.iter().filter(move |(owner, _)| viewer.may_see(owner))
    }

    /// Returns the memories that are most similar in meaning, the most similar first.
    pub(super) fn nearest(
        &self,
        viewer: &Viewer,
        wanted: &Embedding,
        limit: usize,
        is_wanted: &dyn Fn(&Memory) -> bool,
    ) -> Vec<Found<'_>> {
        if wanted.model() != &self.model || wanted.levels().len() != self.dimensions {
            return Vec::new();
        }
        let wanted = QueryVector::new(wanted);
        let mut best = Best::new(limit);
        for (_, collection) in self.visible(viewer) {
            let entries = collection.entries();
            for (place, score) in collection.similarities(&wanted).into_iter().enumerate() {
                if score >= best.least && score > 0.0 {
                    best.offer(Found { entry: &entries[place], score, coverage: 0.0 }, is_wanted);
                }
            }
        }
        best.sorted()
    }

    /// Returns the memories that contain words of a text, the best first.
    pub(super) fn with_words(
        &self,
        viewer: &Viewer,
        text: &str,
        limit: usize,
        is_wanted: &dyn Fn(&Memory) -> bool,
    ) -> Vec<Found<'_>> {
        let visible: Vec<&Collection> = self.visible(viewer).map(|(_, collection)| collection).collect();
        let query = WordQuery::new(text, visible.iter().map(|collection| &collection.keywords).collect());
        let mut best = Best::new(limit);
        for (which, collection) in visible.iter().enumerate() {
            for WordMatch { place, score, coverage } in query.matches(which) {
                best.offer(Found { entry: &collection.entries()[place], score, coverage }, is_wanted);
            }
        }
        best.sorted()
    }
}

/// Collects the best matches. Ties are decided by id, independent of the order in which they are offered.
struct Best<'a> {
    limit: usize,
    found: Vec<Found<'a>>,
    /// The lowest score that can still be among the best.
    least: f32,
}

impl<'a> Best<'a> {
    fn new(limit: usize) -> Self {
        Self { limit, found: Vec::with_capacity(limit.saturating_mul(2)), least: f32::NEG_INFINITY }
    }

    fn offer(&mut self, found: Found<'a>, is_wanted: &dyn Fn(&Memory) -> bool) {
        if found.score < self.least || found.score <= 0.0 || !is_wanted(&found.entry.memory) {
            return;
        }
        self.found.push(found);
        if self.found.len() >= self.limit.saturating_mul(2).max(1) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.found.sort_unstable_by(|one, other| {
            other.score.total_cmp(&one.score).then_with(|| one.entry.memory.id.cmp(&other.entry.memory.id))
        });
        self.found.truncate(self.limit);
        if self.found.len() == self.limit {
            self.least = self.found.last().map_or(f32::INFINITY, |last| last.score);
        }
    }

    fn sorted(mut self) -> Vec<Found<'a>> {
        self.cut();
        self.found
    }
}
