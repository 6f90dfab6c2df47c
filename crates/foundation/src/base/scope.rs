//! How far a person's permission reaches.

use serde::{Deserialize, Serialize};

/// How far it reaches that a person allows something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllowScope {
    /// This once.
    #[default]
    Once,
    /// The same kind of thing until the task is over, also for agents that are started for it.
    Task,
    /// For good: a rule in the settings says so from now on.
    Always,
}

impl AllowScope {
    /// Whether it is this once alone.
    pub fn is_once(&self) -> bool {
        *self == Self::Once
    }
}
