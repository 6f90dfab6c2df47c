//! Remembers recent sentences of agents that answer without a model, so that the offline brain does not repeat its
//! limited stock of sentences.

use std::collections::VecDeque;
use std::sync::Arc;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::Id;
use crate::base::hash::content_hash;
use crate::schedule::Section;

/// The provider whose sentences are recorded.
pub const OFFLINE: &str = "offline";

/// Number of recent sentences to compare with: about those of an hour.
const SENTENCES_COUNTED: usize = 600;
/// Number of recent sentences to keep: more than are compared, because a waiting request is compared with those before
/// it was made.
const SENTENCES_KEPT: usize = 800;
/// Minimum number of word pairs of a sentence to compare; a shorter one (“Good, Ada.”) may be repeated.
const MIN_WORD_PAIRS: usize = 3;
/// Percentage of its word pairs in one earlier sentence from which a sentence counts as similar.
const SIMILAR_PERCENT: usize = 60;

/// A sentence said in the room.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct SpokenSentence {
    agent: Id,
    /// The hashes of its word pairs, sorted and distinct.
    pairs: Vec<u32>,
}

/// Recent sentences in the room, the newest last. Part of the saved world.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SpokenSentences {
    /// The number of sentences recorded so far, including forgotten ones.
    noted: u64,
    kept: VecDeque<Arc<SpokenSentence>>,
}

impl Section for SpokenSentences {
    const NAME: &'static str = "spoken";

    fn save(world: &mut World) -> Self {
        world.resource::<Self>().clone()
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self);
    }
}

impl SpokenSentences {
    /// Returns the number of sentences recorded so far. A request sent now is not compared with later ones.
    pub fn recorded_count(&self) -> u64 {
        self.noted
    }

    /// Records the sentences of an agent's statement.
    pub fn note(&mut self, agent: &Id, text: &str) {
        for sentence in sentences(text) {
            let pairs = pairs_of(sentence);
            if pairs.len() < MIN_WORD_PAIRS {
                continue;
            }
            self.noted += 1;
            self.kept.push_back(Arc::new(SpokenSentence { agent: agent.clone(), pairs }));
        }
        let surplus = self.kept.len().saturating_sub(SENTENCES_KEPT);
        self.kept.drain(..surplus);
    }

    /// Returns the sentences to compare with for a request sent when `noted` sentences were recorded.
    pub fn sentences_before(&self, noted: u64) -> SaidBefore {
        let first = self.noted - self.kept.len() as u64;
        let end = usize::try_from(noted.saturating_sub(first)).unwrap_or(usize::MAX).min(self.kept.len());
        let start = end.saturating_sub(SENTENCES_COUNTED);
        SaidBefore(self.kept.range(start..end).cloned().collect())
    }
}

/// The recent sentences before a request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SaidBefore(Vec<Arc<SpokenSentence>>);

impl SaidBefore {
    /// Whether a sentence is similar to an earlier one of any agent.
    pub fn has_similar(&self, sentence: &str) -> bool {
        let pairs = pairs_of(sentence);
        pairs.len() >= MIN_WORD_PAIRS
            && self.0.iter().any(|said| common_count(&pairs, &said.pairs) * 100 >= pairs.len() * SIMILAR_PERCENT)
    }

    /// Whether an agent said exactly this sentence.
    pub fn has_from(&self, agent: &str, sentence: &str) -> bool {
        let pairs = pairs_of(sentence);
        pairs.len() >= MIN_WORD_PAIRS && self.0.iter().any(|said| *said.agent == *agent && said.pairs == pairs)
    }
}

/// Returns the sentences of a text, split roughly at final punctuation followed by white space.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split_inclusive(['.', '!', '?', '…'])).filter(|part| !part.trim().is_empty())
}

fn pairs_of(sentence: &str) -> Vec<u32> {
    let words: Vec<String> = sentence
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let pair = |two: &[String]| content_hash(format!("{} {}", two[0], two[1]).as_bytes()) as u32;
    let mut pairs: Vec<u32> = words.windows(2).map(pair).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Returns the number of common values of two sorted lists.
fn common_count(one: &[u32], other: &[u32]) -> usize {
    one.iter().filter(|pair| other.binary_search(pair).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[(&str, &str)]) -> SpokenSentences {
        let mut spoken = SpokenSentences::default();
        texts.iter().for_each(|(agent, text)| spoken.note(&Id::from(*agent), text));
        spoken
    }

    #[test]
    fn similar_sentences_and_exact_repetitions_are_recognized() {
        let spoken = said(&[("ada", "I will find two sources for the map. Good, Bram.")]);
        let before = spoken.sentences_before(spoken.recorded_count());
        assert!(before.has_similar("So: I will find two sources for the map!"));
        assert!(!before.has_similar("I will draw the map on one sheet."));
        assert!(!before.has_similar("Good, Bram."), "what is that short may be said again");
        assert!(before.has_from("ada", "I will find two sources for the map."));
        assert!(!before.has_from("bram", "I will find two sources for the map."));
        assert!(!before.has_from("ada", "So: I will find two sources for the map."));
    }

    #[test]
    fn a_request_only_sees_earlier_sentences_and_the_oldest_are_dropped() {
        let mut spoken = said(&[("ada", "The first thing that anybody said here.")]);
        let asked = spoken.recorded_count();
        spoken.note(&"bram".into(), "The second thing is quite another one.");
        assert!(!spoken.sentences_before(asked).has_similar("The second thing is quite another one."));
        assert!(spoken.sentences_before(spoken.recorded_count()).has_similar("The second thing is quite another one."));
        for number in 0..2 * SENTENCES_KEPT {
            spoken.note(&"ada".into(), &format!("Number {number} of w{number} and x{number} is y{number} today."));
        }
        assert_eq!(spoken.kept.len(), SENTENCES_KEPT);
        assert!(spoken.sentences_before(asked).0.is_empty());
        assert!(
            !spoken.sentences_before(spoken.recorded_count()).has_similar("The first thing that anybody said here.")
        );
    }
}
