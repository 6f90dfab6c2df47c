//! For whom streams of messages are: section `inbox` of `settings.yaml`.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::workspace::{Range, SettingsSection};

/// For whom the lines of streams are, and how many are taken at a time.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct InboxSettings {
    /// By the name of a stream (`slack-messages` for `inbox/slack-messages.jsonl`) the agent or the inbox that gets its
    /// lines; a planner gets those of the others.
    pub to: BTreeMap<String, String>,
    /// Messages of one stream that are taken at the same time; others wait in the file.
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
