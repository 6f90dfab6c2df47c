//! Describes a record in one line of plain text, for the window, the terminal and notices. Every record has a
//! description.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy::ecs::prelude::Resource;

use super::event::{EventJson, EventRecord};
use super::events::{Event, EventData, EventKind};
use crate::base::Id;
use crate::base::text::{capitalised, one_line, truncate};

mod names;

pub use names::Names;

/// The maximum length of a sentence in characters.
pub const SENTENCE_CHARS: usize = 300;
/// The maximum length of the shown name of an unknown kind, in characters.
const KIND_CHARS: usize = 40;

/// Looks up the names of agents and elements.
pub trait Naming {
    /// Returns the name of the agent with this id, if it is known.
    fn agent(&self, id: &str) -> Option<Id>;

    /// Returns the label of the element with this id, if it is known.
    fn element(&self, id: &str) -> Option<Id>;
}

/// Returns the display name of an author: the given name, “you” for the person, “the room” for what the room does by itself,
/// otherwise the id itself.
fn spoken<'a>(name: Option<&'a str>, who: &'a str) -> &'a str {
    match (name, who) {
        (Some(name), _) => name,
        (None, "user") => "you",
        (None, "outside") => "somebody outside the program",
        (None, "room") => "the room",
        (None, _) => who,
    }
}

/// The description of a record: what happened, and what a person can do about it, if anything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Narration {
    /// What happened: a sentence on one line without a full stop, starting with a lower-case letter.
    pub what: String,
    /// What to do; empty if nothing can be done.
    pub remedy: String,
}

impl Narration {
    fn of<E>(event: &E, narrate: impl Fn(&E) -> String, remedy: impl Fn(&E) -> &str) -> Self {
        Self { what: clip(&narrate(event)), remedy: clip(remedy(event)) }
    }
}

/// Describes an event of a kind that is not in the table.
type NarrateFn = fn(&EventJson, &NarrationContext<'_>) -> Option<Narration>;

/// Additional kinds of events, outside of the built-in table, with their descriptions. Code that adds an event
/// registers it in this resource of the room.
#[derive(Resource, Clone, Default)]
pub struct AddedEvents(Arc<BTreeMap<EventKind, NarrateFn>>);

impl AddedEvents {
    /// Adds this type of event.
    pub fn add<E: EventData>(&mut self) {
        let tell: NarrateFn = |data, context| {
            let event = data.parse::<E>()?;
            Some(Narration::of(&event, |event| event.narrate(context), E::remedy))
        };
        Arc::make_mut(&mut self.0).insert(E::KIND, tell);
    }

    /// Whether this kind was added.
    pub fn has(&self, kind: &EventKind) -> bool {
        self.0.contains_key(kind)
    }

    /// Whether both are the same allocation, without comparing the contents.
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::fmt::Debug for AddedEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Describes records as text.
pub struct Narrator<'a> {
    names: &'a dyn Naming,
    added: AddedEvents,
}

impl<'a> Narrator<'a> {
    /// Creates a narrator that uses these names.
    pub fn new(names: &'a dyn Naming) -> Self {
        Self { names, added: AddedEvents::default() }
    }

    /// Adds descriptions for these events.
    pub fn with(self, added: &AddedEvents) -> Self {
        Self { added: added.clone(), ..self }
    }

    /// Describes a record in one line: a whole sentence without a full stop.
    pub fn sentence(&self, record: &EventRecord) -> String {
        self.sentence_of(&record.draft.kind, record.draft.agent.as_ref(), record.draft.data())
    }

    /// Describes a record that is stored in another form, by its kind, agent, and data.
    pub fn sentence_of(&self, kind: &EventKind, agent: Option<&Id>, data: &EventJson) -> String {
        let Narration { what, remedy } = self.narrate_kind(kind, agent, data);
        let told = truncate(&with(&what, ". What to do: ", &remedy), SENTENCE_CHARS);
        // Paths, ids and names of tools are not capitalised.
        let is_word =
            told.split(' ').next().is_some_and(|word| word.trim_end_matches(':').chars().all(char::is_alphabetic));
        if is_word { capitalised(&told) } else { told }
    }

    /// Describes a record in two parts: what happened, and what to do about it.
    pub fn narrate(&self, record: &EventRecord) -> Narration {
        self.narrate_kind(&record.draft.kind, record.draft.agent.as_ref(), record.draft.data())
    }

    /// Whether there is a description of this kind, rather than only its data.
    pub fn describes(&self, kind: &EventKind) -> bool {
        !matches!(kind, EventKind::Other(_)) || self.added.has(kind)
    }

    fn narrate_kind(&self, kind: &EventKind, agent: Option<&Id>, data: &EventJson) -> Narration {
        let context = NarrationContext { agent, names: self.names };
        let added = self.added.0.get(kind).and_then(|tell| tell(data, &context));
        added
            .unwrap_or_else(|| Narration::of(&Event::parse(kind, data), |event| event.narrate(&context), Event::remedy))
    }
}

/// The context in which an event is described: its agent, and the names of agents and elements.
pub struct NarrationContext<'a> {
    agent: Option<&'a Id>,
    names: &'a dyn Naming,
}

impl NarrationContext<'_> {
    /// Returns the name of the agent that the record is about; empty if there is none.
    pub fn agent(&self) -> String {
        self.agent.map(|agent| self.called(agent)).unwrap_or_default()
    }

    /// Returns the name of the agent that the record is about, or “somebody”.
    pub fn who(&self) -> String {
        self.agent_or("")
    }

    /// Returns the name of the agent that the record is about, otherwise of the author.
    pub fn agent_or(&self, by: &str) -> String {
        self.agent.map_or_else(|| self.called(by), |agent| self.called(agent))
    }

    /// Returns the name of the author, or of the agent that the record is about.
    pub fn by(&self, by: &str) -> String {
        if by.is_empty() { self.who() } else { self.called(by) }
    }

    /// Returns the display name of an id.
    pub fn called(&self, who: &str) -> String {
        if who.is_empty() { "somebody".to_owned() } else { clip(spoken(self.names.agent(who).as_deref(), who)) }
    }

    /// Returns the label of an element.
    pub fn element(&self, id: &str) -> String {
        match id {
            "" => "an element".to_owned(),
            _ => clip(self.names.element(id).as_deref().unwrap_or(id)),
        }
    }

    /// Lists several agents, the first of them by name.
    pub fn everyone(&self, list: &[Id]) -> String {
        let names: Vec<String> = list.iter().take(8).map(|id| self.called(id)).collect();
        let more = list.len().saturating_sub(names.len());
        match names.as_slice() {
            [] => "agents".to_owned(),
            _ if more > 0 => format!("{} and {more} more", names.join(", ")),
            [one] => one.clone(),
            [most @ .., last] => format!("{} and {last}", most.join(", ")),
        }
    }
}

/// Joins two parts; returns the first alone if the second is empty.
pub fn with(first: &str, between: &str, second: &str) -> String {
    match clip(second) {
        second if second.is_empty() => first.to_owned(),
        second => format!("{first}{between}{second}"),
    }
}

/// Adds a remark in brackets, unless it is empty.
pub fn in_brackets(said: &str, remark: &str) -> String {
    match clip(remark) {
        remark if remark.is_empty() => said.to_owned(),
        remark => format!("{said} ({remark})"),
    }
}

/// Formats a count with its noun: `1 turn`, `1,200 tokens`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count), if count == 1 { one } else { many })
}

/// Joins the parts that are present with commas.
pub fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Returns the display name of a kind of record.
pub fn kind_words(kind: &EventKind) -> String {
    match truncate(&one_line(&kind.as_str().replace('_', " ")), KIND_CHARS) {
        words if words.is_empty() => "Record".to_owned(),
        words => capitalised(&words),
    }
}

/// Formats a count with thousands separators: `100,000`.
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

/// Returns the beginning of a text on one line, without reading the rest.
pub fn clip(text: &str) -> String {
    let start: String = text.chars().take(SENTENCE_CHARS * 2).collect();
    one_line(&start)
}

#[cfg(test)]
mod tests;
