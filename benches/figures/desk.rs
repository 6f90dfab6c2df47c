//! The approvals file: the time from a person's edit in an editor until the allowed action is done, and daemon steps in
//! a workspace with nothing to do.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::measure::{Figure, Times};

const DECISIONS: usize = 20;
const PUMPS: usize = 1_000;
/// The time limit of every wait.
const TIMEOUT: Duration = Duration::from_secs(60);

const SCENE: &str = "name: Desk\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
const LEAD: &str = "---\nname: Lead\nsafety_mode: safe\nbehaviour: stationary\n---\nYou lead.\n";
const SCRIPT: &str = "agents:\n  lead:\n    - when: { contains: \"your task\" }\n      tools: [ { name: vfs_write, \
    arguments: { path: artifacts/a.md, content: done } } ]\n    - when: { kind: task }\n      text: \"Done.\"\n      \
    repeat: true\n";
const TASK: &str = "## TODO\n\n- [ ] @lead \"Write it down\"\n";
const APPROVALS: &str = "tasks/approvals.task.md";
const DAEMON: [&str; 3] = ["daemon", "--provider", "scripted:script.yaml"];

/// A workspace with one task, whose agent must ask before it writes.
fn workspace() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let files = [
        ("settings.yaml", ""),
        ("scenes/desk.yaml", SCENE),
        ("agents/lead.md", LEAD),
        ("script.yaml", SCRIPT),
        ("tasks/work.task.md", TASK),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("it should have a parent folder")).expect("folders can be made");
        fs::write(path, text).expect("files can be written");
    }
    folder
}

fn daemon(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workshop"));
    command
        .current_dir(folder)
        .args(DAEMON)
        .args(more)
        .stdin(Stdio::null())
        .env("WORKSHOP_TRUST", "1")
        .stderr(Stdio::null());
    command
}

/// Stops the daemon even if a measurement fails.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        // The daemon may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < TIMEOUT, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Measures the time from saving a mark in an editor until the agent's file is written.
fn decision() -> Duration {
    let folder = workspace();
    let child = daemon(folder.path(), &["--watch"]).stdout(Stdio::null()).spawn().expect("the program starts");
    let _watching = Watching(child);
    let file = folder.path().join(APPROVALS);
    let mut text = String::new();
    until("the question", || {
        text = fs::read_to_string(&file).unwrap_or_default();
        text.contains("- [ ] A @human") && text.contains("status: pending")
    });
    let saved = Instant::now();
    fs::write(&file, text.replace("- [ ] A @human", "- [x] A @human")).expect("files can be written");
    until("the act", || folder.path().join("artifacts/a.md").exists());
    saved.elapsed()
}

/// Every file of a workspace except the room's own state.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("the folder can be read").flatten() {
            match entry.path() {
                path if path.ends_with(".workshop") => {}
                path if path.is_dir() => folders.push(path),
                path => {
                    let bytes = fs::read(&path).expect("files can be read");
                    found.insert(path, bytes);
                }
            }
        }
    }
    found
}

/// The number of model and tool calls of one daemon step.
fn pump(folder: &Path) -> usize {
    let child =
        daemon(folder, &["--pump", "--events", "-"]).stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut watching = Watching(child);
    let out = BufReader::new(watching.0.stdout.take().expect("it is piped"));
    let events = out.lines().map_while(Result::ok).filter_map(|line| serde_json::from_str::<Value>(&line).ok());
    let calls = events.filter(|event| event["type"] == "model_call" || event["type"] == "tool_call").count();
    watching.0.wait().expect("it ends");
    calls
}

/// Measures decisions in the file, each in a new workspace, and daemon steps when everything is done.
pub fn decisions_and_pumps() -> Vec<Figure> {
    let decisions = Times::from_each((0..DECISIONS).map(|_| decision()));
    let longest = decisions.longest();
    let folder = workspace();
    until("the end of the work", || {
        let calls = pump(folder.path());
        let file = folder.path().join(APPROVALS);
        let text = fs::read_to_string(&file).unwrap_or_default();
        let marked = text.replace("- [ ] A @human", "- [x] A @human");
        if marked != text {
            fs::write(&file, marked).expect("files can be written");
        }
        calls == 0 && folder.path().join("artifacts/a.md").exists()
    });
    let before = files(folder.path());
    let mut calls = 0;
    let pumps = Times::of(0, PUMPS, || calls += pump(folder.path()));
    let after = files(folder.path());
    let changed = after.iter().filter(|(path, bytes)| before.get(*path) != Some(*bytes)).count()
        + before.keys().filter(|path| !after.contains_key(*path)).count();
    vec![
        Figure {
            what: format!("a mark in the approvals file until the allowed action is done, longest of {DECISIONS}"),
            limit: "1 s".to_owned(),
            measured: format!("{:.2} s", longest / 1e3),
            against: decisions.to_string(),
            holds: Some(longest <= 1e3),
        },
        Figure {
            what: format!("{PUMPS} pumps of a workspace in which nothing is due: calls, changed files"),
            limit: "0, 0".to_owned(),
            measured: format!("{calls}, {changed}"),
            against: format!("{pumps} per pump, whole process"),
            holds: Some(calls == 0 && changed == 0),
        },
    ]
}
