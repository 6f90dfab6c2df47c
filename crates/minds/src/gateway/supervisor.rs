//! The supervisor of a program: it starts the program, ends with it, and ends everything that the program started. It
//! runs in its own process, between the program and this one.

use std::process::ExitCode;

/// The arguments of the supervisor.
#[derive(Debug, Default, PartialEq, Eq)]
struct SupervisorArguments {
    /// The workspace: the program can only write inside it. `None` for no restriction.
    within: Option<String>,
    /// The path of bubblewrap, if it is used as the sandbox.
    bubblewrap: Option<String>,
    /// Whether the program can create top-level entries of the workspace.
    new_entries: bool,
    network: bool,
    /// The person's home.
    home: Option<String>,
    /// Folders and files outside of the workspace that the program can use.
    own: Vec<String>,
    /// Folders that the program cannot see.
    hidden: Vec<String>,
    /// The memory of all processes together, in bytes.
    memory: Option<u64>,
    /// The maximum number of simultaneous processes.
    processes: Option<usize>,
    /// The maximum size of each file that it writes, in bytes.
    file_size: Option<u64>,
    words: Vec<String>,
}

impl SupervisorArguments {
    fn of(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Self::default();
        loop {
            match arguments.next()?.as_str() {
                "--within" => options.within = Some(arguments.next()?),
                "--bubblewrap" => options.bubblewrap = Some(arguments.next()?),
                "--new-entries" => options.new_entries = true,
                "--network" => options.network = true,
                "--home" => options.home = Some(arguments.next()?),
                "--own" => options.own.push(arguments.next()?),
                "--hide" => options.hidden.push(arguments.next()?),
                "--memory" => options.memory = Some(arguments.next()?.parse().ok()?),
                "--processes" => options.processes = Some(arguments.next()?.parse().ok()?),
                "--file-size" => options.file_size = Some(arguments.next()?.parse().ok()?),
                "--" => break,
                _ => return None,
            }
        }
        options.words = arguments.collect();
        (!options.words.is_empty()).then_some(options)
    }
}

/// Supervises a program; the arguments are those after
/// [`SUPERVISOR_ARGUMENT`](super::sandbox::SUPERVISOR_ARGUMENT). Notes for the reader of the program's output are passed
/// to `say`.
pub fn main(arguments: impl Iterator<Item = String>, say: fn(&str)) -> ExitCode {
    let Some(options) = SupervisorArguments::of(arguments) else { return ExitCode::from(2) };
    system::watch(&options, say)
}

/// Whether Landlock can be used on this system.
pub(super) fn landlock_works() -> bool {
    system::landlock_works()
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::{BTreeMap, BTreeSet};
    use std::ffi::OsString;
    use std::fs::DirBuilder;
    use std::io::{self, ErrorKind};
    use std::os::unix::fs::DirBuilderExt;
    use std::path::{Path, PathBuf};
    use std::process::{Command, ExitCode};
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Mutex, PoisonError};
    use std::thread::JoinHandle;
    use std::time::Duration;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetStatus, Scope,
    };
    use rustix::process::{
        Pid, Resource, Rlimit, Signal, WaitOptions, getpid, getppid, kill_process, set_child_subreaper,
        set_parent_process_death_signal, setrlimit, wait, waitpid,
    };

    use super::super::bubblewrap::Sandbox;
    use super::super::program_access::{EntryKind, ProgramAccess, WorkspaceEntry, entries};
    use super::super::sandbox_root::SandboxRoot;
    use super::SupervisorArguments;

    /// The exit code for a program that cannot be started.
    const NOT_STARTED: u8 = 127;
    /// The exit code for a program that exceeded a limit.
    const TOO_MUCH: u8 = 137;
    /// The limit that was exceeded, if any.
    static TAKEN_TOO_MUCH: Mutex<Option<String>> = Mutex::new(None);
    /// The top level of the workspace as the program sees it.
    static STAGE: Mutex<Option<SandboxRoot>> = Mutex::new(None);
    /// The interval at which the resources are counted.
    const COUNT_EVERY: Duration = Duration::from_millis(50);
    /// The maximum number of passes over the remaining processes, however fast they start others.
    const ROUNDS: usize = 200;
    /// The folder of agents' worktrees, relative to the workspace.
    const WORKTREES: &str = ".workshop/worktrees";

    pub(super) fn watch(options: &SupervisorArguments, say: fn(&str)) -> ExitCode {
        let say = move |what: &str| say(&format!("workshop: {what}"));
        let parent = getppid();
        // Processes that the program leaves behind become children of this process, and this one gets a signal when its
        // parent ends.
        let is_ready = set_child_subreaper(Some(getpid())).is_ok()
            && set_parent_process_death_signal(Some(Signal::TERM)).is_ok()
            && ctrlc::set_handler(move || {
                end_all();
                finish_stage(say);
                std::process::exit(143);
            })
            .is_ok();
        // The parent may have ended before the signal was requested.
        if !is_ready || getppid() != parent {
            return ExitCode::from(NOT_STARTED);
        }
        let confined = match &options.within {
            None => Ok((Vec::new(), None)),
            Some(workspace) => confine(options, Path::new(workspace)),
        };
        let (before, temporary) = match confined {
            Ok(confined) => confined,
            Err(error) => {
                say(&format!("the sandbox could not be set up: {error}"));
                return ExitCode::from(NOT_STARTED);
            }
        };
        for (resource, limit) in [(Resource::Data, options.memory), (Resource::Fsize, options.file_size)] {
            let limit = limit.map(|bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) });
            if limit.is_some_and(|limit| setrlimit(resource, limit).is_err()) {
                return ExitCode::from(NOT_STARTED);
            }
        }
        if options.memory.is_some() || options.processes.is_some() {
            let (memory, processes) = (options.memory.unwrap_or(u64::MAX), options.processes.unwrap_or(usize::MAX));
            std::thread::spawn(move || count(memory, processes));
        }
        let mut words = before.into_iter().chain(options.words.iter().map(OsString::from));
        let Some(program) = words.next() else { return ExitCode::from(NOT_STARTED) };
        let mut command = Command::new(program);
        command.args(words);
        command.envs(temporary.as_ref().map(|temporary| ("TMPDIR", &temporary.folder)));
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                finish_stage(say);
                return ExitCode::from(if error.kind() == ErrorKind::NotFound { NOT_STARTED } else { 126 });
            }
        };
        let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
            return ExitCode::from(NOT_STARTED);
        };
        let status = waitpid(Some(pid), WaitOptions::empty());
        end_all();
        finish_stage(say);
        if let Some(temporary) = temporary {
            temporary.remove();
        }
        if let Some(what) = TAKEN_TOO_MUCH.lock().unwrap_or_else(PoisonError::into_inner).take() {
            say(&what);
            return ExitCode::from(TOO_MUCH);
        }
        let code = status.ok().flatten().and_then(|(_, status)| status.exit_status());
        ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }

    /// Moves the program's new files into the workspace, once. A second caller waits until that is done.
    fn finish_stage(say: impl Fn(&str)) {
        let mut stage = STAGE.lock().unwrap_or_else(PoisonError::into_inner);
        for note in stage.take().map(SandboxRoot::finish).unwrap_or_default() {
            say(&note);
        }
    }

    /// Ends the program if all its processes together use too much.
    fn count(memory: u64, processes: usize) {
        loop {
            std::thread::sleep(COUNT_EVERY);
            let running = descendants();
            let what = match () {
                () if running.len() > processes => format!("it had more than {processes} processes at once"),
                () if takes_more_than(memory, &running) => {
                    format!("its processes used more than {} MiB of memory in total", memory / (1024 * 1024))
                }
                () => continue,
            };
            *TAKEN_TOO_MUCH.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(format!("the program was killed: {what}"));
            end_all();
        }
    }

    /// Whether processes together use more memory than this, in bytes. Shared memory counts once; determining that
    /// takes longer, so it is done only if it matters.
    fn takes_more_than(memory: u64, running: &[Pid]) -> bool {
        let all = |file: &str, key: &str| -> u64 {
            let of = |pid: &Pid| kilobytes(&format!("/proc/{}/{file}", pid.as_raw_nonzero()), key).unwrap_or(0);
            running.iter().map(of).sum::<u64>().saturating_mul(1024)
        };
        memory < u64::MAX && all("status", "RssAnon:") > memory && all("smaps_rollup", "Pss_Anon:") > memory
    }

    /// Returns the value of a key in a `/proc` file, in kilobytes.
    fn kilobytes(file: &str, key: &str) -> Option<u64> {
        let text = std::fs::read_to_string(file).ok()?;
        text.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().next()?.parse().ok()
    }

    /// Sets up the sandbox. Returns the arguments before the program's own, and its temporary folder if it has one.
    fn confine(options: &SupervisorArguments, workspace: &Path) -> io::Result<(Vec<OsString>, Option<Temporary>)> {
        let workspace = workspace.canonicalize()?;
        let entries = entries(&workspace)?;
        let worktree = worktree(&workspace);
        let Some(bubblewrap) = &options.bubblewrap else {
            let temporary = temporary_beside(&workspace)?;
            let writable = temporary.as_ref().map_or_else(std::env::temp_dir, |temporary| temporary.folder.clone());
            let own = options.own.iter().map(PathBuf::from);
            let also: Vec<PathBuf> = std::iter::once(writable).chain(worktree).chain(own).collect();
            return match restrict(&workspace, &entries, &also, options.network) {
                true => Ok((Vec::new(), temporary)),
                false => Err(ErrorKind::Unsupported.into()),
            };
        };
        let stage = options.new_entries.then(|| SandboxRoot::make(&workspace, &entries)).transpose()?;
        let hidden: Vec<PathBuf> = options.hidden.iter().map(PathBuf::from).collect();
        let own: Vec<PathBuf> = options.own.iter().map(PathBuf::from).collect();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let programs: Vec<PathBuf> =
            std::env::split_paths(&path).chain(options.words.first().map(PathBuf::from)).collect();
        let sandbox = Sandbox {
            program: Path::new(bubblewrap),
            workspace: &workspace,
            entries: &entries,
            stage: stage.as_ref().map(SandboxRoot::folder),
            worktree: worktree.as_deref(),
            own: &own,
            hidden: &hidden,
            home: options.home.as_deref().map(Path::new),
            programs: &programs,
            network: options.network,
            temporary_bytes: options.memory,
        };
        let words = sandbox.arguments();
        *STAGE.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        Ok((words, None))
    }

    /// Returns the agent's worktree in which the program is started, if it is one.
    fn worktree(workspace: &Path) -> Option<PathBuf> {
        let all = workspace.join(WORKTREES);
        let here = std::env::current_dir().ok()?.canonicalize().ok()?;
        let own = here.strip_prefix(&all).ok()?.components().next()?;
        Some(all.join(own))
    }

    /// The temporary folder of one program.
    struct Temporary {
        folder: PathBuf,
        /// The thread that deletes it, because the restricted one must not.
        remover: JoinHandle<()>,
        is_over: Sender<()>,
    }

    impl Temporary {
        fn make() -> io::Result<Self> {
            let folder = std::env::temp_dir().join(format!("workshop-program-{}", std::process::id()));
            DirBuilder::new().mode(0o700).create(&folder)?;
            let (is_over, over) = channel();
            let removed = folder.clone();
            let remover = std::thread::spawn(move || {
                // A disconnection also means that the folder is no longer needed.
                let _ = over.recv();
                let _ = std::fs::remove_dir_all(removed);
            });
            Ok(Self { folder, remover, is_over })
        }

        fn remove(self) {
            drop(self.is_over);
            // Whether it could be deleted does not matter to the program.
            let _ = self.remover.join();
        }
    }

    /// Creates a temporary folder if the system's contains the workspace, in which nothing could be protected
    /// otherwise.
    fn temporary_beside(workspace: &Path) -> io::Result<Option<Temporary>> {
        let everybodys = std::env::temp_dir().canonicalize()?;
        workspace.starts_with(everybodys).then(Temporary::make).transpose()
    }

    /// Ends all descendants of this process.
    fn end_all() {
        for _ in 0..ROUNDS {
            let descendants = descendants();
            if descendants.is_empty() {
                return;
            }
            for pid in descendants {
                // The process may have ended meanwhile.
                let _ = kill_process(pid, Signal::KILL);
            }
            while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
        }
    }

    fn descendants() -> Vec<Pid> {
        let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
            // The name in parentheses may contain anything; it is followed by the state and the parent.
            let mut behind = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
            let (state, parent) = (behind.next(), behind.next().and_then(|parent| parent.parse().ok()));
            if let (Some(parent), false) = (parent, state == Some("Z")) {
                children.entry(parent).or_default().push(pid);
            }
        }
        let (mut found, mut due) = (BTreeSet::new(), vec![getpid().as_raw_nonzero().get()]);
        while let Some(pid) = due.pop() {
            due.extend(children.get(&pid).into_iter().flatten().filter(|child| found.insert(**child)));
        }
        found.into_iter().filter_map(Pid::from_raw).collect()
    }

    /// Restricts the writes of this process and its children to the writable entries of the workspace; returns whether
    /// that was possible. Permissions apply to everything below a folder, so the top level of the workspace itself is
    /// not writable.
    fn restrict(workspace: &Path, entries: &[WorkspaceEntry], also: &[PathBuf], network: bool) -> bool {
        let abi = ABI::V4;
        let (all, read, of_file) = (AccessFs::from_all(abi), AccessFs::from_read(abi), AccessFs::from_file(abi));
        let writable = entries.iter().filter(|entry| entry.access == ProgramAccess::Write);
        let writable = writable.filter_map(|entry| match entry.kind {
            EntryKind::Folder => Some((workspace.join(&entry.name), all)),
            EntryKind::File => Some((workspace.join(&entry.name), of_file)),
            EntryKind::Link(_) => None,
        });
        let also = also.iter().cloned().chain(["/dev", "/proc/self"].map(PathBuf::from));
        let also = also.map(|path| if path.is_file() { (path, of_file) } else { (path, all) });
        let places: Vec<(PathBuf, BitFlags<AccessFs>)> = writable.chain(also).collect();
        let restricted = || -> Result<RulesetStatus, landlock::RulesetError> {
            let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(all)?;
            ruleset = ruleset.scope(Scope::from_all(ABI::V6))?;
            if !network {
                ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
            }
            let mut ruleset = ruleset.create()?.add_rule(PathBeneath::new(PathFd::new("/").map_err(wrong)?, read))?;
            for (place, access) in places {
                if let Ok(place) = PathFd::new(place) {
                    ruleset = ruleset.add_rule(PathBeneath::new(place, access))?;
                }
            }
            Ok(ruleset.restrict_self()?.ruleset)
        };
        matches!(restricted(), Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced))
    }

    /// Handles a path that cannot be opened like an invalid rule set.
    fn wrong(_: landlock::PathFdError) -> landlock::RulesetError {
        landlock::RulesetError::AddRules(landlock::AddRulesError::Fs(landlock::AddRuleError::Compat(
            landlock::CompatError::Access(landlock::AccessError::Empty),
        )))
    }

    pub(super) fn landlock_works() -> bool {
        let created = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(ABI::V1))
            .and_then(Ruleset::create);
        created.is_ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::process::{Command, ExitCode};

    use super::SupervisorArguments;

    pub(super) fn watch(options: &SupervisorArguments, _: fn(&str)) -> ExitCode {
        let status = Command::new(&options.words[0]).args(&options.words[1..]).status();
        let code = status.ok().and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
        ExitCode::from(code.unwrap_or(1))
    }

    pub(super) fn landlock_works() -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_supervisor_separates_its_arguments_from_the_programs() {
        let options = |line: &str| SupervisorArguments::of(line.split(' ').map(str::to_owned));
        let words = |line: &str| line.split(' ').map(str::to_owned).collect();
        assert_eq!(
            options("-- git --within"),
            Some(SupervisorArguments { words: words("git --within"), ..SupervisorArguments::default() })
        );
        let confined = SupervisorArguments {
            within: Some("/w".into()),
            network: true,
            words: words("git"),
            ..SupervisorArguments::default()
        };
        assert_eq!(options("--within /w --network -- git"), Some(confined));
        let limited = SupervisorArguments {
            memory: Some(1_024),
            processes: Some(7),
            file_size: Some(9),
            words: words("git"),
            ..SupervisorArguments::default()
        };
        assert_eq!(options("--memory 1024 --processes 7 --file-size 9 -- git"), Some(limited));
        let hiding = SupervisorArguments {
            hidden: words("/a /b"),
            home: Some("/h".into()),
            words: words("git"),
            ..SupervisorArguments::default()
        };
        assert_eq!(options("--hide /a --home /h --hide /b -- git"), Some(hiding));
        for odd in ["git", "--", "--within", "--all -- git", "--memory much -- git"] {
            assert_eq!(options(odd), None, "{odd}");
        }
    }
}
