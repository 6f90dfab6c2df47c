//! The life cycle of memories in the room: created or restored with an agent, edited, and archived when the agent
//! leaves.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::operations::{self, ElementKnowledge, MemoryChange};
use super::settings::MemorySettings;
use super::slots::{Memory, MemoryAct, MemoryEdit};
use crate::agent::{Agent, Roster};
use crate::base::{AgentKey, Author, ElementKey, Id, Seq};
use crate::element::kinds::kind;
use crate::element::pin::changed as changed_pin;
use crate::element::{Element, ElementChange, ElementChanged, Elements};
use crate::log::events::Memory as MemoryEvent;
use crate::log::{EventDraft, EventLog};
use crate::schedule::{Section, SimClock};

/// The memories of agents that left, restored if an agent with the same id returns. Written by this module only.
#[derive(Resource, Default, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryArchive {
    /// The memories by agent id, each with a sequence number in the order of leaving.
    left: BTreeMap<Id, (u64, Memory)>,
    next: u64,
}

impl MemoryArchive {
    /// Returns the archived memory of an agent id.
    pub fn get(&self, id: &str) -> Option<&Memory> {
        self.left.get(id).map(|(_, memory)| memory)
    }

    fn put(&mut self, id: Id, memory: Memory, at_most: usize) {
        self.left.insert(id, (self.next, memory));
        self.next += 1;
        while self.left.len() > at_most {
            let first = self.left.iter().min_by_key(|(_, (number, _))| *number).map(|(id, _)| id.clone());
            let Some(first) = first else { break };
            self.left.remove(&first);
        }
    }

    fn for_each(&mut self, mut change: impl FnMut(&mut Memory)) {
        self.left.values_mut().for_each(|(_, memory)| change(memory));
    }
}

/// The agents' knowledge of removed elements, restored if an element returns; oldest first.
#[derive(Resource, Default, Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct RemovedElementKnowledge(Vec<(ElementKey, BTreeMap<Id, ElementKnowledge>)>);

/// Maximum number of removed elements whose knowledge is kept; the oldest is dropped.
const MAX_REMOVED_ELEMENTS: usize = 100;

/// The version of each element after its last change, to distinguish an agent's own changes from news.
#[derive(Resource, Default, Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct KnownVersions(BTreeMap<ElementKey, u32>);

/// Gives a new agent its archived memory or an empty one.
pub(super) fn give_memory(
    added: On<Add, Agent>,
    agents: Query<&Agent>,
    mut archive: ResMut<MemoryArchive>,
    mut commands: Commands,
) {
    let Ok(agent) = agents.get(added.entity) else { return };
    let memory = archive.left.remove(&agent.id).map(|(_, memory)| memory).unwrap_or_default();
    commands.entity(added.entity).try_insert(memory);
}

/// Archives the memory of an agent that leaves.
pub(super) fn archive_memory(
    removed: On<Remove, Memory>,
    agents: Query<(&Agent, &Memory)>,
    settings: Res<MemorySettings>,
    mut archive: ResMut<MemoryArchive>,
) {
    let Ok((agent, memory)) = agents.get(removed.entity) else { return };
    if *memory != Memory::default() {
        archive.put(agent.id.clone(), memory.clone(), settings.max_archived_agents);
    }
}

/// Applies the requested edits to memories.
pub(super) fn apply_edits(
    mut edits: MessageReader<MemoryEdit>,
    (roster, elements, clock): (Res<Roster>, Res<Elements>, Res<SimClock>),
    held: Query<&Element>,
    settings: Res<MemorySettings>,
    mut agents: Query<(&Agent, &mut Memory)>,
    mut log: ResMut<EventLog>,
) {
    for edit in edits.read() {
        let about = match &edit.act {
            MemoryAct::Saw { element, .. } | MemoryAct::Looked { element } | MemoryAct::KeepPin { element, .. } => {
                Some(*element)
            }
            _ => None,
        };
        // An element may be removed between a request and its reply: then the edit is dropped.
        let about = about.map(|element| elements.entity(element));
        if about == Some(None) {
            continue;
        }
        let about = about.flatten();
        let Some(entity) = roster.entity(edit.agent) else { continue };
        let Ok((agent, mut memory)) = agents.get_mut(entity) else { continue };
        if let Some(change) = operations::apply(&mut memory, &edit.act, &settings, clock.tick()) {
            record(&mut log, &agent.id, &change, about.and_then(|entity| held.get(entity).ok()), edit.cause);
        }
    }
}

/// Follows the changes of elements: new rules clear summaries, deleted elements are forgotten, and an agent's own
/// changes are not news to it.
pub(super) fn follow_elements(
    mut changes: MessageReader<ElementChanged>,
    (roster, elements): (Res<Roster>, Res<Elements>),
    held: Query<&Element>,
    mut agents: Query<(&Agent, &mut Memory)>,
    (mut archive, mut versions, mut parted): (
        ResMut<MemoryArchive>,
        ResMut<KnownVersions>,
        ResMut<RemovedElementKnowledge>,
    ),
    settings: Res<MemorySettings>,
    mut log: ResMut<EventLog>,
) {
    if changes.is_empty() {
        return;
    }
    let mut rules_changed: Option<Seq> = None;
    let mut authors: BTreeMap<ElementKey, Option<Author>> = BTreeMap::new();
    for changed in changes.read() {
        let element = changed.element;
        authors
            .entry(element)
            .and_modify(|only| *only = only.take().filter(|author| *author == changed.by))
            .or_insert_with(|| Some(changed.by.clone()));
        match changed.change.as_str() {
            ElementChange::REMOVED => {
                archive.for_each(|memory| drop(operations::forget_element(memory, element)));
                let mut known = BTreeMap::new();
                for (agent, memory) in &agents {
                    known.extend(operations::element_knowledge(memory, element).map(|knows| (agent.id.clone(), knows)));
                }
                parted.0.push((element, known));
                let over = parted.0.len().saturating_sub(MAX_REMOVED_ELEMENTS);
                parted.0.drain(..over);
                for_each_memory(&roster, &mut agents, &mut log, changed.cause, |memory| {
                    operations::forget_element(memory, element)
                });
            }
            ElementChange::ADDED => {
                let at = parted.0.iter().position(|(gone, _)| *gone == element);
                let Some((_, mut known)) = at.map(|at| parted.0.remove(at)) else { continue };
                for (_, entity) in roster.iter() {
                    let Ok((agent, mut memory)) = agents.get_mut(entity) else { continue };
                    let change = known.remove(&agent.id).and_then(|knows| {
                        operations::restore_element(&mut memory, element, knows, settings.max_kept_pins)
                    });
                    if let Some(change) = change {
                        let about = elements.entity(element).and_then(|entity| held.get(entity).ok());
                        record(&mut log, &agent.id, &change, about, changed.cause);
                    }
                }
            }
            changed_pin::REMOVED => {
                let Some(id) = changed.change.item() else { continue };
                archive.for_each(|memory| drop(operations::forget_pin(memory, element, id)));
                for_each_memory(&roster, &mut agents, &mut log, changed.cause, |memory| {
                    operations::forget_pin(memory, element, id)
                });
            }
            ElementChange::TEXT_SET if is_rulebook(&elements, &held, element) => rules_changed = Some(changed.cause),
            _ => {}
        }
    }
    // A summary is cleared only once per tick, however many rules changed.
    if let Some(cause) = rules_changed {
        archive.for_each(|memory| drop(operations::clear_summary(memory)));
        for_each_memory(&roster, &mut agents, &mut log, cause, operations::clear_summary);
    }
    for (element, only_author) in authors {
        let version = elements.entity(element).and_then(|entity| held.get(entity).ok()).map(|held| held.version);
        let Some(version) = version else {
            versions.0.remove(&element);
            continue;
        };
        let Some(before) = versions.0.insert(element, version) else { continue };
        let agent = only_author.and_then(|author| roster.key(&author.0)).and_then(|key| roster.entity(key));
        let Some((_, mut memory)) = agent.and_then(|entity| agents.get_mut(entity).ok()) else { continue };
        if let Some(seen) = memory.environment_state.get_mut(&element).filter(|seen| seen.version == before) {
            seen.version = version;
        }
    }
}

fn is_rulebook(elements: &Elements, held: &Query<&Element>, element: ElementKey) -> bool {
    let Some(element) = elements.entity(element).and_then(|entity| held.get(entity).ok()) else { return false };
    kind(&element.kind).is_some_and(|kind| kind.standing_instructions)
}

fn for_each_memory(
    roster: &Roster,
    agents: &mut Query<(&Agent, &mut Memory)>,
    log: &mut EventLog,
    cause: Seq,
    mut change: impl FnMut(&mut Memory) -> Option<MemoryChange>,
) {
    for (_, entity) in roster.iter() {
        let Ok((agent, mut memory)) = agents.get_mut(entity) else { continue };
        if let Some(change) = change(&mut memory) {
            record(log, &agent.id, &change, None, cause);
        }
    }
}

/// Logs a change. The record names the element by its id; a deleted one is identified by the cause.
fn record(log: &mut EventLog, agent: &Id, change: &MemoryChange, element: Option<&Element>, cause: Seq) {
    let element = element.map(|element| element.id.clone());
    let event = match change.clone() {
        MemoryChange::Noted { note, dropped } => MemoryEvent::Noted { note, dropped },
        MemoryChange::Met { interaction, dropped } => MemoryEvent::Met { interaction, dropped },
        MemoryChange::Saw { version, summary, .. } => MemoryEvent::Saw { element, version, summary },
        MemoryChange::PinKept { pin, dropped, .. } => MemoryEvent::PinKept { element, pin, dropped },
        MemoryChange::PinReleased { pin } => MemoryEvent::PinReleased { pin },
        MemoryChange::Summed { summary } => MemoryEvent::Summed { summary },
        MemoryChange::SummaryCleared => MemoryEvent::SummaryCleared,
        MemoryChange::Forgot { pins, .. } => MemoryEvent::Forgot { element, pins },
        MemoryChange::Recalled { pins, .. } => MemoryEvent::Recalled { element, pins },
        MemoryChange::Cleared => MemoryEvent::Cleared,
    };
    log.write(EventDraft::of(&event).agent(agent).cause(cause));
}

/// The saved state of this layer.
#[derive(Serialize, Deserialize)]
pub(super) struct MemorySaved {
    agents: Vec<(AgentKey, Memory)>,
    archive: MemoryArchive,
    versions: KnownVersions,
    #[serde(default)]
    parted: RemovedElementKnowledge,
}

impl Section for MemorySaved {
    const NAME: &'static str = "memory";

    fn save(world: &mut World) -> Self {
        let roster = world.resource::<Roster>();
        let agents = roster.iter().filter_map(|(key, entity)| Some((key, world.get::<Memory>(entity)?.clone())));
        Self {
            agents: agents.collect(),
            archive: world.resource::<MemoryArchive>().clone(),
            versions: world.resource::<KnownVersions>().clone(),
            parted: world.resource::<RemovedElementKnowledge>().clone(),
        }
    }

    fn load(self, world: &mut World) {
        for (key, memory) in self.agents {
            if let Some(entity) = world.resource::<Roster>().entity(key) {
                world.entity_mut(entity).insert(memory);
            }
        }
        world.insert_resource(self.archive);
        world.insert_resource(self.versions);
        world.insert_resource(self.parted);
    }
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
