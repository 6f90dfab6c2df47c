//! The orders without a final answer, of one kind: saved with the world, in the order in which they were issued.
//!
//! An order is issued by writing it as a message. It is pending from the end of that tick until the end of the tick that
//! admits its final answer, so that whoever reads the answer can still read the order.

use std::fmt::Display;

use bevy::app::App;
use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::waiting::IssuedOrders;
use crate::schedule::inputs::{Input, InputExt};
use crate::schedule::saved::{Section, register};
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems};

/// A kind of orders to the outside.
pub trait Order: Message + Clone + Serialize + DeserializeOwned {
    /// The key of the saved section. A stored format: never change it.
    const SECTION: &'static str;
    /// Identifies an order, permanently.
    type Key: Ord + Clone + Display + Send + Sync + 'static;
    /// The message that answers an order.
    type Answer: Input;

    /// Returns the key of this order.
    fn key(&self) -> Self::Key;

    /// Returns the key of the order to which this is the final answer.
    fn ended_by(answer: &Self::Answer) -> Option<Self::Key>;
}

/// The pending orders of one kind, oldest first.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent, bound(deserialize = "T: Order"))]
pub struct PendingOrders<T: Order>(Vec<T>);

impl<T: Order> Default for PendingOrders<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Order> PendingOrders<T> {
    /// Iterates over the orders.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// The order with this key.
    pub fn get(&self, key: &T::Key) -> Option<&T> {
        self.0.iter().find(|order| order.key() == *key)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Withdraws the orders for which this is true: their outside cancels them.
    pub fn withdraw(&mut self, is_over: impl Fn(&T) -> bool) {
        self.0.retain(|order| !is_over(order));
    }
}

impl<T: Order> Section for PendingOrders<T> {
    const NAME: &'static str = T::SECTION;

    fn save(world: &mut World) -> Self {
        world.resource::<Self>().clone()
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self);
    }
}

/// Registers kinds of orders.
pub trait PendingOrdersExt {
    /// Adds a kind of orders and its answers.
    fn add_orders<T: Order>(&mut self) -> &mut Self;
}

impl PendingOrdersExt for App {
    fn add_orders<T: Order>(&mut self) -> &mut Self {
        self.add_tick_message::<T>().add_input::<T::Answer>().init_resource::<PendingOrders<T>>();
        let last = InPhase(WorkshopSystems::Apply, Layer::Store);
        self.add_systems(Tick, (close::<T>, take_up::<T>).chain().in_set(last));
        register::<PendingOrders<T>>(self);
        self
    }
}

/// Adds the orders of this tick.
fn take_up<T: Order>(
    mut orders: MessageReader<T>,
    mut pending: ResMut<PendingOrders<T>>,
    mut issued: ResMut<IssuedOrders>,
) {
    for order in orders.read() {
        pending.0.push(order.clone());
        issued.note();
    }
}

/// Removes the orders that were answered in this tick.
fn close<T: Order>(mut answers: MessageReader<T::Answer>, mut pending: ResMut<PendingOrders<T>>) {
    for key in answers.read().filter_map(T::ended_by) {
        pending.0.retain(|order| order.key() != key);
    }
}
