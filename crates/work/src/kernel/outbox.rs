//! Messages to the world that are sent in the next tick.

use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use crate::agent::{AgentCommand, Roster};
use crate::base::Id;
use crate::base::ids::ROOM;

/// Messages that are held back until the next tick, because messages written at the end of a tick would not be saved.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Outbox {
    /// Commands that add agents.
    pub(super) agents: Vec<AgentCommand>,
    /// The places of agents that are being added.
    pub(super) places: Vec<(Id, Vec2)>,
}

/// Sends the messages of the last tick. Runs before inputs are collected.
pub(super) fn flush(mut outbox: ResMut<Outbox>, roster: Res<Roster>, mut commands: MessageWriter<AgentCommand>) {
    if outbox.agents.is_empty() && outbox.places.is_empty() {
        return;
    }
    commands.write_batch(outbox.agents.drain(..));
    let (here, coming): (Vec<_>, Vec<_>) = outbox.places.drain(..).partition(|(agent, _)| roster.key(agent).is_some());
    outbox.places = coming;
    let by = Some(Id::from(ROOM));
    let homes = here.into_iter().map(|(agent, position)| AgentCommand::SetHome { agent, position, by: by.clone() });
    commands.write_batch(homes);
}
