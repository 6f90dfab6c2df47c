//! The subcommands of `workshop`: their arguments, output and exit codes.

mod acp;
mod agent;
mod allow_address;
mod approval_prompts;
mod approvals;
mod clean;
mod command_hints;
mod daemon;
mod decision;
mod doctor;
mod event_feed;
mod export;
mod import;
mod init;
mod knowledge;
mod mcp;
mod output;
mod passive_step;
mod problem_reporter;
mod replay;
mod report;
mod resume_arguments;
mod run;
mod shared_arguments;
mod shell;
mod status;
mod step_report;
mod stop_condition;
mod task_files;
mod task_goal;
mod trust;
mod undo;
mod waiting_steps;
#[cfg(feature = "window")]
mod window;
mod workflow;
mod workflow_goal;
mod workspace_argument;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use crate::gateway;
use crate::gateway::mcp_forwarder::FORWARDER_ARGUMENT;
use crate::gateway::sandbox::SUPERVISOR_ARGUMENT;

/// How a command ended. Scripts rely on the exit codes: do not change them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExitStatus {
    /// The command did what it was asked to do.
    Done,
    /// The work failed.
    Failed,
    /// The command line is invalid.
    BadUsage,
    /// A budget or a limit stopped the work.
    Limited,
    /// A person must act before the work can continue.
    Waiting,
    /// A person interrupted the command.
    Interrupted,
    /// The reader of the command's output closed the pipe.
    ReaderGone,
}

impl ExitStatus {
    /// The name used in JSON output.
    fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::BadUsage => "bad_usage",
            Self::Limited => "limited",
            Self::Waiting => "waiting",
            Self::Interrupted => "interrupted",
            Self::ReaderGone => "reader_gone",
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> Self {
        Self::from(match exit {
            ExitStatus::Done => 0,
            ExitStatus::Failed => 1,
            ExitStatus::BadUsage => 2,
            ExitStatus::Limited => 3,
            ExitStatus::Waiting => 4,
            ExitStatus::Interrupted => 130,
            // 128 + SIGPIPE, the status that a shell reports for programs that SIGPIPE ends.
            ExitStatus::ReaderGone => 141,
        })
    }
}

/// An error that ends a command, described for the person who typed it.
#[derive(Debug)]
pub(crate) struct CliError {
    exit: ExitStatus,
    /// The message; `None` if nothing is to be printed.
    what: Option<String>,
    hint: Option<String>,
}

impl CliError {
    fn failed(what: impl ToString) -> Self {
        Self { exit: ExitStatus::Failed, what: Some(what.to_string()), hint: None }
    }

    fn usage(what: impl ToString) -> Self {
        Self { exit: ExitStatus::BadUsage, ..Self::failed(what) }
    }

    /// The output was closed by its reader, so nothing is printed.
    fn reader_gone() -> Self {
        Self { exit: ExitStatus::ReaderGone, what: None, hint: None }
    }

    fn hint(mut self, hint: impl ToString) -> Self {
        self.hint = Some(hint.to_string());
        self
    }
}

type CliResult = Result<ExitStatus, CliError>;

/// The text below the help of the whole program.
const AFTER_HELP: &str = "\
Without WORKSPACE, a command uses the current folder if it is a workspace (has a settings.yaml), else ./my-workshop,
which the window and `run` create from the starter kit on first use. `workshop init DIR` makes any folder a workspace,
and so does the window if the folder is empty or missing.

Exit codes: 0 done, 1 the work failed, 2 bad usage, 3 stopped by a budget or limit, 4 waiting for a person,
130 interrupted, 141 output closed.";

/// Run LLM agents in a room you can watch: they notice, walk over, read, talk, remember and work.
#[derive(Parser)]
#[command(name = "workshop", version, args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
#[cfg_attr(not(feature = "window"), command(arg_required_else_help = true))]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[cfg(feature = "window")]
    #[command(flatten)]
    window: window::Arguments,
}

#[derive(Subcommand)]
enum Command {
    /// Create a workspace from the starter kit
    Init(init::Arguments),
    /// Run a room without a window
    Run(Box<run::Arguments>),
    /// Chat with one agent in the terminal
    Agent(agent::Arguments),
    /// Run work next to your editor: one step at a time, or continuously
    Daemon(daemon::Arguments),
    /// Show unfinished work, what it has cost so far and what it waits for
    Status(status::Arguments),
    /// List and answer approvals, whether or not the room is running
    Approvals(approvals::Arguments),
    /// Run, list, check and resume workflows
    Workflow(workflow::Arguments),
    /// Query, change, check and format task files
    Task(task_files::Arguments),
    /// Search, list, show and forget memories
    Knowledge(knowledge::Arguments),
    /// Move everything that agents made aside and restore the files from before; deletes nothing
    Clean(clean::Arguments),
    /// Undo an agent's file changes, and keep what others wrote
    Undo(undo::Arguments),
    /// Replay a past run from its recorded inputs, without a model
    Replay(replay::Arguments),
    /// Import existing agents, skills and rules from files, folders or a repository
    Import(import::Arguments),
    /// Export the event log, or the whole workspace
    Export(export::Arguments),
    /// Show what a workspace wants to be allowed and what would start by itself, and trust it
    Trust(trust::Arguments),
    /// Allow a workspace to call models at an address from its own settings
    AllowAddress(allow_address::Arguments),
    /// List, test, call and allow MCP servers
    Mcp(mcp::Arguments),
    /// List your coding agents, and allow a workspace to start them
    Acp(acp::Arguments),
    /// Check the setup, and say what is wrong and how to fix it
    Doctor(doctor::Arguments),
    /// Print a shell completion script
    Completions(shell::CompletionArguments),
    /// Print the manual, or write its pages to a folder
    Man(shell::ManArguments),
}

/// The names of all subcommands.
const COMMANDS: [&str; 22] = [
    "init",
    "run",
    "agent",
    "daemon",
    "status",
    "approvals",
    "workflow",
    "task",
    "knowledge",
    "clean",
    "undo",
    "replay",
    "import",
    "export",
    "trust",
    "allow-address",
    "mcp",
    "acp",
    "doctor",
    "completions",
    "man",
    "help",
];

/// The log filter if `WORKSHOP_LOG` is not set. It hides the warnings about jobs that were unfinished when a window was
/// closed.
const USUAL_LOG: &str = "warn,bevy_ecs::world::command_queue=error,egui_extras::loaders=error";

/// Parses the command line, runs the command and returns its exit code.
pub fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some(SUPERVISOR_ARGUMENT) => return gateway::supervisor::main(words, output::note),
        Some(FORWARDER_ARGUMENT) => return gateway::mcp_forwarder::main(words, output::note, output::raw_stdout()),
        _ => {}
    }
    gateway::private_variables::take_from_environment();
    // Whatever the file is called, it supervises the programs that it starts.
    if let Ok(own) = std::env::current_exe() {
        gateway::sandbox::set_supervisor(&own);
    }
    std::panic::set_hook(Box::new(output::print_panic));
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return output::finish(usage_outcome(&error)).into(),
    };
    let mut filter = EnvFilter::try_from_env("WORKSHOP_LOG").unwrap_or_else(|_| EnvFilter::new(USUAL_LOG));
    for target in gateway::UNSAFE_LOG_TARGETS {
        filter = filter.add_directive(format!("{target}=off").parse().expect("invalid log directive"));
    }
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(output::LogWriter).init();
    let outcome = match arguments.command {
        Some(Command::Init(arguments)) => init::init(&arguments),
        Some(Command::Run(arguments)) => run::run(&arguments),
        Some(Command::Agent(arguments)) => agent::agent(&arguments),
        Some(Command::Daemon(arguments)) => daemon::daemon(&arguments),
        Some(Command::Status(arguments)) => status::status(&arguments),
        Some(Command::Approvals(arguments)) => approvals::approvals(&arguments),
        Some(Command::Workflow(arguments)) => workflow::workflow(&arguments),
        Some(Command::Task(arguments)) => task_files::task_files(&arguments),
        Some(Command::Knowledge(arguments)) => knowledge::knowledge(&arguments),
        Some(Command::Clean(arguments)) => clean::clean(&arguments),
        Some(Command::Undo(arguments)) => undo::undo(&arguments),
        Some(Command::Replay(arguments)) => replay::replay(&arguments),
        Some(Command::Import(arguments)) => import::import(&arguments),
        Some(Command::Export(arguments)) => export::export(&arguments),
        Some(Command::Trust(arguments)) => trust::trust(&arguments),
        Some(Command::AllowAddress(arguments)) => allow_address::allow(&arguments),
        Some(Command::Mcp(arguments)) => mcp::mcp(&arguments),
        Some(Command::Acp(arguments)) => acp::acp(&arguments),
        Some(Command::Doctor(arguments)) => doctor::doctor(&arguments),
        Some(Command::Completions(arguments)) => shell::completions(&arguments),
        Some(Command::Man(arguments)) => shell::man(&arguments),
        #[cfg(feature = "window")]
        None => window::open(&arguments.window),
        #[cfg(not(feature = "window"))]
        None => Err(CliError::usage("this build has no window").hint("try: workshop run")),
    };
    output::finish(outcome).into()
}

/// Prints clap's output: help and version on standard output, usage errors on standard error.
fn usage_outcome(error: &clap::Error) -> CliResult {
    let text = error.render().to_string();
    let text = text.trim_end();
    if error.use_stderr() {
        output::note(text);
        return Ok(ExitStatus::BadUsage);
    }
    output::result(text)?;
    Ok(ExitStatus::Done)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_subcommand_is_in_the_list_of_names() {
        let mut command = Arguments::command();
        command.build();
        let words: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(words, COMMANDS);
    }
    /// Splits a command line into words, without quotes, comments (`#`) and redirections (`>`).
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for character in line.chars() {
            match character {
                '"' => is_quoted = !is_quoted,
                '#' | '>' if !is_quoted => break,
                ' ' if !is_quoted => words.push(String::new()),
                other => words.last_mut().expect("there should be one").push(other),
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }

    #[test]
    #[cfg(feature = "window")]
    fn every_command_in_the_docs_parses() {
        let texts = [
            ("README.md", include_str!("../../README.md")),
            ("docs/use.md", include_str!("../../docs/use.md")),
            ("docs/trust.md", include_str!("../../docs/trust.md")),
            ("docs/agents.md", include_str!("../../docs/agents.md")),
            ("docs/workflows.md", include_str!("../../docs/workflows.md")),
            ("docs/knowledge.md", include_str!("../../docs/knowledge.md")),
        ];
        let shown = |text: &'static str| text.lines().filter(|line| line.starts_with("workshop"));
        assert!(texts.iter().flat_map(|(_, text)| shown(text)).count() > 15, "the documents show how to use it");
        for (place, text) in texts {
            for line in shown(text) {
                let parsed = Arguments::try_parse_from(words(line));
                assert!(
                    parsed.is_ok(),
                    "{place}: {line}: {}",
                    parsed.err().map(|error| error.to_string()).unwrap_or_default()
                );
            }
        }
    }

    #[test]
    fn the_readme_is_short_and_links_in_the_docs_work() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let texts = [
            "README.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "docs/use.md",
            "docs/agents.md",
            "docs/trust.md",
            "docs/workflows.md",
            "docs/knowledge.md",
        ];
        for place in texts.into_iter().chain(["docs/figures.md", "docs/extending.md", "docs/settings.md"]) {
            let text = std::fs::read_to_string(root.join(place)).expect("every document is there");
            let folder = root.join(place).parent().expect("it should have a parent folder").to_owned();
            for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
                let is_ours = !link.is_empty() && !link.contains("://");
                assert!(!is_ours || folder.join(link).exists(), "{place}: {link}");
            }
            assert!(place != "README.md" || text.split_whitespace().count() < 1200, "the README is too long");
        }
    }
}
