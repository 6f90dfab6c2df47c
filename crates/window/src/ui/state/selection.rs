//! The selection: any number of things in the room, or one relationship; independently of these, a file.

use std::collections::BTreeSet;

use crate::view::model::RoomModel;
use crate::view::pick::RoomObject;
use crate::workspace::Relationship;

/// The selection.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Selection {
    things: BTreeSet<RoomObject>,
    rope: Option<Relationship>,
    file: Option<String>,
}

/// Returns everything in the room, agents first.
fn things(room: &RoomModel) -> impl Iterator<Item = RoomObject> {
    let agents = room.agents.iter().map(|agent| RoomObject::Agent(agent.id.clone()));
    agents.chain(room.elements.iter().map(|element| RoomObject::Element(element.id.clone())))
}

impl Selection {
    /// Returns the selected things.
    pub fn things(&self) -> &BTreeSet<RoomObject> {
        &self.things
    }

    /// Returns the selected relationship.
    pub fn rope(&self) -> Option<&Relationship> {
        self.rope.as_ref()
    }

    /// Returns the file that the inspector shows if nothing in the room is selected.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Selects these things instead of the selected ones.
    pub fn select(&mut self, things: impl IntoIterator<Item = RoomObject>) {
        self.things = things.into_iter().collect();
        self.rope = None;
    }

    /// Selects everything in the room.
    pub fn select_all(&mut self, room: &RoomModel) {
        self.select(things(room));
    }

    /// Selects a relationship and deselects all things.
    pub fn select_rope(&mut self, rope: Relationship) {
        self.things.clear();
        self.rope = Some(rope);
    }

    /// Selects the next or the previous thing of the room; none after the last and before the first.
    pub fn select_next(&mut self, room: &RoomModel, forward: bool) -> Option<RoomObject> {
        let things: Vec<RoomObject> = things(room).collect();
        let last = things.len().wrapping_sub(1);
        let now = self.things.first().and_then(|selected| things.iter().position(|thing| thing == selected));
        let next = match (now, forward) {
            (None, true) => Some(0),
            (None, false) => Some(last),
            (Some(at), true) => Some(at + 1),
            (Some(at), false) => at.checked_sub(1),
        };
        let next = next.and_then(|next| things.get(next)).cloned();
        self.select(next.clone());
        next
    }

    /// Makes this the file that the inspector shows, and deselects everything in the room.
    pub fn choose_file(&mut self, path: Option<String>) {
        if path.is_some() {
            self.select([]);
        }
        self.file = path;
    }

    /// Changes the path of the selected file after it was renamed.
    pub fn rename_file(&mut self, from: &str, to: &str) {
        if self.file() == Some(from) {
            self.file = Some(to.to_owned());
        }
    }

    /// Deselects things that were removed from the room.
    pub fn remove(&mut self, removed: &[RoomObject]) {
        self.things.retain(|thing| !removed.contains(thing));
    }

    /// Deselects everything, because another room is open.
    pub fn forget_room(&mut self) {
        self.select([]);
    }
}
