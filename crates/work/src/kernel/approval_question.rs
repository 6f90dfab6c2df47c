//! The question to a person about a call, and the permissions that a person may grant beyond that call: plain data.

use serde::{Deserialize, Serialize};

use super::command_code::ChangedFile;
use crate::base::Id;
use crate::gate::AskRule;
use crate::gate::commands::EditedRule;
use crate::gateway::mcp::McpElicitation;

/// A question to a person about a call. It is stored with the call, so that its text is the same everywhere.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CallQuestion {
    /// The action of the call, as a phrase to follow "wants to".
    pub wants: String,
    /// Why approval is needed, as a clause about the agent; may be empty.
    pub because: String,
    /// The rules that require approval.
    pub rules: Vec<AskRule>,
    /// How often a question about the same call was asked before, because the files that its command runs changed.
    #[serde(default)]
    pub asked_before: u64,
    /// The files that the call would run and that are not as they were when they were last allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<ChangedFile>,
    /// The command rule that would let the call run changed sources without asking, if a person may choose that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<EditedRule>,
    /// The question of the MCP server that executes the call; `None` if the question is whether the call may be
    /// carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_server: Option<Box<McpElicitation>>,
}

impl CallQuestion {
    /// The number of the question among those about the same call: 0 for the first one whether it may be carried out.
    pub fn number(&self) -> u64 {
        self.of_server.as_ref().map_or(self.asked_before, |question| question.number)
    }

    /// The text of the question without the agent's name.
    pub fn text(&self) -> String {
        match self.because.as_str() {
            "" => self.wants.clone(),
            because => format!("{}, because {because}", self.wants),
        }
    }
}

impl From<&str> for CallQuestion {
    fn from(wants: &str) -> Self {
        Self { wants: wants.to_owned(), ..Self::default() }
    }
}

/// A permission granted to an agent until a given time, for all of its tasks and the agents that it starts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct TimedGrant {
    /// The id of the agent.
    pub agent: Id,
    /// The permission.
    pub grant: Grant,
    /// The simulated date at which it was granted, in seconds since 1970. It does not apply before this date, because
    /// then the clock was set back and the intended duration is unknown.
    pub from: i64,
    /// The simulated date at which it ends.
    pub until: i64,
}

impl TimedGrant {
    /// Whether the permission applies at this simulated date.
    pub fn holds(&self, now: i64) -> bool {
        (self.from..self.until).contains(&now)
    }
}

/// A permission granted by a person.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Grant {
    /// The name of the tool.
    pub tool: String,
    /// The rule for which no further approval is needed.
    pub rule: AskRule,
}
