//! Detects once whether this computer can sandbox programs that agents run. The result is an input, since the gate
//! depends on it.

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::confinement::{Confinement, Level};
use crate::schedule::Input;

/// Whether this computer has a sandbox for programs. An input, since the gate depends on it.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SandboxDetected {
    /// Whether there is a sandbox.
    pub keeps_in: bool,
}

impl SandboxDetected {
    /// Detects the sandbox of this computer.
    pub fn on_this_computer() -> Self {
        Self { keeps_in: Confinement::of_this_computer().level() != Level::None }
    }
}

impl Input for SandboxDetected {
    const KIND: &'static str = "confinement";
}

/// Whether this computer has a sandbox for programs; false until that is detected.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HasSandbox(pub bool);

pub(in crate::gateway) fn apply_sandbox_detection(
    mut found: MessageReader<SandboxDetected>,
    mut keeps_in: ResMut<HasSandbox>,
) {
    for found in found.read() {
        keeps_in.0 = found.keeps_in;
    }
}
