//! Turns log rows into sentences, using the shared narration.

use super::event_list::EventRow;
use super::model::RoomModel;
use crate::base::Id;
pub use crate::log::narration::{Names, SENTENCE_CHARS, kind_words, thousands};
use crate::log::{EventJson, Naming, Narrator};

/// Records the names of all agents and elements. Costs nothing if nothing changed.
pub fn learn_room(names: &mut Names, room: &RoomModel) {
    names.learn_agents(room.agents.iter().map(|agent| (&agent.id, &agent.name)));
    names.learn_elements(room.elements.iter().map(|element| (&element.id, &element.label)));
    names.learn_events(&room.added_events);
}

/// The record as one sentence.
pub fn sentence(row: &EventRow, names: &Names) -> String {
    names.narrator().sentence_of(&row.kind, row.agent.as_ref(), &row.data)
}

/// The sentence of several similar records: `who` stands for their agents, and `data` holds the fields that are equal
/// in all of them.
pub fn sentence_of_many(row: &EventRow, who: &str, data: &EventJson, names: &Names) -> String {
    let many = Many { names, agent: row.agent.as_deref().unwrap_or_default(), who };
    Narrator::new(&many).sentence_of(&row.kind, row.agent.as_ref(), data)
}

/// Names in which `who` replaces one agent's name.
struct Many<'a> {
    names: &'a Names,
    agent: &'a str,
    who: &'a str,
}

impl Naming for Many<'_> {
    fn agent(&self, id: &str) -> Option<Id> {
        if id == self.agent { Some(self.who.into()) } else { Naming::agent(self.names, id) }
    }

    fn element(&self, id: &str) -> Option<Id> {
        Naming::element(self.names, id)
    }
}
