//! Edits task files: only the bytes of the changed tasks differ afterwards.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use thiserror::Error;

use super::head::begins_with_mark;
use super::ids;
use super::keys::{is_key, is_name};
use super::model::{Name, Priority, Quote, Section, Status, Task, TaskFile, Value};
use super::quoting;
use super::render::{NewTask, field_line, render};
use super::splice::Splices;
use super::value::ID_KEY;

/// A change of one task.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// Sets the status.
    Status(Status),
    /// Sets or removes the priority.
    Priority(Option<Priority>),
    /// Sets the title.
    Title(String),
    /// Sets the stakeholders, without `@`.
    Stakeholders(Vec<String>),
    /// Sets the tags, without `#`.
    Tags(Vec<String>),
    /// Sets the value of a key; `None` removes the key.
    Field(String, Option<Value>),
}

/// Why a change cannot be made. The text is then left unchanged.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum EditError {
    /// The task has an error, so its meaning is not certain.
    #[error("line {line}: task {id:?} cannot be changed: {what}; fix the file first")]
    HasErrors {
        /// The id of the task.
        id: String,
        /// The line of the error.
        line: usize,
        /// The error.
        what: String,
    },
    /// The task has subtasks, which would be deleted with it.
    #[error("line {line}: task {id:?} has subtasks; delete them, too")]
    HasChildren {
        /// The id of the task.
        id: String,
        /// The line of the task.
        line: usize,
    },
    /// The title is empty.
    #[error("a task needs a title")]
    NoTitle,
    /// The name cannot be written after `@` or `#`.
    #[error("{0:?} is not a valid name: use only letters, digits and _ - . / : +")]
    Name(String),
    /// The key cannot be written before a colon.
    #[error("{0:?} is not a valid key: start with a letter, and use only letters, digits and _ - .")]
    Key(String),
    /// The parent follows from the nesting and cannot be set.
    #[error("the parent of a task depends on its place; move the task in the file")]
    Parent,
    /// The task is in another list.
    #[error("a task can only be reordered within its list; move it in the file")]
    OtherList,
    /// Another task has the same id.
    #[error("another task has the id {0:?}")]
    IdTaken(String),
    /// The id is empty.
    #[error("an id cannot be empty")]
    NoId,
}

/// Checks that a task has no errors and so may be changed.
pub fn check_sound(file: &TaskFile, task: usize) -> Result<(), EditError> {
    let Some(issue) = file.error_of(task) else { return Ok(()) };
    let id = file.tasks[task].id.clone();
    Err(EditError::HasErrors { id, line: file.position(issue.at).0, what: issue.what.clone() })
}

/// Changes these tasks, all or none. A derived id is written into the changed task.
pub fn update(file: &TaskFile, changes: &BTreeMap<usize, Vec<Change>>) -> Result<Updated, EditError> {
    let mut splices = Splices::default();
    let mut changed = Vec::new();
    check_ids(file, changes)?;
    for (&task, changes) in changes {
        check_sound(file, task)?;
        let before = splices.len();
        change_task(file, &file.tasks[task], changes, &mut splices)?;
        if splices.are_others_since(before, &file.text) {
            changed.push(task);
        }
    }
    Ok(Updated { text: splices.apply(&file.text), changed })
}

/// The result of changing tasks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Updated {
    /// The new text of the file.
    pub text: String,
    /// The indexes of the tasks that changed; those that already had the wanted values are not included.
    pub changed: Vec<usize>,
}

/// Checks that no two tasks have the same id afterwards.
fn check_ids(file: &TaskFile, changes: &BTreeMap<usize, Vec<Change>>) -> Result<(), EditError> {
    let mut new_ids: BTreeMap<usize, &str> = BTreeMap::new();
    for (&task, changes) in changes {
        for change in changes {
            let Change::Field(key, value) = change else { continue };
            if key.eq_ignore_ascii_case(ID_KEY) {
                let id = value.as_ref().map_or("", Value::text);
                new_ids.insert(task, Some(id).filter(|id| !id.trim().is_empty()).ok_or(EditError::NoId)?);
            }
        }
    }
    if new_ids.is_empty() {
        return Ok(());
    }
    let kept = file.tasks.iter().enumerate().filter(|(task, _)| !new_ids.contains_key(task));
    let mut taken: HashSet<&str> = kept.map(|(_, task)| task.id.as_str()).collect();
    match new_ids.values().find(|id| !taken.insert(id)) {
        Some(id) => Err(EditError::IdTaken((*id).to_owned())),
        None => Ok(()),
    }
}

fn change_task(file: &TaskFile, task: &Task, changes: &[Change], splices: &mut Splices) -> Result<(), EditError> {
    let mut wanted = NewTask::like(task);
    let mut fields: Vec<(&str, Option<&Value>)> = Vec::new();
    for change in changes {
        match change {
            Change::Status(status) => wanted.status = *status,
            Change::Priority(priority) => wanted.priority = *priority,
            Change::Title(title) => wanted.title.clone_from(title),
            Change::Stakeholders(names) => wanted.stakeholders.clone_from(names),
            Change::Tags(names) => wanted.tags.clone_from(names),
            Change::Field(key, value) => {
                check_key(key)?;
                fields.retain(|(other, _)| !other.eq_ignore_ascii_case(key));
                fields.push((key, value.as_ref()));
            }
        }
    }
    check_head(&wanted)?;
    let sets_id = fields.iter().any(|(key, _)| key.eq_ignore_ascii_case(ID_KEY));
    let own_id = Value::Text(task.id.as_str().into());
    let is_changed =
        change_head(file, task, &wanted, splices) | fields.iter().any(|(key, value)| differs(task, key, *value));
    if is_changed && !task.has_written_id && !sets_id {
        fields.insert(0, (ID_KEY, Some(&own_id)));
    }
    for (key, value) in fields.iter().filter(|(key, value)| differs(task, key, *value)) {
        change_field(file, task, key, *value, splices);
    }
    Ok(())
}

fn differs(task: &Task, key: &str, value: Option<&Value>) -> bool {
    task.field(key).map(|field| &field.value) != value
}

fn check_key(key: &str) -> Result<(), EditError> {
    if key.eq_ignore_ascii_case("parent") {
        return Err(EditError::Parent);
    }
    if is_key(key) { Ok(()) } else { Err(EditError::Key(key.to_owned())) }
}

fn check_head(task: &NewTask) -> Result<(), EditError> {
    if task.title.trim().is_empty() {
        return Err(EditError::NoTitle);
    }
    let mut names = task.stakeholders.iter().chain(&task.tags);
    match names.find(|name| !is_name(name)) {
        Some(name) => Err(EditError::Name(name.clone())),
        None => Ok(()),
    }
}

/// Changes the first line before its keys. Returns whether anything changed.
fn change_head(file: &TaskFile, task: &Task, wanted: &NewTask, splices: &mut Splices) -> bool {
    let text = &file.text;
    let title_start = task.title.span.start;
    let rest = &text[task.words_start..task.head.end];
    let words_start = task.words_start + rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let mut is_changed = false;
    if wanted.status != task.status {
        is_changed = true;
        match &task.status_span {
            Some(span) => splices.replace(span.clone(), wanted.status.mark()),
            None => splices.insert(words_start, format!("{} ", wanted.status.mark())),
        }
    }
    let priority = task.priority.as_ref().map(|(priority, span)| (*priority, span.clone()));
    if wanted.priority != priority.as_ref().map(|(priority, _)| *priority) {
        is_changed = true;
        match (priority, wanted.priority) {
            (Some((_, span)), Some(new)) => splices.replace(span, new.letter()),
            (Some((_, span)), None) => remove_word(text, span, splices),
            (None, Some(new)) => match &task.status_span {
                Some(span) => splices.insert(span.end, format!(" {}", new.letter())),
                None => splices.insert(words_start, format!("{} ", new.letter())),
            },
            (None, None) => {}
        }
    }
    is_changed |= change_names(text, &task.stakeholders, &wanted.stakeholders, '@', title_start, splices);
    is_changed |= change_names(text, &task.tags, &wanted.tags, '#', title_start, splices);
    // If another mark is removed, an unquoted title may begin with text that would then be parsed as a mark.
    let must_quote = is_changed && task.title.quote == Quote::None && begins_with_mark(&task.title.text);
    if wanted.title != task.title.text || must_quote {
        is_changed = true;
        splices.replace(task.title.span.clone(), quoting::write(&wanted.title, task.title.quote));
    }
    is_changed
}

fn change_names(
    text: &str,
    old: &[Name],
    new: &[String],
    sign: char,
    title_start: usize,
    splices: &mut Splices,
) -> bool {
    if old.iter().map(|name| name.text.as_str()).eq(new) {
        return false;
    }
    let written = new.iter().map(|name| format!("{sign}{name}")).collect::<Vec<_>>().join(" ");
    match old.split_first() {
        None => splices.insert(title_start, written + " "),
        Some((first, others)) => {
            if new.is_empty() {
                remove_word(text, first.span.clone(), splices);
            } else {
                splices.replace(first.span.clone(), written);
            }
            others.iter().for_each(|name| remove_word(text, name.span.clone(), splices));
        }
    }
    true
}

/// Removes a word and the spaces after it.
fn remove_word(text: &str, span: std::ops::Range<usize>, splices: &mut Splices) {
    let rest = &text[span.end..];
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    splices.replace(span.start..span.end + blanks, "");
}

fn change_field(file: &TaskFile, task: &Task, key: &str, value: Option<&Value>, splices: &mut Splices) {
    let line_end = file.line_end_of(task);
    match (task.field(key), value) {
        (Some(field), Some(value)) => {
            let indent = (!field.is_inline).then_some(task.indent + 2);
            let written = value.formatted(&field.key, indent, line_end);
            let blank = if written.is_empty() { "" } else { " " };
            splices.replace(field.value_span.clone(), format!("{blank}{written}"));
        }
        (Some(field), None) if field.is_inline => {
            let before = &file.text[..field.span.start];
            let start = before.trim_end_matches([' ', '\t']).len();
            splices.replace(start..field.span.end, "");
        }
        (Some(field), None) => splices.replace(field.span.clone(), ""),
        (None, Some(value)) => {
            let line = field_line(key, value, task.indent, line_end);
            let is_ended = file.text[..task.own_end].ends_with('\n');
            let line = if is_ended { line + line_end } else { format!("{line_end}{line}") };
            splices.insert(task.own_end, line);
        }
        (None, None) => {}
    }
}

/// Deletes tasks. Subtasks are deleted if `with_children` is set or they are listed as well; otherwise they are an
/// error.
pub fn delete(file: &TaskFile, tasks: &BTreeSet<usize>, with_children: bool) -> Result<String, EditError> {
    let mut splices = Splices::default();
    let mut gone_to = 0;
    for &index in tasks {
        let task = &file.tasks[index];
        for below in index..task.next {
            check_sound(file, below)?;
        }
        if !with_children && (index + 1..task.next).any(|below| !tasks.contains(&below)) {
            return Err(EditError::HasChildren { id: task.id.clone(), line: file.position(task.head.start).0 });
        }
        if index >= gone_to {
            splices.replace(task.span.clone(), "");
            gone_to = task.next;
        }
    }
    Ok(splices.apply(&file.text))
}

/// Moves a task with all its subtasks before another task of the same list, or to the end of that list. Tasks of
/// different lists cannot be reordered: the position of a task determines its owner.
pub fn reorder(file: &TaskFile, task: usize, before: Option<usize>) -> Result<String, EditError> {
    let moved = &file.tasks[task];
    let section = |task: &Task| file.sections.iter().rposition(|section| section.start <= task.span.start);
    let is_beside = |other: &Task| other.parent == moved.parent && section(other) == section(moved);
    let at = match before {
        Some(before) if !is_beside(&file.tasks[before]) => return Err(EditError::OtherList),
        Some(before) => file.tasks[before].span.start,
        None => file.tasks.iter().filter(|other| is_beside(other)).map(|other| other.span.end).max().unwrap_or(0),
    };
    for below in task..moved.next {
        check_sound(file, below)?;
    }
    if (moved.span.start..=moved.span.end).contains(&at) {
        return Ok(file.text.clone());
    }
    let mut lines = file.text[moved.span.clone()].to_owned();
    let mut splices = Splices::default();
    if !lines.ends_with('\n') {
        lines.push_str(file.line_end_of(moved));
    }
    if file.text[..at].is_empty() || file.text[..at].ends_with('\n') {
        splices.insert(at, lines);
    } else {
        // The last line of the file has no line break: it gets one, and the new last line loses its own.
        let lines = lines.strip_suffix("\r\n").or_else(|| lines.strip_suffix('\n')).unwrap_or(&lines);
        splices.insert(at, format!("{}{lines}", file.line_end));
    }
    splices.replace(moved.span.clone(), "");
    Ok(splices.apply(&file.text))
}

/// Adds a new task, below a parent or at the end of the last list. Returns the text and the id of the task.
pub fn insert(file: &TaskFile, parent: Option<usize>, task: &NewTask) -> Result<(String, String), EditError> {
    check_head(task)?;
    task.fields.iter().try_for_each(|(key, _)| check_key(key))?;
    let mut task = task.clone();
    let given =
        task.fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(ID_KEY)).map(|(_, id)| id.text().to_owned());
    let id = match given {
        Some(id) if id.trim().is_empty() => return Err(EditError::NoId),
        Some(id) if file.tasks.iter().any(|task| task.id == id) => return Err(EditError::IdTaken(id)),
        Some(id) => id,
        None => {
            let id = ids::for_title(&task.title, &file.tasks);
            task.fields.insert(0, (ID_KEY.to_owned(), Value::Text(id.as_str().into())));
            id
        }
    };
    let mut splices = Splices::default();
    match parent {
        Some(parent) => {
            check_sound(file, parent)?;
            let above = &file.tasks[parent];
            // After a task with less indentation, the new task would be parsed as the child of that one.
            let mut shallow = (parent + 1..above.next).filter(|below| file.tasks[*below].indent < above.indent + 2);
            shallow.try_for_each(|below| check_sound(file, below))?;
            let lines = render(&task, above.indent + 2, file.line_end_of(above));
            put_behind(file, above.span.end, "", &lines, &mut splices);
        }
        None => put_last(file, &render(&task, 0, file.line_end), &mut splices),
    }
    Ok((splices.apply(&file.text), id))
}

/// Inserts lines after the last task of the last list; without a list, at the end of the file after an empty line.
fn put_last(file: &TaskFile, lines: &str, splices: &mut Splices) {
    let whole = Section { start: 0, text_end: 0, has_heading: false };
    let section = file.sections.last().unwrap_or(&whole);
    let last = file.tasks.iter().rev().find(|task| task.depth == 0 && task.span.start >= section.start);
    // An indented line that belongs to no task would become part of the new one.
    let is_free = |task: &&Task| {
        let line = file.text[task.span.end..].lines().find(|line| !line.trim().is_empty());
        line.is_none_or(|line| !line.starts_with([' ', '\t']))
    };
    match last.filter(is_free) {
        Some(last) => put_behind(file, last.span.end, "", lines, splices),
        None if section.text_end == 0 => {
            let heading = format!("## TODO{0}{0}", file.line_end);
            put_behind(file, file.text.len(), &heading, lines, splices);
        }
        None => put_behind(file, section.text_end, file.line_end, lines, splices),
    }
}

fn put_behind(file: &TaskFile, at: usize, lead: &str, lines: &str, splices: &mut Splices) {
    let before = &file.text[..at];
    let is_ended = before.is_empty() || before.ends_with('\n');
    let end = if is_ended { "" } else { file.line_end };
    splices.insert(at, format!("{end}{lead}{lines}"));
}
