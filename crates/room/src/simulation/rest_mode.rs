//! Rest mode: every agent that is not working rests. It does not read, summarise or talk, so models are only called for
//! work; agents still walk around. It lasts for one run.

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::components::AttentionCalendar;
use super::conversation_state::ConversationState;
use crate::agent::Roster;
use crate::log::events::{self, TalkInput};
use crate::log::{EventDraft, EventLog};
use crate::schedule::Input;

/// Whether all agents that are not working rest.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RestMode(pub(super) bool);

impl RestMode {
    /// Whether rest mode is on.
    pub fn holds(self) -> bool {
        self.0
    }
}

/// Turns rest mode on or off.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SetRestMode {
    /// Whether to turn it on.
    pub on: bool,
}

impl Input for SetRestMode {
    const KIND: &'static str = "rest";
}

pub(super) fn rest_or_live_on(
    mut wishes: MessageReader<SetRestMode>,
    (mut rest, mut talks, mut calendar): (ResMut<RestMode>, ResMut<ConversationState>, ResMut<AttentionCalendar>),
    roster: Res<Roster>,
    mut log: ResMut<EventLog>,
) {
    for wish in wishes.read() {
        log.write(EventDraft::of(&events::Input::Talk(TalkInput::Rest { on: wish.on })));
        set(wish.on, &mut rest, &mut talks, &mut calendar, &roster);
    }
}

fn set(
    on: bool,
    rest: &mut RestMode,
    talks: &mut ConversationState,
    calendar: &mut AttentionCalendar,
    roster: &Roster,
) {
    rest.0 = on;
    talks.set_resting(on);
    if !on {
        // Actions that were queued meanwhile are started.
        calendar.awake.extend(roster.iter().map(|(key, _)| key));
    }
}

/// Turns rest mode off at the start of a new run.
pub fn begin_run(world: &mut World) {
    if !world.resource::<RestMode>().0 {
        return;
    }
    world.resource_scope(|world, mut rest: Mut<RestMode>| {
        world.resource_scope(|world, mut talks: Mut<ConversationState>| {
            world.resource_scope(|world, mut calendar: Mut<AttentionCalendar>| {
                set(false, &mut rest, &mut talks, &mut calendar, world.resource::<Roster>());
            });
        });
    });
}
