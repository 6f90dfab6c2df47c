//! Agents and elements that left the room recently: distinguishes what is added for the first time from what Undo
//! restores.

use std::collections::BTreeMap;

use crate::base::{Id, Seq};
use crate::log::EventKind;
use crate::log::events::{AgentAdded, AgentRemoved, ElementChanged, ElementDeed};
use crate::view::event_list::EventRow;

/// So many of those who left are remembered.
const LEFT_KEPT: usize = 1_000;

/// Who and what left in this run: agents with their profiles, elements with their kinds.
#[derive(Clone, Debug, Default)]
pub(super) struct Left {
    agents: Gone,
    elements: Gone,
}

impl Left {
    /// Takes in a record. Whether it says that somebody or something is back.
    pub(super) fn note(&mut self, row: &EventRow) -> bool {
        match &row.kind {
            // What comes in with another run is no news.
            EventKind::RunStart => *self = Self::default(),
            EventKind::AgentRemoved => {
                if let Some((agent, gone)) = row.agent.clone().zip(row.read::<AgentRemoved>()) {
                    self.agents.leave(agent, gone.profile, row.seq);
                }
            }
            EventKind::AgentAdded => {
                let back = row.agent.as_ref().zip(row.read::<AgentAdded>());
                return back.is_some_and(|(agent, back)| self.agents.is_back(agent, &back.profile));
            }
            EventKind::ElementChanged => match row.read::<ElementChanged>() {
                Some(change) if change.change == ElementDeed::Removed => {
                    self.elements.leave(change.element, change.kind, row.seq);
                }
                Some(change) if change.change == ElementDeed::Added => {
                    return self.elements.is_back(&change.element, &change.kind);
                }
                _ => {}
            },
            _ => {}
        }
        false
    }
}

/// Those that left last.
#[derive(Clone, Debug, Default)]
struct Gone {
    /// By id: the record of it, and what they were.
    known: BTreeMap<Id, (Seq, Id)>,
    by_age: BTreeMap<Seq, Id>,
}

impl Gone {
    fn leave(&mut self, id: Id, was: Id, at: Seq) {
        if let Some((before, _)) = self.known.insert(id.clone(), (at, was)) {
            self.by_age.remove(&before);
        }
        self.by_age.insert(at, id);
        if self.by_age.len() > LEFT_KEPT
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.known.remove(&oldest);
        }
    }

    /// Whether what comes in now had left as the same.
    fn is_back(&mut self, id: &Id, is: &Id) -> bool {
        let Some((at, was)) = self.known.remove(id) else { return false };
        self.by_age.remove(&at);
        was == *is
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_that_left_those_are_known_that_left_last() {
        // By name, whoever leaves last stands first.
        let id = |number: usize| Id::from(format!("agent-{}", 90_000 - number));
        let (ada, bram) = (Id::from("ada"), Id::from("bram"));
        let mut gone = Gone::default();
        for number in 0..=LEFT_KEPT {
            gone.leave(id(number), ada.clone(), Seq(number as u64));
        }
        assert!(!gone.is_back(&id(0), &ada), "it left first, and is forgotten");
        assert!(gone.is_back(&id(1), &ada) && gone.is_back(&id(LEFT_KEPT), &ada));
        assert!(!gone.is_back(&id(1), &ada), "it is back already");
        assert!(!gone.is_back(&id(2), &bram), "another came with its name");
        gone.leave(id(3), bram.clone(), Seq(9_000));
        assert!(gone.is_back(&id(3), &bram), "as what it left last");
        assert_eq!(gone.known.len(), gone.by_age.len());
    }
}
