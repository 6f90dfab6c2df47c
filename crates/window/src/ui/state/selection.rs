//! The selection: things in the room or a relationship, of which only one can be selected at a time, and a file.

use std::collections::BTreeSet;

use crate::view::model::RoomModel;
use crate::view::pick::Thing;
use crate::workspace::Relationship;

/// What is selected.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Selection {
    things: BTreeSet<Thing>,
    rope: Option<Relationship>,
    file: Option<String>,
}

/// Everything in the room, agents first.
fn things(room: &RoomModel) -> impl Iterator<Item = Thing> {
    let agents = room.agents.iter().map(|agent| Thing::Agent(agent.id.clone()));
    agents.chain(room.elements.iter().map(|element| Thing::Element(element.id.clone())))
}

impl Selection {
    /// The things that are selected.
    pub fn things(&self) -> &BTreeSet<Thing> {
        &self.things
    }

    /// The relationship that is selected.
    pub fn rope(&self) -> Option<&Relationship> {
        self.rope.as_ref()
    }

    /// The file that the inspector is about, where nothing in the room is selected.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Selects these instead of what was selected.
    pub fn select(&mut self, things: impl IntoIterator<Item = Thing>) {
        self.things = things.into_iter().collect();
        self.rope = None;
    }

    /// Selects everything in the room.
    pub fn select_all(&mut self, room: &RoomModel) {
        self.select(things(room));
    }

    /// Selects a relationship; no thing is selected then.
    pub fn select_rope(&mut self, rope: Relationship) {
        self.things.clear();
        self.rope = Some(rope);
    }

    /// Selects the next thing of the room, or the one before; nothing after the last and before the first.
    pub fn select_next(&mut self, room: &RoomModel, forward: bool) -> Option<Thing> {
        let things: Vec<Thing> = things(room).collect();
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

    /// Makes a file the one that the inspector is about: nothing in the room is selected then.
    pub fn choose_file(&mut self, path: Option<String>) {
        if path.is_some() {
            self.select([]);
        }
        self.file = path;
    }

    /// A file has another path now.
    pub fn rename_file(&mut self, from: &str, to: &str) {
        if self.file() == Some(from) {
            self.file = Some(to.to_owned());
        }
    }

    /// These are gone from the room.
    pub fn remove(&mut self, gone: &[Thing]) {
        self.things.retain(|thing| !gone.contains(thing));
    }

    /// Another room is open: what was selected is not in it.
    pub fn forget_room(&mut self) {
        self.select([]);
    }
}
