//! The saved state of the gateway.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::bridge::WorkerBridge;
use super::request_queue::RequestQueue;
use crate::schedule::Section;

/// The gateway's part of the saved world.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct GatewaySaved(RequestQueue);

impl Section for GatewaySaved {
    const NAME: &'static str = "gateway";

    fn save(world: &mut World) -> Self {
        Self(world.resource::<RequestQueue>().clone())
    }

    /// What was under way is asked again: the bridge knows of nothing that was sent.
    fn load(self, world: &mut World) {
        *world.resource_mut::<WorkerBridge>() = WorkerBridge::default();
        *world.resource_mut::<RequestQueue>() = self.0;
    }
}
