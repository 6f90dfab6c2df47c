//! The built program as a child process with a time limit, its output and its peak memory.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A process that runs longer than this counts as hung.
pub const TIME_LIMIT: Duration = Duration::from_secs(60);
/// The pause between two checks of a process.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// The maximum size of the stored output of a process.
const MAX_OUTPUT_BYTES: usize = 64 << 20;
/// An API key that may appear only where it belongs.
pub const KEY: &str = "sk-canary-0123456789abcdefghij";
/// The environment variables that hold keys.
const KEY_VARIABLES: [&str; 3] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];

/// The program to test: `WORKSHOP_TRUST_BINARY`, or the one built together with this benchmark.
pub fn binary() -> std::ffi::OsString {
    std::env::var_os("WORKSHOP_TRUST_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_workshop").into())
}

/// A process that is about to be started.
pub struct Launch {
    command: Command,
    told: String,
    limit: Duration,
}

impl Launch {
    /// The program with these arguments in this folder, with this home folder and with every key set.
    pub fn new(folder: &Path, home: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(binary());
        command.current_dir(folder).args(arguments).stdin(Stdio::null());
        command
            .env_clear()
            .env("HOME", home)
            .env("WORKSHOP_CONFIG_DIR", home.join("config"))
            .env("TERM", "dumb")
            .env("WORKSHOP_TRUST", "1");
        for name in ["PATH", "TMPDIR", "LD_LIBRARY_PATH"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        for name in KEY_VARIABLES {
            command.env(name, KEY);
        }
        Self { command, told: format!("`workshop {}`", arguments.join(" ")), limit: TIME_LIMIT }
    }

    /// Adds this environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts it as this user, with the group of the same number.
    pub fn run_by(mut self, user: u32) -> Self {
        self.command.uid(user).gid(user);
        self
    }

    /// Sets the time limit.
    pub fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Starts the process.
    pub fn start(mut self) -> Running {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("the program can be started");
        let out = CapturedOutput::of(child.stdout.take().expect("it is piped"));
        let errors = CapturedOutput::of(child.stderr.take().expect("it is piped"));
        let began = Instant::now();
        Running { child, command: self.told, out, errors, began, limit: self.limit, peak_kib: 0 }
    }
}

/// The output of a process, read on a thread so that the process never waits for its reader.
struct CapturedOutput {
    text: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl CapturedOutput {
    fn of(mut pipe: impl Read + Send + 'static) -> Self {
        let text: Arc<Mutex<Vec<u8>>> = Arc::default();
        let kept = text.clone();
        let reader = std::thread::spawn(move || {
            let mut block = [0; 16 * 1024];
            while let Ok(count) = pipe.read(&mut block)
                && count > 0
            {
                let mut kept = kept.lock().expect("no thread panics while holding it");
                let room = MAX_OUTPUT_BYTES.saturating_sub(kept.len());
                kept.extend_from_slice(&block[..count.min(room)]);
            }
        });
        Self { text, reader }
    }

    fn whole(self) -> Vec<u8> {
        // The reader ends with the last process that holds the pipe.
        let _ = self.reader.join();
        std::mem::take(&mut *self.text.lock().expect("no thread panics while holding it"))
    }
}

/// A running process.
pub struct Running {
    child: Child,
    command: String,
    out: CapturedOutput,
    errors: CapturedOutput,
    began: Instant,
    limit: Duration,
    peak_kib: u64,
}

impl Running {
    /// Checks whether it has ended, and how much memory it uses.
    pub fn is_over(&mut self) -> bool {
        let about = |what: &str| PathBuf::from(format!("/proc/{}/{what}", self.child.id()));
        // For a moment after its start, a process still has the memory of the process that started it.
        let own = std::fs::read_link("/proc/self/exe").ok();
        let has_begun = std::fs::read_link(about("exe")).is_ok_and(|program| Some(program) != own);
        let status =
            if has_begun { std::fs::read_to_string(about("status")).unwrap_or_default() } else { String::new() };
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        self.peak_kib = self.peak_kib.max(kib.unwrap_or(0));
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until it has ended or the time is over. Returns whether it has ended.
    pub fn is_over_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            if self.is_over() {
                return true;
            }
            let Some(left) = until.checked_duration_since(Instant::now()) else { return false };
            std::thread::sleep(POLL_INTERVAL.min(left));
        }
    }

    /// Kills it, as the system would.
    pub fn kill(mut self) -> Ended {
        self.is_over();
        let _ = self.child.kill();
        self.ended(false, true)
    }

    /// Sends it a signal, such as `-STOP`.
    pub fn signal(&self, signal: &str) {
        // The command is built into every shell; the program of that name may be missing.
        let process = self.child.id().to_string();
        let _ = Command::new("sh").args(["-c", "kill \"$@\"", "sh", signal, &process]).status();
    }

    /// Asks it to end, like Ctrl-C, and waits until it has.
    pub fn interrupt(mut self) -> Ended {
        self.signal("-INT");
        self.limit = self.began.elapsed() + TIME_LIMIT;
        self.wait()
    }

    /// Waits until it has ended, up to its time limit.
    pub fn wait(mut self) -> Ended {
        let left = self.limit.saturating_sub(self.began.elapsed());
        let is_over = self.is_over_within(left);
        if !is_over {
            let _ = self.child.kill();
        }
        self.ended(!is_over, !is_over)
    }

    fn ended(mut self, timed_out: bool, killed: bool) -> Ended {
        let status = self.child.wait().expect("it can be waited for");
        Ended {
            command: self.command,
            status,
            out: self.out.whole(),
            errors: self.errors.whole(),
            took: self.began.elapsed(),
            peak_kib: self.peak_kib,
            timed_out,
            killed,
        }
    }
}

/// A process that has ended.
pub struct Ended {
    /// The command, as text.
    pub command: String,
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub out: Vec<u8>,
    /// Its standard error.
    pub errors: Vec<u8>,
    /// How long it ran.
    pub took: Duration,
    /// Its peak resident memory.
    pub peak_kib: u64,
    /// Whether it had to be killed at its time limit.
    pub timed_out: bool,
    killed: bool,
}

impl Ended {
    /// Its standard output as text.
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// Its standard error as text.
    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.errors).into_owned()
    }

    /// The last lines of its standard error.
    pub fn last_words(&self) -> String {
        let errors = self.errors();
        let lines: Vec<&str> = errors.lines().rev().take(3).collect();
        let words: String = lines.into_iter().rev().collect::<Vec<_>>().join(" | ");
        words.chars().take(500).collect()
    }

    /// The message of a panic, or the signal that ended it if it was not killed by the test.
    pub fn panic(&self) -> Option<String> {
        let errors = self.errors();
        if let Some(at) = errors.find("panicked at") {
            return Some(errors[at..].chars().take(300).collect());
        }
        let signal = self.status.signal().filter(|_| !self.killed);
        signal
            .map(|signal| format!("died of signal {signal}"))
            .or_else(|| (self.status.code() == Some(101)).then(|| format!("ended with 101: {}", self.last_words())))
    }
}
