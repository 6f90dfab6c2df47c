//! Sessions that a person edits in an ordinary editor, with the real program: one pump at a time, while watching, and
//! with kills at any moment; and check-ins of planners between pumps.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::cases;
use crate::program::{Running, files, json_lines, output, workshop, write};

pub fn trials() -> Vec<Trial> {
    cases![
        a_session_is_started_and_continued_by_pumps,
        a_message_is_answered_quickly_while_watching,
        messages_are_answered_once_despite_kills,
        check_ins_happen_between_pumps_only_if_tasks_are_open,
    ]
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n  - { id: writer, profile: writer, position: [300, 0] }\n";
const SCRIPT: &str = r#"
agents:
  writer:
    - { when: { contains: "Hello?" }, text: "First.", repeat: true }
    - { when: { contains: "And?" }, text: "Second.", repeat: true }
    - { when: { contains: "More?" }, text: "Third.", repeat: true }
    - { when: { contains: "From an old text" }, text: "Third.", repeat: true }
    - { when: { contains: "Last?" }, text: "Fourth.", repeat: true }
default:
  - text: I have nothing to do.
"#;
const TALK: &str = "sessions/talk.session.yaml";
const NEW_SESSION: &str = "session_id: talk\nagent_id: writer\nmessages:\n  - role: user\n    content: Hello? # mine\n";
const PUMP: [&str; 6] = ["daemon", "--pump", "--provider", "scripted:script.yaml", "--events", "-"];

fn room(role: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lead = format!("---\nagent_type: {role}\nbehaviour: stationary\n---\nYou lead.\n");
    let files = [
        ("settings.yaml", ""),
        ("scenes/test.yaml", SCENE),
        ("agents/lead.md", &lead),
        ("agents/writer.md", "---\nbehaviour: stationary\n---\nYou write.\n"),
        ("script.yaml", SCRIPT),
    ];
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    folder
}

fn read(room: &Path, path: &str) -> String {
    fs::read_to_string(room.join(path)).unwrap_or_default()
}

/// Runs one pump. Returns its exit code, the number of model calls, and stderr.
fn pump(room: &Path) -> (i32, usize, String) {
    let ended = output(room, &PUMP);
    let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
    let calls = events.iter().filter(|event| event["type"] == "model_call").count();
    (ended.status.code().unwrap(), calls, String::from_utf8_lossy(&ended.stderr).into_owned())
}

fn contents(room: &Path, path: &str) -> Vec<String> {
    let session: Value = serde_yaml::from_str(&read(room, path)).unwrap_or_else(|error| panic!("{error}"));
    let all = session["messages"].as_array().unwrap().iter();
    all.map(|one| one["content"].as_str().unwrap().to_owned()).collect()
}

fn add_message(room: &Path, path: &str, words: &str) {
    let text = format!("{}  - role: user\n    content: {words}\n", read(room, path));
    write(room, path, &text);
}

fn a_session_is_started_and_continued_by_pumps() {
    let room = room("other");
    write(room.path(), TALK, NEW_SESSION);
    let (code, calls, stderr) = pump(room.path());
    assert_eq!((code, calls), (0, 1), "{stderr}");
    assert_eq!(contents(room.path(), TALK), ["Hello?", "First."]);
    assert!(read(room.path(), TALK).contains("  - role: user\n    content: Hello? # mine\n"));
    let before = files(room.path());
    assert_eq!(pump(room.path()).1, 0);
    assert_eq!(files(room.path()), before, "an answered session is not changed");
    add_message(room.path(), TALK, "And?");
    assert_eq!(pump(room.path()).1, 1);
    assert_eq!(contents(room.path(), TALK), ["Hello?", "First.", "And?", "Second."]);
    // An invalid file is reported, left alone, and used again once it is valid.
    let good = read(room.path(), TALK);
    write(room.path(), TALK, &good.replace("content: And?", "content: \"And?"));
    add_message(room.path(), TALK, "More?");
    let broken = read(room.path(), TALK);
    let (code, calls, stderr) = pump(room.path());
    assert_eq!((code, calls), (0, 0), "{stderr}");
    assert!(stderr.contains("talk.session.yaml") && stderr.contains("invalid YAML"), "{stderr}");
    assert_eq!(read(room.path(), TALK), broken);
    write(room.path(), TALK, &broken.replace("content: \"And?", "content: And?"));
    assert_eq!(pump(room.path()).1, 1);
    assert_eq!(contents(room.path(), TALK)[4..], ["More?", "Third."]);
}

fn a_message_is_answered_quickly_while_watching() {
    let room = room("other");
    let watch = ["daemon", "--watch", "--provider", "scripted:script.yaml", "--events", "-"];
    let mut running = Running::start(room.path(), &watch);
    running.wait_for("the room is open", |event| event["type"] == "agent_added" && event["agent"] == "writer");
    let (mut longest, mut old) = (Duration::ZERO, String::new());
    write(room.path(), TALK, NEW_SESSION);
    for answer in ["First.", "Second.", "Third."] {
        let saved = Instant::now();
        running.wait_for("the work", |event| event["type"] == "activation" && event["agent"] == "writer");
        longest = longest.max(saved.elapsed());
        running.wait_for(answer, |event| event["type"] == "complete" && event["data"]["text"] == answer);
        let until = Instant::now() + Duration::from_secs(20);
        while !read(room.path(), TALK).contains(answer) && Instant::now() < until {
            std::thread::yield_now();
        }
        if answer == "Second." {
            // An editor saves an outdated text with another message.
            write(room.path(), TALK, &format!("{old}  - role: user\n    content: From an old text\n"));
        } else if answer == "First." {
            add_message(room.path(), TALK, "And?");
            old = read(room.path(), TALK);
        }
    }
    assert_eq!(running.interrupt().0, Some(130));
    let messages = contents(room.path(), TALK);
    for words in ["Hello?", "First.", "And?", "Second.", "From an old text", "Third."] {
        assert_eq!(messages.iter().filter(|one| *one == words).count(), 1, "{words} in {messages:?}");
    }
    assert!(longest < Duration::from_secs(10), "work started {longest:?} after saving");
}

fn messages_are_answered_once_despite_kills() {
    let seeds = std::env::var("WORKSHOP_MORE_SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(3);
    for seed in 0..seeds {
        let room = room("other");
        let mut state: u64 = seed;
        let mut next = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        write(room.path(), TALK, NEW_SESSION);
        for words in ["And?", "More?", "Last?"] {
            for _ in 0..3 {
                let mut pump = workshop(room.path(), &PUMP);
                let mut child = pump.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                std::thread::sleep(Duration::from_millis(5 + next(160)));
                let _ = child.kill();
                child.wait().unwrap();
            }
            // The person continues from the current text.
            add_message(room.path(), TALK, words);
        }
        for _ in 0..8 {
            if pump(room.path()).1 == 0 {
                break;
            }
        }
        let messages = contents(room.path(), TALK);
        for words in ["Hello?", "And?", "More?", "Last?"] {
            assert_eq!(messages.iter().filter(|one| *one == words).count(), 1, "seed {seed}: {words} in {messages:?}");
        }
        let answers = messages.iter().filter(|one| ["First.", "Second.", "Third.", "Fourth."].contains(&one.as_str()));
        let answers: Vec<&String> = answers.collect();
        let mut once = answers.clone();
        once.dedup();
        assert_eq!(answers, once, "seed {seed}: no answer is given twice: {messages:?}");
        assert!(!answers.is_empty() && messages.last() == answers.last().copied(), "seed {seed}: {messages:?}");
    }
}

fn check_ins_happen_between_pumps_only_if_tasks_are_open() {
    let room = room("planner");
    let path = "storage/planner-checkin.yaml";
    assert_eq!(pump(room.path()).1, 0, "the first pump calls no model");
    let first = read(room.path(), path);
    assert!(first.contains("checkin_count: 0\n") && first.contains("interval_seconds: 60\n"), "{first}");
    let before = files(room.path());
    let pumps = std::env::var("WORKSHOP_MORE_PUMPS").ok().and_then(|count| count.parse().ok()).unwrap_or(10);
    for _ in 0..pumps {
        let (code, calls, stderr) = pump(room.path());
        assert_eq!((code, calls), (0, 0), "{stderr}");
    }
    assert_eq!(files(room.path()), before);
    // A task is open, and according to the file the last check-in was long ago.
    write(room.path(), "tasks/work.task.md", "- [ ] @human Decide\n");
    let old = first.lines().map(|line| match line.strip_prefix("last_checkin:") {
        Some(_) => "last_checkin: \"2020-01-01T00:00:00Z\"\n".to_owned(),
        None => format!("{}\n", line.replace("interval_seconds: 60", "interval_seconds: 5 # often")),
    });
    write(room.path(), path, &old.collect::<String>());
    let until = Instant::now() + Duration::from_secs(30);
    let mut check_in_calls = 0;
    while check_in_calls == 0 && Instant::now() < until {
        check_in_calls += pump(room.path()).1;
    }
    assert_eq!(check_in_calls, 1, "there is one check-in after the interval");
    let text = read(room.path(), path);
    assert!(text.contains("checkin_count: 1\n") && text.contains("interval_seconds: 5 # often\n"), "{text}");
    let session = text.lines().find_map(|line| line.strip_prefix("planner_session: ")).unwrap().to_owned();
    let messages = contents(room.path(), &format!("sessions/{session}"));
    assert!(messages[0].contains("Check-in with running agents to ensure progress"), "{messages:?}");
    write(room.path(), "tasks/work.task.md", "- [x] @human Decide\n");
    pump(room.path());
    let before = files(room.path());
    for _ in 0..3 {
        assert_eq!(pump(room.path()).1, 0);
    }
    assert_eq!(files(room.path()), before, "no task is open any more");
}
