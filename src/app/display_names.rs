//! Display names of a room's agents and elements, for code that describes events.

use bevy::ecs::prelude::*;

use crate::agent::{Agent, Roster};
use crate::base::Id;
use crate::element::{Element, Elements};
use crate::log::{AddedEvents, Naming, Narrator};

/// The display names in a world, looked up on demand.
pub struct RoomNames<'a>(pub &'a World);

impl RoomNames<'_> {
    /// A narrator with these names and the wording of events that extensions added.
    pub fn narrator(&self) -> Narrator<'_> {
        let narrator = Narrator::new(self);
        match self.0.get_resource::<AddedEvents>() {
            Some(added) => narrator.with(added),
            None => narrator,
        }
    }
}

impl Naming for RoomNames<'_> {
    fn agent(&self, id: &str) -> Option<Id> {
        let roster = self.0.get_resource::<Roster>()?;
        let agent = self.0.get::<Agent>(roster.entity(roster.key(id)?)?)?;
        Some((&*agent.name).into())
    }

    fn element(&self, id: &str) -> Option<Id> {
        let elements = self.0.get_resource::<Elements>()?;
        let element = self.0.get::<Element>(elements.entity(elements.key(id)?)?)?;
        Some((&*element.label).into())
    }
}

/// The display name of an agent while it is in the room, otherwise its id.
pub fn name_of(world: &World, id: &str) -> String {
    RoomNames(world).agent(id).map_or_else(|| id.to_owned(), |name| name.to_string())
}
