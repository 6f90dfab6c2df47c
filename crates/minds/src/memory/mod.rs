//! What an agent carries with it: the memory slots.

pub mod keeping;
pub mod operations;
pub mod recalled;
pub mod settings;
pub mod slots;

pub use keeping::MemoryArchive;
pub use operations::MemoryChange;
pub use recalled::{MemoriesCounted, MemoryCounts, RecalledMemory, Reminder};
pub use settings::MemorySettings;
pub use slots::{Memory, MemoryAct, MemoryEdit, Seen};

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::schedule::door::InputExt;
use crate::schedule::{Floor, InPhase, Tick, TickMessageExt, WorkshopSystems, saved};
use crate::workspace::SettingsExt;

/// Adds this floor to the room.
pub fn plugin(app: &mut App) {
    app.add_settings::<MemorySettings>()
        .add_tick_message::<MemoryEdit>()
        .add_tick_message::<crate::element::ElementChanged>()
        .add_input::<MemoriesCounted>()
        .init_resource::<MemoryCounts>()
        .init_resource::<MemoryArchive>()
        .init_resource::<keeping::KnownVersions>()
        .init_resource::<keeping::Parted>()
        .add_observer(keeping::give_memory)
        .add_observer(keeping::archive_memory)
        .add_systems(
            Tick,
            (
                recalled::count.in_set(InPhase(WorkshopSystems::Ingest, Floor::Memory)),
                (keeping::edit, keeping::follow_elements)
                    .chain()
                    .in_set(InPhase(WorkshopSystems::Apply, Floor::Memory)),
            ),
        );
    saved::register::<keeping::MemorySaved>(app);
    saved::register::<MemoryCounts>(app);
}
