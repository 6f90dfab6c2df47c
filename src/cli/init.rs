//! `workshop init DIR`: writes the starter kit into a folder, never over anything that is there.

use std::path::PathBuf;

use super::{Complaint, Ending, Outcome, output};
use crate::workspace::starter;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The folder; it may exist
    dir: PathBuf,
    /// Write settings and one scene only, for a folder with files of its own, such as a repository
    #[arg(long)]
    bare: bool,
}

pub(super) fn init(arguments: &Arguments) -> Outcome {
    let make = if arguments.bare { starter::adopt } else { starter::init };
    let written = make(&arguments.dir).map_err(Complaint::failed)?.written;
    if written.is_empty() {
        output::note(&format!("{} has everything already; nothing was written", arguments.dir.display()));
        return Ok(Ending::Done);
    }
    output::result(&written.join("\n"))?;
    let dir = arguments.dir.display();
    output::note(&format!("wrote {} files; now try: workshop run {dir} --for 10m", written.len()));
    Ok(Ending::Done)
}
