//! The sections `mcp` and `mcp_servers` of `settings.yaml`: timeouts of MCP servers, and their definitions.

use std::collections::BTreeMap;
use std::time::Duration;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::settings::DescribedSettings;
use crate::workspace::SettingsSection;

settings! {
    /// The settings of MCP servers.
    pub struct McpSettings {
        /// Seconds within which a server must start, initialize and list its tools.
        pub connect_timeout_secs: f64 = 60.0, in 0.1..=86_400.0;
        /// Seconds within which a call must be answered; restarts with each progress message.
        pub call_timeout_secs: f64 = 120.0, in 0.1..=86_400.0;
        /// Seconds within which a call must be answered, regardless of progress.
        pub call_total_timeout_secs: f64 = 1_800.0, in 0.1..=86_400.0;
        /// Seconds of room time that an unused server keeps running.
        pub idle_secs: f32 = 60.0, in 0.0..=604_800.0;
        /// Tools of one server that agents can use; the rest are ignored.
        pub max_tools: u32 = 100, in 1.0..=500.0, once "tools_at_most";
        /// Characters of one result that are kept.
        pub max_result_chars: u32 = 100_000, in 1_000.0..=1_000_000.0, once "result_chars_at_most";
        /// How many times a server that may do so (`sampling: true`) can ask a model during one call.
        pub max_samples: u32 = 4, in 0.0..=100.0, once "samples_at_most";
        /// `false` has no effect: only `unconfined.yaml` in your config folder switches the sandbox off.
        pub confined: bool = true;
    }
}

impl SettingsSection for McpSettings {
    const NAME: &'static str = "mcp";
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
    pub max_tools: usize,
    /// The maximum length of a result in characters.
    pub max_result_chars: usize,
    /// The maximum number of questions to a model in one call, if the server may ask any.
    pub max_samples: u32,
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
            max_tools: self.max_tools.clamp(1, 500) as usize,
            max_result_chars: self.max_result_chars.clamp(1_000, 1_000_000) as usize,
            max_samples: self.max_samples.min(100),
        }
    }
}

/// The definitions of the workspace's MCP servers in the settings, by name.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct McpServersWritten(pub BTreeMap<String, Value>);

impl DescribedSettings for McpServersWritten {}

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
