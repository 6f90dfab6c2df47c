//! Tools that represent the requests of coding agents: the text of a file, a program in a terminal, and permission to
//! use one of the agent's own tools. Profiles do not list them; an agent over the Agent Client Protocol has each of
//! them if it has the room's tool with the same purpose.

use std::collections::BTreeSet;

use bevy::ecs::prelude::*;
use serde_json::{Value, json};

use super::commands::EXECUTE_COMMAND;
use super::files::{MAX_PATH_CHARS, object};
use super::order::{OrderOutcome, OrderReport, PendingToolOrders, ToolOutput};
use super::plan::{Excerpt, Planned};
use super::tool::{Arguments, Planning, Tool};
use crate::gate::commands::{Command, words};
use crate::gate::{DeclaredTouch, Power, ToolScope, TouchKind};
use crate::gateway::acp::{OPEN_TERMINAL, OWN_TOOL, READ_TEXT};
use crate::workspace::vfs::{FileOperation, WorkspacePath};

/// The executor of requests to use an agent's own tool.
pub const OWN_TOOLS: &str = "own_tools";
/// The maximum length of a request's title, in characters.
const MAX_TITLE_CHARS: usize = 400;
/// The maximum length of a command, in characters.
const MAX_COMMAND_CHARS: usize = 16_000;
/// The result of a granted permission.
const ALLOWED: &str = "Allowed, this once.";
/// The activity of an agent that uses an unknown tool of its own.
const USE: &str = "agent.own_tool";

/// The tool that reads a file for an agent. The result is data: everything that was requested, or nothing.
pub(super) fn read_text() -> Tool {
    let number = json!({ "type": "integer", "minimum": 1 });
    let path = json!({ "type": "string", "minLength": 1, "maxLength": MAX_PATH_CHARS });
    let arguments = object(json!({ "path": path, "from_line": number, "lines": number }), &["path"]);
    Tool::new(READ_TEXT, "Reads a file for a coding agent.", arguments, |arguments, _| {
        let path = WorkspacePath::new(&arguments.text("path")).map_err(|refusal| format!("'path': {refusal}"))?;
        let path = path.as_str().to_owned();
        let (from_line, lines) = (arguments.number("from_line"), arguments.number("lines"));
        let excerpt = Excerpt { first_line: from_line.unwrap_or(1), lines, as_data: true };
        Ok(Planned::files(FileOperation::Read { path }, Some(excerpt)))
    })
    .within(ToolScope::CodingAgent)
    .with_power(Power::Read)
}

/// The tool that permits an agent to use one of its own tools.
pub(super) fn use_own_tool() -> Tool {
    let text = |most: usize| json!({ "type": "string", "maxLength": most });
    let change = json!({
        "type": "object",
        "properties": { "path": text(MAX_PATH_CHARS), "old": { "type": ["string", "null"] }, "new": text(8_000) },
    });
    let arguments = object(
        json!({
            "title": text(MAX_TITLE_CHARS),
            "kind": text(40),
            "paths": { "type": "array", "items": text(MAX_PATH_CHARS), "maxItems": 40 },
            "command": text(4_000),
            "address": text(1_000),
            "change": change,
        }),
        &["kind"],
    );
    Tool::new(OWN_TOOL, "Lets a coding agent use one of its own tools.", arguments, plan).within(ToolScope::CodingAgent)
}

/// The tool that runs a program for an agent, which receives its output and may end it. A permission applies to exactly
/// this command line and folder; the program runs like those of `execute_command`.
pub(super) fn open_terminal() -> Tool {
    let arguments = object(
        json!({
            "words": { "type": "array", "items": { "type": "string", "maxLength": 8_000 }, "maxItems": 1_000 },
            "cwd": { "type": "string", "maxLength": MAX_PATH_CHARS },
        }),
        &["words"],
    );
    Tool::new(OPEN_TERMINAL, "Runs a program for a coding agent.", arguments, |arguments, planning| {
        if !planning.bounds.tools().contains(EXECUTE_COMMAND) {
            return Err(format!("its file does not list {EXECUTE_COMMAND}, so it cannot run programs"));
        }
        let words: Vec<String> = match arguments.value("words") {
            Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let folder = match arguments.some_text("cwd") {
            Some(folder) => {
                let folder = WorkspacePath::new(folder.trim_end_matches('/')).map_err(|why| format!("'cwd': {why}"))?;
                folder.as_str().to_owned()
            }
            None => String::new(),
        };
        if words.first().is_none_or(|program| program.trim().is_empty()) {
            return Err("the command is empty".to_owned());
        }
        let started = words::join(&words);
        if started.chars().count() > MAX_COMMAND_CHARS {
            return Err(format!("the command is longer than {MAX_COMMAND_CHARS} characters"));
        }
        let touches = vec![DeclaredTouch::command(&*started, folder)];
        Ok(Planned::order(OWN_TOOLS, arguments.to_value(), touches, ("running", &started)))
    })
    .within(ToolScope::CodingAgent)
}

/// The room's tools with the same purpose as a kind of request in the protocol. An agent needs one of them for the
/// request to be allowed.
fn needed(kind: &str) -> &'static [&'static str] {
    match kind {
        "read" => &["vfs_read"],
        "search" => &["vfs_search", "vfs_list"],
        "edit" => &["vfs_write", "vfs_edit"],
        "delete" => &["vfs_delete"],
        "move" => &["vfs_rename"],
        "execute" => &["execute_command"],
        _ => &[],
    }
}

/// Whether a coding agent already has this tool through the protocol, for reading and writing files and running
/// commands, so that the tool is not offered again.
pub(super) fn has_by_protocol(tool: &str) -> bool {
    let requests = [READ_TEXT, OWN_TOOL, OPEN_TERMINAL];
    let same = ["vfs_read", "vfs_write", "vfs_append", "vfs_edit", EXECUTE_COMMAND];
    requests.contains(&tool) || same.contains(&tool)
}

fn plan(arguments: &Arguments, planning: &Planning<'_>) -> Result<Planned, String> {
    let (title, kind) = (arguments.text("title"), arguments.text("kind"));
    let needed = needed(&kind);
    let own = planning.bounds.tools();
    if !needed.is_empty() && !needed.iter().any(|tool| own.contains(tool)) {
        return Err(format!("its file does not list {}, so it may not {} with its own tools", needed[0], doing(&kind)));
    }
    let paths: Vec<String> = match arguments.value("paths") {
        Some(Value::Array(paths)) => paths.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let of_files = |touch: TouchKind| {
        let paths: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
        paths.into_iter().map(|path| DeclaredTouch::new(touch.clone(), path)).collect::<Vec<_>>()
    };
    let command = arguments.some_text("command");
    let mut touches = match kind.as_str() {
        "read" => of_files(TouchKind::FILE_READ),
        "search" if paths.is_empty() => vec![DeclaredTouch::new(TouchKind::FILE_FIND, "")],
        "search" => of_files(TouchKind::FILE_READ),
        "edit" => of_files(TouchKind::FILE_WRITE),
        "delete" => of_files(TouchKind::FILE_DELETE),
        "move" => of_files(TouchKind::FILE_DELETE).into_iter().chain(of_files(TouchKind::FILE_WRITE)).collect(),
        "execute" => {
            let line = command.clone().unwrap_or_default();
            let started = words::join(&Command::parse(&line).started_as(&line));
            if line.trim().is_empty() { Vec::new() } else { vec![DeclaredTouch::command(started, "")] }
        }
        "fetch" => {
            let address = arguments.some_text("address");
            address.into_iter().map(|address| DeclaredTouch::new(TouchKind::NET_FETCH, address)).collect()
        }
        _ => Vec::new(),
    };
    if kind != "execute" && command.is_some() {
        // Whatever its kind, a request with a command would run that command.
        touches.clear();
    }
    if touches.is_empty() {
        touches.push(DeclaredTouch::new(TouchKind::new(USE), title.clone()));
    }
    let target = if title.is_empty() { kind } else { title };
    Ok(Planned::order(OWN_TOOLS, arguments.to_value(), touches, ("using its own tool:", &target)))
}

fn doing(kind: &str) -> &'static str {
    match kind {
        "read" => "read files",
        "search" => "search files",
        "edit" => "change files",
        "delete" => "delete files",
        "move" => "move files",
        _ => "run programs",
    }
}

/// Answers permitted requests in the tick in which they arrive; the agent then acts itself.
pub(super) fn answer(orders: Res<PendingToolOrders>, mut answers: MessageWriter<OrderOutcome>) {
    for order in orders.of(OWN_TOOLS) {
        let text = match order.plan.tool.as_str() {
            // The result is unknown here, so running the same command again does not count as a lack of progress.
            OPEN_TERMINAL => format!("Started, as call {} of turn {}.", order.key.call + 1, order.key.turn),
            _ => ALLOWED.to_owned(),
        };
        let output = ToolOutput { text, ..ToolOutput::default() };
        answers.write(OrderOutcome { key: order.key, news: OrderReport::Done { output } });
    }
}
