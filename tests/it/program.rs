//! Runs the real program, for tests of its output, its files and its exit code.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;

/// The time limit for waiting in real time.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub fn workshop(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workshop"));
    // These tests make their workspaces themselves; `restricted` is about those that come from elsewhere.
    command.current_dir(folder).args(arguments).stdin(Stdio::null()).env("WORKSHOP_TRUST", "1");
    for key in [
        "GEMINI_API_KEY",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "SLACK_BOT_TOKEN",
        "SLACK_WEBHOOK_URL",
        "WORKSHOP_LOG",
    ] {
        command.env_remove(key);
    }
    command
}

pub fn output(folder: &Path, arguments: &[&str]) -> Output {
    workshop(folder, arguments).output().unwrap()
}

pub fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = output(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Reads every file of a workspace except those in `.workshop/`, by path.
pub fn files(workspace: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![workspace.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.ends_with(".workshop") => {}
                path if path.is_dir() => folders.push(path),
                path => drop(found.insert(path.display().to_string(), fs::read(&path).unwrap())),
            }
        }
    }
    found
}

/// Writes a file of a workspace, with its parent folders.
pub fn write(room: &Path, path: &str, text: &str) {
    let path = room.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A running program that prints events to stdout, and the events received so far.
pub struct Running {
    pub child: Child,
    pub events: mpsc::Receiver<Value>,
    pub seen: Vec<Value>,
}

impl Running {
    pub fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::of(workshop(folder, arguments))
    }

    /// Starts this command.
    pub fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, events) = mpsc::channel();
        let out = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if let Ok(event) = serde_json::from_str(&line)
                    && sender.send(event).is_err()
                {
                    return;
                }
            }
        });
        Self { child, events, seen: Vec::new() }
    }

    pub fn wait_for(&mut self, what: &str, condition: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        while let Ok(event) = self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            self.seen.push(event.clone());
            if condition(&event) {
                return event;
            }
        }
        let mut errors = String::new();
        let _ = self.child.kill();
        let _ = self.child.stderr.take().unwrap().read_to_string(&mut errors);
        panic!("{what} did not happen; {} events were received; {errors}", self.seen.len());
    }

    pub fn kill(mut self) -> Vec<Value> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.seen.extend(self.events.iter());
        std::mem::take(&mut self.seen)
    }

    /// Interrupts the program. Returns its exit code and all its events.
    pub fn interrupt(mut self) -> (Option<i32>, Vec<Value>) {
        signal("-INT", self.child.id());
        let code = self.child.wait().unwrap().code();
        self.seen.extend(self.events.iter());
        (code, std::mem::take(&mut self.seen))
    }
}

/// Sends a signal, such as `-INT`, to a process. Every shell has the command built in; the program of that name may be
/// missing.
pub fn signal(signal: &str, process: u32) {
    let arguments = ["-c", "kill \"$@\"", "sh", signal, &process.to_string()].map(str::to_owned);
    assert!(Command::new("sh").args(arguments).status().unwrap().success());
}
