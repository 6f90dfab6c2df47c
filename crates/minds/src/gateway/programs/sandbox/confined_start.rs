//! The start of a program under Landlock: this process gives up everything that the program must not have, and then
//! becomes the program. What it gives up is never regained, not by any process that the program starts.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use caps::CapSet;
use rustix::process::{Signal, set_parent_process_death_signal, setsid};

use super::hidden_paths::SETTINGS_SHOWN;
use super::landlock_access::{self, ProgramPlaces};
use super::namespaces;
use super::program_access::entries;
use super::supervisor::SupervisorArguments;

/// The folder of agents' worktrees, relative to the workspace.
pub(super) const WORKTREES: &str = ".workshop/worktrees";

/// Restricts this process to what the program may do.
pub(super) fn restrict(options: &SupervisorArguments, workspace: &Path) -> io::Result<()> {
    let workspace = workspace.canonicalize()?;
    let entries = entries(&workspace)?;
    let own = options.own.iter().map(PathBuf::from);
    let own: Vec<PathBuf> = own.chain([std::env::temp_dir()]).chain(worktree(&workspace)).collect();
    let shown: Vec<PathBuf> = options.home().map(|home| home.join(SETTINGS_SHOWN)).into_iter().collect();
    let hidden = options.all_hidden();
    let places = ProgramPlaces {
        workspace: &workspace,
        entries: &entries,
        own: &own,
        hidden: &hidden,
        shown: &shown,
        network: options.network,
    };
    if options.namespaces {
        namespaces::enter(&places.writable(), options.network)?;
    }
    // The program ends with its supervisor, and cannot type into the terminal in which the workshop was started.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    setsid()?;
    // This also keeps programs from gaining rights by starting others.
    landlock_access::restrict(&places)?;
    drop_capabilities().map_err(io::Error::other)
}

/// Gives up all capabilities of this process, which only root has: with them, a program could rename the computer or
/// read the memory of other processes.
fn drop_capabilities() -> Result<(), caps::errors::CapsError> {
    // Without the right to change these, they have no effect either: processes here never gain capabilities.
    let _ = caps::clear(None, CapSet::Ambient);
    let _ = caps::clear(None, CapSet::Bounding);
    for set in [CapSet::Inheritable, CapSet::Effective, CapSet::Permitted] {
        caps::clear(None, set)?;
    }
    Ok(())
}

/// Becomes the program. Returns why that is not possible.
pub(super) fn become_program(options: &SupervisorArguments) -> io::Error {
    Command::new(&options.words[0]).args(&options.words[1..]).exec()
}

/// Returns the agent's worktree in which the program is started, if it is one.
pub(in crate::gateway::programs) fn worktree(workspace: &Path) -> Option<PathBuf> {
    let all = workspace.join(WORKTREES);
    let here = std::env::current_dir().ok()?.canonicalize().ok()?;
    let own = here.strip_prefix(&all).ok()?.components().next()?;
    Some(all.join(own))
}
