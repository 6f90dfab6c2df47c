//! The path of a message through a team: a planner turns it into tasks, an executor looks something up with an approved
//! command, an evaluator writes the reply, and a second approved command sends it. Run by single pumps, continuously,
//! and with kills at any moment.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::cases;
use crate::program::{Running, files, json_lines, output, succeed, workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        a_message_is_answered_by_pumps_with_approvals_in_between,
        a_message_is_answered_while_watching,
        a_killed_walk_continues_and_does_nothing_twice,
        a_full_disk_is_reported_and_the_walk_continues_once_there_is_space,
        pumps_of_a_finished_walk_change_no_file_and_call_no_model,
    ]
}

const APPROVALS: &str = "tasks/approvals.task.md";
const WORK: &str = "tasks/work.task.md";
/// The scripts of the first and the second command; each records that it ran.
const CONTAINERS: &str = "#!/bin/sh\necho looked >> artifacts/ran.txt\necho 'CONTAINER  IMAGE'\n";
const REPLY: &str = "#!/bin/sh\necho \"sent $1: $2\" >> artifacts/ran.txt\necho 'ok: delivered'\n";
const SCENE: &str = "name: Walk\nseed: 3\nelements: []\nagents:\n\
    \x20 - { id: planner-001, profile: planner-001, position: [-200, 0] }\n\
    \x20 - { id: retriever-001, profile: retriever-001, position: [0, -200] }\n\
    \x20 - { id: executor-001, profile: executor-001, position: [200, 0] }\n\
    \x20 - { id: executor-002, profile: executor-002, position: [250, 90] }\n\
    \x20 - { id: evaluator-001, profile: evaluator-001, position: [0, 200] }\n";

/// What each agent says, depending on its last input; `SENDER` is the agent that sends the reply.
const SCRIPT: &str = r#"
agents:
  planner-001:
    - when: { contains: "redis running" }
      tools: [ { name: create_task, arguments: { title: "Look whether Redis runs", assignee: executor-001 } } ]
    - when: { contains: "Written: task look-whether-redis-runs" }
      text: "Emil looks."
    - when: { contains: "“Look whether Redis runs” was done" }
      tools: [ { name: create_task, arguments: { title: "Word the reply to Sarah", assignee: evaluator-001, description: "Redis does not run." } } ]
    - when: { contains: "Written: task word-the-reply-to-sarah" }
      text: "Eva words it."
    - when: { contains: "“Word the reply to Sarah” was done" }
      tools: [ { name: create_task, arguments: { title: "Send the reply to Sarah", assignee: SENDER, description: "Hi Sarah, Redis is down." } } ]
    - when: { contains: "Written: task send-the-reply-to-sarah" }
      text: "Emil sends it."
    - when: { contains: "“Send the reply to Sarah” was done" }
      text: "Sarah has her answer; nothing is left."
  evaluator-001:
    - when: { contains: "This is task word-the-reply-to-sarah" }
      tools: [ { name: read_file, arguments: { path: memory/team-prefs.md } } ]
    - when: { contains: "Sarah likes it short" }
      tools: [ { name: update_task, arguments: { id: word-the-reply-to-sarah, status: completed } } ]
    - when: { contains: "Changed: task word-the-reply-to-sarah" }
      text: "Hi Sarah, Redis is down."
  executor-001:
    - when: { contains: "This is task look-whether-redis-runs" }
      tools: [ { name: read_file, arguments: { path: memory/system-config.md } } ]
    - when: { contains: "plugins/containers.sh" }
      tools: [ { name: execute_command, arguments: { command: "sh plugins/containers.sh" } } ]
    - when: { contains: "CONTAINER  IMAGE" }
      tools: [ { name: update_task, arguments: { id: look-whether-redis-runs, status: completed } } ]
    - when: { contains: "Changed: task look-whether-redis-runs" }
      text: "No container of Redis runs."
    - when: { contains: "its outcome is unknown" }
      tools: [ { name: execute_command, arguments: { command: "sh plugins/containers.sh" } } ]
      repeat: true
"#;
const SENDING: &str = r#"    - when: { contains: "This is task send-the-reply-to-sarah" }
      tools: [ { name: read_file, arguments: { path: memory/replying.md } } ]
    - when: { contains: "plugins/slack/actions/reply.sh" }
      tools: [ { name: execute_command, arguments: { command: "sh plugins/slack/actions/reply.sh sarah 'Hi Sarah, Redis is down.'" } } ]
    - when: { contains: "ok: delivered" }
      tools: [ { name: update_task, arguments: { id: send-the-reply-to-sarah, status: completed } } ]
    - when: { contains: "Changed: task send-the-reply-to-sarah" }
      text: "The reply is sent."
    - when: { contains: "its outcome is unknown" }
      tools: [ { name: execute_command, arguments: { command: "sh plugins/slack/actions/reply.sh sarah 'Hi Sarah, Redis is down.'" } } ]
      repeat: true
"#;
/// A sender other than the agent that looks things up, so that each has only one command to repeat after a kill.
const OTHER_SENDER: &str = "executor-002";

fn script(sender: &str) -> String {
    let section = if sender == OTHER_SENDER { "  executor-002:\n" } else { "" };
    let nothing = "default:\n  - text: \"I have nothing to do.\"\n";
    format!("{}{section}{SENDING}{nothing}", SCRIPT.replace("SENDER", sender))
}

fn room(sender: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let template = |role: &str| {
        let path = format!("{}/templates/{role}.agent.yaml", env!("CARGO_MANIFEST_DIR"));
        (format!("templates/{role}.agent.yaml"), fs::read_to_string(path).unwrap())
    };
    let written = [
        // Check-ins would add model calls.
        ("settings.yaml", "tasks: { planner_checkins: false }\n"),
        ("scenes/walk.yaml", SCENE),
        ("script.yaml", &script(sender)),
        ("memory/system-config.md", "Containers are listed by plugins/containers.sh.\n"),
        ("memory/replying.md", "Reply with plugins/slack/actions/reply.sh RECIPIENT MESSAGE.\n"),
        ("memory/team-prefs.md", "Sarah likes it short and friendly.\n"),
        ("plugins/containers.sh", CONTAINERS),
        ("plugins/slack/actions/reply.sh", REPLY),
        ("artifacts/about.md", "What comes of the work.\n"),
    ];
    let written = written.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned()));
    let mut all: Vec<(String, String)> =
        written.chain(["planner", "retriever", "executor", "evaluator"].map(template)).collect();
    let other = all.iter().find(|(path, _)| path.contains("executor")).unwrap().1.replace("executor-001", OTHER_SENDER);
    all.push(("templates/sender.agent.yaml".to_owned(), other));
    for (path, text) in all {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

const PUMP: [&str; 6] = ["daemon", "--pump", "--provider", "scripted:script.yaml", "--events", "-"];

/// Writes the message into the inbox, as the Slack connector does.
fn message_arrives(room: &Path) {
    fs::create_dir_all(room.join("inbox")).unwrap();
    let line = serde_json::json!({ "user": "Sarah", "channel": "#ops", "text": "Can you check if Redis running?" });
    fs::write(room.join("inbox/slack-messages.jsonl"), format!("{line}\n")).unwrap();
}

/// Runs one pump. Returns its exit code, its events of models, tools and results, and stderr.
fn pump(room: &Path) -> (i32, Vec<Value>, String) {
    let ended = output(room, &PUMP);
    let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
    let is_act = |event: &Value| ["model_call", "tool_call", "complete"].iter().any(|kind| event["type"] == *kind);
    let acts = events.into_iter().filter(is_act).collect();
    (ended.status.code().unwrap(), acts, String::from_utf8_lossy(&ended.stderr).into_owned())
}

fn read(room: &Path, path: &str) -> String {
    fs::read_to_string(room.join(path)).unwrap_or_default()
}

/// Approves everything that is pending. Returns whether anything was.
fn allow_all(room: &Path) -> bool {
    let text = read(room, APPROVALS);
    let allowed = text.replace("- [ ] A @human", "- [x] A @human");
    let is_pending = allowed != text;
    if is_pending {
        fs::write(room.join(APPROVALS), allowed).unwrap();
    }
    is_pending
}

/// Checks the final state, and that no command ran more often than a person allowed it.
fn assert_answered(room: &Path, context: &str) {
    let context = &format!("{context}\n{}", sessions(room).into_values().collect::<String>());
    let (ran, approvals, work) = (read(room, "artifacts/ran.txt"), read(room, APPROVALS), read(room, WORK));
    for (command, line) in [("`sh plugins/containers.sh`", "looked"), ("reply.sh sarah", "sent sarah: Hi Sarah")] {
        let of_command =
            approvals.split("\n- [").filter(|task| task.lines().next().is_some_and(|it| it.contains(command)));
        let allowed = of_command.filter(|task| task.contains("  status: approved")).count();
        let runs = ran.lines().filter(|it| it.starts_with(line)).count();
        assert!(
            (1..=allowed).contains(&runs),
            "{context}: {command} ran {runs} times and was allowed {allowed}:\n{approvals}"
        );
    }
    for task in ["look-whether-redis-runs", "word-the-reply-to-sarah", "send-the-reply-to-sarah"] {
        assert_eq!(work.matches(&format!("  id: {task}\n")).count(), 1, "{context}: {work}");
    }
    assert_eq!(
        (work.matches("- [x]").count(), work.matches("  status: completed").count()),
        (3, 3),
        "{context}: {work}"
    );
    assert_eq!(approvals.matches("  status: pending").count(), 0, "{context}: {approvals}");
}

/// Checks that every command was approved once and ran once.
fn assert_once(room: &Path) {
    assert_eq!(read(room, "artifacts/ran.txt"), "looked\nsent sarah: Hi Sarah, Redis is down.\n");
    assert_eq!(read(room, APPROVALS).matches("\n- [").count(), 2, "{}", read(room, APPROVALS));
}

/// The exit code and the calls and results of agents in each pump, in order. The message arrives before the first pump,
/// and the person's two approvals before the third and the eighth.
const WALK: [(i32, &[&str]); 10] = [
    (0, &["planner-001 create_task", "executor-001 read_file"]),
    (4, &["planner-001 concludes: Emil looks.", "executor-001 execute_command"]),
    (0, &["executor-001 update_task"]),
    (0, &["executor-001 concludes: No container of Redis runs.", "planner-001 create_task", "evaluator-001 read_file"]),
    (0, &["planner-001 concludes: Eva words it.", "evaluator-001 update_task"]),
    (0, &["evaluator-001 concludes: Hi Sarah, Redis is down.", "planner-001 create_task", "executor-001 read_file"]),
    (4, &["planner-001 concludes: Emil sends it.", "executor-001 execute_command"]),
    (0, &["executor-001 update_task"]),
    (
        0,
        &[
            "executor-001 concludes: The reply is sent.",
            "planner-001 concludes: Sarah has her answer; nothing is left.",
        ],
    ),
    (0, &[]),
];

/// Returns an event as a short text, if it is a call or a result.
fn step(event: &Value) -> Option<String> {
    let agent = event["agent"].as_str()?;
    match event["type"].as_str()? {
        "tool_call" => Some(format!("{agent} {}", event["data"]["tool"].as_str()?)),
        "complete" => Some(format!("{agent} concludes: {}", event["data"]["text"].as_str()?)),
        _ => None,
    }
}

fn a_message_is_answered_by_pumps_with_approvals_in_between() {
    let room = room("executor-001");
    message_arrives(room.path());
    for (number, (code, expected)) in WALK.into_iter().enumerate() {
        let (ended, acts, stderr) = pump(room.path());
        let steps: Vec<String> = acts.iter().filter_map(step).collect();
        assert_eq!(
            (ended, steps),
            (code, expected.iter().map(|&step| step.to_owned()).collect()),
            "{number}: {stderr}"
        );
        if code == 4 {
            assert!(stderr.contains("wants to run"), "{stderr}");
            let before = files(room.path());
            let (ended, acts, stderr) = pump(room.path());
            assert_eq!((ended, acts.len()), (4, 0), "nothing happens before the approval: {stderr}");
            assert_eq!(files(room.path()), before, "no file changes");
            assert!(allow_all(room.path()), "the approval is in the file");
        }
    }
    assert_answered(room.path(), "by pumps");
    assert_once(room.path());
    let conclusions = ["No container of Redis runs.", "Hi Sarah, Redis is down.", "The reply is sent."];
    for conclusion in conclusions {
        let is_written = |quote: &str| {
            let line = format!("  conclusion: {quote}{conclusion}{quote}\n");
            read(room.path(), WORK).contains(&line)
        };
        assert!(is_written("") || is_written("\""), "{conclusion}: {}", read(room.path(), WORK));
    }
    // Each session contains the messages and results that its agent got.
    let expected = [
        ("planner-001", "Can you check if Redis running?"),
        ("planner-001", "No container of Redis runs."),
        ("planner-001", "The reply is sent."),
        ("executor-001", "Containers are listed by plugins/containers.sh."),
        ("executor-001", "CONTAINER  IMAGE"),
        ("executor-001", "ok: delivered"),
        ("evaluator-001", "Sarah likes it short and friendly."),
    ];
    for (agent, text) in expected {
        let of_agent = sessions(room.path()).into_iter().filter(|(name, _)| name.starts_with(agent));
        assert!(
            of_agent.into_iter().any(|(_, session)| session.contains(text)),
            "the session of {agent} does not contain {text:?}"
        );
    }
}

/// Reads the session files, by name.
fn sessions(room: &Path) -> BTreeMap<String, String> {
    let all = fs::read_dir(room.join("sessions")).unwrap().flatten();
    all.map(|file| (file.file_name().into_string().unwrap(), fs::read_to_string(file.path()).unwrap())).collect()
}

fn a_message_is_answered_while_watching() {
    let room = room("executor-001");
    message_arrives(room.path());
    let watch = ["daemon", "--watch", "--speed", "16", "--provider", "scripted:script.yaml", "--events", "-"];
    let mut running = Running::start(room.path(), &watch);
    for _ in 0..2 {
        running.wait_for("the approval request", |event| event["type"] == "approval_requested");
        let until = Instant::now() + Duration::from_secs(30);
        while !allow_all(room.path()) && Instant::now() < until {
            std::thread::yield_now();
        }
    }
    running.wait_for("the end of the work", |event| {
        event["type"] == "complete" && event["data"]["text"] == "Sarah has her answer; nothing is left."
    });
    assert_eq!(running.interrupt().0, Some(130));
    assert_answered(room.path(), "watched");
    assert_once(room.path());
}

/// Kills pumps at random moments until everything is done. Returns the workspace and the number of pumps that were
/// killed.
fn walk_with_kills(seed: u64) -> (TempDir, usize) {
    let room = room(OTHER_SENDER);
    message_arrives(room.path());
    let mut state = seed;
    let mut next = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let (mut kills, mut longest_ms) = (0, 160);
    for _ in 0..60 {
        let mut pump = workshop(room.path(), &PUMP);
        let mut child = pump.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(5 + next(longest_ms)));
        // If the pump has already ended by itself, the next one is killed sooner.
        let _ = child.kill();
        let was_killed = child.wait().unwrap().code().is_none();
        kills += usize::from(was_killed);
        longest_ms = if was_killed { 160 } else { (longest_ms * 2 / 3).max(20) };
        allow_all(room.path());
        if read(room.path(), WORK).matches("  status: completed").count() == 3 {
            break;
        }
    }
    pump_to_the_end(room.path());
    (room, kills)
}

/// Runs pumps and approves everything until nothing is left to do.
fn pump_to_the_end(room: &Path) {
    for _ in 0..40 {
        let (code, acts, _) = pump(room);
        if !allow_all(room) && code == 0 && acts.is_empty() {
            break;
        }
    }
}

fn a_killed_walk_continues_and_does_nothing_twice() {
    let wanted = std::env::var("WORKSHOP_MORE_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(20);
    let mut kills = 0;
    for seed in 0.. {
        let (room, killed) = walk_with_kills(seed);
        assert_answered(room.path(), &format!("seed {seed}"));
        assert!(killed > 0, "seed {seed}: every pump ended before it was killed");
        kills += killed;
        if kills >= wanted {
            println!("{kills} kills in {} walks", seed + 1);
            return;
        }
    }
}

/// Runs a pump that cannot make a file longer than this many blocks of 512 bytes, which simulates a full disk.
fn pump_on_a_full_disk(room: &Path, blocks: usize) -> Output {
    // Child processes inherit the ignored signal, so that writing fails without killing them.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_workshop")).args(PUMP);
    command.current_dir(room).stdin(Stdio::null()).env("WORKSHOP_TRUST", "1").output().unwrap()
}

fn a_full_disk_is_reported_and_the_walk_continues_once_there_is_space() {
    let room = room(OTHER_SENDER);
    message_arrives(room.path());
    for number in 0..WALK.len() {
        for blocks in [0, 1 << (number % 6)] {
            let ended = pump_on_a_full_disk(room.path(), blocks);
            let stderr = String::from_utf8_lossy(&ended.stderr);
            assert!(ended.status.code().is_some(), "{blocks} blocks: {}: {stderr}", ended.status);
            if blocks == 0 {
                assert!(!ended.status.success() && stderr.contains("disk"), "{}: {stderr}", ended.status);
            }
        }
        pump(room.path());
        allow_all(room.path());
    }
    pump_to_the_end(room.path());
    assert_answered(room.path(), "after a full disk");
}

fn pumps_of_a_finished_walk_change_no_file_and_call_no_model() {
    let (room, _) = walk_with_kills(77);
    let before = files(room.path());
    let pumps = std::env::var("WORKSHOP_MORE_PUMPS").ok().and_then(|count| count.parse().ok()).unwrap_or(10);
    for _ in 0..pumps {
        let (code, acts, stderr) = pump(room.path());
        assert_eq!((code, acts.len()), (0, 0), "{stderr}");
    }
    assert_eq!(files(room.path()), before);
    succeed(room.path(), &["clean", "--yes"]);
}
