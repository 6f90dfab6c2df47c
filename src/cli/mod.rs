//! The subcommands of `workshop`: what a person types, what is printed, and with which exit code it ends.

mod doctor;
mod export;
mod feed;
mod init;
mod replay;
mod run;
mod task;
#[cfg(feature = "window")]
mod window;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use crate::gateway;
use crate::workspace::layout::{self, is_workspace};
use crate::workspace::starter;

/// How a command ended; the numbers are a contract.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It did what it was asked to.
    Done,
    /// The work failed.
    Failed,
    /// The command line makes no sense.
    BadUsage,
    /// A budget or limit stopped it.
    Limited,
    /// The person stopped it.
    Interrupted,
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        Self::from(match ending {
            Ending::Done => 0,
            Ending::Failed => 1,
            Ending::BadUsage => 2,
            Ending::Limited => 3,
            Ending::Interrupted => 130,
        })
    }
}

/// Something that ends a command, in words for the person who typed it.
#[derive(Debug)]
pub(crate) struct Complaint {
    ending: Ending,
    what: String,
    hint: Option<String>,
}

impl Complaint {
    fn failed(what: impl ToString) -> Self {
        Self { ending: Ending::Failed, what: what.to_string(), hint: None }
    }

    fn usage(what: impl ToString) -> Self {
        Self { ending: Ending::BadUsage, what: what.to_string(), hint: None }
    }

    fn hint(mut self, hint: impl ToString) -> Self {
        self.hint = Some(hint.to_string());
        self
    }
}

type Outcome = Result<Ending, Complaint>;

/// Agents, each defined by a file, live in a room: they notice, walk over, read, talk and remember.
#[derive(Parser)]
#[command(name = "workshop", version, args_conflicts_with_subcommands = true)]
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
    /// Write the starter kit into a folder
    Init(init::Arguments),
    /// Let a room live, without a window
    Run(run::Arguments),
    /// Live a past run again, without a model
    Replay(replay::Arguments),
    /// Export what happened
    Export(export::Arguments),
    /// Say what is set up, what is missing, and how to fix it
    Doctor(doctor::Arguments),
}

/// What is logged unless `WORKSHOP_LOG` says otherwise. What a window that ended early had not done yet is no news.
const USUAL_LOG: &str = "warn,bevy_ecs::world::command_queue=error,egui_extras::loaders=error";

/// Reads the command line and does what it says.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are no mistakes; a lost pipe while printing them is nobody's problem.
            let ending = if error.use_stderr() { Ending::BadUsage } else { Ending::Done };
            let _ = error.print();
            return ending.into();
        }
    };
    let mut filter = EnvFilter::try_from_env("WORKSHOP_LOG").unwrap_or_else(|_| EnvFilter::new(USUAL_LOG));
    for target in gateway::UNSAFE_LOG_TARGETS {
        filter = filter.add_directive(format!("{target}=off").parse().expect("a target and a level make a directive"));
    }
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let outcome = match arguments.command {
        Some(Command::Init(arguments)) => init::init(&arguments),
        Some(Command::Run(arguments)) => run::run(&arguments),
        Some(Command::Replay(arguments)) => replay::replay(&arguments),
        Some(Command::Export(arguments)) => export::export(&arguments),
        Some(Command::Doctor(arguments)) => doctor::doctor(&arguments),
        #[cfg(feature = "window")]
        None => window::open(&arguments.window),
        #[cfg(not(feature = "window"))]
        None => Err(Complaint::usage("this workshop was built without its window").hint("try: workshop run")),
    };
    match outcome {
        Ok(ending) => ending.into(),
        Err(complaint) => {
            eprintln!("error: {}", complaint.what);
            if let Some(hint) = complaint.hint {
                eprintln!("hint: {hint}");
            }
            complaint.ending.into()
        }
    }
}

/// The workspace that a command works on: the one named, the current folder if it is one, or `./my-workshop`,
/// made from the starter kit where it does not exist.
fn workspace_folder(named: Option<&Path>) -> Result<PathBuf, Complaint> {
    let folder = meant_folder(named)?;
    if is_workspace(&folder) {
        return Ok(folder);
    }
    if folder.is_dir() && named.is_some() && folder.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(not_a_workspace(&folder));
    }
    starter::init(&folder).map_err(Complaint::failed)?;
    if std::io::stderr().is_terminal() {
        eprintln!("made a new workspace from the starter kit in {}", folder.display());
    }
    Ok(folder)
}

/// A workspace that must exist already.
fn existing_workspace(named: Option<&Path>) -> Result<PathBuf, Complaint> {
    let folder = meant_folder(named)?;
    if is_workspace(&folder) { Ok(folder) } else { Err(not_a_workspace(&folder)) }
}

fn meant_folder(named: Option<&Path>) -> Result<PathBuf, Complaint> {
    let current = std::env::current_dir().map_err(|error| Complaint::usage(format!("the current folder: {error}")))?;
    Ok(layout::find(named, &current))
}

fn not_a_workspace(folder: &Path) -> Complaint {
    Complaint::usage(format!("{} is not a workspace: it has no settings.yaml", folder.display()))
        .hint(format!("make one with: workshop init {}", folder.display()))
}
