//! Paths of a workspace with a special meaning, and the access of agents to them. This list is shared by all code that
//! checks changes: the gate (tools of agents), the file service, and the sandbox for programs.
//!
//! Where an agent needs approval for a change, a program that it runs cannot change anything at all: a person cannot be
//! asked at that moment, and the change would look like the person's own.

use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

use crate::base::text_normalization::folded;

/// The write access of an agent with its own tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentWriteRule {
    /// No changes, not even with a person's permission.
    Never,
    /// Changes that a person has individually allowed.
    Asked,
    /// Changes whose content passes a check; they are applied in the agent's name.
    Checked,
}

/// A protected file or folder of the workspace, with everything in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProtectedPath {
    /// The name of the file or folder.
    pub name: &'static str,
    /// The write access of agents.
    pub writes: AgentWriteRule,
    /// The reason, as a clause.
    pub why: &'static str,
}

const fn place(name: &'static str, writes: AgentWriteRule, why: &'static str) -> ProtectedPath {
    ProtectedPath { name, writes, why }
}

/// The folder in which an agent folder keeps code that extends the agent. In other workspaces, nothing in it is read:
/// many projects have a folder of this name.
pub const MODULES: &str = "modules";

/// All protected paths except hidden ones: see [`HIDDEN`].
pub const PROTECTED_PATHS: [ProtectedPath; 18] = [
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
    place("tasks", AgentWriteRule::Checked, "tasks become work, and a person's marks in them count"),
    place("boards", AgentWriteRule::Checked, "changes to elements need an author"),
    place("memory", AgentWriteRule::Checked, "memories are written in the name of their agent"),
    place("AGENTS.md", AgentWriteRule::Checked, "it contains instructions for agents"),
    place("CLAUDE.md", AgentWriteRule::Checked, "it contains instructions for agents"),
];

/// All files and folders whose names begin with a dot, at any depth.
pub const HIDDEN: ProtectedPath =
    place(".*", AgentWriteRule::Never, "files that start with a dot belong to the program");

/// The extensions of files that define agents, whatever their names.
pub const AGENT_ENDINGS: [&str; 2] = [".agent.yaml", ".agent.yml"];

/// The extensions of files that a person can open as an agent.
const NAMED_ENDINGS: [&str; 3] = [".md", ".markdown", ".mdx"];

/// The names of files that a person opened as agents, as written and folded. Global for this process, because the
/// person's command applies to it: nothing in a folder records it, and a file of the same name in another folder is not
/// read by accident.
static NAMED: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// Makes files of this name at the top of a workspace define agents, because a person opened one as an agent. Returns
/// whether such a file can define an agent.
pub fn name_agent_at_top(name: &str) -> bool {
    if !may_be_named(name) {
        return false;
    }
    let mut named = NAMED.write().unwrap_or_else(PoisonError::into_inner);
    named.extend([name.to_owned(), folded(name).to_string()]);
    true
}

/// Whether a person can open this file as an agent.
pub(super) fn may_be_named(name: &str) -> bool {
    let is_file_there = !name.contains(['/', '\\']) && !name.starts_with('.');
    let folded = name.to_ascii_lowercase();
    is_file_there && NAMED_ENDINGS.iter().any(|ending| folded.ends_with(ending))
}

fn is_named_agent(name: &str) -> bool {
    NAMED.read().unwrap_or_else(PoisonError::into_inner).contains(name)
}

/// Whether a path is a file at the top of the workspace that defines an agent, which makes the folder an agent folder.
pub fn is_agent_at_top(path: &str) -> bool {
    let is_named = |ending: &str| path.strip_suffix(ending).is_some_and(|stem| !stem.is_empty());
    let is_file_there = !path.contains(['/', '\\']) && !path.starts_with('.');
    let is_agent = || ["agent.mdx", "agent.md"].contains(&path) || AGENT_ENDINGS.into_iter().any(is_named);
    is_file_there && (is_agent() || is_named_agent(path))
}

/// Whether a path is in the private state of an agent folder: `agents/ada/state/…`. Nothing there defines or teaches an
/// agent.
fn is_state_of_agent(folded: &str) -> bool {
    let mut parts = folded.split('/');
    let is_below = parts.next() == Some("agents") && parts.next().is_some() && parts.next() == Some("state");
    is_below && parts.next().is_some()
}

/// Returns the protected path that contains a path, however it is spelled; `None` for ordinary files.
pub fn guarded(path: &str) -> Option<&'static ProtectedPath> {
    let path = folded(path);
    if path.split('/').any(|part| part.starts_with('.')) {
        return Some(&HIDDEN);
    }
    if is_state_of_agent(&path) {
        return None;
    }
    // Many projects have a folder of this name: only files that could extend an agent are protected.
    if path.strip_prefix(MODULES).is_some_and(|rest| rest.starts_with('/') && !rest.ends_with(".ts")) {
        return None;
    }
    let is_agent = is_agent_at_top(&path);
    let first = if is_agent { "agents" } else { path.split('/').next().unwrap_or_default() };
    PROTECTED_PATHS.iter().find(|place| folded(place.name) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_opened_as_an_agent_is_protected_like_one() {
        // A unique name, because it applies to the whole process.
        let name = "Named-In-This-Test.md";
        assert!(!is_agent_at_top(name) && guarded(name).is_none());
        for odd in ["notes/named.md", ".named.md", "named.txt", "named.yaml", ""] {
            assert!(!name_agent_at_top(odd), "{odd}");
        }
        assert!(name_agent_at_top(name));
        assert!(is_agent_at_top(name));
        for spelling in [name, "named-in-this-test.md", "NAMED-IN-THIS-TEST.MD"] {
            assert_eq!(guarded(spelling).map(|place| place.name), Some("agents"), "{spelling}");
        }
        assert!(!is_agent_at_top("another.md") && !is_agent_at_top(&format!("notes/{name}")));
    }

    #[test]
    fn a_protected_path_is_found_in_every_spelling_with_everything_in_it() {
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
