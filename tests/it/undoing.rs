//! Undoing an agent's work on the command line: everything that it wrote, deleted and renamed, without touching later
//! edits of a person.

use std::fs;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::cases;
use crate::program::{output, succeed, write};

pub fn trials() -> Vec<Trial> {
    cases![work_is_previewed_undone_and_redone, changes_that_cannot_be_undone_are_reported_and_kept]
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
const LEAD: &str = "---\nname: Lead\nsafety_mode: auto\nbehaviour: stationary\n---\nYou lead.\n";
const SCRIPT: &str = r#"
agents:
  lead:
    - when: { contains: "First" }
      tools:
        - { name: vfs_write, arguments: { path: artifacts/first.md, content: "first\n" } }
    - when: { contains: "Second" }
      tools:
        - { name: vfs_edit, arguments: { path: notes/plan.md, old: "two", new: "2" } }
        - { name: vfs_delete, arguments: { path: notes/old.md } }
        - { name: vfs_rename, arguments: { from: notes/a.md, to: notes/b.md } }
        - { name: vfs_write, arguments: { path: artifacts/second.md, content: "second\n" } }
    - when: { kind: task }
      text: "Done."
      repeat: true
"#;

fn room() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("settings.yaml", ""),
        ("scenes/test.yaml", SCENE),
        ("agents/lead.md", LEAD),
        ("script.yaml", SCRIPT),
        ("notes/plan.md", "one\ntwo\nthree\n"),
        ("notes/old.md", "old\n"),
        ("notes/a.md", "a\n"),
    ];
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    for task in ["First", "Second"] {
        let arguments = [
            "run",
            "--agent",
            "lead",
            "--task",
            task,
            "--speed",
            "max",
            "--provider",
            "scripted:script.yaml",
            "--quiet",
        ];
        succeed(folder.path(), &arguments);
    }
    folder
}

fn text(room: &TempDir, path: &str) -> Option<String> {
    fs::read_to_string(room.path().join(path)).ok()
}

fn json(room: &TempDir, arguments: &[&str]) -> Value {
    serde_json::from_str(&succeed(room.path(), arguments)).unwrap()
}

fn work_is_previewed_undone_and_redone() {
    let room = room();
    assert_eq!(text(&room, "notes/b.md").as_deref(), Some("a\n"), "the agent did its work");
    let points = json(&room, &["undo", "lead", "--json"]);
    assert_eq!(points["points"][0]["task"], "Second", "{points}");
    assert_eq!(points["points"][1]["task"], "First", "{points}");
    write(room.path(), "notes/plan.md", "one\n2\nthree\nmine\n");

    let shown = succeed(room.path(), &["undo", "lead", "--to", "1", "--dry-run"]);
    assert!(shown.contains("-2\n+two") && shown.contains("rename notes/b.md to notes/a.md"), "{shown}");
    assert_eq!(text(&room, "notes/plan.md").as_deref(), Some("one\n2\nthree\nmine\n"), "a dry run changes nothing");
    let unasked = output(room.path(), &["undo", "lead", "--to", "1"]);
    assert_eq!(unasked.status.code(), Some(4), "undo needs confirmation");

    succeed(room.path(), &["undo", "lead", "--to", "1", "--yes"]);
    assert_eq!(text(&room, "notes/plan.md").as_deref(), Some("one\ntwo\nthree\nmine\n"));
    assert_eq!(text(&room, "notes/old.md").as_deref(), Some("old\n"));
    assert_eq!((text(&room, "notes/a.md").as_deref(), text(&room, "notes/b.md")), (Some("a\n"), None));
    assert_eq!(text(&room, "artifacts/second.md"), None);
    assert_eq!(text(&room, "artifacts/first.md").as_deref(), Some("first\n"), "earlier work is kept");

    succeed(room.path(), &["undo", "--back"]);
    assert_eq!(text(&room, "notes/plan.md").as_deref(), Some("one\n2\nthree\nmine\n"));
    assert_eq!(text(&room, "notes/old.md"), None);
    assert_eq!(text(&room, "notes/b.md").as_deref(), Some("a\n"));
    assert_eq!(text(&room, "artifacts/second.md").as_deref(), Some("second\n"));

    succeed(room.path(), &["undo", "lead", "--since", "1h", "--yes"]);
    assert_eq!(text(&room, "artifacts/first.md"), None, "all work of the last hour is undone");
}

fn changes_that_cannot_be_undone_are_reported_and_kept() {
    let room = room();
    write(room.path(), "notes/plan.md", "one\nno, two and a half\nthree\n");
    write(room.path(), "notes/a.md", "another\n");
    let ended = output(room.path(), &["undo", "lead", "--to", "1", "--yes", "--json"]);
    let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let is_kept = |path: &str| {
        let files = report["files"].as_array().unwrap();
        files.iter().any(|file| file["path"] == path && file["what"] == "stays" && file["why"].is_string())
    };
    assert!(is_kept("notes/plan.md") && is_kept("notes/b.md"), "{report}");
    assert_eq!(text(&room, "notes/plan.md").as_deref(), Some("one\nno, two and a half\nthree\n"));
    assert_eq!(text(&room, "notes/a.md").as_deref(), Some("another\n"));
    assert_eq!(text(&room, "notes/b.md").as_deref(), Some("a\n"));
    assert_eq!(text(&room, "notes/old.md").as_deref(), Some("old\n"), "what can be restored is restored");
    let wrong = output(room.path(), &["undo", "leda"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("workshop undo lead"));
}
