//! From where the room is seen, and what the pointer is over in it.

use std::collections::BTreeSet;

use bevy::math::Vec2;

use crate::base::AgentKey;
use crate::view::camera::Camera;
use crate::view::doing::Importance;
use crate::view::model::{AgentView, RoomModel};
use crate::view::pick::Thing;

/// From this zoom on, faces can be told apart and words on boards can be read.
const COSY_ZOOM: f32 = 0.55;
/// An agent that is opened is seen at least this near.
const NEAR_ZOOM: f32 = 1.6;
/// What is nearer to the edge of the view than this does not count as seen.
const EDGE_POINTS: f32 = 40.0;

/// Where a thing stands.
pub fn place_of(room: &RoomModel, thing: &Thing) -> Option<Vec2> {
    match thing {
        Thing::Agent(id) => room.agent(id).map(|agent| agent.position),
        Thing::Element(id) => room.element(id).map(|element| element.position),
    }
}

/// Everybody who works, talks or needs a person.
pub fn busy(room: &RoomModel) -> impl Iterator<Item = &AgentView> {
    room.agents.iter().filter(|agent| Importance::of(agent).stands_out())
}

/// Everybody who needs a person.
pub fn in_need(room: &RoomModel) -> impl Iterator<Item = &AgentView> {
    room.agents.iter().filter(|agent| Importance::of(agent) == Importance::NeedsYou)
}

/// Who needs a person next after this agent; the first again after the last.
pub fn next_in_need(room: &RoomModel, after: Option<AgentKey>) -> Option<&AgentView> {
    let later = in_need(room).find(|agent| after.is_some_and(|after| agent.key > after));
    later.or_else(|| in_need(room).next())
}

/// From where the room is seen. The canvas gives it back changed after each frame.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RoomView {
    /// The part of the room that is seen.
    pub camera: Camera,
    /// What the pointer is over.
    pub hovered: Option<Thing>,
    /// Whether the view was set for this room; it is framed once otherwise.
    pub is_framed: bool,
    /// Whether the debug overlay is on.
    pub debug_overlay: bool,
}

impl RoomView {
    /// Shows these things, or everything where there are none.
    pub fn frame(&mut self, room: &RoomModel, things: &BTreeSet<Thing>) {
        let chosen = |thing: Thing| things.is_empty() || things.contains(&thing);
        let agents = room.agents.iter().filter(|agent| chosen(Thing::Agent(agent.id.clone())));
        let elements = room.elements.iter().filter(|element| chosen(Thing::Element(element.id.clone())));
        let places: Vec<_> =
            agents.map(|agent| agent.position).chain(elements.map(|element| element.position)).collect();
        let mut furnished = self.camera;
        furnished.frame(places.iter().copied().chain(room.decor.iter().map(|decor| decor.position)));
        let alone = places.is_empty();
        self.camera.frame(places);
        // The whole room with its furniture, unless everyone in it would look too small for that.
        if things.is_empty() && (alone || furnished.zoom >= COSY_ZOOM.min(self.camera.zoom)) {
            self.camera = furnished;
        }
    }

    /// Shows everybody who works, talks or needs a person; nobody changes nothing.
    pub fn frame_busy(&mut self, room: &RoomModel) {
        self.camera.frame(busy(room).map(|agent| agent.position));
    }

    /// Moves the view to a thing that is not seen.
    pub fn reveal(&mut self, room: &RoomModel, thing: &Thing) {
        if let Some(place) = place_of(room, thing)
            && !self.camera.viewport.shrink(EDGE_POINTS).contains(self.camera.to_screen(place))
        {
            self.camera.middle = place;
        }
    }

    /// Brings a thing into the middle, near enough for its face to be seen.
    pub fn come_near(&mut self, room: &RoomModel, thing: &Thing) {
        if let Some(place) = place_of(room, thing) {
            self.camera.middle = place;
            self.camera.zoom = self.camera.zoom.max(NEAR_ZOOM);
        }
    }

    /// Another room is open.
    pub fn forget_room(&mut self) {
        (self.hovered, self.is_framed) = (None, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::State;
    use crate::ui::testing::agent;

    #[test]
    fn who_needs_a_person_comes_one_after_another_and_from_the_first_again() {
        let mut room = RoomModel::default();
        for (key, state) in [State::Waiting, State::Idle, State::Error, State::Working].into_iter().enumerate() {
            room.agents.push(AgentView { state, ..agent(key as u32, &format!("ada-{key}"), "Ada") });
        }
        let next = |after: Option<u32>| next_in_need(&room, after.map(AgentKey)).map(|agent| agent.key.0);
        assert_eq!([None, Some(0), Some(1), Some(2), Some(3)].map(next), [0, 2, 2, 0, 0].map(Some));
        assert_eq!(next_in_need(&RoomModel::default(), None).map(|agent| agent.key), None);
    }

    #[test]
    fn showing_who_is_busy_shows_all_of_them() {
        let mut room = RoomModel::default();
        for (key, state) in [State::Conversing, State::Idle, State::Working].into_iter().enumerate() {
            let position = Vec2::new(key as f32 * 3_000.0, 0.0);
            room.agents.push(AgentView { state, position, ..agent(key as u32, "ada", "Ada") });
        }
        let mut view = RoomView::default();
        view.frame_busy(&room);
        assert!(busy(&room).all(|agent| view.camera.viewport.contains(view.camera.to_screen(agent.position))));
        let before = view.clone();
        view.frame_busy(&RoomModel::default());
        assert_eq!(view, before, "nobody is busy");
    }
}
