//! The approval of a call, and what a person may allow beyond that call: plain data.

use serde::{Deserialize, Serialize};

use crate::base::Id;
use crate::gate::AskRule;
use crate::gateway::mcp::McpElicitation;

/// What a person is asked about a call: kept with it, so that it is asked in the same words wherever it is read.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CallQuestion {
    /// What its agent wants to do, so that it reads on behind "wants to".
    pub wants: String,
    /// Why that is asked, as a clause about the agent; empty where it is not said.
    pub because: String,
    /// The rules that ask.
    pub rules: Vec<AskRule>,
    /// What an MCP server asks that carries the call out; nothing where it is asked whether the call may happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_server: Option<Box<McpElicitation>>,
}

impl CallQuestion {
    /// All of it, without who asks.
    pub fn what(&self) -> String {
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

/// Something that a person allowed an agent until a time, in all its tasks and for whom it starts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct TimedGrant {
    /// Whom, by id.
    pub agent: Id,
    /// What.
    pub grant: Grant,
    /// From this date of the room on, in seconds since 1970. Before it a clock was set back, and nobody knows how long
    /// it was meant to hold.
    pub from: i64,
    /// Until this date of the room.
    pub until: i64,
}

impl TimedGrant {
    /// Whether it holds at a date of the room.
    pub fn holds(&self, now: i64) -> bool {
        (self.from..self.until).contains(&now)
    }
}

/// Something that a person allowed for a task.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Grant {
    /// By which tool.
    pub tool: String,
    /// What is not asked about any more.
    pub rule: AskRule,
}
