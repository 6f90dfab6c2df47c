//! What the clock waits for: the log, before orders are carried out, and real time, while answers are outstanding.

use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;

use super::{Notices, Outside, OutsideDriver};
use crate::schedule::{Input, InputJournal, TICKS_PER_SEC};

/// The duration of a tick at normal speed.
const TICK: Duration = Duration::from_nanos(1_000_000_000 / TICKS_PER_SEC);

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
    /// When the last tick ran.
    ticked_at: Option<Instant>,
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
