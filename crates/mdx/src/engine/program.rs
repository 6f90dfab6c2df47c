//! Code that an engine can run, and why there may be none.

/// Code that an engine can run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The JavaScript code, as a module.
    pub(super) code: String,
    /// The source line of each line, both counted from 1; `None` if they are the same.
    pub(super) lines: Option<Vec<u32>>,
}

/// Why code cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct StripError {
    /// The error, as one sentence without a full stop.
    pub what: String,
    /// The line of the code, counted from 1, if known.
    pub line: Option<usize>,
    /// Whether the code may be fine, because this program cannot read any.
    pub is_left_out: bool,
}

impl StripError {
    pub(super) fn new(what: impl Into<String>, line: Option<usize>) -> Self {
        Self { what: what.into(), line, is_left_out: false }
    }

    /// Returns what to do about it.
    pub fn remedy(&self) -> &'static str {
        if self.is_left_out {
            "use a program that was built with its feature `typescript`, which is on by default"
        } else {
            "fix the TypeScript"
        }
    }
}

impl Program {
    /// Returns the source line of a line of the program, both counted from 1.
    pub(super) fn written_line(&self, line: usize) -> usize {
        let written = self.lines.as_ref().and_then(|lines| lines.get(line.checked_sub(1)?).copied());
        written.map_or(line, |written| written as usize)
    }
}
