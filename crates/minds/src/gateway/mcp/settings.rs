//! The sections `mcp` and `mcp_servers` of `settings.yaml`: timeouts of MCP servers, and their definitions.

use std::collections::BTreeMap;
use std::time::Duration;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::workspace::{Range, SettingsSection};

/// The settings of MCP servers.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct McpSettings {
    /// Seconds within which a server must start, initialize and list its tools.
    pub connect_timeout_secs: f64,
    /// Seconds within which a call must be answered; restarts with each progress message.
    pub call_timeout_secs: f64,
    /// Seconds within which a call must be answered, regardless of progress.
    pub call_total_timeout_secs: f64,
    /// Seconds of room time that an unused server keeps running.
    pub idle_secs: f32,
    /// Tools of one server that agents can use; the rest are ignored.
    pub tools_at_most: u32,
    /// Characters of one result that are kept.
    pub result_chars_at_most: u32,
    /// How many times a server that may do so (`sampling: true`) can ask a model during one call.
    pub samples_at_most: u32,
    /// `false` has no effect: only `unconfined.yaml` in your config folder switches the sandbox off.
    pub confined: bool,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            connect_timeout_secs: 60.0,
            call_timeout_secs: 120.0,
            call_total_timeout_secs: 1_800.0,
            idle_secs: 60.0,
            tools_at_most: 100,
            result_chars_at_most: 100_000,
            samples_at_most: 4,
            confined: true,
        }
    }
}

impl SettingsSection for McpSettings {
    const NAME: &'static str = "mcp";
    const RANGES: &'static [Range] = &[
        Range::of("tools_at_most", 1.0, 500.0),
        Range::of("result_chars_at_most", 1_000.0, 1_000_000.0),
        Range::of("samples_at_most", 0.0, 100.0),
    ];
}

/// The timeouts and limits for a server.
#[derive(Clone, PartialEq, Debug)]
pub struct McpTerms {
    /// The maximum time until it is connected.
    pub connect: Duration,
    /// The maximum silence during a call.
    pub call: Duration,
    /// The maximum duration of a call.
    pub call_total: Duration,
    /// The maximum number of tools.
    pub tools_at_most: usize,
    /// The maximum length of a result in characters.
    pub result_chars_at_most: usize,
    /// The maximum number of questions to a model in one call, if the server may ask any.
    pub samples_at_most: u32,
}

impl McpSettings {
    /// Returns the terms, with valid times.
    pub fn terms(&self) -> McpTerms {
        let default = Self::default();
        let sane = |secs: f64, default: f64| {
            Duration::from_secs_f64(if (0.1..=86_400.0).contains(&secs) { secs } else { default })
        };
        McpTerms {
            connect: sane(self.connect_timeout_secs, default.connect_timeout_secs),
            call: sane(self.call_timeout_secs, default.call_timeout_secs),
            call_total: sane(self.call_total_timeout_secs, default.call_total_timeout_secs),
            tools_at_most: self.tools_at_most.clamp(1, 500) as usize,
            result_chars_at_most: self.result_chars_at_most.clamp(1_000, 1_000_000) as usize,
            samples_at_most: self.samples_at_most.min(100),
        }
    }
}

/// The definitions of the workspace's MCP servers in the settings, by name.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct McpServersWritten(pub BTreeMap<String, Value>);

impl SettingsSection for McpServersWritten {
    const NAME: &'static str = "mcp_servers";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_times_fall_back_to_defaults() {
        let settings =
            McpSettings { connect_timeout_secs: -1.0, call_timeout_secs: f64::NAN, ..McpSettings::default() };
        assert_eq!(settings.terms(), McpSettings::default().terms());
    }
}
