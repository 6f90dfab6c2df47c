//! The orders that an executor started in this process and has not finished. Not saved: an order that an executor finds
//! on its first look may have been executed before, partly or completely.

use std::collections::BTreeSet;

use super::order::{OrderKey, OrderOutcome, PendingToolOrders, ToolOrder};
use crate::schedule::InputQueue;

/// The started orders of one executor.
#[derive(Default)]
pub(super) struct StartedOrders {
    orders: BTreeSet<OrderKey>,
    has_looked: bool,
}

impl StartedOrders {
    /// The number of running orders.
    pub(super) fn len(&self) -> usize {
        self.orders.len()
    }

    /// Whether this order is running.
    pub(super) fn contains(&self, key: OrderKey) -> bool {
        self.orders.contains(&key)
    }

    /// Adds a started order.
    pub(super) fn begin(&mut self, key: OrderKey) {
        self.orders.insert(key);
    }

    /// Removes an ended order; returns `false` if it was not started here or was cancelled.
    pub(super) fn end(&mut self, key: OrderKey) -> bool {
        self.orders.remove(&key)
    }

    /// Removes and returns the started orders that were cancelled and have to be stopped.
    pub(super) fn take_cancelled(&mut self, pending: &PendingToolOrders) -> Vec<OrderKey> {
        self.orders.extract_if(.., |key| pending.get(*key).is_none()).collect()
    }

    /// Whether this is the first look in this process: orders found now were issued before it started.
    pub(super) fn look(&mut self) -> bool {
        !std::mem::replace(&mut self.has_looked, true)
    }

    /// Whether an order is neither running nor has an outcome waiting to be applied.
    pub(super) fn is_due(&self, order: &ToolOrder, outcomes: &InputQueue<OrderOutcome>) -> bool {
        !self.contains(order.key) && !outcomes.waiting().any(|outcome| outcome.key == order.key)
    }
}
