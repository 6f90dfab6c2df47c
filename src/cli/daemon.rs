//! `workshop daemon`: runs the room's work without a window, one step at a time or continuously, while a person edits
//! its files.

use std::path::PathBuf;

use super::run::{self, run_for};
use super::{CliResult, run::parse_speed};
use crate::schedule::Speed;

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("way").required(true)))]
pub(super) struct Arguments {
    /// The workspace; defaults to the current folder if it is one, else ./my-workshop, created from the starter kit on
    /// first use
    workspace: Option<PathBuf>,
    /// Take one step and exit: load changed files, give each piece of work one turn with its tool calls, and apply
    /// approvals
    #[arg(long, group = "way")]
    pump: bool,
    /// Run until interrupted, and pick up file changes as they happen
    #[arg(long, group = "way")]
    watch: bool,
    /// The scene: its file name without .yaml
    #[arg(long)]
    scene: Option<String>,
    /// The speed of --watch: 1, 4, 16, or max
    #[arg(long, default_value = "1", value_parser = parse_speed)]
    speed: Speed,
    /// Override every agent's provider: offline, scripted:FILE, gemini, openai, anthropic, ollama
    #[arg(long)]
    provider: Option<String>,
    /// Override every agent's model: a model of the provider, or PROVIDER:MODEL
    #[arg(long)]
    model: Option<String>,
    /// Write events as they happen, as JSON Lines: to a file, or - for standard output
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Print one JSON object on standard output: how it ended, why, files, cost, problems, approvals
    #[arg(long)]
    json: bool,
    /// On standard error, print only what it waits for
    #[arg(long, short)]
    quiet: bool,
}

/// Runs with all agents resting: they do not walk over to read or talk, so that models are called for work only.
pub(super) fn daemon(arguments: &Arguments) -> CliResult {
    let run = run::Arguments {
        workspace: arguments.workspace.clone(),
        scene: arguments.scene.clone(),
        provider: arguments.provider.clone(),
        model: arguments.model.clone(),
        events: arguments.events.clone(),
        json: arguments.json,
        quiet: arguments.quiet,
        speed: if arguments.pump { Speed::Max } else { arguments.speed },
        one_turn_each: arguments.pump,
        is_daemon: true,
        ..run::Arguments::empty()
    };
    run_for(&run, None, true)
}
