//! The sandbox for programs that are started here: where the system supports it, they can only write in the workspace,
//! except to protected paths, and have no network access unless a person allowed it. One implementation for servers and
//! commands.
//!
//! A supervisor process ([`super::supervisor`]) runs between the program and this one. It determines what a program can
//! write (`program_access`), starts it in bubblewrap (`bubblewrap`, `sandbox_root`) or Landlock, and ends everything
//! that the program started when the program or this process ends, for whatever reason.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use super::sandbox_trials::{TrialFailure, bubblewrap_trial, namespaces_trial, try_out};
use super::supervisor::SUPERVISOR_ARGUMENT;
use crate::base::Problem;

/// The environment variable by which a person chooses the kind of sandbox: a [`Level::word`]. Nothing in a workspace can
/// set it, and a kind that does not work here means that every command needs approval.
pub const SANDBOX_VARIABLE: &str = "WORKSHOP_SANDBOX";

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
    /// All kinds, the best first.
    pub const ALL: [Self; 3] = [Self::Bubblewrap, Self::Landlock, Self::None];

    /// The name by which a person chooses it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
            Self::None => "none",
        }
    }

    /// Describes the sandbox for a person.
    pub fn description(self) -> &'static str {
        match self {
            Self::Bubblewrap => {
                "bubblewrap: programs cannot see keys or sockets, can only write in the workspace except to guarded \
                 places, and have no network access unless allowed"
            }
            Self::Landlock => {
                "Landlock: programs cannot read keys, can only write in the workspace except to guarded places, cannot \
                 create anything at its top level, and cannot use TCP unless allowed; they can reach sockets of other \
                 programs"
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
    /// Files and folders that are hidden: those with the person's keys.
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
    /// Why it is this kind, if that is not only because it is the best one that works here.
    reason: Option<String>,
    bubblewrap: PathBuf,
    /// Whether programs get namespaces of their own under Landlock.
    namespaces: bool,
    /// Why it is not known whether a better one works: it could not be tried out at this moment.
    untried: Option<String>,
    /// The path of this program, if it can be the supervisor of others.
    watcher: Option<PathBuf>,
}

impl Confinement {
    /// Returns the support of this computer, which is detected once.
    pub fn of_this_computer() -> &'static Self {
        static FOUND: LazyLock<Confinement> =
            LazyLock::new(|| Confinement::find(&std::env::var(SANDBOX_VARIABLE).unwrap_or_default()));
        &FOUND
    }

    /// Returns the support of this computer with this kind of sandbox; `None` if it does not work here.
    pub fn of_kind(level: Level) -> Option<Self> {
        let found = Self::find(level.word());
        (found.level == level).then_some(found)
    }

    /// Returns a configuration without a sandbox, but with a supervisor if possible.
    pub(in crate::gateway) fn none() -> &'static Self {
        static NONE: LazyLock<Confinement> = LazyLock::new(|| Confinement {
            level: Level::None,
            reason: None,
            bubblewrap: PathBuf::new(),
            namespaces: false,
            untried: None,
            watcher: watcher(),
        });
        &NONE
    }

    /// Detects the kind of sandbox that a person wants, or the best one if that is empty.
    fn find(wanted: &str) -> Self {
        let (watcher, bubblewrap) = (watcher(), in_path("bwrap"));
        let mut untried = None;
        let mut works = |tried: Result<(), TrialFailure>| match tried {
            Ok(()) => true,
            Err(failure) => {
                if failure.may_pass {
                    untried.get_or_insert(failure.why);
                }
                false
            }
        };
        let (level, reason) = choose(
            wanted,
            |level| match (level, &watcher) {
                (Level::None, _) => true,
                (_, None) => false,
                (Level::Bubblewrap, _) => {
                    bubblewrap.as_deref().is_some_and(|program| works(try_out(|| bubblewrap_trial(program))))
                }
                (Level::Landlock, _) => landlock_works(),
            },
            bubblewrap.is_some(),
        );
        let watcher_of_landlock = watcher.as_deref().filter(|_| level == Level::Landlock);
        let namespaces = watcher_of_landlock.is_some_and(|watcher| works(try_out(|| namespaces_trial(watcher))));
        Self { level, reason, bubblewrap: bubblewrap.unwrap_or_default(), namespaces, untried, watcher }
    }

    /// Returns what a person has to know if a better sandbox could not be tried out, so that it is not used although it
    /// may work here.
    pub fn problem(&self) -> Option<Problem> {
        let why = self.untried.as_ref()?;
        let what = format!("a better sandbox could not be tried out, so this room does without it: {why}");
        Some(Problem::warning("confinement", what, "close the room and open it again when the computer is less busy"))
    }

    /// Returns the kind of sandbox that is used.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Whether rights, times and attributes of guarded files have to be put back: the system cannot keep programs from
    /// changing them.
    pub(in crate::gateway) fn has_to_put_back(&self) -> bool {
        self.level == Level::Landlock && !self.namespaces
    }

    /// Describes the sandbox that is used, and why a better one is not, for a person.
    pub fn summary(&self) -> String {
        let mut words = self.level.description().to_owned();
        if self.has_to_put_back() {
            words.push_str(
                ", can send datagrams (UDP), and can change rights and times of files, which are put back in guarded \
                 places (this system does not let them have namespaces)",
            );
        }
        match &self.reason {
            Some(reason) => format!("{words} ({reason})"),
            None => words,
        }
    }

    /// Returns what a person can do for a better sandbox; `None` if this is the best one.
    pub fn remedy(&self) -> Option<String> {
        let is_chosen = std::env::var_os(SANDBOX_VARIABLE).is_some_and(|wanted| !wanted.is_empty());
        match self.level {
            Level::Bubblewrap => None,
            _ if !cfg!(target_os = "linux") => None,
            _ if is_chosen => Some(format!("unset {SANDBOX_VARIABLE}")),
            _ => Some("install bubblewrap, and make sure that the system allows user namespaces".to_owned()),
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
            let variable = |name: &str| std::env::var_os(name).filter(|value| Path::new(value).is_absolute());
            all.extend(variable("HOME").into_iter().flat_map(|home| ["--home".into(), home]));
            let own = ["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"].into_iter().filter_map(variable);
            let hidden = own.chain(rights.hidden.iter().map(Into::into));
            all.extend(hidden.flat_map(|folder| ["--hide".into(), folder]));
        }
        if self.level == Level::Landlock {
            // Beside a program that runs for days, they are compared after each call (`attribute_watch`).
            let put_back = rights.new_entries.then_some("--put-back");
            all.extend(self.namespaces.then_some("--namespaces").into_iter().chain(put_back).map(OsString::from));
        }
        if self.level == Level::Bubblewrap {
            all.extend(["--bubblewrap".into(), self.bubblewrap.clone().into()]);
            if rights.new_entries {
                all.push("--new-entries".into());
            }
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

/// Chooses the kind of sandbox: the one that a person wants, otherwise the best one that works. Also returns the reason if
/// that is worth mentioning.
fn choose(wanted: &str, mut works: impl FnMut(Level) -> bool, has_bubblewrap: bool) -> (Level, Option<String>) {
    if wanted.is_empty() {
        let best = Level::ALL.into_iter().find(|level| works(*level)).unwrap_or(Level::None);
        let is_forbidden = has_bubblewrap && best != Level::Bubblewrap;
        let reason = "bubblewrap is installed, but this system does not let it create user namespaces";
        return (best, is_forbidden.then(|| reason.to_owned()));
    }
    match Level::ALL.into_iter().find(|level| level.word() == wanted) {
        Some(level) if works(level) => (level, Some(format!("chosen by {SANDBOX_VARIABLE}"))),
        Some(_) => (Level::None, Some(format!("{SANDBOX_VARIABLE} is {wanted}, which does not work here"))),
        None => {
            let all = Level::ALL.map(Level::word).join(", ");
            (Level::None, Some(format!("{SANDBOX_VARIABLE} is {wanted:?}, which is none of {all}")))
        }
    }
}

#[cfg(target_os = "linux")]
fn landlock_works() -> bool {
    super::landlock_access::is_supported()
}

#[cfg(not(target_os = "linux"))]
fn landlock_works() -> bool {
    false
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
pub(in crate::gateway) fn own_program() -> Option<PathBuf> {
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
            reason: None,
            bubblewrap: "/bwrap".into(),
            namespaces: true,
            untried: None,
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
        let landlock = wrapped(Level::Landlock, Some("/workshop"), false).join(" ");
        assert!(!landlock.contains("bubblewrap") && !landlock.contains("--network"), "{landlock}");
        for (words, parts) in [
            (landlock, ["--within /w --own /home/me/.agent", "--hide /keys --namespaces --put-back", "-- git --all"]),
            (
                wrapped(Level::Bubblewrap, Some("/workshop"), true).join(" "),
                [
                    "--within /w --network --own /home/me/.agent",
                    "--hide /keys --bubblewrap /bwrap --new-entries",
                    "-- git --all",
                ],
            ),
        ] {
            for part in parts {
                assert!(words.contains(part), "{part} in {words}");
            }
        }
    }

    #[test]
    fn a_person_chooses_a_sandbox_that_works_or_every_command_needs_approval() {
        let landlock_only = |level| level != Level::Bubblewrap;
        let chosen = |wanted: &str| choose(wanted, landlock_only, true);
        assert!(matches!(chosen(""), (Level::Landlock, Some(reason)) if reason.contains("user namespaces")));
        assert!(matches!(chosen("landlock"), (Level::Landlock, Some(reason)) if reason.contains("chosen by")));
        assert!(matches!(chosen("none"), (Level::None, Some(reason)) if reason.contains("chosen by")));
        assert!(matches!(chosen("bubblewrap"), (Level::None, Some(reason)) if reason.contains("does not work here")));
        assert!(matches!(chosen("Landlock"), (Level::None, Some(reason)) if reason.contains("none of")));
        assert_eq!(choose("", |_| true, true), (Level::Bubblewrap, None));
        assert_eq!(choose("", landlock_only, false), (Level::Landlock, None));
        assert_eq!(choose("", |level| level == Level::None, false), (Level::None, None));
    }

    #[test]
    fn a_person_is_told_if_a_better_sandbox_could_not_be_tried_out() {
        let mut confinement = Confinement::none().clone();
        assert_eq!(confinement.problem(), None);
        confinement.untried = Some("bwrap: Resource temporarily unavailable".to_owned());
        let problem = confinement.problem().expect("it is told");
        assert!(problem.what.contains("Resource temporarily unavailable") && !problem.remedy.is_empty(), "{problem}");
    }
}
