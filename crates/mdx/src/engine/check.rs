//! Finds problems in the code of a document's tools without running it.

use super::cache::ProgramCache;
use super::limits::EngineLimits;
use super::outcome::{FailureKind, ToolFailure};
use super::program::StripError;
use crate::document::ToolDefinition;
use crate::source::{Position, SourceProblem};

/// Returns the problem of a tool whose code cannot be parsed. The parsed code is cached for the first call.
pub fn check_tool(tool: &ToolDefinition, cache: &ProgramCache, limits: &EngineLimits) -> Option<SourceProblem> {
    let error = cache.program(&tool.code.text, limits.code_bytes).err()?;
    let line = tool.code.first_line + error.line.unwrap_or(1).saturating_sub(1);
    let what = format!("the code of the tool \"{}\" cannot be parsed: {}", tool.name, error.what);
    Some(SourceProblem::error(Position { line, column: 1 }, what, error.remedy()))
}

/// Converts the error to a failure for a model that calls the tool anyway.
pub fn unreadable(error: &StripError, file: &str, first_line: usize) -> ToolFailure {
    if error.is_left_out {
        return ToolFailure::new(FailureKind::Engine, format!("{error}; {}", error.remedy()));
    }
    let line = error.line.map(|line| first_line + line - 1);
    let place = line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"));
    let text = format!("SyntaxError: {}\n    at {place}", error.what);
    ToolFailure { kind: FailureKind::Code, text, line }
}
