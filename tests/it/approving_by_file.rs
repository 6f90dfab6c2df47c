//! Agents' questions to a person, answered in a file with an ordinary editor, while the room runs and while it is
//! closed.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use tempfile::TempDir;

use agent_workshop::base::Author;
use agent_workshop::kernel::Kernel;
use agent_workshop::simulation::TaskCommand;
use agent_workshop::workspace::files::FileContent;
use agent_workshop::workspace::{FileChanged, KnownFiles, Problems};

use crate::cases;
use crate::program::{Running, output, succeed};
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        what_is_asked_stands_in_the_file_until_it_is_answered_there,
        a_mark_made_at_rest_counts_when_the_room_is_opened_next,
        a_mark_in_a_running_room_is_carried_out_at_once,
        an_answer_from_elsewhere_is_written_into_the_file_and_a_later_mark_changes_nothing,
        a_file_that_was_removed_or_corrupted_is_asked_again_or_reported,
        what_became_of_a_question_outlives_the_process,
        a_workspace_in_which_nobody_asks_gets_no_file,
        an_agents_hand_is_no_persons,
        another_scenes_questions_wait_for_their_room,
    ]
}

const FILE: &str = "tasks/approvals.task.md";
const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
const LEAD: &str = "---\nname: Lead\nsafety_mode: safe\nbehaviour: stationary\n---\nYou lead.\n";
const SCRIPT: &str = r#"
agents:
  lead:
    - when: { contains: "in drafts" }
      text: "I may not, and was told where."
      repeat: true
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

fn careful_room() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = [("settings.yaml", ""), ("scenes/test.yaml", SCENE), ("agents/lead.md", LEAD), ("script.yaml", SCRIPT)];
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

fn approvals(room: &Path) -> String {
    fs::read_to_string(room.join(FILE)).unwrap()
}

fn mark(room: &Path, mark: &str) {
    let text = approvals(room);
    assert_eq!(text.matches("- [ ] A @human #approval").count(), 1, "{text}");
    fs::write(room.join(FILE), text.replace("- [ ] A @human", &format!("- {mark} A @human"))).unwrap();
}

fn is_written(room: &Path) -> bool {
    room.join("artifacts/a.md").exists()
}

fn what_is_asked_stands_in_the_file_until_it_is_answered_there() {
    let room = careful_room();
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    let text = approvals(room.path());
    for part in ["Lead wants to write artifacts/a.md", "status: pending", "+ second line", "risk: low", "agent: lead"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let lint = succeed(room.path(), &["task", "lint", FILE]);
    assert!(!lint.contains("error"), "{lint}");
    assert_eq!(output(room.path(), &GO_ON).status.code(), Some(4), "nobody has answered");
    assert_eq!(approvals(room.path()), text, "and nothing has changed");
}

fn a_mark_made_at_rest_counts_when_the_room_is_opened_next() {
    for (sign, told) in [("[x]", "It is written."), ("[-]", "I may not.")] {
        let room = careful_room();
        assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
        mark(room.path(), sign);
        assert_eq!(succeed(room.path(), &GO_ON).trim(), told);
        assert_eq!(is_written(room.path()), sign == "[x]");
        let text = approvals(room.path());
        let status = if sign == "[x]" { "status: approved" } else { "status: refused" };
        assert!(text.contains(status) && text.contains("decided_in: file") && text.contains("decided: "), "{text}");
        let report = succeed(room.path(), &["replay", "last", "--verify", "--json"]);
        assert!(report.contains("\"differs_at\":null"), "{report}");
    }
    let room = careful_room();
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    let text = approvals(room.path()).replace("  status: pending", "  status: pending\n  because: in drafts, please");
    fs::write(room.path().join(FILE), text).unwrap();
    mark(room.path(), "[-]");
    assert_eq!(succeed(room.path(), &GO_ON).trim(), "I may not, and was told where.");
}

fn a_mark_in_a_running_room_is_carried_out_at_once() {
    let room = careful_room();
    let run = ["run", "--agent", "lead", "--task", "Write it down", "--speed", "4", "--for", "10m", "--events", "-"];
    let mut running = Running::start(room.path(), &[&run[..], &["--provider", "scripted:script.yaml"]].concat());
    running.wait_for("the question", |event| event["type"] == "approval_requested");
    let until = Instant::now() + Duration::from_secs(30);
    while !room.path().join(FILE).exists() && Instant::now() < until {
        std::thread::yield_now();
    }
    mark(room.path(), "[x]");
    let decided = running.wait_for("the decision", |event| event["type"] == "approval_decided");
    assert_eq!((decided["data"]["decision"].as_str(), decided["data"]["by"].as_str()), (Some("allow"), Some("user")));
    running.wait_for("the end of the work", |event| event["type"] == "complete");
    assert_eq!(running.interrupt().0, Some(130));
    assert!(is_written(room.path()));
    assert!(approvals(room.path()).contains("status: approved"));
}

fn an_answer_from_elsewhere_is_written_into_the_file_and_a_later_mark_changes_nothing() {
    let room = careful_room();
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    let listed: serde_json::Value =
        serde_json::from_str(&succeed(room.path(), &["approvals", "list", "--json"])).unwrap();
    assert_eq!(listed["approvals"][0]["risk"]["level"], "low");
    let id = listed["approvals"][0]["id"].as_str().unwrap().to_owned();
    succeed(room.path(), &["approvals", "refuse", &id, "--because", "in drafts"]);
    assert_eq!(succeed(room.path(), &GO_ON).trim(), "I may not, and was told where.");
    let text = approvals(room.path());
    for part in ["- [-] A @human", "status: refused", "decided_in: terminal", "because: in drafts"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    fs::write(room.path().join(FILE), text.replace("- [-] A @human", "- [x] A @human")).unwrap();
    succeed(room.path(), &GO_ON);
    assert!(!is_written(room.path()), "it was decided");
    fs::remove_file(room.path().join(FILE)).unwrap();
    succeed(room.path(), &GO_ON);
    assert!(!room.path().join(FILE).exists(), "what a person takes out stays out");
}

/// An in-memory room whose agent has asked a question.
fn asking() -> Workshop {
    let mut room = Setup::scene(SCENE).file("agents/lead.md", LEAD).script(SCRIPT).open();
    room.push(TaskCommand { agent: "lead".into(), text: "Write it down".into() });
    room.until(60.0, "approval_requested", |_| true);
    room.advance(0.2);
    room
}

fn known(room: &mut Workshop) -> String {
    room.world().resource::<KnownFiles>().text(FILE).unwrap_or_default().to_owned()
}

fn change(room: &mut Workshop, content: FileContent) {
    room.push(FileChanged::new(FILE, content));
}

/// Whether the file has a problem.
fn is_told(room: &mut Workshop) -> bool {
    room.world().resource::<Problems>().iter().any(|problem| problem.place == FILE)
}

fn is_open(room: &mut Workshop) -> bool {
    room.world().resource::<Kernel>().approvals().next().is_some()
}

fn a_file_that_was_removed_or_corrupted_is_asked_again_or_reported() {
    let mut room = asking();
    let text = known(&mut room);
    assert!(text.contains("status: pending"), "{text}");
    change(&mut room, FileContent::Removed);
    room.advance(0.5);
    assert_eq!(known(&mut room), text, "it is asked anew");
    let changed = text.replace("- [ ] A", "- [x] A").replace("+ second line", "+ rm -rf");
    for spoilt in [changed, format!("<<<<<<< ours\n{}>>>>>>> theirs\n", text.replace("- [ ] A", "- [x] A"))] {
        change(&mut room, FileContent::Text(spoilt.clone()));
        room.advance(0.5);
        assert!(is_open(&mut room), "it is no answer");
        assert_eq!(known(&mut room), spoilt, "and stays for the person to mend");
        assert!(is_told(&mut room), "which is told");
    }
    change(&mut room, FileContent::Text(text.replace("- [ ] A", "- [x] A").replace('\n', "\r\n")));
    room.advance(0.5);
    assert!(!is_open(&mut room) && !is_told(&mut room));
    let decided = known(&mut room);
    assert!(decided.contains("  status: approved\r\n") && !decided.replace("\r\n", "").contains('\n'), "{decided}");
}

fn what_became_of_a_question_outlives_the_process() {
    let mut room = asking();
    let text = known(&mut room);
    // The room is killed before any of it is on the disk.
    let mut again = room.reopened();
    change(&mut again, FileContent::Removed);
    again.advance(0.5);
    assert_eq!(known(&mut again), text);
    change(&mut again, FileContent::Text(text.replace("- [ ] A", "- [-] A")));
    again.advance(0.5);
    assert!(!is_open(&mut again));
    assert!(known(&mut again).contains("status: refused"));
    let decided = known(&mut again);
    let mut last = again.reopened();
    last.advance(0.5);
    assert_eq!(known(&mut last), decided, "it is settled");
}

fn a_workspace_in_which_nobody_asks_gets_no_file() {
    let room = careful_room();
    fs::write(room.path().join("agents/lead.md"), LEAD.replace("safe\n", "balanced\n")).unwrap();
    assert_eq!(succeed(room.path(), &TASK).trim(), "It is written.");
    assert!(!room.path().join("tasks").exists());
}

fn an_agents_hand_is_no_persons() {
    let mut room = asking();
    let text = known(&mut room);
    let marked = FileContent::Text(text.replace("- [ ] A", "- [x] A"));
    room.push(FileChanged { by: Author("lead".into()), ..FileChanged::new(FILE, marked) });
    room.advance(0.5);
    assert!(is_open(&mut room));
    assert!(is_told(&mut room), "which is told");
}

fn another_scenes_questions_wait_for_their_room() {
    let room = careful_room();
    fs::write(room.path().join("scenes/other.yaml"), SCENE).unwrap();
    assert_eq!(output(room.path(), &[&TASK[..], &["--scene", "other"]].concat()).status.code(), Some(4));
    mark(room.path(), "[x]");
    let told = succeed(room.path(), &[&GO_ON[..], &["--scene", "test"]].concat());
    assert!(!is_written(room.path()) && !told.contains("written"), "{told}");
    assert!(approvals(room.path()).contains("status: pending"), "it is not this room's to say");
    succeed(room.path(), &[&GO_ON[..], &["--scene", "other"]].concat());
    assert!(is_written(room.path()));
}
