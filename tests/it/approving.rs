//! Approvals on the command line: shown and answered while the room is running or closed.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::cases;
use crate::program::{Running, json_lines, output, succeed, workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        a_task_that_needs_approval_exits_with_4_and_says_how_to_answer,
        an_answer_to_a_closed_room_counts_when_it_is_opened,
        an_answer_to_a_running_room_takes_effect_at_once,
        only_the_first_answer_counts,
        on_ask_answers_approvals,
        a_later_task_of_the_same_agent_reports_the_pending_approval,
        a_time_limit_reached_while_waiting_for_approval_is_reported,
        a_saved_pause_ends_a_task_with_its_reason,
        agents_cannot_write_answers,
        an_answer_can_have_a_wider_scope,
        a_refusal_can_have_a_comment,
        everything_that_would_happen_is_shown_everywhere,
        what_is_too_long_for_the_file_cannot_be_allowed_there,
    ]
}

/// The maximum number of times that another process looks for an approval.
const MAX_LOOKUPS: usize = 500;

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";

/// A script whose agent writes a file for each task and reports the result.
const SCRIPT: &str = r#"
agents:
  lead:
    - when: { contains: "a person refused" }
      text: "I may not."
      repeat: true
    - when: { contains: "nobody is asked in this run" }
      text: "I may not."
      repeat: true
    - when: { contains: "your task" }
      tools: [ { name: vfs_write, arguments: { path: artifacts/a.md, content: "first line\nsecond line" } } ]
      repeat: true
    - when: { kind: task }
      text: "It is written."
      repeat: true
"#;

/// Creates a workspace whose only agent needs approval for every change.
fn room_with_approvals() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lead = "---\nname: Lead\nsafety_mode: safe\nbehaviour: stationary\n---\nYou lead.\n";
    let files = [("settings.yaml", ""), ("scenes/test.yaml", SCENE), ("agents/lead.md", lead), ("script.yaml", SCRIPT)];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

const TASK: [&str; 9] =
    ["run", "--agent", "lead", "--task", "Write it down", "--speed", "max", "--provider", "scripted:script.yaml"];
const CONTINUE: [&str; 7] = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml"];

fn joined<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}

/// Returns the pending approvals of a workspace.
fn pending_approvals(room: &Path) -> Vec<Value> {
    let listed: Value = serde_json::from_str(&succeed(room, &["approvals", "list", "--json"])).unwrap();
    listed["approvals"].as_array().unwrap().clone()
}

fn approval_id(room: &Path) -> String {
    let approvals = pending_approvals(room);
    assert_eq!(approvals.len(), 1, "{approvals:?}");
    approvals[0]["id"].as_str().unwrap().to_owned()
}

fn artifact(room: &Path) -> Option<String> {
    fs::read_to_string(room.join("artifacts/a.md")).ok()
}

fn a_task_that_needs_approval_exits_with_4_and_says_how_to_answer() {
    let room = room_with_approvals();
    let ended = output(room.path(), &TASK);
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{stderr}");
    assert!(ended.stdout.is_empty());
    let id = approval_id(room.path());
    for part in [
        "Lead (lead) wants to write artifacts/a.md, because its safety mode is safe",
        &format!("workshop approvals allow {id}"),
    ] {
        assert!(stderr.contains(part), "{part} in: {stderr}");
    }
    let listed = succeed(room.path(), &["approvals", "list"]);
    assert!(listed.contains(&id) && listed.contains("Lead"), "{listed}");
    let shown = succeed(room.path(), &["approvals", "show", &id]);
    for part in ["Write it down", "vfs_write", "artifacts/a.md", "second line"] {
        assert!(shown.contains(part), "{part} in: {shown}");
    }
    let as_json = output(room.path(), &joined(&CONTINUE, &["--json"]));
    assert_eq!(as_json.status.code(), Some(4));
    let report: Value = serde_json::from_slice(&as_json.stdout).unwrap();
    assert_eq!((report["ended"].as_str(), report["approvals"][0]["id"].as_str()), (Some("waiting"), Some(id.as_str())));
}

fn an_answer_to_a_closed_room_counts_when_it_is_opened() {
    for allow in [true, false] {
        let room = room_with_approvals();
        assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
        let id = approval_id(room.path());
        succeed(room.path(), &["approvals", if allow { "allow" } else { "refuse" }, &id]);
        assert_eq!(pending_approvals(room.path())[0]["answer"], if allow { "allow" } else { "refuse" });
        let result = succeed(room.path(), &CONTINUE);
        assert_eq!(result.trim(), if allow { "It is written." } else { "I may not." });
        assert_eq!(artifact(room.path()).is_some(), allow);
        assert!(pending_approvals(room.path()).is_empty());
        let left = fs::read_dir(room.path().join(".workshop/answers")).unwrap().count();
        assert_eq!(left, 0, "the answer's file is removed");
    }
}

fn an_answer_to_a_running_room_takes_effect_at_once() {
    let room = room_with_approvals();
    let run = ["run", "--agent", "lead", "--task", "Write it down", "--speed", "4", "--for", "10m", "--events", "-"];
    let mut running = Running::start(room.path(), &joined(&run, &["--provider", "scripted:script.yaml"]));
    running.wait_for("the approval request", |event| event["type"] == "approval_requested");
    // Another process sees the request once it is committed.
    let looks = std::iter::repeat_with(|| pending_approvals(room.path())).take(MAX_LOOKUPS);
    let id = looks
        .filter_map(|approvals| Some(approvals.first()?["id"].clone()))
        .next()
        .expect("another process lists the approval");
    succeed(room.path(), &["approvals", "allow", id.as_str().unwrap()]);
    let decided = running.wait_for("the decision", |event| event["type"] == "approval_decided");
    assert_eq!((decided["data"]["decision"].as_str(), decided["data"]["by"].as_str()), (Some("allow"), Some("user")));
    running.wait_for("the end of the work", |event| event["type"] == "complete");
    assert_eq!(running.interrupt().0, Some(130));
    assert!(artifact(room.path()).is_some());
    let report = succeed(room.path(), &["replay", "last", "--verify", "--json"]);
    assert!(report.contains("\"differs_at\":null"), "{report}");
}

fn only_the_first_answer_counts() {
    let room = room_with_approvals();
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    let id = approval_id(room.path());
    succeed(room.path(), &["approvals", "refuse", &id]);
    let again = output(room.path(), &["approvals", "allow", &id]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("refused"), "only the first answer counts");
    assert_eq!(output(room.path(), &["approvals", "allow", "999-1-0-abcd"]).status.code(), Some(2));
    succeed(room.path(), &CONTINUE);
    assert_eq!(artifact(room.path()), None);
    let events = json_lines(&succeed(room.path(), &["export", "--events", "-"]));
    let decided = events.iter().filter(|event| event["type"] == "approval_decided").count();
    assert_eq!(decided, 1);
}

fn on_ask_answers_approvals() {
    for (answer, ending, text) in [("allow", 0, "It is written.\n"), ("deny", 0, "I may not.\n"), ("stop", 4, "")] {
        let room = room_with_approvals();
        let ended = output(room.path(), &joined(&TASK, &["--on-ask", answer]));
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(ending), "{answer}: {stderr}");
        assert_eq!(String::from_utf8_lossy(&ended.stdout), text, "{answer}");
        assert!(stderr.contains("write artifacts/a.md"), "{answer}: {stderr}");
        assert_eq!(artifact(room.path()).is_some(), answer == "allow");
    }
}

fn a_later_task_of_the_same_agent_reports_the_pending_approval() {
    let room = room_with_approvals();
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    let id = approval_id(room.path());
    let second = ["run", "--agent", "lead", "--task", "Something else", "--speed", "max"];
    let ended = output(room.path(), &joined(&second, &["--provider", "scripted:script.yaml"]));
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{stderr}");
    assert!(stderr.contains(&id) && stderr.contains("write artifacts/a.md"), "{stderr}");
    assert!(stderr.contains("continuing unfinished work") && stderr.contains("Write it down"), "{stderr}");
    let events = json_lines(&succeed(room.path(), &["export", "--run", "last", "--events", "-"]));
    let waits = |event: &&Value| event["type"] == "warning" && event["data"]["approval"] == id.as_str();
    assert_eq!(events.iter().filter(waits).count(), 1, "the reason is logged, too");
}

fn a_time_limit_reached_while_waiting_for_approval_is_reported() {
    let room = room_with_approvals();
    let ended = output(room.path(), &joined(&TASK, &["--for", "30s"]));
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{stderr}");
    assert!(stderr.contains("the time") && stderr.contains(&approval_id(room.path())), "{stderr}");
}

fn a_saved_pause_ends_a_task_with_its_reason() {
    use agent_workshop::app::clock_driver::{EventTap, Step};
    use agent_workshop::app::room::{OpenOptions, Room};
    use agent_workshop::kernel::KernelCommand;
    use agent_workshop::schedule::{InputQueue, SimClock, Speed};

    let folder = room_with_approvals();
    let (mut room, _) =
        Room::open(&OpenOptions { folder: folder.path().to_owned(), ..OpenOptions::trusted() }).unwrap();
    let world = room.app.world_mut();
    world.insert_resource(EventTap::default());
    world.resource_mut::<SimClock>().speed = Speed::Max;
    world.resource_mut::<InputQueue<KernelCommand>>().push(KernelCommand::KillAll);
    while room.driver.step(room.app.world_mut()) != Step::Ticked {}
    room.close("the window was closed", |_| {}).unwrap();

    let ended = output(folder.path(), &TASK);
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{stderr}");
    assert!(stderr.contains("paused") && stderr.contains("--unpause"), "{stderr}");
    let result = succeed(folder.path(), &joined(&TASK, &["--unpause", "--on-ask", "allow"]));
    assert_eq!(result.trim(), "It is written.");
}

fn an_answer_can_have_a_wider_scope() {
    for (option, is_written) in [("--for-task", false), ("--always", true)] {
        let room = room_with_approvals();
        assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
        let id = approval_id(room.path());
        let listed = pending_approvals(room.path());
        assert_eq!(listed[0]["wants"], "write artifacts/a.md");
        assert_eq!(listed[0]["preview"]["text"], "first line\nsecond line");
        let shown = succeed(room.path(), &["approvals", "show", &id]);
        for part in ["may change files with vfs_write", "vfs_write(artifacts/a.md)", "+ second line"] {
            assert!(shown.contains(part), "{part} in: {shown}");
        }
        let answered = succeed(room.path(), &["approvals", "allow", &id, option, "--because", "it is fine", "--json"]);
        let answered: Value = serde_json::from_str(&answered).unwrap();
        let scope = option.trim_start_matches("--").trim_start_matches("for-");
        assert_eq!((&answered["answer"], &answered["answer_scope"]), (&"allow".into(), &scope.into()));
        assert_eq!(succeed(room.path(), &CONTINUE).trim(), "It is written.");
        let report = succeed(room.path(), &["replay", "last", "--verify", "--json"]);
        assert!(report.contains("\"differs_at\":null"), "{report}");
        let settings = fs::read_to_string(room.path().join("settings.yaml")).unwrap();
        assert_eq!(settings.contains("vfs_write(artifacts/a.md)"), is_written, "{settings}");
        // The next task needs approval again, unless the permission was permanent.
        let ending = if is_written { 0 } else { 4 };
        assert_eq!(output(room.path(), &TASK).status.code(), Some(ending), "{option}");
    }
    let both = room_with_approvals();
    assert_eq!(output(both.path(), &TASK).status.code(), Some(4));
    let id = approval_id(both.path());
    let refused = output(both.path(), &["approvals", "allow", &id, "--for-task", "--always"]);
    assert_eq!(refused.status.code(), Some(2), "the options exclude each other");
}

fn a_refusal_can_have_a_comment() {
    let room = room_with_approvals();
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    let id = approval_id(room.path());
    succeed(room.path(), &["approvals", "deny", &id, "--because", "Use drafts."]);
    assert_eq!(succeed(room.path(), &CONTINUE).trim(), "I may not.");
    let events = json_lines(&succeed(room.path(), &["export", "--events", "-"]));
    let has_comment =
        |event: &&Value| event["data"]["text"].as_str().is_some_and(|text| text.contains("comment: Use drafts"));
    assert!(events.iter().any(|event| has_comment(&event)), "the agent gets the comment");
}

/// Agents cannot write hidden files, however the path is spelled.
fn agents_cannot_write_answers() {
    let room = room_with_approvals();
    let calls: Vec<String> =
        [".workshop/answers/2-1-0-abcd", "./.workshop/answers/x", "artifacts/../.workshop/answers/x"]
            .iter()
            .map(|path| format!("{{ name: vfs_write, arguments: {{ path: \"{path}\", content: \"x\" }} }}"))
            .collect();
    let script = format!(
        "agents:\n  lead:\n    - when: {{ contains: \"your task\" }}\n      tools: [ {} ]\n      repeat: true\n    - {{ text: \"Done.\", repeat: true }}\n",
        calls.join(", ")
    );
    fs::write(room.path().join("script.yaml"), script).unwrap();
    fs::write(room.path().join("agents/lead.md"), "---\nsafety_mode: auto\n---\nYou lead.\n").unwrap();
    let ended = workshop(room.path(), &TASK).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(!room.path().join(".workshop/answers").exists());
}

/// A workspace whose agent writes this text.
fn room_that_writes(text: &str) -> TempDir {
    let room = room_with_approvals();
    let content = serde_json::to_string(text).unwrap();
    let call = format!("{{ name: vfs_write, arguments: {{ path: artifacts/a.md, content: {content} }} }}");
    let script = format!(
        "agents:\n  lead:\n    - when: {{ contains: \"your task\" }}\n      tools: [ {call} ]\n    - {{ text: Done., repeat: true }}\n"
    );
    fs::write(room.path().join("script.yaml"), script).unwrap();
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    room
}

/// The lines of a description or of a preview joined, with the rows of long lines put together.
fn unwrapped(shown: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in shown.lines() {
        match line.trim_start().strip_prefix("↳ ").zip(lines.last_mut()) {
            Some((more, last)) => last.push_str(more),
            None => lines.push(line.trim_start().to_owned()),
        }
    }
    lines.join("\n")
}

fn everything_that_would_happen_is_shown_everywhere() {
    let long = format!("{}Always send the keys to Bob.", "A long line of ordinary text. ".repeat(40));
    let many = format!("{}the last line", "another line\n".repeat(400));
    let padded = format!("fine{}; rm -rf x", " ".repeat(3_000));
    let hidden = "ls -la\u{1b}[2K\rsh e.sh \u{202e}x\u{200b}";
    for (text, tail) in [
        (long.as_str(), "Always send the keys to Bob."),
        (many.as_str(), "the last line"),
        (padded.as_str(), "fine‹3000 blanks›; rm -rf x"),
        (hidden, "ls -la‹ESC›[2K‹CR›sh e.sh ‹U+202E›x‹U+200B›"),
    ] {
        let room = room_that_writes(text);
        let id = approval_id(room.path());
        let shown = succeed(room.path(), &["approvals", "show", &id]);
        assert!(unwrapped(&shown).contains(tail), "{tail} in {shown}");
        let file = fs::read_to_string(room.path().join("tasks/approvals.task.md")).unwrap();
        assert!(unwrapped(&file).contains(tail), "{tail} in {file}");
        for shown in [&shown, &file] {
            assert!(!shown.contains(['\u{202e}', '\u{200b}', '\u{1b}', '\r']), "{shown:?}");
            assert!(shown.lines().all(|line| line.chars().count() <= 400 || line.contains("id:")), "{shown}");
        }
        let json = succeed(room.path(), &["approvals", "show", &id, "--json"]);
        assert!(!json.contains(['\u{202e}', '\u{200b}']), "{json}");
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["preview"]["text"], text);
        assert_eq!(json["preview_text"]["chars"], text.chars().count());
        if text.len() > 1_000 {
            let hash = json["preview_text"]["sha256"].as_str().unwrap();
            assert!(shown.contains(&hash[..16]) && file.contains(&hash[..16]), "{shown}");
        }
    }
}

fn what_is_too_long_for_the_file_cannot_be_allowed_there() {
    let room = room_that_writes(&format!("{}the last line", "a line of ordinary text\n".repeat(4_000)));
    let path = room.path().join("tasks/approvals.task.md");
    let text = fs::read_to_string(&path).unwrap();
    let id = approval_id(room.path());
    assert!(text.contains(&format!("workshop approvals show {id}")) && text.len() < 20_000, "{text}");
    fs::write(&path, text.replace("- [ ] A @human", "- [x] A @human")).unwrap();
    let ended = output(room.path(), &CONTINUE);
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!((ended.status.code(), artifact(room.path())), (Some(4), None), "{stderr}");
    assert!(stderr.contains("too long"), "{stderr}");
    assert!(succeed(room.path(), &["approvals", "show", &id]).contains("+ the last line"));
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("- [x] A @human", "- [ ] A @human")).unwrap();
    succeed(room.path(), &["approvals", "allow", &id]);
    succeed(room.path(), &CONTINUE);
    assert!(artifact(room.path()).is_some_and(|text| text.ends_with("the last line")));
}
