//! The common parts of all programs started here: the search for their path, and the process group that ends with each.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Child;

/// Finds a program: a path is relative to `folder` unless it is absolute, and a name is searched for in `PATH`.
pub fn find_program(program: &str, folder: &Path) -> Option<PathBuf> {
    let is_path = program.contains(['/', '\\']);
    let places: Vec<PathBuf> = match is_path {
        true => vec![folder.join(program)],
        false => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).filter(|place| place.is_absolute()).map(|place| place.join(program)).collect()
        }
    };
    let endings: &[&str] = if cfg!(windows) { &["", "exe", "cmd", "bat"] } else { &[""] };
    let mut all = places.iter().flat_map(|place| {
        endings.iter().map(move |ending| if ending.is_empty() { place.clone() } else { place.with_extension(ending) })
    });
    all.find(|place| place.is_file())
}

/// The process group of a program.
pub(in crate::gateway) struct Group {
    id: Option<u32>,
    /// Whether a supervisor ends all descendants of the program when it receives a termination signal.
    is_watched_over: bool,
}

/// Ends the processes of this group, whose leader may be a supervisor; see [`Group::kill`].
pub fn end_group(id: u32, is_watched_over: bool) {
    Group { id: Some(id), is_watched_over }.kill();
}

impl Group {
    /// Creates the group that this process leads.
    pub(in crate::gateway) fn of(child: &Child, is_watched_over: bool) -> Self {
        Self { id: child.id(), is_watched_over }
    }

    /// Sends a termination signal to the group.
    pub(in crate::gateway) fn ask_to_end(&self) {
        self.signal(false);
    }

    /// Kills the group.
    pub(in crate::gateway) fn kill(&mut self) {
        if self.is_watched_over {
            // The supervisor also ends processes that have left the group.
            self.signal(false);
            self.is_watched_over = false;
            for _ in 0..20 {
                if !self.is_there() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        self.signal(true);
        self.id = None;
    }

    #[cfg(unix)]
    fn is_there(&self) -> bool {
        let Some(group) = self.pid() else { return false };
        rustix::process::test_kill_process_group(group).is_ok()
    }

    #[cfg(unix)]
    fn pid(&self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(i32::try_from(self.id?).ok()?)
    }

    #[cfg(unix)]
    fn signal(&self, is_kill: bool) {
        use rustix::process::{Signal, kill_process_group};
        if let Some(group) = self.pid() {
            // The group may have ended by itself.
            let _ = kill_process_group(group, if is_kill { Signal::KILL } else { Signal::TERM });
        }
    }

    #[cfg(not(unix))]
    fn is_there(&self) -> bool {
        false
    }

    #[cfg(not(unix))]
    fn signal(&self, _: bool) {}
}
