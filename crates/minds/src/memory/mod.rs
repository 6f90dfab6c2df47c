//! The memory slots of agents.

pub mod lifecycle;
pub mod operations;
pub mod recall;
pub mod settings;
pub mod slots;

pub use lifecycle::MemoryArchive;
pub use operations::MemoryChange;
pub use recall::{MemoriesCounted, MemoryCounts, RecalledMemory, Reminder};
pub use settings::MemorySettings;
pub use slots::{Memory, MemoryAct, MemoryEdit, SeenElement};

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::schedule::inputs::InputExt;
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems, saved};
use crate::workspace::SettingsExt;

/// Adds this layer to the room.
pub fn plugin(app: &mut App) {
    app.add_settings::<MemorySettings>()
        .add_tick_message::<MemoryEdit>()
        .add_tick_message::<crate::element::ElementChanged>()
        .add_input::<MemoriesCounted>()
        .init_resource::<MemoryCounts>()
        .init_resource::<MemoryArchive>()
        .init_resource::<lifecycle::KnownVersions>()
        .init_resource::<lifecycle::RemovedElementKnowledge>()
        .add_observer(lifecycle::give_memory)
        .add_observer(lifecycle::archive_memory)
        .add_systems(
            Tick,
            (
                recall::update_counts.in_set(InPhase(WorkshopSystems::Ingest, Layer::Memory)),
                (lifecycle::apply_edits, lifecycle::follow_elements)
                    .chain()
                    .in_set(InPhase(WorkshopSystems::Apply, Layer::Memory)),
            ),
        );
    saved::register::<lifecycle::MemorySaved>(app);
    saved::register::<MemoryCounts>(app);
}
