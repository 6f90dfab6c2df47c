//! Trials of what this system permits a sandbox to do. One that fails because the computer is busy is made again, so that
//! a busy moment does not count as a refusal.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::supervisor::{SUPERVISOR_ARGUMENT, TRY_NAMESPACES};

/// The trial of whether bubblewrap is permitted to create a sandbox, which is not the case in some containers.
pub(super) fn bubblewrap_trial(bubblewrap: &Path) -> Command {
    let mut trial = Command::new(bubblewrap);
    trial.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--cap-drop", "ALL"]);
    trial.args(["--size", "4096", "--tmpfs", "/tmp", "--unshare-all", "--", "true"]);
    trial
}

/// The trial of whether the system lets programs under Landlock have namespaces of their own.
pub(super) fn namespaces_trial(watcher: &Path) -> Command {
    let mut trial = Command::new(watcher);
    trial.args([SUPERVISOR_ARGUMENT, TRY_NAMESPACES, "--", "nothing"]).env_clear();
    trial
}

/// The pauses after which a trial is repeated that failed for a reason which may pass.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];
/// What a trial says that failed because the computer was busy.
const PASSING_REASONS: [&str; 5] = [
    "Cannot allocate memory",
    "Device or resource busy",
    "Interrupted system call",
    "Resource temporarily unavailable",
    "Too many open files",
];

/// Why a trial failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TrialFailure {
    pub(super) why: String,
    /// Whether it may work at another moment.
    pub(super) may_pass: bool,
}

/// Tries out whether the system permits something, again if it fails for a reason that may pass.
pub(super) fn try_out(trial: impl Fn() -> Command) -> Result<(), TrialFailure> {
    let mut tried = try_once(trial());
    for pause in PAUSES {
        if !tried.as_ref().is_err_and(|failure| failure.may_pass) {
            break;
        }
        std::thread::sleep(pause);
        tried = try_once(trial());
    }
    tried
}

fn try_once(mut trial: Command) -> Result<(), TrialFailure> {
    let program = Path::new(trial.get_program()).display().to_string();
    let ended = trial.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output();
    let (why, is_killed) = match ended {
        Ok(ended) if ended.status.success() => return Ok(()),
        Ok(ended) => {
            let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
            let why = if said.is_empty() { format!("{program} ended with {}", ended.status) } else { said };
            (why, ended.status.code().is_none())
        }
        Err(error) => (format!("{program} cannot be started: {error}"), false),
    };
    let may_pass = is_killed || PASSING_REASONS.iter().any(|reason| why.contains(reason));
    Err(TrialFailure { why, may_pass })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trial that fails with this message until it was made so many times. Its attempts are in the file.
    #[cfg(unix)]
    fn failing(message: &str, times: usize, attempts: &Path) -> Command {
        let mut trial = Command::new("sh");
        let script = "echo >> \"$0\"; [ $(wc -l < \"$0\") -gt $1 ] || { echo \"$2\" >&2; exit 1; }";
        trial.args(["-c", script]).arg(attempts).args([&times.to_string(), message]);
        trial
    }

    #[cfg(unix)]
    #[test]
    fn a_trial_is_repeated_if_its_failure_may_pass_and_a_refusal_counts_at_once() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let tried = |name: &str, message: &str, times: usize| {
            let attempts = folder.path().join(name);
            let tried = try_out(|| failing(message, times, &attempts));
            let attempts = std::fs::read_to_string(&attempts).map_or(0, |lines| lines.lines().count());
            (tried, attempts)
        };
        let busy = "bwrap: Creating new namespace failed: Resource temporarily unavailable";
        assert_eq!(tried("busy once", busy, 1), (Ok(()), 2));
        assert_eq!(tried("busy twice", busy, 2), (Ok(()), 3));
        let still = Err(TrialFailure { why: busy.to_owned(), may_pass: true });
        assert_eq!(tried("busy", busy, 9), (still, 3));
        let refused = "bwrap: setting up uid map: Permission denied";
        let refusal = Err(TrialFailure { why: refused.to_owned(), may_pass: false });
        assert_eq!(tried("refused", refused, 9), (refusal, 1));
        let missing = try_out(|| Command::new(folder.path().join("nothing")));
        assert!(missing.is_err_and(|failure| !failure.may_pass), "a program that is not there is not waited for");
    }
}
