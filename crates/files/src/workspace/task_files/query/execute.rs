//! Computes the new texts of files after a changing query. Nothing is written here.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::ast::{Delete, Insert, Update};
use super::evaluate::{Source, rows};
use crate::workspace::task_files::edit::{self, Change, EditError, check_sound};
use crate::workspace::task_files::render::NewTask;

/// The result of a changing query.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// The files that change, each with its new text.
    pub texts: Vec<(usize, String)>,
    /// The changed tasks, by index of the file and id.
    pub done: Vec<(usize, String)>,
    /// The matching tasks that have errors and so were not changed, by index of the file.
    pub refused: Vec<(usize, EditError)>,
}

/// Why a changing query changes nothing at all.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum OrderError {
    /// A change cannot be made.
    #[error("{path}: {error}")]
    Edit {
        /// The path of the file.
        path: String,
        /// The reason.
        error: EditError,
    },
    /// The parent of a new task does not exist.
    #[error("{path}: there is no parent task {id:?}")]
    NoParent {
        /// The path of the file.
        path: String,
        /// The id of the parent.
        id: String,
    },
}

/// Returns the matching tasks by file.
fn meant(sources: &[Source], filter: Option<&super::ast::Condition>) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut meant: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for row in rows(sources, filter) {
        meant.entry(row.source).or_default().insert(row.task);
    }
    meant
}

impl Changes {
    fn put(&mut self, source: usize, before: &Source, text: String, tasks: impl IntoIterator<Item = usize>) {
        self.done.extend(tasks.into_iter().map(|task| (source, before.file.tasks[task].id.clone())));
        if text != before.file.text {
            self.texts.push((source, text));
        }
    }
}

fn failed(source: &Source, error: EditError) -> OrderError {
    OrderError::Edit { path: source.path.clone(), error }
}

/// Changes the matching tasks.
pub fn update(sources: &[Source], query: &Update) -> Result<Changes, OrderError> {
    let mut changes = Changes::default();
    for (index, mut tasks) in meant(sources, query.filter.as_ref()) {
        let source = &sources[index];
        tasks.retain(|task| keep(&mut changes, index, check_sound(&source.file, *task)));
        let each = tasks.iter().map(|task| (*task, query.changes.clone())).collect();
        let updated = edit::update(&source.file, &each).map_err(|error| failed(source, error))?;
        changes.put(index, source, updated.text, updated.changed);
    }
    Ok(changes)
}

/// Deletes the matching tasks.
pub fn delete(sources: &[Source], query: &Delete, with_children: bool) -> Result<Changes, OrderError> {
    let mut changes = Changes::default();
    for (index, mut tasks) in meant(sources, query.filter.as_ref()) {
        let source = &sources[index];
        tasks.retain(|task| {
            let mut below = *task..source.file.tasks[*task].next;
            let sound = below.try_for_each(|task| check_sound(&source.file, task));
            keep(&mut changes, index, sound)
        });
        let text = edit::delete(&source.file, &tasks, with_children).map_err(|error| failed(source, error))?;
        changes.put(index, source, text, tasks);
    }
    Ok(changes)
}

fn keep(changes: &mut Changes, source: usize, sound: Result<(), EditError>) -> bool {
    match sound {
        Ok(()) => true,
        Err(error) => {
            changes.refused.push((source, error));
            false
        }
    }
}

/// Adds a task to the file.
pub fn insert(source: &Source, query: &Insert) -> Result<Changes, OrderError> {
    let mut task = NewTask::new("");
    for change in &query.changes {
        match change {
            Change::Status(status) => task.status = *status,
            Change::Priority(priority) => task.priority = *priority,
            Change::Title(title) => task.title.clone_from(title),
            Change::Stakeholders(names) => task.stakeholders.clone_from(names),
            Change::Tags(names) => task.tags.clone_from(names),
            Change::Field(key, value) => task.fields.extend(value.clone().map(|value| (key.clone(), value))),
        }
    }
    let parent = match &query.parent {
        None => None,
        Some(id) => {
            let found = source.file.tasks.iter().position(|task| task.id == *id);
            Some(found.ok_or_else(|| OrderError::NoParent { path: source.path.clone(), id: id.clone() })?)
        }
    };
    let (text, id) = edit::insert(&source.file, parent, &task).map_err(|error| failed(source, error))?;
    Ok(Changes { texts: vec![(0, text)], done: vec![(0, id)], refused: Vec::new() })
}
