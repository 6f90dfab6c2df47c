//! `workshop export [WORKSPACE] --events FILE`: what happened, as JSON Lines.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use super::{Complaint, Ending, Outcome};
use crate::app::room::state_folder;
use crate::store::{self, Reader};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The workspace, if not the current folder
    workspace: Option<PathBuf>,
    /// Where the events go: a file, or - for standard output
    #[arg(long, value_name = "FILE", required = true)]
    events: PathBuf,
    /// Only this run, by id, or `last`; all of them where absent
    #[arg(long)]
    run: Option<String>,
}

pub(super) fn export(arguments: &Arguments) -> Outcome {
    let folder = super::existing_workspace(arguments.workspace.as_deref())?;
    let reader = Reader::open(&state_folder(&folder)).map_err(Complaint::failed)?;
    let run = match arguments.run.as_deref() {
        Some("last") => reader.runs().map_err(Complaint::failed)?.first().map(|run| run.id.to_string()),
        other => other.map(str::to_owned),
    };
    let mut out: Box<dyn Write> = if arguments.events.as_os_str() == "-" {
        Box::new(BufWriter::new(io::stdout().lock()))
    } else {
        let file = File::create(&arguments.events);
        let file = file.map_err(|error| Complaint::failed(format!("{}: {error}", arguments.events.display())))?;
        Box::new(BufWriter::new(file))
    };
    let count = store::export_events(&reader, run.as_deref(), &mut out).map_err(Complaint::failed)?;
    out.flush().map_err(Complaint::failed)?;
    eprintln!("{count} events");
    Ok(Ending::Done)
}
