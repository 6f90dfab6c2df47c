//! The way out of the world: what the world asks of programs, networks and other threads is an order that one driver
//! starts, cancels, counts and answers. Requests to models and orders to the file service keep the same contract by
//! themselves.
//!
//! The contract is the same for every [`Outside`]:
//!
//! 1. An order is part of the world before it is carried out: its owner keeps it in the saved world, and
//!    [`IssuedOrders`] makes the next tick wait until the tick that issued it is in the log.
//! 2. The [driver](execute) starts each order once in a process. An order that an earlier process may have started is
//!    only started again if its outside says that repeating it is safe ([`Outside::interrupted`]).
//! 3. An answer enters the world as an [`Input`](super::Input), with the key of its order. An order whose answer can no
//!    longer arrive is answered by [`Outside::lost`]: nobody waits for ever.
//!    An outside that answers quickly has a [`PATIENCE`](Outside::PATIENCE): its orders are started between two ticks,
//!    once the log is written, and the clock waits a moment for their answers.
//! 4. An order that its owner no longer wants is cancelled, and whatever it still reports is dropped.
//! 5. In a replay, nothing is started, and whatever arrives is dropped: the journal holds the answers.
//!
//! In reading order: the trait [`Outside`], the [`driver`], how threads [report](reporter), the saved orders of outsides
//! that need no state of their own ([`pending`]), what arrives [unasked](notices), what the clock [waits](waiting) for,
//! and the [`tape`] that records outsides and plays them.

pub mod driver;
pub mod notices;
pub mod pending;
pub mod reporter;
pub mod tape;
pub mod waiting;

use std::fmt::Display;
use std::time::Duration;

use bevy::app::App;
use bevy::ecs::prelude::*;
use bevy::ecs::system::{BoxedSystem, SystemParam, SystemParamItem};
use serde::Serialize;

pub use driver::{OutsideDriver, execute};
pub use notices::{NoticeSender, Notices, NoticesExt};
pub use pending::{Order, PendingOrders, PendingOrdersExt};
pub use reporter::{Reporter, Wakeup};
pub use tape::Tape;
pub use waiting::{
    IssuedOrders, Outsides, RunningOrder, awaits_real_time, has_arrived, must_wait, must_wait_for_log, running_orders,
    wait,
};

use super::Tick;
use super::inputs::{CollectInputs, Input, InputExt};

/// The parts of the world that an outside reads and writes, borrowed for one call.
pub type WorldOf<'w, 's, O> = SystemParamItem<'w, 's, <O as Outside>::World>;

/// Something outside of the world that carries out orders.
///
/// Every method runs on the thread of the world and must not wait: [`start`](Self::start) hands the order to a thread or
/// a task, which reports through its [`Reporter`].
pub trait Outside: Send + Sync + Sized + 'static {
    /// The name, for people and for tapes: never change it.
    const NAME: &'static str;
    /// How many orders run at once; the others wait in the order in which they were issued.
    const MAX_RUNNING: usize;
    /// Whether answers take real time, so that a room at full speed runs no faster than the clock on the wall while one
    /// is outstanding.
    const TAKES_REAL_TIME: bool = true;
    /// How long the clock waits for an answer, at whatever speed it runs: orders are then started between the tick that
    /// issued them and the next one, which admits the answers that come in this time. Later answers are admitted in the
    /// tick in which they come, and until one does, the clock does not wait again. `None`: the clock does not wait.
    const PATIENCE: Option<Duration> = None;

    /// Identifies an order, permanently.
    type Key: Ord + Clone + Display + Send + Sync + 'static;
    /// What is carried out.
    type Order: Serialize;
    /// What the threads of the outside report.
    type Report: Send + 'static;
    /// What enters the world.
    type Answer: Input;
    /// The parts of the world that this outside needs. It must not contain the queue of its answers or the tape, nor write
    /// the clock or the input journal, which belong to the driver.
    type World: SystemParam + 'static;

    /// Runs first in each live tick, also without orders: for an outside that keeps something running by itself, or
    /// whose threads are asked for their results. Returns reports about running orders, which are received like those of
    /// a [`Reporter`]; such an outside keeps the reporter of each order until it has returned the final one.
    fn poll(&mut self, world: &mut WorldOf<'_, '_, Self>) -> Vec<(Self::Key, Self::Report)> {
        let _ = world;
        Vec::new()
    }

    /// Returns the keys of the orders that the world waits for, oldest first. Called once in each live tick.
    fn wanted(&mut self, world: &mut WorldOf<'_, '_, Self>) -> Vec<Self::Key>;

    /// Returns the order with this key, or the final answer if it cannot be read.
    fn order(&self, key: &Self::Key, world: &WorldOf<'_, '_, Self>) -> Result<Self::Order, Self::Answer>;

    /// Returns the final answer to an order that an earlier process may have begun, or `None` if it is safe to repeat it.
    fn interrupted(&mut self, key: &Self::Key, order: &Self::Order) -> Option<Self::Answer>;

    /// Begins to carry out an order.
    fn start(
        &mut self,
        key: &Self::Key,
        order: Self::Order,
        world: &mut WorldOf<'_, '_, Self>,
        reporter: Reporter<Self>,
    ) -> Start<Self::Answer>;

    /// Stops an order that is no longer wanted.
    fn cancel(&mut self, key: &Self::Key, world: &mut WorldOf<'_, '_, Self>);

    /// Turns a report about a running order into what the world gets.
    fn receive(
        &mut self,
        key: &Self::Key,
        report: Self::Report,
        world: &mut WorldOf<'_, '_, Self>,
    ) -> Received<Self::Answer>;

    /// Returns the final answer to an order whose thread ended without one.
    fn lost(&self, key: &Self::Key, why: &str) -> Self::Answer;

    /// Whether an answer is the last one to its order.
    fn is_final(answer: &Self::Answer) -> bool;

    /// Returns an answer of a tape as the answer to the order with this key.
    fn addressed_to(key: &Self::Key, answer: Self::Answer) -> Self::Answer;

    /// Whether the clock waits for an answer about this running order. It does not wait for an order that itself waits for
    /// a person, or that only keeps something open.
    fn is_awaited(&self, key: &Self::Key) -> bool {
        let _ = key;
        true
    }

    /// Runs once in each live tick after the reports were received and before orders are started, for messages to
    /// running orders.
    fn attend(&mut self, running: &dyn Fn(&Self::Key) -> bool, world: &mut WorldOf<'_, '_, Self>) {
        let _ = (running, world);
    }
}

/// What became of an order that was to be started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Start<Answer> {
    /// It runs.
    Started,
    /// It has to wait for something else first, and is tried again in the next tick.
    NotYet,
    /// It ended at once.
    Ended(Answer),
}

/// What the world gets of a report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received<Answer> {
    /// Nothing.
    Nothing,
    /// This answer.
    Answer(Answer),
    /// Nothing, and the order has ended.
    Ended,
}

/// The systems of all outsides, before inputs are admitted and after [`NoticeSystems`].
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OutsideSystems;

/// The systems that receive notices, before inputs are admitted.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NoticeSystems;

/// One outside: they run in the order in which they were added.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Added(usize);

/// Orders a newly added outside after those that were added before.
fn next_place(app: &mut App) -> Added {
    let place = Added(app.world_mut().resource_mut::<Outsides>().count_added());
    if let Some(before) = place.0.checked_sub(1) {
        app.configure_sets(Tick, place.after(Added(before)));
    }
    place
}

/// Registers ways out of the world.
pub trait OutsideExt {
    /// Adds an outside and the kind of its answers.
    fn add_outside<O: Outside>(&mut self, outside: O) -> &mut Self;
}

impl OutsideExt for App {
    fn add_outside<O: Outside>(&mut self, outside: O) -> &mut Self {
        let driver = OutsideDriver::new(outside, self.world().resource::<Wakeup>().clone());
        self.add_input::<O::Answer>().insert_resource(driver);
        self.world_mut().resource_mut::<Outsides>().register::<O>();
        let place = next_place(self);
        self.add_systems(Tick, execute::<O>.in_set(OutsideSystems).in_set(place));
        if O::PATIENCE.is_some() {
            let system = IntoSystem::into_system(driver::execute_between_ticks::<O>);
            let mut system: BoxedSystem<In<bool>, waiting::Awaited> = Box::new(system);
            system.initialize(self.world_mut());
            self.world_mut().resource_mut::<Outsides>().register_between_ticks(system);
        }
        self
    }
}

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<Wakeup>().init_resource::<Outsides>().init_resource::<IssuedOrders>();
    app.configure_sets(Tick, (NoticeSystems, OutsideSystems).chain().in_set(CollectInputs));
    app.add_systems(Tick, waiting::begin_tick.before(CollectInputs));
}

#[cfg(test)]
#[path = "outside_tests.rs"]
mod tests;
