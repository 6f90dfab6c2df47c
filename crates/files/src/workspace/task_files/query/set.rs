//! Parses the assignments after `SET`.

use winnow::stream::Location;

use super::ast::{Column, Literal};
use super::input::{Input, Parsed, fault};
use super::words::{blanks, column, has_sign, literal};
use crate::workspace::task_files::edit::Change;
use crate::workspace::task_files::keys::{is_key, is_name};
use crate::workspace::task_files::model::{Priority, Status, Value};

/// An assignment of a query.
pub(super) enum Assignment {
    /// A change of the task itself.
    Change(Change),
    /// The parent of a new task.
    Parent { id: String, at: usize },
}

/// Parses `key = value, …`.
pub(super) fn assignments(input: &mut Input<'_>) -> Parsed<Vec<Assignment>> {
    let mut assignments = Vec::new();
    let mut columns: Vec<Column> = Vec::new();
    loop {
        blanks(input)?;
        let at = input.current_token_start();
        let column = column(input)?;
        if columns.contains(&column) {
            return Err(fault(at, format!("{} is set twice", column.name())));
        }
        if !has_sign(input, '=')? {
            return Err(fault(input.current_token_start(), "expected ="));
        }
        blanks(input)?;
        let value_at = input.current_token_start();
        let values = values(input)?;
        assignments.push(assignment(&column, values, at, value_at)?);
        columns.push(column);
        if !has_sign(input, ',')? {
            return Ok(assignments);
        }
    }
}

/// Parses one value, or several in brackets.
fn values(input: &mut Input<'_>) -> Parsed<Vec<Literal>> {
    if !has_sign(input, '(')? {
        return Ok(vec![literal(input)?]);
    }
    let mut values = vec![literal(input)?];
    while has_sign(input, ',')? {
        values.push(literal(input)?);
    }
    if has_sign(input, ')')? {
        return Ok(values);
    }
    Err(fault(input.current_token_start(), "expected a comma or a closing bracket"))
}

fn assignment(column: &Column, values: Vec<Literal>, at: usize, value_at: usize) -> Parsed<Assignment> {
    let text = values.iter().map(Literal::text).collect::<Vec<_>>().join(", ");
    let is_null = values == [Literal::Null];
    let change = match column {
        Column::Id if text.trim().is_empty() => return Err(fault(value_at, "an id cannot be empty")),
        Column::Id if text.contains(|c: char| c.is_whitespace() || c == ',') => {
            return Err(fault(value_at, "an id has no blanks and commas, so that depends_on can name it"));
        }
        Column::Id => Change::Field("id".into(), Some(Value::Text(text.into()))),
        Column::Title if text.trim().is_empty() => return Err(fault(value_at, "a task needs a title")),
        Column::Title => Change::Title(text),
        Column::Status => match Status::from_name(&text) {
            Some(status) => Change::Status(status),
            None => {
                let what = "a status is open, completed or skipped; for a key of this name, use field.status";
                return Err(fault(value_at, what));
            }
        },
        Column::Priority if is_null => Change::Priority(None),
        Column::Priority => match Priority::from_letter(&text.to_ascii_uppercase()) {
            Some(priority) => Change::Priority(Some(priority)),
            None => return Err(fault(value_at, "a priority is A, B, C, D or NULL")),
        },
        Column::Stakeholders => Change::Stakeholders(names(&text, '@', value_at)?),
        Column::Tags => Change::Tags(names(&text, '#', value_at)?),
        Column::Parent => return Ok(Assignment::Parent { id: text, at }),
        Column::Depth | Column::Line | Column::File => {
            return Err(fault(at, format!("{} depends on the place of the task, and cannot be set", column.name())));
        }
        Column::DependsOn => Change::Field("depends_on".into(), (!is_null).then_some(Value::Text(text.into()))),
        Column::Field(key) if !is_key(key) => {
            return Err(fault(at, "a key starts with a letter, and has only letters, digits and _ - ."));
        }
        Column::Field(key) => Change::Field(key.clone(), value(values, text)),
    };
    Ok(Assignment::Change(change))
}

fn value(values: Vec<Literal>, joined: String) -> Option<Value> {
    match <[Literal; 1]>::try_from(values) {
        Ok([Literal::Null]) => None,
        Ok([Literal::Bool(value)]) => Some(Value::Bool(value)),
        Ok([Literal::Number(value, written)]) => Some(Value::Number(value, written.into())),
        Ok([Literal::Text(text)]) => Some(Value::Text(text.into())),
        Err(_) => Some(Value::Text(joined.into())),
    }
}

/// Parses names with or without their sign, separated by commas.
fn names(text: &str, sign: char, at: usize) -> Parsed<Vec<String>> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    let names: Vec<String> = words.map(|word| word.strip_prefix(sign).unwrap_or(word).to_owned()).collect();
    match names.iter().find(|name| !is_name(name)) {
        Some(name) if name.contains(' ') => {
            Err(fault(at, format!("{name:?} is not a valid name: write several as ('a', 'b')")))
        }
        Some(name) => Err(fault(at, format!("{name:?} is not a valid name: use only letters, digits and _ - . / : +"))),
        None => Ok(names),
    }
}
