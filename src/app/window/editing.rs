//! From what a person means to what enters the room: taking out and copying, each with its way back.

use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde_json::{Map, Value, json};

use crate::agent::AgentCommand;
use crate::base::Id;
use crate::element::{Content, ElementCommand, Held};
use crate::simulation::{RelationshipCommand, relationships};
use crate::ui::command::RoomAct;
use crate::view::model::RoomModel;
use crate::view::pick::Thing;
use crate::workspace::{AgentEntry, ElementEntry, KnownFiles, RoomStart, SceneState};

/// A copy stands so far beside what it is a copy of.
const BESIDE: Vec2 = Vec2::new(90.0, -50.0);

type Acts = Vec<(RoomAct, Option<RoomAct>)>;

/// Takes things out of the room; taken back, they are what the scene said of them and hold what they held, and
/// agents are related as they were.
pub fn removals(world: &World, model: &RoomModel, things: &[Thing]) -> Acts {
    let leaves = |id: &Id| things.iter().any(|thing| thing.agent() == Some(id));
    let ties = relationships(world).iter().filter(|tie| leaves(&tie.from) || leaves(&tie.to)).cloned();
    let untie = |relationship| (RoomAct::Relate(RelationshipCommand::Remove { relationship }), None);
    let removal = |thing: &Thing| match thing {
        Thing::Agent(id) => {
            let agent = model.agent(id)?;
            let entry = agent_entry(world, id);
            let home = agent.detail.as_ref().map(|detail| detail.home);
            let back = AgentCommand::Add {
                id: Some(id.clone()),
                profile: agent.profile.clone(),
                position: home.or(entry.and_then(|entry| entry.position)).unwrap_or(agent.position),
                behaviour: entry.and_then(|entry| entry.behaviour),
                exactly: true,
            };
            Some((RoomAct::Agent(AgentCommand::Remove { agent: id.clone() }), Some(RoomAct::Agent(back))))
        }
        Thing::Element(id) => {
            let back = ElementCommand::Add { keys: entry_keys(world, model, id)? };
            let removal = ElementCommand::Remove { element: id.clone() };
            Some((RoomAct::Element(removal), Some(RoomAct::Element(back))))
        }
    };
    ties.map(untie).chain(things.iter().filter_map(removal)).collect()
}

/// Puts a second one of each beside it, or all of them around a place.
pub fn copies(world: &World, model: &RoomModel, things: &[Thing], at: Option<Vec2>) -> Acts {
    let first = things.iter().find_map(|thing| place_of(model, thing));
    let Some(first) = first else { return Vec::new() };
    let shift = at.map_or(BESIDE, |at| at - first);
    let copy = |thing: &Thing| {
        let position = tenths(place_of(model, thing)? + shift);
        match thing {
            Thing::Agent(id) => {
                let agent = model.agent(id)?;
                let behaviour = agent_entry(world, id).and_then(|entry| entry.behaviour);
                let profile = agent.profile.clone();
                Some((
                    RoomAct::Agent(AgentCommand::Add { id: None, profile, position, behaviour, exactly: true }),
                    None,
                ))
            }
            Thing::Element(id) => {
                let kind = model.element(id)?.kind.clone();
                let mut keys = entry_keys(world, model, id)?;
                keys.insert("id".to_owned(), json!(format!("{kind}-1")));
                keys.insert("position".to_owned(), json!([position.x, position.y]));
                // Two elements in one file would overwrite each other: the copy holds its content itself.
                if keys.shift_remove("file").is_some() {
                    keys.extend(held(world, model, id)?.to_scene());
                }
                Some((RoomAct::Element(ElementCommand::Add { keys }), None))
            }
        }
    };
    things.iter().filter_map(copy).collect()
}

/// Moves elements a little.
pub fn nudges(model: &RoomModel, elements: &[Id], by: Vec2) -> Acts {
    let nudge = |id: &Id| {
        let from = model.element(id)?.position;
        let to = |position: Vec2| RoomAct::Element(ElementCommand::Move { element: id.clone(), position });
        Some((to(tenths(from + by)), Some(to(from))))
    };
    elements.iter().filter_map(nudge).collect()
}

/// To a tenth of a unit, as a person would write it.
pub fn tenths(place: Vec2) -> Vec2 {
    (place * 10.0).round() / 10.0
}

fn place_of(model: &RoomModel, thing: &Thing) -> Option<Vec2> {
    match thing {
        Thing::Agent(id) => model.agent(id).map(|agent| agent.position),
        Thing::Element(id) => model.element(id).map(|element| element.position),
    }
}

fn agent_entry<'a>(world: &'a World, id: &str) -> Option<&'a AgentEntry> {
    world.resource::<SceneState>().doc.agents.iter().find(|entry| &*entry.id == id)
}

/// The entry of an element as the scene has it, with what became of the element since it was written.
fn entry_keys(world: &World, model: &RoomModel, id: &str) -> Option<Map<String, Value>> {
    let element = model.element(id)?;
    let scene = world.resource::<SceneState>();
    let entry: Option<&ElementEntry> = scene.doc.elements.iter().find(|entry| &*entry.id == id);
    let mut keys = entry.map(|entry| entry.keys.clone()).unwrap_or_default();
    keys.insert("id".to_owned(), json!(id));
    keys.insert("kind".to_owned(), json!(element.kind));
    if *element.label != *id {
        keys.insert("label".to_owned(), json!(element.label));
    }
    if entry.is_none_or(|entry| entry.position != element.position) {
        keys.insert("position".to_owned(), json!([element.position.x, element.position.y]));
    }
    if element.file.is_none() {
        let held = held(world, model, id)?;
        if !is_written(held, &element.kind, &keys) {
            keys.extend(held.to_scene());
        }
    }
    Some(keys)
}

/// What an element holds.
fn held<'a>(world: &'a World, model: &RoomModel, id: &str) -> Option<&'a dyn Content> {
    let entity = world.resource::<crate::element::Elements>().entity(model.element(id)?.key)?;
    Some(&*world.get::<Held>(entity)?.0)
}

/// Whether an entry says already what an element holds.
fn is_written(held: &dyn Content, kind: &str, keys: &Map<String, Value>) -> bool {
    let kind = crate::element::kind::kind(kind);
    kind.is_some_and(|kind| (kind.from_scene)(keys, "").0.to_scene() == held.to_scene())
}

/// The text of the open scene, as its file has it.
pub fn scene_text(world: &World) -> Option<String> {
    let path = &world.get_resource::<RoomStart>()?.scene;
    world.get_resource::<KnownFiles>()?.all().get(path).cloned()
}
