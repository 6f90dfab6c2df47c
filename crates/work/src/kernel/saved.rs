//! The saved state of the kernel.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::core::Kernel;
use super::outbox::Outbox;
use crate::schedule::Section;

/// The kernel's section of the saved world.
#[derive(Serialize, Deserialize)]
pub(super) struct KernelSaved {
    kernel: Kernel,
    outbox: Outbox,
}

impl Section for KernelSaved {
    const NAME: &'static str = "kernel";

    fn save(world: &mut World) -> Self {
        Self { kernel: world.resource::<Kernel>().clone(), outbox: world.resource::<Outbox>().clone() }
    }

    fn load(self, world: &mut World) {
        let mut kernel = self.kernel;
        kernel.raise_counter();
        world.insert_resource(kernel);
        world.insert_resource(self.outbox);
    }
}
