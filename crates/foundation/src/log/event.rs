//! A record of the event log, as it is written and as it is stored.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::events::{Event, EventData, EventKind};
use crate::base::{Id, Seq};

/// The data of a record: a JSON object, as it is stored and exported. It is serialised from an event, and parsed as
/// one.
#[derive(Clone, Debug)]
pub struct EventJson(Box<RawValue>);

impl EventJson {
    pub(super) fn of(event: &impl Serialize) -> Self {
        Self(to_raw_value(event).expect("event data is plain data with string keys"))
    }

    /// Creates data from its stored form, whether or not this version can parse it as an event.
    pub fn from_stored(json: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(json).map(Self)
    }

    /// Returns the JSON text, for storing and searching; it should not be parsed separately.
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// Returns the length of the text in bytes.
    pub fn bytes(&self) -> usize {
        self.0.get().len()
    }

    /// Returns the text formatted on several lines, for a person.
    pub fn pretty(&self) -> String {
        let value = serde_json::from_str::<serde_json::Value>(self.0.get());
        value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| self.0.get().to_owned())
    }

    /// Parses the data as an event of this type; `None` if `kind` is not the kind of such events.
    pub fn read<E: EventData>(&self, kind: &EventKind) -> Option<E> {
        if *kind == E::KIND { self.parse() } else { None }
    }

    pub(super) fn parse<E: DeserializeOwned>(&self) -> Option<E> {
        serde_json::from_str(self.0.get()).ok()
    }
}

impl PartialEq for EventJson {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

/// A record before the log assigns its [`Seq`], tick and time.
#[derive(Clone, Debug)]
pub struct EventDraft {
    /// The kind of the event.
    pub kind: EventKind,
    /// The agent that it is about.
    pub agent: Option<Id>,
    /// The activation that it belongs to.
    pub activation: Option<Id>,
    /// The session or conversation that it belongs to.
    pub session: Option<Id>,
    /// The record that caused it.
    pub cause: Option<Seq>,
    data: EventJson,
    /// A long text that is stored beside the log for a limited time, and never exported.
    pub enclosure: Option<Arc<str>>,
}

impl EventDraft {
    /// Creates a record of this event.
    pub fn of<E: EventData>(event: &E) -> Self {
        Self::from_stored(E::KIND, EventJson::of(event))
    }

    /// Creates a record from its stored kind and data.
    pub fn from_stored(kind: EventKind, data: EventJson) -> Self {
        Self { kind, agent: None, activation: None, session: None, cause: None, data, enclosure: None }
    }

    /// Parses the event of this type, if the record is one.
    pub fn read<E: EventData>(&self) -> Option<E> {
        self.data.read(&self.kind)
    }

    /// Returns the data in its stored form.
    pub fn data(&self) -> &EventJson {
        &self.data
    }

    /// Adds a text to be stored beside the log.
    pub fn attach(mut self, text: impl Into<Arc<str>>) -> Self {
        self.enclosure = Some(text.into());
        self
    }

    /// Sets the agent.
    pub fn agent(mut self, agent: &Id) -> Self {
        self.agent = Some(agent.clone());
        self
    }

    /// Sets the activation.
    pub fn activation(mut self, activation: &Id) -> Self {
        self.activation = Some(activation.clone());
        self
    }

    /// Sets the session or conversation.
    pub fn session(mut self, session: impl Into<Id>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Sets the cause.
    pub fn cause(mut self, cause: impl Into<Option<Seq>>) -> Self {
        self.cause = cause.into();
        self
    }
}

/// A record as it is stored.
#[derive(Clone, Debug)]
pub struct EventRecord {
    /// The number in the log, which increases across all runs of a workspace.
    pub seq: Seq,
    /// The tick in which it was written.
    pub tick: u64,
    /// The wall-clock time in milliseconds since 1970, for people; no decision depends on it.
    pub time_ms: u64,
    /// The run in which it was written.
    pub run: Id,
    /// The content.
    pub draft: EventDraft,
}

impl EventRecord {
    /// Returns the event. A record that this version cannot parse is an [`Event::Unknown`] with all of its data.
    pub fn event(&self) -> Event {
        Event::parse(&self.draft.kind, &self.draft.data)
    }

    /// Parses the event of this type, if the record is one.
    pub fn read<E: EventData>(&self) -> Option<E> {
        self.draft.read()
    }
}

/// One line of an exported log: `seq tick time run type agent activation session cause data`, without absent keys.
impl Serialize for EventRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(self.time_ms);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("tick", &self.tick)?;
        map.serialize_entry("time", &humantime::format_rfc3339_millis(time).to_string())?;
        map.serialize_entry("run", &self.run)?;
        map.serialize_entry("type", self.draft.kind.as_str())?;
        for (key, value) in
            [("agent", &self.draft.agent), ("activation", &self.draft.activation), ("session", &self.draft.session)]
        {
            if let Some(value) = value {
                map.serialize_entry(key, value)?;
            }
        }
        if let Some(cause) = self.draft.cause {
            map.serialize_entry("cause", &cause)?;
        }
        map.serialize_entry("data", &self.draft.data.0)?;
        map.end()
    }
}
