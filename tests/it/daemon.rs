//! The daemon: runs all work one step at a time or continuously, while a person edits files.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::cases;
use crate::program::{Running, files, json_lines, output, succeed, workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        a_pump_runs_one_turn_of_each_activation_and_reports_the_rest,
        work_continues_by_pumps_with_an_answer_in_between,
        pumps_of_a_finished_workspace_change_nothing_and_call_no_model,
        a_watching_daemon_reads_an_answer_and_ends_when_interrupted,
        a_pump_next_to_an_owner_hands_over_and_reports_the_state,
        a_second_daemon_takes_over_when_the_owner_is_killed,
        of_two_concurrent_pumps_one_acts_and_the_other_reports,
        a_step_reports_its_actions_in_order,
        a_message_that_nobody_receives_is_a_problem_of_each_step,
        clean_moves_results_aside_and_the_work_can_be_repeated,
    ]
}

const FILE: &str = "tasks/approvals.task.md";
const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n  - { id: other, profile: other, position: [300, 0] }\n";
/// A script whose agent lists files in two turns and then needs approval for a write.
const SCRIPT: &str = r#"
agents:
  lead:
    - when: { contains: "a person refused" }
      text: "I may not."
      repeat: true
    - tools: [ { name: vfs_list, arguments: {} } ]
    - tools: [ { name: vfs_list, arguments: {} } ]
    - tools: [ { name: vfs_write, arguments: { path: artifacts/a.md, content: "done" } } ]
    - when: { kind: task }
      text: "It is written."
      repeat: true
"#;

fn room() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lead = "---\nname: Lead\nsafety_mode: safe\nbehaviour: stationary\n---\nYou lead.\n";
    let other = "---\nname: Other\nbehaviour: stationary\n---\nYou are there, too.\n";
    let files = [
        ("settings.yaml", ""),
        ("scenes/test.yaml", SCENE),
        ("agents/lead.md", lead),
        ("agents/other.md", other),
        ("script.yaml", SCRIPT),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

const GIVE_TASK: [&str; 11] = [
    "run",
    "--only",
    "lead",
    "--task",
    "Write it down",
    "--ticks",
    "3",
    "--speed",
    "max",
    "--provider",
    "scripted:script.yaml",
];
const PUMP: [&str; 4] = ["daemon", "--pump", "--provider", "scripted:script.yaml"];

/// Runs one pump. Returns its exit code, the number of turns, and the summary on stderr.
fn pump(room: &Path) -> (i32, usize, String) {
    let ended = output(room, &[&PUMP[..], &["--events", "-"]].concat());
    let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
    let turns = events.iter().filter(|event| event["type"] == "tool_call" || event["type"] == "complete").count();
    (ended.status.code().unwrap(), turns, String::from_utf8_lossy(&ended.stderr).into_owned())
}

fn mark(room: &Path, sign: &str) {
    let text = fs::read_to_string(room.join(FILE)).unwrap();
    fs::write(room.join(FILE), text.replace("- [ ] A @human", &format!("- {sign} A @human"))).unwrap();
}

fn a_pump_runs_one_turn_of_each_activation_and_reports_the_rest() {
    let room = room();
    output(room.path(), &GIVE_TASK);
    for number in 0..2 {
        let (code, turns, summary) = pump(room.path());
        assert_eq!((code, turns), (0, 1), "{number}: {summary}");
        assert!(summary.contains("next pump"), "{summary}");
    }
    let (code, turns, summary) = pump(room.path());
    assert_eq!((code, turns), (4, 1), "{summary}");
    assert!(summary.contains("Lead (lead) wants to write artifacts/a.md"), "{summary}");
}

fn work_continues_by_pumps_with_an_answer_in_between() {
    for (sign, is_written) in [("[x]", true), ("[-]", false)] {
        let room = room();
        output(room.path(), &GIVE_TASK);
        (0..3).for_each(|_| drop(pump(room.path())));
        for _ in 0..2 {
            assert_eq!(
                (pump(room.path()).0, room.path().join("artifacts/a.md").exists()),
                (4, false),
                "there is no answer yet"
            );
        }
        mark(room.path(), sign);
        let (code, _, summary) = pump(room.path());
        assert_eq!(code, 0, "{summary}");
        assert_eq!(room.path().join("artifacts/a.md").exists(), is_written);
        let (code, turns, summary) = pump(room.path());
        assert_eq!((code, turns), (0, 0), "{summary}");
        let json = succeed(room.path(), &[&PUMP[..], &["--json"]].concat());
        assert!(json.contains("\"ended\":\"done\"") || json.contains("\"ended\": \"done\""), "{json}");
    }
}

fn pumps_of_a_finished_workspace_change_nothing_and_call_no_model() {
    let room = room();
    output(room.path(), &GIVE_TASK);
    (0..3).for_each(|_| drop(pump(room.path())));
    mark(room.path(), "[x]");
    (0..2).for_each(|_| drop(pump(room.path())));
    let before = files(room.path());
    for _ in 0..10 {
        let ended = output(room.path(), &[&PUMP[..], &["--events", "-"]].concat());
        assert_eq!(ended.status.code(), Some(0));
        let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
        let calls = ["model_call", "tool_call"];
        assert!(events.iter().all(|event| calls.iter().all(|kind| event["type"] != *kind)), "{events:?}");
        assert!(events.iter().any(|event| event["type"] == "run_end"), "the end of the run is logged: {events:?}");
    }
    assert_eq!(files(room.path()), before);
}

fn a_watching_daemon_reads_an_answer_and_ends_when_interrupted() {
    let room = room();
    output(room.path(), &GIVE_TASK);
    let watch = ["daemon", "--watch", "--speed", "4", "--provider", "scripted:script.yaml", "--events", "-"];
    let mut running = Running::start(room.path(), &watch);
    running.wait_for("the approval request", |event| event["type"] == "approval_requested");
    let until = Instant::now() + Duration::from_secs(30);
    while !fs::read_to_string(room.path().join(FILE)).is_ok_and(|text| text.contains("pending"))
        && Instant::now() < until
    {
        std::thread::yield_now();
    }
    mark(room.path(), "[x]");
    running.wait_for("the end of the work", |event| event["type"] == "complete");
    assert_eq!(running.interrupt().0, Some(130));
    assert_eq!(fs::read_to_string(room.path().join("artifacts/a.md")).unwrap(), "done");
}

fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Starts a daemon that owns a workspace with a pending approval.
fn watched_room() -> (TempDir, Running) {
    let room = room();
    output(room.path(), &GIVE_TASK);
    let watch = ["daemon", "--watch", "--speed", "4", "--provider", "scripted:script.yaml", "--events", "-"];
    let mut running = Running::start(room.path(), &watch);
    running.wait_for("the approval request", |event| event["type"] == "approval_requested");
    (room, running)
}

fn a_pump_next_to_an_owner_hands_over_and_reports_the_state() {
    let (room, mut running) = watched_room();
    let process = running.child.id().to_string();
    let second = output(room.path(), &PUMP);
    assert_eq!(second.status.code(), Some(4), "{}", stderr_of(&second));
    assert!(
        stderr_of(&second).contains(&format!("process {process} has this workspace open")),
        "{}",
        stderr_of(&second)
    );
    assert!(stderr_of(&second).contains("Lead (lead) wants to write artifacts/a.md"), "{}", stderr_of(&second));
    let until = Instant::now() + Duration::from_secs(30);
    while !fs::read_to_string(room.path().join(FILE)).is_ok_and(|text| text.contains("pending"))
        && Instant::now() < until
    {
        std::thread::yield_now();
    }
    mark(room.path(), "[x]");
    // The pump waits until the owner has read the mark and acted on it.
    let second = output(room.path(), &[&PUMP[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&second.stdout).unwrap();
    assert_eq!((json["ended"].as_str(), second.status.code()), (Some("done"), Some(0)), "{json}");
    assert_eq!(
        (json["acts"].as_array().map(Vec::len), json["owner"].as_str()),
        (Some(0), Some(&*format!("process {process}")))
    );
    running.wait_for("the end of the work", |event| event["type"] == "complete");
    let events = running.interrupt().1;
    assert_eq!(fs::read_to_string(room.path().join("artifacts/a.md")).unwrap(), "done");
    assert_eq!(events.iter().filter(|event| event["type"] == "run_start").count(), 1);
}

fn a_second_daemon_takes_over_when_the_owner_is_killed() {
    let (room, running) = watched_room();
    let mut standby =
        workshop(room.path(), &["daemon", "--watch", "--speed", "4", "--provider", "scripted:script.yaml"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    let mut lines = BufReader::new(standby.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut wait_for = |words: &str| lines.find(|line| line.contains(words)).unwrap_or_else(|| panic!("no {words}"));
    assert!(wait_for("waiting to take over").contains(&running.child.id().to_string()));
    let killed = Instant::now();
    running.kill();
    wait_for("taking over");
    assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());
    let until = Instant::now() + Duration::from_secs(30);
    while !fs::read_to_string(room.path().join(FILE)).is_ok_and(|text| text.contains("pending"))
        && Instant::now() < until
    {
        std::thread::yield_now();
    }
    mark(room.path(), "[x]");
    while !room.path().join("artifacts/a.md").exists() && Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(fs::read_to_string(room.path().join("artifacts/a.md")).unwrap(), "done", "the work continues");
    crate::program::signal("-INT", standby.id());
    assert_eq!(standby.wait().unwrap().code(), Some(130));
}

fn of_two_concurrent_pumps_one_acts_and_the_other_reports() {
    for round in 0..20 {
        let room = room();
        output(room.path(), &GIVE_TASK);
        let start = || {
            let mut command = workshop(room.path(), &[&PUMP[..], &["--json"]].concat());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let ended = [start(), start()].map(|child| child.wait_with_output().unwrap());
        let json = |output: &Output| -> serde_json::Value { serde_json::from_slice(&output.stdout).unwrap() };
        let both: Vec<serde_json::Value> = ended.iter().map(json).collect();
        for (output, json) in ended.iter().zip(&both) {
            assert_eq!(output.status.code(), Some(0), "round {round}: {json} {}", stderr_of(output));
        }
        let acted = both.iter().filter(|json| json["acts"].as_array().is_some_and(|acts| !acts.is_empty())).count();
        let handed_over = both.iter().filter(|json| json["owner"].is_string()).count();
        // A process that starts after the other has ended performs its own step.
        assert_eq!(acted + handed_over, 2, "round {round}: {both:#?}");
        let calls: Vec<_> = both
            .iter()
            .flat_map(|json| json["acts"].as_array().unwrap().clone())
            .filter(|act| act["act"] == "tool")
            .collect();
        assert_eq!(calls.len(), acted, "round {round}: each step is one turn: {calls:#?}");
        let turns = format!("{acted} of 2");
        let runs = output(room.path(), &["export", "--events", "log.jsonl"]);
        assert!(runs.status.success(), "{turns}: {}", stderr_of(&runs));
        let log = fs::read_to_string(room.path().join("log.jsonl")).unwrap();
        let ids: Vec<String> = json_lines(&log)
            .iter()
            .filter(|event| event["type"] == "tool_call")
            .map(|event| format!("{}/{}", event["activation"], event["data"]["turn"]))
            .collect();
        let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
        assert_eq!((ids.len(), distinct.len()), (acted, acted), "round {round}: no call is made twice: {ids:?}");
    }
}

fn a_step_reports_its_actions_in_order() {
    let room = room();
    output(room.path(), &GIVE_TASK);
    (0..3).for_each(|_| drop(pump(room.path())));
    mark(room.path(), "[x]");
    fs::create_dir_all(room.path().join("tasks")).unwrap();
    fs::write(room.path().join("tasks/plan.task.md"), "# Plan\n\n- [ ] @other \"Look around\"\n").unwrap();
    let ended = output(room.path(), &[&PUMP[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    let acts = json["acts"].as_array().unwrap();
    let at = |what: &str| {
        let is = |act: &serde_json::Value| act.to_string().contains(what);
        acts.iter().position(is).unwrap_or_else(|| panic!("no {what} in {acts:#?}"))
    };
    let (allowed, begun) = (at("\"allowed\":true"), at("Look around"));
    let written = acts.iter().position(|act| act["files"] == serde_json::json!(["artifacts/a.md"])).unwrap();
    assert_eq!((&acts[written]["ok"], &acts[written]["agent"]), (&true.into(), &"lead".into()), "{acts:#?}");
    assert!(allowed < written, "{acts:#?}");
    let other = acts.iter().position(|act| act["act"] == "completed" && act["agent"] == "other");
    assert!(other.is_none_or(|other| begun < other), "{acts:#?}");
    assert_eq!(json["waits_for"], serde_json::json!([]));
}

fn a_message_that_nobody_receives_is_a_problem_of_each_step() {
    let room = room();
    fs::create_dir_all(room.path().join("inbox")).unwrap();
    fs::write(room.path().join("inbox/mail.jsonl"), "{\"from\": \"Bo\", \"text\": \"Hello\"}\n").unwrap();
    for number in 0..2 {
        let ended = output(room.path(), &[&PUMP[..], &["--json"]].concat());
        let json: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
        let expected = "nobody receives messages from inbox/mail.jsonl";
        assert!(json["problems"].to_string().contains(expected), "{number}: {json}");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert!(stderr.contains(expected), "{number}: {stderr}");
    }
}

fn clean_moves_results_aside_and_the_work_can_be_repeated() {
    let room = room();
    let plan = "# Plan\n\n- [ ] @lead \"Write it down\"\n";
    for (path, text) in [("tasks/plan.task.md", plan), ("artifacts/own.md", "mine"), ("inbox/mail.jsonl", "")] {
        fs::create_dir_all(room.path().join(path).parent().unwrap()).unwrap();
        fs::write(room.path().join(path), text).unwrap();
    }
    let before = files(room.path());
    let walk = || {
        (0..4).for_each(|_| drop(pump(room.path())));
        mark(room.path(), "[x]");
        (0..3).for_each(|_| drop(pump(room.path())));
        files(room.path())
    };
    let once = walk();
    assert!(room.path().join("artifacts/a.md").exists() && room.path().join(FILE).exists());
    assert!(fs::read_to_string(room.path().join("tasks/plan.task.md")).unwrap().contains("[x]"));
    let shown = output(room.path(), &["clean"]);
    assert_eq!((shown.status.code(), files(room.path()) == once), (Some(4), true), "nothing is moved without --yes");
    assert!(String::from_utf8_lossy(&shown.stderr).contains("artifacts/a.md: move aside"));
    succeed(room.path(), &["clean", "--yes"]);
    let after = files(room.path());
    let mut expected = before;
    expected.retain(|path, _| !path.ends_with("mail.jsonl"));
    assert_eq!(after.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert_eq!(after, expected);
    assert_eq!(fs::read_to_string(room.path().join(".workshop/cleaned-1/artifacts/a.md")).unwrap(), "done");
    assert_eq!(walk().len(), once.len() - 1, "the work is repeated, without the mail");
    succeed(room.path(), &["clean", "--yes"]);
    assert!(room.path().join(".workshop/cleaned-2").is_dir());
    let output = output(room.path(), &["clean", "--yes"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing to clean"));
}
