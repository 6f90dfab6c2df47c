//! The profile of an agent: the plain data into which every agent file format is read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::limits::Limit;
use super::mcp_server::McpEntry;
use crate::base::{Behaviour, Id};
use crate::document::ToolDefinition;

/// The line of each key in a file, counted from 1. It is not part of an agent's identity.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyLines(pub BTreeMap<String, usize>);

impl KeyLines {
    /// The line of a key of ours, where known.
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
    /// The word other files use for it; the file's stem unless it says otherwise.
    pub id: Id,
    /// What it is called on screen and in prompts.
    pub name: String,
    /// What it is for, in one sentence.
    pub description: String,
    /// What kind of agent it is among others, such as `planner`: some tools are for one kind only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The text under the front matter: its system prompt.
    pub instructions: String,
    /// `model`, or `provider:model`, or `provider`; the workspace's default where absent.
    pub model: Option<String>,
    /// Tools it may use, by name; the default set where absent.
    pub tools: Option<Vec<String>>,
    /// MCP servers it may use, by name, or its own; those of the workspace where absent.
    pub mcp_servers: Option<Vec<McpEntry>>,
    /// Skills it has, by name.
    pub skills: Vec<String>,
    /// Whether its prompts contain the contents of the boards.
    pub share_workspace_info: bool,
    /// Whether its prompts hold who the person is.
    pub share_user_info: bool,
    /// What it does when it has nothing to do, unless the scene says otherwise.
    pub behaviour: Option<Behaviour>,
    /// What its figure looks like.
    pub avatar: Option<String>,
    /// How much it may do without asking.
    pub safety_mode: Option<String>,
    /// Globs of what it may read; everything that its safety mode allows where absent.
    pub reads: Option<Vec<String>>,
    /// Globs of what it may write; everything that its safety mode allows where absent.
    pub writes: Option<Vec<String>>,
    /// Whether it works in a copy of its own, whose changes a person takes over: `workspace: git`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_worktree: bool,
    /// What it may not do beyond that, by keys of other products and by mistyped ones.
    pub limits: Vec<Limit>,
    /// Tools that its document defines, which no other agent has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own_tools: Vec<ToolDefinition>,
    /// The lines of its keys in its file.
    pub lines: KeyLines,
    /// Keys that this program does not know, kept as written.
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
