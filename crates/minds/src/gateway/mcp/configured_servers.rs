//! The MCP servers that are configured in a workspace: in its settings, in `.mcp.json` and in agents' files. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::literal_secrets;
use crate::agent::mcp_server::{self, line_of_server};
use crate::agent::{AgentProfile, McpEntry, McpServer};
use crate::base::{Id, Problem};
use crate::workspace::layout::{MCP_FILE, SETTINGS_FILE};

/// A configured server.
#[derive(Clone, PartialEq, Debug)]
pub struct ConfiguredServer {
    /// The server.
    pub server: McpServer,
    /// The key that identifies exactly this definition.
    pub key: Id,
    /// The file that configures it.
    pub place: String,
}

/// All configured servers of a workspace, and the problems of their definitions.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ConfiguredServers {
    /// The servers, the workspace's own first, sorted by name.
    pub servers: Vec<ConfiguredServer>,
    /// The problems.
    pub problems: Vec<Problem>,
}

/// Reads the definitions from the section of the settings, the texts of files by their paths, and the agents by id with
/// their own definitions.
pub fn parse<'a>(
    section: &BTreeMap<String, Value>,
    file: impl Fn(&str) -> Option<&'a str>,
    profiles: impl Iterator<Item = (&'a Id, &'a AgentProfile, &'a str)>,
) -> ConfiguredServers {
    let (settings_text, mcp_file) = (file(SETTINGS_FILE).unwrap_or_default(), file(MCP_FILE));
    let section: Map<String, Value> = section.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let found = mcp_server::read(&Value::Object(section));
    let mut problems = found.problems(SETTINGS_FILE, settings_text);
    let mut of_workspace: BTreeMap<String, ConfiguredServer> = BTreeMap::new();
    for entry in found.entries {
        match entry {
            McpEntry::Defined(server) => {
                of_workspace.insert(server.name.clone(), of(server, SETTINGS_FILE, None));
            }
            McpEntry::Named(name) => {
                let what = format!("the MCP server {name:?} has neither a command nor a url");
                let problem = Problem::error(SETTINGS_FILE, what, "write one below it");
                problems.push(problem.at_line(line_of_server(settings_text, &name)));
            }
        }
    }
    let (servers, wrong) = mcp_file.map(mcp_server::read_file).unwrap_or_default();
    problems.extend(wrong);
    for server in servers {
        if of_workspace.contains_key(&server.name) {
            let what = format!("the MCP server {:?} is also in {SETTINGS_FILE}, which is used", server.name);
            let problem = Problem::warning(MCP_FILE, what, "remove one of them");
            problems.push(problem.at_line(mcp_file.and_then(|text| line_of_server(text, &server.name))));
            continue;
        }
        of_workspace.insert(server.name.clone(), of(server, MCP_FILE, None));
    }
    let mut own = Vec::new();
    for (id, profile, path) in profiles {
        for entry in profile.mcp_servers.iter().flatten() {
            match entry {
                McpEntry::Defined(server) => own.push(of(server.clone(), path, Some(id.clone()))),
                McpEntry::Named(name) if of_workspace.contains_key(name) => {}
                McpEntry::Named(name) => {
                    let what = format!("this agent uses the MCP server {name:?}, which is not configured");
                    let remedy = format!("define it under mcp_servers in {SETTINGS_FILE}, or remove it");
                    problems.push(Problem::warning(path, what, remedy).at_line(profile.lines.of("mcp_servers")));
                }
            }
        }
    }
    let servers: Vec<ConfiguredServer> = of_workspace.into_values().chain(own).collect();
    for one in &servers {
        problems.extend(literal_secrets::problems(&one.server, &one.place, file(&one.place).unwrap_or_default()));
    }
    ConfiguredServers { servers, problems }
}

fn of(server: McpServer, place: &str, of: Option<Id>) -> ConfiguredServer {
    ConfiguredServer { key: server.key(), server: McpServer { of, ..server }, place: place.to_owned() }
}

impl ConfiguredServers {
    /// Returns the keys of the workspace's own servers, by name.
    pub fn names(&self) -> BTreeMap<String, Id> {
        let own = self.servers.iter().filter(|written| written.server.of.is_none());
        own.map(|written| (written.server.name.clone(), written.key.clone())).collect()
    }

    /// Returns the server with this key.
    pub fn get(&self, key: &str) -> Option<&McpServer> {
        self.servers.iter().find(|written| *written.key == *key).map(|written| &written.server)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::markdown;

    #[test]
    fn settings_precede_mcp_json_and_agents_have_their_own_servers() {
        let section: BTreeMap<String, Value> =
            [("git".to_owned(), json!({ "command": "git-server" })), ("odd".to_owned(), Value::Null)].into();
        let file = r#"{ "mcpServers": { "git": { "command": "other" }, "time": { "command": "time-server" } } }"#;
        let text = "---\nname: Ada\nmcp_servers:\n  - git\n  - none\n  - { name: vault, command: vault-server }\n---\n";
        let ada = markdown::read("agents/ada.md", text).profile;
        let id: Id = "ada".into();
        let settings = "mcp_servers:\n  git: { command: git-server }\n  odd:\n";
        let file_of = |path: &str| match path {
            SETTINGS_FILE => Some(settings),
            MCP_FILE => Some(file),
            _ => None,
        };
        let all = parse(&section, file_of, [(&id, &ada, "agents/ada.md")].into_iter());
        let shown: Vec<String> =
            all.servers.iter().map(|one| format!("{} {}", one.place, one.server.shown())).collect();
        assert_eq!(shown, ["settings.yaml git-server", ".mcp.json time-server", "agents/ada.md vault-server"]);
        assert_eq!(all.names().keys().collect::<Vec<_>>(), ["git", "time"]);
        let told: Vec<String> = all.problems.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:#?}");
        assert!(told[0].starts_with("settings.yaml:3: ") && told[1].starts_with(".mcp.json:1: "), "{told:#?}");
        assert!(told[2].starts_with("agents/ada.md:3: "), "{told:#?}");
    }
}
