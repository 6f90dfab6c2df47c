//! What carries out the orders of one executor outside of the room: a typed order, and a way out that the
//! [driver](crate::schedule::outside) of all outsides starts, cancels and counts.
//!
//! An executor says what is its own: how its orders begin, what it reports, and whether an order that may already have
//! been carried out may be repeated. Everything else is the same for all of them.

use std::time::Duration;

use bevy::ecs::prelude::*;
use bevy::ecs::system::{SystemParam, SystemParamItem};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::order::{OrderKey, OrderOutcome, OrderReport, PendingToolOrders, ToolOrder};
use super::plan::Work;
use crate::schedule::outside::{Outside, Received, Reporter, Start, WorldOf};

/// The parts of the world that an executor reads and writes.
pub type ExecutorWorld<'w, 's, E> = SystemParamItem<'w, 's, <E as ToolExecutor>::World>;

/// Carries out the orders of one executor outside of the room.
pub trait ToolExecutor: Send + Sync + 'static {
    /// The name of the executor, as plans have it. A stored format: never change it.
    const NAME: &'static str;
    /// How many orders run at once; the others wait.
    const MAX_RUNNING: usize;
    /// Whether answers take real time: see [`Outside::TAKES_REAL_TIME`].
    const TAKES_REAL_TIME: bool = true;
    /// How long the clock waits for an answer: see [`Outside::PATIENCE`].
    const PATIENCE: Option<Duration> = None;

    /// The content of an order, as [`Work::Order`] stores it.
    type Order: Serialize + DeserializeOwned;
    /// What its threads report.
    type Report: Send + 'static;
    /// The parts of the world that it needs, besides the orders.
    type World: SystemParam + 'static;

    /// Runs first in each live tick, also without orders, and returns what it finds about running ones, as
    /// [`Outside::poll`] says.
    fn poll(&mut self, world: &mut ExecutorWorld<'_, '_, Self>) -> Vec<(OrderKey, Self::Report)>
    where
        Self: Sized,
    {
        let _ = world;
        Vec::new()
    }

    /// Decides about an order that an earlier process may have begun: `None` repeats it, a text ends it as stopped, for
    /// this reason.
    fn interrupted(&mut self, key: OrderKey, order: &Self::Order) -> Option<String>;

    /// Begins to carry out an order.
    fn start(
        &mut self,
        order: &ToolOrder,
        content: Self::Order,
        world: &mut ExecutorWorld<'_, '_, Self>,
        reporter: ToolReporter<Self>,
    ) -> Start<OrderReport>
    where
        Self: Sized;

    /// Stops an order that is no longer wanted.
    fn cancel(&mut self, key: OrderKey, world: &mut ExecutorWorld<'_, '_, Self>)
    where
        Self: Sized;

    /// Turns what a thread reported into a report for the room.
    fn receive(
        &mut self,
        key: OrderKey,
        report: Self::Report,
        world: &mut ExecutorWorld<'_, '_, Self>,
    ) -> Received<OrderReport>
    where
        Self: Sized;

    /// Whether the clock waits for an answer about this running order.
    fn is_awaited(&self, key: &OrderKey) -> bool {
        let _ = key;
        true
    }

    /// Runs once in each live tick in which there are orders, before they are started: for messages to running orders.
    fn attend(
        &mut self,
        orders: &PendingToolOrders,
        running: &dyn Fn(&OrderKey) -> bool,
        world: &mut ExecutorWorld<'_, '_, Self>,
    ) where
        Self: Sized,
    {
        let _ = (orders, running, world);
    }
}

/// Reports about one order of an executor.
pub type ToolReporter<E> = Reporter<ToolOutside<E>>;

/// An executor as a way out of the world.
pub struct ToolOutside<E>(pub E);

impl<E: ToolExecutor> Outside for ToolOutside<E> {
    const NAME: &'static str = E::NAME;
    const MAX_RUNNING: usize = E::MAX_RUNNING;
    const TAKES_REAL_TIME: bool = E::TAKES_REAL_TIME;
    const PATIENCE: Option<Duration> = E::PATIENCE;

    type Key = OrderKey;
    type Order = E::Order;
    type Report = E::Report;
    type Answer = OrderOutcome;
    type World = (Res<'static, PendingToolOrders>, E::World);

    fn poll(&mut self, (_, world): &mut WorldOf<'_, '_, Self>) -> Vec<(OrderKey, E::Report)> {
        self.0.poll(world)
    }

    fn wanted(&mut self, (orders, _): &mut WorldOf<'_, '_, Self>) -> Vec<OrderKey> {
        orders.of(E::NAME).map(|order| order.key).collect()
    }

    fn order(&self, key: &OrderKey, (orders, _): &WorldOf<'_, '_, Self>) -> Result<E::Order, OrderOutcome> {
        let content = orders.get(*key).and_then(content_of::<E::Order>);
        content.ok_or_else(|| OrderOutcome { key: *key, news: OrderReport::unparseable() })
    }

    fn interrupted(&mut self, key: &OrderKey, order: &E::Order) -> Option<OrderOutcome> {
        let why = self.0.interrupted(*key, order)?;
        Some(OrderOutcome { key: *key, news: OrderReport::Aborted { why } })
    }

    fn start(
        &mut self,
        key: &OrderKey,
        content: E::Order,
        (orders, world): &mut WorldOf<'_, '_, Self>,
        reporter: ToolReporter<E>,
    ) -> Start<OrderOutcome> {
        let Some(order) = orders.get(*key) else { return Start::NotYet };
        match self.0.start(order, content, world, reporter) {
            Start::Started => Start::Started,
            Start::NotYet => Start::NotYet,
            Start::Ended(news) => Start::Ended(OrderOutcome { key: *key, news }),
        }
    }

    fn cancel(&mut self, key: &OrderKey, (_, world): &mut WorldOf<'_, '_, Self>) {
        self.0.cancel(*key, world);
    }

    fn receive(
        &mut self,
        key: &OrderKey,
        report: E::Report,
        (_, world): &mut WorldOf<'_, '_, Self>,
    ) -> Received<OrderOutcome> {
        match self.0.receive(*key, report, world) {
            Received::Nothing => Received::Nothing,
            Received::Ended => Received::Ended,
            Received::Answer(news) => Received::Answer(OrderOutcome { key: *key, news }),
        }
    }

    fn lost(&self, key: &OrderKey, why: &str) -> OrderOutcome {
        let why = format!("{why}; its outcome is unknown");
        OrderOutcome { key: *key, news: OrderReport::Aborted { why } }
    }

    fn is_final(answer: &OrderOutcome) -> bool {
        answer.news.is_final()
    }

    fn addressed_to(key: &OrderKey, answer: OrderOutcome) -> OrderOutcome {
        OrderOutcome { key: *key, ..answer }
    }

    fn is_awaited(&self, key: &OrderKey) -> bool {
        self.0.is_awaited(key)
    }

    fn attend(&mut self, running: &dyn Fn(&OrderKey) -> bool, (orders, world): &mut WorldOf<'_, '_, Self>) {
        self.0.attend(orders, running, world);
    }
}

/// The content of an order, if it can be read.
pub(super) fn content_of<Content: DeserializeOwned>(order: &ToolOrder) -> Option<Content> {
    match &order.plan.work {
        Work::Order { order } => serde_json::from_value(order.clone()).ok(),
        _ => None,
    }
}
