//! The kinds of sandbox that work on this computer. Tests of programs run in each of them, so that they depend on none.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use agent_workshop::gateway::sandbox::{Confinement, Level, SANDBOX_VARIABLE, set_supervisor};
use libtest_mimic::Trial;

use crate::peers::is_ignored;
use crate::program::workshop;

/// The environment variable with which a test runs as on a system that does not let programs under Landlock have
/// namespaces.
const ALONE_VARIABLE: &str = "WORKSHOP_TEST_LANDLOCK_ALONE";

/// Sets the program that supervises others in this process.
pub fn use_supervisor() {
    match std::env::var_os(ALONE_VARIABLE) {
        Some(_) => set_supervisor(&supervisor_without_namespaces()),
        None => set_supervisor(Path::new(env!("CARGO_BIN_EXE_workshop"))),
    }
}

/// Whether programs that are started in this process run under Landlock without namespaces.
pub fn is_landlock_alone() -> bool {
    Confinement::of_this_computer().summary().contains("put back in guarded places")
}

/// Returns a supervisor that says that there are no namespaces.
fn supervisor_without_namespaces() -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("supervisor-{}.sh", std::process::id()));
    let text = format!(
        "#!/bin/sh\nfor word; do\n  case $word in\n    --) break ;;\n    --try-namespaces) exit 1 ;;\n  esac\ndone\n\
         exec '{}' \"$@\"\n",
        env!("CARGO_BIN_EXE_workshop")
    );
    // Tests of this process may set it at once.
    if !file.is_file() {
        let beside = file.with_extension("new");
        std::fs::write(&beside, text).unwrap();
        std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::rename(&beside, &file).unwrap();
    }
    file
}

/// The kinds of sandbox that work here; running without one always does.
pub static MODES: LazyLock<Vec<Level>> = LazyLock::new(|| {
    use_supervisor();
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
        use_supervisor();
        return test(Confinement::of_this_computer().level());
    }
    for level in MODES.iter() {
        run_again(name, *level, None);
    }
}

/// Like [`in_each`], and also under Landlock as on a system that does not let programs have namespaces.
pub fn in_each_and_landlock_alone(name: &str, test: fn(Level)) {
    in_each(name, test);
    if std::env::var_os(SANDBOX_VARIABLE).is_none() && MODES.contains(&Level::Landlock) {
        run_again(name, Level::Landlock, Some(ALONE_VARIABLE));
    }
}

/// Runs a test of this program in a process of its own with this kind of sandbox, and with another variable set.
fn run_again(name: &str, level: Level, variable: Option<&str>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name]).env(SANDBOX_VARIABLE, level.word()).envs(variable.map(|variable| (variable, "1")));
    let ended = command.output().unwrap();
    let output = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && output.contains("1 passed"), "{} {variable:?}: {output}", level.word());
}

/// Ignores tests whose programs are written in Python where that is not installed.
pub fn with_python(what: &str, cases: Vec<Trial>) -> Vec<Trial> {
    let missing = Command::new("python3").arg("--version").output().err().map(|_| "python3");
    let ignored = is_ignored(what, missing);
    cases.into_iter().map(|case| case.with_ignored_flag(ignored)).collect()
}
