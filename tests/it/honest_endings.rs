//! Failures look like failures: the exit code, the report, the status and the files agree about what went wrong and who
//! is waited for.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::cases;
use crate::program::{output, succeed, write};

pub fn trials() -> Vec<Trial> {
    cases![
        a_run_in_which_every_call_failed_fails_and_status_names_the_provider,
        a_run_in_which_a_call_was_answered_succeeds,
        a_task_that_only_a_person_can_do_ends_the_run_and_names_the_person,
        a_plan_that_waits_for_a_person_is_told_by_each_step,
        work_whose_helpers_all_failed_fails,
        changes_that_conflict_are_a_failure_and_a_problem,
        a_person_can_take_the_version_of_the_agent_after_a_conflict,
        an_option_never_chooses_between_two_versions,
        a_decision_of_an_option_is_nobodys,
        simulated_answers_are_marked,
    ]
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n  - { id: other, profile: other, position: [300, 0] }\n";

/// A workspace with two agents, whose front matter has these lines, and a script.
fn room(front: &str, script: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let agent = |name: &str| format!("---\nname: {name}\nbehaviour: stationary\n{front}---\nYou work.\n");
    for (path, text) in [
        ("settings.yaml", String::new()),
        ("scenes/test.yaml", SCENE.to_owned()),
        ("agents/lead.md", agent("Lead")),
        ("agents/other.md", agent("Other")),
        ("notes/plan.md", "one\ntwo\n".to_owned()),
        ("script.yaml", script.to_owned()),
    ] {
        write(folder.path(), path, &text);
    }
    folder
}

/// Runs the program with the script. Returns the exit code, the report and standard error.
fn run(room: &Path, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let usual = ["--provider", "scripted:script.yaml", "--json"];
    let ended = output(room, &[arguments, &usual].concat());
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    (ended.status.code(), serde_json::from_slice(&ended.stdout).unwrap_or_default(), stderr)
}

const TASK: [&str; 7] = ["run", "--only", "lead", "--task", "Do it", "--speed", "max"];

fn a_run_in_which_every_call_failed_fails_and_status_names_the_provider() {
    let fails = "default: [ { error: { status: 401, message: \"no such key\" }, repeat: true } ]\n";
    let room = room("", fails);
    write(room.path(), "tasks/work.task.md", "## TODO\n- [ ] @lead Count\n");
    let (code, report, stderr) = run(room.path(), &["run", "--for", "2m", "--speed", "max"]);
    assert_eq!(code, Some(1), "{stderr}");
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.contains("model call") && report["ended"] == "failed", "{report}");
    let status = succeed(room.path(), &["status"]);
    assert!(status.contains("providers that fail:") && status.contains("scripted"), "{status}");
    let status: Value = serde_json::from_str(&succeed(room.path(), &["status", "--json"])).unwrap();
    assert_eq!(status["provider_faults"].as_array().map(Vec::len), Some(1), "{status}");
}

fn a_run_in_which_a_call_was_answered_succeeds() {
    let fails = "lead: [ { error: { status: 401, message: no }, repeat: true } ]";
    let mixed = &format!("agents:\n  {fails}\n  other: [ {{ text: Fine., repeat: true }} ]\n");
    let room = room("", mixed);
    write(room.path(), "tasks/work.task.md", "## TODO\n- [ ] @lead Count\n- [ ] @other Sum\n");
    let (code, report, stderr) = run(room.path(), &["run", "--for", "5m", "--speed", "max"]);
    assert_eq!(code, Some(0), "{report} {stderr}");
    let (code, ..) = run(self::room("", mixed).path(), &["run", "--ticks", "5", "--speed", "max"]);
    assert_eq!(code, Some(0), "without a call, nothing failed");
}

fn a_task_that_only_a_person_can_do_ends_the_run_and_names_the_person() {
    for (names, why) in [
        ("", "names no agent"),
        (", assignee: human", "for a person"),
        (", assignee: carl", "no agent here is called @carl"),
    ] {
        let script = format!(
            "agents:\n  lead:\n    - when: {{ contains: \"do it\" }}\n      tools: [ {{ name: create_task, arguments: {{ title: \"Look at it\"{names} }} }} ]\n    - {{ text: \"I wait.\", repeat: true }}\n"
        );
        let room = room("tools: [create_task]\n", &script);
        for until in [&[][..], &["--on-ask", "deny"], &["--until", "idle"]] {
            if room.path().join("tasks").exists() {
                fs::remove_dir_all(room.path().join("tasks")).unwrap();
            }
            let (code, report, stderr) = run(room.path(), &[&TASK[..], &["--fresh"], until].concat());
            assert_eq!(code, Some(4), "{names} {until:?}: {report} {stderr}");
            let reason = report["reason"].as_str().unwrap();
            assert!(reason.contains(why) && reason.contains("Look at it"), "{reason}");
            assert!(reason.contains("tasks/work.task.md"), "{reason}");
            assert_eq!(report["tasks_for_people"].as_array().map(Vec::len), Some(1), "{report}");
            let status = succeed(room.path(), &["status"]);
            assert!(status.contains("work that waits for you:") && status.contains("Look at it"), "{status}");
        }
    }
}

fn a_plan_that_waits_for_a_person_is_told_by_each_step() {
    let room = room("", "default: [ { text: Done., repeat: true } ]\n");
    let plan =
        "## TODO\n- [ ] @human Choose a name\n  id: choose\n- [ ] @lead Use it\n  id: use\n  depends_on: choose\n";
    write(room.path(), "tasks/plan.task.md", plan);
    let (code, report, stderr) = run(room.path(), &["daemon", "--pump"]);
    assert_eq!(code, Some(4), "{report} {stderr}");
    assert_eq!(report["waits_for"][0]["id"], "choose", "{report}");
    assert_eq!(report["waits_for"][0]["for"], "person");
    let done = fs::read_to_string(room.path().join("tasks/plan.task.md")).unwrap().replacen("[ ]", "[x]", 1);
    write(room.path(), "tasks/plan.task.md", &done);
    let codes: Vec<Option<i32>> = (0..3).map(|_| run(room.path(), &["daemon", "--pump"]).0).collect();
    assert_eq!(codes.last(), Some(&Some(0)), "{codes:?}");
    // A person's own task that nobody waits for is none of the agents' business.
    write(room.path(), "tasks/own.task.md", "## TODO\n- [ ] @human Buy milk\n- [ ] Somebody might tidy up\n");
    assert_eq!(run(room.path(), &["daemon", "--pump"]).0, Some(0));
}

fn work_whose_helpers_all_failed_fails() {
    let script = r#"
agents:
  lead:
    - when: { contains: "do it" }
      tools: [ { name: spawn_agent, arguments: { filename: other, task: "Count" } } ]
    - { text: "All is done.", repeat: true }
  other:
    - { error: { status: 400, message: "no such thing" }, repeat: true }
"#;
    let room = room("safety_mode: auto\n", script);
    let (code, report, stderr) = run(room.path(), &TASK);
    assert_eq!(code, Some(1), "{report} {stderr}");
    assert_eq!(report["result"], "All is done.");
    assert_eq!(report["failed_work"].as_array().map(Vec::len), Some(1), "{report}");
    assert!(report["problems"].to_string().contains("no such thing"), "{report}");
    assert!(report["reason"].as_str().unwrap().contains("other"), "{report}");
}

const EDITS: &str = r#"
agents:
  lead:
    - when: { contains: "do it" }
      tools: [ { name: vfs_edit, arguments: { path: notes/plan.md, old: "two", new: "2" } } ]
    - { text: "All is done.", repeat: true }
"#;
const ON: [&str; 5] = ["run", "--until", "idle", "--speed", "max"];

/// A workspace in which the person changed the line that an agent changed in its copy, and allowed the merge.
fn room_with_conflict() -> TempDir {
    let room = room("safety_mode: safe\nworkspace: git\n", EDITS);
    write(room.path(), "tasks/work.task.md", "## TODO\n- [ ] @lead \"Do it\"\n");
    let (code, report, stderr) = run(room.path(), &ON);
    assert_eq!(code, Some(4), "{report} {stderr}");
    write(room.path(), "notes/plan.md", "one\nmine\n");
    succeed(room.path(), &["approvals", "allow", &pending(room.path())]);
    room
}

/// The id of the only open approval.
fn pending(room: &Path) -> String {
    let listed: Value = serde_json::from_str(&succeed(room, &["approvals", "list", "--json"])).unwrap();
    assert_eq!(listed["approvals"].as_array().map(Vec::len), Some(1), "{listed}");
    listed["approvals"][0]["id"].as_str().unwrap().to_owned()
}

fn plan(room: &TempDir) -> String {
    fs::read_to_string(room.path().join("notes/plan.md")).unwrap()
}

fn changes_that_conflict_are_a_failure_and_a_problem() {
    let room = room_with_conflict();
    let (code, report, stderr) = run(room.path(), &ON);
    assert_eq!(code, Some(4), "the person is asked which version is kept: {report} {stderr}");
    assert!(report["problems"].to_string().contains("notes/plan.md"), "{report}");
    assert_eq!(plan(&room), "one\nmine\n", "nothing is lost");
    let events = succeed(room.path(), &["export", "--run", "last", "--events", "-"]);
    let result = events.lines().find(|line| line.contains("\"tool_result\"") && line.contains("conflict")).unwrap();
    let result: Value = serde_json::from_str(result).unwrap();
    assert!(result["data"]["ok"] == false, "{result}");
    assert!(result["data"]["text"].as_str().unwrap().starts_with("Error: your changes were not merged"), "{result}");

    let shown = succeed(room.path(), &["approvals", "show", &pending(room.path())]);
    for part in ["replacing what the workspace has", "- mine", "+ 2", "conflict: notes/plan.md"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    succeed(room.path(), &["approvals", "refuse", &pending(room.path()), "--because", "mine is right"]);
    let (code, report, stderr) = run(room.path(), &ON);
    assert_eq!(code, Some(1), "{report} {stderr}");
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.contains("not merged") && reason.contains("notes/plan.md"), "{report}");
    assert_eq!(plan(&room), "one\nmine\n", "the person kept this version");
    let tasks = fs::read_to_string(room.path().join("tasks/work.task.md")).unwrap();
    assert!(tasks.contains("failed") && !tasks.contains("[x]"), "{tasks}");
}

fn a_person_can_take_the_version_of_the_agent_after_a_conflict() {
    let room = room_with_conflict();
    assert_eq!(run(room.path(), &ON).0, Some(4));
    succeed(room.path(), &["approvals", "allow", &pending(room.path())]);
    let (code, report, stderr) = run(room.path(), &ON);
    assert_eq!(code, Some(0), "{report} {stderr}");
    assert_eq!(plan(&room), "one\n2\n");
    let tasks = fs::read_to_string(room.path().join("tasks/work.task.md")).unwrap();
    assert!(tasks.contains("[x]") && !tasks.contains("failed"), "{tasks}");
    let versions = succeed(room.path(), &["undo", "lead", "--to", "1", "--yes"]);
    assert_eq!(plan(&room), "one\nmine\n", "it can be undone: {versions}");
}

fn an_option_never_chooses_between_two_versions() {
    let room = room_with_conflict();
    let (code, report, stderr) = run(room.path(), &[&ON[..], &["--on-ask", "allow"]].concat());
    assert_eq!(code, Some(1), "{report} {stderr}");
    assert!(stderr.contains("only a person can choose which version is kept"), "{stderr}");
    assert_eq!(plan(&room), "one\nmine\n");
}

fn a_decision_of_an_option_is_nobodys() {
    let script = r#"
agents:
  lead:
    - when: { contains: "do it" }
      tools: [ { name: vfs_write, arguments: { path: artifacts/a.md, content: "x" } } ]
    - { text: "I may not.", repeat: true }
"#;
    let room = room("safety_mode: safe\n", script);
    let (code, ..) = run(room.path(), &[&TASK[..], &["--on-ask", "deny"]].concat());
    assert_eq!(code, Some(0));
    let file = fs::read_to_string(room.path().join("tasks/approvals.task.md")).unwrap();
    assert!(file.contains("status: refused") && file.contains("decided_by: --on-ask"), "{file}");
    let events = succeed(room.path(), &["export", "--run", "last", "--events", "-"]);
    let decided = events.lines().find(|line| line.contains("\"approval_decided\"")).unwrap();
    let decided: Value = serde_json::from_str(decided).unwrap();
    assert_eq!(decided["data"]["by"], "--on-ask");
}

fn simulated_answers_are_marked() {
    let room = room("", "");
    let task = ["run", "--only", "lead", "--task", "Say hello", "--speed", "max", "--provider", "offline"];
    let ended = output(room.path(), &task);
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.success() && stderr.contains("simulated (offline)"), "{stderr}");
    let ended = output(room.path(), &[&task[..], &["--json", "--fresh"]].concat());
    let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(report["simulated"], true, "{report}");
}
