//! The origin of the knowledge and actions of agents: the log record of an input from outside the room, and how often
//! agents have passed it on since. Information that was passed on often enough no longer wakes agents, so a room
//! without new input becomes idle, whatever its models answer.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::{ElementKey, Seq};

/// The origin of something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// The log record of the external input; 0 for content that existed from the start.
    pub root: Seq,
    /// The tick of that record.
    pub tick: u64,
    /// How often agents have passed it on since.
    pub hops: u32,
}

impl Provenance {
    /// The origin of an external input with this record, at this tick.
    pub fn outside(root: Seq, tick: u64) -> Self {
        Self { root, tick, hops: 0 }
    }

    /// The origin after an agent passed it on.
    pub fn passed_on(self) -> Self {
        Self { hops: self.hops.saturating_add(1), ..self }
    }

    /// Returns the newer of two origins; with the same root, the one that was passed on less.
    pub fn newer(self, other: Self) -> Self {
        let rank = |one: Self| (one.root, std::cmp::Reverse(one.hops), one.tick);
        if rank(other) > rank(self) { other } else { self }
    }
}

/// The last change of an element with a certain number of hops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct LastChange {
    version: u32,
    origin: Provenance,
}

/// For every element, the version of its last change at each number of hops. Written by `simulation` only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct LastChanges(BTreeMap<ElementKey, Vec<Option<LastChange>>>);

impl LastChanges {
    /// Records a change of an element. Changes with too many hops are ignored.
    pub fn note(&mut self, element: ElementKey, version: u32, origin: Provenance, hops_at_most: u32) {
        let by_hops = self.0.entry(element).or_default();
        if origin.hops > hops_at_most {
            return;
        }
        let index = origin.hops as usize;
        if by_hops.len() <= index {
            by_hops.resize(index + 1, None);
        }
        by_hops[index] = Some(LastChange { version, origin });
    }

    /// The origin of the changes of an element since a version was read, or since the start: the one with the fewest
    /// hops. `None` if there are no changes that count as news.
    pub fn since(&self, element: ElementKey, read: Option<u32>) -> Option<Provenance> {
        let is_unread = |change: &LastChange| read.is_none_or(|read| change.version > read);
        match self.0.get(&element) {
            Some(by_hops) => {
                let nearest = by_hops.iter().flatten().find(|change| is_unread(change));
                nearest.map(|change| change.origin).or(read.is_none().then(Provenance::default))
            }
            // The changes of this element were not recorded.
            None => Some(Provenance::default()),
        }
    }

    /// Forgets an element that is gone.
    pub fn forget(&mut self, element: ElementKey) {
        self.0.remove(&element);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDEAS: ElementKey = ElementKey(1);

    fn origin(root: u64, hops: u32) -> Provenance {
        Provenance { root: Seq(root), tick: root * 10, hops }
    }

    #[test]
    fn the_newer_origin_wins_and_of_equal_ones_the_one_with_fewer_hops() {
        assert_eq!(Provenance::default().newer(origin(5, 1)), origin(5, 1));
        assert_eq!(origin(5, 1).newer(origin(5, 0)), origin(5, 0));
        assert_eq!(origin(5, 1).newer(origin(5, 2)), origin(5, 1));
        assert_eq!((origin(5, 0).newer(origin(9, 3)), origin(9, 3).newer(origin(5, 0))), (origin(9, 3), origin(9, 3)));
        assert_eq!(Provenance::outside(Seq(5), 50).passed_on(), origin(5, 1));
    }

    #[test]
    fn of_missed_changes_the_one_with_the_fewest_hops_counts() {
        let mut changes = LastChanges::default();
        assert_eq!(changes.since(IDEAS, Some(3)), Some(Provenance::default()), "nobody knows what changed");
        changes.note(IDEAS, 4, origin(10, 0), 2);
        changes.note(IDEAS, 5, origin(10, 2), 2);
        changes.note(IDEAS, 6, origin(10, 3), 2);
        assert_eq!(changes.since(IDEAS, Some(3)), Some(origin(10, 0)));
        assert_eq!(changes.since(IDEAS, None), Some(origin(10, 0)));
        assert_eq!(changes.since(IDEAS, Some(4)), Some(origin(10, 2)));
        assert_eq!(changes.since(IDEAS, Some(5)), None, "it was handed on too often");
        let other = ElementKey(2);
        changes.note(other, 1, origin(10, 3), 2);
        assert_eq!((changes.since(other, None), changes.since(other, Some(0))), (Some(Provenance::default()), None));
    }
}
