//! The tokens of a query: keywords, names, files and values.

use winnow::ascii::multispace0;
use winnow::combinator::{opt, peek};
use winnow::error::ErrMode;
use winnow::prelude::*;
use winnow::stream::Location;
use winnow::token::{any, one_of, take_till, take_while};

use super::ast::{Column, Literal};
use super::input::{Fault, Input, Parsed, fault};
use crate::workspace::task_files::value::number;

/// Keywords, which must be quoted to be used as names or values.
const KEYWORDS: [&str; 23] = [
    "SELECT", "FROM", "WHERE", "ORDER", "BY", "ASC", "DESC", "LIMIT", "INTO", "UPDATE", "SET", "DELETE", "INSERT",
    "AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "CONTAINS", "TRUE", "FALSE",
];

fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.')
}

fn is_value_letter(letter: char) -> bool {
    is_name_letter(letter) || matches!(letter, ':' | '/' | '@' | '#' | '+')
}

fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(word))
}

pub(super) fn blanks(input: &mut Input<'_>) -> Parsed<()> {
    multispace0.void().parse_next(input)
}

/// Consumes this keyword if it is next. Returns whether it was.
pub(super) fn has(input: &mut Input<'_>, keyword: &'static str) -> Parsed<bool> {
    blanks(input)?;
    let word = take_while(1.., is_name_letter).verify(|word: &str| word.eq_ignore_ascii_case(keyword));
    Ok(opt(word).parse_next(input)?.is_some())
}

/// Parses a required keyword.
pub(super) fn expect(input: &mut Input<'_>, keyword: &'static str) -> Parsed<()> {
    if has(input, keyword)? { Ok(()) } else { Err(fault(input.current_token_start(), format!("expected {keyword}"))) }
}

/// Consumes this character if it is next. Returns whether it was.
pub(super) fn has_sign(input: &mut Input<'_>, sign: char) -> Parsed<bool> {
    blanks(input)?;
    Ok(opt(one_of(sign)).parse_next(input)?.is_some())
}

/// Returns the next word for an error message, without consuming it.
pub(super) fn next_word<'a>(input: &mut Input<'a>) -> Parsed<&'a str> {
    blanks(input)?;
    peek(take_while(0.., is_value_letter)).parse_next(input)
}

/// Parses a column.
pub(super) fn column(input: &mut Input<'_>) -> Parsed<Column> {
    blanks(input)?;
    let at = input.current_token_start();
    let name = take_while(1.., is_name_letter)
        .context("expected the name of a key")
        .parse_next(input)
        .map_err(ErrMode::cut)?;
    let is_name = name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_') && !is_keyword(name);
    if is_name { Ok(Column::from_name(name)) } else { Err(fault(at, "expected the name of a key")) }
}

/// Parses a file or a glob, quoted or up to the next space.
pub(super) fn file(input: &mut Input<'_>) -> Parsed<String> {
    blanks(input)?;
    let at = input.current_token_start();
    if let Some(path) = quoted(input)? {
        return Ok(path);
    }
    let path: &str = take_till(0.., |letter: char| letter.is_whitespace() || letter == ';').parse_next(input)?;
    if path.is_empty() || is_keyword(path) {
        return Err(fault(at, "expected a file, such as tasks/plan.task.md"));
    }
    Ok(path.to_owned())
}

/// Parses a value, quoted or an unquoted word.
pub(super) fn literal(input: &mut Input<'_>) -> Parsed<Literal> {
    blanks(input)?;
    let at = input.current_token_start();
    if let Some(text) = quoted(input)? {
        return Ok(Literal::Text(text));
    }
    let word: &str = take_while(0.., is_value_letter).parse_next(input)?;
    match word.to_ascii_lowercase().as_str() {
        "null" => Ok(Literal::Null),
        "true" => Ok(Literal::Bool(true)),
        "false" => Ok(Literal::Bool(false)),
        "" => Err(fault(at, "expected a value")),
        _ if is_keyword(word) => Err(fault(at, format!("expected a value; put {word} in quotes if it is one"))),
        _ => Ok(match number(word) {
            Some(value) => Literal::Number(value, word.to_owned()),
            None => Literal::Text(word.to_owned()),
        }),
    }
}

/// Parses a text in single or double quotes, in which the quote itself is doubled or escaped. `None` if the next
/// character is not a quote.
pub(super) fn quoted(input: &mut Input<'_>) -> Parsed<Option<String>> {
    let at = input.current_token_start();
    let Some(quote) = opt(one_of(['\'', '"'])).parse_next(input)? else { return Ok(None) };
    let mut text = String::new();
    loop {
        let letter: Result<char, ErrMode<Fault>> = any.parse_next(input);
        let Ok(letter) = letter else { return Err(fault(at, "the quote is not closed")) };
        if letter == quote {
            if opt(one_of(quote)).parse_next(input)?.is_none() {
                return Ok(Some(text));
            }
            text.push(quote);
        } else if letter == '\\' {
            escaped(input, &mut text)?;
        } else {
            text.push(letter);
        }
    }
}

/// Parses the character after a backslash. If this is not an escape, the backslash is kept, because a pattern may need
/// it.
fn escaped(input: &mut Input<'_>, text: &mut String) -> Parsed<()> {
    match opt(any).parse_next(input)? {
        Some('n') => text.push('\n'),
        Some('t') => text.push('\t'),
        Some('r') => text.push('\r'),
        Some(sign @ ('\'' | '"' | '\\')) => text.push(sign),
        Some(other) => text.extend(['\\', other]),
        None => {}
    }
    Ok(())
}
