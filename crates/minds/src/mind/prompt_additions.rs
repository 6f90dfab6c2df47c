//! Additions by higher floors to the prompts of an agent at work: the text of its modules, and which work waits until
//! it is up to date.

use std::collections::BTreeMap;

use bevy::ecs::prelude::Resource;

use crate::base::{ActivationKey, Id};

/// Additions by profile. Not saved: they are added again when a room is reopened.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Default)]
pub struct PromptAdditions {
    words: BTreeMap<Id, String>,
    /// Work that begins, with the profile whose additions are being asked for.
    awaited: BTreeMap<ActivationKey, Id>,
}

impl PromptAdditions {
    /// From now on this is added for a profile; nothing where it is empty.
    pub fn set(&mut self, profile: &Id, words: String) {
        if words.is_empty() {
            self.words.remove(profile);
        } else {
            self.words.insert(profile.clone(), words);
        }
    }

    /// What is added for a profile.
    pub fn of(&self, profile: &Id) -> &str {
        self.words.get(profile).map(String::as_str).unwrap_or_default()
    }

    /// A piece of work by this profile waits until what is added is up to date.
    pub fn wait(&mut self, work: ActivationKey, profile: &Id) {
        self.awaited.insert(work, profile.clone());
    }

    /// A piece of work waits no more; whether it did.
    pub fn release(&mut self, work: ActivationKey) -> bool {
        self.awaited.remove(&work).is_some()
    }

    /// Whether a piece of work waits.
    pub fn is_awaited(&self, work: ActivationKey) -> bool {
        self.awaited.contains_key(&work)
    }

    /// The work that waits, each with its profile.
    pub fn awaited(&self) -> impl Iterator<Item = (ActivationKey, &Id)> {
        self.awaited.iter().map(|(work, profile)| (*work, profile))
    }
}
