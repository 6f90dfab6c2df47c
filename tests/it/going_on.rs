//! Tasks on the command line: where they are read from, where results are written, which other agents are active, and
//! how interrupted tasks continue.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::program::{output, succeed, workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        a_task_is_read_from_arguments_a_file_or_stdin,
        with_out_the_result_is_written_only_to_a_file,
        with_only_other_agents_rest_until_the_next_run,
        unfinished_work_is_listed_with_its_cost_and_resumed_by_id,
        an_interrupt_prints_how_to_continue,
        the_model_option_applies_to_all_agents,
        an_agent_removed_from_a_closed_scene_stays_removed,
    ]
}

const SCENE: &str = "name: Test
seed: 3
elements:
  - { id: rules, kind: rulebook, label: House rules, position: [0, 300], text: Be brief. }
agents:
  - { id: lead, profile: lead, position: [0, 0] }
  - { id: other, profile: other, position: [20, 280] }
";
const SCRIPT: &str = "latency: 1\nagents:\n  lead:\n    - { when: { kind: task, contains: \"haiku\" }, text: \"Five, seven, five.\", repeat: true }\n    - { when: { kind: task }, tools: [ { name: vfs_write, arguments: { path: artifacts/a.md, content: \"x\" } } ] }\n    - { when: { kind: task }, text: \"It is written.\", repeat: true }\ndefault: [ { text: \"Noted.\", repeat: true } ]\n";
const SLOW: &str = "latency: 60\ndefault: [ { text: \"At last.\", repeat: true } ]\n";

fn room(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("settings.yaml", ""),
        ("scenes/test.yaml", SCENE),
        ("agents/lead.md", "---\nname: Lead\nbehaviour: stationary\n---\nYou lead.\n"),
        ("agents/other.md", "---\nname: Other\n---\nYou live.\n"),
        ("script.yaml", script),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn run(room: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    let ended = output(room, &[&["run", "--speed", "max", "--provider", "scripted:script.yaml"], more].concat());
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (ended.status.code(), text(&ended.stdout), text(&ended.stderr))
}

fn a_task_is_read_from_arguments_a_file_or_stdin() {
    let room = room(SCRIPT);
    fs::write(room.path().join("task.md"), "Write a haiku.\n").unwrap();
    let (code, result, stderr) = run(room.path(), &["--agent", "lead", "--task", "@task.md"]);
    assert_eq!((code, result.as_str()), (Some(0), "Five, seven, five.\n"), "{stderr}");
    let arguments = ["run", "--speed", "max", "--provider", "scripted:script.yaml", "--agent", "lead", "--task", "-"];
    let mut child = workshop(room.path(), &arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"Another haiku, please.").unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), "Five, seven, five.\n");
    for (wrong, expected) in [("@none.md", "none.md"), ("-", "standard input is empty")] {
        let (code, _, stderr) = run(room.path(), &["--agent", "lead", "--task", wrong]);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
    let (code, _, stderr) = run(room.path(), &["--task", "Write a haiku."]);
    assert!(code == Some(2) && stderr.contains("--agent"), "{stderr}");
}

fn with_out_the_result_is_written_only_to_a_file() {
    let room = room(SCRIPT);
    let haiku = ["--agent", "lead", "--task", "A haiku.", "--out", "result.txt"];
    let (code, stdout, stderr) = run(room.path(), &haiku);
    assert_eq!((code, stdout.as_str()), (Some(0), ""), "{stderr}");
    assert_eq!(fs::read_to_string(room.path().join("result.txt")).unwrap(), "Five, seven, five.\n");
    let (code, _, stderr) = run(room.path(), &["--agent", "lead", "--task", "x", "--out", "nowhere/result.txt"]);
    assert!(code == Some(2) && stderr.contains("nowhere/result.txt"), "{stderr}");
}

/// Returns the agent and the kind of each model call of the last run.
fn model_calls(room: &Path) -> Vec<(String, String)> {
    let events = succeed(room, &["export", "--run", "last", "--events", "-"]);
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let calls = events.filter(|event| event["type"] == "model_call");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    calls.map(|call| (word(&call["agent"]), word(&call["data"]["kind"]))).collect()
}

fn with_only_other_agents_rest_until_the_next_run() {
    let room = room(SCRIPT);
    let (code, result, stderr) = run(room.path(), &["--only", "lead", "--task", "Write it.", "--for", "3m", "--json"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(serde_json::from_str::<Value>(&result).unwrap()["result"], "It is written.");
    let calls = model_calls(room.path());
    assert!(calls.iter().all(|(agent, _)| agent == "lead"), "{calls:?}");
    let kinds: Vec<&str> = calls.iter().map(|(_, kind)| kind.as_str()).collect();
    assert_eq!(kinds, ["task", "task", "learning"], "the agent works, and then learns from the work");
    succeed(room.path(), &["replay", "last", "--verify"]);
    succeed(room.path(), &["run", "--speed", "max", "--provider", "scripted:script.yaml", "--for", "3m"]);
    let calls = model_calls(room.path());
    assert!(calls.iter().any(|(agent, kind)| agent == "other" && kind == "read"), "{calls:?}");
    succeed(room.path(), &["replay", "last", "--verify"]);
    let (code, _, stderr) = run(room.path(), &["--only", "nobody", "--task", "Write it."]);
    assert!(code == Some(2) && stderr.contains("nobody"), "{stderr}");
}

fn unfinished_work_is_listed_with_its_cost_and_resumed_by_id() {
    let room = room(SLOW);
    assert_eq!(succeed(room.path(), &["status"]), "");
    let (code, _, stderr) = run(room.path(), &["--agent", "lead", "--task", "Do it", "--for", "20s"]);
    assert_eq!(code, Some(3), "{stderr}");
    run(room.path(), &["--agent", "other", "--task", "Do more", "--for", "20s"]);
    let listed = succeed(room.path(), &["status"]);
    for part in
        ["Lead (lead), test: Do it", "Other (other), test: Do more", "at work, turn 1", "model calls", "--resume act-"]
    {
        assert!(listed.contains(part), "{part} in {listed}");
    }
    let status: Value = serde_json::from_str(&succeed(room.path(), &["status", "--json"])).unwrap();
    let tasks = status["unfinished"].as_array().unwrap();
    assert_eq!(tasks.len(), 2, "{status}");
    let id_of =
        |agent: &str| tasks.iter().find(|task| task["agent"] == agent).unwrap()["id"].as_str().unwrap().to_owned();
    let (code, _, stderr) = run(room.path(), &["--resume", "act-999999"]);
    assert!(code == Some(2) && stderr.contains(&id_of("lead")), "{stderr}");
    let (code, result, stderr) = run(room.path(), &["--resume", &id_of("lead")]);
    assert_eq!((code, result.as_str()), (Some(0), "At last.\n"), "{stderr}");
    let status: Value = serde_json::from_str(&succeed(room.path(), &["status", "--json"])).unwrap();
    assert!(status["unfinished"].as_array().unwrap().iter().all(|task| task["agent"] == "other"), "{status}");
}

fn an_interrupt_prints_how_to_continue() {
    let room = room(SLOW);
    let arguments =
        ["run", "--provider", "scripted:script.yaml", "--agent", "lead", "--task", "Do it", "--events", "e.jsonl"];
    let child = workshop(room.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let events = room.path().join("e.jsonl");
    let deadline = std::time::Instant::now() + crate::program::PATIENCE;
    while !fs::read_to_string(&events).unwrap_or_default().contains("\"activation\"") {
        assert!(std::time::Instant::now() < deadline, "the task was not started");
        std::thread::yield_now();
    }
    crate::program::signal("-INT", child.id());
    let ended = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{stderr}");
    assert!(
        stderr.contains("continue with: workshop run --provider scripted:")
            && stderr.contains(
                "--resume \
        act-"
            ),
        "{stderr}"
    );
}

fn the_model_option_applies_to_all_agents() {
    let room = room(SCRIPT);
    let ended = output(room.path(), &["run", "--ticks", "1", "--model", "gpt-x"]);
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.code() == Some(2) && stderr.contains("cannot be used with offline"), "{stderr}");
    succeed(room.path(), &["run", "--ticks", "1", "--speed", "max", "--provider", "ollama", "--model", "llama3:8b"]);
    let events = succeed(room.path(), &["export", "--run", "last", "--events", "-"]);
    assert!(events.contains("\"provider\":\"ollama:llama3:8b\""), "{}", events.lines().next().unwrap_or_default());
}

fn an_agent_removed_from_a_closed_scene_stays_removed() {
    let room = room(SCRIPT);
    let scene = || fs::read_to_string(room.path().join("scenes/test.yaml")).unwrap();
    let without_lead = SCENE.replace("  - { id: lead, profile: lead, position: [0, 0] }\n", "");
    fs::write(room.path().join("scenes/test.yaml"), &without_lead).unwrap();
    let (code, _, stderr) = run(room.path(), &["--agent", "lead", "--task", "Write a haiku."]);
    assert!(code == Some(0) && scene().contains("profile: lead"), "a task adds its agent to the scene: {stderr}");
    for written in [&*without_lead, "name: Test\nagents: []\n", "# Nobody.\n\n"] {
        fs::write(room.path().join("scenes/test.yaml"), written).unwrap();
        let (code, _, stderr) = run(room.path(), &["--ticks", "60"]);
        assert_eq!((code, scene().as_str()), (Some(0), written), "{stderr}");
    }
}
