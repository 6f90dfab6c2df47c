//! What an agent is: the plain data that every agent file format comes down to.

use serde::{Deserialize, Serialize};

use crate::base::{Behaviour, Id};

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
    /// The text under the front matter: its system prompt.
    pub instructions: String,
    /// `model`, or `provider:model`, or `provider`; the workspace's default where absent.
    pub model: Option<String>,
    /// Tools it may use, by name; the default set where absent.
    pub tools: Option<Vec<String>>,
    /// MCP servers it may use, by name.
    pub mcp_servers: Vec<String>,
    /// Skills it has, by name.
    pub skills: Vec<String>,
    /// Whether its prompts hold what stands on the boards.
    pub share_workspace_info: bool,
    /// Whether its prompts hold who the person is.
    pub share_user_info: bool,
    /// What it does when nothing calls, unless the scene says otherwise.
    pub behaviour: Option<Behaviour>,
    /// What its figure looks like.
    pub avatar: Option<String>,
    /// How much it may do without asking.
    pub safety_mode: Option<String>,
    /// Globs of what it may read; everything that its safety mode allows where absent.
    pub reads: Option<Vec<String>>,
    /// Globs of what it may write; everything that its safety mode allows where absent.
    pub writes: Option<Vec<String>>,
    /// Keys that this program does not know, kept as they stand.
    pub extra: serde_json::Map<String, serde_json::Value>,
}

impl Default for AgentProfile {
    fn default() -> Self {
        Self {
            id: "agent".into(),
            name: String::new(),
            description: String::new(),
            instructions: String::new(),
            model: None,
            tools: None,
            mcp_servers: Vec::new(),
            skills: Vec::new(),
            share_workspace_info: true,
            share_user_info: false,
            behaviour: None,
            avatar: None,
            safety_mode: None,
            reads: None,
            writes: None,
            extra: serde_json::Map::new(),
        }
    }
}
