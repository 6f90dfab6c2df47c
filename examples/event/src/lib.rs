//! An event that is defined only in this crate: it is logged, stored, read back, narrated and shown in the log pane like
//! any other; and a program without the event still keeps it as it was written. [`add`] is all that a program calls,
//! when a room is created or while it runs.

use agent_workshop::log::events::enum_name;
use agent_workshop::log::narration::{NarrationContext, counted};
use agent_workshop::log::{AddedEvents, EventData, EventKind, Word};
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

/// Registers the event in a room.
pub fn add(world: &mut World) {
    world.resource_mut::<AddedEvents>().add::<TeaBreak>();
}

/// A field type of the added event: whether the tea came with milk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Milk {
    /// With some.
    Some,
}

/// The event: an agent had tea.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TeaBreak {
    /// How many biscuits the agent had.
    pub biscuits: u32,
    /// The milk in the tea.
    pub milk: Milk,
}

impl EventData for TeaBreak {
    const KIND: EventKind = EventKind::Other(Word::Borrowed("tea_break"));

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let biscuits = counted(self.biscuits.into(), "biscuit", "biscuits");
        format!("{} had tea with {} milk and {biscuits}", context.who(), enum_name(self.milk))
    }

    fn remedy(&self) -> &str {
        if self.biscuits > 2 { "buy more" } else { "" }
    }
}
