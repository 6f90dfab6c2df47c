//! Texts of files that were replaced or deleted while something in them waited until the person has seen it. If such a text
//! comes back, by an undo or as a copy, it goes on waiting.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;

use super::{Widening, WorkspaceTrust};

/// The widenings that waited, by the hash of the text. Not saved: what an undo can bring back is not saved either. For
/// the settings, it is written by the code that applies changed files; other files have such a list of their own.
#[derive(Resource, Default, Debug)]
pub struct WaitingTexts(BTreeMap<u64, BTreeSet<Widening>>);

impl WaitingTexts {
    /// Notes a text with these widenings that is about to be replaced or deleted. Nothing is noted if all of them are
    /// trusted.
    pub fn note(&mut self, text: u64, widenings: &[Widening], trust: &WorkspaceTrust) {
        if widenings.iter().any(|widening| !trust.allows(widening)) {
            self.0.entry(text).or_default().extend(widenings.iter().cloned());
        }
    }

    /// Whether something in this text still waits.
    pub fn contains(&self, text: u64, trust: &WorkspaceTrust) -> bool {
        self.0.get(&text).is_some_and(|widenings| widenings.iter().any(|widening| !trust.allows(widening)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_waits_until_everything_in_it_is_trusted() {
        let [first, second] = ["a", "b"].map(|place| Widening::starting(place, "every 5m", "wakes this agent"));
        let mut trust = WorkspaceTrust::Parts { parts: BTreeSet::new() };
        trust.add([first.clone()]);
        let mut texts = WaitingTexts::default();
        texts.note(1, std::slice::from_ref(&first), &trust);
        assert!(!texts.contains(1, &trust), "all of it is trusted");
        texts.note(2, &[first, second.clone()], &trust);
        assert!(texts.contains(2, &trust) && !texts.contains(3, &trust));
        trust.add([second]);
        assert!(!texts.contains(2, &trust));
    }
}
