//! Time: the [`Tick`] schedule, its phases, the clock, the entry point for input, and the saved state.
//!
//! The world advances in ticks of 1/30 second of simulated time. Every tick runs the phases of [`WorkshopSystems`]
//! once, in order; within a phase, the layers run in the order of [`Layer`], so that information passes up through all
//! layers within one tick. The driver of the world (the window or the command line) calls [`advance`]; nothing in a
//! tick reads the wall clock. What comes in enters through [`inputs`], what goes out leaves through [`outside`].

pub mod clock;
pub mod date;
pub mod inputs;
pub mod outside;
pub mod random;
pub mod saved;

use bevy::app::App;
use bevy::ecs::message::{Message, Messages};
use bevy::ecs::prelude::*;
use bevy::ecs::schedule::{ScheduleLabel, SingleThreadedExecutor};

pub use clock::{RoomPaused, SetRoomPaused, SimClock, Speed, TICKS_PER_SEC, room_not_paused, ticks};
pub use date::{DateCorrected, RoomDate, RoomOpened};
use inputs::InputExt;
pub use inputs::{Input, InputJournal, InputQueue, RecordedInput, any_input_waits};
pub use random::{AgentRandom, RoomSeed};
pub use saved::{SavedSections, Section};

/// One step of the world.
#[derive(ScheduleLabel, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tick;

/// The phases of a tick, in order. Every system belongs to one of these.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WorkshopSystems {
    /// Admits input from outside, through the [`InputQueue`].
    Ingest,
    /// Updates everything that moves, senses and changes state by itself.
    Simulate,
    /// Decides what to request or do next.
    Decide,
    /// Sends requests to the outside.
    Dispatch,
    /// Applies decisions to the world.
    Apply,
    /// Sends events, inputs and changed content to the code that stores them.
    Record,
}

/// The layers that have systems in a tick, in the order in which they run within each phase.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "each is the module of that name")]
pub enum Layer {
    Inputs,
    Workspace,
    Agent,
    Element,
    Simulation,
    Memory,
    Mind,
    Gateway,
    Gate,
    Tools,
    Kernel,
    Orchestration,
    Desk,
    Learning,
    Store,
}

/// The systems of one layer in one phase: `system.in_set(InPhase(WorkshopSystems::Decide, Layer::Mind))`. A layer
/// orders its own systems within a phase.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InPhase(pub WorkshopSystems, pub Layer);

const PHASES: [WorkshopSystems; 6] = [
    WorkshopSystems::Ingest,
    WorkshopSystems::Simulate,
    WorkshopSystems::Decide,
    WorkshopSystems::Dispatch,
    WorkshopSystems::Apply,
    WorkshopSystems::Record,
];

const LAYERS: [Layer; 15] = [
    Layer::Inputs,
    Layer::Workspace,
    Layer::Agent,
    Layer::Element,
    Layer::Simulation,
    Layer::Memory,
    Layer::Mind,
    Layer::Gateway,
    Layer::Gate,
    Layer::Tools,
    Layer::Kernel,
    Layer::Orchestration,
    Layer::Desk,
    Layer::Learning,
    Layer::Store,
];

/// Sets up the tick, the clock and the entry point for input.
pub fn plugin(app: &mut App) {
    app.init_schedule(Tick);
    app.edit_schedule(Tick, |schedule| {
        // A single-threaded executor fixes the order once; hot systems split their own work over data instead.
        schedule.set_executor(SingleThreadedExecutor::new());
        let mut before: Option<InPhase> = None;
        for phase in PHASES {
            for layer in LAYERS {
                let set = InPhase(phase, layer);
                if let Some(before) = before {
                    schedule.configure_sets(set.after(before));
                }
                before = Some(set);
            }
        }
    });
    app.init_resource::<SimClock>()
        .init_resource::<RoomSeed>()
        .init_resource::<clock::RoomPaused>()
        .init_resource::<TickMessages>()
        .init_resource::<SavedSections>();
    app.add_plugins((inputs::plugin, outside::plugin));
    app.add_input::<SetRoomPaused>();
    app.add_systems(
        Tick,
        clock::apply_standstill
            .after(inputs::drain_input_queues)
            .in_set(InPhase(WorkshopSystems::Ingest, Layer::Inputs)),
    );
    app.init_resource::<RoomDate>().add_input::<RoomOpened>().add_input::<DateCorrected>();
    app.add_systems(
        Tick,
        date::set_room_date.after(inputs::drain_input_queues).in_set(InPhase(WorkshopSystems::Ingest, Layer::Inputs)),
    );
    saved::register::<clock::ClockSaved>(app);
    saved::register::<RoomDate>(app);
}

/// Runs one tick. Message buffers are updated here, once per tick, however many ticks a frame has.
pub fn advance(world: &mut World) {
    let updates = world.resource::<TickMessages>().0.clone();
    for update in updates {
        update(world);
    }
    world.resource_mut::<SimClock>().step();
    world.run_schedule(Tick);
}

/// The message types whose buffers are updated once per tick.
#[derive(Resource, Default, Clone)]
struct TickMessages(Vec<fn(&mut World)>);

/// Registers messages that are sent and read within ticks.
pub trait TickMessageExt {
    /// Like `add_message`, but the buffer is updated once per tick instead of once per frame: a message exists until
    /// the end of the tick after the one that wrote it.
    fn add_tick_message<M: Message>(&mut self) -> &mut Self;
}

impl TickMessageExt for App {
    fn add_tick_message<M: Message>(&mut self) -> &mut Self {
        if !self.world().contains_resource::<Messages<M>>() {
            self.init_resource::<Messages<M>>();
            self.world_mut()
                .resource_mut::<TickMessages>()
                .0
                .push(|world| world.resource_mut::<Messages<M>>().update());
        }
        self
    }
}
