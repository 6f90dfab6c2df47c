//! What stands under a point of the room, and what lies in a box.

use bevy::math::Vec2;

use super::model::{AgentView, ElementView, RoomModel};
use crate::base::Id;

/// Half the width and height of a figure, for the hand; its middle is a little above where it stands.
const FIGURE: Vec2 = Vec2::new(24.0, 34.0);
const FIGURE_LIFT: f32 = 18.0;
/// Half the size of an element.
pub const ELEMENT_HALF: Vec2 = Vec2::new(50.0, 40.0);
/// Small figures are still found within so many points of the pointer.
const GRASP_POINTS: f32 = 10.0;

/// Something in the room that can be pointed at, by id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Thing {
    /// An agent.
    Agent(Id),
    /// An element.
    Element(Id),
}

impl Thing {
    /// Its id.
    pub fn id(&self) -> &Id {
        match self {
            Self::Agent(id) | Self::Element(id) => id,
        }
    }

    /// The agent's id, if it is one.
    pub fn agent(&self) -> Option<&Id> {
        if let Self::Agent(id) = self { Some(id) } else { None }
    }

    /// The element's id, if it is one.
    pub fn element(&self) -> Option<&Id> {
        if let Self::Element(id) = self { Some(id) } else { None }
    }
}

/// What is under a place; agents stand before elements, and of two agents the one further down is in front.
pub fn thing_at(room: &RoomModel, place: Vec2, zoom: f32) -> Option<Thing> {
    let grasp = GRASP_POINTS / zoom.max(0.01);
    let half = FIGURE.max(Vec2::splat(grasp));
    let agent = room
        .agents
        .iter()
        .filter(|agent| contains(agent.position + Vec2::new(0.0, FIGURE_LIFT), half, place))
        .min_by(|one, other| one.position.y.total_cmp(&other.position.y));
    if let Some(agent) = agent {
        return Some(Thing::Agent(agent.id.clone()));
    }
    let element = room.elements.iter().rev().find(|element| contains(element.position, ELEMENT_HALF, place));
    element.map(|element| Thing::Element(element.id.clone()))
}

/// Everything whose middle lies in a box given by two corners.
pub fn things_in(room: &RoomModel, one: Vec2, other: Vec2) -> Vec<Thing> {
    let (low, high) = (one.min(other), one.max(other));
    let inside = |place: Vec2| place.cmpge(low).all() && place.cmple(high).all();
    let agents = room.agents.iter().filter(|agent| inside(agent.position));
    let elements = room.elements.iter().filter(|element| inside(element.position));
    agents
        .map(|agent: &AgentView| Thing::Agent(agent.id.clone()))
        .chain(elements.map(|element: &ElementView| Thing::Element(element.id.clone())))
        .collect()
}

fn contains(middle: Vec2, half: Vec2, place: Vec2) -> bool {
    (place - middle).abs().cmple(half).all()
}
