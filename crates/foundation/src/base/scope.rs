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

/// Where a person answered what was asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredIn {
    /// In the window, or in a way that is not told.
    #[default]
    Window,
    /// On the command line.
    Terminal,
    /// In the file of approvals, with an editor.
    File,
}

impl AnsweredIn {
    /// Whether it is where most answers are given.
    pub fn is_window(&self) -> bool {
        *self == Self::Window
    }

    /// As it is written into the file of approvals.
    pub fn word(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Terminal => "terminal",
            Self::File => "file",
        }
    }
}

impl AllowScope {
    /// Whether it is this once alone.
    pub fn is_once(&self) -> bool {
        *self == Self::Once
    }
}
