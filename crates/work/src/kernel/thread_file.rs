//! What the kernel remembers about a session's file besides the messages: plain data.

use serde::{Deserialize, Serialize};

use crate::base::ActivationKey;
use crate::mind::AgentSession;

/// The file of a thread: what the kernel remembers about it besides the messages.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadFile {
    /// Its path, where a person chose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The text of a person that was taken in last, by hash: that one may be written over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<u64>,
    /// The piece of work that ended last, for writing the file once more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<EndedWork>,
    /// Whether the file says that the agent sleeps until others wake it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub says_sleeping: bool,
    /// The session that a coding agent keeps of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
}

impl ThreadFile {
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// How a piece of work ended, according to its session's file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EndedWork {
    /// Which.
    pub activation: ActivationKey,
    /// What was asked for.
    pub task: String,
    /// In how many turns.
    pub turns: u32,
    /// How: `completed`, `failed`, …
    pub work: String,
    /// Why, where that is said.
    pub why: Option<String>,
    /// Who started it.
    pub started_by: String,
}
