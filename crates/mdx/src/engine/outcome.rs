//! The outcome of a call.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::clock::Stop;
use super::limits::EngineLimits;

/// The outcome of a call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CodeOutcome {
    /// The result for the model: a string as it is, anything else as JSON, undefined as an empty text. The failure is
    /// for the model as well.
    pub result: Result<String, ToolFailure>,
    /// The log lines, in order.
    pub log: Vec<LogLine>,
    /// How long the code ran.
    pub ran: Duration,
    /// How long it waited for the host and for timers.
    pub waited: Duration,
}

/// Why there is no result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct ToolFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The text for the model, with the line in the document.
    pub text: String,
    /// The line of the document, counted from 1, if known.
    pub line: Option<usize>,
}

/// The kind of failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The code cannot be parsed, or defines no `execute`.
    Code,
    /// The code threw an exception.
    Threw,
    /// It ran for too long.
    RunLimit,
    /// It waited for too long.
    WaitLimit,
    /// It used too much memory.
    Memory,
    /// It waits for a promise that nothing can settle.
    NeverSettles,
    /// The caller cancelled it.
    Cancelled,
    /// It could not be stopped and was abandoned.
    GivenUp,
    /// The engine itself failed.
    Engine,
}

/// A line that code logged.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LogLine {
    /// The level: `debug`, `info`, `warning` or `error`.
    pub level: String,
    /// The text.
    pub text: String,
}

impl ToolFailure {
    pub(super) fn new(kind: FailureKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), line: None }
    }

    /// Returns the failure for a stop.
    pub(super) fn stopped(stop: Stop, limits: &EngineLimits) -> Self {
        match stop {
            Stop::Cancelled => Self::new(FailureKind::Cancelled, "the tool was stopped"),
            Stop::RunLimit => {
                let text = format!("the tool was stopped: it ran for more than {:?}", limits.run);
                Self::new(FailureKind::RunLimit, text)
            }
            Stop::WaitLimit => {
                let text = format!("the tool was stopped: it waited for more than {:?}", limits.wait);
                Self::new(FailureKind::WaitLimit, text)
            }
            Stop::NeverSettles => {
                let text = "the tool waits for a promise that never settles";
                Self::new(FailureKind::NeverSettles, text)
            }
        }
    }

    pub(super) fn given_up(limits: &EngineLimits) -> Self {
        let text = format!("the tool did not stop after {:?} and was abandoned", limits.run);
        Self::new(FailureKind::GivenUp, text)
    }
}
