//! The saved state of the gateway.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::bridge::WorkerBridge;
use super::request_queue::RequestQueue;
use crate::schedule::Section;

/// The gateway's part of the saved world.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::gateway) struct GatewaySaved(RequestQueue);

impl Section for GatewaySaved {
    const NAME: &'static str = "gateway";

    fn save(world: &mut World) -> Self {
        Self(world.resource::<RequestQueue>().clone())
    }

    /// Running requests are sent again, because the bridge does not know that they were sent.
    fn load(self, world: &mut World) {
        *world.resource_mut::<WorkerBridge>() = WorkerBridge::default();
        *world.resource_mut::<RequestQueue>() = self.0;
    }
}
