//! A process that is killed at any step of a change: after a restart the same operation has the same result, once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;

use super::super::{OUTSIDE, ROOM};
use super::tests::{
    FileWorkspace, add_task, complete_task, delete, edit, order, put_outside, rename, restore, version, write,
};
use super::*;

const STEPS: [LastStep; 4] = [LastStep::WrittenBeside, LastStep::Recorded, LastStep::InPlace, LastStep::Settled];

const FILES: &[(&str, &str)] = &[("agents/a.md", "by hand"), ("notes/b.md", "by hand")];

/// Performs an operation up to `step`, as if the process were killed there, and opens the workspace again.
fn killed_at(mut fixture: FileWorkspace, order: &FileOrder, step: LastStep) -> FileWorkspace {
    fixture.files.stop_at = Some(step);
    // An open transaction is lost with the connection, as it is with the process.
    let _killed = catch_unwind(AssertUnwindSafe(|| fixture.files.execute(order)));
    fixture.reopen()
}

fn orders() -> Vec<FileOperation> {
    vec![
        write("agents/a.md", "ada's"),
        write("new/folder/c.md", "ada's"),
        edit("notes/b.md", "hand", "heart"),
        add_task("notes/b.md", "Buy milk"),
        add_task("new/folder/c.md", "Buy milk"),
        delete("notes/b.md"),
        rename("notes/b.md", "elsewhere/b.md"),
        rename("agents/a.md", "agents/z.md"),
        restore("notes/b.md", 1),
    ]
}

/// The visible state of a workspace.
fn seen(fixture: &FileWorkspace) -> Vec<(String, Option<String>, Vec<(u64, String, String)>)> {
    ["agents/a.md", "agents/z.md", "notes/b.md", "elsewhere/b.md", "new/folder/c.md"]
        .map(|path| (path.to_owned(), fixture.on_disk(path), fixture.history(path)))
        .to_vec()
}

fn fixture() -> FileWorkspace {
    let mut fixture = FileWorkspace::new(FILES);
    fixture.run("user", write("notes/b.md", "by bob's hand")).expect("it can be written");
    fixture
}

#[test]
fn every_change_has_the_same_result_whenever_the_process_is_killed() {
    for operation in orders() {
        let order = order("k", "ada", operation);
        let mut whole = fixture();
        let expected = whole.files.execute(&order);
        assert!(expected.result.is_ok(), "{expected:?}");
        let expected_seen = seen(&whole);
        for step in STEPS {
            let mut again = killed_at(fixture(), &order, step);
            assert_eq!(again.files.versions.steps().expect("they can be read"), [], "{order:?} at {step:?}");
            let outcome = again.files.execute(&order);
            assert_eq!(outcome, expected, "{order:?} at {step:?}");
            assert_eq!(seen(&again), expected_seen, "{order:?} at {step:?}");
            let mut twice = again.reopen();
            assert_eq!(twice.files.execute(&order), expected, "{order:?} at {step:?}, once more");
            assert_eq!(seen(&twice), expected_seen);
            let left: Vec<_> = hidden(&twice);
            assert_eq!(left, Vec::<String>::new(), "{order:?} at {step:?} leaves something over");
        }
    }
}

fn hidden(fixture: &FileWorkspace) -> Vec<String> {
    ["agents", "notes", "elsewhere", "new/folder"]
        .iter()
        .filter_map(|folder| std::fs::read_dir(fixture.folder.path().join(folder)).ok())
        .flat_map(|entries| entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .filter(|name| name.starts_with('.'))
        .collect()
}

#[test]
fn a_described_edit_is_made_once_whenever_the_process_is_killed() {
    let path = "notes/b.md";
    let task = "- [ ] \"Buy milk\"\n  id: buy-milk\n";
    // The room's saves are not remembered, but its edits are.
    for author in ["ada", ROOM, "user"] {
        for (operation, before) in [(add_task(path, "Buy milk"), "# Plan\n"), (complete_task(path, "buy-milk"), task)] {
            let order = order("k", author, operation);
            let mut whole = FileWorkspace::new(&[(path, before)]);
            let expected = whole.files.execute(&order);
            assert!(matches!(expected.result, Ok(FileAnswer::Edited { done: Some(_), .. })), "{expected:?}");
            for step in STEPS {
                let mut fixture = killed_at(FileWorkspace::new(&[(path, before)]), &order, step);
                assert_eq!(fixture.files.execute(&order), expected, "{author} at {step:?}");
                assert_eq!(fixture.on_disk(path), whole.on_disk(path), "{author} at {step:?}");
                // The answer is lost, and a person takes back what it did: it is not done again.
                put_outside(&fixture.folder, path, before);
                let mut fixture = fixture.reopen();
                let again = fixture.files.execute(&order).result;
                assert!(
                    matches!(again, Ok(FileAnswer::Edited { done: Some(_), .. })),
                    "{author} at {step:?}: {again:?}"
                );
                assert_eq!(fixture.on_disk(path).as_deref(), Some(before), "{author} at {step:?}");
            }
        }
    }
}

#[test]
fn an_edit_between_a_kill_and_the_restart_is_kept_and_so_is_the_order() {
    let order = order("k", "ada", write("notes/b.md", "ada's"));
    for step in STEPS {
        let mut fixture = fixture();
        fixture.files.stop_at = Some(step);
        let _killed = catch_unwind(AssertUnwindSafe(|| fixture.files.execute(&order)));
        put_outside(&fixture.folder, "notes/b.md", "by hand at last");
        let mut fixture = fixture.reopen();
        while fixture.files.do_idle_task() {}
        let before = fixture.on_disk("notes/b.md");
        assert_eq!(before.as_deref(), Some("by hand at last"), "{step:?}");
        let outcome = fixture.files.execute(&order);
        let texts: Vec<_> = fixture.history("notes/b.md").into_iter().skip(2).collect();
        let (ada, hand) = ("ada's", "by hand at last");
        if step == LastStep::WrittenBeside {
            // Nothing was recorded: the operation is now performed on the present files.
            assert_eq!(texts, [version(3, OUTSIDE, hand), version(4, "ada", ada)]);
            assert_eq!(fixture.on_disk("notes/b.md").as_deref(), Some(ada));
        } else {
            assert_eq!(texts, [version(3, "ada", ada), version(4, OUTSIDE, hand)], "{step:?}");
            assert_eq!(fixture.on_disk("notes/b.md").as_deref(), Some(hand));
        }
        assert!(matches!(outcome.result, Ok(FileAnswer::Changed { .. })), "{outcome:?}");
    }
}

#[test]
fn a_change_that_cannot_be_completed_is_reverted_and_executed_on_repetition() {
    let order = order("k", "ada", write("notes/b.md", "ada's"));
    let mut fixture = fixture();
    fixture.files.stop_at = Some(LastStep::Recorded);
    let _killed = catch_unwind(AssertUnwindSafe(|| fixture.files.execute(&order)));
    let path = fixture.folder.path().join("notes/b.md");
    std::fs::remove_file(&path).expect("it should exist");
    std::fs::create_dir(&path).expect("folders can be made");
    let mut fixture = fixture.reopen();
    let failure = fixture.files.execute(&order).result.expect_err("a folder is in the way");
    assert!(failure.what.contains("is a folder"), "{}", failure.what);
    std::fs::remove_dir(&path).expect("it is empty");
    let mut fixture = fixture.reopen();
    assert!(fixture.files.execute(&order).result.is_ok());
    assert_eq!(fixture.on_disk("notes/b.md").as_deref(), Some("ada's"));
}

#[derive(Clone, Debug)]
enum Act {
    Order(FileOperation),
    Outside(&'static str, &'static str),
}

fn acts() -> impl Strategy<Value = Vec<(Act, Option<usize>)>> {
    let path = prop::sample::select(vec!["agents/a.md", "notes/b.md", "notes/c.md", "d.md"]);
    let text = prop::sample::select(vec!["one\n", "two\n", "three\n", ""]);
    let act = prop_oneof![
        4 => (path.clone(), text.clone()).prop_map(|(path, text)| Act::Order(write(path, text))),
        1 => (path.clone(), text.clone()).prop_map(|(path, text)| Act::Order(edit(path, "o", text))),
        1 => path.clone().prop_map(|path| Act::Order(add_task(path, "Buy milk"))),
        2 => path.clone().prop_map(|path| Act::Order(delete(path))),
        2 => (path.clone(), path.clone()).prop_map(|(from, to)| Act::Order(rename(from, to))),
        1 => (path.clone(), 1..4_u64).prop_map(|(path, number)| Act::Order(restore(path, number))),
        1 => (path, text).prop_map(|(path, text)| Act::Outside(path, text)),
    ];
    proptest::collection::vec((act, proptest::option::weighted(0.3, 0..STEPS.len())), 1..14)
}

/// Normalises a history: an unchanged file that another program created has a version if its creation was observed, and
/// none if the file existed when the workspace was opened. Both are right.
fn told(history: Vec<(u64, String, String)>) -> Vec<(u64, String, String)> {
    if history.len() == 1 && history[0].1 == OUTSIDE { Vec::new() } else { history }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_orders_have_the_same_result_with_and_without_kills(acts in acts()) {
        let (mut whole, mut killed) = (fixture(), fixture());
        for (number, (act, kill)) in acts.iter().enumerate() {
            match act {
                Act::Outside(path, text) => {
                    put_outside(&whole.folder, path, text);
                    put_outside(&killed.folder, path, text);
                }
                Act::Order(operation) => {
                    let order = order(&format!("k-{number}"), "ada", operation.clone());
                    if let Some(step) = kill {
                        killed = killed_at(killed, &order, STEPS[*step]);
                    }
                    let (one, other) = (whole.files.execute(&order), killed.files.execute(&order));
                    prop_assert_eq!(&one.result.is_ok(), &other.result.is_ok());
                    if let (Ok(FileAnswer::Changed { done: one, .. }), Ok(FileAnswer::Changed { done: other, .. })) = (one.result, other.result) {
                        prop_assert_eq!(one, other);
                    }
                }
            }
            for path in ["agents/a.md", "notes/b.md", "notes/c.md", "d.md"] {
                prop_assert_eq!(whole.on_disk(path), killed.on_disk(path));
            }
        }
        for path in ["agents/a.md", "notes/b.md", "notes/c.md", "d.md"] {
            prop_assert_eq!(told(whole.history(path)), told(killed.history(path)), "{}", path);
        }
        prop_assert_eq!(killed.files.versions.steps().expect("they can be read"), []);
    }
}

/// Performs `operation` while an outsider saves each time that `step` is reached, up to `times` times.
fn saved_at(
    step: LastStep,
    operation: FileOperation,
    theirs: &'static str,
    times: usize,
) -> (FileWorkspace, FileOutcome) {
    let mut fixture = fixture();
    let full = fixture.folder.path().join("notes/b.md");
    let mut left = times;
    fixture.files.act_at = Some((
        step,
        Box::new(move || {
            if left > 0 {
                left -= 1;
                let beside = full.with_extension("theirs");
                std::fs::write(&beside, theirs).expect("files can be written");
                std::fs::rename(&beside, &full).expect("it can be renamed");
            }
        }),
    ));
    let outcome = fixture.files.execute(&order("k", "ada", operation));
    (fixture, outcome)
}

#[test]
fn an_external_save_at_any_step_of_an_order_is_never_lost() {
    let theirs = "by bob's hand, and more\n";
    for step in [LastStep::WrittenBeside, LastStep::Recorded] {
        // An edit applies to the outsider's text; overwritten text is kept as a version, and the person is informed.
        let (fixture, outcome) = saved_at(step, edit("notes/b.md", "hand", "heart"), theirs, 1);
        assert!(outcome.result.is_ok(), "{outcome:?}");
        assert_eq!(fixture.on_disk("notes/b.md").as_deref(), Some("by bob's heart, and more\n"), "{step:?}");
        let texts: Vec<_> = fixture.history("notes/b.md").into_iter().skip(2).collect();
        assert_eq!(texts, [version(3, OUTSIDE, theirs), version(4, "ada", "by bob's heart, and more\n")]);
        assert_eq!(fixture.outside_changes().iter().filter(|news| news.displaced_by.is_some()).count(), 0);

        let (fixture, outcome) = saved_at(step, write("notes/b.md", "ada's"), theirs, 1);
        assert!(outcome.result.is_ok(), "{outcome:?}");
        assert_eq!(fixture.history("notes/b.md")[2], version(3, OUTSIDE, theirs));
        let told = fixture.outside_changes().into_iter().find(|news| news.displaced_by.as_deref() == Some("ada"));
        assert_eq!(told.map(|news| news.version), Some(3), "{step:?}");

        let (fixture, outcome) = saved_at(step, add_task("notes/b.md", "Buy milk"), theirs, 1);
        assert!(matches!(outcome.result, Ok(FileAnswer::Edited { done: Some(_), .. })), "{outcome:?}");
        let text = fixture.on_disk("notes/b.md").expect("it should exist");
        assert!(text.starts_with(theirs) && text.matches("Buy milk").count() == 1, "{step:?}: {text}");
        assert_eq!(fixture.history("notes/b.md")[2], version(3, OUTSIDE, theirs));
        assert_eq!(fixture.outside_changes().iter().filter(|news| news.displaced_by.is_some()).count(), 0);

        let base = Some(crate::base::hash::content_hash(b"by bob's hand"));
        let save = FileOperation::Save { path: "notes/b.md".into(), base, content: "mine".into() };
        let (fixture, outcome) = saved_at(step, save, theirs, 1);
        assert!(outcome.result.expect_err("somebody else saved").what.contains("changed in the meantime"));
        assert_eq!(fixture.on_disk("notes/b.md").as_deref(), Some(theirs));
    }
    let (fixture, outcome) = saved_at(LastStep::Recorded, rename("notes/b.md", "notes/c.md"), theirs, 1);
    let now = [fixture.on_disk("notes/b.md"), fixture.on_disk("notes/c.md")];
    assert!(now.contains(&Some(theirs.to_owned())), "{outcome:?}: {now:?}");
    let (fixture, outcome) = saved_at(LastStep::Recorded, delete("notes/b.md"), theirs, 1);
    assert!(outcome.result.expect_err("it was changed").what.contains("was just changed"));
    assert_eq!(fixture.on_disk("notes/b.md").as_deref(), Some(theirs));
    let (fixture, outcome) = saved_at(LastStep::Recorded, write("notes/b.md", "ada's"), theirs, usize::MAX);
    assert!(outcome.result.is_ok(), "the same text saved again and again is seen once: {outcome:?}");
    drop(fixture);
}

#[test]
fn leftovers_of_an_interrupted_exchange_are_removed_or_set_aside() {
    use crate::safe_fs::{placing_name, temporary_name};
    let order = order("k", "ada", write("notes/b.md", "ada's"));
    let theirs = "saved at that moment";
    // Which text is in the hidden file, and which in the file itself, when the process is killed.
    for (left, there, now) in [
        ("ada's", "by bob's hand", "ada's"),
        ("by bob's hand", "ada's", "ada's"),
        (theirs, "ada's", theirs),
        (theirs, "saved later", "saved later"),
    ] {
        let mut fixture = fixture();
        fixture.files.stop_at = Some(LastStep::Recorded);
        let _killed = catch_unwind(AssertUnwindSafe(|| fixture.files.execute(&order)));
        let beside = super::super::resolve::beside_name(&order.key);
        let notes = fixture.folder.path().join("notes");
        std::fs::remove_file(notes.join(&beside)).expect("it was written");
        std::fs::write(notes.join(placing_name(&beside)), left).expect("files can be written");
        put_outside(&fixture.folder, "notes/b.md", there);
        // The room's saver may have been killed as well, while it saved another file.
        std::fs::write(notes.join(placing_name(&temporary_name("c.md"))), theirs).expect("files can be written");
        let mut fixture = fixture.reopen();
        assert_eq!(fixture.on_disk("notes/b.md").as_deref(), Some(now), "{left} and {there}");
        assert_eq!(hidden(&fixture), Vec::<String>::new());
        assert_eq!(fixture.on_disk(".workshop/unsaved/notes_c.md").as_deref(), Some(theirs));
        let is_apart = fixture.on_disk(".workshop/unsaved/notes_b.md").as_deref() == Some(theirs);
        assert_eq!(is_apart, now == "saved later");
        let told = std::mem::take(&mut fixture.files.problems);
        assert_eq!(told.len(), 1 + usize::from(is_apart), "{told:?}");
    }
}

#[test]
fn a_deleted_file_has_its_history_back_once_another_one_has_left_its_path() {
    for killed in [None].into_iter().chain(STEPS.map(Some)) {
        let mut fixture = FileWorkspace::new(&[("notes/a.md", "of a"), ("notes/b.md", "of b"), ("notes/c.md", "of c")]);
        let mut done = |operation| fixture.run("ada", operation).expect("it can be done");
        done(rename("notes/a.md", "notes/x.md"));
        done(delete("notes/x.md"));
        done(rename("notes/c.md", "notes/x.md"));
        done(delete("notes/x.md"));
        done(rename("notes/b.md", "notes/x.md"));
        let back = order("the last", "ada", rename("notes/x.md", "notes/b.md"));
        let mut fixture = match killed {
            Some(step) => killed_at(fixture, &back, step),
            None => fixture,
        };
        fixture.files.execute(&back).result.expect("it can be done, also again");
        assert_eq!(fixture.on_disk("notes/b.md").as_deref(), Some("of b"));
        fixture.run("ada", restore("notes/x.md", 1)).expect("the file that was deleted last is found again");
        assert_eq!(fixture.on_disk("notes/x.md").as_deref(), Some("of c"), "{killed:?}");
        let mut fixture = fixture.reopen();
        assert_eq!(fixture.history("notes/x.md").first(), Some(&version(1, OUTSIDE, "of c")), "{killed:?}");
        fixture.run("ada", restore("notes/x.md", 1)).expect("also after the workspace was opened again");
    }
}
