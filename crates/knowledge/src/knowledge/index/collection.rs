//! The memories of one owner, with their vectors and words: visible only to the owner, or to all agents if they are
//! shared.

use std::collections::HashMap;

use super::keywords::Keywords;
use crate::base::Id;
use crate::knowledge::embedding::{Embedding, QueryVector};
use crate::knowledge::memory::Memory;

/// How often a memory was recalled, and when last. Stored in the database, never in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecallCount {
    /// The time of the last recall, in seconds since 1970.
    pub last: Option<i64>,
    /// The number of recalls.
    pub times: u32,
}

/// A memory with its vector and recall count.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The memory.
    pub memory: Memory,
    /// Its recall count.
    pub recalls: RecallCount,
}

/// The memories of one owner. Their order has no meaning: when a memory is removed, the last one takes its place.
#[derive(Default)]
pub(super) struct Collection {
    entries: Vec<Entry>,
    /// The index of each memory. Only used for lookups, never iterated.
    places: HashMap<Id, usize>,
    /// All vectors, one after the other; zeros for a memory without a vector.
    levels: Vec<i8>,
    scales: Vec<f32>,
    pub(super) keywords: Keywords,
}

/// Returns the text of a memory that keyword search uses.
fn searched(memory: &Memory) -> String {
    if memory.tags.is_empty() {
        return memory.content.clone();
    }
    format!("{} {}", memory.content, memory.tags.join(" "))
}

impl Collection {
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn get(&self, id: &str) -> Option<&Entry> {
        self.places.get(id).map(|place| &self.entries[*place])
    }

    pub(super) fn recalls_mut(&mut self, id: &str) -> Option<&mut RecallCount> {
        self.places.get(id).map(|place| &mut self.entries[*place].recalls)
    }

    /// Adds a memory, or replaces the one with the same id.
    pub(super) fn insert(&mut self, entry: Entry, embedding: Option<&Embedding>, dimensions: usize) {
        let scale = embedding.map_or(0.0, Embedding::scale);
        let place = match self.places.get(&entry.memory.id) {
            Some(place) => {
                let (old, new) = (searched(&self.entries[*place].memory), searched(&entry.memory));
                if old != new {
                    self.keywords.replace(*place, &old, &new);
                }
                self.entries[*place] = entry;
                *place
            }
            None => {
                self.keywords.push(&searched(&entry.memory));
                self.places.insert(entry.memory.id.clone(), self.entries.len());
                self.entries.push(entry);
                self.scales.push(0.0);
                self.levels.resize(self.entries.len() * dimensions, 0);
                self.entries.len() - 1
            }
        };
        self.scales[place] = scale;
        let row = &mut self.levels[place * dimensions..(place + 1) * dimensions];
        match embedding {
            Some(embedding) => row.copy_from_slice(embedding.levels()),
            None => row.fill(0),
        }
    }

    /// Sets the vector of a memory. Returns whether the memory exists.
    pub(super) fn set_vector(&mut self, id: &str, embedding: &Embedding) -> bool {
        let Some(place) = self.places.get(id).copied() else { return false };
        let dimensions = embedding.levels().len();
        self.levels[place * dimensions..(place + 1) * dimensions].copy_from_slice(embedding.levels());
        self.scales[place] = embedding.scale();
        true
    }

    pub(super) fn remove(&mut self, id: &str, dimensions: usize) -> Option<Entry> {
        let place = self.places.remove(id)?;
        let last = self.entries.len() - 1;
        let (gone, end) = (searched(&self.entries[place].memory), searched(&self.entries[last].memory));
        self.keywords.swap_remove(place, &gone, &end);
        let entry = self.entries.swap_remove(place);
        if place != last {
            self.places.insert(self.entries[place].memory.id.clone(), place);
            self.levels.copy_within(last * dimensions..(last + 1) * dimensions, place * dimensions);
        }
        self.scales.swap_remove(place);
        self.levels.truncate(last * dimensions);
        Some(entry)
    }

    /// Returns the similarity of each memory, by index; 0 for those without a vector.
    pub(super) fn similarities(&self, wanted: &QueryVector) -> Vec<f32> {
        wanted.similarities(&self.levels, &self.scales)
    }
}
