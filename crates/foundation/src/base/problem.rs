//! A problem that a person can fix: where it is, what it is, and what to do about it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How severe a [`Problem`] is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Something was ignored or replaced by a default; the rest works.
    Warning,
    /// Something could not be used at all; the last good version, if there is one, stays.
    Error,
}

/// A problem with a file, a setting or something external, described for the person who can fix it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// How much it costs.
    pub severity: Severity,
    /// The file (relative to the workspace), setting, or part of the room that it is about.
    pub place: String,
    /// The line in that file, counted from 1, where known.
    pub line: Option<usize>,
    /// What is wrong, as one sentence without a full stop.
    pub what: String,
    /// What to do, as one sentence without a full stop.
    pub remedy: String,
}

impl Problem {
    /// Something could not be used at all.
    pub fn error(place: impl Into<String>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { severity: Severity::Error, place: place.into(), line: None, what: what.into(), remedy: remedy.into() }
    }

    /// Something was ignored or replaced by a default.
    pub fn warning(place: impl Into<String>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(place, what, remedy) }
    }

    /// The same, at a line counted from 1.
    pub fn at_line(mut self, line: Option<usize>) -> Self {
        self.line = line;
        self
    }
}

/// `agents/ada.md:4: unknown key "modle" (did you mean "model"?)`
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {} ({})", self.place, self.what, self.remedy),
            None => write!(f, "{}: {} ({})", self.place, self.what, self.remedy),
        }
    }
}
