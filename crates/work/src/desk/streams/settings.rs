//! The section `inbox` of `settings.yaml`: who receives the messages of streams.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::workspace::{Range, SettingsSection};

/// Who receives messages from streams, and how many at a time.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct InboxSettings {
    /// The agent or inbox that receives a stream, by stream name (`slack-messages` for `inbox/slack-messages.jsonl`); a
    /// planner receives all others.
    pub to: BTreeMap<String, String>,
    /// Messages of one stream that are handled at the same time; others wait in the file.
    pub at_once: u32,
}

impl Default for InboxSettings {
    fn default() -> Self {
        Self { to: BTreeMap::new(), at_once: 50 }
    }
}

impl SettingsSection for InboxSettings {
    const NAME: &'static str = "inbox";
    const RANGES: &'static [Range] = &[Range::of("at_once", 1.0, 1_000.0)];
}
