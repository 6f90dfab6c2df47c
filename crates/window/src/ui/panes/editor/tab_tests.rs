//! Tests of editing, saving, conflicts and merging in a tab.

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
    tab.update_from_file(Some(&read(text)), 0.0);
    tab
}

fn write(tab: &mut Tab, text: &str) {
    tab.chunks.text = text.to_owned();
    tab.apply_field_edit(0);
}

/// Returns the key, base and content of a save command, and its inverse.
fn save_parts(command: Command) -> (String, Option<u64>, String, FileOperation) {
    let Command::Act(RoomAct::File(command), Some(RoomAct::File(inverse))) = command else {
        panic!("a save has an inverse: {command:?}")
    };
    let FileOperation::Save { base, content, .. } = command.operation else { panic!("a save is a save") };
    (command.key.to_string(), base, content, inverse.operation)
}

fn result_of(key: &str, result: Result<(), String>) -> Recent {
    let mut recent = Recent::default();
    recent.record_file_outcomes([(key.into(), result)]);
    recent
}

#[test]
fn a_clean_tab_follows_the_file() {
    let mut tab = open("one\n");
    tab.update_from_file(Some(&read("two\n")), 0.0);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("two\n", DraftStatus::Clean));
    tab.update_from_file(Some(&Ok(None)), 0.0);
    assert_eq!(tab.text.as_str(), "");
    tab.update_from_file(None, 0.0);
    assert_eq!(tab.draft_status(), DraftStatus::Clean);
}

#[test]
fn reverting_an_edit_by_typing_leaves_no_draft() {
    let mut tab = open("one\n");
    write(&mut tab, "one!\n");
    assert_eq!(tab.draft_status(), DraftStatus::Unsaved);
    write(&mut tab, "one\n");
    assert_eq!(tab.draft_status(), DraftStatus::Clean);
}

#[test]
fn a_save_has_a_base_and_an_inverse() {
    let (mut tab, state) = (open("one\n"), UiState::default());
    write(&mut tab, "two\n");
    let (key, base, content, inverse) = save_parts(tab.save("a.md", &state));
    assert_eq!((base, content.as_str()), (Some(hash("one\n")), "two\n"));
    let wanted = FileOperation::Save { path: "a.md".into(), base: Some(hash("two\n")), content: "one\n".into() };
    assert_eq!(inverse, wanted);
    assert!(tab.is_saving());
    tab.apply_results(&result_of("another", Ok(())), 0.0);
    assert_eq!(tab.draft_status(), DraftStatus::Unsaved, "results of other operations are ignored");
    tab.apply_results(&result_of(&key, Ok(())), 0.0);
    assert_eq!((tab.draft_status(), tab.is_saving()), (DraftStatus::Clean, false));
    tab.update_from_file(Some(&read("one\n")), 1.0);
    assert_eq!(tab.text.as_str(), "two\n", "a stale read from before the save is ignored");
    tab.update_from_file(Some(&read("two\n")), 1.5);
    tab.update_from_file(Some(&read("one\n")), 2.0);
    assert_eq!(tab.text.as_str(), "one\n", "someone else restored the old text");
}

#[test]
fn text_typed_during_a_save_becomes_a_draft_based_on_the_saved_text() {
    let (mut tab, state) = (open("one\n"), UiState::default());
    write(&mut tab, "two\n");
    let (key, ..) = save_parts(tab.save("a.md", &state));
    write(&mut tab, "three\n");
    tab.apply_results(&result_of(&key, Ok(())), 0.0);
    tab.update_from_file(Some(&read("two\n")), 0.0);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("three\n", DraftStatus::Unsaved));
    let (_, base, ..) = save_parts(tab.save("a.md", &state));
    assert_eq!(base, Some(hash("two\n")));
}

#[test]
fn a_failed_save_keeps_the_draft_and_reports_the_error() {
    let (mut tab, state) = (open("one\n"), UiState::default());
    write(&mut tab, "two\n");
    let (key, ..) = save_parts(tab.save("a.md", &state));
    tab.apply_results(&result_of(&key, Err("the disk is full".into())), 0.0);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("two\n", DraftStatus::Unsaved));
    assert_eq!(tab.error.as_deref(), Some("the disk is full"));
}

#[test]
fn saving_a_new_file_is_undone_by_deleting_it() {
    let (mut tab, state) = (Tab::default(), UiState::default());
    tab.update_from_file(Some(&Ok(None)), 0.0);
    write(&mut tab, "new\n");
    let (_, base, _, inverse) = save_parts(tab.save("new.md", &state));
    assert_eq!((base, inverse), (None, FileOperation::Delete { path: "new.md".into() }));
}

#[test]
fn a_conflicted_draft_can_be_merged_kept_or_discarded() {
    let base = "a\nb\nc\nd\n";
    let conflicted = |theirs: &str| {
        let mut tab = open(base);
        write(&mut tab, "A\nb\nc\nd\n");
        tab.update_from_file(Some(&read(theirs)), 0.0);
        assert_eq!(tab.draft_status(), DraftStatus::Conflicted);
        tab
    };
    let mut tab = conflicted("a\nb\nc\nD\n");
    tab.begin_merge();
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("A\nb\nc\nD\n", DraftStatus::Unsaved));

    let mut tab = conflicted("x\nb\nc\nd\n");
    tab.begin_merge();
    assert_eq!(tab.draft_status(), DraftStatus::Conflicted, "there is a conflict to resolve");
    tab.choose(0, Choice::Both);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("A\nx\nb\nc\nd\n", DraftStatus::Unsaved));

    let mut tab = conflicted("x\nb\nc\nd\n");
    tab.keep_mine();
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("A\nb\nc\nd\n", DraftStatus::Unsaved));
    let (_, base, ..) = save_parts(tab.save("a.md", &UiState::default()));
    assert_eq!(base, Some(hash("x\nb\nc\nd\n")));

    let mut tab = conflicted("x\nb\nc\nd\n");
    tab.take_theirs();
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("x\nb\nc\nd\n", DraftStatus::Clean));
}

#[test]
fn merge_choices_about_an_older_text_are_discarded() {
    let mut tab = open("a\nb\n");
    write(&mut tab, "A\nb\n");
    tab.update_from_file(Some(&read("x\nb\n")), 0.0);
    tab.begin_merge();
    tab.update_from_file(Some(&read("y\nb\n")), 0.0);
    assert!(tab.merging.is_none());
    tab.begin_merge();
    write(&mut tab, "A\nb\nmore\n");
    tab.choose(0, Choice::Theirs);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("A\nb\nmore\n", DraftStatus::Conflicted));
}

#[test]
fn deleting_the_file_keeps_the_draft() {
    let (mut tab, state) = (open("a\n"), UiState::default());
    write(&mut tab, "b\n");
    tab.update_from_file(Some(&Ok(None)), 0.0);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("b\n", DraftStatus::Deleted));
    tab.keep_mine();
    let (_, base, ..) = save_parts(tab.save("a.md", &state));
    assert_eq!(base, None);
    tab.update_from_file(Some(&Err("it is not UTF-8".into())), 0.0);
    assert_eq!(tab.text.as_str(), "b\n", "the draft stays whatever happens to the file");
}

#[test]
fn line_endings_of_the_file_are_kept() {
    let (mut tab, state) = (open("a\r\nb\r\n"), UiState::default());
    assert_eq!(tab.text.as_str(), "a\nb\n");
    write(&mut tab, "a\nb\nc\n");
    let (_, base, content, _) = save_parts(tab.save("a.md", &state));
    assert_eq!((base, content.as_str()), (Some(hash("a\r\nb\r\n")), "a\r\nb\r\nc\r\n"));
    let mixed = open("a\r\nb\n\rc");
    assert_eq!(mixed.text.as_str(), "a\r\nb\n\rc", "mixed line endings are left alone");
}

#[test]
fn a_restored_draft_is_compared_with_the_file() {
    let mut tab = Tab::with_draft(Some("a\n".into()), "b\n", true);
    assert_eq!(tab.draft_status(), DraftStatus::Unsaved);
    tab.update_from_file(Some(&read("a\n")), 0.0);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("b\n", DraftStatus::Unsaved));
    tab.update_from_file(Some(&read("c\n")), 0.0);
    assert_eq!(tab.draft_status(), DraftStatus::Conflicted);
}

#[test]
fn restoring_a_version_discards_the_draft_only_on_success() {
    let (mut tab, state) = (open("a\n"), UiState::default());
    write(&mut tab, "b\n");
    let Command::Act(RoomAct::File(command), None) = tab.restore("a.md", 1, &state) else { panic!("an act") };
    tab.apply_results(&result_of(&command.key, Err("that version is not kept".into())), 0.0);
    assert_eq!(tab.text.as_str(), "b\n");
    let Command::Act(RoomAct::File(command), None) = tab.restore("a.md", 1, &state) else { panic!("an act") };
    tab.apply_results(&result_of(&command.key, Ok(())), 0.0);
    assert_eq!((tab.text.as_str(), tab.draft_status()), ("a\n", DraftStatus::Clean));
}
