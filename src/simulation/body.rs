//! What the room knows of each agent.

use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use super::state::Fsm;

/// Where an agent is.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub Vec2);

/// The one state of an agent.
#[derive(Component, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentState(pub Fsm);
