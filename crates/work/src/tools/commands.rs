//! The tool `execute_command`: a program with its arguments, run outside by the gateway. What a call is to do is judged as
//! the words that would be started, so that what is judged is what runs.

use std::collections::BTreeSet;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::files::object;
use super::order::{OrderKey, OrdersUnderWay, ToolNews, ToolOutcome, ToolOutput};
use super::plan::{Planned, Work};
use super::tool::{Arguments, Planning, Tool};
use crate::gate::commands::{Command, words};
use crate::gate::{DeclaredTouch, TouchKind};
use crate::gateway::{HowEnded, ProgramCalls, ProgramCommand, ProgramEnded, ProgramOrder, ProgramSettings};
use crate::schedule::{Door, InputJournal};
use crate::workspace::vfs::WorkspacePath;

/// Who runs programs.
pub const COMMANDS: &str = "commands";
/// The tool's name.
pub const EXECUTE_COMMAND: &str = "execute_command";
/// No command line is longer, in characters.
const LINE_CHARS_AT_MOST: usize = 4_000;

/// What programs say that were kept from writing something.
const MEETING_A_LIMIT: [&str; 4] =
    ["Read-only file system", "Permission denied", "Device or resource busy", "Operation not permitted"];
/// What an agent is told then.
const WHAT_PROGRAMS_WRITE: &str = "Programs that you run write ordinary files and folders of the workspace. They change \
    nothing in agents, boards, inbox, memory, outbox, scenes, sessions, storage, tasks, templates and workflows, nothing \
    that begins with a dot, no settings and no AGENTS.md; use your own tools for those. Folders at the top level of the \
    workspace cannot be moved or removed, and files there cannot be replaced by others. On some computers nothing new can \
    be made there either: write into a folder that is there, such as artifacts.";

/// A command that is to be run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct CommandOrder {
    words: Vec<String>,
    cwd: String,
    timeout_secs: Option<u64>,
}

/// The tool.
pub fn execute_command() -> Tool {
    let arguments = object(
        json!({
            "command": {
                "type": "string",
                "minLength": 1,
                "maxLength": LINE_CHARS_AT_MOST,
                "description": "The program and its arguments, such as: git status --short. Quotes hold words together. \
                    It is run without a shell; pipes, redirections, patterns and variables need one, and a person is asked \
                    about that each time.",
            },
            "cwd": { "type": "string", "maxLength": 1024, "description": "The folder of the workspace in which it runs; the workspace where absent." },
            "timeout_secs": { "type": "integer", "minimum": 1, "description": "Seconds after which it is ended." },
        }),
        &["command"],
    );
    let description = "Runs a program in the workspace and gives its exit code and what it said. It cannot be typed to, and \
        may change files in the workspace only; the network is closed unless the person opened it.";
    Tool::new(EXECUTE_COMMAND, description, arguments, plan).also_called(&["run_command"]).with_argument_aliases(&[
        ("cmd", "command"),
        ("command_line", "command"),
        ("working_directory", "cwd"),
    ])
}

fn plan(arguments: &Arguments, _: &Planning<'_>) -> Result<Planned, String> {
    let line = arguments.text("command");
    let line = line.trim();
    if line.is_empty() {
        return Err("'command' is empty".to_owned());
    }
    if line.contains('\0') {
        return Err("'command' has a character that no program can be given".to_owned());
    }
    let cwd = match arguments.some_text("cwd").as_deref().map(str::trim) {
        None | Some("" | "." | "./") => String::new(),
        Some(cwd) => {
            let path = WorkspacePath::new(cwd.trim_end_matches('/')).map_err(|why| format!("'cwd': {why}"))?;
            path.as_str().to_owned()
        }
    };
    let words = Command::parse(line).started_as(line);
    let started = words::written(&words);
    let touches = vec![DeclaredTouch::new(TouchKind::PROCESS_RUN, &*started)];
    let timeout_secs = arguments.number("timeout_secs").map(|secs| secs as u64);
    let order = CommandOrder { words, cwd, timeout_secs };
    let order = serde_json::to_value(order).expect("an order is plain data with text keys");
    Ok(Planned::order(COMMANDS, order, touches, ("running", &started)))
}

/// What was begun here, and whether this process has looked for the first time. Nobody's to save.
#[derive(Default)]
pub(super) struct Begun {
    orders: BTreeSet<OrderKey>,
    has_looked: bool,
}

/// Brings in how programs ended, begins what was ordered in an earlier tick, and stops what nobody waits for.
pub(super) fn carry_out(
    (mut calls, mut outcomes): (ResMut<ProgramCalls>, ResMut<Door<ToolOutcome>>),
    (under_way, settings, journal): (Res<OrdersUnderWay>, Res<ProgramSettings>, Res<InputJournal>),
    mut begun: Local<Begun>,
) {
    if journal.is_replaying() {
        return;
    }
    let ended: Vec<ProgramEnded> = calls.take().collect();
    for ended in ended {
        let Ok(key) = ended.id.parse::<OrderKey>() else { continue };
        if begun.orders.remove(&key) {
            outcomes.push(ToolOutcome { key, news: news_of(ended) });
        }
    }
    let given_up: Vec<OrderKey> = begun.orders.iter().filter(|key| under_way.get(**key).is_none()).copied().collect();
    for key in given_up {
        begun.orders.remove(&key);
        calls.send(ProgramCommand::Stop { id: key.id() });
    }
    let is_first_look = !std::mem::replace(&mut begun.has_looked, true);
    for order in under_way.of(COMMANDS) {
        if begun.orders.contains(&order.key) || outcomes.waiting().any(|outcome| outcome.key == order.key) {
            continue;
        }
        let read = match &order.plan.work {
            Work::Order { order } => serde_json::from_value::<CommandOrder>(order.clone()).ok(),
            _ => None,
        };
        let news = match read {
            None => ToolNews::Failed { why: "the call cannot be read any more".to_owned() },
            // It may have run, or in part: nobody can tell, and it is not run a second time unasked.
            Some(_) if is_first_look => ToolNews::Aborted {
                why: "the workshop was stopped while the command ran; whether it was done is not known".to_owned(),
            },
            Some(CommandOrder { words, cwd, timeout_secs }) => {
                begun.orders.insert(order.key);
                let timeout_secs = timeout_secs.map(|secs| secs as f64);
                let (id, settings) = (order.key.id(), settings.clone());
                let order = ProgramOrder { id, words, folder: cwd, timeout_secs, settings };
                calls.send(ProgramCommand::Run(Box::new(order)));
                continue;
            }
        };
        outcomes.push(ToolOutcome { key: order.key, news });
    }
}

fn news_of(ended: ProgramEnded) -> ToolNews {
    let ProgramEnded { how, secs, said, complained, .. } = ended;
    let told = |head: String| {
        let mut text = head;
        for (name, words) in [("", said.trim_end()), ("stderr:\n", complained.trim_end())] {
            if !words.is_empty() {
                text.push_str(&format!("\n\n{name}{words}"));
            }
        }
        text
    };
    match how {
        HowEnded::NotStarted(why) => ToolNews::Failed { why },
        HowEnded::Stopped => ToolNews::Aborted { why: "the command was stopped while it ran".to_owned() },
        HowEnded::Exited(code) => {
            let data = json!({ "exit_code": code, "secs": secs });
            let mut text = told(format!("exit code {code} after {secs:.1} s"));
            if code != 0 && MEETING_A_LIMIT.iter().any(|sign| said.contains(sign) || complained.contains(sign)) {
                text.push_str("\n\n");
                text.push_str(WHAT_PROGRAMS_WRITE);
            }
            ToolNews::Done { output: ToolOutput { text, data: Some(data), ..ToolOutput::default() } }
        }
        HowEnded::Killed => ToolNews::Failed { why: told(format!("the command was killed after {secs:.1} s")) },
        HowEnded::TimedOut => {
            ToolNews::Failed { why: told(format!("the command was ended: it took longer than {secs:.0} s")) }
        }
        HowEnded::SaidTooMuch => {
            ToolNews::Failed { why: told(format!("the command was ended after {secs:.1} s: it wrote too much")) }
        }
    }
}
