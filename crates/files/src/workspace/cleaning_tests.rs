//! A cleaning that is interrupted at any step is completed by the next start, and nothing is lost.

use std::collections::BTreeMap;
use std::fs;

use super::super::vfs::FileLimits;
use super::super::vfs::{FileHandle, FileOperation, FileService, FileServiceOptions};
use super::*;
use crate::store::Store;

const AGENTS: [&str; 3] = ["agents/ada.md", "agents/bob.md", "notes/plan.md"];

/// A workspace in which an agent changed files of the person and made new ones.
fn worked_in() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for path in AGENTS.into_iter().chain(["sessions/ada.act-1.session.yaml", "inbox/mail.jsonl", "mine.md"]) {
        let full = folder.path().join(path);
        fs::create_dir_all(full.parent().expect("it is in the folder")).expect("folders can be made");
        fs::write(full, format!("the person's {path}")).expect("files can be written");
    }
    let dir = folder.path().join(".workshop");
    let (store, _) = Store::open(&dir).expect("it can be opened");
    let options = FileServiceOptions { limits: FileLimits::default(), ..FileServiceOptions::new(folder.path()) };
    let service = FileService::open(options).expect("it can be opened");
    let files: FileHandle = service.handle().expect("it is open");
    for path in AGENTS.into_iter().chain(["artifacts/made.md"]) {
        let write = FileOperation::Write { path: path.to_owned(), content: format!("ada's {path}") };
        files.change_as(Author("ada".into()), write).expect("it can be written");
    }
    fs::create_dir_all(dir.join(WORKTREES).join("ada")).expect("folders can be made");
    fs::write(dir.join(WORKTREES).join("ada/copy.md"), "a copy").expect("files can be written");
    service.close();
    store.close().expect("it can be closed");
    folder
}

fn dir(folder: &tempfile::TempDir) -> std::path::PathBuf {
    folder.path().join(".workshop")
}

/// Every file of the workspace with its content, except the lock and the parts of the database, whose presence counts.
fn content(folder: &tempfile::TempDir) -> BTreeMap<String, String> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.path().to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("it can be listed").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(folder.path()).expect("it is inside").to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.contains(HISTORY_FILE) {
                // The files beside the database exist only while it is open.
                if name.ends_with(HISTORY_FILE) {
                    found.insert(name, "a history".to_owned());
                }
            } else if !name.ends_with("/lock") {
                found.insert(name, fs::read_to_string(&path).expect("it can be read"));
            }
        }
    }
    found
}

/// Cleans up to the step with this number, and fails there as if the process were killed. Returns whether it got there.
fn killed_at(folder: &tempfile::TempDir, step: usize) -> bool {
    let plan = Cleaning::plan(folder.path(), &dir(folder)).expect("it can be planned");
    let recorded = plan.record(folder.path(), &dir(folder)).expect("it can be recorded");
    let mut steps = 0;
    let cleaned = recorded.carry_out(folder.path(), &dir(folder), &mut || {
        steps += 1;
        if steps > step { Err(io::Error::other("killed")) } else { Ok(()) }
    });
    cleaned.is_err()
}

#[test]
fn a_cleaning_restores_the_persons_texts_and_moves_the_rest_aside() {
    let folder = worked_in();
    let plan = Cleaning::plan(folder.path(), &dir(&folder)).expect("it can be planned");
    let cleaned = plan.carry_out(folder.path(), &dir(&folder)).expect("it can be carried out");
    assert_eq!(cleaned, Cleaned { aside: ".workshop/cleaned-1".to_owned(), left: Vec::new() });
    let now = content(&folder);
    for path in AGENTS {
        assert_eq!(now[path], format!("the person's {path}"));
        assert_eq!(now[&format!(".workshop/cleaned-1/{path}")], format!("ada's {path}"));
    }
    assert!(now.contains_key(".workshop/cleaned-1/.workshop/workshop.db"), "{now:?}");
    assert!(now.contains_key(".workshop/cleaned-1/.workshop/worktrees/ada/copy.md"), "{now:?}");
    assert!(!now.keys().any(|path| path.starts_with("artifacts/") || path.starts_with("sessions/")), "{now:?}");
    assert!(!now.contains_key(".workshop/workshop.db") && !now.contains_key(".workshop/cleaning.json"), "{now:?}");
}

#[test]
fn a_cleaning_that_is_killed_at_any_step_is_completed_by_the_next_start() {
    let whole = worked_in();
    assert!(!killed_at(&whole, usize::MAX));
    let expected = content(&whole);
    let mut steps = 0;
    loop {
        let folder = worked_in();
        if !killed_at(&folder, steps) {
            break;
        }
        // Killed again while it is completed, at each of the remaining steps in turn.
        let again = RecordedCleaning::read(&dir(&folder)).expect("it can be read").expect("it is recorded");
        let mut left = steps % 3;
        let _killed = again.carry_out(folder.path(), &dir(&folder), &mut || {
            left = left.checked_sub(1).ok_or_else(|| io::Error::other("killed again"))?;
            Ok(())
        });
        if dir(&folder).join(PLAN).exists() {
            assert!(interrupted(&dir(&folder)).is_some_and(|problem| problem.what.contains("was interrupted")));
            let problem = complete_before_opening(folder.path(), &dir(&folder)).expect("it is completed");
            assert!(problem.what.contains(".workshop/cleaned-1"), "{problem}");
        }
        assert_eq!(interrupted(&dir(&folder)), None);
        assert_eq!(content(&folder), expected, "killed at step {steps}");
        assert_eq!(complete_interrupted(folder.path(), &dir(&folder)).expect("there is nothing to do"), None);
        steps += 1;
    }
    assert!(steps > 2 * AGENTS.len() + 4, "only {steps} steps were tried");
}

#[test]
fn what_the_person_changes_after_a_kill_is_left_alone() {
    let folder = worked_in();
    assert!(killed_at(&folder, 2), "the first file is restored, the others are not");
    for path in AGENTS {
        fs::write(folder.path().join(path), "edited after the kill").expect("files can be written");
    }
    let cleaned = complete_interrupted(folder.path(), &dir(&folder)).expect("it can be completed").expect("it was cut");
    assert_eq!(cleaned.left, AGENTS[1..], "what was done stays done, and what was not is left");
    let now = content(&folder);
    assert!(AGENTS.iter().all(|path| now[*path] == "edited after the kill"), "{now:?}");
    assert_eq!(now[".workshop/cleaned-1/agents/ada.md"], "ada's agents/ada.md");
}

#[test]
fn a_history_that_was_made_after_a_cleaning_is_not_moved_again() {
    let folder = worked_in();
    let plan = Cleaning::plan(folder.path(), &dir(&folder)).expect("it can be planned");
    drop(plan.record(folder.path(), &dir(&folder)).expect("it can be recorded"));
    let recorded = fs::read(dir(&folder).join(PLAN)).expect("it is recorded");
    complete_interrupted(folder.path(), &dir(&folder)).expect("it can be completed");
    drop(Store::open(&dir(&folder)).expect("a new history can be made"));
    fs::write(dir(&folder).join(PLAN), recorded).expect("files can be written");
    complete_interrupted(folder.path(), &dir(&folder)).expect("there is nothing left to do");
    assert!(dir(&folder).join(HISTORY_FILE).exists());
}

#[test]
fn a_plan_that_reaches_outside_is_refused_and_reported() {
    for plan in [
        r#"{"aside": ".workshop/cleaned-1", "put_back": [], "moved": ["../outside.md"]}"#,
        r#"{"aside": ".workshop/cleaned-1", "put_back": [], "moved": ["/etc/passwd"]}"#,
        r#"{"aside": ".workshop/cleaned-1", "put_back": [], "moved": [".git/config"]}"#,
        r#"{"aside": ".workshop/cleaned-1", "put_back": [{"path": "../a.md", "now": 1, "text": ""}], "moved": []}"#,
        r#"{"aside": "../elsewhere", "put_back": [], "moved": ["mine.md"]}"#,
        r#"{"aside": ".workshop/cleaned-1/../../..", "put_back": [], "moved": ["mine.md"]}"#,
        r#"{"aside": ".workshop/cleaned-1""#,
    ] {
        let folder = worked_in();
        fs::write(dir(&folder).join(PLAN), plan).expect("files can be written");
        let before = content(&folder);
        let problem = complete_before_opening(folder.path(), &dir(&folder)).expect("it is refused");
        assert!(problem.what.contains("could not be completed"), "{problem}");
        assert_eq!(content(&folder), before, "{plan}");
    }
}
