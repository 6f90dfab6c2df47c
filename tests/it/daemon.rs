//! The daemon: one step of all work at a time, and on and on, beside a person who edits files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::cases;
use crate::program::{Running, json_lines, output, succeed};

pub fn trials() -> Vec<Trial> {
    cases![
        a_pump_lets_each_piece_of_work_have_one_turn_and_says_what_is_left,
        a_walk_goes_on_by_pumps_with_a_person_at_the_file_in_between,
        pumps_of_a_settled_workspace_change_nothing_and_ask_nobody,
        a_daemon_that_watches_takes_up_an_answer_and_ends_when_it_is_interrupted,
        two_daemons_never_both_act,
        what_agents_did_is_put_aside_and_can_be_done_once_more,
    ]
}

const FILE: &str = "tasks/approvals.task.md";
const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n  - { id: other, profile: other, position: [300, 0] }\n";
/// Reads three times, each time in a turn of its own, and then asks before it writes.
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

const GIVE: [&str; 11] = [
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

/// One pump: its exit code, how often a model was asked for work, and what was told at the end.
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

fn a_pump_lets_each_piece_of_work_have_one_turn_and_says_what_is_left() {
    let room = room();
    output(room.path(), &GIVE);
    for number in 0..2 {
        let (code, turns, told) = pump(room.path());
        assert_eq!((code, turns), (0, 1), "{number}: {told}");
        assert!(told.contains("next pump"), "{told}");
    }
    let (code, turns, told) = pump(room.path());
    assert_eq!((code, turns), (4, 1), "{told}");
    assert!(told.contains("Lead (lead) wants to write artifacts/a.md"), "{told}");
}

fn a_walk_goes_on_by_pumps_with_a_person_at_the_file_in_between() {
    for (sign, is_written) in [("[x]", true), ("[-]", false)] {
        let room = room();
        output(room.path(), &GIVE);
        (0..3).for_each(|_| drop(pump(room.path())));
        for _ in 0..2 {
            assert_eq!(
                (pump(room.path()).0, room.path().join("artifacts/a.md").exists()),
                (4, false),
                "nobody answered"
            );
        }
        mark(room.path(), sign);
        let (code, _, told) = pump(room.path());
        assert_eq!(code, 0, "{told}");
        assert_eq!(room.path().join("artifacts/a.md").exists(), is_written);
        let (code, turns, told) = pump(room.path());
        assert_eq!((code, turns), (0, 0), "{told}");
        let json = succeed(room.path(), &[&PUMP[..], &["--json"]].concat());
        assert!(json.contains("\"ended\":\"done\"") || json.contains("\"ended\": \"done\""), "{json}");
    }
}

/// Every file of the workspace that is the person's or the agents', with what stands in it.
fn files(room: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.ends_with(".workshop") => {}
                path if path.is_dir() => walk(&path, found),
                path => drop(found.insert(path.display().to_string(), fs::read(&path).unwrap())),
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(room, &mut found);
    found
}

fn pumps_of_a_settled_workspace_change_nothing_and_ask_nobody() {
    let room = room();
    output(room.path(), &GIVE);
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
        assert!(events.iter().any(|event| event["type"] == "run_end"), "the log is told: {events:?}");
    }
    assert_eq!(files(room.path()), before);
}

fn a_daemon_that_watches_takes_up_an_answer_and_ends_when_it_is_interrupted() {
    let room = room();
    output(room.path(), &GIVE);
    let watch = ["daemon", "--watch", "--speed", "4", "--provider", "scripted:script.yaml", "--events", "-"];
    let mut running = Running::start(room.path(), &watch);
    running.wait_for("the question", |event| event["type"] == "approval_requested");
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

fn two_daemons_never_both_act() {
    let room = room();
    let watch = ["daemon", "--watch", "--provider", "scripted:script.yaml", "--events", "-"];
    let mut running = Running::start(room.path(), &watch);
    running.wait_for("its beginning", |event| event["type"] == "run_start");
    let second = output(room.path(), &PUMP);
    let told = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1), "{told}");
    assert!(told.contains("open"), "it says who has it: {told}");
    running.interrupt();
}

fn what_agents_did_is_put_aside_and_can_be_done_once_more() {
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
    assert_eq!((shown.status.code(), files(room.path()) == once), (Some(4), true), "nobody said yes");
    assert!(String::from_utf8_lossy(&shown.stderr).contains("artifacts/a.md: put aside"));
    succeed(room.path(), &["clean", "--yes"]);
    let after = files(room.path());
    let mut expected = before;
    expected.retain(|path, _| !path.ends_with("mail.jsonl"));
    assert_eq!(after.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert_eq!(after, expected);
    assert_eq!(fs::read_to_string(room.path().join(".workshop/cleaned-1/artifacts/a.md")).unwrap(), "done");
    assert_eq!(walk().len(), once.len() - 1, "it goes once more as it went, without the mail");
    succeed(room.path(), &["clean", "--yes"]);
    assert!(room.path().join(".workshop/cleaned-2").is_dir());
    let told = output(room.path(), &["clean", "--yes"]);
    assert!(String::from_utf8_lossy(&told.stderr).contains("nothing to clean"));
}
