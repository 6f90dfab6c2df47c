//! A problem in a text that a person can fix: its position, a description, and a remedy.

use std::fmt;

use super::Position;

/// The severity of a problem.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceSeverity {
    /// Something was ignored or replaced by a default; the rest works.
    Warning,
    /// Something (a tool, a routine) could not be used at all.
    Error,
}

/// A problem in a text. It has no path, because the caller knows the file.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct SourceProblem {
    /// The severity.
    pub severity: SourceSeverity,
    /// The position, if known.
    pub at: Option<Position>,
    /// The description, as one sentence without a full stop.
    pub what: String,
    /// The remedy, as one sentence without a full stop.
    pub remedy: String,
}

impl SourceProblem {
    /// Creates an error: something could not be used at all.
    pub fn error(at: Position, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { severity: SourceSeverity::Error, at: Some(at), what: what.into(), remedy: remedy.into() }
    }

    /// Creates a warning: something was ignored or replaced by a default.
    pub fn warning(at: Position, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { severity: SourceSeverity::Warning, ..Self::error(at, what, remedy) }
    }

    /// Returns the line, counted from 1, if known.
    pub fn line(&self) -> Option<usize> {
        self.at.map(|at| at.line)
    }
}

/// Formats the problem: `4:7: the tool "get_time" has no description (add description="…")`.
impl fmt::Display for SourceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.at {
            write!(f, "{}:{}: ", at.line, at.column)?;
        }
        write!(f, "{} ({})", self.what, self.remedy)
    }
}
