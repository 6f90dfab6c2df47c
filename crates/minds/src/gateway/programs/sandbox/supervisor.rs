//! The supervisor of a program: it starts the program, ends with it, and ends everything that the program started. It
//! runs in its own process, between the program and this one. Under Landlock, it starts this program once more
//! ([`super::confined_start`]), which gives up its rights and becomes the program: the supervisor keeps its own.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::hidden_paths;

/// The argument that starts this program as the supervisor of another.
pub const SUPERVISOR_ARGUMENT: &str = "__watch-over";
/// The argument with which the supervisor starts this program as the one that becomes the program.
const START: &str = "--start";
/// The argument with which this program finds out whether the system lets it use namespaces.
pub(super) const TRY_NAMESPACES: &str = "--try-namespaces";
/// The variable with the path of the file to which the supervisor writes what it put back, where the program can neither
/// write nor read it.
pub(in crate::gateway::programs) const PUT_BACK_VARIABLE: &str = "WORKSHOP_PUT_BACK";
/// The exit code for a program that cannot be started.
const NOT_STARTED: u8 = 127;

/// The arguments of the supervisor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SupervisorArguments {
    /// Whether this process restricts itself and becomes the program, instead of supervising it.
    is_start: bool,
    /// Whether this process only finds out whether it can use namespaces.
    is_trial: bool,
    /// Whether the program gets namespaces of its own under Landlock.
    pub(in crate::gateway) namespaces: bool,
    /// Whether rights and times of guarded files are put back when the program has ended.
    put_back: bool,
    /// The workspace: the program can only write inside it. `None` for no restriction.
    within: Option<String>,
    /// The path of bubblewrap, if it is used as the sandbox.
    bubblewrap: Option<String>,
    /// Whether the program can create top-level entries of the workspace.
    new_entries: bool,
    /// Whether the program can use the network.
    pub(in crate::gateway) network: bool,
    /// The person's home.
    home: Option<String>,
    /// Folders and files outside of the workspace that the program can use.
    pub(in crate::gateway) own: Vec<String>,
    /// Folders and files that the program cannot see.
    hidden: Vec<String>,
    /// The memory of all processes together, in bytes.
    memory: Option<u64>,
    /// The maximum number of simultaneous processes.
    processes: Option<usize>,
    /// The maximum size of each file that it writes, in bytes.
    file_size: Option<u64>,
    /// The program and its arguments.
    pub(in crate::gateway) words: Vec<String>,
}

impl SupervisorArguments {
    fn of(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Self::default();
        loop {
            match arguments.next()?.as_str() {
                START => options.is_start = true,
                TRY_NAMESPACES => options.is_trial = true,
                "--namespaces" => options.namespaces = true,
                "--put-back" => options.put_back = true,
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

    /// Returns the files and folders that the program cannot see.
    pub(super) fn all_hidden(&self) -> Vec<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let programs: Vec<PathBuf> =
            std::env::split_paths(&path).chain(self.words.first().map(PathBuf::from)).collect();
        let of_home = self.home().map(|home| hidden_paths::of_home(home, &programs)).unwrap_or_default();
        of_home.into_iter().chain(self.hidden.iter().map(PathBuf::from)).collect()
    }

    /// Returns the person's home.
    pub(in crate::gateway) fn home(&self) -> Option<&Path> {
        self.home.as_deref().map(Path::new)
    }
}

/// Supervises a program; the arguments are those after [`SUPERVISOR_ARGUMENT`]. Notes for the reader of the program's output are
/// passed to `say`.
pub fn main(arguments: impl Iterator<Item = String>, say: fn(&str)) -> ExitCode {
    let arguments: Vec<String> = arguments.collect();
    let Some(options) = SupervisorArguments::of(arguments.iter().cloned()) else { return ExitCode::from(2) };
    match () {
        () if options.is_trial => system::try_namespaces(say),
        () if options.is_start => system::start(&options, say),
        () => system::watch(&options, &arguments, say),
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::{BTreeMap, BTreeSet};
    use std::ffi::OsString;
    use std::fs::{OpenOptions, Permissions};
    use std::io::{self, ErrorKind, Write};
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    use std::path::{Path, PathBuf};
    use std::process::{Command, ExitCode};
    use std::sync::{Mutex, PoisonError};
    use std::time::Duration;

    use rustix::process::{
        Pid, Resource, Rlimit, Signal, WaitOptions, getpid, getppid, kill_process, set_child_subreaper,
        set_parent_process_death_signal, setrlimit, wait, waitpid,
    };
    use tempfile::{TempDir, TempPath};

    use super::super::attribute_reports::AttributeChange;
    use super::super::bubblewrap::Sandbox;
    use super::super::guarded_attributes::GuardedAttributes;
    use super::super::program_access::entries;
    use super::super::sandbox_root::SandboxRoot;
    use super::super::{confined_start, namespaces};
    use super::SUPERVISOR_ARGUMENT;
    use super::{NOT_STARTED, PUT_BACK_VARIABLE, START, SupervisorArguments};

    /// The exit code for a program that exceeded a limit.
    const TOO_MUCH: u8 = 137;
    /// The limit that was exceeded, if any.
    static TAKEN_TOO_MUCH: Mutex<Option<String>> = Mutex::new(None);
    /// What is left to do when the program has ended.
    static REMAINS: Mutex<Remains> = Mutex::new(Remains { guarded: None, stage: None, temporary: None });
    /// The interval at which the resources are counted.
    const COUNT_EVERY: Duration = Duration::from_millis(50);
    /// The maximum number of passes over the remaining processes, however fast they start others.
    const ROUNDS: usize = 200;

    /// What is left to do when a program has ended.
    struct Remains {
        /// The attributes that the program must not change.
        guarded: Option<GuardedAttributes>,
        /// The top level of the workspace as the program sees it.
        stage: Option<SandboxRoot>,
        /// What was only made for the program; it is deleted with this value.
        temporary: Option<Temporary>,
    }

    /// Something in the folder for temporary files. Its name is free, whatever others left there.
    #[expect(dead_code, reason = "they are kept until they are dropped")]
    enum Temporary {
        /// The empty file that hides others.
        File(TempPath),
        /// A folder for temporary files of the program.
        Folder(TempDir),
    }

    /// Enters namespaces; the exit code says whether that is possible.
    pub(super) fn try_namespaces(say: fn(&str)) -> ExitCode {
        match namespaces::enter(&[std::env::temp_dir()], false) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                say(&error.to_string());
                ExitCode::FAILURE
            }
        }
    }

    /// Restricts this process and becomes the program.
    pub(super) fn start(options: &SupervisorArguments, say: fn(&str)) -> ExitCode {
        let Some(workspace) = &options.within else { return ExitCode::from(2) };
        let error = match confined_start::restrict(options, Path::new(workspace)) {
            Ok(()) => confined_start::become_program(options),
            Err(error) => {
                say(&format!("workshop: the sandbox could not be set up: {error}"));
                return ExitCode::from(NOT_STARTED);
            }
        };
        say(&format!("workshop: {} could not be started: {error}", options.words[0]));
        code_of(&error)
    }

    /// Returns the exit code of a program that could not be started.
    fn code_of(error: &io::Error) -> ExitCode {
        ExitCode::from(if error.kind() == ErrorKind::NotFound { NOT_STARTED } else { 126 })
    }

    /// Supervises the program.
    pub(super) fn watch(options: &SupervisorArguments, arguments: &[String], say: fn(&str)) -> ExitCode {
        let say = move |what: &str| say(&format!("workshop: {what}"));
        let parent = getppid();
        // Processes that the program leaves behind become children of this process, and this one gets a signal when its
        // parent ends.
        let is_ready = set_child_subreaper(Some(getpid())).is_ok()
            && set_parent_process_death_signal(Some(Signal::TERM)).is_ok()
            && ctrlc::set_handler(move || {
                end_all();
                finish(say);
                std::process::exit(143);
            })
            .is_ok();
        // What was made for the program is removed, and the reader of its output is told why it was not started.
        let not_started = |code: ExitCode, why: String| {
            finish(say);
            say(&why);
            code
        };
        // The parent may have ended before the signal was requested.
        if !is_ready || getppid() != parent {
            return not_started(
                ExitCode::from(NOT_STARTED),
                "it could not be made sure that the program ends".to_owned(),
            );
        }
        let mut command = match command(options, arguments) {
            Ok(command) => command,
            Err(error) => {
                let why = format!("the sandbox could not be set up: {error}");
                return not_started(ExitCode::from(NOT_STARTED), why);
            }
        };
        if let Err(error) = limit(options) {
            return not_started(ExitCode::from(NOT_STARTED), format!("its limits could not be set: {error}"));
        }
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                let started = Path::new(command.get_program()).display();
                return not_started(code_of(&error), format!("{started} could not be started: {error}"));
            }
        };
        let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
            return not_started(ExitCode::from(NOT_STARTED), "it has no process id".to_owned());
        };
        let status = waitpid(Some(pid), WaitOptions::empty());
        end_all();
        finish(say);
        if let Some(what) = TAKEN_TOO_MUCH.lock().unwrap_or_else(PoisonError::into_inner).take() {
            say(&what);
            return ExitCode::from(TOO_MUCH);
        }
        let code = status.ok().flatten().and_then(|(_, status)| status.exit_status());
        ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }

    /// Sets the limits of this process, which the program inherits, and begins to count what all its processes use.
    fn limit(options: &SupervisorArguments) -> io::Result<()> {
        for (resource, bytes) in [(Resource::Data, options.memory), (Resource::Fsize, options.file_size)] {
            if bytes.is_some() {
                setrlimit(resource, Rlimit { current: bytes, maximum: bytes })?;
            }
        }
        if options.memory.is_some() || options.processes.is_some() {
            let (memory, processes) = (options.memory.unwrap_or(u64::MAX), options.processes.unwrap_or(usize::MAX));
            std::thread::Builder::new().name("limits".to_owned()).spawn(move || count(memory, processes))?;
        }
        Ok(())
    }

    /// Does what is left to do, once: puts back what the program must not change, moves its new files into the workspace
    /// and removes what was only made for it. A second caller waits until that is done.
    fn finish(say: impl Fn(&str)) {
        let mut remains = REMAINS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(guarded) = remains.guarded.take() {
            let changes = guarded.put_back();
            guarded.notes(&changes).iter().for_each(|note| say(note));
            if let Err(error) = write_changes(&changes) {
                say(&format!("this cannot be told to the person: {error}"));
            }
        }
        for note in remains.stage.take().map(SandboxRoot::finish).into_iter().flatten() {
            say(&note);
        }
        // Whether it can be deleted does not matter to the program.
        drop(remains.temporary.take());
    }

    /// Writes what was put back for the one who started this process, if there is anything to tell.
    fn write_changes(changes: &[AttributeChange]) -> io::Result<()> {
        let Some(file) = std::env::var_os(PUT_BACK_VARIABLE).filter(|_| !changes.is_empty()) else { return Ok(()) };
        let text = serde_json::to_vec(changes)?;
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?.write_all(&text)
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

    /// Returns the command that starts the program in its sandbox.
    fn command(options: &SupervisorArguments, arguments: &[String]) -> io::Result<Command> {
        let mut words = match (&options.within, &options.bubblewrap) {
            (None, _) => Vec::new(),
            (Some(workspace), Some(bubblewrap)) => in_bubblewrap(options, Path::new(workspace), bubblewrap)?,
            (Some(workspace), None) => {
                let workspace = Path::new(workspace).canonicalize()?;
                let temporary = temporary_beside(&workspace)?;
                let mut command = Command::new(std::env::current_exe()?);
                command.args([SUPERVISOR_ARGUMENT, START]).args(arguments);
                command.env_remove(PUT_BACK_VARIABLE);
                command.envs(temporary.as_ref().map(|temporary| ("TMPDIR", temporary.path())));
                let mut remains = REMAINS.lock().unwrap_or_else(PoisonError::into_inner);
                remains.temporary = temporary.map(Temporary::Folder);
                if options.put_back && !options.namespaces {
                    remains.guarded = Some(GuardedAttributes::of(&workspace, &entries(&workspace)?));
                }
                return Ok(command);
            }
        };
        words.extend(options.words.iter().map(OsString::from));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        Ok(command)
    }

    /// Returns the arguments before the program's own in bubblewrap.
    fn in_bubblewrap(options: &SupervisorArguments, workspace: &Path, bubblewrap: &str) -> io::Result<Vec<OsString>> {
        let workspace = workspace.canonicalize()?;
        let entries = entries(&workspace)?;
        let hiding = empty_file()?;
        let empty = hiding.to_path_buf();
        let mut remains = REMAINS.lock().unwrap_or_else(PoisonError::into_inner);
        remains.temporary = Some(Temporary::File(hiding));
        remains.stage = options.new_entries.then(|| SandboxRoot::make(&workspace, &entries)).transpose()?;
        let own: Vec<PathBuf> = options.own.iter().map(PathBuf::from).collect();
        let (worktree, hidden) = (confined_start::worktree(&workspace), options.all_hidden());
        let sandbox = Sandbox {
            program: Path::new(bubblewrap),
            workspace: &workspace,
            entries: &entries,
            stage: remains.stage.as_ref().map(SandboxRoot::folder),
            worktree: worktree.as_deref(),
            own: &own,
            hidden: &hidden,
            empty: &empty,
            home: options.home(),
            network: options.network,
            temporary_bytes: options.memory,
        };
        Ok(sandbox.arguments())
    }

    /// Creates the empty file that hides others.
    fn empty_file() -> io::Result<TempPath> {
        let readable = Permissions::from_mode(0o444);
        Ok(tempfile::Builder::new().prefix("workshop-empty-").permissions(readable).tempfile()?.into_temp_path())
    }

    /// Creates a temporary folder if the system's contains the workspace, in which nothing could be protected
    /// otherwise.
    fn temporary_beside(workspace: &Path) -> io::Result<Option<TempDir>> {
        let everybodys = std::env::temp_dir().canonicalize()?;
        if !workspace.starts_with(everybodys) {
            return Ok(None);
        }
        let private = Permissions::from_mode(0o700);
        tempfile::Builder::new().prefix("workshop-program-").permissions(private).tempdir().map(Some)
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
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::process::{Command, ExitCode};

    use super::SupervisorArguments;

    pub(super) fn try_namespaces() -> ExitCode {
        ExitCode::from(1)
    }

    pub(super) fn start(options: &SupervisorArguments, say: fn(&str)) -> ExitCode {
        watch(options, &[], say)
    }

    pub(super) fn watch(options: &SupervisorArguments, _: &[String], _: fn(&str)) -> ExitCode {
        let status = Command::new(&options.words[0]).args(&options.words[1..]).status();
        let code = status.ok().and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
        ExitCode::from(code.unwrap_or(1))
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
        assert!(options("--start --within /w -- git").is_some_and(|options| options.is_start));
        for odd in ["git", "--", "--within", "--all -- git", "--memory much -- git"] {
            assert_eq!(options(odd), None, "{odd}");
        }
    }
}
