//! Agents and elements that left the room recently, to tell additions from restorations by Undo.

use std::collections::BTreeMap;

use crate::base::{Id, Seq};
use crate::log::EventKind;
use crate::log::events::{AgentAdded, AgentRemoved, ElementChangeKind, ElementChanged};
use crate::view::event_list::EventRow;

/// The maximum number of departures that are remembered.
const CAPACITY: usize = 1_000;

/// The recent departures of this run: agents with their profiles, elements with their kinds.
#[derive(Clone, Debug, Default)]
pub(super) struct Departures {
    agents: DepartureSet,
    elements: DepartureSet,
}

impl Departures {
    /// Processes a record. Returns whether it restores an agent or element that had left.
    pub(super) fn add_record(&mut self, row: &EventRow) -> bool {
        match &row.kind {
            // Agents and elements that come with a new run are not restored.
            EventKind::RunStart => *self = Self::default(),
            EventKind::AgentRemoved => {
                if let Some((agent, removed)) = row.agent.clone().zip(row.read::<AgentRemoved>()) {
                    self.agents.insert(agent, removed.profile, row.seq);
                }
            }
            EventKind::AgentAdded => {
                let back = row.agent.as_ref().zip(row.read::<AgentAdded>());
                return back.is_some_and(|(agent, back)| self.agents.remove_if_same(agent, &back.profile));
            }
            EventKind::ElementChanged => match row.read::<ElementChanged>() {
                Some(change) if change.change == ElementChangeKind::Removed => {
                    self.elements.insert(change.element, change.kind, row.seq);
                }
                Some(change) if change.change == ElementChangeKind::Added => {
                    return self.elements.remove_if_same(&change.element, &change.kind);
                }
                _ => {}
            },
            _ => {}
        }
        false
    }
}

/// A bounded set of departures.
#[derive(Clone, Debug, Default)]
struct DepartureSet {
    /// The record of each departure and the profile or kind, by id.
    records: BTreeMap<Id, (Seq, Id)>,
    by_age: BTreeMap<Seq, Id>,
}

impl DepartureSet {
    fn insert(&mut self, id: Id, was: Id, at: Seq) {
        if let Some((before, _)) = self.records.insert(id.clone(), (at, was)) {
            self.by_age.remove(&before);
        }
        self.by_age.insert(at, id);
        if self.by_age.len() > CAPACITY
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.records.remove(&oldest);
        }
    }

    /// Removes the departure of `id`. Returns whether it had left with the same profile or kind.
    fn remove_if_same(&mut self, id: &Id, is: &Id) -> bool {
        let Some((at, was)) = self.records.remove(id) else { return false };
        self.by_age.remove(&at);
        was == *is
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_departures_are_remembered() {
        // The order of ids is the reverse of the order of departure.
        let id = |number: usize| Id::from(format!("agent-{}", 90_000 - number));
        let (ada, bram) = (Id::from("ada"), Id::from("bram"));
        let mut departures = DepartureSet::default();
        for number in 0..=CAPACITY {
            departures.insert(id(number), ada.clone(), Seq(number as u64));
        }
        assert!(!departures.remove_if_same(&id(0), &ada), "the oldest departure is forgotten");
        assert!(departures.remove_if_same(&id(1), &ada) && departures.remove_if_same(&id(CAPACITY), &ada));
        assert!(!departures.remove_if_same(&id(1), &ada), "it has returned already");
        assert!(!departures.remove_if_same(&id(2), &bram), "another profile with the same id");
        departures.insert(id(3), bram.clone(), Seq(9_000));
        assert!(departures.remove_if_same(&id(3), &bram), "the latest departure counts");
        assert_eq!(departures.records.len(), departures.by_age.len());
    }
}
