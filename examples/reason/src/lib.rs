//! A reason to wake an agent that is defined only in this crate: somebody rings at the door, and an agent reacts as to
//! any other reason. [`add`] is all that a program calls, when a room is created or while it runs.

use agent_workshop::agent::Roster;
use agent_workshop::base::{Author, Id};
use agent_workshop::log::narration::NarrationContext;
use agent_workshop::log::{EventData, EventDraft, EventKind, EventLog, Word};
use agent_workshop::schedule::inputs::InputExt;
use agent_workshop::schedule::{InPhase, Input, Layer, Tick, TickMessageExt, WorkshopSystems};
use agent_workshop::simulation::{Interest, Place, Urgency, WakeAgent};
use bevy::app::App;
use bevy::ecs::message::{Message, MessageReader, MessageWriter};
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

/// The agent that is woken.
pub const KEEPER: &str = "ada-1";

/// Adds the input and what it causes to a room.
pub fn add(app: &mut App) {
    app.add_input::<DoorbellRang>().add_tick_message::<WakeAgent>();
    app.add_systems(Tick, wake_for_doorbell.in_set(InPhase(WorkshopSystems::Decide, Layer::Kernel)));
}

/// The input: somebody rang the bell.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DoorbellRang {
    /// Who rang.
    pub visitor: String,
    /// What they say.
    pub says: String,
    /// The agent that caused it, if any.
    pub by: Option<Id>,
}

impl Input for DoorbellRang {
    const KIND: &'static str = "doorbell";
}

/// The event of a ring.
#[derive(Debug, Serialize, Deserialize)]
pub struct Doorbell {
    /// Who rang.
    pub visitor: String,
}

impl EventData for Doorbell {
    const KIND: EventKind = EventKind::Other(Word::Borrowed("doorbell"));

    fn narrate(&self, _: &NarrationContext<'_>) -> String {
        format!("{} rang the bell", self.visitor)
    }
}

/// Logs each ring and wakes the agent that keeps the door.
fn wake_for_doorbell(
    mut rings: MessageReader<DoorbellRang>,
    roster: Res<Roster>,
    mut log: ResMut<EventLog>,
    mut wakes: MessageWriter<WakeAgent>,
) {
    for DoorbellRang { visitor, says, by } in rings.read() {
        let Some(agent) = roster.key(KEEPER) else { continue };
        let cause = log.write(EventDraft::of(&Doorbell { visitor: visitor.clone() }));
        let sentence = format!("{visitor} rings at the door");
        let interest = Interest::new("doorbell", sentence, Urgency::Mail, "Decide whether to let them in.")
            .quoting(visitor.as_str(), says.as_str())
            .at(Place::Element("door".into()));
        let by = Author(by.clone().unwrap_or_else(|| "doorbell".into()));
        wakes.write(WakeAgent { agent, interest, by, cause });
    }
}
