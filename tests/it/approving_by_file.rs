//! Approvals answered in a file with an ordinary editor, while the room is running or closed.

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
        an_approval_is_in_the_file_until_answered,
        a_mark_in_a_closed_room_counts_when_it_is_opened,
        a_mark_in_a_running_room_takes_effect_at_once,
        an_answer_from_elsewhere_is_written_to_the_file_and_later_marks_are_ignored,
        a_removed_file_is_rewritten_and_a_corrupted_one_reported,
        pending_and_decided_approvals_survive_a_restart,
        a_workspace_without_approvals_gets_no_file,
        a_mark_made_by_an_agent_does_not_count,
        approvals_of_another_scene_wait_for_their_room,
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

fn room_with_approvals() -> TempDir {
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
const CONTINUE: [&str; 7] = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml"];

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

fn an_approval_is_in_the_file_until_answered() {
    let room = room_with_approvals();
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    let text = approvals(room.path());
    for part in ["Lead wants to write artifacts/a.md", "status: pending", "+ second line", "risk: low", "agent: lead"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let lint = succeed(room.path(), &["task", "lint", FILE]);
    assert!(!lint.contains("error"), "{lint}");
    assert_eq!(output(room.path(), &CONTINUE).status.code(), Some(4), "there is no answer yet");
    assert_eq!(approvals(room.path()), text, "the file is unchanged");
}

fn a_mark_in_a_closed_room_counts_when_it_is_opened() {
    for (sign, expected) in [("[x]", "It is written."), ("[-]", "I may not.")] {
        let room = room_with_approvals();
        assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
        mark(room.path(), sign);
        assert_eq!(succeed(room.path(), &CONTINUE).trim(), expected);
        assert_eq!(is_written(room.path()), sign == "[x]");
        let text = approvals(room.path());
        let status = if sign == "[x]" { "status: approved" } else { "status: refused" };
        assert!(text.contains(status) && text.contains("decided_in: file") && text.contains("decided: "), "{text}");
        let report = succeed(room.path(), &["replay", "last", "--verify", "--json"]);
        assert!(report.contains("\"differs_at\":null"), "{report}");
    }
    let room = room_with_approvals();
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    let text = approvals(room.path()).replace("  status: pending", "  status: pending\n  because: in drafts, please");
    fs::write(room.path().join(FILE), text).unwrap();
    mark(room.path(), "[-]");
    assert_eq!(succeed(room.path(), &CONTINUE).trim(), "I may not, and was told where.");
}

fn a_mark_in_a_running_room_takes_effect_at_once() {
    let room = room_with_approvals();
    let run = ["run", "--agent", "lead", "--task", "Write it down", "--speed", "4", "--for", "10m", "--events", "-"];
    let mut running = Running::start(room.path(), &[&run[..], &["--provider", "scripted:script.yaml"]].concat());
    running.wait_for("the approval request", |event| event["type"] == "approval_requested");
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

fn an_answer_from_elsewhere_is_written_to_the_file_and_later_marks_are_ignored() {
    let room = room_with_approvals();
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    let listed: serde_json::Value =
        serde_json::from_str(&succeed(room.path(), &["approvals", "list", "--json"])).unwrap();
    assert_eq!(listed["approvals"][0]["risk"]["level"], "low");
    let id = listed["approvals"][0]["id"].as_str().unwrap().to_owned();
    succeed(room.path(), &["approvals", "refuse", &id, "--because", "in drafts"]);
    assert_eq!(succeed(room.path(), &CONTINUE).trim(), "I may not, and was told where.");
    let text = approvals(room.path());
    for part in ["- [-] A @human", "status: refused", "decided_in: terminal", "because: in drafts"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    fs::write(room.path().join(FILE), text.replace("- [-] A @human", "- [x] A @human")).unwrap();
    succeed(room.path(), &CONTINUE);
    assert!(!is_written(room.path()), "the first decision stands");
    fs::remove_file(room.path().join(FILE)).unwrap();
    succeed(room.path(), &CONTINUE);
    assert!(!room.path().join(FILE).exists(), "a removed file of decided approvals is not rewritten");
}

/// Opens an in-memory room and runs it until an approval is pending.
fn room_with_pending_approval() -> Workshop {
    let mut room = Setup::scene(SCENE).file("agents/lead.md", LEAD).script(SCRIPT).open();
    room.push(TaskCommand { agent: "lead".into(), text: "Write it down".into() });
    room.until(60.0, "approval_requested", |_| true);
    room.advance(0.2);
    room
}

fn approvals_text(room: &mut Workshop) -> String {
    room.world().resource::<KnownFiles>().text(FILE).unwrap_or_default().to_owned()
}

fn change(room: &mut Workshop, content: FileContent) {
    room.push(FileChanged::new(FILE, content));
}

/// Returns whether a problem with the file is reported.
fn has_problem(room: &mut Workshop) -> bool {
    room.world().resource::<Problems>().iter().any(|problem| problem.place == FILE)
}

fn is_pending(room: &mut Workshop) -> bool {
    room.world().resource::<Kernel>().approvals().next().is_some()
}

fn a_removed_file_is_rewritten_and_a_corrupted_one_reported() {
    let mut room = room_with_pending_approval();
    let text = approvals_text(&mut room);
    assert!(text.contains("status: pending"), "{text}");
    change(&mut room, FileContent::Removed);
    room.advance(0.5);
    assert_eq!(approvals_text(&mut room), text, "the request is written again");
    let changed = text.replace("- [ ] A", "- [x] A").replace("+ second line", "+ rm -rf");
    for corrupted in [changed, format!("<<<<<<< ours\n{}>>>>>>> theirs\n", text.replace("- [ ] A", "- [x] A"))] {
        change(&mut room, FileContent::Text(corrupted.clone()));
        room.advance(0.5);
        assert!(is_pending(&mut room), "a corrupted file is not an answer");
        assert_eq!(approvals_text(&mut room), corrupted, "the file is left for the person to correct");
        assert!(has_problem(&mut room), "the problem is reported");
    }
    change(&mut room, FileContent::Text(text.replace("- [ ] A", "- [x] A").replace('\n', "\r\n")));
    room.advance(0.5);
    assert!(!is_pending(&mut room) && !has_problem(&mut room));
    let decided = approvals_text(&mut room);
    assert!(decided.contains("  status: approved\r\n") && !decided.replace("\r\n", "").contains('\n'), "{decided}");
}

fn pending_and_decided_approvals_survive_a_restart() {
    let mut room = room_with_pending_approval();
    let text = approvals_text(&mut room);
    // The room is killed before anything is on disk.
    let mut again = room.reopened();
    change(&mut again, FileContent::Removed);
    again.advance(0.5);
    assert_eq!(approvals_text(&mut again), text);
    change(&mut again, FileContent::Text(text.replace("- [ ] A", "- [-] A")));
    again.advance(0.5);
    assert!(!is_pending(&mut again));
    assert!(approvals_text(&mut again).contains("status: refused"));
    let decided = approvals_text(&mut again);
    let mut last = again.reopened();
    last.advance(0.5);
    assert_eq!(approvals_text(&mut last), decided, "the decision is kept");
}

fn a_workspace_without_approvals_gets_no_file() {
    let room = room_with_approvals();
    fs::write(room.path().join("agents/lead.md"), LEAD.replace("safe\n", "balanced\n")).unwrap();
    assert_eq!(succeed(room.path(), &TASK).trim(), "It is written.");
    assert!(!room.path().join("tasks").exists());
}

fn a_mark_made_by_an_agent_does_not_count() {
    let mut room = room_with_pending_approval();
    let text = approvals_text(&mut room);
    let marked = FileContent::Text(text.replace("- [ ] A", "- [x] A"));
    room.push(FileChanged { by: Author("lead".into()), ..FileChanged::new(FILE, marked) });
    room.advance(0.5);
    assert!(is_pending(&mut room));
    assert!(has_problem(&mut room), "the problem is reported");
}

fn approvals_of_another_scene_wait_for_their_room() {
    let room = room_with_approvals();
    fs::write(room.path().join("scenes/other.yaml"), SCENE).unwrap();
    assert_eq!(output(room.path(), &[&TASK[..], &["--scene", "other"]].concat()).status.code(), Some(4));
    mark(room.path(), "[x]");
    let stdout = succeed(room.path(), &[&CONTINUE[..], &["--scene", "test"]].concat());
    assert!(!is_written(room.path()) && !stdout.contains("written"), "{stdout}");
    assert!(approvals(room.path()).contains("status: pending"), "another scene's approval is not changed");
    succeed(room.path(), &[&CONTINUE[..], &["--scene", "other"]].concat());
    assert!(is_written(room.path()));
}
