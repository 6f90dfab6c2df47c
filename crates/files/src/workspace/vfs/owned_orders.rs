//! The owners of file orders under way: what a module gave each of its orders for. The module keeps them with its saved
//! state, so that an outcome finds its owner in a reopened room, too, without anything being read from keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::order::{FileOrder, FileOutcome};
use super::pending_orders::PendingFileOrders;
use crate::base::Id;

/// The owners of a module's orders, by key. Each order is answered once, so there are as many as orders under way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OwnedOrders<Owner>(BTreeMap<Id, Owner>);

impl<Owner> Default for OwnedOrders<Owner> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<Owner> OwnedOrders<Owner> {
    /// Records for whom an order is given.
    pub fn add(&mut self, order: &FileOrder, owner: Owner) {
        self.0.insert(order.key.clone(), owner);
    }

    /// Removes and returns the owner of the order that has this outcome; `None` if it is another module's.
    pub fn take(&mut self, outcome: &FileOutcome) -> Option<Owner> {
        self.0.remove(&outcome.key)
    }

    /// Iterates over the owners that wait for an outcome.
    pub fn owners(&self) -> impl Iterator<Item = &Owner> {
        self.0.values()
    }

    /// Forgets the owners that no longer wait.
    pub fn retain(&mut self, mut waits: impl FnMut(&Owner) -> bool) {
        self.0.retain(|_, owner| waits(owner));
    }

    /// Whether no outcome is awaited.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Finds the owners of orders under way in a room that was saved before owners were: `owner_of` reads them from the
    /// keys of that time.
    pub fn adopt(&mut self, under_way: &PendingFileOrders, owner_of: impl Fn(&str) -> Option<Owner>) {
        for order in under_way.iter() {
            if let Some(owner) = owner_of(&order.key) {
                self.0.entry(order.key.clone()).or_insert(owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::super::executor::tests::{order, read};
    use super::*;

    fn outcome(key: &str) -> FileOutcome {
        let FileOrder { key, author, activation, cause, .. } = order(key, "ada", read("a.md"));
        let result = Err(super::super::FileFailure { what: "it is gone".to_owned(), is_refusal: false });
        FileOutcome { key, author, activation, result, cause, worktree: None, restores: false }
    }

    #[test]
    fn an_outcome_finds_its_owner_once_also_after_the_room_was_saved() {
        let mut owned = OwnedOrders::default();
        owned.add(&order("one", "ada", read("a.md")), 1_u64);
        owned.add(&order("two", "ada", read("a.md")), 2);
        let saved = serde_json::to_value(&owned).expect("it can be saved");
        let mut owned: OwnedOrders<u64> = serde_json::from_value(saved).expect("it can be loaded");
        assert_eq!((owned.take(&outcome("two")), owned.take(&outcome("two"))), (Some(2), None));
        assert_eq!(owned.take(&outcome("of another")), None);
        owned.retain(|owner| *owner != 1);
        assert!(owned.is_empty());
    }

    #[test]
    fn owners_of_a_room_that_was_saved_without_them_are_read_from_the_keys_of_that_time() {
        let orders = ["mine/7", "others/8", "mine/odd"].map(|key| order(key, "ada", read("a.md")));
        let under_way = PendingFileOrders(VecDeque::from(orders));
        let mut owned = OwnedOrders::default();
        owned.add(&order("mine/9", "ada", read("a.md")), 9_u64);
        owned.adopt(&under_way, |key| key.strip_prefix("mine/")?.parse().ok());
        assert_eq!(owned.owners().copied().collect::<Vec<_>>(), [7, 9]);
    }
}
