//! Why an MCP server cannot be used, described for the person and for the model.

use serde::{Deserialize, Serialize};

use super::super::peers::SetupFailure;
use super::answer::McpAnswer;
use crate::base::text;

/// No reason is longer, in characters: what servers say is in it.
const REASON_CHARS_AT_MOST: usize = 1_000;

/// The kind of failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpFault {
    /// No person has allowed exactly this server.
    NotAllowed,
    /// What is written down cannot be used here: a program or a variable that there is not.
    Setup,
    /// It does not speak the protocol, or does not answer in time.
    Protocol,
    /// It wants to know who asks.
    Credentials,
    /// It is gone.
    Gone,
    /// It took too long.
    Timeout,
    /// The tool ran, and reports that it failed.
    Refused,
    /// It was stopped here.
    Stopped,
}

impl McpFault {
    /// Whether trying again by oneself makes no sense before a person has done something.
    pub fn is_lasting(self) -> bool {
        matches!(self, Self::NotAllowed | Self::Setup | Self::Credentials)
    }
}

/// Why an MCP server, or a call of one, did not work.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct McpFailure {
    /// What kind of trouble it is.
    pub fault: McpFault,
    /// What went wrong, as one sentence without a full stop.
    pub what: String,
    /// What to do about it; empty where nothing is to be done.
    #[serde(default)]
    pub remedy: String,
    /// What the server gave all the same, where it says itself that what was asked of it did not work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Box<McpAnswer>>,
}

impl McpFailure {
    /// Something went wrong.
    pub fn new(fault: McpFault, what: impl AsRef<str>, remedy: impl Into<String>) -> Self {
        let what: String = what.as_ref().chars().take(REASON_CHARS_AT_MOST * 4).collect();
        let what = text::truncate(&text::one_line(&what), REASON_CHARS_AT_MOST);
        Self { fault, what, remedy: remedy.into(), given: None }
    }

    /// What was asked of a server did not work, as it says itself with this.
    pub(super) fn of_answer(answer: McpAnswer) -> Self {
        let what = match (answer.text.trim().is_empty(), &answer.data) {
            (false, _) => answer.text.clone(),
            (true, Some(data)) => data.to_string(),
            (true, None) => "it failed, and the server gave no reason".to_owned(),
        };
        Self { given: Some(Box::new(answer)), ..Self::new(McpFault::Refused, what, "") }
    }

    /// What went wrong and what to do, in one line.
    pub fn sentence(&self) -> String {
        if self.remedy.is_empty() { self.what.clone() } else { format!("{}; {}", self.what, self.remedy) }
    }
}

impl From<SetupFailure> for McpFailure {
    fn from(failure: SetupFailure) -> Self {
        Self::new(McpFault::Setup, failure.what, failure.remedy)
    }
}
