//! Places in a workspace with a special meaning, and what an agent may do there. This list is shared by everything that
//! checks changes: the gate (tools of agents), the file service, and the sandbox for programs.
//!
//! What an agent may not change without approval, a program that it runs may not change at all: nobody could ask a
//! person at that moment, and the change would look like the person's own.

use crate::base::text_normalization::folded;

/// What an agent may do at a path with its own tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentWriteRule {
    /// Nothing, whatever a person allows.
    Never,
    /// It changes something there once a person has allowed exactly that.
    Asked,
    /// Each change is checked by its content, and applied in the agent's name.
    Judged,
}

/// A file or a folder of the workspace itself, with everything in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProtectedPath {
    /// Its name.
    pub name: &'static str,
    /// What agents may do there.
    pub writes: AgentWriteRule,
    /// Why, as a clause.
    pub why: &'static str,
}

const fn place(name: &'static str, writes: AgentWriteRule, why: &'static str) -> ProtectedPath {
    ProtectedPath { name, writes, why }
}

/// Where a folder that is an agent by itself keeps code that extends the agent. Of other workspaces nothing there is
/// read when they are opened: many projects call a folder so.
pub const MODULES: &str = "modules";

/// All of them, but for names that begin with a dot: see [`HIDDEN`].
pub const GUARDED_PLACES: [ProtectedPath; 18] = [
    place("settings.yaml", AgentWriteRule::Never, "only a person can change the settings"),
    place("settings.yml", AgentWriteRule::Never, "only a person can change the settings"),
    place("storage", AgentWriteRule::Never, "only a person can change what the program relies on"),
    place("inbox", AgentWriteRule::Never, "it only contains messages from outside"),
    place("outbox", AgentWriteRule::Never, "it only contains messages that the room sent"),
    place("sessions", AgentWriteRule::Never, "only the program writes sessions"),
    place("scenes", AgentWriteRule::Asked, "a scene defines agents and contains settings"),
    place("workflows", AgentWriteRule::Asked, "a workflow sets agents to work"),
    place("agents", AgentWriteRule::Asked, "this folder defines agents and their skills"),
    place("templates", AgentWriteRule::Asked, "this folder defines agents and their skills"),
    place("skills", AgentWriteRule::Asked, "skills tell agents what to do"),
    place(MODULES, AgentWriteRule::Asked, "modules are code that extends an agent"),
    place("heartbeat.md", AgentWriteRule::Asked, "it defines when an agent wakes up and what it does"),
    place("tasks", AgentWriteRule::Judged, "tasks become work, and a person's marks in them count"),
    place("boards", AgentWriteRule::Judged, "changes to elements need an author"),
    place("memory", AgentWriteRule::Judged, "memories are written in the name of their agent"),
    place("AGENTS.md", AgentWriteRule::Judged, "it contains instructions for agents"),
    place("CLAUDE.md", AgentWriteRule::Judged, "it contains instructions for agents"),
];

/// Everything whose name begins with a dot, at any depth.
pub const HIDDEN: ProtectedPath =
    place(".*", AgentWriteRule::Never, "files that start with a dot belong to the program");

/// What a file ends in that is an agent by itself, whatever its name.
const AGENT_ENDINGS: [&str; 2] = [".agent.yaml", ".agent.yml"];

/// Whether a file that lies in the workspace's own folder defines an agent: the folder is an agent by itself then.
pub fn is_agent_at_top(path: &str) -> bool {
    let is_named = |ending: &str| path.strip_suffix(ending).is_some_and(|stem| !stem.is_empty());
    let is_file_there = !path.contains(['/', '\\']) && !path.starts_with('.');
    is_file_there && (["agent.mdx", "agent.md"].contains(&path) || AGENT_ENDINGS.into_iter().any(is_named))
}

/// Whether a path is in the private state of an agent that is a folder: `agents/ada/state/…`. Nothing there defines or
/// teaches an agent.
fn is_state_of_agent(folded: &str) -> bool {
    let mut parts = folded.split('/');
    let is_below = parts.next() == Some("agents") && parts.next().is_some() && parts.next() == Some("state");
    is_below && parts.next().is_some()
}

/// The guarded place in which a path of the workspace lies, however it is spelt; nothing for ordinary files.
pub fn guarded(path: &str) -> Option<&'static ProtectedPath> {
    let path = folded(path);
    if path.split('/').any(|part| part.starts_with('.')) {
        return Some(&HIDDEN);
    }
    if is_state_of_agent(&path) {
        return None;
    }
    // Many projects have a folder of this name: of theirs, only what an agent could be extended by.
    if path.strip_prefix(MODULES).is_some_and(|rest| rest.starts_with('/') && !rest.ends_with(".ts")) {
        return None;
    }
    let is_agent = is_agent_at_top(&path);
    let first = if is_agent { "agents" } else { path.split('/').next().unwrap_or_default() };
    GUARDED_PLACES.iter().find(|place| folded(place.name) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_by_every_spelling_and_with_all_that_lies_in_it() {
        for (path, name) in [
            ("settings.yaml", "settings.yaml"),
            ("Settings.YAML", "settings.yaml"),
            ("storage/terminal-cmd-allowlist.yaml", "storage"),
            ("STORAGE/x", "storage"),
            ("agents/ada/skills/notes.md", "agents"),
            ("agents.md", "AGENTS.md"),
            (".git/hooks/pre-commit", ".*"),
            ("project/.git/config", ".*"),
            (".mcp.json", ".*"),
            ("agent.mdx", "agents"),
            ("Agent.MD", "agents"),
            ("modules/Clock.ts", "modules"),
            ("modules", "modules"),
            ("ada.agent.yaml", "agents"),
        ] {
            assert_eq!(guarded(path).map(|place| place.name), Some(name), "{path}");
        }
        for path in [
            "artifacts/a.md",
            "README.md",
            "notes/settings.yaml",
            "src/agents/a.md",
            "storage2/x",
            "src/agent.mdx",
            "modules/main.tf",
            "modules2/a.ts",
        ] {
            assert_eq!(guarded(path), None, "{path}");
        }
    }
}
