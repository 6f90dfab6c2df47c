//! One record of the event log: as it is written, and as it is kept.

use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::events::{Event, EventData, EventKind};
use crate::base::{Id, Seq};

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
    /// The rest, as a JSON object.
    pub data: Box<RawValue>,
    /// A long text that belongs to it and is kept beside the log: never exported, and not for ever.
    pub enclosure: Option<Arc<str>>,
}

impl EventDraft {
    /// A record of this event.
    pub fn of<E: EventData>(event: &E) -> Self {
        Self::new(E::KIND, event)
    }

    /// A record with this data, which must serialise to a JSON object: `json!({ … })` or a small struct.
    pub fn new(kind: EventKind, data: impl Serialize) -> Self {
        let data = serde_json::value::to_raw_value(&data).expect("event data is plain data with string keys");
        Self { kind, agent: None, activation: None, session: None, cause: None, data, enclosure: None }
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

/// A record as it is kept.
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
        Event::parse(self.draft.kind, self.draft.data.get())
    }

    /// The record as an event of this type, if it is one: for events that are not in the table.
    pub fn read<E: EventData>(&self) -> Option<E> {
        if self.draft.kind != E::KIND {
            return None;
        }
        serde_json::from_str(self.draft.data.get()).ok()
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
        map.serialize_entry("data", &self.draft.data)?;
        map.end()
    }
}
