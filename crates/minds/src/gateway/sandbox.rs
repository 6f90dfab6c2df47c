//! The sandbox for programs started here: where the system supports it, they can only write in the workspace, not to
//! places guarded by the gate, and have no network access unless a person allowed it. One implementation for servers
//! and commands.
//!
//! A supervisor process ([`super::supervisor`]) runs between the program and this one. It checks what a program may
//! write (`program_access`), starts it in bubblewrap (`bubblewrap`, `staging`) or Landlock, and ends everything that
//! the program started when the program or this process ends, for whatever reason.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, OnceLock};

/// The argument that starts this program as the watcher of another.
pub const WATCH_WORD: &str = "__watch-over";
/// The kind of sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// bubblewrap: a file system, processes and a network of its own.
    Bubblewrap,
    /// Landlock: it writes only in folders and files that were there when it started and that it may write, and reaches
    /// the network only where it may.
    Landlock,
    /// Nothing: this system has neither, or forbids them.
    None,
}

impl Level {
    /// In words, for a person.
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
    /// The workspace: it may write what is in it and not guarded.
    pub folder: &'a Path,
    /// Whether it may make new entries at the workspace's top level. They are there once it has ended.
    pub new_entries: bool,
    /// Whether it may use the network.
    pub network: bool,
    /// Folders and files of its own outside of the workspace, such as where it keeps its login: it may read and write
    /// them.
    pub own: &'a [PathBuf],
    /// Folders that it is not to see, where that can be kept from it: where the person keeps keys.
    pub hidden: &'a [PathBuf],
    /// How much it may take, where that is bounded.
    pub limits: Option<Limits>,
}

/// The resource limits of a program, including everything that it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Memory of all its processes together, in bytes.
    pub memory_bytes: u64,
    /// Processes at once.
    pub processes: u64,
    /// Bytes of each file that it writes.
    pub file_bytes: u64,
}

/// The sandbox support of this computer.
#[derive(Clone, Debug)]
pub struct Confinement {
    level: Level,
    /// Whether bubblewrap is installed and may not do here what it is there for.
    is_bubblewrap_forbidden: bool,
    bubblewrap: PathBuf,
    /// This program, where it can watch over others.
    watcher: Option<PathBuf>,
}

impl Confinement {
    /// What there is here. Looked for once.
    pub fn of_this_computer() -> &'static Self {
        static FOUND: LazyLock<Confinement> = LazyLock::new(Confinement::find);
        &FOUND
    }

    /// None, but that programs are watched over where that can be done.
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

    /// What keeps programs in.
    pub fn level(&self) -> Level {
        self.level
    }

    /// What keeps programs in, and why nothing better does, in words for a person.
    pub fn words(&self) -> String {
        let words = self.level.description();
        match self.is_bubblewrap_forbidden {
            true => {
                format!("{words} (bubblewrap is installed, but this system does not let it create user namespaces)")
            }
            false => words.to_owned(),
        }
    }

    /// The command line that starts a program confined, and whether a watcher is used.
    pub fn wrap(&self, words: Vec<String>, rights: &Rights<'_>) -> (Vec<OsString>, bool) {
        let words = words.into_iter().map(OsString::from);
        let Some(watcher) = &self.watcher else { return (words.collect(), false) };
        let mut all: Vec<OsString> = vec![watcher.clone().into(), WATCH_WORD.into()];
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

/// Whether bubblewrap may do here what it is there for: in some containers it may not.
fn bubblewrap_works(bubblewrap: &Path) -> bool {
    let mut try_it = Command::new(bubblewrap);
    try_it.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--cap-drop", "ALL"]);
    try_it.args(["--size", "4096", "--tmpfs", "/tmp", "--unshare-all", "--", "true"]);
    try_it.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    try_it.status().is_ok_and(|status| status.success())
}

/// The program that watches over others, where this one is none that can.
static WATCHER: OnceLock<PathBuf> = OnceLock::new();

/// Names the program that watches over others, for those that use the library and are not it. Counts once, and before
/// anything is started.
pub fn watch_with(workshop: &Path) {
    // A second name changes nothing.
    let _ = WATCHER.set(workshop.to_owned());
}

/// This program by its path, where it is one that can watch over others.
fn watcher() -> Option<PathBuf> {
    cfg!(target_os = "linux").then(own_program).flatten()
}

/// This program by its path, where it is `workshop`.
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
    fn a_program_runs_behind_what_this_computer_has() {
        assert_eq!(wrapped(Level::None, None, false), ["git", "--all"]);
        assert_eq!(wrapped(Level::None, Some("/workshop"), false), ["/workshop", WATCH_WORD, "--", "git", "--all"]);
        assert_eq!(
            wrapped(Level::Landlock, Some("/workshop"), false),
            ["/workshop", WATCH_WORD, "--within", "/w", "--own", "/home/me/.agent", "--", "git", "--all"]
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
