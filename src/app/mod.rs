//! Assembles the floors into a world, opens workspaces in it, and drives its clock.

pub mod drive;
pub mod replay;
pub mod room;

use bevy::app::App;
use bevy::ecs::schedule::IntoScheduleConfigs;
use bevy::tasks::{ComputeTaskPool, TaskPool};

use crate::base::{Id, Seq};
use crate::schedule::{Floor, InPhase, Tick, WorkshopSystems};
use crate::workspace::RoomStart;
use crate::{agent, element, gateway, memory, mind, schedule, simulation, store, workspace};

/// A room with every floor but the window, not yet begun.
pub fn headless() -> App {
    ComputeTaskPool::get_or_init(TaskPool::default);
    let mut app = App::empty();
    app.add_plugins((
        schedule::plugin,
        store::plugin,
        workspace::plugin,
        agent::plugin,
        element::plugin,
        simulation::plugin,
        memory::plugin,
        mind::plugin,
        gateway::plugin,
    ));
    // The last of Record before the store hands the events on.
    app.add_systems(Tick, drive::tap_events.in_set(InPhase(WorkshopSystems::Record, Floor::Gateway)));
    app
}

/// A room that begins with this start, as run `run`, whose first record is `first_seq`. Everything that is to
/// happen from here on is decided by the start and by what comes through the door.
pub fn begin(start: RoomStart, run: Id, first_seq: Seq) -> Result<App, serde_json::Error> {
    let mut app = headless();
    let world = app.world_mut();
    world.insert_resource(store::EventLog::new(run, first_seq));
    let carried = start.carried.clone();
    workspace::begin(world, start);
    if let Some(carried) = carried {
        schedule::saved::load_world(world, &carried)?;
    }
    Ok(app)
}
