//! Ids of messages and mail: numbered over the whole life of a room, never reused.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::{MessageKey, RunTag};
use crate::log::EventLog;

/// The number of messages created in this room.
#[derive(Resource, Clone, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageCount(u64);

impl MessageCount {
    /// The id that the next message gets.
    pub(super) fn next(&self, log: &EventLog) -> MessageKey {
        MessageKey::new(self.0 + 1, RunTag::of(log.run()))
    }

    /// Issues that id.
    pub fn issue(&mut self, log: &EventLog) -> MessageKey {
        let key = self.next(log);
        self.0 += 1;
        key
    }
}
