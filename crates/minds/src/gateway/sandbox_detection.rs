//! Whether programs that agents run can be sandboxed on this computer: detected once, and an input, since the gate
//! decides by it.

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::sandbox::{Confinement, Level};
use crate::schedule::Input;

/// Whether this computer has a sandbox for programs. An input, since the gate decides by it.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SandboxDetected {
    /// Whether it has one.
    pub keeps_in: bool,
}

impl SandboxDetected {
    /// What there is here.
    pub fn on_this_computer() -> Self {
        Self { keeps_in: Confinement::of_this_computer().level() != Level::None }
    }
}

impl Input for SandboxDetected {
    const KIND: &'static str = "confinement";
}

/// Whether this computer has a sandbox for programs; false until that was determined.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HasSandbox(pub bool);

pub(super) fn apply_sandbox_detection(mut found: MessageReader<SandboxDetected>, mut keeps_in: ResMut<HasSandbox>) {
    for found in found.read() {
        keeps_in.0 = found.keeps_in;
    }
}
