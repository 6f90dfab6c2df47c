//! Additions by higher floors to the prompts of an agent at work: the text of its modules.

use std::collections::BTreeMap;

use bevy::ecs::prelude::Resource;

use crate::base::Id;

/// Additions by profile. Not saved: they are added again when a room is reopened.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Default)]
pub struct PromptAdditions(BTreeMap<Id, String>);

impl PromptAdditions {
    /// From now on this is added for a profile; nothing where it is empty.
    pub fn set(&mut self, profile: &Id, words: String) {
        if words.is_empty() {
            self.0.remove(profile);
        } else {
            self.0.insert(profile.clone(), words);
        }
    }

    /// What is added for a profile.
    pub fn of(&self, profile: &Id) -> &str {
        self.0.get(profile).map(String::as_str).unwrap_or_default()
    }
}
