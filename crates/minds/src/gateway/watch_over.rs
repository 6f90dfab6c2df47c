//! What this program does when it watches over another: it starts it, ends with it, and takes all that it started along.
//! Runs in a process of its own, between the program and the one that started it.

use std::process::ExitCode;

/// What the watcher is told.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    /// Where alone the program may write; anywhere where absent.
    write: Option<String>,
    no_network: bool,
    /// The memory of each process, in bytes.
    memory: Option<u64>,
    /// So many processes at once.
    processes: Option<usize>,
    words: Vec<String>,
}

impl Told {
    fn of(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut told = Self::default();
        loop {
            match arguments.next()?.as_str() {
                "--write" => told.write = Some(arguments.next()?),
                "--no-network" => told.no_network = true,
                "--memory" => told.memory = Some(arguments.next()?.parse().ok()?),
                "--processes" => told.processes = Some(arguments.next()?.parse().ok()?),
                "--" => break,
                _ => return None,
            }
        }
        told.words = arguments.collect();
        (!told.words.is_empty()).then_some(told)
    }
}

/// Watches over a program; the arguments are those behind [`WATCH_WORD`](super::confine::WATCH_WORD).
pub fn main(arguments: impl Iterator<Item = String>) -> ExitCode {
    let Some(told) = Told::of(arguments) else { return ExitCode::from(2) };
    system::watch(&told)
}

/// Whether Landlock may be used here.
pub(super) fn landlock_works() -> bool {
    system::landlock_works()
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::{BTreeMap, BTreeSet};
    use std::io::ErrorKind;
    use std::path::Path;
    use std::process::{Command, ExitCode};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetStatus,
    };
    use rustix::process::{
        Pid, Resource, Rlimit, Signal, WaitOptions, getpid, getppid, kill_process, set_child_subreaper,
        set_parent_process_death_signal, setrlimit, wait, waitpid,
    };

    use super::Told;

    /// The exit code of a program that cannot be started.
    const NOT_STARTED: u8 = 127;
    /// The exit code where it started too many others.
    const TOO_MANY: u8 = 137;
    static ARE_TOO_MANY: AtomicBool = AtomicBool::new(false);
    /// How often they are counted.
    const COUNT_EVERY: Duration = Duration::from_millis(50);
    /// However fast it starts others, what is left is looked for no more often.
    const ROUNDS: usize = 200;

    pub(super) fn watch(told: &Told) -> ExitCode {
        let parent = getppid();
        // Whatever the program leaves behind becomes this process's child, and this one is told when its parent ends.
        let is_ready = set_child_subreaper(Some(getpid())).is_ok()
            && set_parent_process_death_signal(Some(Signal::TERM)).is_ok()
            && ctrlc::set_handler(|| {
                end_all();
                std::process::exit(143);
            })
            .is_ok();
        // It may have ended before it was asked about.
        if !is_ready || getppid() != parent {
            return ExitCode::from(NOT_STARTED);
        }
        if let Some(folder) = &told.write
            && !confine(Path::new(folder), told.no_network)
        {
            return ExitCode::from(NOT_STARTED);
        }
        if let Some(bytes) = told.memory {
            let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            if setrlimit(Resource::Data, limit).is_err() {
                return ExitCode::from(NOT_STARTED);
            }
        }
        if let Some(most) = told.processes {
            std::thread::spawn(move || {
                loop {
                    std::thread::sleep(COUNT_EVERY);
                    if descendants().len() > most {
                        ARE_TOO_MANY.store(true, Ordering::SeqCst);
                        end_all();
                    }
                }
            });
        }
        let child = match Command::new(&told.words[0]).args(&told.words[1..]).spawn() {
            Ok(child) => child,
            Err(error) => {
                return ExitCode::from(if error.kind() == ErrorKind::NotFound { NOT_STARTED } else { 126 });
            }
        };
        let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
            return ExitCode::from(NOT_STARTED);
        };
        let status = waitpid(Some(pid), WaitOptions::empty());
        end_all();
        if ARE_TOO_MANY.load(Ordering::SeqCst) {
            return ExitCode::from(TOO_MANY);
        }
        let code = status.ok().flatten().and_then(|(_, status)| status.exit_status());
        ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }

    /// Ends everything that descends from this process.
    fn end_all() {
        for _ in 0..ROUNDS {
            let descendants = descendants();
            if descendants.is_empty() {
                return;
            }
            for pid in descendants {
                // It may have ended meanwhile.
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
            // The name in brackets may hold anything; behind it stand the state and the parent.
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

    /// Lets this process and all that it starts write only below this folder; whether that could be done.
    fn confine(folder: &Path, no_network: bool) -> bool {
        let restricted = || -> Result<RulesetStatus, landlock::RulesetError> {
            let abi = ABI::V4;
            let (all, read) = (AccessFs::from_all(abi), AccessFs::from_read(abi));
            let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(all)?;
            if no_network {
                ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
            }
            let mut ruleset = ruleset.create()?.add_rule(PathBeneath::new(PathFd::new("/").map_err(wrong)?, read))?;
            for place in [folder, Path::new("/dev"), Path::new("/proc/self"), &std::env::temp_dir()] {
                if let Ok(place) = PathFd::new(place) {
                    ruleset = ruleset.add_rule(PathBeneath::new(place, all))?;
                }
            }
            Ok(ruleset.restrict_self()?.ruleset)
        };
        matches!(restricted(), Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced))
    }

    /// A place that cannot be opened is handled as an empty rule set would be.
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

    use super::Told;

    pub(super) fn watch(told: &Told) -> ExitCode {
        let status = Command::new(&told.words[0]).args(&told.words[1..]).status();
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
    fn the_watcher_knows_its_words_from_the_programs() {
        let told = |line: &str| Told::of(line.split(' ').map(str::to_owned));
        let words = |line: &str| line.split(' ').map(str::to_owned).collect();
        assert_eq!(told("-- git --write"), Some(Told { words: words("git --write"), ..Told::default() }));
        let confined = Told { write: Some("/w".into()), no_network: true, words: words("git"), ..Told::default() };
        assert_eq!(told("--write /w --no-network -- git"), Some(confined));
        let limited = Told { memory: Some(1_024), processes: Some(7), words: words("git"), ..Told::default() };
        assert_eq!(told("--memory 1024 --processes 7 -- git"), Some(limited));
        for odd in ["git", "--", "--write", "--all -- git", "--memory much -- git"] {
            assert_eq!(told(odd), None, "{odd}");
        }
    }
}
