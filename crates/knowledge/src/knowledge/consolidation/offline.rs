//! Decisions without a model: by the similarity of two texts, and by the words that only one of them has.

use std::collections::BTreeSet;

use super::{CandidateAction, Case, Decision, add};
use crate::base::Id;
use crate::base::text_normalization::{folded, folded_text};
use crate::knowledge::memory::{Edge, Relation, hundredths};

/// The minimum similarity of two texts that say the same.
pub const SAME_FROM: f32 = 0.97;
/// The minimum similarity of two texts about the same topic: if one contains all the words of the other, it replaces
/// it.
const ONE_THING_FROM: f32 = 0.8;
/// The minimum similarity of two related texts.
const RELATED_FROM: f32 = 0.6;
/// The minimum number of words of a memory, except in scripts without spaces.
const MIN_WORDS: usize = 3;

/// Decides about all candidates without a model. Never deletes a known memory, and never changes a pinned one.
pub fn decide_offline(cases: &[Case]) -> Vec<Decision> {
    let mut changed: BTreeSet<Id> = BTreeSet::new();
    let mut contents: BTreeSet<String> = BTreeSet::new();
    let decisions = cases.iter().enumerate().map(|(index, case)| {
        let act = if contents.insert(folded_text(&case.candidate.content)) {
            act(case, &changed)
        } else {
            CandidateAction::Skip
        };
        if let CandidateAction::Update { id, .. } = &act {
            changed.insert(id.clone());
        }
        Decision { case: index, act, told: None }
    });
    decisions.collect()
}

fn act(case: &Case, changed: &BTreeSet<Id>) -> CandidateAction {
    let words = words(&case.candidate.content);
    if words.len() < MIN_WORDS && case.candidate.content.is_ascii() {
        return CandidateAction::Skip;
    }
    let candidate = folded_text(&case.candidate.content);
    for similar in &case.similar {
        let id = || similar.memory.id.clone();
        let known = self::words(&similar.memory.content);
        let is_same = candidate == folded_text(&similar.memory.content);
        // Texts with different numbers or names say different things, however similar they are.
        let says_nothing_new = words.is_subset(&known);
        if is_same || (similar.similarity >= ONE_THING_FROM && says_nothing_new) {
            return CandidateAction::Keep { id: id() };
        }
        let says_more = known.is_subset(&words) && similar.similarity >= ONE_THING_FROM;
        let is_free = !similar.memory.pinned && !changed.contains(&similar.memory.id);
        if is_free && says_more && similar.memory.kind == case.candidate.kind {
            return CandidateAction::Update { id: id(), candidate: case.candidate.clone() };
        }
        if similar.similarity >= SAME_FROM && numbers(&words) == numbers(&known) && words.len() == known.len() {
            return CandidateAction::Keep { id: id() };
        }
    }
    let related = case.similar.iter().filter(|similar| similar.similarity >= RELATED_FROM);
    let mut edges: Vec<Edge> = related
        .map(|similar| Edge {
            relation: Relation::RelatesTo,
            target: similar.memory.id.clone(),
            weight: hundredths(similar.similarity),
        })
        .collect();
    edges.sort_by(|one, other| one.target.cmp(&other.target));
    match add(&case.candidate) {
        CandidateAction::Add { candidate, .. } => CandidateAction::Add { candidate, edges },
        other => other,
    }
}

fn words(text: &str) -> BTreeSet<String> {
    let folded = folded(text);
    let words = folded.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

fn numbers(words: &BTreeSet<String>) -> Vec<&String> {
    words.iter().filter(|word| word.contains(|character: char| character.is_numeric())).collect()
}
