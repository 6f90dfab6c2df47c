//! The kinds of sandbox that work on this computer. Tests of programs run in each of them, so that they depend on none.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

use agent_workshop::gateway::sandbox::{Confinement, Level, SANDBOX_VARIABLE, set_supervisor};
use libtest_mimic::Trial;

use crate::peers::is_ignored;
use crate::program::workshop;

/// The kinds of sandbox that work here; running without one always does.
pub static MODES: LazyLock<Vec<Level>> = LazyLock::new(|| {
    set_supervisor(Path::new(env!("CARGO_BIN_EXE_workshop")));
    let works = |level: &Level| Confinement::of_kind(*level).is_some();
    let modes: Vec<Level> = Level::ALL.into_iter().filter(works).collect();
    for missing in Level::ALL.into_iter().filter(|level| !modes.contains(level)) {
        eprintln!("not tested here: {} does not work on this computer", missing.word());
    }
    modes
});

/// The kinds that restrict programs.
pub fn sandboxes() -> impl Iterator<Item = Level> {
    MODES.iter().copied().filter(|level| *level != Level::None)
}

/// Runs the program in this kind of sandbox.
pub fn workshop_in(level: Level, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = workshop(folder, arguments);
    command.env(SANDBOX_VARIABLE, level.word());
    command
}

pub fn output_in(level: Level, folder: &Path, arguments: &[&str]) -> Output {
    workshop_in(level, folder, arguments).output().unwrap()
}

pub fn succeed_in(level: Level, folder: &Path, arguments: &[&str]) -> String {
    let output = output_in(level, folder, arguments);
    assert!(
        output.status.success(),
        "{}: {arguments:?}: {}\n{}",
        level.word(),
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a test that starts programs in this process, once in each kind of sandbox: in a process of its own, since the kind
/// is detected once. A person who chose a kind gets only that one.
pub fn in_each(name: &str, test: fn(Level)) {
    if std::env::var_os(SANDBOX_VARIABLE).is_some() {
        set_supervisor(Path::new(env!("CARGO_BIN_EXE_workshop")));
        return test(Confinement::of_this_computer().level());
    }
    for level in MODES.iter() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let ended = command.args(["--exact", name]).env(SANDBOX_VARIABLE, level.word()).output().unwrap();
        let output = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success() && output.contains("1 passed"), "{}: {output}", level.word());
    }
}

/// Ignores tests whose programs are written in Python where that is not installed.
pub fn with_python(what: &str, cases: Vec<Trial>) -> Vec<Trial> {
    let missing = Command::new("python3").arg("--version").output().err().map(|_| "python3");
    let ignored = is_ignored(what, missing);
    cases.into_iter().map(|case| case.with_ignored_flag(ignored)).collect()
}
