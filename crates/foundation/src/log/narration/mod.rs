//! Describes a record in one line of plain text, for the window, the terminal and notices. Every record has a
//! description.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy::ecs::prelude::Resource;

use super::event::{EventJson, EventRecord};
use super::events::{Event, EventData, EventKind};
use crate::base::Id;
use crate::base::text::{one_line, truncate};

mod names;

pub use names::Names;

/// A sentence is no longer than this.
pub const SENTENCE_CHARS: usize = 300;
/// The name of a kind that another version wrote is shown no longer than this.
const KIND_CHARS: usize = 40;

/// Looks up the names of agents and elements.
pub trait Naming {
    /// The name of the agent with this id, if it is known.
    fn agent(&self, id: &str) -> Option<Id>;

    /// The label of the element with this id, if it is known.
    fn element(&self, id: &str) -> Option<Id>;
}

/// What somebody is called who has this name, if any: “you” for the person, else the word itself.
fn spoken<'a>(name: Option<&'a str>, who: &'a str) -> &'a str {
    match (name, who) {
        (Some(name), _) => name,
        (None, "user") => "you",
        (None, "outside") => "somebody outside the program",
        (None, _) => who,
    }
}

/// The description of a record: what happened, and what a person can do about it, if anything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Narration {
    /// What happened: a sentence without a full stop, with a small letter at its head, in one line.
    pub what: String,
    /// What to do; empty where there is nothing to do.
    pub remedy: String,
}

impl Narration {
    fn of<E>(event: &E, narrate: impl Fn(&E) -> String, remedy: impl Fn(&E) -> &str) -> Self {
        Self { what: clip(&narrate(event)), remedy: clip(remedy(event)) }
    }
}

/// Tells an event of a kind that is not in the table.
type NarrateFn = fn(&EventJson, &NarrationContext<'_>) -> Option<Narration>;

/// Additional kinds of events, outside the built-in table, with their descriptions. Code that adds an event registers
/// it in this resource of the room.
#[derive(Resource, Clone, Default)]
pub struct AddedEvents(Arc<BTreeMap<EventKind, NarrateFn>>);

impl AddedEvents {
    /// Adds the events of this type.
    pub fn add<E: EventData>(&mut self) {
        let tell: NarrateFn = |data, telling| {
            let event = data.parse::<E>()?;
            Some(Narration::of(&event, |event| event.narrate(telling), E::to_do))
        };
        Arc::make_mut(&mut self.0).insert(E::KIND, tell);
    }

    /// Whether events of this kind were added.
    pub fn has(&self, kind: &EventKind) -> bool {
        self.0.contains_key(kind)
    }

    /// Whether these are those, without looking into them.
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
    /// A narrator who calls everybody so.
    pub fn new(names: &'a dyn Naming) -> Self {
        Self { names, added: AddedEvents::default() }
    }

    /// One who knows these events, too.
    pub fn with(self, added: &AddedEvents) -> Self {
        Self { added: added.clone(), ..self }
    }

    /// A record in one line: a whole sentence without a full stop.
    pub fn sentence(&self, record: &EventRecord) -> String {
        self.sentence_of(&record.draft.kind, record.draft.agent.as_ref(), record.draft.data())
    }

    /// The same of a record that is kept in another form: its kind, its agent, and its data.
    pub fn sentence_of(&self, kind: &EventKind, agent: Option<&Id>, data: &EventJson) -> String {
        let Narration { what, remedy } = self.narrate_kind(kind, agent, data);
        let told = truncate(&with(&what, ". What to do: ", &remedy), SENTENCE_CHARS);
        // Paths, ids and names of tools are written as they are.
        let is_word =
            told.split(' ').next().is_some_and(|word| word.trim_end_matches(':').chars().all(char::is_alphabetic));
        if is_word { capitalised(&told) } else { told }
    }

    /// A record in two parts: what happened, and what to do about it.
    pub fn narrate(&self, record: &EventRecord) -> Narration {
        self.narrate_kind(&record.draft.kind, record.draft.agent.as_ref(), record.draft.data())
    }

    /// Whether something better than its data can be said of a record of this kind.
    pub fn knows(&self, kind: &EventKind) -> bool {
        !matches!(kind, EventKind::Other(_)) || self.added.has(kind)
    }

    fn narrate_kind(&self, kind: &EventKind, agent: Option<&Id>, data: &EventJson) -> Narration {
        let telling = NarrationContext { agent, names: self.names };
        let added = self.added.0.get(kind).and_then(|tell| tell(data, &telling));
        added.unwrap_or_else(|| Narration::of(&Event::parse(kind, data), |event| event.narrate(&telling), Event::to_do))
    }
}

/// What describing an event needs besides its data: its agent, and the names of agents and elements.
pub struct NarrationContext<'a> {
    agent: Option<&'a Id>,
    names: &'a dyn Naming,
}

impl NarrationContext<'_> {
    /// The agent that the record is about; nothing where there is none.
    pub fn agent(&self) -> String {
        self.agent.map(|agent| self.called(agent)).unwrap_or_default()
    }

    /// The name of the agent that the record is about, or “somebody”.
    pub fn who(&self) -> String {
        self.agent_or("")
    }

    /// The agent that the record is about, else whoever did it.
    pub fn agent_or(&self, by: &str) -> String {
        self.agent.map_or_else(|| self.called(by), |agent| self.called(agent))
    }

    /// The name of the one who did it, or of the agent that the record is about.
    pub fn by(&self, by: &str) -> String {
        if by.is_empty() { self.who() } else { self.called(by) }
    }

    /// The display name of an id.
    pub fn called(&self, who: &str) -> String {
        if who.is_empty() { "somebody".to_owned() } else { clip(spoken(self.names.agent(who).as_deref(), who)) }
    }

    /// What an element is called.
    pub fn element(&self, id: &str) -> String {
        match id {
            "" => "an element".to_owned(),
            _ => clip(self.names.element(id).as_deref().unwrap_or(id)),
        }
    }

    /// Everyone in a list, the first of them by name.
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

/// Two parts with something between them; the first alone where there is no second.
pub fn with(first: &str, between: &str, second: &str) -> String {
    match clip(second) {
        second if second.is_empty() => first.to_owned(),
        second => format!("{first}{between}{second}"),
    }
}

/// A remark in brackets, where there is one.
pub fn aside(said: &str, remark: &str) -> String {
    match clip(remark) {
        remark if remark.is_empty() => said.to_owned(),
        remark => format!("{said} ({remark})"),
    }
}

/// A count with its noun: `1 turn`, `1,200 tokens`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count), if count == 1 { one } else { many })
}

/// Those that are there, with commas between them.
pub fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// What a kind of record is called.
pub fn kind_words(kind: &EventKind) -> String {
    match truncate(&one_line(&kind.word().replace('_', " ")), KIND_CHARS) {
        words if words.is_empty() => "Record".to_owned(),
        words => capitalised(&words),
    }
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

/// The beginning of a text in one line: a huge one is not gone through.
pub fn clip(text: &str) -> String {
    let start: String = text.chars().take(SENTENCE_CHARS * 2).collect();
    one_line(&start)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests;
