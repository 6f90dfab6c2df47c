//! What the clock waits for: the log, before orders are carried out, and real time, while answers are outstanding.

use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;
use bevy::ecs::system::BoxedSystem;

use super::{Notices, Outside, OutsideDriver, Wakeup};
use crate::schedule::{Input, InputJournal, TICKS_PER_SEC};

/// The duration of a tick at normal speed.
const TICK: Duration = Duration::from_nanos(1_000_000_000 / TICKS_PER_SEC);
/// How long a wait for the log lasts before it is looked at again.
const LOG_LOOK: Duration = Duration::from_millis(1);

/// Whether the latest tick issued an order that is carried out outside of the world. The next tick then waits until
/// the tick is in the log: if the process were killed after carrying out an order that is not in the log, the room would
/// issue it again without knowing. Not saved: orders that are pending when a room is opened are in the log.
#[derive(Resource, Default, Debug)]
pub struct IssuedOrders(bool);

impl IssuedOrders {
    /// Notes that this tick issued an order.
    pub fn note(&mut self) {
        self.0 = true;
    }

    /// Whether the latest tick issued an order.
    pub fn any(&self) -> bool {
        self.0
    }
}

/// Whether the next tick must not run yet because an order would be carried out whose tick is not in the log. Never true
/// in a replay.
pub fn must_wait_for_log(world: &World, is_logged: impl FnOnce() -> bool) -> bool {
    let has_issued = world.get_resource::<IssuedOrders>().is_some_and(IssuedOrders::any);
    has_issued && !world.resource::<InputJournal>().is_replaying() && !is_logged()
}

/// Forgets what the previous tick issued, and notes when this tick ran.
pub(super) fn begin_tick(mut issued: ResMut<IssuedOrders>, mut outsides: ResMut<Outsides>) {
    issued.bypass_change_detection().0 = false;
    outsides.bypass_change_detection().ticked_at = Some(Instant::now());
}

/// An order that is being carried out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunningOrder {
    /// The [`Outside::NAME`].
    pub outside: &'static str,
    /// The key of the order.
    pub key: String,
    /// The tick in which it was started.
    pub since_tick: u64,
}

/// All outsides of the world: what they are carrying out, and whether something has arrived.
#[derive(Resource, Default)]
pub struct Outsides {
    kinds: Vec<OutsideKind>,
    /// Whether a notice of a kind waits.
    notices: Vec<fn(&World) -> bool>,
    /// The number of outsides that were added.
    added: usize,
    /// When the last tick ran.
    ticked_at: Option<Instant>,
    /// What runs between ticks, for each outside with a patience. Its input is whether the log is written.
    between_ticks: Vec<BoxedSystem<In<bool>, Awaited>>,
    /// What [`must_wait`] found last.
    awaited: Awaited,
}

/// What the next tick has to wait for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) enum Awaited {
    #[default]
    Nothing,
    /// An order of the latest tick can only be started once the log is written.
    Log,
    /// An answer is expected soon.
    Answer,
}

#[derive(Clone, Copy)]
struct OutsideKind {
    takes_real_time: bool,
    has_arrived: fn(&World) -> bool,
    is_awaiting: fn(&World) -> bool,
    running: fn(&World, &mut Vec<RunningOrder>),
}

impl Outsides {
    pub(super) fn register<O: Outside>(&mut self) {
        self.kinds.push(OutsideKind {
            takes_real_time: O::TAKES_REAL_TIME,
            has_arrived: |world| world.resource::<OutsideDriver<O>>().has_arrived(),
            is_awaiting: |world| world.resource::<OutsideDriver<O>>().is_awaiting(),
            running: |world, running| running.extend(world.resource::<OutsideDriver<O>>().running()),
        });
    }

    /// Counts an added outside; returns how many were added before.
    pub(super) fn count_added(&mut self) -> usize {
        self.added += 1;
        self.added - 1
    }

    pub(super) fn register_between_ticks(&mut self, system: BoxedSystem<In<bool>, Awaited>) {
        self.between_ticks.push(system);
    }

    pub(super) fn register_notices<T: Input>(&mut self) {
        self.notices.push(|world| world.resource::<Notices<T>>().has_any());
    }

    /// Returns the time until the next tick is due at normal speed.
    pub fn until_next_tick(&self) -> Duration {
        self.ticked_at.map_or(Duration::ZERO, |at| TICK.saturating_sub(at.elapsed()))
    }
}

/// Returns everything that is being carried out, by outside and key.
pub fn running_orders(world: &World) -> Vec<RunningOrder> {
    let mut running = Vec::new();
    for kind in &world.resource::<Outsides>().kinds {
        (kind.running)(world, &mut running);
    }
    running
}

/// Whether a report or a notice has arrived that the next tick would receive.
pub fn has_arrived(world: &World) -> bool {
    let outsides = world.resource::<Outsides>();
    outsides.kinds.iter().any(|kind| (kind.has_arrived)(world)) || outsides.notices.iter().any(|waits| waits(world))
}

/// Whether an answer is awaited that takes real time.
pub fn awaits_real_time(world: &World) -> bool {
    world.resource::<Outsides>().kinds.iter().any(|kind| kind.takes_real_time && (kind.is_awaiting)(world))
}

/// Starts what outsides with a patience are to do, if the log is written, receives their answers, and returns whether the
/// next tick has to wait for one of these answers or for the log. Never true in a replay.
pub fn must_wait(world: &mut World, is_logged: bool) -> bool {
    if world.resource::<InputJournal>().is_replaying() {
        return false;
    }
    let mut systems = std::mem::take(&mut world.resource_mut::<Outsides>().bypass_change_detection().between_ticks);
    let mut awaited = Awaited::Nothing;
    for system in &mut systems {
        match system.run(is_logged, world) {
            Ok(also_awaited) => awaited = awaited.max(also_awaited),
            Err(error) => tracing::error!("an outside could not run between two ticks: {error}"),
        }
    }
    let mut outsides = world.resource_mut::<Outsides>();
    let outsides = outsides.bypass_change_detection();
    (outsides.between_ticks, outsides.awaited) = (systems, awaited);
    awaited != Awaited::Nothing
}

/// Waits for what [`must_wait`] found, at most `timeout`.
pub fn wait(world: &World, timeout: Duration) {
    let timeout = match world.resource::<Outsides>().awaited {
        Awaited::Answer => timeout,
        Awaited::Nothing | Awaited::Log => timeout.min(LOG_LOOK),
    };
    world.resource::<Wakeup>().wait(timeout);
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
