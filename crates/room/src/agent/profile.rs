//! The profile of an agent: the plain data into which every agent file format is read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::limits::Limit;
use super::mcp_server::McpEntry;
use crate::base::{Behaviour, Id};
use crate::document::ToolDefinition;

/// The line of each key in a file, from 1. It is not part of an agent's identity.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyLines(pub BTreeMap<String, usize>);

impl KeyLines {
    /// The line of a key in our spelling, if known.
    pub fn of(&self, key: &str) -> Option<usize> {
        self.0.get(key).copied()
    }
}

impl PartialEq for KeyLines {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// An agent as its file defines it. Every key but the id has a default.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentProfile {
    /// The id in other files; the file's stem unless the file states another.
    pub id: Id,
    /// The name on screen and in prompts.
    pub name: String,
    /// The purpose, in one sentence.
    pub description: String,
    /// The role, such as `planner`: some tools are for one role only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The text under the front matter: the system prompt.
    pub instructions: String,
    /// `model`, `provider:model` or `provider`; `None` for the workspace's default.
    pub model: Option<String>,
    /// The names of its tools; `None` for the default set.
    pub tools: Option<Vec<String>>,
    /// The MCP servers that it may use, by name, or its own; `None` for those of the workspace.
    pub mcp_servers: Option<Vec<McpEntry>>,
    /// The names of its skills.
    pub skills: Vec<String>,
    /// Whether its prompts contain the contents of the boards.
    pub share_workspace_info: bool,
    /// Whether its prompts contain information about the person.
    pub share_user_info: bool,
    /// Its behaviour when idle, unless the scene sets another.
    pub behaviour: Option<Behaviour>,
    /// The appearance of its figure.
    pub avatar: Option<String>,
    /// How much it may do without asking.
    pub safety_mode: Option<String>,
    /// Globs of the files that it may read; `None` for all that its safety mode allows.
    pub reads: Option<Vec<String>>,
    /// Globs of the files that it may write; `None` for all that its safety mode allows.
    pub writes: Option<Vec<String>>,
    /// Whether it works in its own copy of the workspace, whose changes a person merges: `workspace: git`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_worktree: bool,
    /// Further limits, from keys of other products and mistyped ones.
    pub limits: Vec<Limit>,
    /// Tools defined by its document, which no other agent has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own_tools: Vec<ToolDefinition>,
    /// The lines of its keys in its file.
    pub lines: KeyLines,
    /// Unknown keys, kept as written.
    pub extra: serde_json::Map<String, serde_json::Value>,
}

impl Default for AgentProfile {
    fn default() -> Self {
        Self {
            id: "agent".into(),
            name: String::new(),
            description: String::new(),
            role: None,
            instructions: String::new(),
            model: None,
            tools: None,
            mcp_servers: None,
            skills: Vec::new(),
            share_workspace_info: true,
            share_user_info: false,
            behaviour: None,
            avatar: None,
            safety_mode: None,
            reads: None,
            writes: None,
            has_worktree: false,
            limits: Vec::new(),
            own_tools: Vec::new(),
            lines: KeyLines::default(),
            extra: serde_json::Map::new(),
        }
    }
}
