//! The coding agents that a person can choose from: those in the settings and the known ones, with their status on this
//! computer and whether the person allowed them. Reads files and folders, so never call it on the UI thread.

use super::known_agents::{KNOWN, KnownAgent, agent_of};
use super::settings::AcpSettings;
use crate::agent::McpServer;
use crate::base::Problem;
use crate::gateway::keys::Environment;
use crate::gateway::peers::{Consent, consent_of};

/// A coding agent that a person can choose.
#[derive(Clone, PartialEq, Debug)]
pub struct AvailableAgent {
    /// The name after `acp:` in an agent's file.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// The command that starts it.
    pub agent: McpServer,
    /// The known agent that it is, if it is started by the known command.
    pub known: Option<&'static KnownAgent>,
    /// Whether its program is installed. Not checked for agents from the settings.
    pub is_installed: bool,
    /// Whether the person allowed exactly this command.
    pub consent: Consent,
}

impl AvailableAgent {
    /// Returns the agent with this name or command line.
    pub fn of(name: &str, settings: &AcpSettings, environment: &Environment) -> Result<Self, Problem> {
        let agent = agent_of(name, &settings.agents)?;
        let known = KnownAgent::of(&agent).filter(|known| !settings.agents.contains_key(known.name));
        let consent = consent_of(environment, &agent);
        let title = match known {
            Some(known) => known.title,
            None if settings.agents.contains_key(name) => name,
            None => "Coding agent",
        };
        Ok(Self {
            name: name.to_owned(),
            title: title.to_owned(),
            is_installed: known.is_none_or(KnownAgent::is_installed),
            agent,
            known,
            consent,
        })
    }
}

/// Returns all agents that can be chosen by name, those of the settings first, and the problems of invalid definitions.
pub fn available_agents(settings: &AcpSettings, environment: &Environment) -> (Vec<AvailableAgent>, Vec<Problem>) {
    let own = settings.agents.keys().map(String::as_str);
    let known = KNOWN.iter().map(|known| known.name).filter(|name| !settings.agents.contains_key(*name));
    let (mut agents, mut problems) = (Vec::new(), Vec::new());
    for name in own.chain(known) {
        match AvailableAgent::of(name, settings, environment) {
            Ok(agent) => agents.push(agent),
            Err(problem) => problems.push(problem),
        }
    }
    (agents, problems)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn agents_of_the_settings_come_first_and_replace_known_ones() {
        let agents = [
            ("gemini".to_owned(), json!("gemini --acp")),
            ("mine".to_owned(), json!("python3 tools/agent.py")),
            ("wrong".to_owned(), json!(7)),
        ];
        let settings = AcpSettings { agents: agents.into(), ..AcpSettings::default() };
        let (agents, problems) = available_agents(&settings, &Environment::default());
        let listed: Vec<_> = agents.iter().map(|agent| (agent.name.as_str(), agent.title.as_str())).collect();
        let known = [("claude", "Claude Code"), ("codex", "Codex CLI"), ("goose", "goose")];
        let rest = [("opencode", "OpenCode"), ("qwen", "Qwen Code")];
        assert_eq!(listed, [&[("gemini", "gemini"), ("mine", "mine")], &known[..], &rest].concat());
        assert!(agents.iter().all(|agent| agent.consent == Consent::None));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].place.contains("wrong"), "{problems:?}");
    }
}
