//! Tests of a text that is edited, saved, changed by others, and merged.

use super::tab::{DraftStatus, Tab};
use crate::base::hash::content_hash;
use crate::ui::UiState;
use crate::ui::commands::{Command, RoomAct};
use crate::ui::state::file_texts::{Read, TextRead};
use crate::view::recent_events::Recent;
use crate::workspace::text_merge::Choice;
use crate::workspace::vfs::FileOperation;

fn hash(text: &str) -> u64 {
    content_hash(text.as_bytes())
}

fn read(text: &str) -> Read<Option<TextRead>> {
    Ok(Some(TextRead::new(text)))
}

fn open(text: &str) -> Tab {
    let mut tab = Tab::default();
    tab.follow(Some(&read(text)), 0.0);
    tab
}

fn write(tab: &mut Tab, text: &str) {
    tab.pages.text = text.to_owned();
    tab.typed(0);
}

/// The command of a save: its key, base and content; and what undoes it.
fn order(command: Command) -> (String, Option<u64>, String, FileOperation) {
    let Command::Act(RoomAct::File(forth), Some(RoomAct::File(back))) = command else {
        panic!("a save is an act with a way back: {command:?}")
    };
    let FileOperation::Save { base, content, .. } = forth.operation else { panic!("a save is a save") };
    (forth.key.to_string(), base, content, back.operation)
}

fn told(key: &str, result: Result<(), String>) -> Recent {
    let mut recent = Recent::default();
    recent.take_in_orders([(key.into(), result)]);
    recent
}

#[test]
fn without_a_word_written_the_tab_follows_the_file() {
    let mut tab = open("one\n");
    tab.follow(Some(&read("two\n")), 0.0);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("two\n", DraftStatus::Clean));
    tab.follow(Some(&Ok(None)), 0.0);
    assert_eq!(tab.text.as_str(), "");
    tab.follow(None, 0.0);
    assert_eq!(tab.draft_status(), DraftStatus::Clean);
}

#[test]
fn what_is_typed_and_typed_back_is_no_draft() {
    let mut tab = open("one\n");
    write(&mut tab, "one!\n");
    assert_eq!(tab.draft_status(), DraftStatus::Written);
    write(&mut tab, "one\n");
    assert_eq!(tab.draft_status(), DraftStatus::Clean);
}

#[test]
fn a_save_names_what_it_began_from_and_how_to_take_it_back() {
    let (mut tab, state) = (open("one\n"), UiState::default());
    write(&mut tab, "two\n");
    let (key, base, content, back) = order(tab.save("a.md", &state));
    assert_eq!((base, content.as_str()), (Some(hash("one\n")), "two\n"));
    let wanted = FileOperation::Save { path: "a.md".into(), base: Some(hash("two\n")), content: "one\n".into() };
    assert_eq!(back, wanted);
    assert!(tab.is_saving());
    tab.apply_results(&told("another", Ok(())), 0.0);
    assert_eq!(tab.draft_status(), DraftStatus::Written, "another order is none of its business");
    tab.apply_results(&told(&key, Ok(())), 0.0);
    assert_eq!((tab.draft_status(), tab.is_saving()), (DraftStatus::Clean, false));
    tab.follow(Some(&read("one\n")), 1.0);
    assert_eq!(tab.text.as_str(), "two\n", "the file was read before it was saved");
    tab.follow(Some(&read("two\n")), 1.5);
    tab.follow(Some(&read("one\n")), 2.0);
    assert_eq!(tab.text.as_str(), "one\n", "somebody wrote the old text again");
}

#[test]
fn what_is_typed_while_it_is_saved_stays_a_draft_of_the_saved() {
    let (mut tab, state) = (open("one\n"), UiState::default());
    write(&mut tab, "two\n");
    let (key, ..) = order(tab.save("a.md", &state));
    write(&mut tab, "three\n");
    tab.apply_results(&told(&key, Ok(())), 0.0);
    tab.follow(Some(&read("two\n")), 0.0);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("three\n", DraftStatus::Written));
    let (_, base, ..) = order(tab.save("a.md", &state));
    assert_eq!(base, Some(hash("two\n")));
}

#[test]
fn a_save_that_fails_keeps_what_was_written_and_says_why() {
    let (mut tab, state) = (open("one\n"), UiState::default());
    write(&mut tab, "two\n");
    let (key, ..) = order(tab.save("a.md", &state));
    tab.apply_results(&told(&key, Err("the disk is full".into())), 0.0);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("two\n", DraftStatus::Written));
    assert_eq!(tab.failed.as_deref(), Some("the disk is full"));
}

#[test]
fn a_file_that_was_not_there_is_made_and_undone_by_deleting() {
    let (mut tab, state) = (Tab::default(), UiState::default());
    tab.follow(Some(&Ok(None)), 0.0);
    write(&mut tab, "new\n");
    let (_, base, _, back) = order(tab.save("new.md", &state));
    assert_eq!((base, back), (None, FileOperation::Delete { path: "new.md".into() }));
}

#[test]
fn a_draft_that_was_overtaken_is_merged_kept_or_given_up() {
    let base = "a\nb\nc\nd\n";
    let overtaken = |theirs: &str| {
        let mut tab = open(base);
        write(&mut tab, "A\nb\nc\nd\n");
        tab.follow(Some(&read(theirs)), 0.0);
        assert_eq!(tab.draft_status(), DraftStatus::Overtaken);
        tab
    };
    let mut tab = overtaken("a\nb\nc\nD\n");
    tab.begin_merge();
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("A\nb\nc\nD\n", DraftStatus::Written));

    let mut tab = overtaken("x\nb\nc\nd\n");
    tab.begin_merge();
    assert_eq!(tab.draft_status(), DraftStatus::Overtaken, "somebody has to choose");
    tab.choose(0, Choice::Both);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("A\nx\nb\nc\nd\n", DraftStatus::Written));

    let mut tab = overtaken("x\nb\nc\nd\n");
    tab.keep_mine();
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("A\nb\nc\nd\n", DraftStatus::Written));
    let (_, base, ..) = order(tab.save("a.md", &UiState::default()));
    assert_eq!(base, Some(hash("x\nb\nc\nd\n")));

    let mut tab = overtaken("x\nb\nc\nd\n");
    tab.take_theirs();
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("x\nb\nc\nd\n", DraftStatus::Clean));
}

#[test]
fn choices_about_an_older_text_do_not_count() {
    let mut tab = open("a\nb\n");
    write(&mut tab, "A\nb\n");
    tab.follow(Some(&read("x\nb\n")), 0.0);
    tab.begin_merge();
    tab.follow(Some(&read("y\nb\n")), 0.0);
    assert!(tab.merging.is_none());
    tab.begin_merge();
    write(&mut tab, "A\nb\nmore\n");
    tab.choose(0, Choice::Theirs);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("A\nb\nmore\n", DraftStatus::Overtaken));
}

#[test]
fn a_file_that_goes_leaves_the_draft() {
    let (mut tab, state) = (open("a\n"), UiState::default());
    write(&mut tab, "b\n");
    tab.follow(Some(&Ok(None)), 0.0);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("b\n", DraftStatus::Deleted));
    tab.keep_mine();
    let (_, base, ..) = order(tab.save("a.md", &state));
    assert_eq!(base, None);
    tab.follow(Some(&Err("it is not UTF-8".into())), 0.0);
    assert_eq!(tab.text.as_str(), "b\n", "what was written stays whatever becomes of the file");
}

#[test]
fn ends_of_lines_stay_as_the_file_has_them() {
    let (mut tab, state) = (open("a\r\nb\r\n"), UiState::default());
    assert_eq!(tab.text.as_str(), "a\nb\n");
    write(&mut tab, "a\nb\nc\n");
    let (_, base, content, _) = order(tab.save("a.md", &state));
    assert_eq!((base, content.as_str()), (Some(hash("a\r\nb\r\n")), "a\r\nb\r\nc\r\n"));
    let mixed = open("a\r\nb\n\rc");
    assert_eq!(mixed.text.as_str(), "a\r\nb\n\rc", "what is mixed is left alone");
}

#[test]
fn a_draft_of_an_earlier_window_continues_where_it_was() {
    let mut tab = Tab::begun(Some("a\n".into()), "b\n", true);
    assert_eq!(tab.draft_status(), DraftStatus::Written);
    tab.follow(Some(&read("a\n")), 0.0);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("b\n", DraftStatus::Written));
    tab.follow(Some(&read("c\n")), 0.0);
    assert_eq!(tab.draft_status(), DraftStatus::Overtaken);
}

#[test]
fn restoring_gives_up_the_draft_only_once_it_is_done() {
    let (mut tab, state) = (open("a\n"), UiState::default());
    write(&mut tab, "b\n");
    let Command::Act(RoomAct::File(forth), None) = tab.restore("a.md", 1, &state) else { panic!("an act") };
    tab.apply_results(&told(&forth.key, Err("that version is not kept".into())), 0.0);
    assert_eq!(tab.text.as_str(), "b\n");
    let Command::Act(RoomAct::File(forth), None) = tab.restore("a.md", 1, &state) else { panic!("an act") };
    tab.apply_results(&told(&forth.key, Ok(())), 0.0);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("a\n", DraftStatus::Clean));
}
