//! The input of the query parser, and its error messages.

use winnow::error::{AddContext, ErrMode, ParserError};
use winnow::stream::{LocatingSlice, Location, Stream};

/// The input of the query parser.
pub(super) type Input<'a> = LocatingSlice<&'a str>;

/// The result of parsing a part of a query.
pub(super) type Parsed<T> = Result<T, ErrMode<Fault>>;

/// A parse error and its byte offset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) what: String,
}

impl<'a> ParserError<Input<'a>> for Fault {
    type Inner = Self;

    fn from_input(input: &Input<'a>) -> Self {
        Self { at: input.current_token_start(), what: String::new() }
    }

    fn or(self, other: Self) -> Self {
        if other.at > self.at { other } else { self }
    }

    fn into_inner(self) -> Result<Self::Inner, Self> {
        Ok(self)
    }
}

impl<'a> AddContext<Input<'a>, &'static str> for Fault {
    fn add_context(self, _: &Input<'a>, _: &<Input<'a> as Stream>::Checkpoint, context: &'static str) -> Self {
        if self.what.is_empty() { Self { what: context.to_owned(), ..self } } else { self }
    }
}

/// Creates an error after which no alternatives are tried.
pub(super) fn fault(at: usize, what: impl Into<String>) -> ErrMode<Fault> {
    ErrMode::Cut(Fault { at, what: what.into() })
}

/// An invalid query, with the position of the error.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}\n  {line}\n  {caret:>column$}", caret = "^")]
pub struct QueryError {
    /// A description of the error, or of the expected input.
    pub what: String,
    /// The line of the query.
    pub line: String,
    /// The column in that line, in characters, counted from 1.
    pub column: usize,
}

impl QueryError {
    /// Creates an error at a byte offset of the query.
    pub(super) fn new(query: &str, at: usize, what: impl Into<String>) -> Self {
        let at = (0..=at.min(query.len())).rev().find(|at| query.is_char_boundary(*at)).unwrap_or(0);
        let start = query[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = query[at..].find('\n').map_or(query.len(), |end| at + end);
        let line = query[start..end].chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        Self { what: what.into(), line, column: query[start..at].chars().count() + 1 }
    }
}
