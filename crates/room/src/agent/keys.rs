//! Reads the keys of an agent's file, each as the type that it should have.

use std::collections::BTreeMap;

use serde_json::Value;

use super::lenient_front_matter::Entry;
use super::limits::{self, Limit, plain};
use super::mcp_server::{self, McpEntry};
use crate::base::{Behaviour, Problem};
use crate::workspace::vfs::worktrees;

/// The safety mode of a file whose meaning is uncertain: every action needs approval.
pub const MIN_SAFETY_MODE: &str = "safe";

/// All known keys.
pub(super) const KEYS: &[&str] = &[
    "id",
    "agent_type",
    "name",
    "description",
    "model",
    "tools",
    "mcp_servers",
    "skills",
    "share_workspace_info",
    "share_user_info",
    "behaviour",
    "avatar",
    "safety_mode",
    "reads",
    "writes",
    "workspace",
];

/// Keys that restrict an agent: a key without a value does not lift the restriction.
pub(super) const LIMITING_KEYS: &[&str] = &["tools", "reads", "writes", "safety_mode"];

/// Converts a key to our spelling: `shareWorkspaceInfo`, `share-workspace-info` and `behavior`.
pub(super) fn our_spelling(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 2);
    for character in key.trim().chars() {
        if character.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        match character {
            '-' | ' ' => snake.push('_'),
            other => snake.extend(other.to_lowercase()),
        }
    }
    match snake.as_str() {
        "behavior" => "behaviour".to_owned(),
        "mcpservers" => "mcp_servers".to_owned(),
        _ => snake,
    }
}

/// The known keys, each read as its proper type. An invalid value is reported, and is treated as absent or, if it
/// limits the agent, as the strictest possible meaning.
pub(super) struct Keys<'a> {
    pub(super) path: &'a str,
    /// The whole file, for finding lines.
    pub(super) text: &'a str,
    pub(super) known: BTreeMap<String, &'a Entry>,
    pub(super) limits: Vec<Limit>,
    pub(super) problems: Vec<Problem>,
}

impl Keys<'_> {
    pub(super) fn line(&self, key: &str) -> Option<usize> {
        self.known.get(key)?.line
    }

    fn report(&mut self, key: &str, what: String, remedy: &str) {
        let problem = Problem::warning(self.path, what, remedy).at_line(self.line(key));
        self.problems.push(problem);
    }

    /// The value of a key, if it has one.
    fn value(&self, key: &str) -> Option<&Value> {
        self.known.get(key).map(|entry| &entry.value).filter(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        let found = plain(self.value(key)?);
        if found.is_none() {
            self.report(key, format!("the key {key:?} must be text; it is ignored"), "write text after it");
        }
        found
    }

    /// A list, or a text with commas, as other programs write it.
    pub(super) fn list(&mut self, key: &str) -> Option<Vec<String>> {
        let limits = LIMITING_KEYS.contains(&key);
        let entry = *self.known.get(key)?;
        let mut bad = 0;
        let words: Vec<String> = match &entry.value {
            Value::Null if limits => {
                self.report_empty(key, "none");
                Vec::new()
            }
            Value::Null => return None,
            Value::Array(values) => {
                let words: Vec<String> = values.iter().filter_map(plain).collect();
                bad = values.len() - words.len();
                words
            }
            Value::String(words) if !(limits && entry.is_bare) => limits::names_between_commas(words),
            _ => {
                let counts = if limits { "until then it is treated as empty" } else { "it is ignored" };
                self.report(key, format!("the key {key:?} must be a list of names; {counts}"), "write [one, two]");
                Vec::new()
            }
        };
        if bad > 0 {
            let what = format!("{bad} entries of {key:?} cannot be read and are ignored");
            self.report(key, what, "write names, one after each dash");
        }
        Some(words.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect())
    }

    /// The listed tools: `*` means the default ones, and `{ write: false }` removes one.
    pub(super) fn tools(&mut self) -> Option<Vec<String>> {
        match self.known.get("tools").map(|entry| &entry.value) {
            Some(Value::Object(switches)) if !switches.is_empty() && switches.values().all(Value::is_boolean) => {
                self.limits.extend(limits::switched(switches));
                return None;
            }
            Some(Value::String(all)) if all == "*" => return None,
            _ => {}
        }
        self.list("tools").filter(|tools| tools.as_slice() != ["*"])
    }

    /// The MCP servers that are named or defined; an empty value means none.
    pub(super) fn servers(&mut self) -> Option<Vec<McpEntry>> {
        let entry = *self.known.get("mcp_servers")?;
        let found = mcp_server::read(&entry.value);
        let key_line = entry.line;
        let problems = found.problems(self.path, self.text);
        self.problems.extend(problems.into_iter().map(|problem| {
            let line = problem.line.max(key_line);
            problem.at_line(line)
        }));
        Some(found.entries)
    }

    pub(super) fn safety_mode(&mut self) -> Option<String> {
        let mode = match &self.known.get("safety_mode")?.value {
            Value::Null => {
                self.report_empty("safety_mode", MIN_SAFETY_MODE);
                None
            }
            _ => self.text("safety_mode"),
        };
        Some(mode.map_or_else(|| MIN_SAFETY_MODE.to_owned(), |mode| mode.trim().to_owned()))
    }

    /// Whether it works in its own copy of the workspace; also for an unknown value, because that is more restrictive.
    pub(super) fn worktree(&mut self) -> bool {
        let Some(entry) = self.known.get("workspace") else { return false };
        let word = plain(&entry.value).unwrap_or_default().trim().to_lowercase();
        match word.as_str() {
            "git" => {
                if !worktrees::ARE_BUILT_IN {
                    let what =
                        "this program was built without worktrees: the agent's tools for files and commands fail";
                    let remedy = "use a program that was built with its feature `worktrees`, which is on by default, or \
                                  write shared to let the agent work in the workspace itself";
                    self.report("workspace", what.to_owned(), remedy);
                }
                true
            }
            "shared" => false,
            _ => {
                let what = format!("unknown workspace {word:?}; until then the agent uses its own worktree");
                let remedy = "write git for its own worktree, or shared for the workspace itself";
                self.report("workspace", what, remedy);
                true
            }
        }
    }

    fn report_empty(&mut self, key: &str, meant: &str) {
        let what = format!("{key:?} is empty; it is treated as {meant}");
        let remedy = format!("add a value, or remove {key:?}");
        self.report(key, what, &remedy);
    }

    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        match plain(self.value(key)?).unwrap_or_default().trim().to_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => {
                self.report(key, format!("the key {key:?} must be true or false; it is treated as false"), "write one");
                Some(false)
            }
        }
    }

    pub(super) fn behaviour(&mut self) -> Option<Behaviour> {
        let word = self.text("behaviour")?;
        let behaviour = match word.trim().to_lowercase().as_str() {
            "stationary" => Some(Behaviour::Stationary),
            "wander" => Some(Behaviour::Wander),
            "patrol" => Some(Behaviour::Patrol),
            _ => None,
        };
        if behaviour.is_none() {
            self.report("behaviour", format!("unknown behaviour {word:?}"), "write stationary, wander or patrol");
        }
        behaviour
    }
}
