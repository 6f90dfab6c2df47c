//! A problem in a text that a person can fix: where it is, what it is, and what to do about it.

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

/// A problem in a text. It contains no path: whoever read the file knows it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct SourceProblem {
    /// How much it costs.
    pub severity: SourceSeverity,
    /// The position, if known.
    pub at: Option<Position>,
    /// What is wrong, as one sentence without a full stop.
    pub what: String,
    /// What to do, as one sentence without a full stop.
    pub remedy: String,
}

impl SourceProblem {
    /// Something could not be used at all.
    pub fn error(at: Position, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { severity: SourceSeverity::Error, at: Some(at), what: what.into(), remedy: remedy.into() }
    }

    /// Something was ignored or replaced by a default.
    pub fn warning(at: Position, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { severity: SourceSeverity::Warning, ..Self::error(at, what, remedy) }
    }

    /// The line, counted from 1, where known.
    pub fn line(&self) -> Option<usize> {
        self.at.map(|at| at.line)
    }
}

/// `4:7: the tool "get_time" has no description (add description="…")`
impl fmt::Display for SourceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.at {
            write!(f, "{}:{}: ", at.line, at.column)?;
        }
        write!(f, "{} ({})", self.what, self.remedy)
    }
}
