//! The tool `execute_command`: a program with its arguments, run by the gateway. The gate checks exactly the words that
//! are executed.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::executor::{ExecutorWorld, ToolExecutor, ToolReporter};
use super::files::object;
use super::order::{OrderKey, OrderOutcome, OrderReport, PendingToolOrders, ToolOrder, ToolOutput};
use super::plan::{Planned, ToolPlan, Work};
use super::result_text::readable;
use super::tool::{Arguments, Planning, Tool};
use crate::base::Author;
use crate::gate::DeclaredTouch;
use crate::gate::commands::{Command, words};
use crate::gateway::{CodeCheck, ExternalCalls, ProgramEnd, ProgramEnded, ProgramOrder, ProgramSettings, RunningCall};
use crate::schedule::outside::{Received, Start};
use crate::workspace::vfs::worktrees::{FILES as COPY, WORKTREES};
use crate::workspace::vfs::{
    ChangedByProgram, FileBridge, FileOperation, FileOrder, FileOutcome, ProgramObserver, WorkspacePath,
};

/// The executor of programs.
pub const COMMANDS: &str = "commands";
/// The name of the tool.
pub const EXECUTE_COMMAND: &str = "execute_command";
/// The name of the tool for an agent that is a document.
pub(super) const BASH: &str = "bash";
/// The default time limit of that tool in seconds, as defined by the document format.
const BASH_SECS: u64 = 30;
/// The maximum length of a command line, in characters.
const MAX_LINE_CHARS: usize = 4_000;

/// Error messages of programs that the sandbox prevented from writing a file.
const MEETING_A_LIMIT: [&str; 4] =
    ["Read-only file system", "Permission denied", "Device or resource busy", "Operation not permitted"];
/// The explanation for an agent in that case.
const WHAT_PROGRAMS_WRITE: &str = "Programs that you run can only write ordinary files and folders of the workspace. \
    They cannot change anything in agents, boards, inbox, memory, outbox, scenes, sessions, skills, storage, tasks, \
    templates and workflows, anything that begins with a dot, the settings or AGENTS.md; use your other tools for \
    those. Folders at the top level of the workspace cannot be moved or removed, and files there cannot be replaced. \
    On some computers, nothing new can be created there either: write to an existing folder, such as artifacts.";

/// A command to execute.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct CommandOrder {
    words: Vec<String>,
    cwd: String,
    timeout_secs: Option<u64>,
    /// What to do with the files that it runs, before it starts.
    #[serde(default)]
    code: CodeCheck,
}

/// Whether a plan is only a look at the files that its command runs.
pub fn is_look(plan: &ToolPlan) -> bool {
    let Work::Order { order } = &plan.work else { return false };
    *plan.executor == *COMMANDS
        && order.get("code").is_some_and(|code| {
            (code["files"][0].is_string() || code["sources"][0].is_object()) && code["expected"].is_null()
        })
}

impl CommandOrder {
    /// Whether it only reports the contents of the files that the command runs.
    fn only_looks(&self) -> bool {
        !self.code.is_empty() && self.code.expected.is_none()
    }
}

/// The plan to look at the files that a call runs, instead of carrying it out.
pub fn looking_at_code(plan: &ToolPlan, code: &CodeCheck) -> ToolPlan {
    if *plan.executor == *COMMANDS {
        return checking_code(plan.clone(), code);
    }
    let order = CommandOrder { words: Vec::new(), cwd: String::new(), timeout_secs: None, code: code.clone() };
    let order = serde_json::to_value(order).expect("an order is plain data with text keys");
    ToolPlan { executor: COMMANDS.into(), work: Work::Order { order }, ..plan.clone() }
}

/// The plan of a command that first does this with the files that it runs. Other plans stay as they are.
pub fn checking_code(mut plan: ToolPlan, code: &CodeCheck) -> ToolPlan {
    if let Work::Order { order: Value::Object(order) } = &mut plan.work
        && *plan.executor == *COMMANDS
    {
        order.insert("code".to_owned(), json!(code));
    }
    plan
}

/// The tool `execute_command`.
pub fn execute_command() -> Tool {
    let arguments = object(
        json!({
            "command": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_LINE_CHARS,
                "description": "The program and its arguments, such as: git status --short. Put arguments that \
                    contain spaces in quotes. It runs without a shell; pipes, redirections, patterns and variables \
                    need one, which a person must approve each time.",
            },
            "cwd": { "type": "string", "maxLength": 1024, "description": "The workspace folder in which it runs; \
                default the workspace itself." },
            "timeout_secs": { "type": "integer", "minimum": 1, "description": "Seconds after which it is stopped." },
        }),
        &["command"],
    );
    let description = "Run a program in the workspace and get its exit code and output. It gets no input and can only \
        change files in the workspace; it may use the network only if the person allowed it.";
    Tool::new(EXECUTE_COMMAND, description, arguments, plan).also_called(&["run_command"]).with_argument_aliases(&[
        ("cmd", "command"),
        ("command_line", "command"),
        ("working_directory", "cwd"),
    ])
}

/// The tool with the name and arguments of the document format; it runs in the folder of the document.
pub(super) fn bash(folder: &str) -> Tool {
    let arguments = object(
        json!({
            "command": { "type": "string", "minLength": 1, "maxLength": MAX_LINE_CHARS },
            "timeout": { "type": "integer", "minimum": 1,
                         "description": format!("Seconds after which it is stopped; default {BASH_SECS}.") },
        }),
        &["command"],
    );
    let folder = folder.to_owned();
    let description = "Run a command in your folder and get its exit code and output. It gets no input. A person is \
        asked first if it is not allowed yet.";
    Tool::new(BASH, description, arguments, move |arguments, _| {
        let timeout_secs = arguments.number("timeout").map_or(BASH_SECS, |secs| secs as u64);
        planned(&arguments.text("command"), folder.clone(), Some(timeout_secs))
    })
}

fn plan(arguments: &Arguments, _: &Planning<'_>) -> Result<Planned, String> {
    let cwd = match arguments.some_text("cwd").as_deref().map(str::trim) {
        None | Some("" | "." | "./") => String::new(),
        Some(cwd) => {
            let path = WorkspacePath::new(cwd.trim_end_matches('/')).map_err(|why| format!("'cwd': {why}"))?;
            path.as_str().to_owned()
        }
    };
    let timeout_secs = arguments.number("timeout_secs").map(|secs| secs as u64);
    planned(&arguments.text("command"), cwd, timeout_secs)
}

fn planned(line: &str, cwd: String, timeout_secs: Option<u64>) -> Result<Planned, String> {
    let line = line.trim();
    if line.is_empty() {
        return Err("'command' is empty".to_owned());
    }
    if line.contains('\0') {
        return Err("'command' contains a character that cannot be passed to a program".to_owned());
    }
    let words = Command::parse(line).started_as(line);
    let started = words::join(&words);
    let touches = vec![DeclaredTouch::command(&*started, &*cwd)];
    let order = CommandOrder { words, cwd, timeout_secs, code: CodeCheck::default() };
    let order = serde_json::to_value(order).expect("an order is plain data with text keys");
    Ok(Planned::order(COMMANDS, order, touches, ("running", &started)))
}

/// The key prefix of orders that prepare an agent's copy of the workspace for a command.
const OPEN: &str = "before-command/";
/// The key prefix of orders that commit the changes of a command in the copy.
const KEEP: &str = "after-command/";

/// Prepares the agents' copies of the workspace for commands. This is a file order like any other, so it happens once
/// and is replayed.
pub(super) fn open_copies(mut orders: MessageReader<ToolOrder>, mut files: MessageWriter<FileOrder>) {
    for order in orders.read().filter(|order| *order.plan.executor == *COMMANDS) {
        files.write_batch(file_order(order, OPEN, "state before a command".to_owned()));
    }
}

/// Commits the changes of commands in the agents' copies, in the same way.
pub(super) fn keep_copies(
    mut outcomes: MessageReader<OrderOutcome>,
    under_way: Res<PendingToolOrders>,
    mut files: MessageWriter<FileOrder>,
) {
    for outcome in outcomes.read().filter(|outcome| outcome.news.is_final()) {
        let is_run = |order: &&ToolOrder| *order.plan.executor == *COMMANDS && !is_look(&order.plan);
        if let Some(order) = under_way.get(outcome.key).filter(is_run) {
            files.write_batch(file_order(order, KEEP, format!("run {}", order.plan.doing.target)));
        }
    }
}

/// The order to commit the content of the copy in which a command runs, if it runs in one.
fn file_order(order: &ToolOrder, lead: &str, what: String) -> Option<FileOrder> {
    let worktree = order.worktree.clone()?;
    Some(FileOrder {
        key: format!("{lead}{}", order.key).into(),
        author: Author::agent(&order.agent),
        activation: Some(order.key.activation.id()),
        operation: FileOperation::CommitWorktree { what },
        rights: order.rights.clone(),
        cause: order.cause,
        worktree: Some(worktree),
    })
}

/// Runs commands.
#[derive(Default)]
pub(super) struct Commands {
    running: BTreeMap<OrderKey, RunningCall>,
    /// Whether the copies of the workspace could be prepared in which commands wait to run.
    opened: BTreeMap<OrderKey, Result<(), String>>,
    /// Looks that an earlier process may have begun, whose copies were prepared then.
    resumed_looks: BTreeSet<OrderKey>,
}

impl ToolExecutor for Commands {
    const NAME: &'static str = COMMANDS;
    const MAX_RUNNING: usize = usize::MAX;

    type Order = CommandOrder;
    type Report = ProgramEnded;
    type World = (
        ExternalCalls<'static>,
        Res<'static, ProgramSettings>,
        Option<Res<'static, FileBridge>>,
        MessageReader<'static, 'static, FileOutcome>,
    );

    fn interrupted(&mut self, key: OrderKey, command: &CommandOrder) -> Option<String> {
        if command.only_looks() {
            self.resumed_looks.insert(key);
            return None;
        }
        // It may have run, at least partly, so it is not run again without being asked for.
        Some("the workshop was stopped while the command was running; its outcome is unknown".to_owned())
    }

    fn start(
        &mut self,
        order: &ToolOrder,
        command: CommandOrder,
        (calls, settings, bridge, _): &mut ExecutorWorld<'_, '_, Self>,
        reporter: ToolReporter<Self>,
    ) -> Start<OrderReport> {
        if order.worktree.is_some() {
            match self.opened.remove(&order.key) {
                Some(Ok(())) => {}
                Some(Err(why)) => return Start::Ended(OrderReport::Failed { why }),
                // The look finds out if its copy was not prepared.
                None if self.resumed_looks.remove(&order.key) => {}
                None => return Start::NotYet,
            }
        }
        let CommandOrder { words, cwd: folder, timeout_secs, code } = command;
        let program = ProgramOrder {
            words,
            root: order.worktree.as_ref().map(|agent| format!(".workshop/{WORKTREES}/{agent}/{COPY}")),
            folder,
            timeout_secs: timeout_secs.map(|secs| secs as f64),
            settings: (**settings).clone(),
            observer: bridge.as_deref().and_then(|bridge| observer(bridge, order)),
            code,
        };
        match calls.run_program(program, move |ended| reporter.report(ended)) {
            Ok(call) => {
                self.running.insert(order.key, call);
                Start::Started
            }
            Err(why) => Start::Ended(OrderReport::Failed { why }),
        }
    }

    fn cancel(&mut self, key: OrderKey, _: &mut ExecutorWorld<'_, '_, Self>) {
        self.running.remove(&key);
    }

    fn receive(
        &mut self,
        key: OrderKey,
        ended: ProgramEnded,
        _: &mut ExecutorWorld<'_, '_, Self>,
    ) -> Received<OrderReport> {
        self.running.remove(&key);
        Received::Answer(report_of(ended))
    }

    fn attend(
        &mut self,
        orders: &PendingToolOrders,
        _: &dyn Fn(&OrderKey) -> bool,
        (.., files): &mut ExecutorWorld<'_, '_, Self>,
    ) {
        for outcome in files.read() {
            if let Some(key) = outcome.key.strip_prefix(OPEN).and_then(|key| key.parse().ok()) {
                let result = outcome.result.as_ref().map(drop).map_err(|failure| failure.what.clone());
                self.opened.insert(key, result);
            }
        }
        self.opened.retain(|key, _| orders.get(*key).is_some());
        self.resumed_looks.retain(|key| orders.get(*key).is_some());
    }
}

/// The observer of a command that runs in the workspace itself. What changes in a copy of the workspace has an author
/// once it is merged.
pub(super) fn observer(bridge: &FileBridge, order: &ToolOrder) -> Option<ProgramObserver> {
    let files = bridge.service().filter(|_| order.worktree.is_none())?.handle()?;
    Some(ProgramObserver::new(files, Author::agent(&order.agent), Some(order.key.activation.id())))
}

/// A line that names the changed files; empty if there are none.
fn changed_files(changed: &ChangedByProgram) -> String {
    let ChangedByProgram { paths, more } = changed;
    match (paths.as_slice(), more) {
        ([], _) => String::new(),
        (paths, 0) => format!("\n\nChanged files: {}", paths.join(", ")),
        (paths, more) => format!("\n\nChanged files: {} and {more} more", paths.join(", ")),
    }
}

fn report_of(ended: ProgramEnded) -> OrderReport {
    let ProgramEnded { how, secs, stdout: said, stderr: complained, changed } = ended;
    let with_output = |head: String| {
        let mut text = head;
        for (name, words) in [("", readable(said.trim_end())), ("stderr:\n", readable(complained.trim_end()))] {
            if !words.is_empty() {
                text.push_str(&format!("\n\n{name}{words}"));
            }
        }
        text + &changed_files(&changed)
    };
    match how {
        ProgramEnd::NotStarted(why) => OrderReport::Failed { why },
        ProgramEnd::Seen(code) => OrderReport::Code { code },
        ProgramEnd::Stopped => OrderReport::Aborted {
            why: format!("the command was stopped while it was running{}", changed_files(&changed)),
        },
        ProgramEnd::Exited(code) => {
            let data = json!({ "exit_code": code, "secs": secs });
            let mut text = with_output(format!("exit code {code} after {secs:.1} s"));
            if code != 0 && MEETING_A_LIMIT.iter().any(|sign| said.contains(sign) || complained.contains(sign)) {
                text.push_str("\n\n");
                text.push_str(WHAT_PROGRAMS_WRITE);
            }
            let changed = changed.paths;
            OrderReport::Done { output: ToolOutput { text, changed, data: Some(data), ..ToolOutput::default() } }
        }
        ProgramEnd::Killed => {
            OrderReport::Failed { why: with_output(format!("the command was killed after {secs:.1} s")) }
        }
        ProgramEnd::TimedOut => OrderReport::Failed {
            why: with_output(format!("the command was stopped: it took longer than {secs:.0} s")),
        },
        ProgramEnd::OutputLimitExceeded => OrderReport::Failed {
            why: with_output(format!("the command was stopped after {secs:.1} s: it wrote too much output")),
        },
    }
}
