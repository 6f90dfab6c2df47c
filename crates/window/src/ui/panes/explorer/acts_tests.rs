//! What asks of a person become: commands, and what takes them back.

use std::sync::Arc;

use super::super::tree::tests::{file, gone};
use super::*;
use crate::ui::state::file_texts::TextRead;
use crate::ui::testing::sample_room;
use crate::workspace::vfs::FileInfo;

fn window(files: Vec<FileInfo>) -> (Explorer, UiState) {
    let (mut explorer, mut state) = (Explorer::default(), UiState::default());
    state.studio.library.files = Some(Ok(Arc::new(files)));
    explorer.bring_up_to_date(&mut state);
    (explorer, state)
}

fn sample() -> (Explorer, UiState) {
    window(vec![
        file("agents/ada.md", 2),
        file("artifacts/plan.md", 5),
        file("new.md", 0),
        gone("old.md", 3),
        file("sessions/act-1.md", 0),
    ])
}

/// What was ordered, and what takes it back.
fn operations(commands: &[Command]) -> Vec<(FileOperation, Option<FileOperation>)> {
    let of = |act: &RoomAct| match act {
        RoomAct::File(command) => command.operation.clone(),
        other => panic!("{other:?}"),
    };
    let pair = |(act, back): &(RoomAct, Option<RoomAct>)| (of(act), back.as_ref().map(of));
    let all = commands.iter().flat_map(|command| match command {
        Command::Act(act, back) => vec![pair(&(act.clone(), back.clone()))],
        Command::Acts(acts) => acts.iter().map(pair).collect(),
        _ => Vec::new(),
    });
    all.collect()
}

fn delete(path: &str) -> FileOperation {
    FileOperation::Delete { path: path.into() }
}

fn restore(path: &str, version: u64) -> FileOperation {
    FileOperation::Restore { path: path.into(), version }
}

fn rename(from: &str, to: &str) -> FileOperation {
    FileOperation::Rename { from: from.into(), to: to.into() }
}

#[test]
fn what_is_deleted_can_be_had_back_by_its_newest_version() {
    let (mut explorer, mut state) = sample();
    let room = sample_room();
    for (path, back) in [("artifacts/plan.md", Some(restore("artifacts/plan.md", 5))), ("new.md", None)] {
        let commands = explorer.perform(Ask::Delete(vec![path.into()]), &room, &mut state);
        assert_eq!(operations(&commands), [(delete(path), back)]);
    }
    for path in ["old.md", "nowhere.md", "sessions/act-1.md"] {
        assert_eq!(explorer.perform(Ask::Delete(vec![path.into()]), &room, &mut state), []);
    }
    assert!(state.outcomes.iter().any(|told| told.text.contains("own record")), "{:?}", state.outcomes);
}

#[test]
fn several_go_only_when_that_is_meant_and_come_back_as_one() {
    let (mut explorer, mut state) = sample();
    let room = sample_room();
    let both = vec!["agents/ada.md".to_owned(), "artifacts/plan.md".to_owned()];
    assert_eq!(explorer.perform(Ask::Delete(both.clone()), &room, &mut state), []);
    assert_eq!(explorer.question, Some(Question::Delete(both.clone())));
    let commands = explorer.perform(Ask::DeleteSurely(both), &room, &mut state);
    assert!(matches!(&commands[..], [Command::Acts(acts)] if acts.len() == 2), "{commands:?}");
    let back: Vec<_> = operations(&commands).into_iter().filter_map(|(_, back)| back).collect();
    assert_eq!(back, [restore("agents/ada.md", 2), restore("artifacts/plan.md", 5)]);
}

#[test]
fn what_is_in_the_bin_comes_back_as_it_was_last() {
    let (mut explorer, mut state) = sample();
    let paths = vec!["old.md".to_owned(), "artifacts/plan.md".to_owned()];
    let commands = explorer.perform(Ask::Restore(paths), &sample_room(), &mut state);
    assert_eq!(operations(&commands), [(restore("old.md", 3), Some(delete("old.md")))], "what is there stays as it is");
}

#[test]
fn files_are_moved_into_a_folder_unless_something_is_there() {
    let (mut explorer, mut state) =
        window(vec![file("a.md", 1), file("b/a.md", 1), file("c.md", 1), file("d/c.md", 1)]);
    let room = sample_room();
    let paths = ["a.md", "c.md", "b/a.md"].map(str::to_owned).to_vec();
    let commands = explorer.perform(Ask::Move(paths, "b".into()), &room, &mut state);
    assert_eq!(operations(&commands), [(rename("c.md", "b/c.md"), Some(rename("b/c.md", "c.md")))]);
    assert!(state.outcomes.iter().any(|told| told.text.contains("b/a.md is there already")), "{:?}", state.outcomes);
    let both = vec!["c.md".to_owned(), "d/c.md".to_owned()];
    let commands = explorer.perform(Ask::Move(both, "e".into()), &room, &mut state);
    assert_eq!(operations(&commands).len(), 1, "two of one name do not come to lie on each other");
}

#[test]
fn what_was_known_of_a_file_goes_with_it() {
    let (mut explorer, mut state) = sample();
    explorer.choose("artifacts/plan.md", &mut state);
    let pairs = vec![("artifacts/plan.md".to_owned(), "plan.md".to_owned())];
    explorer.perform(Ask::GivePaths(pairs), &sample_room(), &mut state);
    assert_eq!(state.studio.chosen_file.as_deref(), Some("plan.md"));
    let files = vec![file("agents/ada.md", 2), file("plan.md", 5)];
    state.studio.library.files = Some(Ok(Arc::new(files)));
    explorer.bring_up_to_date(&mut state);
    assert!(explorer.selected.contains("plan.md"));
    assert!(!explorer.is_changed(&file("plan.md", 5)), "another path is no news");
}

#[test]
fn a_second_one_is_made_when_the_first_was_read() {
    let (mut explorer, mut state) = sample();
    let (room, mut recent) = (sample_room(), Recent::default());
    let twice = vec!["agents/ada.md".to_owned(), "artifacts/plan.md".to_owned(), "nowhere.md".to_owned()];
    assert_eq!(explorer.perform(Ask::Duplicate(twice), &room, &mut state), []);
    assert_eq!(explorer.go_on(&recent, &mut state), [], "nothing was read yet");
    let text = |text: &str| Ok(Some(TextRead::new(text)));
    state.studio.library.texts.insert("agents/ada.md".into(), text("---\nid: ada\n---\n"));
    state.studio.library.texts.insert("artifacts/plan.md".into(), Err("it is no UTF-8 text".into()));
    let commands = explorer.go_on(&recent, &mut state);
    let save =
        FileOperation::Save { path: "agents/ada-2.md".into(), base: None, content: "---\nid: \"ada-2\"\n---\n".into() };
    assert_eq!(operations(&commands), [(save, Some(delete("agents/ada-2.md")))]);
    assert!(state.outcomes.iter().any(|told| told.text.contains("no UTF-8")), "{:?}", state.outcomes);
    // It is opened when it is there, and not before.
    assert_eq!(explorer.go_on(&recent, &mut state), []);
    let Command::Act(RoomAct::File(order), _) = &commands[0] else { panic!("{commands:?}") };
    recent.take_in_orders([(order.key.clone(), Ok(()))]);
    let opened = explorer.go_on(&recent, &mut state);
    assert_eq!(opened, [Command::OpenFile("agents/ada-2.md".into(), None)]);
    assert_eq!(explorer.go_on(&recent, &mut state), []);
}

#[test]
fn what_could_not_be_made_is_not_opened() {
    let (mut explorer, mut state) = sample();
    let mut recent = Recent::default();
    let commands = explorer.perform(Ask::Make("x.md".into(), String::new()), &sample_room(), &mut state);
    let Command::Act(RoomAct::File(order), _) = &commands[0] else { panic!("{commands:?}") };
    recent.take_in_orders([(order.key.clone(), Err("the disk is full".to_owned()))]);
    assert_eq!(explorer.go_on(&recent, &mut state), []);
    assert!(explorer.pending.is_empty());
}

#[test]
fn every_order_has_a_name_of_its_own() {
    let (mut explorer, mut state) = sample();
    let room = sample_room();
    let mut commands = explorer.perform(Ask::Restore(vec!["old.md".into()]), &room, &mut state);
    commands.extend(explorer.perform(Ask::Delete(vec!["artifacts/plan.md".into()]), &room, &mut state));
    let mut keys = Vec::new();
    for command in &commands {
        let Command::Act(RoomAct::File(act), Some(RoomAct::File(back))) = command else { panic!("{command:?}") };
        keys.extend([act.key.clone(), back.key.clone()]);
    }
    let unique: std::collections::BTreeSet<_> = keys.iter().collect();
    assert_eq!(unique.len(), 4);
}

#[test]
fn all_folders_fold_and_unfold() {
    let (mut explorer, mut state) = sample();
    let room = sample_room();
    explorer.perform(Ask::FoldAll(true), &room, &mut state);
    explorer.bring_up_to_date(&mut state);
    assert_eq!(explorer.tree.rows().len(), 3 + 1 + 1, "three folders, a file beside them and the bin");
    explorer.perform(Ask::FoldAll(false), &room, &mut state);
    explorer.bring_up_to_date(&mut state);
    assert_eq!(explorer.tree.rows().len(), 3 + 4 + 1);
}
