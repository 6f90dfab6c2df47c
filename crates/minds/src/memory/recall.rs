//! Recall as data: how many memories there are, which are requested from outside, and what was recalled.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::Id;
use crate::knowledge::{MemoryKind, Source};
use crate::log::events::RecalledScore;
use crate::schedule::{Input, Section};

/// The number of memories, by owner. If there are none, nothing is requested. Written by this module only.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryCounts {
    /// Those of one agent alone, by its id.
    pub own: BTreeMap<Id, usize>,
    /// Those that everybody knows.
    pub shared: usize,
}

impl MemoryCounts {
    /// How many an agent may be reminded of.
    pub fn of(&self, agent: &str) -> usize {
        self.own.get(agent).copied().unwrap_or(0) + self.shared
    }
}

impl Section for MemoryCounts {
    const NAME: &'static str = "memory_counts";

    fn save(world: &mut World) -> Self {
        world.resource::<Self>().clone()
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self);
    }
}

/// The current number of memories. An input: their files are outside the world.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemoriesCounted(pub MemoryCounts);

impl Input for MemoriesCounted {
    const KIND: &'static str = "memories_counted";
}

/// Takes in how many there are.
pub(super) fn count(mut counted: MessageReader<MemoriesCounted>, mut counts: ResMut<MemoryCounts>) {
    if let Some(MemoriesCounted(newest)) = counted.read().last() {
        counts.set_if_neq(newest.clone());
    }
}

/// A memory that was recalled for a prompt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RecalledMemory {
    /// Its id.
    pub id: Id,
    /// What it says.
    pub content: String,
    /// What it is about.
    pub kind: MemoryKind,
    /// The day on which it was made or last changed: `2026-11-24`; none where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// Who shared it, where everybody knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_by: Option<Id>,
    /// What it comes from.
    #[serde(default)]
    pub source: Source,
    /// Its score and what that is made of.
    pub score: RecalledScore,
}

/// What an agent recalls for a prompt.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Reminder {
    /// What it was looked for by.
    pub about: String,
    /// What was found, the best first.
    pub memories: Vec<RecalledMemory>,
}

impl Reminder {
    /// What is written as JSON; nothing where that cannot be read.
    pub fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The results as JSON; empty if nothing was found, so that the agent is told nothing.
    pub fn to_json(&self) -> String {
        if self.memories.is_empty() {
            return String::new();
        }
        serde_json::to_string(self).expect("a memory is plain data with text keys")
    }
}

impl RecalledMemory {
    /// One line of a prompt: what it says, and what kind of memory it is, since when.
    pub fn line(&self) -> String {
        let shared = self.shared_by.as_ref().map(|by| format!("shared by {by}"));
        let about = [Some(self.kind.to_string()), self.day.clone(), shared].into_iter().flatten();
        format!("{} ({})", self.content, about.collect::<Vec<_>>().join(", "))
    }
}
