//! Evaluates which tasks a query matches. Pure: works on parsed files.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::ast::{Column, Comparison, Condition, Literal, Order, Select};
use crate::workspace::task_files::model::{Task, TaskFile, Value};
use crate::workspace::task_files::value::number;

/// A file that is queried.
#[derive(Clone, PartialEq, Debug)]
pub struct Source {
    /// The path of the file in the workspace.
    pub path: String,
    /// The parsed file.
    pub file: TaskFile,
}

/// A task in the result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Row {
    /// The index of the file.
    pub source: usize,
    /// The index of the task in that file.
    pub task: usize,
}

/// The value of a task in a column.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, and how it is written.
    Number(f64, Cow<'a, str>),
    /// Text.
    Text(&'a str),
    /// Several texts, at least one.
    List(Vec<&'a str>),
}

/// Returns the value of a task in a column.
pub fn cell<'a>(source: &'a Source, task: &'a Task, column: &Column) -> Cell<'a> {
    let list = |list: Vec<&'a str>| if list.is_empty() { Cell::Null } else { Cell::List(list) };
    match column {
        Column::Id => Cell::Text(&task.id),
        Column::Title => Cell::Text(&task.title.text),
        Column::Status => Cell::Text(task.status.as_str()),
        Column::Priority => task.priority.as_ref().map_or(Cell::Null, |(priority, _)| Cell::Text(priority.letter())),
        Column::Stakeholders => list(task.stakeholders.iter().map(|name| name.text.as_str()).collect()),
        Column::Tags => list(task.tags.iter().map(|name| name.text.as_str()).collect()),
        Column::Parent => task.parent.map_or(Cell::Null, |parent| Cell::Text(&source.file.tasks[parent].id)),
        Column::DependsOn => list(task.dependencies().collect()),
        Column::Depth => count(task.depth),
        Column::Line => count(source.file.position(task.head.start).0),
        Column::File => Cell::Text(&source.path),
        Column::Field(key) => match task.field(key).map(|field| &field.value) {
            None | Some(Value::Empty) => Cell::Null,
            Some(Value::Bool(value)) => Cell::Bool(*value),
            Some(Value::Number(value, written)) => Cell::Number(*value, Cow::Borrowed(written)),
            Some(Value::Text(text)) => Cell::Text(text),
        },
    }
}

fn count(count: usize) -> Cell<'static> {
    // Lines and depths are small enough for an exact `f64`.
    Cell::Number(count as f64, Cow::Owned(count.to_string()))
}

/// Returns the tasks that match a condition, in file order.
pub fn rows(sources: &[Source], filter: Option<&Condition>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (source_index, source) in sources.iter().enumerate() {
        let tasks = source.file.tasks.iter().enumerate();
        let meant = tasks.filter(|(_, task)| filter.is_none_or(|filter| holds(filter, source, task)));
        rows.extend(meant.map(|(task, _)| Row { source: source_index, task }));
    }
    rows
}

/// Returns the result of a `SELECT`, sorted and limited.
pub fn select(sources: &[Source], query: &Select) -> Vec<Row> {
    let mut rows = rows(sources, query.filter.as_ref());
    if !query.order.is_empty() {
        sort(sources, &query.order, &mut rows);
    }
    rows.truncate(query.limit.unwrap_or(usize::MAX));
    rows
}

/// Sorts rows. Missing values come last in either direction; equal rows stay in file order.
fn sort(sources: &[Source], order: &[Order], rows: &mut [Row]) {
    let cells = |row: &Row| -> Vec<Cell<'_>> {
        let source = &sources[row.source];
        order.iter().map(|order| cell(source, &source.file.tasks[row.task], &order.column)).collect()
    };
    let mut keyed: Vec<(Vec<Cell<'_>>, Row)> = rows.iter().map(|row| (cells(row), *row)).collect();
    keyed.sort_by(|(one, _), (other, _)| {
        let each = one.iter().zip(other).zip(order).map(|((one, other), order)| {
            let by_null = matches!(one, Cell::Null).cmp(&matches!(other, Cell::Null));
            let by_value = compare_cells(one, other);
            by_null.then(if order.is_descending { by_value.reverse() } else { by_value })
        });
        each.fold(Ordering::Equal, Ordering::then)
    });
    rows.iter_mut().zip(keyed).for_each(|(row, (_, sorted))| *row = sorted);
}

fn compare_cells(one: &Cell<'_>, other: &Cell<'_>) -> Ordering {
    let rank = |cell: &Cell<'_>| match cell {
        Cell::Bool(_) => 0,
        Cell::Number(..) => 1,
        Cell::Text(_) | Cell::List(_) => 2,
        Cell::Null => 3,
    };
    match (one, other) {
        (Cell::Bool(one), Cell::Bool(other)) => one.cmp(other),
        (Cell::Number(one, _), Cell::Number(other, _)) => one.total_cmp(other),
        (Cell::Text(one), Cell::Text(other)) => one.cmp(other),
        (Cell::List(one), Cell::List(other)) => one.cmp(other),
        (Cell::Text(one), Cell::List(other)) => [*one].as_slice().cmp(other),
        (Cell::List(one), Cell::Text(other)) => one.as_slice().cmp(&[*other]),
        _ => rank(one).cmp(&rank(other)),
    }
}

/// Whether a condition holds for a task. A comparison with a missing value is false, also `!=`; `NOT` inverts that.
pub fn holds(condition: &Condition, source: &Source, task: &Task) -> bool {
    match condition {
        Condition::And(parts) => parts.iter().all(|part| holds(part, source, task)),
        Condition::Or(parts) => parts.iter().any(|part| holds(part, source, task)),
        Condition::Not(part) => !holds(part, source, task),
        Condition::Compare(column, comparison, literal) => compare(&cell(source, task, column), *comparison, literal),
        Condition::Contains(column, part) => match cell(source, task, column) {
            Cell::List(list) => list.iter().any(|one| one.to_lowercase() == *part),
            one => text_of(&one).is_some_and(|text| text.to_lowercase().contains(part)),
        },
        Condition::Like(column, pattern) => match cell(source, task, column) {
            Cell::List(list) => list.iter().any(|one| pattern.matches(one)),
            one => text_of(&one).is_some_and(|text| pattern.matches(text)),
        },
        Condition::In(column, values) => {
            let cell = cell(source, task, column);
            values.iter().any(|value| compare(&cell, Comparison::Equal, value))
        }
        Condition::IsNull(column) => cell(source, task, column) == Cell::Null,
    }
}

fn compare(cell: &Cell<'_>, comparison: Comparison, literal: &Literal) -> bool {
    let ordered = |meant: fn(Ordering) -> bool| match cell {
        Cell::List(list) => list.iter().any(|one| order(&Cell::Text(one), literal).is_some_and(meant)),
        cell => order(cell, literal).is_some_and(meant),
    };
    match comparison {
        Comparison::Equal => is_equal(cell, literal),
        Comparison::NotEqual => *cell != Cell::Null && !is_equal(cell, literal),
        Comparison::Greater => ordered(Ordering::is_gt),
        Comparison::Less => ordered(Ordering::is_lt),
        Comparison::GreaterOrEqual => ordered(Ordering::is_ge),
        Comparison::LessOrEqual => ordered(Ordering::is_le),
    }
}

/// Compares numbers by value, anything else as it is written.
fn is_equal(cell: &Cell<'_>, literal: &Literal) -> bool {
    match (cell, literal) {
        (Cell::Null, _) => false,
        (Cell::Number(one, _), Literal::Number(other, _)) => one == other,
        (Cell::List(list), literal) => list.contains(&literal.text()),
        (cell, literal) => text_of(cell) == Some(literal.text()),
    }
}

fn order(cell: &Cell<'_>, literal: &Literal) -> Option<Ordering> {
    let numbers = match (cell, literal) {
        (Cell::Number(one, _), Literal::Number(other, _)) => Some((*one, *other)),
        (Cell::Number(one, _), Literal::Text(text)) => Some((*one, number(text)?)),
        (Cell::Text(text), Literal::Number(other, written)) => match number(text) {
            Some(one) => Some((one, *other)),
            // A year can be compared with a full date.
            None => return Some((*text).cmp(written.as_str())),
        },
        (Cell::Text(text), Literal::Text(other)) => return Some((*text).cmp(other.as_str())),
        _ => None,
    };
    numbers.and_then(|(one, other)| one.partial_cmp(&other))
}

/// Returns a single value as text.
fn text_of<'a>(cell: &'a Cell<'_>) -> Option<&'a str> {
    match cell {
        Cell::Null | Cell::List(_) => None,
        Cell::Bool(value) => Some(if *value { "true" } else { "false" }),
        Cell::Number(_, written) => Some(written),
        Cell::Text(text) => Some(text),
    }
}
