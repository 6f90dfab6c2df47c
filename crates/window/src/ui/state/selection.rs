//! What is selected in the room: choosing it, walking from thing to thing, opening it, and bringing it into view.

use bevy::math::Vec2;

use super::{Naming, UiState};
use crate::view::model::RoomModel;
use crate::view::pick::Thing;
use crate::workspace::Relationship;

/// From this zoom on, faces can be told apart and words on boards can be read.
const COSY_ZOOM: f32 = 0.7;
/// An agent that is opened is seen at least this near.
const NEAR_ZOOM: f32 = 1.6;

/// Where a thing stands.
pub fn place_of(room: &RoomModel, thing: &Thing) -> Option<Vec2> {
    match thing {
        Thing::Agent(id) => room.agent(id).map(|agent| agent.position),
        Thing::Element(id) => room.element(id).map(|element| element.position),
    }
}

/// Everything in the room, agents first.
fn things(room: &RoomModel) -> impl Iterator<Item = Thing> {
    let agents = room.agents.iter().map(|agent| Thing::Agent(agent.id.clone()));
    agents.chain(room.elements.iter().map(|element| Thing::Element(element.id.clone())))
}

impl UiState {
    /// Selects these instead of what was selected.
    pub fn select(&mut self, things: impl IntoIterator<Item = Thing>) {
        self.selected = things.into_iter().collect();
        self.rope = None;
    }

    /// Selects everything in the room.
    pub fn select_all(&mut self, room: &RoomModel) {
        self.selected = things(room).collect();
    }

    /// Selects a relationship; no thing is selected then.
    pub fn select_rope(&mut self, rope: Relationship) {
        self.selected.clear();
        self.rope = Some(rope);
    }

    /// Selects the next thing of the room, or the one before. Whether there was one.
    pub fn select_next(&mut self, room: &RoomModel, forward: bool) -> bool {
        let things: Vec<Thing> = things(room).collect();
        let last = things.len().wrapping_sub(1);
        let now = self.selected.first().and_then(|selected| things.iter().position(|thing| thing == selected));
        let next = match (now, forward) {
            (None, true) => Some(0),
            (None, false) => Some(last),
            (Some(at), true) => Some(at + 1),
            (Some(at), false) => at.checked_sub(1),
        };
        let next = next.and_then(|next| things.get(next)).cloned();
        self.select(next.clone());
        let Some(thing) = next else { return false };
        if let Some(place) = place_of(room, &thing)
            && !self.camera.viewport.shrink(40.0).contains(self.camera.to_screen(place))
        {
            self.camera.middle = place;
        }
        true
    }

    /// Makes a file the one that the inspector is about: nothing in the room is selected then.
    pub fn choose_file(&mut self, path: Option<String>) {
        if path.is_some() {
            self.select([]);
        }
        self.chosen_file = path;
    }

    /// Shows the selection, or everything where nothing is selected.
    pub fn frame(&mut self, room: &RoomModel) {
        let chosen = |thing: Thing| self.selected.is_empty() || self.selected.contains(&thing);
        let agents = room.agents.iter().filter(|agent| chosen(Thing::Agent(agent.id.clone())));
        let elements = room.elements.iter().filter(|element| chosen(Thing::Element(element.id.clone())));
        let places: Vec<_> =
            agents.map(|agent| agent.position).chain(elements.map(|element| element.position)).collect();
        let mut furnished = self.camera;
        furnished.frame(places.iter().copied().chain(room.decor.iter().map(|decor| decor.position)));
        let alone = places.is_empty();
        self.camera.frame(places);
        // The whole room with its furniture, unless everyone in it would look too small for that.
        if self.selected.is_empty() && (alone || furnished.zoom >= COSY_ZOOM.min(self.camera.zoom)) {
            self.camera = furnished;
        }
    }

    /// Opens what is selected, if that is one thing.
    pub fn open_selected(&mut self, room: &RoomModel) {
        if let Some(rope) = self.rope.clone() {
            self.rename_rope(rope);
        } else if self.selected.len() == 1
            && let Some(thing) = self.selected.first().cloned()
        {
            self.open_thing(&thing, room);
        }
    }

    /// Opens an element, or comes near an agent.
    pub fn open_thing(&mut self, thing: &Thing, room: &RoomModel) {
        match thing {
            Thing::Element(id) => self.open_element = Some(id.clone()),
            Thing::Agent(id) => {
                if let Some(agent) = room.agent(id) {
                    self.camera.middle = agent.position;
                    self.camera.zoom = self.camera.zoom.max(NEAR_ZOOM);
                }
            }
        }
    }

    /// Opens the field in which a relationship is called something else.
    pub fn rename_rope(&mut self, relationship: Relationship) {
        let label = relationship.label.clone();
        self.naming = Some(Naming { relationship, is_new: false, label, asked: false });
    }
}
