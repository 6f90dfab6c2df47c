//! How far a permission given by a person reaches.

use serde::{Deserialize, Serialize};

use super::time_limit::{TimeLimit, TimeLimitError};

/// How far a permission given by a person reaches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllowScope {
    /// This once.
    #[default]
    Once,
    /// The same kind of thing until the task is over, also for agents that are started for it.
    Task,
    /// The same kind of thing until a date of the room, in every task of the agent and of those that it starts.
    Until(TimeLimit),
    /// Every command of a pattern, permanently: it becomes a rule for commands.
    Pattern,
    /// For good: a rule in the settings says so from now on.
    Always,
}

/// Where a person answered an approval.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredIn {
    /// In the window, or in an unknown way.
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

    /// As it is written into the file of approvals and read from there.
    pub fn to_text(self) -> String {
        match self {
            Self::Once => "once".to_owned(),
            Self::Task => "task".to_owned(),
            Self::Until(limit) => format!("until {limit}"),
            Self::Pattern => "pattern".to_owned(),
            Self::Always => "always".to_owned(),
        }
    }

    /// What such words say.
    pub fn of_words(words: &str) -> Result<Self, TimeLimitError> {
        Ok(match words.trim().to_lowercase().as_str() {
            "" | "once" => Self::Once,
            "task" => Self::Task,
            "pattern" => Self::Pattern,
            "always" => Self::Always,
            other => Self::Until(other.parse().map_err(|_| TimeLimitError::Unknown(words.trim().to_owned()))?),
        })
    }

    /// The same with a date in the place of a time that is counted from `now`, a date of the room.
    pub fn dated(self, now: Option<i64>) -> Result<Self, TimeLimitError> {
        match self {
            Self::Until(limit) => Ok(Self::Until(TimeLimit::At(limit.date(now)?))),
            other => Ok(other),
        }
    }

    /// For a sentence about what was allowed: “, for this task”; nothing where it is this once.
    pub fn clause(self) -> String {
        match self {
            Self::Once => String::new(),
            Self::Task => ", for this task".to_owned(),
            Self::Until(limit) => format!(", until {limit}"),
            Self::Pattern => ", for every command that matches its pattern".to_owned(),
            Self::Always => ", for good".to_owned(),
        }
    }
}
