//! `workshop export [WORKSPACE]`: what happened as JSON Lines, or the whole workspace as a zip.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{Complaint, Ending, Outcome};
use crate::app::room::state_folder;
use crate::store::{self, Reader};
use crate::workspace::archive;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The workspace, if not the current folder
    workspace: Option<PathBuf>,
    /// Where the events go: a file, or - for standard output
    #[arg(long, value_name = "FILE", required_unless_present = "zip")]
    events: Option<PathBuf>,
    /// Where the whole workspace goes: a new zip file that opens identically elsewhere
    #[arg(long, value_name = "FILE")]
    zip: Option<PathBuf>,
    /// Only this run, by id, or `last`; all of them where absent
    #[arg(long, requires = "events")]
    run: Option<String>,
}

pub(super) fn export(arguments: &Arguments) -> Outcome {
    let folder = super::existing_workspace(arguments.workspace.as_deref())?;
    if let Some(file) = &arguments.zip {
        let archived = archive::write_zip(&folder, &state_folder(&folder), file).map_err(Complaint::failed)?;
        for left_out in &archived.left_out {
            eprintln!("left out: {left_out}");
        }
        eprintln!("{} files, {} KiB", archived.files, archived.bytes / 1024);
    }
    match &arguments.events {
        Some(events) => export_events(arguments, &folder, events),
        None => Ok(Ending::Done),
    }
}

fn export_events(arguments: &Arguments, folder: &Path, events: &Path) -> Outcome {
    let reader = Reader::open(&state_folder(folder)).map_err(Complaint::failed)?;
    let run = match arguments.run.as_deref() {
        Some("last") => reader.runs().map_err(Complaint::failed)?.first().map(|run| run.id.to_string()),
        other => other.map(str::to_owned),
    };
    let mut out: Box<dyn Write> = if events.as_os_str() == "-" {
        Box::new(BufWriter::new(io::stdout().lock()))
    } else {
        let file = File::create(events);
        let file = file.map_err(|error| Complaint::failed(format!("{}: {error}", events.display())))?;
        Box::new(BufWriter::new(file))
    };
    let count = store::export_events(&reader, run.as_deref(), &mut out).map_err(Complaint::failed)?;
    out.flush().map_err(Complaint::failed)?;
    eprintln!("{count} events");
    Ok(Ending::Done)
}
