//! The one state an agent is in.

use serde::{Deserialize, Serialize};

/// What an agent can be seen to do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing calls.
    #[default]
    Idle,
}

impl State {
    /// The word in the log.
    pub fn word(self) -> &'static str {
        "idle"
    }
}

/// The state of one agent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Fsm {
    state: State,
}

impl Fsm {
    /// What it can be seen to do.
    pub fn state(&self) -> State {
        self.state
    }
}
