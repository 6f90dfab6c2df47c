//! The scope of a permission given by a person.

use serde::{Deserialize, Serialize};

use super::ids::{ON_ASK, USER};
use super::time_limit::{TimeLimit, TimeLimitError};

/// The scope of a permission given by a person.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllowScope {
    /// This time only.
    #[default]
    Once,
    /// The same kind of action until the task is finished, including agents that are started for it.
    Task,
    /// The same kind of action until a date in the room, in every task of the agent and of those that it starts.
    Until(TimeLimit),
    /// Every command that matches a pattern, permanently: it becomes a rule for commands.
    Pattern,
    /// The same command also with sources that changed, permanently: it becomes a rule for commands.
    Edited,
    /// Permanently: it becomes a rule in the settings.
    Always,
}

/// Where an approval was answered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerPlace {
    /// In the window, or in an unknown way.
    #[default]
    Window,
    /// On the command line.
    Terminal,
    /// In the file of approvals, with an editor.
    File,
    /// By the option `--on-ask` of a command, without a person.
    OnAsk,
}

impl AnswerPlace {
    /// Whether it is the window, where most answers are given.
    pub fn is_window(&self) -> bool {
        *self == Self::Window
    }

    /// Returns its name in the file of approvals.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Terminal => "terminal",
            Self::File => "file",
            Self::OnAsk => "terminal",
        }
    }

    /// Returns who decided: the person, or the option.
    pub fn decided_by(self) -> &'static str {
        match self {
            Self::Window | Self::Terminal | Self::File => USER,
            Self::OnAsk => ON_ASK,
        }
    }
}

impl AllowScope {
    /// Whether it is this time only.
    pub fn is_once(&self) -> bool {
        *self == Self::Once
    }

    /// Returns its form in the file of approvals, which is parsed from there.
    pub fn to_text(self) -> String {
        match self {
            Self::Once => "once".to_owned(),
            Self::Task => "task".to_owned(),
            Self::Until(limit) => format!("until {limit}"),
            Self::Pattern => "pattern".to_owned(),
            Self::Edited => "edited".to_owned(),
            Self::Always => "always".to_owned(),
        }
    }

    /// Parses the form in the file of approvals.
    pub fn parse(words: &str) -> Result<Self, TimeLimitError> {
        Ok(match words.trim().to_lowercase().as_str() {
            "" | "once" => Self::Once,
            "task" => Self::Task,
            "pattern" => Self::Pattern,
            "edited" => Self::Edited,
            "always" => Self::Always,
            other => Self::Until(other.parse().map_err(|_| TimeLimitError::Unknown(words.trim().to_owned()))?),
        })
    }

    /// Replaces a time relative to `now`, a date in the room, by a date.
    pub fn dated(self, now: Option<i64>) -> Result<Self, TimeLimitError> {
        match self {
            Self::Until(limit) => Ok(Self::Until(TimeLimit::At(limit.date(now)?))),
            other => Ok(other),
        }
    }

    /// Returns a clause for a sentence about a permission: “, for this task”; empty for this time only.
    pub fn clause(self) -> String {
        match self {
            Self::Once => String::new(),
            Self::Task => ", for this task".to_owned(),
            Self::Until(limit) => format!(", until {limit}"),
            Self::Pattern => ", for every command that matches its pattern".to_owned(),
            Self::Edited => ", also with sources that change".to_owned(),
            Self::Always => ", for good".to_owned(),
        }
    }
}
