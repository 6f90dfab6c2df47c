//! `workshop daemon`: the room at work without a window, one step at a time or on and on, while a person edits its files.

use std::path::PathBuf;

use super::run::{self, run_for};
use super::{Outcome, run::parse_speed};
use crate::schedule::Speed;

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("way").required(true)))]
pub(super) struct Arguments {
    /// The workspace; the current folder if it is one, else ./my-workshop, made from the starter kit on first use
    workspace: Option<PathBuf>,
    /// Take one step of everything that is due and end: what changed in files is taken in, each piece of work has one
    /// turn with the tools that it calls, and what a person allowed is carried out
    #[arg(long, group = "way")]
    pump: bool,
    /// Go on until interrupted, taking in what changes in files within a moment
    #[arg(long, group = "way")]
    watch: bool,
    /// The scene, by its file's name without .yaml
    #[arg(long)]
    scene: Option<String>,
    /// How fast --watch lives: 1, 4, 16, or max
    #[arg(long, default_value = "1", value_parser = parse_speed)]
    speed: Speed,
    /// Stands in for every agent's provider: offline, scripted:FILE, gemini, openai, anthropic, ollama
    #[arg(long)]
    provider: Option<String>,
    /// Stands in for every agent's model: a model of the provider, or PROVIDER:MODEL
    #[arg(long)]
    model: Option<String>,
    /// Write every event as it happens, as JSON Lines: a file, or - for standard output
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Print one JSON object on standard output: how it ended, why, files, cost, problems, questions
    #[arg(long)]
    json: bool,
    /// Print nothing on standard error but what it waits for
    #[arg(long, short)]
    quiet: bool,
}

/// Everybody rests but for work: nobody wanders over to read or talk, so that nothing is asked that no work needs.
pub(super) fn daemon(arguments: &Arguments) -> Outcome {
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
        ..run::Arguments::of_nothing()
    };
    run_for(&run, None, true)
}
