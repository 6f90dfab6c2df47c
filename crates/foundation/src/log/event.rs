//! One record of the event log, as it is written and as it is stored.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::events::{Event, EventData, EventKind};
use crate::base::{Id, Seq};

/// The data of a record: a JSON object, as it is stored and exported. It is created from an event and parsed as one.
#[derive(Clone, Debug)]
pub struct EventJson(Box<RawValue>);

impl EventJson {
    pub(super) fn of(event: &impl Serialize) -> Self {
        Self(to_raw_value(event).expect("event data is plain data with string keys"))
    }

    /// Data as it was kept: for whoever keeps the log. Every kept record is one, whether this version can read it or
    /// not.
    pub fn kept(json: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(json).map(Self)
    }

    /// The text to keep: to be written down or looked through, never to be picked apart.
    pub fn as_kept(&self) -> &str {
        self.0.get()
    }

    /// How long the text is.
    pub fn bytes(&self) -> usize {
        self.0.get().len()
    }

    /// The text over several lines, for a person.
    pub fn pretty(&self) -> String {
        let value = serde_json::from_str::<serde_json::Value>(self.0.get());
        value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| self.0.get().to_owned())
    }

    /// The event of this type that a record of this kind says, if it says one.
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

/// A record before the log gives it its [`Seq`], tick and time.
#[derive(Clone, Debug)]
pub struct EventDraft {
    /// What it is about.
    pub kind: EventKind,
    /// The agent that it concerns.
    pub agent: Option<Id>,
    /// The activation it belongs to.
    pub activation: Option<Id>,
    /// The session or conversation it belongs to.
    pub session: Option<Id>,
    /// The record that it came from.
    pub cause: Option<Seq>,
    data: EventJson,
    /// A long text that belongs to it and is kept beside the log: never exported, and not for ever.
    pub enclosure: Option<Arc<str>>,
}

impl EventDraft {
    /// A record of this event.
    pub fn of<E: EventData>(event: &E) -> Self {
        Self::kept(E::KIND, EventJson::of(event))
    }

    /// A record that was kept: its kind and its data.
    pub fn kept(kind: EventKind, data: EventJson) -> Self {
        Self { kind, agent: None, activation: None, session: None, cause: None, data, enclosure: None }
    }

    /// The event of this type that it says, if it says one.
    pub fn read<E: EventData>(&self) -> Option<E> {
        self.data.read(&self.kind)
    }

    /// What it says, as it is kept.
    pub fn data(&self) -> &EventJson {
        &self.data
    }

    /// With this text beside it.
    pub fn enclose(mut self, text: impl Into<Arc<str>>) -> Self {
        self.enclosure = Some(text.into());
        self
    }

    /// About this agent.
    pub fn agent(mut self, agent: &Id) -> Self {
        self.agent = Some(agent.clone());
        self
    }

    /// Part of this activation.
    pub fn activation(mut self, activation: &Id) -> Self {
        self.activation = Some(activation.clone());
        self
    }

    /// In this session or conversation.
    pub fn session(mut self, session: impl Into<Id>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Because of this record.
    pub fn cause(mut self, cause: impl Into<Option<Seq>>) -> Self {
        self.cause = cause.into();
        self
    }
}

/// A record as it is stored.
#[derive(Clone, Debug)]
pub struct EventRecord {
    /// Its place in the log, counted up across all runs of a workspace.
    pub seq: Seq,
    /// The tick in which it happened.
    pub tick: u64,
    /// Wall-clock time in milliseconds since 1970, for people; nothing decides by it.
    pub time_ms: u64,
    /// The run it happened in.
    pub run: Id,
    /// Everything else.
    pub draft: EventDraft,
}

impl EventRecord {
    /// What happened. A record that this version cannot read is an [`Event::Unknown`], which holds all of it.
    pub fn event(&self) -> Event {
        Event::parse(&self.draft.kind, &self.draft.data)
    }

    /// The record as an event of this type, if it is one.
    pub fn read<E: EventData>(&self) -> Option<E> {
        self.draft.read()
    }
}

/// One line of an exported log: `seq tick time run type agent activation session cause data`, absent ones left out.
impl Serialize for EventRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(self.time_ms);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("tick", &self.tick)?;
        map.serialize_entry("time", &humantime::format_rfc3339_millis(time).to_string())?;
        map.serialize_entry("run", &self.run)?;
        map.serialize_entry("type", self.draft.kind.word())?;
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
