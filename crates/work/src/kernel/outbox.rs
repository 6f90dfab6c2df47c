//! Messages to the world that are sent in the next tick.

use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use crate::agent::{AgentCommand, Roster};
use crate::base::Id;

/// Messages to the world that are sent in the next tick: what is written at the end of a tick would not be saved.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Outbox {
    /// Agents that are to come in.
    pub(super) agents: Vec<AgentCommand>,
    /// Where agents that are coming in have their place.
    pub(super) places: Vec<(Id, Vec2)>,
}

/// Sends what was left over from the last tick. Before inputs are admitted.
pub(super) fn flush(mut outbox: ResMut<Outbox>, roster: Res<Roster>, mut commands: MessageWriter<AgentCommand>) {
    if outbox.agents.is_empty() && outbox.places.is_empty() {
        return;
    }
    commands.write_batch(outbox.agents.drain(..));
    let (here, coming): (Vec<_>, Vec<_>) = outbox.places.drain(..).partition(|(agent, _)| roster.key(agent).is_some());
    outbox.places = coming;
    commands.write_batch(here.into_iter().map(|(agent, position)| AgentCommand::SetHome { agent, position }));
}
