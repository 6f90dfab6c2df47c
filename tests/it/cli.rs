//! The program as its user starts it: the real binary, a real folder, edits on disk, and sudden death.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use agent_workshop::base::hash::content_hash;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::hostile_server::{Server, end_event, stream_of, text_event};

/// Nothing here may take longer in real time.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn trials() -> Vec<Trial> {
    cases![
        the_first_command_makes_a_workspace_and_lives_ten_minutes,
        a_pipe_stays_quiet,
        bad_usage_ends_with_2_and_says_why,
        a_picture_of_the_room_needs_no_display,
        a_window_without_a_display_says_what_to_do_instead,
        events_on_standard_output_keep_the_contract,
        a_run_replays_to_the_same_worlds,
        answers_that_came_at_random_times_are_replayed_at_the_same_ticks,
        an_edit_on_disk_is_noticed_within_a_second_and_read,
        what_agents_do_is_written_to_the_scene_without_touching_the_rest,
        killed_at_any_moment_the_room_goes_on_where_it_was,
        an_interrupt_ends_with_130_and_loses_nothing,
        two_processes_never_share_a_workspace,
        a_task_prints_its_answer,
        doctor_names_what_is_broken_and_where,
        init_never_overwrites,
        a_scene_that_is_missing_is_named_with_those_there_are,
        a_budget_stops_with_3_and_says_which,
    ]
}

fn workshop(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workshop"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    for key in ["GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "WORKSHOP_LOG"] {
        command.env_remove(key);
    }
    command
}

fn output(folder: &Path, arguments: &[&str]) -> Output {
    workshop(folder, arguments).output().unwrap()
}

pub fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = output(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A running `workshop run --events -` whose events can be waited for.
struct Running {
    child: Child,
    events: mpsc::Receiver<Value>,
    seen: Vec<Value>,
}

impl Running {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = workshop(folder, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
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

    fn wait_for(&mut self, what: &str, condition: impl Fn(&Value) -> bool) -> Value {
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
        panic!("{what} did not happen; {} events came; {errors}", self.seen.len());
    }

    fn kill(mut self) -> Vec<Value> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.seen.extend(self.events.iter());
        std::mem::take(&mut self.seen)
    }

    fn interrupt(mut self) -> Option<i32> {
        Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        self.child.wait().unwrap().code()
    }
}

fn rules_file(room: &Path) -> PathBuf {
    room.join("scenes/studio.yaml")
}

/// Changes the text of the rulebook in place, as an editor would.
fn edit_rules(room: &Path, to: &str) {
    let scene = fs::read_to_string(rules_file(room)).unwrap();
    let start = scene.find("kind: rulebook").expect("the studio has a rulebook");
    let text = start + scene[start..].find("text:").expect("with a text");
    let line_end = text + scene[text..].find('\n').unwrap();
    let block_end = line_end + 1 + scene[line_end + 1..].find("\n  - ").expect("and more elements after it") + 1;
    let edited = format!("{}text: {}\n{}", &scene[..text], serde_json::to_string(to).unwrap(), &scene[block_end..]);
    fs::write(rules_file(room), edited).unwrap();
}

fn the_first_command_makes_a_workspace_and_lives_ten_minutes() {
    let folder = folder();
    succeed(folder.path(), &["run", "--for", "10m", "--speed", "max"]);
    let room = folder.path().join("my-workshop");
    assert!(room.join("settings.yaml").is_file() && room.join("agents").is_dir());
    let events = json_lines(&succeed(&room, &["export", "--events", "-"]));
    for kind in ["run_start", "agent_added", "read", "conversation_start", "message", "memory", "model_call", "run_end"]
    {
        assert!(events.iter().any(|event| event["type"] == kind), "no {kind} in ten minutes");
    }
    assert!(events.iter().any(|event| event["tick"].as_u64() >= Some(17_900)));
    assert!(events.windows(2).all(|pair| pair[0]["seq"].as_u64() < pair[1]["seq"].as_u64()), "seq does not rise");
}

fn a_pipe_stays_quiet() {
    let folder = folder();
    succeed(folder.path(), &["init", "room"]);
    let quiet = output(folder.path(), &["run", "room", "--for", "20s", "--speed", "max"]);
    assert!(quiet.status.success());
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty(), "{}", String::from_utf8_lossy(&quiet.stderr));
}

fn bad_usage_ends_with_2_and_says_why() {
    let folder = folder();
    let wrong = [
        &["run", "--speed", "7"][..],
        &["run", "--for", "soon"],
        &["run", "--provider", "opanai"],
        &["frobnicate"],
        &["replay", "last"],
    ];
    for arguments in wrong {
        let output = output(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?} says nothing");
    }
}

/// Without the window there is nothing to draw it with.
fn has_window() -> bool {
    cfg!(feature = "window")
}

fn a_picture_of_the_room_needs_no_display() {
    if !has_window() {
        return;
    }
    let folder = folder();
    let picture = ["--screenshot", "room.png", "--scene", "newsroom", "--size", "640x400", "--after", "2s"];
    let output =
        workshop(folder.path(), &picture).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let png = fs::read(folder.path().join("room.png")).unwrap();
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), (640, 400));
    assert!(png.len() > 20_000, "{} bytes are no picture of a room", png.len());
}

fn a_window_without_a_display_says_what_to_do_instead() {
    if !has_window() {
        return;
    }
    let folder = folder();
    let output = workshop(folder.path(), &[]).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("workshop run"), "{told}");
    assert!(!folder.path().join("my-workshop").exists(), "nothing was opened, so nothing is to be made");
}

fn events_on_standard_output_keep_the_contract() {
    let folder = folder();
    let events = json_lines(&succeed(folder.path(), &["run", "--for", "30s", "--speed", "max", "--events", "-"]));
    for event in &events {
        for key in ["seq", "tick", "time", "run", "type", "data"] {
            assert!(event.get(key).is_some(), "{key} is missing in {event}");
        }
        assert!(event["data"].is_object(), "{event}");
    }
    let added = events.iter().find(|event| event["type"] == "agent_added").unwrap();
    assert!(added["data"]["profile"].is_string() && added["data"]["position"].is_array(), "{added}");
    let stored = json_lines(&succeed(&folder.path().join("my-workshop"), &["export", "--events", "-"]));
    assert_eq!(events, stored, "what was shown is not what is kept");
}

fn a_run_replays_to_the_same_worlds() {
    let folder = folder();
    succeed(folder.path(), &["run", "--scene", "newsroom", "--for", "5m", "--speed", "max"]);
    let report: Value =
        serde_json::from_str(&succeed(folder.path(), &["replay", "last", "--verify", "--json"])).unwrap();
    assert!(report["compared"].as_u64().unwrap() >= 5, "{report}");
    assert_eq!(report["differs_at"], Value::Null);
}

/// A model in real time, whose answers take up to a third of a second, which is five simulated seconds here.
fn answers_that_came_at_random_times_are_replayed_at_the_same_ticks() {
    let server = Server::start(|stream, request, number| {
        std::thread::sleep(Duration::from_millis(content_hash(format!("{number}{request}").as_bytes()) % 300));
        let text = format!("Point {number} is new to me. [REMEMBER: point {number}] [PIN: look into point {number}]");
        for piece in stream_of(&[text_event(&text), end_event("stop")]) {
            if stream.write_all(&piece).is_err() {
                return;
            }
        }
    });
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    let run = ["run", "--scene", "newsroom", "--provider", "openai:any", "--for", "90s", "--speed", "16"];
    let told = workshop(folder.path(), &run).env("OPENAI_BASE_URL", &server.url).output().unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    assert!(server.seen() >= 10, "only {} questions", server.seen());
    let report: Value =
        serde_json::from_str(&succeed(folder.path(), &["replay", "last", "--verify", "--json"])).unwrap();
    assert!(report["compared"].as_u64().unwrap() >= 5, "{report}");
    assert_eq!(report["differs_at"], Value::Null);
    let events = json_lines(&succeed(folder.path(), &["export", "--events", "-"]));
    let answered = events.iter().filter(|event| event["type"] == "model_call" && event["data"]["error"].is_null());
    assert!(answered.count() >= 10, "too few answers came");
}

fn an_edit_on_disk_is_noticed_within_a_second_and_read() {
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    let mut running = Running::start(folder.path(), &["run", "--speed", "1", "--events", "-"]);
    running.wait_for("the first tick", |event| event["type"] == "agent_added");
    edit_rules(folder.path(), "Whisper. The floor is being painted.");
    let edited = Instant::now();
    running.wait_for("the queued read", |event| {
        event["type"] == "action_queued" && event["data"].to_string().contains("high")
    });
    assert!(edited.elapsed() < Duration::from_secs(2), "it took {:?}", edited.elapsed());
    running.wait_for("the read", |event| event["type"] == "read");
    assert_eq!(running.interrupt(), Some(130));
}

fn what_agents_do_is_written_to_the_scene_without_touching_the_rest() {
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    let path = folder.path().join("scenes/newsroom.yaml");
    let scene = format!("# my own words\n{}", fs::read_to_string(&path).unwrap());
    fs::write(&path, &scene).unwrap();
    let events = json_lines(&succeed(
        folder.path(),
        &["run", "--scene", "newsroom", "--for", "10m", "--speed", "max", "--events", "-"],
    ));
    assert!(
        events.iter().any(|event| event["type"] == "element_changed" && event["data"]["by"] != "user"),
        "no agent changed anything in ten minutes"
    );
    let after = fs::read_to_string(&path).unwrap();
    assert_ne!(after, scene);
    assert!(after.starts_with("# my own words\n"));
    let comments = |text: &str| {
        text.lines().filter(|line| line.trim_start().starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(comments(&after), comments(&scene), "comments were lost");
}

fn killed_at_any_moment_the_room_goes_on_where_it_was() {
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    let mut last_tick = 0;
    for round in 0..3 {
        let mut running =
            Running::start(folder.path(), &["run", "--scene", "newsroom", "--speed", "max", "--events", "-"]);
        running.wait_for("some life", |event| {
            event["type"] == "memory" && event["tick"].as_u64() > Some(last_tick + 200 + 150 * round)
        });
        running.kill();
        let events = json_lines(&succeed(folder.path(), &["export", "--run", "last", "--events", "-"]));
        let first = events.first().unwrap()["tick"].as_u64().unwrap();
        assert!(first >= last_tick, "the room went back in time: {first} after {last_tick}");
        last_tick = events.iter().filter_map(|event| event["tick"].as_u64()).max().unwrap();
    }
    let report = succeed(folder.path(), &["replay", "last", "--json"]);
    assert!(report.contains("\"differs_at\":null"), "{report}");
    let run = json_lines(&succeed(
        folder.path(),
        &["run", "--scene", "newsroom", "--ticks", "1", "--speed", "max", "--events", "-"],
    ));
    assert!(run[0]["tick"].as_u64().unwrap() >= last_tick);
}

fn an_interrupt_ends_with_130_and_loses_nothing() {
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    let mut running = Running::start(folder.path(), &["run", "--speed", "16", "--events", "-"]);
    running.wait_for("a memory", |event| event["type"] == "memory");
    assert_eq!(running.interrupt(), Some(130));
    let stored = json_lines(&succeed(folder.path(), &["export", "--run", "last", "--events", "-"]));
    assert_eq!(stored.last().unwrap()["type"], "run_end");
}

fn two_processes_never_share_a_workspace() {
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    let mut running = Running::start(folder.path(), &["run", "--speed", "1", "--events", "-"]);
    running.wait_for("the first tick", |event| event["type"] == "agent_added");
    let second = output(folder.path(), &["run", "--ticks", "1"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&second.stderr).contains("already open"),
        "{}",
        String::from_utf8_lossy(&second.stderr)
    );
    running.kill();
}

fn a_task_prints_its_answer() {
    let folder = folder();
    fs::write(folder.path().join("script.yaml"), "default: [ { text: \"Forty-two.\" } ]\n").unwrap();
    let answer = succeed(
        folder.path(),
        &[
            "run",
            "--agent",
            "researcher",
            "--task",
            "What is it?",
            "--speed",
            "max",
            "--provider",
            "scripted:script.yaml",
        ],
    );
    assert_eq!(answer.trim(), "Forty-two.");
    let unknown = output(folder.path(), &["run", "--agent", "researchr", "--task", "What is it?", "--speed", "max"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("researcher"));
}

fn doctor_names_what_is_broken_and_where() {
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    succeed(folder.path(), &["doctor"]);
    fs::write(folder.path().join("agents/broken.md"), "---\nname: [unclosed\n---\nHello\n").unwrap();
    fs::write(folder.path().join("agents/latin.md"), b"caf\xe9").unwrap();
    let said = output(folder.path(), &["doctor"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("agents/broken.md") && said.contains("agents/latin.md"), "{said}");
    assert!(said.contains("GEMINI_API_KEY"), "{said}");
}

fn init_never_overwrites() {
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    let first = fs::read_dir(folder.path().join("agents")).unwrap().next().unwrap().unwrap().path();
    fs::write(&first, "mine").unwrap();
    succeed(folder.path(), &["init", "."]);
    assert_eq!(fs::read_to_string(&first).unwrap(), "mine");
}

fn a_scene_that_is_missing_is_named_with_those_there_are() {
    let folder = folder();
    let said = output(folder.path(), &["run", "--scene", "newsrom", "--ticks", "1"]);
    let error = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(!said.status.success() && error.contains("newsrom") && error.contains("newsroom"), "{error}");
}

fn a_budget_stops_with_3_and_says_which() {
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    fs::write(folder.path().join("settings.yaml"), "budget:\n  calls_per_run: 2\n").unwrap();
    let stopped = output(folder.path(), &["run", "--scene", "newsroom", "--for", "10m", "--speed", "max"]);
    let error = String::from_utf8_lossy(&stopped.stderr).into_owned();
    assert_eq!(stopped.status.code(), Some(3), "{error}");
    assert!(error.contains("2 calls"), "{error}");
    let events = json_lines(&succeed(folder.path(), &["export", "--events", "-"]));
    assert_eq!(events.iter().filter(|event| event["type"] == "model_call").count(), 2);
}
