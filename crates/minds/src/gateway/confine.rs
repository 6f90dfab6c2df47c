//! How programs that are started here are kept from what is not theirs: where the system has a way, they write nowhere but
//! in the workspace and reach no network unless a person allowed it. One place for servers and commands.
//!
//! Between the program and this one stands a watcher ([`super::watch_over`]), which ends all that the program started when
//! it ends, or when this process does, whatever ended it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, OnceLock};

use crate::workspace::layout::APPROVALS_FILE;

/// The word by which this program is told to watch over another.
pub const WATCH_WORD: &str = "__watch-over";
/// Folders of a home that hold keys: nothing confined sees into them.
const SECRET_FOLDERS: [&str; 8] =
    [".ssh", ".aws", ".gnupg", ".docker", ".kube", ".config/agent-workshop", ".config/gh", ".password-store"];

/// What in the workspace is a person's and the workshop's alone: nothing confined writes it, where that can be kept
/// from it. A program that could would answer what is asked, or allow itself what it likes.
const PROTECTED: [&str; 6] = ["settings.yaml", ".mcp.json", "storage", "inbox", APPROVALS_FILE, ".workshop"];

/// What keeps a program in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// bubblewrap: a file system, processes and a network of its own.
    Bubblewrap,
    /// Landlock: it writes only where it may, and reaches the network only where it may.
    Landlock,
    /// Nothing: this system has neither, or forbids them.
    None,
}

impl Level {
    /// In words, for a person.
    pub fn words(self) -> &'static str {
        match self {
            Self::Bubblewrap => {
                "bubblewrap: programs see no keys, write only in the workspace, and reach no network unless allowed"
            }
            Self::Landlock => "Landlock: programs write only in the workspace, and reach no network unless allowed",
            Self::None => "none: programs that you allow can do what you can",
        }
    }
}

/// What a confined program may do.
#[derive(Clone, Copy, Debug)]
pub struct Rights<'a> {
    /// The folder in which it may write.
    pub folder: &'a Path,
    /// Whether it may use the network.
    pub network: bool,
    /// A folder that it is not to see, where that can be kept from it: where the person keeps keys.
    pub hidden: Option<&'a Path>,
    /// How much it may take, where that is bounded.
    pub limits: Option<Limits>,
}

/// How much a program, with all that it starts, may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Memory of each process, in bytes.
    pub memory_bytes: u64,
    /// Processes at once.
    pub processes: u64,
}

/// What this computer has to keep programs in.
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
            (Some(bubblewrap), _) if bubblewrap_works(bubblewrap) => Level::Bubblewrap,
            (_, Some(_)) if super::watch_over::landlock_works() => Level::Landlock,
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
        let words = self.level.words();
        match self.is_bubblewrap_forbidden {
            true => format!("{words} (bubblewrap is installed, but this system forbids it to make user namespaces)"),
            false => words.to_owned(),
        }
    }

    /// The words that start a program confined, and whether somebody watches over it.
    pub(super) fn wrap(&self, words: Vec<String>, rights: &Rights<'_>) -> (Vec<OsString>, bool) {
        let words = words.into_iter().map(OsString::from);
        let mut all: Vec<OsString> = Vec::new();
        if let Some(watcher) = &self.watcher {
            all.extend([watcher.clone().into(), WATCH_WORD.into()]);
            if self.level == Level::Landlock {
                all.extend(["--write".into(), rights.folder.into()]);
                if !rights.network {
                    all.push("--no-network".into());
                }
            }
            if let Some(limits) = rights.limits {
                all.extend(["--memory".into(), limits.memory_bytes.to_string().into()]);
                all.extend(["--processes".into(), limits.processes.to_string().into()]);
            }
            all.push("--".into());
        }
        if self.level == Level::Bubblewrap {
            all.extend(self.bubblewrap_words(rights));
        }
        all.extend(words);
        (all, self.watcher.is_some())
    }

    fn bubblewrap_words(&self, rights: &Rights<'_>) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![self.bubblewrap.clone().into()];
        let mut add = |more: &[&dyn AsRef<std::ffi::OsStr>]| words.extend(more.iter().map(|word| word.as_ref().into()));
        add(&[&"--ro-bind", &"/", &"/", &"--dev", &"/dev", &"--proc", &"/proc", &"--tmpfs", &"/tmp"]);
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let secret =
            SECRET_FOLDERS.map(|folder| home.join(folder)).into_iter().chain(rights.hidden.map(Path::to_owned));
        let (within, beside): (Vec<PathBuf>, Vec<PathBuf>) =
            secret.filter(|folder| folder.is_dir()).partition(|folder| folder.starts_with(rights.folder));
        // Each covers what was said before it of the same place.
        beside.iter().for_each(|folder| add(&[&"--tmpfs", folder]));
        add(&[&"--bind", &rights.folder, &rights.folder]);
        let protected = PROTECTED.map(|path| rights.folder.join(path));
        protected.iter().filter(|path| path.exists()).for_each(|path| add(&[&"--ro-bind", path, path]));
        within.iter().for_each(|folder| add(&[&"--tmpfs", folder]));
        add(&[&"--unshare-all", &"--die-with-parent", &"--new-session"]);
        if rights.network {
            add(&[&"--share-net"]);
        }
        add(&[&"--"]);
        words
    }
}

/// Whether bubblewrap may do here what it is there for: in some containers it may not.
fn bubblewrap_works(bubblewrap: &Path) -> bool {
    let mut try_it = Command::new(bubblewrap);
    try_it.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "--", "true"]);
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
    if !cfg!(target_os = "linux") {
        return None;
    }
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
        let rights = Rights { folder: Path::new("/w"), network, hidden: Some(Path::new("/")), limits: None };
        let (words, _) = confinement.wrap(vec!["git".into(), "--all".into()], &rights);
        words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_program_runs_behind_what_this_computer_has() {
        assert_eq!(wrapped(Level::None, None, false), ["git", "--all"]);
        assert_eq!(
            wrapped(Level::Landlock, Some("/workshop"), false),
            ["/workshop", WATCH_WORD, "--write", "/w", "--no-network", "--", "git", "--all"]
        );
        let words = wrapped(Level::Bubblewrap, None, true).join(" ");
        assert!(words.starts_with("/bwrap --ro-bind / /") && words.ends_with("-- git --all"), "{words}");
        assert!(words.contains("--bind /w /w") && words.contains("--share-net"), "{words}");
        assert!(words.contains("--tmpfs / --bind /w"), "what is hidden lies below what may be used: {words}");
        assert!(!wrapped(Level::Bubblewrap, None, false).join(" ").contains("--share-net"));
    }
}
