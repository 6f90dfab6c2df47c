//! Parses the text of a query.

use winnow::combinator::eof;
use winnow::error::{ErrMode, ParserError};
use winnow::prelude::*;
use winnow::stream::Location;

use super::ast::{Column, Condition, Delete, Insert, Order, Query, Select, Update};
use super::conditions::condition;
use super::input::{Fault, Input, Parsed, QueryError, fault};
use super::set::{Assignment, assignments};
use super::words::{blanks, column, expect, file, has, has_sign, next_word};
use crate::workspace::task_files::edit::Change;

/// The maximum length of a query in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// Parses a complete query.
pub fn parse(text: &str) -> Result<Query, QueryError> {
    if text.len() > MAX_BYTES {
        return Err(QueryError::new("", 0, format!("the query is longer than {MAX_BYTES} bytes")));
    }
    let mut input = Input::new(text);
    whole(&mut input).map_err(|error| {
        let Fault { at, what } = match error {
            ErrMode::Backtrack(fault) | ErrMode::Cut(fault) => fault,
            ErrMode::Incomplete(_) => Fault::from_input(&input),
        };
        let what = if what.is_empty() { "this is not valid here".to_owned() } else { what };
        QueryError::new(text, at, what)
    })
}

fn whole(input: &mut Input<'_>) -> Parsed<Query> {
    let (query, clauses) = if has(input, "SELECT")? {
        (Query::Select(select(input)?), "WHERE, ORDER BY, LIMIT, INTO or the end, in this order")
    } else if has(input, "UPDATE")? {
        (Query::Update(update(input)?), "a comma, WHERE or the end")
    } else if has(input, "DELETE")? {
        (Query::Delete(delete(input)?), "WHERE or the end")
    } else if has(input, "INSERT")? {
        (Query::Insert(insert(input)?), "a comma or the end")
    } else {
        return Err(fault(input.current_token_start(), "expected SELECT, UPDATE, DELETE or INSERT"));
    };
    has_sign(input, ';')?;
    blanks(input)?;
    let end: Parsed<&str> = eof.parse_next(input);
    match end {
        Ok(_) => Ok(query),
        Err(_) => Err(fault(input.current_token_start(), format!("expected {clauses}"))),
    }
}

fn select(input: &mut Input<'_>) -> Parsed<Select> {
    let columns = columns(input)?;
    expect(input, "FROM")?;
    let from = file(input)?;
    let filter = filter(input)?;
    let order = if has(input, "ORDER")? { order(input)? } else { Vec::new() };
    let limit = if has(input, "LIMIT")? { Some(count(input)?) } else { None };
    let into = if has(input, "INTO")? { Some(file(input)?) } else { None };
    Ok(Select { columns, from, filter, order, limit, into })
}

/// Parses `*`, or the selected columns.
fn columns(input: &mut Input<'_>) -> Parsed<Option<Vec<Column>>> {
    if has_sign(input, '*')? {
        return Ok(None);
    }
    let mut columns = vec![column(input)?];
    while has_sign(input, ',')? {
        columns.push(column(input)?);
    }
    Ok(Some(columns))
}

fn filter(input: &mut Input<'_>) -> Parsed<Option<Condition>> {
    if has(input, "WHERE")? { condition(input, 0).map(Some) } else { Ok(None) }
}

fn order(input: &mut Input<'_>) -> Parsed<Vec<Order>> {
    expect(input, "BY")?;
    let mut order = Vec::new();
    loop {
        let column = column(input)?;
        let is_descending = has(input, "DESC")?;
        if !is_descending {
            has(input, "ASC")?;
        }
        order.push(Order { column, is_descending });
        if !has_sign(input, ',')? {
            return Ok(order);
        }
    }
}

fn count(input: &mut Input<'_>) -> Parsed<usize> {
    blanks(input)?;
    let at = input.current_token_start();
    let word = next_word(input)?;
    let count = word.parse().map_err(|_| fault(at, "expected a number of tasks"))?;
    winnow::token::take(word.len()).void().parse_next(input)?;
    Ok(count)
}

fn update(input: &mut Input<'_>) -> Parsed<Update> {
    let files = file(input)?;
    expect(input, "SET")?;
    let mut changes = Vec::new();
    for assignment in assignments(input)? {
        match assignment {
            Assignment::Change(change) => changes.push(change),
            Assignment::Parent { at, .. } => {
                let what = "the parent of a task depends on its place; move the task in the file";
                return Err(fault(at, what));
            }
        }
    }
    Ok(Update { files, changes, filter: filter(input)? })
}

fn delete(input: &mut Input<'_>) -> Parsed<Delete> {
    expect(input, "FROM")?;
    let from = file(input)?;
    Ok(Delete { from, filter: filter(input)? })
}

fn insert(input: &mut Input<'_>) -> Parsed<Insert> {
    expect(input, "INTO")?;
    let into = file(input)?;
    expect(input, "SET")?;
    let start = input.current_token_start();
    let (mut changes, mut parent) = (Vec::new(), None);
    for assignment in assignments(input)? {
        match assignment {
            Assignment::Change(change) => changes.push(change),
            Assignment::Parent { id, .. } => parent = Some(id).filter(|id| !id.is_empty()),
        }
    }
    if !changes.iter().any(|change| matches!(change, Change::Title(_))) {
        return Err(fault(start, "a task needs a title: SET title = '…'"));
    }
    Ok(Insert { into, changes, parent })
}
