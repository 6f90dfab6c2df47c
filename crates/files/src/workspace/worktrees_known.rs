//! The room's view of agents' worktrees: the changes in each that are not in the workspace yet.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::vfs::WorktreeChanges;
use crate::base::Id;
use crate::schedule::Section;

/// The unmerged changes in each agent's worktree, by the agent's id, as last reported by the file service. Written by
/// this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorktreesKnown(BTreeMap<Id, WorktreeChanges>);

impl WorktreesKnown {
    /// Returns the changes in an agent's worktree; `None` if it has none, or there is no worktree.
    pub fn changes(&self, agent: &str) -> Option<&WorktreeChanges> {
        self.0.get(agent)
    }

    /// Iterates over all agents whose worktrees have changes.
    pub fn all(&self) -> impl Iterator<Item = (&Id, &WorktreeChanges)> {
        self.0.iter()
    }

    pub(super) fn note(&mut self, agent: &Id, changes: &WorktreeChanges) {
        if changes.files.is_empty() {
            self.0.remove(agent);
        } else {
            self.0.insert(agent.clone(), changes.clone());
        }
    }
}

impl Section for WorktreesKnown {
    const NAME: &'static str = "worktrees";

    fn save(world: &mut World) -> Self {
        world.resource::<Self>().clone()
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self);
    }
}
