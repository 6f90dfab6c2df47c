//! Adds and removes agents as people and the scene request.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::message::{Message, MessageCursor, Messages};
use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::registry::Profiles;
use super::roster::{Agent, AgentAdded, AgentCommand, AgentRemoved, BehaviourFollows, ProfileChanged, Roster};
use super::spawn_position::spawn_place;
use super::{AgentSettings, ProfileRenamed};
use crate::base::{Behaviour, Id, Problem, Seq, free_id, text};
use crate::log::events::{self, Warning};
use crate::log::{EventDraft, EventLog};
use crate::schedule::{AgentRandom, RoomSeed};
use crate::workspace::{AgentEntry, ProblemReport, RoomStart, SceneEdit, SceneState, SceneWrite};

/// An agent that should be in the room.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct WantedAgent {
    pub(super) id: Id,
    pub(super) profile: Id,
    pub(super) position: Option<Vec2>,
    pub(super) behaviour: Option<Behaviour>,
    pub(super) line: Option<usize>,
}

impl From<&AgentEntry> for WantedAgent {
    fn from(entry: &AgentEntry) -> Self {
        Self {
            id: entry.id.clone(),
            profile: entry.profile.clone(),
            position: entry.position,
            behaviour: entry.behaviour,
            line: entry.line,
        }
    }
}

/// The roster's state besides the agents themselves.
#[derive(Resource, Clone, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RosterState {
    /// Scene entries whose profile no file defines yet.
    pub(super) pending: BTreeMap<Id, WantedAgent>,
    /// The last number used for ids and names with each stem.
    counters: BTreeMap<String, u32>,
    /// The ids for which a refusal is reported.
    refused: BTreeSet<Id>,
    /// The number of agents that were placed because they had no position.
    placed: u32,
    /// Names of agents that left, by id: an agent that returns with its id gets its name back, and no other agent gets
    /// it, so that a name in an old record stands for one agent only.
    left: BTreeMap<Id, LeftName>,
    /// The number of agents that left, for the order in which names become free.
    leavings: u64,
    /// Reserved names. Derived from the present agents and those that left.
    #[serde(skip)]
    names: BTreeSet<Id>,
}

/// The name of an agent that left.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct LeftName {
    name: Id,
    /// The number of agents that had left before.
    order: u64,
}

/// How many names of agents that left are kept; the oldest become free first.
const LEFT_NAMES_KEPT: usize = 1_000;

impl RosterState {
    /// The stem itself if the name is free, otherwise the stem with the next number.
    fn name(&mut self, stem: &str) -> Id {
        let mut name: Id = stem.into();
        while self.names.contains(&name) {
            let count = self.counters.entry(format!("name:{stem}")).or_insert(1);
            *count += 1;
            name = format!("{stem} {count}").into();
        }
        self.names.insert(name.clone());
        name
    }

    /// The name that the agent with this id had when it left, if it has this stem; otherwise a free one.
    fn name_of(&mut self, id: &Id, stem: &str) -> Id {
        match self.left.remove(id) {
            Some(left) if is_of_stem(&left.name, stem) => left.name,
            Some(left) => {
                self.names.remove(&left.name);
                self.name(stem)
            }
            None => self.name(stem),
        }
    }

    /// Keeps the name of an agent that leaves.
    fn keep_name(&mut self, id: Id, name: Id) {
        self.leavings += 1;
        self.left.insert(id, LeftName { name, order: self.leavings });
        if self.left.len() > LEFT_NAMES_KEPT {
            let first = self.left.iter().min_by_key(|(_, left)| left.order).map(|(id, _)| id.clone());
            if let Some(left) = first.and_then(|id| self.left.remove(&id)) {
                self.names.remove(&left.name);
            }
        }
    }

    /// Reserves the names of the present agents and of agents that left, after a world was loaded.
    pub(super) fn reserve_names(&mut self, present: impl Iterator<Item = Id>) {
        self.names = present.chain(self.left.values().map(|left| left.name.clone())).collect();
    }

    fn id(&mut self, stem: &str, separator: &str, first: u32, roster: &Roster) -> Id {
        let count = self.counters.entry(format!("id:{stem}")).or_insert(first - 1);
        loop {
            *count += 1;
            let id: Id = format!("{stem}{separator}{count}").into();
            if roster.key(&id).is_none() && !self.pending.contains_key(&id) {
                return id;
            }
        }
    }
}

/// The height of the topmost element, for agents that are dropped among the elements.
#[derive(Resource, Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct TopmostElement(pub Option<f32>);

/// The current height of the topmost element; sent by the layer of elements.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
pub struct TopElementHeight {
    /// The highest center of an element, in world units; `None` if there are no elements.
    pub top: Option<f32>,
}

/// Reads the messages since the last call, for systems that need exclusive access to the world.
pub(crate) fn read<M: Message + Clone>(world: &World, cursor: &mut MessageCursor<M>) -> Vec<M> {
    world.get_resource::<Messages<M>>().map(|messages| cursor.read(messages).cloned().collect()).unwrap_or_default()
}

/// Applies changes of agents in the scene.
pub(super) fn apply_scene_edits(world: &mut World, mut cursor: Local<MessageCursor<SceneEdit>>) {
    let edits = read(world, &mut cursor);
    if edits.is_empty() {
        return;
    }
    // The elements of a scene are added after its agents; agents without a position are placed above them nevertheless.
    let heights = edits.iter().filter_map(|edit| match edit {
        SceneEdit::Element { now, .. } => Some(now.position.y),
        _ => None,
    });
    let top = heights.chain(world.resource::<TopmostElement>().0).reduce(f32::max);
    world.resource_mut::<TopmostElement>().0 = top;
    for edit in edits {
        match edit {
            SceneEdit::Agent { now, before } => follow_entry(world, &now, before.as_ref()),
            SceneEdit::AgentGone { id } => {
                forget_pending(world, &id);
                remove(world, &id);
            }
            SceneEdit::Element { .. }
            | SceneEdit::ElementGone { .. }
            | SceneEdit::Relationships(_)
            | SceneEdit::Decor(_) => {}
        }
    }
}

fn follow_entry(world: &mut World, now: &AgentEntry, before: Option<&AgentEntry>) {
    let wanted = WantedAgent::from(now);
    if world.resource::<Roster>().key(&now.id).is_none() {
        add_scene_agent(world, wanted);
        return;
    }
    // An entry that is new in the scene but known to the room was written by the room itself.
    let Some(before) = before else { return };
    if now.profile != before.profile {
        change_profile(world, wanted);
    }
    if let Some(position) = now.position.filter(|_| now.position != before.position) {
        world.write_message(AgentCommand::SetHome { agent: now.id.clone(), position, by: None });
    }
    if now.behaviour != before.behaviour
        && let Some(agent) = world.resource::<Roster>().key(&now.id)
    {
        let behaviour = now.behaviour.unwrap_or_else(|| own_behaviour(world, &now.profile));
        world.write_message(BehaviourFollows { agent, behaviour });
    }
}

/// The idle behaviour of a profile, for agents whose scene entry has none.
fn own_behaviour(world: &World, profile: &str) -> Behaviour {
    world.resource::<Profiles>().get(profile).and_then(|profile| profile.behaviour).unwrap_or_default()
}

/// Applies a person's commands that add or remove agents; other commands of [`AgentCommand`] belong to the simulation.
pub(super) fn apply_commands(world: &mut World, mut cursor: Local<MessageCursor<AgentCommand>>) {
    for command in read(world, &mut cursor) {
        match command {
            AgentCommand::Add { id, profile, position, behaviour, exactly } => {
                add_dropped_agent(world, id, profile, position, behaviour, exactly);
            }
            AgentCommand::Remove { agent } => {
                if forget_pending(world, &agent) | remove(world, &agent) {
                    world.write_message(SceneWrite::RemoveAgent { id: agent });
                } else {
                    refuse(world, &agent, "no such agent in the room", "find its id in the roster");
                }
            }
            _ => {}
        }
    }
}

fn add_dropped_agent(
    world: &mut World,
    id: Option<Id>,
    profile: Id,
    mut position: Vec2,
    behaviour: Option<Behaviour>,
    exactly: bool,
) {
    let id = id.map(free_id);
    let profile = world.resource::<Profiles>().resolve(&profile);
    let told = id.clone().unwrap_or_else(|| profile.clone());
    if !position.is_finite() {
        refuse(world, &told, "its position is not a finite number", "drop it somewhere on the canvas");
        return;
    }
    if !world.resource::<Profiles>().is_defined(&profile) {
        let problem = unknown_profile(world, &told, &profile, None);
        refuse(world, &told, &problem.what, &problem.remedy);
        return;
    }
    if !exactly {
        let margin = world.resource::<AgentSettings>().spawn_margin();
        position = spawn_place(position, world.resource::<TopmostElement>().0, margin);
    }
    let id = world.resource_scope(|world, mut waiting: Mut<RosterState>| {
        let roster = world.resource::<Roster>();
        match id {
            Some(id) if roster.key(&id).is_none() && !waiting.pending.contains_key(&id) => id,
            Some(id) => waiting.id(&id, "-", 2, roster),
            None => waiting.id(&profile, "-", 1, roster),
        }
    });
    let mut keys = Map::new();
    keys.insert("id".into(), json!(id));
    keys.insert("profile".into(), json!(profile));
    keys.insert("position".into(), json!([position.x, position.y]));
    if let Some(behaviour) = behaviour {
        keys.insert("behaviour".into(), json!(behaviour));
    }
    world.write_message(SceneWrite::AddAgent { keys });
    if world.resource_mut::<RosterState>().refused.remove(&told) {
        report(world, source(&told), Vec::new());
    }
    spawn(world, &WantedAgent { id, profile, position: Some(position), behaviour, line: None });
}

/// Adds an agent of the scene to the room, or to those that wait for their profile.
fn add_scene_agent(world: &mut World, mut wanted: WantedAgent) {
    wanted.profile = world.resource::<Profiles>().resolve(&wanted.profile);
    if wanted.position.is_some_and(|position| !position.is_finite()) {
        refuse(world, &wanted.id, "its position is not a finite number", "write two numbers: [x, y]");
    } else if world.resource::<Profiles>().is_defined(&wanted.profile) {
        forget_pending(world, &wanted.id);
        spawn(world, &wanted);
    } else {
        wait(world, wanted);
    }
}

fn wait(world: &mut World, wanted: WantedAgent) {
    let problem = unknown_profile(world, &wanted.id, &wanted.profile, wanted.line);
    report(world, source(&wanted.id), vec![problem]);
    world.resource_mut::<RosterState>().pending.insert(wanted.id.clone(), wanted);
}

fn change_profile(world: &mut World, mut wanted: WantedAgent) {
    wanted.profile = world.resource::<Profiles>().resolve(&wanted.profile);
    let Some(name) = world.resource::<Profiles>().get(&wanted.profile).map(|profile| profile.name.clone()) else {
        wait(world, wanted);
        return;
    };
    forget_pending(world, &wanted.id);
    let Some(entity) = entity(world, &wanted.id) else { return };
    if let Some(mut agent) = world.get_mut::<Agent>(entity) {
        agent.profile = wanted.profile.clone();
    }
    rename(world, entity, &name);
    world.write_message(ProfileChanged { profile: wanted.profile });
}

/// Applies changed profiles: waiting agents enter, names change, agents of a renamed file continue under its new id,
/// and agents without a file are reported.
pub(super) fn follow_profiles(
    world: &mut World,
    mut changed: Local<MessageCursor<ProfileChanged>>,
    mut renamed: Local<MessageCursor<ProfileRenamed>>,
) {
    let renamed = read(world, &mut renamed);
    let changed: BTreeSet<Id> = read(world, &mut changed).into_iter().map(|changed| changed.profile).collect();
    if changed.is_empty() {
        return;
    }
    let told = world.get_resource::<SceneState>().map(|scene| {
        let entries = scene.doc.agents.iter().filter(|entry| entry.behaviour.is_some());
        entries.map(|entry| entry.id.clone()).collect::<BTreeSet<Id>>()
    });
    // If two files had the same id before, the first one counts.
    let new_ids: BTreeMap<&Id, &Id> = renamed.iter().rev().map(|renamed| (&renamed.from, &renamed.to)).collect();
    let agents: Vec<_> = world.resource::<Roster>().iter().map(|(_, entity)| entity).collect();
    for entity in agents {
        let Some(mut agent) = world.get_mut::<Agent>(entity) else { continue };
        if let Some(new) = new_ids.get(&agent.profile) {
            agent.profile = (*new).clone();
            let id = agent.id.clone();
            let keys = Map::from_iter([("profile".to_owned(), json!(new))]);
            world.write_message(SceneWrite::Agent { id, keys });
        } else if !changed.contains(&agent.profile) {
            continue;
        }
        let Some(profile) = world.get::<Agent>(entity).map(|agent| agent.profile.clone()) else { continue };
        if let Some(name) = world.resource::<Profiles>().get(&profile).map(|profile| profile.name.clone()) {
            rename(world, entity, &name);
        }
        let Some(agent) = world.get::<Agent>(entity).map(|agent| (agent.key, agent.id.clone())) else { continue };
        if told.as_ref().is_none_or(|told| !told.contains(&agent.1)) {
            let behaviour = own_behaviour(world, &profile);
            world.write_message(BehaviourFollows { agent: agent.0, behaviour });
        }
    }
    let pending: Vec<WantedAgent> = world.resource::<RosterState>().pending.values().cloned().collect();
    for wanted in pending {
        let profiles = world.resource::<Profiles>();
        if !profiles.is_defined(&profiles.resolve(&wanted.profile)) {
            continue;
        }
        if world.resource::<Roster>().key(&wanted.id).is_some() {
            change_profile(world, wanted);
        } else {
            add_scene_agent(world, wanted);
        }
    }
}

/// Whether a name is the stem itself or the stem with a number.
fn is_of_stem(name: &str, stem: &str) -> bool {
    let rest = name.strip_prefix(stem).map(|rest| rest.strip_prefix(' ').unwrap_or(rest));
    rest.is_some_and(|rest| rest.chars().all(|character| character.is_ascii_digit()))
}

/// Gives an agent the profile's name, unless it has it already, with or without a number.
fn rename(world: &mut World, entity: Entity, stem: &str) {
    let Some(old) = world.get::<Agent>(entity).map(|agent| agent.name.clone()) else { return };
    if is_of_stem(&old, stem) {
        return;
    }
    let mut waiting = world.resource_mut::<RosterState>();
    waiting.names.remove(&old);
    let name = waiting.name(stem);
    if let Some(mut agent) = world.get_mut::<Agent>(entity) {
        agent.name = name;
    }
}

fn spawn(world: &mut World, wanted: &WantedAgent) {
    let Some(profile) = world.resource::<Profiles>().get(&wanted.profile) else { return };
    let (stem, own) = (profile.name.clone(), profile.behaviour);
    let start = wanted.position.unwrap_or_else(|| place(world));
    let start_behaviour = wanted.behaviour.or(own).unwrap_or_default();
    let name = world.resource_mut::<RosterState>().name_of(&wanted.id, &stem);
    let draft = EventDraft::of(&events::AgentAdded {
        profile: wanted.profile.clone(),
        name: name.clone(),
        position: start.to_array(),
        behaviour: start_behaviour,
    });
    let added = world.resource_mut::<EventLog>().write(draft.agent(&wanted.id));
    let key = world.resource::<Roster>().next_key();
    let random = AgentRandom::new(*world.resource::<RoomSeed>(), key);
    let (id, profile) = (wanted.id.clone(), wanted.profile.clone());
    insert_entity(world, Agent { key, id, profile, name, start, start_behaviour, added }, random);
    world.write_message(AgentAdded { agent: key, cause: added });
}

/// Adds the entity to the world and to the roster in one step. It is added to the roster first, so that observers of
/// the new entity can look it up.
pub(super) fn insert_entity(world: &mut World, agent: Agent, random: AgentRandom) {
    let entity = world.spawn_empty().id();
    world.resource_mut::<Roster>().insert(agent.key, agent.id.clone(), entity);
    world.entity_mut(entity).insert((random, agent));
}

/// A position above the elements for an agent without one: ten side by side, then the next row.
fn place(world: &mut World) -> Vec2 {
    let index = world.resource::<RosterState>().placed;
    world.resource_mut::<RosterState>().placed += 1;
    let settings = world.resource::<AgentSettings>();
    let bottom = world.resource::<TopmostElement>().0.map_or(0.0, |top| top + settings.spawn_margin_units);
    let (column, row) = ((index % 10) as f32, (index / 10) as f32);
    // From the center outwards: 0, 1, -1, 2, -2 …
    let step = (column / 2.0).ceil() * if index % 2 == 1 { 1.0 } else { -1.0 };
    Vec2::new(step * settings.side_by_side_units, bottom + row * settings.side_by_side_units)
}

fn remove(world: &mut World, id: &Id) -> bool {
    let Some(entity) = entity(world, id) else { return false };
    let Some(agent) = world.get::<Agent>(entity).cloned() else { return false };
    let draft = EventDraft::of(&events::AgentRemoved { profile: agent.profile.clone() }).agent(id);
    let cause: Seq = world.resource_mut::<EventLog>().write(draft.cause(agent.added));
    world.resource_mut::<Roster>().remove(agent.key, id);
    world.resource_mut::<RosterState>().keep_name(id.clone(), agent.name.clone());
    world.despawn(entity);
    world.write_message(AgentRemoved { agent: agent.key, id: id.clone(), cause });
    true
}

fn entity(world: &World, id: &str) -> Option<Entity> {
    let roster = world.resource::<Roster>();
    roster.key(id).and_then(|key| roster.entity(key))
}

fn forget_pending(world: &mut World, id: &Id) -> bool {
    let was = world.resource_mut::<RosterState>().pending.remove(id).is_some();
    if was {
        report(world, source(id), Vec::new());
    }
    was
}

fn unknown_profile(world: &World, id: &str, profile: &str, line: Option<usize>) -> Problem {
    let meant = text::nearest(profile, world.resource::<Profiles>().ids().map(|id| &**id));
    let remedy = match meant {
        Some(meant) => format!("did you mean {meant:?}?"),
        None => format!("add agents/{profile}.md, or use another profile"),
    };
    let place = world.get_resource::<RoomStart>().map_or("scene", |start| start.scene.as_str());
    Problem::error(place, format!("agent {id:?}: no agent file defines the profile {profile:?}"), remedy).at_line(line)
}

pub(super) fn source(id: &str) -> String {
    format!("agent {id}")
}

pub(super) fn report(world: &mut World, source: String, problems: Vec<Problem>) {
    world.write_message(ProblemReport { source, problems });
}

/// Reports that something could not be done: in the log, and as a problem until it is done after all.
fn refuse(world: &mut World, id: &str, what: &str, remedy: &str) {
    let warning =
        Warning { subject: Some(id.to_string()), ..Warning::new(what.to_owned()).with_remedy(remedy.to_owned()) };
    world.resource_mut::<EventLog>().write(EventDraft::of(&warning));
    world.resource_mut::<RosterState>().refused.insert(id.into());
    report(world, source(id), vec![Problem::error(source(id), what, remedy)]);
}

/// Stores the height of the topmost element.
pub(super) fn store_topmost(mut reach: MessageReader<TopElementHeight>, mut topmost: ResMut<TopmostElement>) {
    if let Some(last) = reach.read().last() {
        topmost.0 = last.top;
    }
}

/// Reports the problems of pending entries again, after a world was loaded.
pub(super) fn report_pending(world: &mut World) {
    let pending: Vec<WantedAgent> = world.resource::<RosterState>().pending.values().cloned().collect();
    for wanted in pending {
        let problem = unknown_profile(world, &wanted.id, &wanted.profile, wanted.line);
        report(world, source(&wanted.id), vec![problem]);
    }
}
