//! Memories in the room: who gets one, what changes it, and what happens to it when its agent leaves.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::operations::{self, Knowledge, MemoryChange};
use super::settings::MemorySettings;
use super::slots::{Memory, MemoryAct, MemoryEdit};
use crate::agent::{Agent, Roster};
use crate::base::{AgentKey, Author, ElementKey, Id, Seq};
use crate::element::kinds::kind;
use crate::element::pin::changed as changed_pin;
use crate::element::{Element, ElementChange, ElementChanged, Elements};
use crate::log::events::Memory as Said;
use crate::log::{EventDraft, EventLog};
use crate::schedule::{Section, SimClock};

/// The memories of agents that left, in case an agent with that id comes back. Written by this module only.
#[derive(Resource, Default, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryArchive {
    /// By id, with a number that counts up with each leaving, so that who left first can be found.
    left: BTreeMap<Id, (u64, Memory)>,
    next: u64,
}

impl MemoryArchive {
    /// The memory that an agent of this id left behind.
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

/// What agents knew about elements that left, in case they come back.
#[derive(Resource, Default, Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Parted(Vec<(ElementKey, BTreeMap<Id, Knowledge>)>);

/// For how many removed elements that is kept; the oldest is forgotten first.
const PARTED_AT_MOST: usize = 100;

/// The version of each element after its last change, to distinguish an agent's own changes from news.
#[derive(Resource, Default, Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct KnownVersions(BTreeMap<ElementKey, u32>);

/// Gives a new agent its memory: the one that it left behind, or an empty one.
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

/// Keeps the memory of an agent that leaves.
pub(super) fn archive_memory(
    removed: On<Remove, Memory>,
    agents: Query<(&Agent, &Memory)>,
    settings: Res<MemorySettings>,
    mut archive: ResMut<MemoryArchive>,
) {
    let Ok((agent, memory)) = agents.get(removed.entity) else { return };
    if *memory != Memory::default() {
        archive.put(agent.id.clone(), memory.clone(), settings.archived_agents_at_most);
    }
}

/// Does what others asked to be done to memories.
pub(super) fn edit(
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
        // An element may leave between the asking and the reply: what was read of it is of no use to anyone.
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
    (mut archive, mut versions, mut parted): (ResMut<MemoryArchive>, ResMut<KnownVersions>, ResMut<Parted>),
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
        match changed.change.word() {
            ElementChange::REMOVED => {
                archive.for_each(|memory| drop(operations::forget_element(memory, element)));
                let mut known = BTreeMap::new();
                for (agent, memory) in &agents {
                    known.extend(operations::knowledge(memory, element).map(|knows| (agent.id.clone(), knows)));
                }
                parted.0.push((element, known));
                let over = parted.0.len().saturating_sub(PARTED_AT_MOST);
                parted.0.drain(..over);
                for_everyone(&roster, &mut agents, &mut log, changed.cause, |memory| {
                    operations::forget_element(memory, element)
                });
            }
            ElementChange::ADDED => {
                let at = parted.0.iter().position(|(gone, _)| *gone == element);
                let Some((_, mut known)) = at.map(|at| parted.0.remove(at)) else { continue };
                for (_, entity) in roster.iter() {
                    let Ok((agent, mut memory)) = agents.get_mut(entity) else { continue };
                    let change = known
                        .remove(&agent.id)
                        .and_then(|knows| operations::recall(&mut memory, element, knows, settings.kept_pins_at_most));
                    if let Some(change) = change {
                        let about = elements.entity(element).and_then(|entity| held.get(entity).ok());
                        record(&mut log, &agent.id, &change, about, changed.cause);
                    }
                }
            }
            changed_pin::REMOVED => {
                let Some(id) = changed.change.item() else { continue };
                archive.for_each(|memory| drop(operations::forget_pin(memory, element, id)));
                for_everyone(&roster, &mut agents, &mut log, changed.cause, |memory| {
                    operations::forget_pin(memory, element, id)
                });
            }
            ElementChange::TEXT_SET if is_rulebook(&elements, &held, element) => rules_changed = Some(changed.cause),
            _ => {}
        }
    }
    // However many rules changed in this tick, a summary is emptied once.
    if let Some(cause) = rules_changed {
        archive.for_each(|memory| drop(operations::clear_summary(memory)));
        for_everyone(&roster, &mut agents, &mut log, cause, operations::clear_summary);
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

fn for_everyone(
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

/// A record names the element by its id; for a deleted one, its cause identifies it.
fn record(log: &mut EventLog, agent: &Id, change: &MemoryChange, element: Option<&Element>, cause: Seq) {
    let element = element.map(|element| element.id.clone());
    let said = match change.clone() {
        MemoryChange::Noted { note, dropped } => Said::Noted { note, dropped },
        MemoryChange::Met { interaction, dropped } => Said::Met { interaction, dropped },
        MemoryChange::Saw { version, summary, .. } => Said::Saw { element, version, summary },
        MemoryChange::PinKept { pin, dropped, .. } => Said::PinKept { element, pin, dropped },
        MemoryChange::PinReleased { pin } => Said::PinReleased { pin },
        MemoryChange::Summed { summary } => Said::Summed { summary },
        MemoryChange::SummaryCleared => Said::SummaryCleared,
        MemoryChange::Forgot { pins, .. } => Said::Forgot { element, pins },
        MemoryChange::Recalled { pins, .. } => Said::Recalled { element, pins },
        MemoryChange::Cleared => Said::Cleared,
    };
    log.write(EventDraft::of(&said).agent(agent).cause(cause));
}

/// The saved state of this floor.
#[derive(Serialize, Deserialize)]
pub(super) struct MemorySaved {
    agents: Vec<(AgentKey, Memory)>,
    archive: MemoryArchive,
    versions: KnownVersions,
    #[serde(default)]
    parted: Parted,
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
            parted: world.resource::<Parted>().clone(),
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
