//! Additions by higher layers to the prompts of working agents: the texts of modules, and the work that waits until
//! they are up to date.

use std::collections::BTreeMap;

use bevy::ecs::prelude::Resource;

use crate::base::{ActivationKey, Id};

/// The additions by profile. Not saved, because they are added again when a room is reopened.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Default)]
pub struct PromptAdditions {
    words: BTreeMap<Id, String>,
    /// The starting work whose additions are being updated, with its profile.
    awaited: BTreeMap<ActivationKey, Id>,
}

impl PromptAdditions {
    /// Sets the addition for a profile; an empty text removes it.
    pub fn set(&mut self, profile: &Id, words: String) {
        if words.is_empty() {
            self.words.remove(profile);
        } else {
            self.words.insert(profile.clone(), words);
        }
    }

    /// Returns the addition for a profile; may be empty.
    pub fn of(&self, profile: &Id) -> &str {
        self.words.get(profile).map(String::as_str).unwrap_or_default()
    }

    /// Lets a piece of work wait until the addition for its profile is up to date.
    pub fn wait(&mut self, work: ActivationKey, profile: &Id) {
        self.awaited.insert(work, profile.clone());
    }

    /// Ends the wait of a piece of work; returns whether it was waiting.
    pub fn release(&mut self, work: ActivationKey) -> bool {
        self.awaited.remove(&work).is_some()
    }

    /// Whether a piece of work is waiting.
    pub fn is_awaited(&self, work: ActivationKey) -> bool {
        self.awaited.contains_key(&work)
    }

    /// Returns the waiting work with its profiles.
    pub fn awaited(&self) -> impl Iterator<Item = (ActivationKey, &Id)> {
        self.awaited.iter().map(|(work, profile)| (*work, profile))
    }
}
