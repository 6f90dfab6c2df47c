//! The rows of the log in plain words, from the same narration as everywhere.

use super::event_list::EventRow;
use super::model::RoomModel;
use crate::base::Id;
pub use crate::log::narration::{Names, SENTENCE_CHARS, kind_words, thousands};
use crate::log::{EventJson, Naming, Narrator};

/// Learns the names of everyone and everything in the room. Costs nothing where nothing changed.
pub fn learn_room(names: &mut Names, room: &RoomModel) {
    names.learn_agents(room.agents.iter().map(|agent| (&agent.id, &agent.name)));
    names.learn_elements(room.elements.iter().map(|element| (&element.id, &element.label)));
    names.learn_events(&room.added_events);
}

/// The record in one line, in plain words.
pub fn sentence(row: &EventRow, names: &Names) -> String {
    names.narrator().sentence_of(&row.kind, row.agent.as_ref(), &row.data)
}

/// The record as it reads where several did the same: its agent is called so, and its data is what holds for all.
pub fn sentence_of_many(row: &EventRow, who: &str, data: &EventJson, names: &Names) -> String {
    let many = Many { names, agent: row.agent.as_deref().unwrap_or_default(), who };
    Narrator::new(&many).sentence_of(&row.kind, row.agent.as_ref(), data)
}

/// Names, with several agents under the name of one.
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
