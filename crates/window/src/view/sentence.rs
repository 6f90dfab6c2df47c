//! A record of the event log as one line in plain words. Pure text: whatever stands in a record, something is said.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::book::EventRow;
use super::model::RoomModel;
use crate::base::Id;
use crate::base::text::{one_line, truncate};
use crate::log::EventKind;

mod inputs;
mod told;

/// A sentence is no longer than this.
pub const SENTENCE_CHARS: usize = 300;

/// What agents and elements are called, by id; of those that left, too. Learned from the room and from its log.
#[derive(Clone, Debug, Default)]
pub struct Names {
    agents: BTreeMap<Id, Id>,
    elements: BTreeMap<Id, Id>,
    /// The names of the room as they were learned last, to see at a glance that nothing is new.
    room: Vec<Id>,
    labels: Vec<Id>,
    version: u64,
    renames: u64,
}

impl Names {
    /// Learns the names of everyone and everything in the room. Costs nothing where nothing changed.
    pub fn learn_room(&mut self, room: &RoomModel) {
        if !are(&self.room, room.agents.iter().map(|agent| &agent.name)) {
            self.room = room.agents.iter().map(|agent| agent.name.clone()).collect();
            for agent in &room.agents {
                self.learn_agent(&agent.id, &agent.name);
            }
        }
        if !are(&self.labels, room.elements.iter().map(|element| &element.label)) {
            self.labels = room.elements.iter().map(|element| element.label.clone()).collect();
            for element in &room.elements {
                let before = self.elements.insert(element.id.clone(), element.label.clone());
                self.note_change(before, &element.label);
            }
        }
    }

    /// Learns what an agent is called.
    pub fn learn_agent(&mut self, id: &Id, name: &Id) {
        let before = self.agents.insert(id.clone(), name.clone());
        self.note_change(before, name);
    }

    /// Learns what an agent was called, unless its name is known. What was said of it so far is said otherwise now.
    pub fn learn_former(&mut self, id: &Id, name: Id) {
        if !self.agents.contains_key(id) {
            self.learn_agent(id, &name);
            self.renames += 1;
        }
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

    /// Changes whenever somebody who was known is called something else.
    pub fn renames(&self) -> u64 {
        self.renames
    }

    /// What somebody is called: the name of an agent, “you” for the person, else the word itself.
    pub fn called<'a>(&'a self, who: &'a str) -> &'a str {
        match self.agents.get(who) {
            Some(name) => name,
            None if who == "user" => "you",
            None if who == "outside" => "somebody outside the program",
            None => who,
        }
    }

    /// What an element is called.
    pub fn element<'a>(&'a self, id: &'a str) -> &'a str {
        self.elements.get(id).map_or(id, |label| label)
    }
}

/// Whether these are the same texts as those, without looking into them.
fn are<'a>(known: &[Id], shown: impl ExactSizeIterator<Item = &'a Id>) -> bool {
    known.len() == shown.len() && known.iter().zip(shown).all(|(known, shown)| Arc::ptr_eq(known, shown))
}

/// The record in one line, in plain words.
pub fn sentence(row: &EventRow, names: &Names) -> String {
    let facts = Facts { data: row.value(), row, names };
    let mut told = told::told(&facts);
    if !facts.data.is_object() {
        let raw = clip(&row.data);
        told = if raw.is_empty() { told } else { format!("{told} (its data cannot be read: {raw})") };
    }
    let told = truncate(&one_line(&told), SENTENCE_CHARS);
    // Paths, ids and names of tools are written as they are.
    let is_word =
        told.split(' ').next().is_some_and(|word| word.trim_end_matches(':').chars().all(char::is_alphabetic));
    if is_word { capitalised(&told) } else { told }
}

/// What a kind of record is called.
pub fn kind_words(kind: EventKind) -> String {
    capitalised(&kind.word().replace('_', " "))
}

/// A count with its thousands apart: `100,000`.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The beginning of a text in one line: a huge one is not gone through.
fn clip(text: &str) -> String {
    let start: String = text.chars().take(SENTENCE_CHARS * 2).collect();
    one_line(&start)
}

/// A record with its data opened.
struct Facts<'a> {
    data: Value,
    row: &'a EventRow,
    names: &'a Names,
}

impl Facts<'_> {
    /// A field as text; nothing where it is missing or something else.
    fn text(&self, key: &str) -> String {
        text_of(&self.data[key])
    }

    /// A field as a count.
    fn count(&self, key: &str) -> Option<u64> {
        self.data[key].as_u64()
    }

    /// Whether a field is there and true.
    fn is(&self, key: &str) -> bool {
        self.data[key] == true
    }

    /// Who somebody in a field is.
    fn called(&self, key: &str) -> String {
        let who = self.data[key].as_str().unwrap_or_default();
        if who.is_empty() { "somebody".to_owned() } else { clip(self.names.called(who)) }
    }

    /// The element in a field.
    fn element(&self, key: &str) -> String {
        let id = self.data[key].as_str().unwrap_or_default();
        if id.is_empty() { "an element".to_owned() } else { clip(self.names.element(id)) }
    }

    /// Whom a record is about: its agent, else whoever did it.
    fn who(&self) -> String {
        match &self.row.agent {
            Some(agent) => clip(self.names.called(agent)),
            None if self.data["by"].is_string() => self.called("by"),
            None => "somebody".to_owned(),
        }
    }

    /// Everyone in a list.
    fn everyone(&self, key: &str) -> String {
        let list = self.data[key].as_array().map(Vec::as_slice).unwrap_or_default();
        let names: Vec<&str> = list.iter().filter_map(Value::as_str).take(8).map(|id| self.names.called(id)).collect();
        let more = list.len().saturating_sub(names.len());
        match names.as_slice() {
            [] => "agents".to_owned(),
            _ if more > 0 => format!("{} and {more} more", names.join(", ")),
            [one] => (*one).to_owned(),
            [most @ .., last] => format!("{} and {last}", most.join(", ")),
        }
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => clip(text),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
#[path = "sentence_tests.rs"]
mod tests;
