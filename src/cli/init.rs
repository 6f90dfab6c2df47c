//! `workshop init DIR`: writes the starter kit into a folder, never over anything that is there.

use std::path::PathBuf;

use super::{Complaint, Ending, Outcome};
use crate::workspace::starter;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The folder; it may exist
    dir: PathBuf,
}

pub(super) fn init(arguments: &Arguments) -> Outcome {
    let written = starter::init(&arguments.dir).map_err(Complaint::failed)?.written;
    for path in &written {
        println!("{path}");
    }
    if written.is_empty() {
        eprintln!("{} has everything already; nothing was written", arguments.dir.display());
    } else {
        eprintln!("wrote {} files; now try: workshop run {} --for 10m", written.len(), arguments.dir.display());
    }
    Ok(Ending::Done)
}
