//! The names of agents and elements by id, including those that left. Learned from the room and its log.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AddedEvents, Naming, Narrator, spoken};
use crate::base::Id;

/// Names by id.
#[derive(Clone, Debug, Default)]
pub struct Names {
    agents: BTreeMap<Id, Id>,
    elements: BTreeMap<Id, Id>,
    /// The names of the room as they were learned last, to see at a glance that nothing is new.
    room: Vec<Id>,
    labels: Vec<Id>,
    added: AddedEvents,
    version: u64,
    renames: u64,
}

impl Names {
    /// Learns the names of every agent in the room: id and name. Costs nothing where nothing changed.
    pub fn learn_agents<'a>(&mut self, agents: impl ExactSizeIterator<Item = (&'a Id, &'a Id)> + Clone) {
        if !are(&self.room, agents.clone().map(|(_, name)| name)) {
            self.room = agents.clone().map(|(_, name)| name.clone()).collect();
            for (id, name) in agents {
                self.learn_agent(id, name);
            }
        }
    }

    /// Learns the labels of every element in the room: id and label. Costs nothing where nothing changed.
    pub fn learn_elements<'a>(&mut self, elements: impl ExactSizeIterator<Item = (&'a Id, &'a Id)> + Clone) {
        if !are(&self.labels, elements.clone().map(|(_, label)| label)) {
            self.labels = elements.clone().map(|(_, label)| label.clone()).collect();
            for (id, label) in elements {
                let before = self.elements.insert(id.clone(), label.clone());
                self.note_change(before, label);
            }
        }
    }

    /// Learns what an agent is called.
    pub fn learn_agent(&mut self, id: &Id, name: &Id) {
        let before = self.agents.insert(id.clone(), name.clone());
        self.note_change(before, name);
    }

    /// Learns the former name of an agent, unless its name is known. Earlier sentences about it change.
    pub fn learn_former(&mut self, id: &Id, name: Id) {
        if !self.agents.contains_key(id) {
            self.learn_agent(id, &name);
            self.renames += 1;
        }
    }

    /// Learns the words for events that were added. Costs nothing where nothing changed.
    pub fn learn_events(&mut self, added: &AddedEvents) {
        if !self.added.is(added) {
            self.added = added.clone();
            self.version += 1;
            self.renames += 1;
        }
    }

    /// A narrator who uses these names, and knows the events that were added.
    pub fn narrator(&self) -> Narrator<'_> {
        Narrator::new(self).with(&self.added)
    }

    fn note_change(&mut self, before: Option<Id>, now: &Id) {
        if before.as_ref() != Some(now) {
            self.version += 1;
            self.renames += u64::from(before.is_some());
        }
    }

    /// Changes whenever a sentence may be another.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Changes whenever a known id gets another name.
    pub fn renames(&self) -> u64 {
        self.renames
    }

    /// The display name of an id: the name of an agent, “you” for the person, or the id itself.
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

/// Whether these are the same texts as those, without looking into them.
fn are<'a>(known: &[Id], shown: impl ExactSizeIterator<Item = &'a Id>) -> bool {
    known.len() == shown.len() && known.iter().zip(shown).all(|(known, shown)| Arc::ptr_eq(known, shown))
}
