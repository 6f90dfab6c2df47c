//! Agents with `workspace: git`: they work in their own copy, all changes need one approval, and approved changes are
//! merged into the workspace.

use std::fs;
use std::process::Output;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use agent_workshop::gateway::sandbox::Level;

use crate::cases;
use crate::program::{json_lines, output, succeed, write};
use crate::sandbox_modes::{MODES, output_in, sandboxes, with_python};

pub fn trials() -> Vec<Trial> {
    let cases = cases![
        all_changes_of_an_agent_need_one_approval_and_are_then_merged,
        refused_changes_stay_in_the_copy_and_the_agent_gets_the_comment,
        two_agents_work_in_separate_copies,
        a_command_runs_in_the_copy_and_cannot_write_elsewhere,
        a_command_runs_changed_code_of_the_copy_only_after_approval,
        a_run_with_copies_replays,
    ];
    let (commands, others) = cases.into_iter().partition(|case: &Trial| case.name().contains("a_command_runs"));
    with_python("the tests of commands in worktrees", commands).into_iter().chain::<Vec<Trial>>(others).collect()
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n  - { id: other, profile: other, position: [300, 0] }\n";
const SCRIPT: &str = r#"
agents:
  lead:
    - when: { contains: "a person refused" }
      text: "I leave it."
      repeat: true
    - when: { contains: "accepted your changes" }
      text: "It is in."
      repeat: true
    - when: { contains: "your task" }
      tools:
        - { name: vfs_edit, arguments: { path: notes/plan.md, old: "two", new: "2" } }
        - { name: vfs_write, arguments: { path: artifacts/new.md, content: "new\n" } }
        - { name: vfs_delete, arguments: { path: notes/old.md } }
        - { name: vfs_read, arguments: { path: notes/plan.md } }
      repeat: true
    - when: { kind: task }
      text: "It is written."
      repeat: true
  other:
    - when: { contains: "accepted your changes" }
      text: "It is in."
      repeat: true
    - when: { contains: "your task" }
      tools:
        - { name: vfs_edit, arguments: { path: notes/plan.md, old: "five", new: "5" } }
      repeat: true
    - when: { kind: task }
      text: "It is written."
      repeat: true
"#;
const RUN: [&str; 5] = ["--speed", "max", "--provider", "scripted:script.yaml", "--quiet"];

fn room(script: &str, tools: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    // In safe mode, every change of the workspace needs approval, but no change of a copy.
    let agent = |name: &str| {
        format!("---\nname: {name}\nsafety_mode: safe\nworkspace: git\nbehaviour: stationary\n{tools}---\nYou work.\n")
    };
    let files = [
        ("settings.yaml", String::new()),
        ("scenes/test.yaml", SCENE.to_owned()),
        ("agents/lead.md", agent("Lead")),
        ("agents/other.md", agent("Other")),
        ("script.yaml", script.to_owned()),
        ("notes/plan.md", "one\ntwo\nthree\nfour\nfive\n".to_owned()),
        ("notes/old.md", "old\n".to_owned()),
    ];
    for (path, text) in files {
        write(folder.path(), path, &text);
    }
    folder
}

fn text(room: &TempDir, path: &str) -> Option<String> {
    fs::read_to_string(room.path().join(path)).ok()
}

/// Runs an agent's task. Returns the exit code and stderr.
fn run_task(room: &TempDir, agent: &str, more: &[&str]) -> (Option<i32>, String) {
    ended_text(&output(room.path(), &[&["run", "--agent", agent, "--task", "Do it"], &RUN[..], more].concat()))
}

fn ended_text(ended: &Output) -> (Option<i32>, String) {
    (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
}

fn pending_approvals(room: &TempDir) -> Vec<Value> {
    let listed: Value = serde_json::from_str(&succeed(room.path(), &["approvals", "list", "--json"])).unwrap();
    listed["approvals"].as_array().unwrap().clone()
}

fn run_until_idle(room: &TempDir) {
    succeed(room.path(), &[&["run", "--until", "idle"], &RUN[..]].concat());
}

fn all_changes_of_an_agent_need_one_approval_and_are_then_merged() {
    let room = room(SCRIPT, "");
    let (code, output) = run_task(&room, "lead", &[]);
    assert_eq!(code, Some(4), "{output}");
    let questions = pending_approvals(&room);
    assert_eq!(questions.len(), 1, "{questions:?}");
    assert_eq!(questions[0]["tool"], "propose_changes");
    let id = questions[0]["id"].as_str().unwrap();
    let shown = succeed(room.path(), &["approvals", "show", id]);
    for part in ["3 files (+2 -2)", "artifacts/new.md is new", "notes/old.md is deleted", "- two", "+ 2"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let file = text(&room, "tasks/approvals.task.md").unwrap();
    assert!(file.contains("merge_changes") && file.contains("artifacts/new.md is new"), "{file}");
    assert_eq!(text(&room, "notes/plan.md").as_deref(), Some("one\ntwo\nthree\nfour\nfive\n"));
    assert!(text(&room, "artifacts/new.md").is_none() && text(&room, "notes/old.md").is_some());
    let copy = ".workshop/worktrees/lead/files";
    assert_eq!(text(&room, &format!("{copy}/artifacts/new.md")).as_deref(), Some("new\n"));

    write(room.path(), "notes/plan.md", "one\ntwo\nthree\nfour\nmine\n");
    succeed(room.path(), &["approvals", "allow", id]);
    run_until_idle(&room);
    assert_eq!(text(&room, "notes/plan.md").as_deref(), Some("one\n2\nthree\nfour\nmine\n"));
    assert_eq!(text(&room, "artifacts/new.md").as_deref(), Some("new\n"));
    assert_eq!(text(&room, "notes/old.md"), None);
    assert!(pending_approvals(&room).is_empty(), "no approval is left");

    succeed(room.path(), &["undo", "lead", "--to", "1", "--yes"]);
    assert_eq!(
        text(&room, "notes/plan.md").as_deref(),
        Some("one\ntwo\nthree\nfour\nmine\n"),
        "merged changes can be undone like any work"
    );
    assert_eq!((text(&room, "artifacts/new.md"), text(&room, "notes/old.md").as_deref()), (None, Some("old\n")));

    succeed(room.path(), &["clean", "--yes"]);
    assert!(!room.path().join(".workshop/worktrees").exists(), "the copy is moved aside with the rest");
    assert!(room.path().join(".workshop/cleaned-1/.workshop/worktrees/lead/history.git/HEAD").exists());
}

fn refused_changes_stay_in_the_copy_and_the_agent_gets_the_comment() {
    let room = room(SCRIPT, "");
    run_task(&room, "lead", &[]);
    let id = pending_approvals(&room)[0]["id"].as_str().unwrap().to_owned();
    succeed(room.path(), &["approvals", "refuse", &id, "--because", "not today"]);
    run_until_idle(&room);
    assert_eq!(text(&room, "notes/plan.md").as_deref(), Some("one\ntwo\nthree\nfour\nfive\n"));
    assert_eq!(text(&room, ".workshop/worktrees/lead/files/artifacts/new.md").as_deref(), Some("new\n"));
    assert!(pending_approvals(&room).is_empty(), "the same changes are not proposed again");
    let session = fs::read_dir(room.path().join("sessions")).unwrap().flatten().next().unwrap().path();
    assert!(fs::read_to_string(session).unwrap().contains("not today"));
}

fn two_agents_work_in_separate_copies() {
    let room = room(SCRIPT, "");
    let (code, output) = run_task(&room, "lead", &[]);
    assert_eq!(code, Some(4), "{output}");
    run_task(&room, "other", &[]);
    assert_eq!(pending_approvals(&room).len(), 2);
    for question in pending_approvals(&room) {
        succeed(room.path(), &["approvals", "allow", question["id"].as_str().unwrap()]);
    }
    run_until_idle(&room);
    assert_eq!(text(&room, "notes/plan.md").as_deref(), Some("one\n2\nthree\nfour\n5\n"));
}

const COMMAND: &str = r#"
agents:
  lead:
    - when: { contains: "accepted your changes" }
      text: "It is in."
      repeat: true
    - when: { contains: "your task" }
      tools: [ { name: execute_command, arguments: { command: "python3 check.py" } } ]
      repeat: true
    - when: { kind: task }
      text: "Done."
      repeat: true
"#;

fn a_command_runs_in_the_copy_and_cannot_write_elsewhere() {
    for level in MODES.iter().copied() {
        let room = room(COMMAND, "tools: [execute_command]\n");
        let workspace = room.path().display().to_string();
        let script = format!(
            "import os\nfor path in ['notes/made.md', {:?}, {:?}]:\n    try:\n        open(path, 'a').write('x')\n    except OSError:\n        print('kept from', path)\ntry:\n    print(open({:?}).read())\nexcept OSError:\n    pass\nprint(os.getcwd())\n",
            format!("{workspace}/notes/outside.md"),
            format!("{workspace}/notes/plan.md"),
            format!("{workspace}/.env"),
        );
        write(room.path(), "check.py", &script);
        write(room.path(), ".env", "KEY=secret-1");
        let arguments = ["run", "--agent", "lead", "--task", "Do it", "--on-ask", "allow"];
        let (code, output) = ended_text(&output_in(level, room.path(), &[&arguments[..], &RUN[..]].concat()));
        assert_eq!(code, Some(0), "{output}");
        assert_eq!(text(&room, "notes/made.md").as_deref(), Some("x"), "what the command made was proposed and merged");
        let log = fs::read_dir(room.path().join("sessions")).unwrap().flatten().next().unwrap().path();
        let session = fs::read_to_string(log).unwrap();
        assert!(session.contains(".workshop/worktrees/lead/files"), "{session}");
        if level != Level::None {
            assert_eq!(text(&room, "notes/outside.md"), None, "{session}");
            assert_eq!(text(&room, "notes/plan.md").as_deref(), Some("one\ntwo\nthree\nfour\nfive\n"));
            assert!(!session.contains("secret-1"), "{}: {session}", level.word());
        }
    }
}

const CHANGED_SCRIPT: &str = r#"
agents:
  lead:
    - when: { contains: "your task" }
      tools:
        - { name: vfs_write, arguments: { path: notes/lib.sh, content: "echo two" } }
        - { name: execute_command, arguments: { command: "sh notes/run.sh" } }
      repeat: true
    - when: { kind: task }
      text: "Done."
      repeat: true
"#;

fn a_command_runs_changed_code_of_the_copy_only_after_approval() {
    for level in sandboxes() {
        let room = room(CHANGED_SCRIPT, "tools: [execute_command, vfs_write]\n");
        let lead = text(&room, "agents/lead.md").unwrap().replace("safety_mode: safe", "safety_mode: balanced");
        write(room.path(), "agents/lead.md", &lead);
        write(room.path(), "storage/terminal-cmd-allowlist.yaml", "sh notes/run.sh: true\n");
        write(room.path(), "notes/run.sh", ". notes/lib.sh\n");
        write(room.path(), "notes/lib.sh", "echo one\n");
        let arguments = ["run", "--agent", "lead", "--task", "Do it"];
        let (code, output) = ended_text(&output_in(level, room.path(), &[&arguments[..], &RUN[..]].concat()));
        assert_eq!(code, Some(4), "{output}");
        let asked = text(&room, "tasks/approvals.task.md").unwrap();
        for part in ["notes/lib.sh, which it loads, changed", "- echo one", "+ echo two"] {
            assert!(asked.contains(part), "{part} in {asked}");
        }
    }
}

fn a_run_with_copies_replays() {
    let room = room(SCRIPT, "");
    let arguments = ["run", "--agent", "lead", "--task", "Do it", "--on-ask", "allow", "--events", "-"];
    let ended = output(room.path(), &[&arguments[..], &RUN[..]].concat());
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
    let changed =
        |path: &str| events.iter().any(|event| event["type"] == "file_change" && event["data"]["path"] == path);
    assert!(changed(".workshop/worktrees/lead/files/artifacts/new.md") && changed("artifacts/new.md"), "{events:?}");
    let before = fs::read_to_string(room.path().join("notes/plan.md")).unwrap();
    succeed(room.path(), &["replay", "last", "--verify"]);
    assert_eq!(fs::read_to_string(room.path().join("notes/plan.md")).unwrap(), before);
}
