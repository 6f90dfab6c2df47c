//! What comes into the room and goes out of it, as commands: agents, elements and relationships, each with what takes
//! it back.

use bevy::math::Vec2;
use serde_json::{Map, Value, json};

use super::{Command, RoomAct};
use crate::agent::AgentCommand;
use crate::base::{Id, numbered};
use crate::element::ElementCommand;
use crate::simulation::RelationshipCommand;
use crate::view::model::RoomModel;
use crate::workspace::Relationship;

/// Where an agent that is dropped here comes to stand: above all elements, unless it is put there exactly.
pub fn spawn_place(room: &RoomModel, place: Vec2, exactly: bool) -> Vec2 {
    let topmost = room.elements.iter().map(|element| element.position.y).reduce(f32::max);
    let lifted = match topmost.zip(room.spawn_above) {
        Some((topmost, above)) if !exactly => Vec2::new(place.x, place.y.max(topmost + above)),
        _ => place,
    };
    tenths(lifted)
}

/// Puts an agent of a profile here, under an id of its own so that it can be taken away again.
pub fn add_agent(room: &RoomModel, profile: &Id, position: Vec2) -> Command {
    let ids = numbered::numbered(profile, "", 1);
    let id: Id = numbered::first_free(ids, |id| room.agent(id).is_some()).into();
    let add =
        AgentCommand::Add { id: Some(id.clone()), profile: profile.clone(), position, behaviour: None, exactly: true };
    Command::Act(RoomAct::Agent(add), Some(RoomAct::Agent(AgentCommand::Remove { agent: id })))
}

/// Puts an element of this kind somewhere, under an id of its own so that it can be taken away again.
pub fn element_at(room: &RoomModel, kind: &str, position: Vec2) -> Command {
    element_with(room, kind, Map::new(), position)
}

/// Puts a rulebook somewhere that shows a file.
pub fn rulebook_of(room: &RoomModel, file: &str, position: Vec2) -> Command {
    element_with(room, "rulebook", Map::from_iter([("file".to_owned(), json!(file))]), position)
}

fn element_with(room: &RoomModel, kind: &str, more: Map<String, Value>, position: Vec2) -> Command {
    let id = numbered::first_free(numbered::numbered(kind, "", 1), |id| room.element(id).is_some());
    let own = [
        ("id".to_owned(), json!(id)),
        ("kind".to_owned(), json!(kind)),
        ("position".to_owned(), json!([position.x, position.y])),
    ];
    let keys = own.into_iter().chain(more).collect();
    let inverse = RoomAct::Element(ElementCommand::Remove { element: id.as_str().into() });
    Command::Act(RoomAct::Element(ElementCommand::Add { keys }), Some(inverse))
}

/// Ends a relationship.
pub fn end_relationship(relationship: Relationship) -> Command {
    Command::Act(RoomAct::Relate(RelationshipCommand::Remove { relationship }), None)
}

/// To a tenth of a unit, as a person would write it.
pub fn tenths(place: Vec2) -> Vec2 {
    (place * 10.0).round() / 10.0
}
