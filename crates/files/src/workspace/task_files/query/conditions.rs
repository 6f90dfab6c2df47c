//! Parses the conditions after `WHERE`.

use winnow::combinator::{alt, opt};
use winnow::prelude::*;
use winnow::stream::Location;

use super::ast::{Column, Comparison, Condition, Literal};
use super::input::{Input, Parsed, fault};
use super::like::Pattern;
use super::words::{blanks, column, expect, has, has_sign, literal};
use crate::workspace::task_files::model::{Priority, Status};

/// The maximum depth of nested brackets and `NOT`s.
const MAX_DEPTH: usize = 64;

/// Parses a condition. `OR` binds less tightly than `AND`.
pub(super) fn condition(input: &mut Input<'_>, depth: usize) -> Parsed<Condition> {
    let mut parts = vec![all(input, depth)?];
    while has(input, "OR")? {
        parts.push(all(input, depth)?);
    }
    Ok(joined(parts, Condition::Or))
}

fn all(input: &mut Input<'_>, depth: usize) -> Parsed<Condition> {
    let mut parts = vec![single(input, depth)?];
    while has(input, "AND")? {
        parts.push(single(input, depth)?);
    }
    Ok(joined(parts, Condition::And))
}

fn joined(mut parts: Vec<Condition>, join: impl Fn(Vec<Condition>) -> Condition) -> Condition {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            parts.push(last);
            join(parts)
        }
        (_, None) => join(parts),
    }
}

fn single(input: &mut Input<'_>, depth: usize) -> Parsed<Condition> {
    blanks(input)?;
    let at = input.current_token_start();
    if depth >= MAX_DEPTH {
        return Err(fault(at, format!("brackets and NOTs are nested more than {MAX_DEPTH} deep")));
    }
    if has(input, "NOT")? {
        return Ok(Condition::Not(Box::new(single(input, depth + 1)?)));
    }
    if has_sign(input, '(')? {
        let inner = condition(input, depth + 1)?;
        if !has_sign(input, ')')? {
            let here = input.current_token_start();
            return Err(fault(here, "expected AND, OR or a closing bracket"));
        }
        return Ok(inner);
    }
    comparison(input)
}

fn comparison(input: &mut Input<'_>) -> Parsed<Condition> {
    let column = column(input)?;
    blanks(input)?;
    let at = input.current_token_start();
    if let Some(comparison) = sign(input)? {
        blanks(input)?;
        let value_at = input.current_token_start();
        let literal = literal(input)?;
        if literal == Literal::Null {
            return Err(fault(at, "nothing is equal to NULL: write IS NULL or IS NOT NULL"));
        }
        let literal = checked(&column, literal, value_at)?;
        return Ok(Condition::Compare(column, comparison, literal));
    }
    if has(input, "IS")? {
        let is_not = has(input, "NOT")?;
        expect(input, "NULL")?;
        return Ok(negated(is_not, Condition::IsNull(column)));
    }
    let is_not = has(input, "NOT")?;
    let condition = if has(input, "LIKE")? {
        let pattern = text(&column, literal(input)?);
        Condition::Like(column, Pattern::new(&pattern))
    } else if has(input, "CONTAINS")? {
        let part = text(&column, literal(input)?).to_lowercase();
        Condition::Contains(column, part)
    } else if has(input, "IN")? {
        let values = values(input, &column)?;
        Condition::In(column, values)
    } else {
        let what =
            if is_not { "expected LIKE, CONTAINS or IN" } else { "expected = != > < >= <= LIKE CONTAINS IN or IS" };
        blanks(input)?;
        return Err(fault(input.current_token_start(), what));
    };
    Ok(negated(is_not, condition))
}

fn negated(is_not: bool, condition: Condition) -> Condition {
    if is_not { Condition::Not(Box::new(condition)) } else { condition }
}

fn sign(input: &mut Input<'_>) -> Parsed<Option<Comparison>> {
    let signs = alt((
        ">=".value(Comparison::GreaterOrEqual),
        "<=".value(Comparison::LessOrEqual),
        "!=".value(Comparison::NotEqual),
        "=".value(Comparison::Equal),
        ">".value(Comparison::Greater),
        "<".value(Comparison::Less),
    ));
    opt(signs).parse_next(input)
}

/// Parses a list such as `('a', 'b')`.
fn values(input: &mut Input<'_>, column: &Column) -> Parsed<Vec<Literal>> {
    if !has_sign(input, '(')? {
        return Err(fault(input.current_token_start(), "expected a list in brackets, such as ('a', 'b')"));
    }
    let mut values = Vec::new();
    loop {
        blanks(input)?;
        let at = input.current_token_start();
        let literal = literal(input)?;
        if literal == Literal::Null {
            return Err(fault(at, "nothing is equal to NULL: write IS NULL or IS NOT NULL"));
        }
        values.push(checked(column, literal, at)?);
        if has_sign(input, ')')? {
            return Ok(values);
        }
        if !has_sign(input, ',')? {
            return Err(fault(input.current_token_start(), "expected a comma or a closing bracket"));
        }
    }
}

/// Returns the text to search for. Names may be given with their sign.
fn text(column: &Column, literal: Literal) -> String {
    let text = literal.text();
    let bare = match column {
        Column::Stakeholders => text.strip_prefix('@'),
        Column::Tags => text.strip_prefix('#'),
        _ => None,
    };
    bare.unwrap_or(text).to_owned()
}

/// Rejects a value that the column cannot have, which would silently match nothing.
fn checked(column: &Column, literal: Literal, at: usize) -> Parsed<Literal> {
    match column {
        Column::Stakeholders | Column::Tags => Ok(Literal::Text(text(column, literal))),
        Column::Status => match Status::from_name(literal.text()) {
            Some(status) => Ok(Literal::Text(status.as_str().to_owned())),
            None => Err(fault(at, "a status is open, completed or skipped; for a key of this name, use field.status")),
        },
        Column::Priority => match Priority::from_letter(&literal.text().to_ascii_uppercase()) {
            Some(priority) => Ok(Literal::Text(priority.letter().to_owned())),
            None => Err(fault(at, "a priority is A, B, C or D; for a key of this name, use field.priority")),
        },
        _ => Ok(literal),
    }
}
