//! The rows of the log in plain words: the one narrator, as the window asks it.

use super::book::EventRow;
use super::model::RoomModel;
pub use crate::log::narration::{Names, SENTENCE_CHARS, kind_words, thousands};

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
