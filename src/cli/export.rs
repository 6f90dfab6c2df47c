//! `workshop export [WORKSPACE]`: the event log as JSON Lines, or the whole workspace as a zip file.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::output::{self, Sink};
use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus};
use crate::app::opening::state_folder;
use crate::base::JobControl;
use crate::store::{self, ExportError, Reader};
use crate::workspace::archive;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The workspace; defaults to the current folder
    workspace: Option<PathBuf>,
    /// Write the events to this file, or - for standard output
    #[arg(long, value_name = "FILE", required_unless_present = "zip")]
    events: Option<PathBuf>,
    /// Write the whole workspace to a new zip file that opens identically elsewhere
    #[arg(long, value_name = "FILE")]
    zip: Option<PathBuf>,
    /// Only this run: an id, or `last`; defaults to all runs
    #[arg(long, requires = "events")]
    run: Option<String>,
}

pub(super) fn export(arguments: &Arguments) -> CliResult {
    let folder = workspace_argument::workspace(arguments.workspace.as_deref(), IfMissing::Fail)?;
    let uncancelled = JobControl::default();
    if let Some(file) = &arguments.zip {
        let archived =
            archive::write_zip(&folder, &state_folder(&folder), file, &uncancelled).map_err(CliError::failed)?;
        for left_out in &archived.left_out(usize::MAX) {
            output::note(&format!("left out: {left_out}"));
        }
        output::note(&format!("{} files, {} KiB", archived.files, archived.bytes / 1024));
    }
    match &arguments.events {
        Some(events) => export_events(arguments, &folder, events),
        None => Ok(ExitStatus::Done),
    }
}

fn export_events(arguments: &Arguments, folder: &Path, events: &Path) -> CliResult {
    let reader = Reader::open(&state_folder(folder)).map_err(CliError::failed)?;
    let run = match arguments.run.as_deref() {
        Some("last") => reader.runs().map_err(CliError::failed)?.first().map(|run| run.id.to_string()),
        other => other.map(str::to_owned),
    };
    let mut out = Sink::open(events)?;
    let exported = store::export_events(&reader, run.as_deref(), out.writer(), &JobControl::default());
    let count = exported.map_err(|error| match error {
        ExportError::Write(error) => out.failed(&error),
        other => CliError::failed(other),
    })?;
    out.writer().flush().map_err(|error| out.failed(&error))?;
    output::note(&format!("{count} events"));
    Ok(ExitStatus::Done)
}
