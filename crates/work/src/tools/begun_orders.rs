//! The orders that an executor started in this process and has not finished. None of this is saved: an order that an
//! executor finds when it first looks may already have been carried out, in part or as a whole.

use std::collections::BTreeSet;

use super::order::{OrderKey, PendingToolOrders, ToolOrder, ToolOutcome};
use crate::schedule::InputQueue;

/// The orders of one executor.
#[derive(Default)]
pub(super) struct BegunOrders {
    orders: BTreeSet<OrderKey>,
    has_looked: bool,
}

impl BegunOrders {
    /// How many are running.
    pub(super) fn len(&self) -> usize {
        self.orders.len()
    }

    /// Whether this one is running.
    pub(super) fn contains(&self, key: OrderKey) -> bool {
        self.orders.contains(&key)
    }

    /// One was begun.
    pub(super) fn begin(&mut self, key: OrderKey) {
        self.orders.insert(key);
    }

    /// One has ended; `false` if it was not begun here, or nobody waits for it any more.
    pub(super) fn end(&mut self, key: OrderKey) -> bool {
        self.orders.remove(&key)
    }

    /// Takes out what was begun and nobody waits for any more, and is to be stopped.
    pub(super) fn take_given_up(&mut self, pending: &PendingToolOrders) -> Vec<OrderKey> {
        self.orders.extract_if(.., |key| pending.get(*key).is_none()).collect()
    }

    /// Whether this process looks at its orders for the first time: what it finds now was given before it began.
    pub(super) fn look(&mut self) -> bool {
        !std::mem::replace(&mut self.has_looked, true)
    }

    /// Whether an order is neither running nor has an outcome that is about to be admitted.
    pub(super) fn is_due(&self, order: &ToolOrder, outcomes: &InputQueue<ToolOutcome>) -> bool {
        !self.contains(order.key) && !outcomes.waiting().any(|outcome| outcome.key == order.key)
    }
}
