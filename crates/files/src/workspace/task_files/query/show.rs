//! Prints the result of a query: as a table, as JSON, or in the format of task files.

use serde_json::{Map, Value as Json};

use super::ast::Column;
use super::evaluate::{Cell, Row, Source, cell};
use crate::base::text::{one_line, truncate};
use crate::workspace::task_files::model::{Status, Task};
use crate::workspace::task_files::render::{NewTask, render};

/// The maximum width of a cell in characters.
const MAX_CELL_CHARS: usize = 60;

/// The columns of a table if none are selected; the keys of the tasks follow.
const USUAL: [Column; 6] =
    [Column::Id, Column::Status, Column::Priority, Column::Stakeholders, Column::Tags, Column::Title];

fn task<'a>(sources: &'a [Source], row: &Row) -> (&'a Source, &'a Task) {
    let source = &sources[row.source];
    (source, &source.file.tasks[row.task])
}

/// Returns the columns of a table: the selected ones, or all for which any of the tasks has a value.
fn columns(sources: &[Source], rows: &[Row], chosen: Option<&[Column]>) -> Vec<Column> {
    if let Some(chosen) = chosen {
        return chosen.to_vec();
    }
    let mut columns: Vec<Column> = if sources.len() > 1 { vec![Column::File] } else { Vec::new() };
    columns.extend(USUAL);
    let mut keys: Vec<&str> = Vec::new();
    for row in rows {
        let (_, task) = task(sources, row);
        if task.parent.is_some() && !columns.contains(&Column::Parent) {
            columns.push(Column::Parent);
        }
        for field in &task.fields {
            let is_new = !keys.iter().any(|key| key.eq_ignore_ascii_case(&field.key));
            if is_new {
                keys.push(&field.key);
            }
        }
    }
    columns.extend(keys.into_iter().filter_map(key_column));
    columns
}

/// Returns the column of a key, unless another column shows the same.
fn key_column(key: &str) -> Option<Column> {
    match Column::from_name(key) {
        Column::Id | Column::Parent => None,
        Column::DependsOn => Some(Column::DependsOn),
        Column::Field(key) => Some(Column::Field(key)),
        _ => Some(Column::Field(key.to_owned())),
    }
}

/// Prints a table for people.
pub fn table(sources: &[Source], rows: &[Row], chosen: Option<&[Column]>) -> String {
    let columns = columns(sources, rows, chosen);
    let mut lines: Vec<Vec<String>> = vec![columns.iter().map(Column::name).collect()];
    for row in rows {
        let (source, task) = task(sources, row);
        lines.push(columns.iter().map(|column| shown(&cell(source, task, column))).collect());
    }
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    lines.insert(1, widths.iter().map(|width| "-".repeat(*width)).collect());
    let line = |cells: &Vec<String>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn shown(cell: &Cell<'_>) -> String {
    let text = match cell {
        Cell::Null => return String::new(),
        Cell::Bool(value) => value.to_string(),
        Cell::Number(_, written) => written.to_string(),
        Cell::Text(text) => one_line(text),
        Cell::List(list) => list.join(", "),
    };
    truncate(&text, MAX_CELL_CHARS)
}

/// Returns an array of objects for programs. If no columns are selected, each object has the file, the line and all
/// properties of the task.
pub fn json(sources: &[Source], rows: &[Row], chosen: Option<&[Column]>) -> Json {
    let object = |row: &Row| {
        let (source, task) = task(sources, row);
        let columns = match chosen {
            Some(chosen) => chosen.to_vec(),
            None => all_of(task),
        };
        let pairs = columns.iter().map(|column| (column.name(), to_json(&cell(source, task, column))));
        Json::Object(pairs.collect::<Map<_, _>>())
    };
    Json::Array(rows.iter().map(object).collect())
}

fn all_of(task: &Task) -> Vec<Column> {
    let mut columns = vec![Column::File, Column::Line];
    columns.extend(USUAL);
    columns.push(Column::Parent);
    columns.extend(task.fields.iter().filter_map(|field| key_column(&field.key)));
    columns
}

fn to_json(cell: &Cell<'_>) -> Json {
    match cell {
        Cell::Null => Json::Null,
        Cell::Bool(value) => Json::Bool(*value),
        Cell::Number(value, written) => match written.parse::<i64>() {
            Ok(whole) => Json::from(whole),
            Err(_) => Json::from(*value),
        },
        Cell::Text(text) => Json::from(*text),
        Cell::List(list) => Json::from(list.clone()),
    }
}

/// Prints the tasks in the format of task files, without nesting. Each has the selected columns, and always its title.
pub fn markdown(sources: &[Source], rows: &[Row], chosen: Option<&[Column]>) -> String {
    let lines = rows.iter().map(|row| {
        let (_, task) = task(sources, row);
        render(&reduced(task, chosen), 0, "\n")
    });
    lines.collect()
}

fn reduced(task: &Task, chosen: Option<&[Column]>) -> NewTask {
    let mut new = NewTask::like(task);
    // The tasks are printed as a flat list.
    new.fields.retain(|(key, _)| !key.eq_ignore_ascii_case("parent"));
    let Some(chosen) = chosen else { return new };
    let has = |column: &Column| chosen.contains(column);
    if !has(&Column::Status) {
        new.status = Status::Open;
    }
    new.priority = new.priority.filter(|_| has(&Column::Priority));
    new.stakeholders.retain(|_| has(&Column::Stakeholders));
    new.tags.retain(|_| has(&Column::Tags));
    let is_chosen = |key: &str| match Column::from_name(key) {
        Column::Field(_) => has_field(chosen, key),
        column @ (Column::Id | Column::DependsOn) => has(&column),
        _ => has_field(chosen, key),
    };
    new.fields.retain(|(key, _)| is_chosen(key));
    new
}

fn has_field(chosen: &[Column], key: &str) -> bool {
    chosen.iter().any(|column| matches!(column, Column::Field(name) if name.eq_ignore_ascii_case(key)))
}
