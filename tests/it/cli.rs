//! The program as its user starts it: the real binary, a real folder, edits on disk, and sudden termination.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_workshop::base::hash::content_hash;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::hostile_server::{Server, end_event, stream_of, text_event};
use crate::program::{Running, folder, json_lines};
pub use crate::program::{output, succeed, workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        the_first_run_creates_a_workspace_and_runs_for_ten_minutes,
        a_run_into_a_pipe_prints_nothing,
        invalid_usage_exits_with_2_and_a_reason,
        a_screenshot_needs_no_display,
        a_screenshot_does_not_change_the_workspace,
        output_files_in_the_workspace_do_not_count_as_edits,
        a_window_without_a_display_suggests_an_alternative,
        events_on_stdout_have_the_documented_fields,
        a_run_replays_to_the_same_states,
        answers_with_random_delays_are_replayed_at_the_same_ticks,
        an_edit_on_disk_is_noticed_within_two_seconds_and_read,
        changes_by_agents_are_saved_without_touching_the_rest_of_the_scene,
        a_killed_room_continues_where_it_was,
        an_interrupt_exits_with_130_and_loses_nothing,
        two_processes_cannot_open_the_same_workspace,
        a_task_prints_its_answer,
        doctor_reports_problems_with_their_files,
        init_never_overwrites,
        a_missing_scene_is_reported_with_the_available_ones,
        reaching_a_budget_exits_with_3_and_names_it,
    ]
}

fn rules_file(room: &Path) -> PathBuf {
    room.join("scenes/studio.yaml")
}

/// Changes the text of the rulebook in place, as an editor would.
fn edit_rules(room: &Path, to: &str) {
    let scene = fs::read_to_string(rules_file(room)).unwrap();
    let start = scene.find("kind: rulebook").expect("the scene has a rulebook");
    let text = start + scene[start..].find("text:").expect("the rulebook has a text");
    let line_end = text + scene[text..].find('\n').unwrap();
    let block_end = line_end + 1 + scene[line_end + 1..].find("\n  - ").expect("more elements follow") + 1;
    let edited = format!("{}text: {}\n{}", &scene[..text], serde_json::to_string(to).unwrap(), &scene[block_end..]);
    fs::write(rules_file(room), edited).unwrap();
}

fn the_first_run_creates_a_workspace_and_runs_for_ten_minutes() {
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
    assert!(events.windows(2).all(|pair| pair[0]["seq"].as_u64() < pair[1]["seq"].as_u64()), "seq does not increase");
}

fn a_run_into_a_pipe_prints_nothing() {
    let folder = folder();
    succeed(folder.path(), &["init", "room"]);
    let quiet = output(folder.path(), &["run", "room", "--for", "20s", "--speed", "max"]);
    assert!(quiet.status.success());
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty(), "{}", String::from_utf8_lossy(&quiet.stderr));
}

fn invalid_usage_exits_with_2_and_a_reason() {
    let folder = folder();
    let wrong = [
        &["run", "--speed", "7"][..],
        &["run", "--for", "soon"],
        &["run", "--provider", "opanai"],
        &["frobnicate"],
        &["replay", "last"],
    ];
    for arguments in wrong {
        let mut command = workshop(folder.path(), arguments);
        let output = command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?} says nothing");
    }
}

/// Returns whether this build includes the window.
fn has_window() -> bool {
    cfg!(feature = "window")
}

fn a_screenshot_needs_no_display() {
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
    assert!(png.len() > 20_000, "{} bytes are too few for a picture of a room", png.len());
}

/// Reads every file below a folder, by path.
fn read_all(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(read_all(&path));
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    all
}

fn a_screenshot_does_not_change_the_workspace() {
    if !has_window() {
        return;
    }
    let folder = folder();
    succeed(folder.path(), &["run", "--for", "20s", "--speed", "max"]);
    let workspace = folder.path().join("my-workshop");
    let before = read_all(&workspace);
    let picture = ["my-workshop", "--screenshot", "room.png", "--size", "640x400", "--after", "60s"];
    succeed(folder.path(), &picture);
    let after = read_all(&workspace);
    let differing: Vec<&PathBuf> =
        before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
    assert!(differing.is_empty(), "{differing:?}");
}

fn output_files_in_the_workspace_do_not_count_as_edits() {
    let folder = folder();
    succeed(folder.path(), &["init", "ws"]);
    let workspace = folder.path().join("ws");
    succeed(&workspace, &["run", "--for", "4s", "--speed", "1", "--events", "log.jsonl", "--scene-out", "end.yaml"]);
    let events = json_lines(&fs::read_to_string(workspace.join("log.jsonl")).unwrap());
    assert!(events.len() > 5, "{events:?}");
    let own: Vec<&Value> = events.iter().filter(|event| event["type"] == "file_change").collect();
    assert!(own.is_empty(), "{own:?}");
}

fn a_window_without_a_display_suggests_an_alternative() {
    if !has_window() {
        return;
    }
    let folder = folder();
    let output = workshop(folder.path(), &[]).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("workshop run"), "{stderr}");
    assert!(!folder.path().join("my-workshop").exists(), "no workspace is created if the window does not open");
}

fn events_on_stdout_have_the_documented_fields() {
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
    assert_eq!(events, stored, "the printed events differ from the stored ones");
}

fn a_run_replays_to_the_same_states() {
    let folder = folder();
    succeed(folder.path(), &["run", "--scene", "newsroom", "--for", "5m", "--speed", "max"]);
    let report: Value =
        serde_json::from_str(&succeed(folder.path(), &["replay", "last", "--verify", "--json"])).unwrap();
    assert!(report["compared"].as_u64().unwrap() >= 5, "{report}");
    assert_eq!(report["differs_at"], Value::Null);
}

/// The model answers in real time, after up to 0.3 s each, which are 5 simulated seconds here.
fn answers_with_random_delays_are_replayed_at_the_same_ticks() {
    let server = Server::start(|stream, request, number| {
        std::thread::sleep(Duration::from_millis(content_hash(format!("{number}{request}").as_bytes()) % 300));
        let text = format!("Point {number} is new to me.\n[REMEMBER: point {number}] [PIN: look into point {number}]");
        for piece in stream_of(&[text_event(&text), end_event("stop")]) {
            if stream.write_all(&piece).is_err() {
                return;
            }
        }
    });
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    let run = ["run", "--scene", "newsroom", "--provider", "openai:any", "--for", "90s", "--speed", "16"];
    let output = workshop(folder.path(), &run).env("OPENAI_BASE_URL", &server.url).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(server.seen() >= 10, "only {} requests", server.seen());
    let report: Value =
        serde_json::from_str(&succeed(folder.path(), &["replay", "last", "--verify", "--json"])).unwrap();
    assert!(report["compared"].as_u64().unwrap() >= 5, "{report}");
    assert_eq!(report["differs_at"], Value::Null);
    let events = json_lines(&succeed(folder.path(), &["export", "--events", "-"]));
    let answered = events.iter().filter(|event| event["type"] == "model_call" && event["data"]["error"].is_null());
    assert!(answered.count() >= 10, "too few calls were answered");
}

fn an_edit_on_disk_is_noticed_within_two_seconds_and_read() {
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    let mut running = Running::start(folder.path(), &["run", "--speed", "1", "--events", "-"]);
    running.wait_for("the first tick", |event| event["type"] == "agent_added");
    edit_rules(folder.path(), "Whisper. The floor is being painted.");
    let edited = Instant::now();
    running.wait_for("the queued read", |event| {
        event["type"] == "action_queued" && event["data"].to_string().contains("high")
    });
    assert!(edited.elapsed() < Duration::from_secs(2), "noticing it took {:?}", edited.elapsed());
    running.wait_for("the read", |event| event["type"] == "read" && event["data"]["element"] == "rules");
    assert_eq!(running.interrupt().0, Some(130));
}

fn changes_by_agents_are_saved_without_touching_the_rest_of_the_scene() {
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
    // No agent was moved, added or removed, so everything from the agents on is unchanged.
    let (_, agents_before) = scene.split_once("\nagents:").expect("the scene has agents");
    let (_, agents_after) = after.split_once("\nagents:").expect("the scene has agents");
    assert_eq!(agents_after, agents_before);
}

fn a_killed_room_continues_where_it_was() {
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    let mut last_tick = 0;
    for round in 0..3 {
        let mut running =
            Running::start(folder.path(), &["run", "--scene", "newsroom", "--speed", "max", "--events", "-"]);
        running.wait_for("a memory", |event| {
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

fn an_interrupt_exits_with_130_and_loses_nothing() {
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    let mut running = Running::start(folder.path(), &["run", "--speed", "16", "--events", "-"]);
    running.wait_for("a memory", |event| event["type"] == "memory");
    let (code, shown) = running.interrupt();
    assert_eq!(code, Some(130));
    let stored = json_lines(&succeed(folder.path(), &["export", "--run", "last", "--events", "-"]));
    assert_eq!(stored.last().unwrap()["type"], "run_end");
    assert_eq!(shown, stored, "the printed events differ from the stored ones");
}

fn two_processes_cannot_open_the_same_workspace() {
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
    for blank in ["", "  \n"] {
        let empty = output(folder.path(), &["run", "--agent", "researcher", "--task", blank]);
        assert_eq!(empty.status.code(), Some(2), "a blank task is refused");
    }
}

fn doctor_reports_problems_with_their_files() {
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    let sound = succeed(folder.path(), &["doctor"]);
    assert!(!sound.contains("problem") && !sound.contains("missing"), "{sound}");
    fs::write(folder.path().join("agents/broken.md"), "---\nname: [unclosed\n---\nHello\n").unwrap();
    fs::write(folder.path().join("agents/latin.md"), b"caf\xe9").unwrap();
    fs::write(folder.path().join("settings.yaml"), "gateway: { provider: evil }\n").unwrap();
    let found = output(folder.path(), &["doctor"]);
    assert_eq!(found.status.code(), Some(1));
    let stdout = String::from_utf8_lossy(&found.stdout).into_owned();
    let is_problem = |what: &str| stdout.lines().any(|line| line.starts_with("problem") && line.contains(what));
    assert!(stdout.contains("agents/broken.md") && is_problem("agents/latin.md") && is_problem("evil"), "{stdout}");
    assert!(!stdout.contains("missing"), "an invalid value is not reported as missing: {stdout}");
    assert!(stdout.contains("GEMINI_API_KEY"), "{stdout}");
}

fn init_never_overwrites() {
    let folder = folder();
    succeed(folder.path(), &["init", "."]);
    let written = list_files(folder.path());
    assert!(written.len() > 10, "the starter kit has more files than {written:?}");
    written.iter().for_each(|file| fs::write(file, "mine").unwrap());
    succeed(folder.path(), &["init", "."]);
    for file in written {
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine", "{}", file.display());
    }
}

fn list_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { list_files(&path) } else { vec![path] }).collect()
}

fn a_missing_scene_is_reported_with_the_available_ones() {
    let folder = folder();
    let output = output(folder.path(), &["run", "--scene", "newsrom", "--ticks", "1"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("newsrom") && error.contains("newsroom"), "{error}");
}

fn reaching_a_budget_exits_with_3_and_names_it() {
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
