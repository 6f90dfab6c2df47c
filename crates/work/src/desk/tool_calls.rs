//! Answers calls of the tools for tasks, messages and sessions: queries at once, edits once they are written.

use std::collections::BTreeSet;

use bevy::ecs::prelude::*;

use super::sessions::SessionsAccess;
use super::settings::TaskSettings;
use super::streams::slack;
use super::task_writes::{TaskWrite, TaskWrites, WriteFor};
use crate::base::{Author, RunTag, globs};
use crate::log::EventLog;
use crate::schedule::{RoomDate, SimClock};
use crate::tools::{DESK, DeskOrder, OrderOutcome, OrderReport, PendingToolOrders, ToolOrder};
use crate::workspace::KnownFiles;
use crate::workspace::layout::is_task_file;
use crate::workspace::task_files;
use crate::workspace::task_files::query::ast::Query as TaskQuery;
use crate::workspace::task_files::query::evaluate::{Source, select};
use crate::workspace::task_files::query::{parse, show};
use crate::workspace::task_files::task_edit::{ASKED_IN, TaskEdit, TaskUpdate};
use crate::workspace::vfs::{FileOrder, FileRights};

/// The maximum length of a query result in characters.
const MAX_RESULT_CHARS: usize = 16_000;

/// Answers the pending orders of agents.
pub(super) fn answer(
    mut sessions: SessionsAccess,
    mut writes: ResMut<TaskWrites>,
    (known, settings): (Res<KnownFiles>, Res<TaskSettings>),
    (clock, date, log): (Res<SimClock>, Res<RoomDate>, Res<EventLog>),
    orders: Res<PendingToolOrders>,
    (mut answers, mut files): (MessageWriter<OrderOutcome>, MessageWriter<FileOrder>),
    mut refused: Local<BTreeSet<String>>,
) {
    refused.clear();
    for order in orders.of(DESK) {
        if !writes.is_empty() && writes.has_call(order.key) {
            continue;
        }
        let result = match DeskOrder::of(order) {
            Err(why) => Err(why),
            Ok(DeskOrder::QueryTasks { query }) => find_tasks(&query, &known, &order.rights),
            Ok(DeskOrder::SendMessage { to, message }) => sessions.send(order, &to, &message, &settings),
            Ok(DeskOrder::ListSessions) => Ok(sessions.list(&order.agent)),
            Ok(DeskOrder::ReadSession { session }) => sessions.read(&session),
            Ok(DeskOrder::SlackRead { channel, from, count }) => {
                slack::read(&known, &order.rights, channel.as_deref(), from.as_deref(), count)
            }
            // These are answered once they are written.
            Ok(DeskOrder::SlackSend { .. } | DeskOrder::EditSession { .. }) => Ok(String::new()),
            Ok(DeskOrder::CreateTask { file, task }) => {
                let mut keys = Vec::new();
                keys.extend(date.stamp(&clock).map(|now| ("created".to_owned(), now)));
                keys.push(("created_by".to_owned(), order.agent.to_string()));
                keys.extend(sessions.session_of(order).map(|session| (ASKED_IN.to_owned(), session)));
                start_edit((&mut *writes, &mut files), &log, order, (file, TaskEdit::Create { task, keys }))
            }
            Ok(DeskOrder::UpdateTask { file, id, update }) => {
                let update = with_completion_date(update, date.stamp(&clock));
                start_edit((&mut *writes, &mut files), &log, order, (file, TaskEdit::Update { id, update }))
            }
        };
        let news = match result {
            Ok(text) if text.is_empty() => continue,
            result => OrderReport::ended(result),
        };
        answers.write(OrderOutcome { key: order.key, news });
    }
}

/// Adds the completion date to an update that completes a task.
fn with_completion_date(mut update: TaskUpdate, now: Option<String>) -> TaskUpdate {
    let status = update.status.as_deref();
    if status == Some("completed") {
        update.fields.extend(now.map(|now| ("completed".to_owned(), now)));
    }
    update
}

/// Orders an edit. Returns an empty text, because the call is answered once the edit is written.
fn start_edit(
    (writes, files): (&mut TaskWrites, &mut MessageWriter<FileOrder>),
    log: &EventLog,
    order: &ToolOrder,
    (path, edit): (String, TaskEdit),
) -> Result<String, String> {
    if writes.is_full() {
        return Err("too many task changes are already waiting; try again later".to_owned());
    }
    let write = TaskWrite {
        path,
        edit,
        made_for: WriteFor::Call(order.key),
        author: Author::agent(&order.agent),
        activation: Some(order.key.activation.id()),
        rights: order.rights.clone(),
        cause: order.cause,
    };
    files.write(writes.push(&RunTag::of(log.run()).to_string(), write));
    Ok(String::new())
}

/// The result of a query over the readable task files, as a table.
fn find_tasks(query: &str, known: &KnownFiles, rights: &FileRights) -> Result<String, String> {
    let TaskQuery::Select(query) = parse(query).map_err(|error| error.to_string())? else {
        return Err("only SELECT finds tasks; change them with create_task and update_task".to_owned());
    };
    if query.into.is_some() {
        return Err("INTO is not available for tools; omit it".to_owned());
    }
    let named = globs::plain(&query.from).map_err(|error| format!("{:?}: {error}", query.from))?;
    let is_meant = |path: &str| is_task_file(path) && globs::any_matches(&named, path) && rights.may_read(path);
    let files = known.all().iter().filter(|(path, _)| is_meant(path));
    let sources: Vec<Source> =
        files.map(|(path, text)| Source { path: path.clone(), file: task_files::parse(text.as_str()) }).collect();
    if sources.is_empty() {
        let there: Vec<&str> = known.all().keys().map(String::as_str).filter(|path| is_task_file(path)).collect();
        return Err(format!("no task file matches {:?}; there are: {}", query.from, there.join(", ")));
    }
    let rows = select(&sources, &query);
    let count = match rows.len() {
        0 => return Ok("No tasks match.".to_owned()),
        1 => "1 task".to_owned(),
        many => format!("{many} tasks"),
    };
    let table = show::table(&sources, &rows, query.columns.as_deref());
    Ok(format!("{count}\n{}", crate::base::text::truncate(&table, MAX_RESULT_CHARS)))
}
