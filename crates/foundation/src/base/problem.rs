//! A problem that a person can fix: its location, a description, and a remedy.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How severe a [`Problem`] is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Something was ignored or replaced by a default; the rest works.
    Warning,
    /// Something could not be used at all; the last good version, if there is one, stays in use.
    Error,
}

/// A problem with a file, a setting or something external, described for the person who can fix it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// The severity.
    pub severity: Severity,
    /// The file (relative to the workspace), setting, or part of the room that it is about.
    pub place: String,
    /// The line in that file, counted from 1, if known.
    pub line: Option<usize>,
    /// The column in that line, counted in characters from 1, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The description, as one sentence without a full stop.
    pub what: String,
    /// The remedy, as one sentence without a full stop.
    pub remedy: String,
}

impl Problem {
    /// Creates an error: something could not be used at all.
    pub fn error(place: impl Into<String>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            place: place.into(),
            line: None,
            column: None,
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// Creates a warning: something was ignored or replaced by a default.
    pub fn warning(place: impl Into<String>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(place, what, remedy) }
    }

    /// Sets the line, counted from 1.
    pub fn at_line(mut self, line: Option<usize>) -> Self {
        self.line = line;
        self
    }

    /// Sets the column, counted from 1.
    pub fn at_column(mut self, column: Option<usize>) -> Self {
        self.column = column;
        self
    }

    /// Returns the place with the line and the column, if they are known: `agents/ada.md:4:7`.
    pub fn position(&self) -> String {
        let part = |number: Option<usize>| number.map(|number| format!(":{number}")).unwrap_or_default();
        let column = self.column.filter(|_| self.line.is_some());
        format!("{}{}{}", self.place, part(self.line), part(column))
    }
}

/// Formats the problem: `agents/ada.md:4: unknown key "modle" (did you mean "model"?)`.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.position(), self.what, self.remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_shows_its_known_position() {
        let problem = Problem::error("agents/ada.md", "it is odd", "mend it");
        assert_eq!(problem.to_string(), "agents/ada.md: it is odd (mend it)");
        assert_eq!(problem.clone().at_column(Some(7)).position(), "agents/ada.md");
        let there = problem.at_line(Some(4));
        assert_eq!(there.position(), "agents/ada.md:4");
        assert_eq!(there.at_column(Some(7)).to_string(), "agents/ada.md:4:7: it is odd (mend it)");
    }
}
