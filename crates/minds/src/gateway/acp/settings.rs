//! The section `acp` of `settings.yaml`: additional coding agents, and timeouts.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::super::programs::ProgramSettings;
use crate::workspace::SettingsSection;

settings! {
    /// The settings of coding agents that speak the Agent Client Protocol.
    pub struct AcpSettings {
        /// Agents by name, for `model: acp:NAME`: a command line, or `{ command, args, env }` as for an MCP server.
        /// Known agents need not be listed.
        pub agents: BTreeMap<String, Value> = BTreeMap::new();
        /// Options to set in agents, by agent name: `{ claude: { mode: plan, model: opus } }`.
        pub options: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        /// Seconds within which an agent must start, initialize and open a session.
        pub start_timeout_secs: f64 = 60.0, in 0.05..=86_400.0;
        /// Seconds that an agent may be silent while it answers.
        pub silence_timeout_secs: f64 = 600.0, in 0.05..=86_400.0;
        /// Seconds within which an answer must be complete or request something from the room.
        pub turn_timeout_secs: f64 = 3_600.0, in 0.05..=86_400.0;
        /// Seconds that an agent has to stop when told to; then it is killed.
        pub cancel_timeout_secs: f64 = 5.0, in 0.05..=86_400.0;
        /// Seconds that an unused agent keeps running.
        pub idle_secs: f64 = 120.0, in 0.05..=86_400.0;
        /// `false` has no effect: only `unconfined.yaml` in your config folder switches the sandbox off.
        pub confined: bool = true;
    }
}

impl SettingsSection for AcpSettings {
    const NAME: &'static str = "acp";
}

/// The options and limits with which coding agents are run.
#[derive(Clone, PartialEq, Debug)]
pub struct AcpTerms {
    /// The agents of the settings.
    pub agents: BTreeMap<String, Value>,
    /// The options to set in agents, by the agent's name.
    pub options: BTreeMap<String, BTreeMap<String, String>>,
    /// The maximum time until a session is open.
    pub start: Duration,
    /// The maximum silence while it answers.
    pub silence: Duration,
    /// The maximum time until an answer is complete or requests something from the room.
    pub turn: Duration,
    /// The maximum time to stop.
    pub cancel: Duration,
    /// The time after which an unused agent is ended.
    pub idle: Duration,
    /// The settings of programs that the room runs for it.
    pub programs: ProgramSettings,
}

impl AcpSettings {
    /// Returns the terms, with valid times.
    pub fn terms(&self) -> AcpTerms {
        let default = Self::default();
        let sane = |secs: f64, default: f64| {
            Duration::from_secs_f64(if (0.05..=86_400.0).contains(&secs) { secs } else { default })
        };
        AcpTerms {
            agents: self.agents.clone(),
            options: self.options.clone(),
            start: sane(self.start_timeout_secs, default.start_timeout_secs),
            silence: sane(self.silence_timeout_secs, default.silence_timeout_secs),
            turn: sane(self.turn_timeout_secs, default.turn_timeout_secs),
            cancel: sane(self.cancel_timeout_secs, default.cancel_timeout_secs),
            idle: sane(self.idle_secs, default.idle_secs),
            programs: ProgramSettings::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_times_fall_back_to_defaults() {
        let settings = AcpSettings { start_timeout_secs: -1.0, idle_secs: f64::NAN, ..AcpSettings::default() };
        assert_eq!(settings.terms(), AcpSettings::default().terms());
    }
}
