//! Sessions written by a person in an ordinary editor, with the whole program: one pump at a time, watched, and killed
//! at any moment; and planners that are asked to check in between pumps.

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
        a_session_is_begun_and_gone_on_with_by_pumps,
        a_message_is_answered_within_a_moment_while_somebody_watches,
        wherever_it_is_killed_a_message_is_answered_once_and_not_lost,
        check_ins_come_between_pumps_and_a_settled_workspace_is_left_alone,
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
const BEGIN: &str = "session_id: talk\nagent_id: writer\nmessages:\n  - role: user\n    content: Hello? # mine\n";
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

/// One pump: its exit code, the events of model calls, and its output.
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

fn add(room: &Path, path: &str, words: &str) {
    let text = format!("{}  - role: user\n    content: {words}\n", read(room, path));
    write(room, path, &text);
}

fn a_session_is_begun_and_gone_on_with_by_pumps() {
    let room = room("other");
    write(room.path(), TALK, BEGIN);
    let (code, calls, told) = pump(room.path());
    assert_eq!((code, calls), (0, 1), "{told}");
    assert_eq!(contents(room.path(), TALK), ["Hello?", "First."]);
    assert!(read(room.path(), TALK).contains("  - role: user\n    content: Hello? # mine\n"));
    let before = files(room.path());
    assert_eq!(pump(room.path()).1, 0);
    assert_eq!(files(room.path()), before, "what is settled is left alone");
    add(room.path(), TALK, "And?");
    assert_eq!(pump(room.path()).1, 1);
    assert_eq!(contents(room.path(), TALK), ["Hello?", "First.", "And?", "Second."]);
    // Invalid in the middle: reported, left alone, and used again once it is valid.
    let good = read(room.path(), TALK);
    write(room.path(), TALK, &good.replace("content: And?", "content: \"And?"));
    add(room.path(), TALK, "More?");
    let broken = read(room.path(), TALK);
    let (code, calls, told) = pump(room.path());
    assert_eq!((code, calls), (0, 0), "{told}");
    assert!(told.contains("talk.session.yaml") && told.contains("invalid YAML"), "{told}");
    assert_eq!(read(room.path(), TALK), broken);
    write(room.path(), TALK, &broken.replace("content: \"And?", "content: And?"));
    assert_eq!(pump(room.path()).1, 1);
    assert_eq!(contents(room.path(), TALK)[4..], ["More?", "Third."]);
}

fn a_message_is_answered_within_a_moment_while_somebody_watches() {
    let room = room("other");
    let watch = ["daemon", "--watch", "--provider", "scripted:script.yaml", "--events", "-"];
    let mut running = Running::start(room.path(), &watch);
    running.wait_for("the room is open", |event| event["type"] == "agent_added" && event["agent"] == "writer");
    let (mut longest, mut old) = (Duration::ZERO, String::new());
    write(room.path(), TALK, BEGIN);
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
            // An editor with an old text saves it once more, with another message.
            write(room.path(), TALK, &format!("{old}  - role: user\n    content: From an old text\n"));
        } else if answer == "First." {
            add(room.path(), TALK, "And?");
            old = read(room.path(), TALK);
        }
    }
    assert_eq!(running.interrupt().0, Some(130));
    let said = contents(room.path(), TALK);
    for words in ["Hello?", "First.", "And?", "Second.", "From an old text", "Third."] {
        assert_eq!(said.iter().filter(|one| *one == words).count(), 1, "{words} in {said:?}");
    }
    assert!(longest < Duration::from_secs(10), "it took {longest:?} from the save to the work");
}

fn wherever_it_is_killed_a_message_is_answered_once_and_not_lost() {
    let seeds = std::env::var("WORKSHOP_MORE_SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(3);
    for seed in 0..seeds {
        let room = room("other");
        let mut state: u64 = seed;
        let mut next = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        write(room.path(), TALK, BEGIN);
        for words in ["And?", "More?", "Last?"] {
            for _ in 0..3 {
                let mut pump = workshop(room.path(), &PUMP);
                let mut child = pump.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                std::thread::sleep(Duration::from_millis(5 + next(160)));
                let _ = child.kill();
                child.wait().unwrap();
            }
            // The person continues from the present text.
            add(room.path(), TALK, words);
        }
        for _ in 0..8 {
            if pump(room.path()).1 == 0 {
                break;
            }
        }
        let said = contents(room.path(), TALK);
        for words in ["Hello?", "And?", "More?", "Last?"] {
            assert_eq!(said.iter().filter(|one| *one == words).count(), 1, "seed {seed}: {words} in {said:?}");
        }
        let answers = said.iter().filter(|one| ["First.", "Second.", "Third.", "Fourth."].contains(&one.as_str()));
        let answers: Vec<&String> = answers.collect();
        let mut once = answers.clone();
        once.dedup();
        assert_eq!(answers, once, "seed {seed}: nothing is said twice: {said:?}");
        assert!(!answers.is_empty() && said.last() == answers.last().copied(), "seed {seed}: {said:?}");
    }
}

fn check_ins_come_between_pumps_and_a_settled_workspace_is_left_alone() {
    let room = room("planner");
    let place = "storage/planner-checkin.yaml";
    assert_eq!(pump(room.path()).1, 0, "the first pump asks nobody");
    let begun = read(room.path(), place);
    assert!(begun.contains("checkin_count: 0\n") && begun.contains("interval_seconds: 60\n"), "{begun}");
    let before = files(room.path());
    let pumps = std::env::var("WORKSHOP_MORE_PUMPS").ok().and_then(|count| count.parse().ok()).unwrap_or(10);
    for _ in 0..pumps {
        let (code, calls, told) = pump(room.path());
        assert_eq!((code, calls), (0, 0), "{told}");
    }
    assert_eq!(files(room.path()), before);
    // Something is open, and the last check-in was long ago: the person writes so in the file.
    write(room.path(), "tasks/work.task.md", "- [ ] @human Decide\n");
    let old = begun.lines().map(|line| match line.strip_prefix("last_checkin:") {
        Some(_) => "last_checkin: \"2020-01-01T00:00:00Z\"\n".to_owned(),
        None => format!("{}\n", line.replace("interval_seconds: 60", "interval_seconds: 5 # often")),
    });
    write(room.path(), place, &old.collect::<String>());
    let until = Instant::now() + Duration::from_secs(30);
    let mut asked = 0;
    while asked == 0 && Instant::now() < until {
        asked += pump(room.path()).1;
    }
    assert_eq!(asked, 1, "one message, once it has been open for as long as the interval");
    let text = read(room.path(), place);
    assert!(text.contains("checkin_count: 1\n") && text.contains("interval_seconds: 5 # often\n"), "{text}");
    let session = text.lines().find_map(|line| line.strip_prefix("planner_session: ")).unwrap().to_owned();
    let said = contents(room.path(), &format!("sessions/{session}"));
    assert!(said[0].contains("Check-in with running agents to ensure progress"), "{said:?}");
    write(room.path(), "tasks/work.task.md", "- [x] @human Decide\n");
    pump(room.path());
    let before = files(room.path());
    for _ in 0..3 {
        assert_eq!(pump(room.path()).1, 0);
    }
    assert_eq!(files(room.path()), before, "nothing is open any more");
}
