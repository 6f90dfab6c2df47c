//! Hit testing in the room: finds the thing at a point and the things inside a box.

use bevy::math::Vec2;

use super::model::{AgentView, ElementView, RoomModel};
use crate::base::Id;

/// Half the width and height of a figure's hit box in world units. Its centre is [`FIGURE_LIFT`] above the feet.
const FIGURE: Vec2 = Vec2::new(24.0, 34.0);
const FIGURE_LIFT: f32 = 18.0;
/// Height of the centre of a face above the agent's position, in world units.
pub const FACE_LIFT: f32 = 38.0;
/// Half the width and height of a face, in world units.
pub const FACE_HALF: f32 = 10.0;
/// Half the width and height of an element, in world units.
pub const ELEMENT_HALF: Vec2 = Vec2::new(50.0, 40.0);
/// Minimum half size of a figure's hit box, in screen points, so that small figures can still be clicked.
const GRASP_POINTS: f32 = 10.0;

/// Something in the room that can be clicked, by id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RoomObject {
    /// An agent.
    Agent(Id),
    /// An element.
    Element(Id),
}

impl RoomObject {
    /// The id of the agent or element.
    pub fn id(&self) -> &Id {
        match self {
            Self::Agent(id) | Self::Element(id) => id,
        }
    }

    /// The agent's id, or `None` for an element.
    pub fn agent(&self) -> Option<&Id> {
        if let Self::Agent(id) = self { Some(id) } else { None }
    }

    /// The element's id, or `None` for an agent.
    pub fn element(&self) -> Option<&Id> {
        if let Self::Element(id) = self { Some(id) } else { None }
    }
}

/// Returns what a click at `place` selects. Faces come first, then figures, then elements; among overlapping agents the
/// one lower on screen wins.
pub fn hit_test(room: &RoomModel, place: Vec2, zoom: f32) -> Option<RoomObject> {
    let grasp = GRASP_POINTS / zoom.max(0.01);
    let half = FIGURE.max(Vec2::splat(grasp));
    let foremost = |lift: f32, half: Vec2| {
        let agents = room.agents.iter().filter(|agent| contains(agent.position + Vec2::new(0.0, lift), half, place));
        agents.min_by(|one, other| one.position.y.total_cmp(&other.position.y))
    };
    if let Some(agent) = foremost(FACE_LIFT, Vec2::splat(FACE_HALF)).or_else(|| foremost(FIGURE_LIFT, half)) {
        return Some(RoomObject::Agent(agent.id.clone()));
    }
    element_at(room, place)
}

fn element_at(room: &RoomModel, place: Vec2) -> Option<RoomObject> {
    let element = room.elements.iter().rev().find(|element| contains(element.position, ELEMENT_HALF, place));
    element.map(|element| RoomObject::Element(element.id.clone()))
}

/// Returns what a double click at `place` opens. Unlike [`hit_test`], an element wins over an agent in front of it
/// unless the click is on a face.
pub fn opened_at(room: &RoomModel, place: Vec2, zoom: f32) -> Option<RoomObject> {
    let is_face =
        |agent: &AgentView| contains(agent.position + Vec2::new(0.0, FACE_LIFT), Vec2::splat(FACE_HALF), place);
    let behind = if room.agents.iter().any(is_face) { None } else { element_at(room, place) };
    behind.or_else(|| hit_test(room, place, zoom))
}

/// Everything whose position is inside the box with these two opposite corners.
pub fn hit_test_rect(room: &RoomModel, one: Vec2, other: Vec2) -> Vec<RoomObject> {
    let (low, high) = (one.min(other), one.max(other));
    let inside = |place: Vec2| place.cmpge(low).all() && place.cmple(high).all();
    let agents = room.agents.iter().filter(|agent| inside(agent.position));
    let elements = room.elements.iter().filter(|element| inside(element.position));
    agents
        .map(|agent: &AgentView| RoomObject::Agent(agent.id.clone()))
        .chain(elements.map(|element: &ElementView| RoomObject::Element(element.id.clone())))
        .collect()
}

fn contains(middle: Vec2, half: Vec2, place: Vec2) -> bool {
    (place - middle).abs().cmple(half).all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::State;
    use crate::view::model::ContentView;
    use crate::view::paint::tests::{agent, element};

    #[test]
    fn a_double_click_opens_a_board_behind_an_agent_unless_it_hits_the_face() {
        let board = ContentView::Text("All is well".into());
        let elements = vec![element(0, "news", "News", Vec2::ZERO, board)];
        let room = RoomModel { agents: vec![agent(1, "Ada", State::Idle)], elements, ..RoomModel::default() };
        let (ada, news) = (Some(RoomObject::Agent("ada-1".into())), Some(RoomObject::Element("news".into())));
        for (place, opened, clicked) in [
            (Vec2::new(0.0, FACE_LIFT), &ada, &ada),
            (Vec2::new(0.0, 5.0), &news, &ada),
            (Vec2::new(-45.0, 5.0), &news, &news),
            (Vec2::new(0.0, 51.0), &ada, &ada),
            (Vec2::new(0.0, -60.0), &None, &None),
        ] {
            assert_eq!(opened_at(&room, place, 1.0), *opened, "{place}");
            assert_eq!(hit_test(&room, place, 1.0), *clicked, "a single click means whoever is in front: {place}");
        }
    }
}
