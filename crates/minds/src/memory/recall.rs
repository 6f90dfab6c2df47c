//! The data of recalling memories: their number, and the results of a query.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::Id;
use crate::knowledge::{MemoryKind, Source};
use crate::log::events::RecalledScore;
use crate::schedule::{Input, Section};
use crate::workspace::vfs::records::records_of;

/// The number of memories by owner. Without memories, no query is made. Written by this module only.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryCounts {
    /// The number of private memories by agent id.
    pub own: BTreeMap<Id, usize>,
    /// The number of shared memories.
    pub shared: usize,
    /// The beginnings of the paths of saved sessions when the room was opened, one for each agent that has any.
    pub sessions: BTreeSet<String>,
}

impl MemoryCounts {
    /// Returns the number of memories that an agent can recall.
    pub fn of(&self, agent: &str) -> usize {
        self.own.get(agent).copied().unwrap_or(0) + self.shared
    }

    /// Whether there are private memories or saved sessions of an agent with this id, which need not exist any more.
    pub fn has_private(&self, agent: &str) -> bool {
        self.own.get(agent).is_some_and(|count| *count > 0) || self.sessions.contains(&records_of(agent))
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

/// The current number of memories. An input, because their files are outside the world.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemoriesCounted(pub MemoryCounts);

impl Input for MemoriesCounted {
    const KIND: &'static str = "memories_counted";
}

/// Stores the latest counts.
pub(super) fn update_counts(mut counted: MessageReader<MemoriesCounted>, mut counts: ResMut<MemoryCounts>) {
    if let Some(MemoriesCounted(newest)) = counted.read().last() {
        counts.set_if_neq(newest.clone());
    }
}

/// A memory that was recalled for a prompt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RecalledMemory {
    /// Its id.
    pub id: Id,
    /// The text of the memory.
    pub content: String,
    /// The kind of memory.
    pub kind: MemoryKind,
    /// The day on which it was created or last changed, such as `2026-11-24`, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// The agent that shared it; `None` for a private memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_by: Option<Id>,
    /// The source of the memory.
    #[serde(default)]
    pub source: Source,
    /// The score and its components.
    pub score: RecalledScore,
}

/// The memories that an agent recalls for a prompt.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Reminder {
    /// The query.
    pub about: String,
    /// The memories found, the best first.
    pub memories: Vec<RecalledMemory>,
}

impl Reminder {
    /// Parses JSON; returns an empty result if it is invalid.
    pub fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Returns the result as JSON; an empty string if nothing was found, so that the part is omitted.
    pub fn to_json(&self) -> String {
        if self.memories.is_empty() {
            return String::new();
        }
        serde_json::to_string(self).expect("a memory is plain data with text keys")
    }
}

impl RecalledMemory {
    /// Returns the memory as one line of a prompt: its text, kind, day, and who shared it.
    pub fn line(&self) -> String {
        let shared = self.shared_by.as_ref().map(|by| format!("shared by {by}"));
        let about = [Some(self.kind.to_string()), self.day.clone(), shared].into_iter().flatten();
        format!("{} ({})", self.content, about.collect::<Vec<_>>().join(", "))
    }
}
