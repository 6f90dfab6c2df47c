//! Whether programs that agents run can be kept in on this computer: found out once, and an input, for the gate goes by
//! it.

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::sandbox::{Confinement, Level};
use crate::schedule::Input;

/// What keeps programs in on this computer. An input, for the gate goes by it.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ConfinementFound {
    /// Whether anything does.
    pub keeps_in: bool,
}

impl ConfinementFound {
    /// What there is here.
    pub fn on_this_computer() -> Self {
        Self { keeps_in: Confinement::of_this_computer().level() != Level::None }
    }
}

impl Input for ConfinementFound {
    const KIND: &'static str = "confinement";
}

/// Whether this computer has a sandbox for programs; false until that was determined.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HasSandbox(pub bool);

pub(super) fn apply_confinement(mut found: MessageReader<ConfinementFound>, mut keeps_in: ResMut<HasSandbox>) {
    for found in found.read() {
        keeps_in.0 = found.keeps_in;
    }
}
