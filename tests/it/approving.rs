//! Agents' questions to a person without a window: shown, and answered on the command line while the room runs or is
//! closed.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::cases;
use crate::program::{Running, json_lines, output, succeed, workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        a_task_that_must_be_asked_ends_with_4_and_says_how_to_answer,
        an_answer_at_rest_counts_when_the_room_is_opened_next,
        an_answer_to_a_room_that_is_running_is_taken_in_at_once,
        a_question_is_decided_once_whoever_answers,
        the_command_line_answers_as_it_was_told_to,
        a_later_task_of_the_same_agent_says_what_it_waits_for,
        time_that_ends_while_a_person_is_waited_for_says_so,
        a_pause_that_was_saved_ends_a_task_with_its_reason,
        an_answer_is_not_taken_from_an_agent,
        an_answer_says_how_far_it_reaches,
        a_refusal_brings_a_word,
    ]
}

/// How often another process looks for a question, with a short pause each time.
const LOOKS_AT_MOST: usize = 500;

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";

/// An agent that writes when it gets a task and reports the result, however often its script starts over.
const SCRIPT: &str = r#"
agents:
  lead:
    - when: { contains: "a person refused" }
      text: "I may not."
      repeat: true
    - when: { contains: "your task" }
      tools: [ { name: vfs_write, arguments: { path: artifacts/a.md, content: "first line\nsecond line" } } ]
      repeat: true
    - when: { kind: task }
      text: "It is written."
      repeat: true
"#;

/// A workspace whose only agent asks before anything changes.
fn careful_room() -> TempDir {
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
const GO_ON: [&str; 7] = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml"];

fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}

/// The open questions of this workspace.
fn asked(room: &Path) -> Vec<Value> {
    let listed: Value = serde_json::from_str(&succeed(room, &["approvals", "list", "--json"])).unwrap();
    listed["approvals"].as_array().unwrap().clone()
}

fn the_id(room: &Path) -> String {
    let asked = asked(room);
    assert_eq!(asked.len(), 1, "{asked:?}");
    asked[0]["id"].as_str().unwrap().to_owned()
}

fn artifact(room: &Path) -> Option<String> {
    fs::read_to_string(room.join("artifacts/a.md")).ok()
}

fn a_task_that_must_be_asked_ends_with_4_and_says_how_to_answer() {
    let room = careful_room();
    let ended = output(room.path(), &TASK);
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{told}");
    assert!(ended.stdout.is_empty());
    let id = the_id(room.path());
    for part in [
        "Lead (lead) wants to write artifacts/a.md, because its safety mode is safe",
        &format!("workshop approvals allow {id}"),
    ] {
        assert!(told.contains(part), "{part} in: {told}");
    }
    let listed = succeed(room.path(), &["approvals", "list"]);
    assert!(listed.contains(&id) && listed.contains("Lead"), "{listed}");
    let shown = succeed(room.path(), &["approvals", "show", &id]);
    for part in ["Write it down", "vfs_write", "artifacts/a.md", "second line"] {
        assert!(shown.contains(part), "{part} in: {shown}");
    }
    let as_json = output(room.path(), &with(&GO_ON, &["--json"]));
    assert_eq!(as_json.status.code(), Some(4));
    let report: Value = serde_json::from_slice(&as_json.stdout).unwrap();
    assert_eq!((report["ended"].as_str(), report["approvals"][0]["id"].as_str()), (Some("waiting"), Some(id.as_str())));
}

fn an_answer_at_rest_counts_when_the_room_is_opened_next() {
    for allow in [true, false] {
        let room = careful_room();
        assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
        let id = the_id(room.path());
        succeed(room.path(), &["approvals", if allow { "allow" } else { "refuse" }, &id]);
        assert_eq!(asked(room.path())[0]["answer"], if allow { "allow" } else { "refuse" });
        let result = succeed(room.path(), &GO_ON);
        assert_eq!(result.trim(), if allow { "It is written." } else { "I may not." });
        assert_eq!(artifact(room.path()).is_some(), allow);
        assert!(asked(room.path()).is_empty());
        let left = fs::read_dir(room.path().join(".workshop/answers")).unwrap().count();
        assert_eq!(left, 0, "what is done with goes");
    }
}

fn an_answer_to_a_room_that_is_running_is_taken_in_at_once() {
    let room = careful_room();
    let run = ["run", "--agent", "lead", "--task", "Write it down", "--speed", "4", "--for", "10m", "--events", "-"];
    let mut running = Running::start(room.path(), &with(&run, &["--provider", "scripted:script.yaml"]));
    running.wait_for("the question", |event| event["type"] == "approval_requested");
    // Another process sees what has been committed, a moment later.
    let looks = std::iter::repeat_with(|| asked(room.path())).take(LOOKS_AT_MOST);
    let id = looks.filter_map(|asked| Some(asked.first()?["id"].clone())).next().expect("it is seen from outside");
    succeed(room.path(), &["approvals", "allow", id.as_str().unwrap()]);
    let decided = running.wait_for("the decision", |event| event["type"] == "approval_decided");
    assert_eq!((decided["data"]["decision"].as_str(), decided["data"]["by"].as_str()), (Some("allow"), Some("user")));
    running.wait_for("the end of the work", |event| event["type"] == "complete");
    assert_eq!(running.interrupt().0, Some(130));
    assert!(artifact(room.path()).is_some());
    let report = succeed(room.path(), &["replay", "last", "--verify", "--json"]);
    assert!(report.contains("\"differs_at\":null"), "{report}");
}

fn a_question_is_decided_once_whoever_answers() {
    let room = careful_room();
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    let id = the_id(room.path());
    succeed(room.path(), &["approvals", "refuse", &id]);
    let again = output(room.path(), &["approvals", "allow", &id]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("refused"), "only the first answer counts");
    assert_eq!(output(room.path(), &["approvals", "allow", "999-1-0-abcd"]).status.code(), Some(2));
    succeed(room.path(), &GO_ON);
    assert_eq!(artifact(room.path()), None);
    let events = json_lines(&succeed(room.path(), &["export", "--events", "-"]));
    let decided = events.iter().filter(|event| event["type"] == "approval_decided").count();
    assert_eq!(decided, 1);
}

fn the_command_line_answers_as_it_was_told_to() {
    for (answer, ending, text) in [("allow", 0, "It is written.\n"), ("deny", 0, "I may not.\n"), ("stop", 4, "")] {
        let room = careful_room();
        let ended = output(room.path(), &with(&TASK, &["--on-ask", answer]));
        let told = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(ending), "{answer}: {told}");
        assert_eq!(String::from_utf8_lossy(&ended.stdout), text, "{answer}");
        assert!(told.contains("write artifacts/a.md"), "{answer}: {told}");
        assert_eq!(artifact(room.path()).is_some(), answer == "allow");
    }
}

fn a_later_task_of_the_same_agent_says_what_it_waits_for() {
    let room = careful_room();
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    let id = the_id(room.path());
    let second = ["run", "--agent", "lead", "--task", "Something else", "--speed", "max"];
    let ended = output(room.path(), &with(&second, &["--provider", "scripted:script.yaml"]));
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{told}");
    assert!(told.contains(&id) && told.contains("write artifacts/a.md"), "{told}");
    assert!(told.contains("continuing unfinished work") && told.contains("Write it down"), "{told}");
    let events = json_lines(&succeed(room.path(), &["export", "--run", "last", "--events", "-"]));
    let waits = |event: &&Value| event["type"] == "warning" && event["data"]["approval"] == id.as_str();
    assert_eq!(events.iter().filter(waits).count(), 1, "the log says it, too");
}

fn time_that_ends_while_a_person_is_waited_for_says_so() {
    let room = careful_room();
    let ended = output(room.path(), &with(&TASK, &["--for", "30s"]));
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{told}");
    assert!(told.contains("the time") && told.contains(&the_id(room.path())), "{told}");
}

fn a_pause_that_was_saved_ends_a_task_with_its_reason() {
    use agent_workshop::app::clock_driver::{EventTap, Step};
    use agent_workshop::app::room::{OpenOptions, Room};
    use agent_workshop::kernel::KernelCommand;
    use agent_workshop::schedule::{InputQueue, SimClock, Speed};

    let folder = careful_room();
    let (mut room, _) =
        Room::open(&OpenOptions { folder: folder.path().to_owned(), ..OpenOptions::default() }).unwrap();
    let world = room.app.world_mut();
    world.insert_resource(EventTap::default());
    world.resource_mut::<SimClock>().speed = Speed::Max;
    world.resource_mut::<InputQueue<KernelCommand>>().push(KernelCommand::KillAll);
    while room.driver.step(room.app.world_mut()) != Step::Ticked {}
    room.close("the window was closed", |_| {}).unwrap();

    let ended = output(folder.path(), &TASK);
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{told}");
    assert!(told.contains("paused") && told.contains("--unpause"), "{told}");
    let result = succeed(folder.path(), &with(&TASK, &["--unpause", "--on-ask", "allow"]));
    assert_eq!(result.trim(), "It is written.");
}

fn an_answer_says_how_far_it_reaches() {
    for (option, is_written) in [("--for-task", false), ("--always", true)] {
        let room = careful_room();
        assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
        let id = the_id(room.path());
        let listed = asked(room.path());
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
        assert_eq!(succeed(room.path(), &GO_ON).trim(), "It is written.");
        let report = succeed(room.path(), &["replay", "last", "--verify", "--json"]);
        assert!(report.contains("\"differs_at\":null"), "{report}");
        let settings = fs::read_to_string(room.path().join("settings.yaml")).unwrap();
        assert_eq!(settings.contains("vfs_write(artifacts/a.md)"), is_written, "{settings}");
        // The next task asks again, unless the answer was permanent.
        let ending = if is_written { 0 } else { 4 };
        assert_eq!(output(room.path(), &TASK).status.code(), Some(ending), "{option}");
    }
    let both = careful_room();
    assert_eq!(output(both.path(), &TASK).status.code(), Some(4));
    let id = the_id(both.path());
    let refused = output(both.path(), &["approvals", "allow", &id, "--for-task", "--always"]);
    assert_eq!(refused.status.code(), Some(2), "one of the two");
}

fn a_refusal_brings_a_word() {
    let room = careful_room();
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    let id = the_id(room.path());
    succeed(room.path(), &["approvals", "deny", &id, "--because", "Use drafts."]);
    assert_eq!(succeed(room.path(), &GO_ON).trim(), "I may not.");
    let events = json_lines(&succeed(room.path(), &["export", "--events", "-"]));
    let told = |event: &&Value| event["data"]["text"].as_str().is_some_and(|text| text.contains("comment: Use drafts"));
    assert!(events.iter().any(|event| told(&event)), "the agent was told");
}

/// Hidden files are closed to agents, however they are spelled.
fn an_answer_is_not_taken_from_an_agent() {
    let room = careful_room();
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
