//! Assembles the crates' plugins into a world, opens workspaces in it, and drives its clock.

pub mod approvals;
pub mod clock_driver;
pub mod display_names;
mod extensions;
pub mod importing;
pub mod opening;
pub mod persons_clock;
mod recovery;
pub mod replay;
pub mod room;
pub mod running_elsewhere;
pub mod servers;
pub mod status;
pub mod task_files;
pub mod trust;
mod unfinished_work;
#[cfg(feature = "window")]
pub mod window;
pub mod workflows;

use bevy::app::App;
use bevy::ecs::schedule::IntoScheduleConfigs;
use bevy::tasks::{ComputeTaskPool, TaskPool};
pub use extensions::extend;

use crate::base::{Id, Seq};
use crate::gateway::ScriptedProvider;
use crate::log::{AddedEvents, EventDraft, EventLog, events};
use crate::offline::OfflineProvider;
use crate::schedule::inputs::CollectInputs;
use crate::schedule::{InPhase, Layer, RoomSeed, SimClock, Tick, WorkshopSystems};
use crate::workspace::RoomStart;
use crate::{
    agent, desk, element, gate, gateway, kernel, learning, memory, mind, orchestration, schedule, simulation, store,
    tools, workspace,
};

/// A room with all plugins except the window, and with what was added by [`extend`], not started yet.
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
        gate::plugin,
        tools::plugin,
        kernel::plugin,
        orchestration::plugin,
        desk::plugin,
        learning::plugin,
    ));
    gateway::add_simulated_provider(&mut app, "offline", |_| Ok(Box::new(OfflineProvider)));
    gateway::add_simulated_provider(&mut app, "scripted", |file| match ScriptedProvider::from_file(file) {
        Ok(script) => Ok(Box::new(script)),
        Err(mut problems) => Err(problems.swap_remove(0)),
    });
    app.init_resource::<AddedEvents>();
    app.add_systems(Tick, approvals::collect_answers.in_set(CollectInputs));
    // The last system of Record, before the store passes the events on.
    app.add_systems(
        Tick,
        (clock_driver::tap_events, clock_driver::tap_reactions)
            .chain()
            .in_set(InPhase(WorkshopSystems::Record, Layer::Orchestration)),
    );
    extensions::add_to(&mut app);
    app
}

/// Starts a new run `run` whose first record is `first_seq`. From here on, everything is determined by the start and
/// the inputs.
pub fn begin(start: RoomStart, run: Id, first_seq: Seq) -> Result<App, serde_json::Error> {
    let (scene, provider) = (start.scene.clone(), start.provider.clone());
    let mut app = resume(start, run, first_seq)?;
    let world = app.world_mut();
    gateway::start_run(world);
    simulation::begin_run(world);
    kernel::begin_run(world);
    let began = events::RunStart { scene, seed: world.resource::<RoomSeed>().0, provider };
    world.resource_mut::<EventLog>().write(EventDraft::of(&began));
    Ok(app)
}

/// Continues a saved room in the middle of a run; its next record is `next_seq`.
pub fn resume(start: RoomStart, run: Id, next_seq: Seq) -> Result<App, serde_json::Error> {
    let mut app = headless();
    let world = app.world_mut();
    let carried = start.carried.clone();
    if let Some(carried) = carried {
        schedule::saved::load_world(world, &carried)?;
    }
    // The gateway reads the provider override from it.
    world.insert_resource(RoomStart { carried: None, files: Default::default(), ..start.clone() });
    workspace::begin(world, start);
    let tick = world.resource::<SimClock>().tick();
    world.insert_resource(EventLog::new(run, next_seq).at_tick(tick));
    Ok(app)
}
