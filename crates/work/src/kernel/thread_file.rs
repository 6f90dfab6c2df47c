//! The kernel's information about a session file besides its messages: plain data.

use serde::{Deserialize, Serialize};

use crate::base::ActivationKey;
use crate::mind::AgentSession;

/// Information about the session file of a thread.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadFile {
    /// The path of the file, if a person chose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The hash of the person's text that was applied last and may therefore be overwritten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<u64>,
    /// The activation that ended last, for writing the file again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<EndedWork>,
    /// Whether the file says that the agent is sleeping.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub says_sleeping: bool,
    /// The session that a coding agent keeps for this thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
}

impl ThreadFile {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// An ended activation, as described in the session file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EndedWork {
    /// The key of the activation.
    pub activation: ActivationKey,
    /// The task text.
    pub task: String,
    /// The number of turns.
    pub turns: u32,
    /// How the work ended: `completed`, `failed`, …
    pub work: String,
    /// The reason, if there is one.
    pub why: Option<String>,
    /// Who started the work.
    pub started_by: String,
}
