//! The coding agents that are known by name, and the meaning of `acp:NAME` and `acp:COMMAND LINE`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::PROVIDER;
use crate::agent::{McpServer, McpTransport, mcp_server};
use crate::base::{Problem, text};
use crate::gateway::programs::process::find_program;

/// A coding agent that is known by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KnownAgent {
    /// The name after `acp:`.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The command line that starts it in protocol mode.
    pub command: &'static str,
    /// How a person logs in, once, outside of the room.
    pub login: &'static str,
    /// How to install it.
    pub install: &'static str,
    /// The paths of its login and its settings, below the person's home.
    pub own: &'static [&'static str],
}

/// All known agents.
#[rustfmt::skip]
pub const KNOWN: [KnownAgent; 6] = [
    KnownAgent { name: "claude", title: "Claude Code", command: "claude-agent-acp", login: "claude /login", install: "npm install -g @agentclientprotocol/claude-agent-acp", own: &[".claude", ".claude.json"] },
    KnownAgent { name: "codex", title: "Codex CLI", command: "codex-acp", login: "codex login", install: "npm install -g @agentclientprotocol/codex-acp", own: &[".codex"] },
    KnownAgent { name: "gemini", title: "Gemini CLI", command: "gemini --experimental-acp", login: "gemini", install: "npm install -g @google/gemini-cli", own: &[".gemini"] },
    KnownAgent { name: "goose", title: "goose", command: "goose acp", login: "goose configure", install: "see the site of goose", own: &[".config/goose", ".local/share/goose", ".local/state/goose"] },
    KnownAgent { name: "opencode", title: "OpenCode", command: "opencode acp", login: "opencode auth login", install: "npm install -g opencode-ai", own: &[".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode"] },
    KnownAgent { name: "qwen", title: "Qwen Code", command: "qwen --acp", login: "qwen", install: "npm install -g @qwen-code/qwen-code", own: &[".qwen"] },
];

impl KnownAgent {
    /// Returns the known agent with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.name == name)
    }

    /// Returns the known agent that is started by this command.
    pub fn of(agent: &McpServer) -> Option<&'static Self> {
        let known = Self::named(agent.name.strip_prefix(PROVIDER)?.strip_prefix(':')?)?;
        (read(known.name, &Value::from(known.command)).as_ref() == Ok(agent)).then_some(known)
    }

    /// Returns the paths of its login and its settings.
    pub fn own_places(&self) -> Vec<PathBuf> {
        let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
        home.iter().flat_map(|home| self.own.iter().map(|place| home.join(place))).collect()
    }

    /// Returns the name of its program.
    pub fn program(&self) -> &'static str {
        self.command.split(' ').next().unwrap_or(self.command)
    }

    /// Whether its program is installed.
    pub fn is_installed(&self) -> bool {
        find_program(self.program(), Path::new(".")).is_some()
    }
}

/// Returns the agent for a model's name: one from the settings, a known one, or a command line. The command is written
/// in the same form as any other that needs a person's permission, so that exactly this command is permitted.
pub fn agent_of(model: &str, own: &BTreeMap<String, Value>) -> Result<McpServer, Problem> {
    let model = model.trim();
    let problem = |what: String, remedy: String| Problem::error(format!("{PROVIDER}:{model}"), what, remedy);
    if let Some(value) = own.get(model) {
        return read(model, value).map_err(|what| {
            problem(
                format!("the coding agent {model:?} of the settings {what}"),
                "write a command line, or { command, args, env }, under acp.agents".into(),
            )
        });
    }
    if let Some(known) = KnownAgent::named(model) {
        return read(model, &Value::from(known.command)).map_err(|what| problem(what, String::new()));
    }
    let is_line = model.contains([' ', '/', '\\']) || find_program(model, Path::new(".")).is_some();
    if !is_line {
        let names = || own.keys().map(String::as_str).chain(KNOWN.iter().map(|known| known.name));
        let remedy = match text::nearest(model, names()) {
            Some(near) => format!("did you mean {PROVIDER}:{near}?"),
            None => format!(
                "use one of {}, or a command line: {PROVIDER}:PROGRAM ARGUMENTS",
                names().collect::<Vec<_>>().join(", ")
            ),
        };
        let what = format!("there is no coding agent {model:?}, and no such program is installed");
        return Err(problem(what, remedy));
    }
    read(model, &Value::from(model)).map_err(|what| {
        problem(format!("the command line {what}"), "write the program and its arguments, without a shell".into())
    })
}

/// Parses an agent from the settings. It always has network access, because it needs its vendor.
fn read(name: &str, value: &Value) -> Result<McpServer, String> {
    let written = match value {
        Value::String(line) => json!({ "agent": { "command": line } }),
        other => json!({ "agent": other }),
    };
    let found = mcp_server::read(&written);
    let wrong = found.wrong.first().map(|(_, what, _)| what.trim_start_matches("the MCP server \"agent\" ").to_owned());
    let Some(McpServer { transport: McpTransport::Stdio { command, args, env, cwd, .. }, .. }) = found.defined().next()
    else {
        return Err(wrong.unwrap_or_else(|| "is not a program that can be started here".to_owned()));
    };
    let transport = McpTransport::Stdio { command, args, env, cwd, network: true };
    Ok(McpServer { name: format!("{PROVIDER}:{name}"), sampling: false, of: None, transport })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_command_lines_resolve_to_agents() {
        let own = BTreeMap::from([
            ("mine".to_owned(), json!("python3 tools/agent.py --loud")),
            ("other".to_owned(), json!({ "command": "node", "args": ["a b.js"], "env": { "KEY": "${KEY}" } })),
            ("gemini".to_owned(), json!("gemini --acp")),
        ]);
        let shown = |model: &str| agent_of(model, &own).map(|agent| (agent.name.clone(), agent.shown()));
        let table = [
            ("mine", "acp:mine", "python3 tools/agent.py --loud"),
            ("other", "acp:other", "node 'a b.js'"),
            ("gemini", "acp:gemini", "gemini --acp"),
            ("goose", "acp:goose", "goose acp"),
            ("python3 'my agent.py'", "acp:python3 'my agent.py'", "python3 'my agent.py'"),
        ];
        for (model, name, line) in table {
            assert_eq!(shown(model), Ok((name.to_owned(), line.to_owned())), "{model}");
        }
        let gemini = agent_of("gemini", &own).expect("it is written down");
        assert_eq!(KnownAgent::of(&gemini), None, "what is written down otherwise is another agent");
        let claude = agent_of("clade", &own).expect_err("no agent has this name");
        assert_eq!(claude.remedy, "did you mean acp:claude?");
        assert!(agent_of("./agent.sh | tee log", &own).is_err(), "no shell reads it");
    }

    #[test]
    fn every_known_agent_can_be_parsed() {
        for known in KNOWN {
            let agent = agent_of(known.name, &BTreeMap::new()).expect("it is written as a command line");
            assert_eq!(agent.shown(), known.command);
            assert_eq!(KnownAgent::of(&agent), Some(&known));
        }
    }
}
