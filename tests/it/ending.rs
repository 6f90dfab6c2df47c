//! How commands end: exit codes, machine-readable output, the chosen folder, and reported problems.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::program::{Running, output, succeed, workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        the_exit_code_tells_how_a_run_ended,
        json_output_is_one_complete_object_for_every_ending,
        without_json_stdout_contains_only_the_result,
        every_problem_is_reported_once,
        a_workspace_is_only_created_on_purpose,
        a_mistyped_command_is_not_taken_for_a_folder,
        unfinished_work_is_reported_at_the_end_and_when_it_continues,
    ]
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";

fn room(script: &str, settings: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lead = "---\nname: Lead\nbehaviour: stationary\n---\nYou lead.\n";
    for (path, text) in
        [("settings.yaml", settings), ("scenes/test.yaml", SCENE), ("agents/lead.md", lead), ("script.yaml", script)]
    {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn task(room: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    let base = ["run", "--agent", "lead", "--task", "Do it", "--speed", "max", "--provider", "scripted:script.yaml"];
    let ended = output(room, &[&base[..], more].concat());
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (ended.status.code(), text(&ended.stdout), text(&ended.stderr))
}

const DONE: &str = "default: [ { text: \"Forty-two.\", repeat: true } ]\n";
const WRITES: &str = r#"
agents:
  lead:
    - when: { contains: "your task" }
      tools: [ { name: vfs_write, arguments: { path: artifacts/a.md, content: "x" } } ]
    - { text: "It is written.", repeat: true }
"#;
const FAILS: &str = "default: [ { error: { status: 401, message: \"no such key\" }, repeat: true } ]\n";
const IN_CIRCLES: &str =
    "default: [ { tools: [ { name: vfs_read, arguments: { path: settings.yaml } } ], repeat: true } ]\n";
const SLOW: &str = "latency: 60\ndefault: [ { text: \"At last.\", repeat: true } ]\n";

/// Script, settings and further arguments; the expected exit code, the value of `ended`, and a part of the message.
const ENDINGS: [(&str, &str, &[&str], i32, &str, &str); 5] = [
    (DONE, "", &[], 0, "done", ""),
    (FAILS, "", &[], 1, "failed", "no such key"),
    (IN_CIRCLES, "", &[], 3, "limited", "without progress"),
    (SLOW, "", &["--for", "20s"], 3, "limited", "reached before the task was finished"),
    (DONE, "kernel: { max_activations: 0 }\n", &[], 1, "failed", "refused"),
];

fn the_exit_code_tells_how_a_run_ended() {
    for (script, settings, more, code, _, reason) in ENDINGS {
        let room = room(script, settings);
        let (ended, _, stderr) = task(room.path(), more);
        assert_eq!(ended, Some(code), "{script}: {stderr}");
        assert!(stderr.contains(reason), "{reason:?} in {stderr}");
        assert!(!stderr.contains(": \n"), "an ending without a reason: {stderr}");
    }
    assert_eq!(output(tempfile::tempdir().unwrap().path(), &["run", "--speed", "7"]).status.code(), Some(2));
}

fn json_output_is_one_complete_object_for_every_ending() {
    for (script, settings, more, code, word, reason) in ENDINGS {
        let room = room(script, settings);
        let (ended, stdout, _) = task(room.path(), &[more, &["--json"]].concat());
        let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"));
        assert_eq!((ended, report["ended"].as_str()), (Some(code), Some(word)), "{report}");
        assert!(report["reason"].as_str().is_some_and(|text| text.contains(reason)), "{report}");
        for key in ["run", "result", "files_changed", "tokens", "calls", "cost_usd", "problems", "approvals"] {
            assert!(report.get(key).is_some(), "{key} is missing in {report}");
        }
        assert_eq!(report["result"].is_string(), word == "done", "{report}");
    }
    let room = room(WRITES, "");
    let (_, stdout, _) = task(room.path(), &["--json"]);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["result"], "It is written.");
    let files = report["files_changed"].as_array().unwrap();
    assert_eq!((files.len(), &files[0]["path"], &files[0]["by"]), (1, &"artifacts/a.md".into(), &"lead".into()));
    let failed = output(room.path(), &["run", "--scene", "nowhere", "--json"]);
    let report: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!((failed.status.code(), report["ended"].as_str()), (Some(1), Some("failed")));
    assert!(report["reason"].as_str().is_some_and(|reason| reason.contains("nowhere")), "{report}");
    let both = output(room.path(), &["run", "--json", "--events", "-", "--ticks", "1"]);
    assert_eq!(both.status.code(), Some(2), "stdout cannot be used for both");
}

fn without_json_stdout_contains_only_the_result() {
    let room = room(DONE, "broken: 1\n");
    let (code, stdout, stderr) = task(room.path(), &[]);
    assert_eq!((code, stdout.as_str()), (Some(0), "Forty-two.\n"));
    assert!(stderr.contains("broken"), "{stderr}");
    let (code, stdout, stderr) = task(room.path(), &["--quiet"]);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), "Forty-two.\n", ""));
}

fn every_problem_is_reported_once() {
    let room = room(DONE, "budget: { cost_per_rum_usd: 1 }\n");
    fs::write(room.path().join("agents/broken.md"), "---\nname: [open\n---\nHello\n").unwrap();
    fs::write(room.path().join("scenes/test.yaml"), format!("{SCENE}elemnts: []\n")).unwrap();
    let ended = output(room.path(), &["run", "--for", "30s", "--speed", "max"]);
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    for what in ["cost_per_rum_usd", "agents/broken.md", "elemnts"] {
        assert!(stderr.contains(what), "{what} in: {stderr}");
    }
    let mut lines: Vec<&str> = stderr.lines().collect();
    lines.sort_unstable();
    assert!(lines.windows(2).all(|pair| pair[0] != pair[1]), "a problem is reported twice: {stderr}");
    let again = output(room.path(), &["run", "--for", "30s", "--speed", "max"]);
    let stderr_again = String::from_utf8_lossy(&again.stderr).into_owned();
    for what in ["cost_per_rum_usd", "agents/broken.md", "elemnts"] {
        assert!(stderr_again.contains(what), "a continued room has the same problems: {what} in: {stderr_again}");
    }
    // A problem that comes up later.
    let mut running = Running::start(room.path(), &["run", "--speed", "4", "--events", "-"]);
    running.wait_for("the first tick", |event| event["type"] == "run_start");
    fs::write(room.path().join("settings.yaml"), "budget: [\n").unwrap();
    running.wait_for("the problem", |event| event["type"] == "error" && event["data"]["place"] == "settings.yaml");
    let mut errors = running.child.stderr.take().unwrap();
    assert_eq!(running.interrupt().0, Some(130));
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut errors, &mut stderr).unwrap();
    assert!(stderr.lines().any(|line| line.starts_with("problem: settings.yaml")), "{stderr}");
}

fn a_workspace_is_only_created_on_purpose() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["run", "typo", "--ticks", "1"][..],
        &["export", "typo", "--events", "-"],
        &["replay", "typo", "last"],
        &["doctor", "typo"],
        &["approvals", "list", "typo"],
        &["typo", "--screenshot", "x.png"],
    ] {
        let ended = output(folder.path(), arguments);
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains("typo") && stderr.contains("workshop init typo"), "{arguments:?}: {stderr}");
        assert!(!folder.path().join("typo").exists(), "{arguments:?} made a folder");
    }
    fs::create_dir(folder.path().join("notes")).unwrap();
    fs::write(folder.path().join("notes/mine.txt"), "mine").unwrap();
    let ended = output(folder.path(), &["run", "notes", "--ticks", "1"]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("settings.yaml"));
    assert_eq!(fs::read_dir(folder.path().join("notes")).unwrap().count(), 1);
    for reading in [&["export", "--events", "-"][..], &["replay", "last"], &["approvals", "list"]] {
        assert_eq!(output(folder.path(), reading).status.code(), Some(2), "{reading:?}");
    }
    succeed(folder.path(), &["doctor"]);
    assert!(!folder.path().join("my-workshop").exists(), "doctor creates nothing");
    succeed(folder.path(), &["run", "--ticks", "1", "--speed", "max"]);
    assert!(folder.path().join("my-workshop/settings.yaml").is_file());
    succeed(folder.path(), &["init", "typo"]);
    succeed(folder.path(), &["run", "typo", "--ticks", "1", "--speed", "max"]);
}

fn a_mistyped_command_is_not_taken_for_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    for (typed, meant) in [("docter", "doctor"), ("runn", "run"), ("exprot", "export"), ("approval", "approvals")] {
        let ended =
            workshop(folder.path(), &[typed]).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{typed}: {stderr}");
        assert!(stderr.contains(&format!("workshop {meant}")), "{typed}: {stderr}");
        assert!(!folder.path().join(typed).exists());
    }
}

fn unfinished_work_is_reported_at_the_end_and_when_it_continues() {
    let room = room(SLOW, "");
    let (code, _, stderr) = task(room.path(), &["--for", "20s"]);
    assert_eq!(code, Some(3));
    assert!(stderr.contains("continues when this workspace is next opened") && stderr.contains("Do it"), "{stderr}");
    let (code, _, stderr) = task(room.path(), &["--for", "20s"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("continuing unfinished work") && stderr.contains("already has this task"), "{stderr}");
    assert!(stderr.contains("workshop run --scene test --provider") || stderr.contains("--resume act-"), "{stderr}");
    let on = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml"];
    let results = succeed(room.path(), &on);
    assert_eq!(results.matches("At last.").count(), 1, "the unfinished work has one result: {results:?}");
}
