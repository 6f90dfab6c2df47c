//! Failures of MCP servers, described for the person and for the model.

use serde::{Deserialize, Serialize};

use super::super::peers::SetupFailure;
use super::answer::McpAnswer;
use crate::base::text;

/// The maximum length of a description in characters, because it contains texts of servers.
const MAX_REASON_CHARS: usize = 1_000;

/// The kind of failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpFault {
    /// No person has allowed exactly this server.
    NotAllowed,
    /// The definition cannot be used here: it names a missing program or variable.
    Setup,
    /// The server does not speak the protocol, or does not answer in time.
    Protocol,
    /// The server requires credentials.
    Credentials,
    /// The connection was closed.
    Gone,
    /// The call took too long.
    Timeout,
    /// The tool ran, and reports that it failed.
    Refused,
    /// The call was cancelled.
    Stopped,
}

impl McpFault {
    /// Whether an automatic retry is useless until a person has done something.
    pub fn needs_person(self) -> bool {
        matches!(self, Self::NotAllowed | Self::Setup | Self::Credentials)
    }
}

/// Why an MCP server, or a call of one, failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct McpFailure {
    /// The kind of failure.
    pub fault: McpFault,
    /// The description, as one sentence without a full stop.
    pub what: String,
    /// What to do about it; empty if nothing can be done.
    #[serde(default)]
    pub remedy: String,
    /// The result that the server sent with its error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Box<McpAnswer>>,
}

impl McpFailure {
    /// Creates a failure.
    pub fn new(fault: McpFault, what: impl AsRef<str>, remedy: impl Into<String>) -> Self {
        let what: String = what.as_ref().chars().take(MAX_REASON_CHARS * 4).collect();
        let what = text::truncate(&text::one_line(&what), MAX_REASON_CHARS);
        Self { fault, what, remedy: remedy.into(), given: None }
    }

    /// Creates a failure from a result that the server marked as an error.
    pub(super) fn of_answer(answer: McpAnswer) -> Self {
        let what = match (answer.text.trim().is_empty(), &answer.data) {
            (false, _) => answer.text.clone(),
            (true, Some(data)) => data.to_string(),
            (true, None) => "it failed, and the server gave no reason".to_owned(),
        };
        Self { given: Some(Box::new(answer)), ..Self::new(McpFault::Refused, what, "") }
    }

    /// Returns the description and the remedy in one line.
    pub fn sentence(&self) -> String {
        if self.remedy.is_empty() { self.what.clone() } else { format!("{}; {}", self.what, self.remedy) }
    }
}

impl From<SetupFailure> for McpFailure {
    fn from(failure: SetupFailure) -> Self {
        Self::new(McpFault::Setup, failure.what, failure.remedy)
    }
}
