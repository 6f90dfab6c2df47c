//! What a sandbox costs: starting and ending a command in it, compared with the bare command.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use agent_workshop::gateway::sandbox::{Confinement, Level, Limits, Rights, set_supervisor};

use super::measure::{Figure, timed};

const STARTS: usize = 40;

fn run(words: &[OsString]) {
    let (program, arguments) = words.split_first().expect("a program has a name");
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).status().expect("it starts");
    assert!(status.success(), "{words:?}: {status}");
}

/// Runs `true` directly and as an agent's command, in turn.
pub fn confined() -> Vec<Figure> {
    set_supervisor(Path::new(env!("CARGO_BIN_EXE_workshop")));
    let found = Confinement::of_this_computer();
    if found.level() == Level::None {
        eprintln!("programs: {}, so nothing is measured", found.summary());
        return Vec::new();
    }
    let workspace = tempfile::tempdir().expect("a temporary folder can be made");
    let limits = Limits { memory_bytes: 1 << 30, processes: 64, file_bytes: 1 << 30 };
    let rights = Rights {
        folder: workspace.path(),
        new_entries: true,
        network: false,
        own: &[],
        hidden: &[],
        limits: Some(limits),
    };
    let bare_words = [OsString::from("true")];
    let (our_words, _) = found.wrap(vec!["true".to_owned()], &rights);
    run(&our_words);
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        bare.push(timed(|| run(&bare_words)));
        ours.push(timed(|| run(&our_words)));
    }
    let what = format!("sandbox overhead ({:?}) for starting and ending a command", found.level());
    vec![Figure::over_bare(&what, 20.0, bare, ours)]
}
