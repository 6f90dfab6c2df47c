//! The sandbox for programs that are started here: where the system supports it, they can only write in the workspace,
//! except to protected paths, and have no network access unless a person allowed it. One implementation for servers and
//! commands.
//!
//! A supervisor process ([`super::supervisor`]) runs between the program and this one. It determines what a program can
//! write (`program_access`), starts it in bubblewrap (`bubblewrap`, `sandbox_root`) or Landlock, and ends everything
//! that the program started when the program or this process ends, for whatever reason.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, OnceLock};

/// The argument that starts this program as the supervisor of another.
pub const SUPERVISOR_ARGUMENT: &str = "__watch-over";
/// The kind of sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// bubblewrap: separate file system, process and network namespaces.
    Bubblewrap,
    /// Landlock: the program can only write to permitted folders and files that existed when it started, and use the
    /// network only if that is allowed.
    Landlock,
    /// No sandbox: this system has neither, or forbids them.
    None,
}

impl Level {
    /// Describes the sandbox for a person.
    pub fn description(self) -> &'static str {
        match self {
            Self::Bubblewrap => {
                "bubblewrap: programs cannot see keys or sockets, can only write in the workspace except to guarded \
                 places, and have no network access unless allowed"
            }
            Self::Landlock => {
                "Landlock: programs can only write in the workspace except to guarded places, cannot create anything \
                 at its top level, and have no network access unless allowed; they can read what you can read"
            }
            Self::None => "none: programs that you allow can do whatever you can",
        }
    }
}

/// The permissions of a sandboxed program.
#[derive(Clone, Copy, Debug)]
pub struct Rights<'a> {
    /// The workspace: everything in it is writable except protected paths.
    pub folder: &'a Path,
    /// Whether the program can create top-level entries of the workspace, which are moved there after it has ended.
    pub new_entries: bool,
    /// Whether the program can use the network.
    pub network: bool,
    /// Folders and files outside of the workspace with read and write access, such as those with its login.
    pub own: &'a [PathBuf],
    /// Folders that are hidden if the sandbox supports that: those with the person's keys.
    pub hidden: &'a [PathBuf],
    /// The resource limits, if there are any.
    pub limits: Option<Limits>,
}

/// The resource limits of a program, including everything that it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The memory of all its processes together, in bytes.
    pub memory_bytes: u64,
    /// The number of simultaneous processes.
    pub processes: u64,
    /// The size of each file that it writes, in bytes.
    pub file_bytes: u64,
}

/// The sandbox support of this computer.
#[derive(Clone, Debug)]
pub struct Confinement {
    level: Level,
    /// Whether bubblewrap is installed but not permitted to create a sandbox.
    is_bubblewrap_forbidden: bool,
    bubblewrap: PathBuf,
    /// The path of this program, if it can be the supervisor of others.
    watcher: Option<PathBuf>,
}

impl Confinement {
    /// Returns the support of this computer, which is detected once.
    pub fn of_this_computer() -> &'static Self {
        static FOUND: LazyLock<Confinement> = LazyLock::new(Confinement::find);
        &FOUND
    }

    /// Returns a configuration without a sandbox, but with a supervisor if possible.
    pub(super) fn none() -> &'static Self {
        static NONE: LazyLock<Confinement> = LazyLock::new(|| Confinement {
            level: Level::None,
            is_bubblewrap_forbidden: false,
            bubblewrap: PathBuf::new(),
            watcher: watcher(),
        });
        &NONE
    }

    fn find() -> Self {
        let watcher = watcher();
        let bubblewrap = in_path("bwrap");
        let level = match (&bubblewrap, &watcher) {
            (Some(bubblewrap), Some(_)) if bubblewrap_works(bubblewrap) => Level::Bubblewrap,
            (_, Some(_)) if super::supervisor::landlock_works() => Level::Landlock,
            _ => Level::None,
        };
        let is_bubblewrap_forbidden = bubblewrap.is_some() && level != Level::Bubblewrap;
        Self { level, is_bubblewrap_forbidden, bubblewrap: bubblewrap.unwrap_or_default(), watcher }
    }

    /// Returns the kind of sandbox that is used.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Describes the sandbox that is used, and why a better one is not, for a person.
    pub fn summary(&self) -> String {
        let words = self.level.description();
        match self.is_bubblewrap_forbidden {
            true => {
                format!("{words} (bubblewrap is installed, but this system does not let it create user namespaces)")
            }
            false => words.to_owned(),
        }
    }

    /// Returns the command line that starts a program in the sandbox, and whether it has a supervisor.
    pub fn wrap(&self, words: Vec<String>, rights: &Rights<'_>) -> (Vec<OsString>, bool) {
        let words = words.into_iter().map(OsString::from);
        let Some(watcher) = &self.watcher else { return (words.collect(), false) };
        let mut all: Vec<OsString> = vec![watcher.clone().into(), SUPERVISOR_ARGUMENT.into()];
        if self.level != Level::None {
            all.extend(["--within".into(), rights.folder.into()]);
            if rights.network {
                all.push("--network".into());
            }
            all.extend(rights.own.iter().flat_map(|path| ["--own".into(), path.into()]));
        }
        if self.level == Level::Bubblewrap {
            all.extend(["--bubblewrap".into(), self.bubblewrap.clone().into()]);
            if rights.new_entries {
                all.push("--new-entries".into());
            }
            let variable = |name: &str| std::env::var_os(name).filter(|value| Path::new(value).is_absolute());
            all.extend(variable("HOME").into_iter().flat_map(|home| ["--home".into(), home]));
            let own = ["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"].into_iter().filter_map(variable);
            let hidden = own.chain(rights.hidden.iter().map(Into::into));
            all.extend(hidden.flat_map(|folder| ["--hide".into(), folder]));
        }
        if let Some(limits) = rights.limits {
            all.extend(["--memory".into(), limits.memory_bytes.to_string().into()]);
            all.extend(["--processes".into(), limits.processes.to_string().into()]);
            all.extend(["--file-size".into(), limits.file_bytes.to_string().into()]);
        }
        all.push("--".into());
        all.extend(words);
        (all, true)
    }
}

/// Whether bubblewrap is permitted to create a sandbox, which is not the case in some containers.
fn bubblewrap_works(bubblewrap: &Path) -> bool {
    let mut try_it = Command::new(bubblewrap);
    try_it.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--cap-drop", "ALL"]);
    try_it.args(["--size", "4096", "--tmpfs", "/tmp", "--unshare-all", "--", "true"]);
    try_it.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    try_it.status().is_ok_and(|status| status.success())
}

/// The program that supervises others if this one cannot.
static WATCHER: OnceLock<PathBuf> = OnceLock::new();

/// Sets the program that supervises others, for programs that only use the library. Only the first call counts, and it
/// must come before anything is started.
pub fn set_supervisor(workshop: &Path) {
    // A second call changes nothing.
    let _ = WATCHER.set(workshop.to_owned());
}

/// Returns the path of the program that supervises others, if there is one.
fn watcher() -> Option<PathBuf> {
    cfg!(target_os = "linux").then(own_program).flatten()
}

/// Returns the path of this program if it is `workshop`.
pub(super) fn own_program() -> Option<PathBuf> {
    let named = WATCHER.get().cloned();
    let own = std::env::current_exe().ok().filter(|exe| exe.file_stem().is_some_and(|stem| stem == "workshop"));
    named.or(own).filter(|exe| exe.is_file())
}

fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|place| place.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(level: Level, watcher: Option<&str>, network: bool) -> Vec<String> {
        let confinement = Confinement {
            level,
            is_bubblewrap_forbidden: false,
            bubblewrap: "/bwrap".into(),
            watcher: watcher.map(PathBuf::from),
        };
        let (hidden, own) = ([PathBuf::from("/keys")], [PathBuf::from("/home/me/.agent")]);
        let rights =
            Rights { folder: Path::new("/w"), new_entries: true, network, own: &own, hidden: &hidden, limits: None };
        let (words, _) = confinement.wrap(vec!["git".into(), "--all".into()], &rights);
        words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_program_runs_in_the_best_available_sandbox() {
        assert_eq!(wrapped(Level::None, None, false), ["git", "--all"]);
        assert_eq!(
            wrapped(Level::None, Some("/workshop"), false),
            ["/workshop", SUPERVISOR_ARGUMENT, "--", "git", "--all"]
        );
        assert_eq!(
            wrapped(Level::Landlock, Some("/workshop"), false),
            ["/workshop", SUPERVISOR_ARGUMENT, "--within", "/w", "--own", "/home/me/.agent", "--", "git", "--all"]
        );
        let words = wrapped(Level::Bubblewrap, Some("/workshop"), true).join(" ");
        for part in [
            "--within /w --network --own /home/me/.agent --bubblewrap /bwrap --new-entries",
            "--hide /keys",
            "-- git --all",
        ] {
            assert!(words.contains(part), "{part} in {words}");
        }
    }
}
