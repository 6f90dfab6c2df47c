//! The inverted index of a collection, for BM25: which memories contain a word, and how often.

use std::collections::HashMap;

use super::words::words_of;

/// The usual parameters of BM25: the saturation of repeated words, and the weight of a text's length.
const K1: f32 = 1.2;
const B: f32 = 0.75;
/// With at least this number of memories, a word that more than a quarter of them contain is ignored, if there are
/// other words.
const COMMON_FROM: usize = 64;

/// The inverted index of one collection.
#[derive(Default)]
pub(super) struct Keywords {
    /// By word: the indexes of the memories that contain it, in order, and how often. Only used for lookups, never
    /// iterated.
    postings: HashMap<Box<str>, Vec<(u32, u16)>>,
    /// The number of words of each memory.
    lengths: Vec<u32>,
    total: u64,
}

impl Keywords {
    /// Adds the memory with the next index.
    pub(super) fn push(&mut self, text: &str) {
        let place = u32::try_from(self.lengths.len()).unwrap_or(u32::MAX);
        self.lengths.push(0);
        self.put(place, text);
    }

    /// Adds the words of a memory that has none.
    fn put(&mut self, place: u32, text: &str) {
        let mut words = words_of(text);
        let count = u32::try_from(words.len()).unwrap_or(u32::MAX);
        self.lengths[place as usize] = count;
        self.total += u64::from(count);
        words.sort_unstable();
        for same in words.chunk_by(|one, other| one == other) {
            let times = u16::try_from(same.len()).unwrap_or(u16::MAX);
            let posting = match self.postings.get_mut(same[0].as_str()) {
                Some(posting) => posting,
                None => self.postings.entry(same[0].as_str().into()).or_default(),
            };
            match posting.last() {
                Some((last, _)) if *last >= place => {
                    let at = posting.partition_point(|(other, _)| *other < place);
                    posting.insert(at, (place, times));
                }
                _ => posting.push((place, times)),
            }
        }
    }

    fn take(&mut self, place: u32, text: &str) {
        self.total -= u64::from(std::mem::take(&mut self.lengths[place as usize]));
        let mut words = words_of(text);
        words.sort_unstable();
        words.dedup();
        for word in &words {
            let Some(posting) = self.postings.get_mut(word.as_str()) else { continue };
            if let Ok(at) = posting.binary_search_by_key(&place, |(other, _)| *other) {
                posting.remove(at);
            }
            if posting.is_empty() {
                self.postings.remove(word.as_str());
            }
        }
    }

    /// Replaces the text of a memory.
    pub(super) fn replace(&mut self, place: usize, old: &str, new: &str) {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        self.take(place, old);
        self.put(place, new);
    }

    /// Removes a memory; the last one gets its index.
    pub(super) fn swap_remove(&mut self, place: usize, text: &str, last: &str) {
        let end = self.lengths.len() - 1;
        self.take(u32::try_from(place).unwrap_or(u32::MAX), text);
        if place != end {
            self.take(u32::try_from(end).unwrap_or(u32::MAX), last);
            self.put(u32::try_from(place).unwrap_or(u32::MAX), last);
        }
        self.lengths.pop();
    }
}

/// A keyword query over a set of collections: nothing outside them affects its scores.
pub(super) struct WordQuery<'a> {
    collections: Vec<&'a Keywords>,
    words: Vec<(String, f32)>,
    /// The total weight of all words, including those that no memory contains.
    total_weight: f32,
    mean_length: f32,
}

impl<'a> WordQuery<'a> {
    /// Parses the words of a text, and computes their weights.
    pub(super) fn new(text: &str, collections: Vec<&'a Keywords>) -> Self {
        let count: usize = collections.iter().map(|keywords| keywords.lengths.len()).sum();
        let total: u64 = collections.iter().map(|keywords| keywords.total).sum();
        let mut words = words_of(text);
        words.sort_unstable();
        words.dedup();
        let having = |word: &str| -> usize {
            collections.iter().filter_map(|keywords| keywords.postings.get(word)).map(Vec::len).sum()
        };
        let mut words: Vec<(String, usize)> =
            words.into_iter().map(|word| (having(&word), word)).map(|(having, word)| (word, having)).collect();
        // A word that many memories contain is not informative, and costs most of the time.
        let is_common = |having: usize| count >= COMMON_FROM && having * 4 > count;
        if words.iter().any(|(_, having)| *having > 0 && !is_common(*having)) {
            words.retain(|(_, having)| !is_common(*having));
        }
        let rarity = |having: usize| (1.0 + (count as f32 - having as f32 + 0.5) / (having as f32 + 0.5)).ln();
        let words: Vec<(String, f32)> = words.into_iter().map(|(word, having)| (word, rarity(having))).collect();
        let total_weight = words.iter().map(|(_, rarity)| rarity).sum();
        Self { words, total_weight, mean_length: (total as f32 / count.max(1) as f32).max(1.0), collections }
    }

    /// Returns all memories of one of the collections that contain any of the words, sorted by index.
    pub(super) fn matches(&self, which: usize) -> Vec<WordMatch> {
        let Some(keywords) = self.collections.get(which) else { return Vec::new() };
        let mut scores = vec![(0.0f32, 0.0f32); keywords.lengths.len()];
        let mut found = Vec::new();
        for (word, rarity) in &self.words {
            for (place, times) in keywords.postings.get(word.as_str()).into_iter().flatten() {
                let length = keywords.lengths[*place as usize] as f32 / self.mean_length;
                let times = f32::from(*times);
                let (score, weight) = &mut scores[*place as usize];
                if *weight == 0.0 {
                    found.push(*place);
                }
                *score += rarity * times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length));
                *weight += rarity;
            }
        }
        let of = |place: u32| {
            let (score, weight) = scores[place as usize];
            WordMatch { place: place as usize, score, coverage: (weight / self.total_weight).min(1.0) }
        };
        found.into_iter().map(of).collect()
    }
}

/// A memory that contains words of a query.
#[derive(Clone, Copy)]
pub(super) struct WordMatch {
    pub(super) place: usize,
    /// The BM25 score.
    pub(super) score: f32,
    /// The share of the query's words that it contains, from 0 to 1, weighted by rarity.
    pub(super) coverage: f32,
}
