//! Edits that are described: applied to the text that the file has, within the rights of the order.

use super::super::executor::tests::{FileWorkspace, add_task, complete_task, order, put_outside, version};
use super::super::order::{FileResult, FileRights};
use super::super::text_edit::EditReport;
use super::super::{OUTSIDE, ROOM};
use super::*;

const PLAN: &str = "tasks/plan.task.md";
const TEXT: &str = "# Plan\n\n## TODO\n\n- [ ] \"Buy milk\"\n  id: milk\n";

fn task(id: &str, title: &str) -> EditReport {
    EditReport::Task { id: id.into(), title: title.into() }
}

#[test]
fn an_edit_is_a_version_of_its_author_and_says_what_it_did() {
    let mut fixture = FileWorkspace::new(&[(PLAN, TEXT)]);
    let done = TEXT.replace("[ ]", "[x]");
    let result = FileResult::Written {
        path: PLAN.into(),
        version: 2,
        chars: done.chars().count() as u64,
        is_new: false,
        content: Some(done.clone()),
    };
    let expected =
        FileAnswer::Edited { done: Some(result), conflict_with: Vec::new(), report: task("milk", "Buy milk") };
    assert_eq!(fixture.run("ada", complete_task(PLAN, "milk")), Ok(expected));
    assert_eq!(fixture.history(PLAN), [version(1, OUTSIDE, TEXT), version(2, "ada", &done)]);
    let again = FileAnswer::Edited { done: None, conflict_with: Vec::new(), report: task("milk", "Buy milk") };
    assert_eq!(fixture.run(ROOM, complete_task(PLAN, "milk")), Ok(again), "it is done already");
    assert_eq!(fixture.history(PLAN).len(), 2);
}

#[test]
fn an_edit_applies_to_what_others_wrote_after_the_room_read_the_file() {
    let mut fixture = FileWorkspace::new(&[(PLAN, TEXT)]);
    let theirs = TEXT.replace("# Plan", "# Plan of Monday") + "- [ ] \"Post it\"\n  id: post\n";
    put_outside(&fixture.folder, PLAN, &theirs);
    for author in ["ada", ROOM] {
        assert!(fixture.run(author, add_task(PLAN, author)).is_ok());
    }
    let text = fixture.on_disk(PLAN).expect("it should exist");
    assert!(text.starts_with(&theirs) && text.contains("\"ada\"") && text.contains("\"room\""), "{text}");
}

#[test]
fn an_edit_that_does_not_fit_changes_nothing_and_says_why() {
    let mut fixture = FileWorkspace::new(&[(PLAN, TEXT)]);
    let Ok(FileAnswer::NotEdited { why, seen }) = fixture.run("ada", complete_task(PLAN, "tea")) else {
        panic!("there is no such task");
    };
    assert!(why.starts_with("tasks/plan.task.md: there is no task \"tea\"") && why.contains("milk"), "{why}");
    assert_eq!(seen, Some(content_hash(TEXT.as_bytes())));
    let Ok(FileAnswer::NotEdited { why, seen: None }) = fixture.run(ROOM, complete_task("tasks/plam.task.md", "milk"))
    else {
        panic!("there is no such file");
    };
    assert!(why.contains("'tasks/plam.task.md' not found. Similar: 'tasks/plan.task.md'"), "{why}");
    assert_eq!(fixture.on_disk(PLAN).as_deref(), Some(TEXT));
    assert_eq!(fixture.on_disk("tasks/plam.task.md"), None);
    // An edit that made no sense can be made later, under the same key in another run.
    let order = order("k", ROOM, complete_task(PLAN, "tea"));
    assert!(matches!(fixture.files.execute(&order).result, Ok(FileAnswer::NotEdited { .. })));
    put_outside(&fixture.folder, PLAN, &TEXT.replace("id: milk", "id: tea"));
    let mut fixture = fixture.reopen();
    assert!(matches!(fixture.files.execute(&order).result, Ok(FileAnswer::Edited { done: Some(_), .. })));
}

#[test]
fn an_edit_needs_the_rights_to_read_and_to_write() {
    let mut fixture = FileWorkspace::new(&[(PLAN, TEXT)]);
    let list = |glob: &str| vec![vec![glob.to_owned()]];
    for (reads, writes, is_allowed) in
        [("tasks/**", "tasks/**", true), ("notes/**", "tasks/**", false), ("tasks/**", "notes/**", false)]
    {
        let rights = FileRights { reads: list(reads), writes: list(writes), ..FileRights::default() };
        let order = FileOrder { rights, ..order(&format!("{reads} {writes}"), "ada", add_task(PLAN, "Post it")) };
        match fixture.files.execute(&order).result {
            Ok(FileAnswer::Edited { .. }) => assert!(is_allowed),
            other => assert!(!is_allowed && other.is_err_and(|failure| failure.is_refusal), "{reads:?} {writes:?}"),
        }
    }
    let waiting = TEXT.to_owned() + "  approval_required: true\n";
    put_outside(&fixture.folder, PLAN, &waiting);
    let refused = fixture.run("ada", complete_task(PLAN, "milk")).expect_err("only a person completes it");
    assert!(refused.is_refusal, "{refused:?}");
    assert_eq!(fixture.on_disk(PLAN).as_deref(), Some(waiting.as_str()));
}
