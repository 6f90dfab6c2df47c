//! The names of agents and elements by id, including those that were removed. Learned from the room and its log.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AddedEvents, Naming, Narrator, spoken};
use crate::base::Id;

/// Names by id.
#[derive(Clone, Debug, Default)]
pub struct Names {
    agents: BTreeMap<Id, Id>,
    elements: BTreeMap<Id, Id>,
    /// The names when they were last learned from the room, to detect quickly that nothing changed.
    room: Vec<Id>,
    labels: Vec<Id>,
    added: AddedEvents,
    version: u64,
    renames: u64,
}

impl Names {
    /// Learns the names of all agents in the room, given as ids and names. Cheap if nothing changed.
    pub fn learn_agents<'a>(&mut self, agents: impl ExactSizeIterator<Item = (&'a Id, &'a Id)> + Clone) {
        if !are(&self.room, agents.clone().map(|(_, name)| name)) {
            self.room = agents.clone().map(|(_, name)| name.clone()).collect();
            for (id, name) in agents {
                self.learn_agent(id, name);
            }
        }
    }

    /// Learns the labels of all elements in the room, given as ids and labels. Cheap if nothing changed.
    pub fn learn_elements<'a>(&mut self, elements: impl ExactSizeIterator<Item = (&'a Id, &'a Id)> + Clone) {
        if !are(&self.labels, elements.clone().map(|(_, label)| label)) {
            self.labels = elements.clone().map(|(_, label)| label.clone()).collect();
            for (id, label) in elements {
                let before = self.elements.insert(id.clone(), label.clone());
                self.note_change(before, label);
            }
        }
    }

    /// Learns the name of an agent.
    pub fn learn_agent(&mut self, id: &Id, name: &Id) {
        let before = self.agents.insert(id.clone(), name.clone());
        self.note_change(before, name);
    }

    /// Learns the name of a removed agent, unless it is known. Earlier sentences about the agent change.
    pub fn learn_removed_agent(&mut self, id: &Id, name: Id) {
        if !self.agents.contains_key(id) {
            self.learn_agent(id, &name);
            self.renames += 1;
        }
    }

    /// Learns the descriptions of added events. Cheap if nothing changed.
    pub fn learn_events(&mut self, added: &AddedEvents) {
        if !self.added.is(added) {
            self.added = added.clone();
            self.version += 1;
            self.renames += 1;
        }
    }

    /// Returns a narrator that uses these names, and knows the added events.
    pub fn narrator(&self) -> Narrator<'_> {
        Narrator::new(self).with(&self.added)
    }

    fn note_change(&mut self, before: Option<Id>, now: &Id) {
        if before.as_ref() != Some(now) {
            self.version += 1;
            self.renames += u64::from(before.is_some());
        }
    }

    /// Returns a number that changes whenever a sentence may change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns a number that changes whenever a known id gets another name.
    pub fn renames(&self) -> u64 {
        self.renames
    }

    /// Returns the display name of an id: the name of an agent, “you” for the person, or the id itself.
    pub fn called<'a>(&'a self, who: &'a str) -> &'a str {
        spoken(self.agents.get(who).map(|name| &**name), who)
    }
}

impl Naming for Names {
    fn agent(&self, id: &str) -> Option<Id> {
        self.agents.get(id).cloned()
    }

    fn element(&self, id: &str) -> Option<Id> {
        self.elements.get(id).cloned()
    }
}

/// Whether both lists contain the same allocations, without comparing the contents.
fn are<'a>(known: &[Id], shown: impl ExactSizeIterator<Item = &'a Id>) -> bool {
    known.len() == shown.len() && known.iter().zip(shown).all(|(known, shown)| Arc::ptr_eq(known, shown))
}
