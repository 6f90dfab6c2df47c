//! Tests that edits of task files change exactly the requested parts, and keep every other byte.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::edit::{Change, EditError, delete, insert, reorder, update};
use super::model::{Priority, Status, TaskFile, Value};
use super::parse;
use super::parse_tests::{PLAN, any_file, said};
use super::render::NewTask;

fn text(text: &str) -> Option<Value> {
    Some(Value::Text(text.into()))
}

fn set(file: &str, task: usize, change: Change) -> String {
    update(&parse(file), &BTreeMap::from([(task, vec![change])])).expect("it can be changed").text
}

#[test]
fn changes_are_minimal() {
    let id = "  id: a\n";
    for (before, change, after) in [
        ("- [ ] a\n", Change::Status(Status::Completed), "- [x] a\n"),
        ("- a\n", Change::Status(Status::Skipped), "- [-] a\n"),
        ("- x @b \"a\"\n", Change::Status(Status::Open), "- [ ] @b \"a\"\n"),
        ("- [ ]  B  a\n", Change::Priority(None), "- [ ]  a\n"),
        ("- [ ] a\n", Change::Priority(Some(Priority::C)), "- [ ] C a\n"),
        ("- a\n", Change::Priority(Some(Priority::C)), "- C a\n"),
        ("- [ ] `a`\n", Change::Title("b `c`".into()), "- [ ] `b \\`c\\``\n"),
        ("- a\n", Change::Title("b \"c\"".into()), "- \"b \\\"c\\\"\"\n"),
        ("- @b #t @c a\n", Change::Stakeholders(vec!["d".into()]), "- @d #t a\n"),
        ("- #t a\n", Change::Tags(vec![]), "- a\n"),
        ("- [ ] a\n", Change::Tags(vec!["t".into(), "u".into()]), "- [ ] #t #u a\n"),
        ("- A B side\n  id: a\n", Change::Priority(None), "- \"B side\"\n  id: a\n"),
    ] {
        // A derived id is written with the change.
        let after = if before.contains("id: ") { after.to_owned() } else { format!("{after}{id}") };
        assert_eq!(set(before, 0, change), after, "{before}");
    }
}

#[test]
fn existing_keys_are_changed_in_place_and_new_ones_are_appended() {
    let note = |value: &str| Change::Field("note".into(), text(value));
    for (before, change, after) in [
        ("- a id: b note: c\n", Change::Field("note".into(), None), "- a id: b\n"),
        ("- \"a\" id: b note: c\n", note("d e"), "- \"a\" id: b note: \"d e\"\n"),
        ("- a\r\n  id: b\r\n  note:  c \r\n\r\nz", note("d e"), "- a\r\n  id: b\r\n  note: d e \r\n\r\nz"),
        ("- a\n  note: |\n    one\n\n    two\n  id: b\n", note("x"), "- a\n  note: x\n  id: b\n"),
        ("- a\r\n  id: b\r\n\r\n  - c", note("1\n2"), "- a\r\n  id: b\r\n  note: |\r\n    1\r\n    2\r\n\r\n  - c"),
        ("- a\n  id: b", note("x"), "- a\n  id: b\n  note: x"),
        ("- a\n  id: b\n  note: x\n  k: 1\n", Change::Field("note".into(), None), "- a\n  id: b\n  k: 1\n"),
        ("- a\n  id: b\n", Change::Field("n".into(), text("12")), "- a\n  id: b\n  n: \"12\"\n"),
        ("- a\n  id: b\n", Change::Field("n".into(), Some(Value::Bool(true))), "- a\n  id: b\n  n: true\n"),
    ] {
        assert_eq!(set(before, 0, change), after, "{before:?}");
    }
}

#[test]
fn tasks_are_added_below_a_parent_or_last() {
    let new = NewTask { stakeholders: vec!["human".into()], ..NewTask::new("New one") };
    let lines = "- [ ] @human \"New one\"\n  id: new-one\n";
    let added = |file: &str, parent| insert(&parse(file), parent, &new).expect("it can be added").0;
    for (before, after) in [
        ("", format!("## TODO\n\n{lines}")),
        ("# Plan\n\ntext\n\n", format!("# Plan\n\ntext\n\n{lines}\n")),
        ("# Plan\n\n## TODO\n\n## Other\n- x\n", format!("# Plan\n\n## TODO\n\n{lines}\n## Other\n- x\n")),
        ("- a\n\ntext", format!("- a\n{lines}\ntext")),
        ("- a", format!("- a\n{lines}")),
    ] {
        assert_eq!(added(before, None), after, "{before:?}");
    }
    let below = added(PLAN, Some(0));
    assert!(
        below.contains("    approval_required: true\n  - [ ] @human \"New one\"\n    id: new-one\n\n- [ ] A @eval")
    );
    let taken = NewTask { fields: vec![("id".into(), Value::Text("task-001".into()))], ..new.clone() };
    assert_eq!(insert(&parse(PLAN), None, &taken), Err(EditError::IdTaken("task-001".into())));
    assert_eq!(insert(&parse(PLAN), None, &NewTask::new(" ")), Err(EditError::NoTitle));
}

#[test]
fn a_task_is_deleted_with_its_children_or_not_at_all() {
    let file = parse(PLAN);
    assert!(matches!(delete(&file, &BTreeSet::from([0]), false), Err(EditError::HasChildren { .. })));
    let with = delete(&file, &BTreeSet::from([0]), true).expect("all go");
    assert_eq!(with, delete(&file, &BTreeSet::from([0, 1, 2]), false).expect("all are named"));
    assert_eq!(with, PLAN.replace(&PLAN[file.tasks[0].span.clone()], ""));
}

#[test]
fn tasks_with_errors_are_not_changed_but_others_are() {
    let text = "- \"open\n- b\n  id: b\n";
    let file = parse(text);
    let done = |task| update(&file, &BTreeMap::from([(task, vec![Change::Status(Status::Completed)])]));
    assert!(matches!(done(0), Err(EditError::HasErrors { line: 1, .. })));
    assert_eq!(done(1).expect("it is sound").text, "- \"open\n- [x] b\n  id: b\n");
}

#[test]
fn a_task_that_already_has_the_value_is_not_changed() {
    let file = parse("- [x] a\n  id: a\n  by: ada\n- b\n  id: b\n");
    let all = |change: Change| BTreeMap::from([(0, vec![change.clone()]), (1, vec![change])]);
    let changed = |change| update(&file, &all(change)).expect("it can be changed").changed;
    assert_eq!(changed(Change::Status(Status::Completed)), [1]);
    assert_eq!(changed(Change::Field("by".into(), text("ada"))), [1]);
    assert_eq!(changed(Change::Field("by".into(), None)), [0]);
}

#[test]
fn values_that_cannot_be_written_are_refused() {
    let refused = |change| update(&parse(PLAN), &BTreeMap::from([(0, vec![change])])).expect_err("it is refused");
    assert_eq!(refused(Change::Title("\t".into())), EditError::NoTitle);
    assert_eq!(refused(Change::Tags(vec!["a b".into()])), EditError::Name("a b".into()));
    assert_eq!(refused(Change::Field("a b".into(), text("x"))), EditError::Key("a b".into()));
    assert_eq!(refused(Change::Field("parent".into(), text("x"))), EditError::Parent);
    assert_eq!(refused(Change::Field("id".into(), text("task-002"))), EditError::IdTaken("task-002".into()));
    assert_eq!(refused(Change::Field("id".into(), None)), EditError::NoId);
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{1,3}",
        "[ -~\n\r\t“”`äß|]{0,12}",
        "(x|-|A|@a|#b|true|12|id:|a: b|-->|\\||## TODO|- a)",
        "[a-c\n ]{0,8}"
    ]
}

fn any_change() -> impl Strategy<Value = Change> {
    let names = || proptest::collection::vec("[a-c]{1,2}", 0..3);
    let value = prop_oneof![
        any_text().prop_map(|text| Some(Value::Text(text.into()))),
        any::<bool>().prop_map(|value| Some(Value::Bool(value))),
        Just(None),
    ];
    prop_oneof![
        prop_oneof![Just(Status::Open), Just(Status::Completed), Just(Status::Skipped)].prop_map(Change::Status),
        prop_oneof![Just(None), Just(Some(Priority::A)), Just(Some(Priority::D))].prop_map(Change::Priority),
        any_text().prop_map(Change::Title),
        names().prop_map(Change::Stakeholders),
        names().prop_map(Change::Tags),
        ("[a-c]{1,2}", value).prop_map(|(key, value)| Change::Field(key, value)),
    ]
}

/// Returns the text without a task's own lines: everything that a change must not touch.
fn others(file: &TaskFile, task: usize) -> String {
    let task = &file.tasks[task];
    let mut spans: Vec<_> =
        task.fields.iter().filter(|field| !field.is_inline).map(|field| field.span.clone()).collect();
    spans.push(task.head.start..task.own_end);
    spans.sort_by_key(|span| span.start);
    let (mut rest, mut at) = (String::new(), 0);
    for span in spans {
        rest.push_str(file.text.get(at..span.start).unwrap_or_default());
        at = at.max(span.end);
    }
    rest + &file.text[at..]
}

fn check_changed(before: &TaskFile, task: usize, changes: &[Change], after: &TaskFile) -> Result<(), TestCaseError> {
    prop_assert_eq!(before.tasks.len(), after.tasks.len());
    for (other, (one, same)) in before.tasks.iter().zip(&after.tasks).enumerate() {
        if other != task {
            prop_assert_eq!(said(before, one), said(after, same));
        }
    }
    let now = &after.tasks[task];
    let names = |names: &[super::model::Name]| names.iter().map(|name| name.text.clone()).collect::<Vec<_>>();
    for (at, change) in changes.iter().enumerate() {
        // Of two changes of the same property, the last one wins.
        let kind = |change: &Change| match change {
            Change::Field(key, _) => format!("key {key}"),
            other => format!("{:?}", std::mem::discriminant(other)),
        };
        if changes[at + 1..].iter().any(|later| kind(later) == kind(change)) {
            continue;
        }
        match change {
            Change::Status(status) => prop_assert_eq!(now.status, *status),
            Change::Priority(priority) => prop_assert_eq!(now.priority.as_ref().map(|(one, _)| *one), *priority),
            Change::Title(title) => prop_assert_eq!(&now.title.text, title),
            Change::Stakeholders(wanted) => prop_assert_eq!(&names(&now.stakeholders), wanted),
            Change::Tags(wanted) => prop_assert_eq!(&names(&now.tags), wanted),
            Change::Field(key, value) => {
                prop_assert_eq!(now.field(key).map(|field| &field.value), value.as_ref());
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn a_script_of_changes_touches_only_its_task(
        text in any_file(),
        pick in any::<proptest::sample::Index>(),
        changes in proptest::collection::vec(any_change(), 1..4),
    ) {
        let file = parse(text.as_str());
        if file.tasks.is_empty() {
            return Ok(());
        }
        let task = pick.index(file.tasks.len());
        if let Ok(changed) = update(&file, &BTreeMap::from([(task, changes.clone())])) {
            let after = parse(changed.text.as_str());
            prop_assert_eq!(changed.changed.is_empty(), changed.text == text);
            check_changed(&file, task, &changes, &after)?;
            let line_ends = |text: String| text.trim_end_matches(['\r', '\n']).to_owned();
            prop_assert_eq!(line_ends(others(&file, task)), line_ends(others(&after, task)));
        } else if file.tasks[task].has_errors {
            prop_assert!(file.error_of(task).is_some());
        }
    }

    #[test]
    fn only_the_deleted_tasks_are_removed(text in any_file(), pick in any::<proptest::sample::Index>()) {
        let file = parse(text.as_str());
        if file.tasks.is_empty() {
            return Ok(());
        }
        let task = pick.index(file.tasks.len());
        if let Ok(changed) = delete(&file, &BTreeSet::from([task]), true) {
            let span = file.tasks[task].span.clone();
            prop_assert_eq!(changed.as_str(), format!("{}{}", &text[..span.start], &text[span.end..]));
            prop_assert_eq!(parse(changed).tasks.len(), file.tasks.len() - (file.tasks[task].next - task));
        }
    }

    #[test]
    fn an_added_task_is_parsed_as_intended(
        text in any_file(),
        title in any_text(),
        value in any_text(),
        below in any::<Option<proptest::sample::Index>>(),
    ) {
        let file = parse(text.as_str());
        let new = NewTask { fields: vec![("note".into(), Value::Text(value.into()))], ..NewTask::new(title) };
        let parent = below.filter(|_| !file.tasks.is_empty()).map(|below| below.index(file.tasks.len()));
        if let Ok((changed, id)) = insert(&file, parent, &new) {
            let after = parse(changed.as_str());
            prop_assert_eq!(after.tasks.len(), file.tasks.len() + 1);
            let task = after.tasks.iter().find(|task| task.id == id);
            prop_assert!(task.is_some());
            let task = task.expect("it was asserted");
            prop_assert_eq!(&task.title.text, &new.title);
            prop_assert_eq!(task.field("note").map(|field| &field.value), Some(&new.fields[0].1));
            prop_assert_eq!(task.parent.map(|parent| &after.tasks[parent].id), parent.map(|parent| &file.tasks[parent].id));
            // The added text is contiguous, and without it the text is unchanged.
            let kept = file.text.len();
            let front = text.bytes().zip(changed.bytes()).take_while(|(one, other)| one == other).count();
            let back = text.bytes().rev().zip(changed.bytes().rev()).take_while(|(one, other)| one == other).count();
            prop_assert!(front + back >= kept);
        }
    }
}

#[test]
fn a_task_is_reordered_with_its_children() {
    let text = "# P\r\n\r\n- one\r\n  note: x\r\n  - deep\r\n\r\n- two\r\n- three";
    let file = parse(text);
    let index = |title: &str| file.tasks.iter().position(|task| task.title.text == title).expect("it should exist");
    let moved = reorder(&file, index("one"), Some(index("three"))).expect("it is in the list");
    assert_eq!(moved, "# P\r\n\r\n\r\n- two\r\n- one\r\n  note: x\r\n  - deep\r\n- three");
    let last = reorder(&file, index("one"), None).expect("it is in the list");
    assert_eq!(last, "# P\r\n\r\n\r\n- two\r\n- three\r\n- one\r\n  note: x\r\n  - deep");
    let first = reorder(&file, index("three"), Some(index("one"))).expect("it is in the list");
    assert_eq!(first, "# P\r\n\r\n- three\r\n- one\r\n  note: x\r\n  - deep\r\n\r\n- two\r\n");
    assert_eq!(reorder(&file, index("two"), Some(index("three"))).as_deref(), Ok(text), "it is there already");
    assert_eq!(reorder(&file, index("three"), None).as_deref(), Ok(text));
    assert_eq!(reorder(&file, index("deep"), Some(index("two"))), Err(EditError::OtherList));
    for text in [moved, last, first] {
        let read = parse(text);
        assert_eq!((read.tasks.len(), read.issues.len()), (4, 0), "{}", read.text);
        assert_eq!(read.tasks.iter().find(|task| task.title.text == "deep").map(|task| task.depth), Some(1));
    }
}
