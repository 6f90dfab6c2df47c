//! The saved state of channels and blackboards, which is their whole state.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::blackboard::Blackboards;
use super::board_archive::{BoardArchive, UnarchivedEntries};
use super::channel_boards::BoardChannels;
use super::channels::Channels;
use crate::schedule::Section;

/// This layer's part of the saved world.
#[derive(Serialize, Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(super) struct OrchestrationSaved {
    channels: Channels,
    blackboards: Blackboards,
    shown: BoardChannels,
    kept: BoardArchive,
    unkept: UnarchivedEntries,
}

impl Section for OrchestrationSaved {
    const NAME: &'static str = "together";

    fn save(world: &mut World) -> Self {
        Self {
            channels: world.resource::<Channels>().clone(),
            blackboards: world.resource::<Blackboards>().clone(),
            shown: world.resource::<BoardChannels>().clone(),
            kept: world.resource::<BoardArchive>().clone(),
            unkept: world.resource::<UnarchivedEntries>().clone(),
        }
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self.channels);
        world.insert_resource(self.blackboards);
        world.insert_resource(self.shown);
        world.insert_resource(self.kept);
        world.insert_resource(self.unkept);
    }
}
