//! Tests of the editor in a window: files are opened, edited, saved and searched.

use std::sync::Arc;

use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::{Draft, Editors, editor_ui, update_tabs};
use crate::base::ActivationKey;
use crate::base::hash::content_hash;
use crate::store::FileVersion;
use crate::ui::UiState;
use crate::ui::commands::{Command, RoomAct};
use crate::ui::panes::pane::Pane;
use crate::ui::state::file_texts::{FileTextRequest, Read, TextRead};
use crate::ui::testing::{PaneHarness, sample_room, stage_pane};
use crate::view::work::PieceView;
use crate::workspace::vfs::FileOperation;

const AGENT: &str = "agents/ada.md";

fn window(path: &'static str, read: Read<Option<TextRead>>) -> Harness<'static, PaneHarness> {
    let mut state = UiState::default();
    state.texts.texts.insert(path.to_owned(), read);
    let mut window = stage_pane(state, move |ui, cx, panes| editor_ui(ui, path, cx, panes.pane_mut::<Editors>()));
    window.run_steps(3);
    window
}

fn text(text: &str) -> Read<Option<TextRead>> {
    Ok(Some(TextRead::new(text)))
}

fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
    window.get_by_label(label).click();
    window.run_steps(3);
}

/// Types at the end of the text.
fn write(window: &mut Harness<'static, PaneHarness>, path: &str, words: &str) {
    let name = format!("Text of {path}");
    window.get_by_label(&name).focus();
    window.run_steps(2);
    window.key_press_modifiers(Modifiers::COMMAND, Key::End);
    window.run_steps(2);
    window.get_by_label(&name).type_text(words);
    window.run_steps(3);
}

fn shown(window: &Harness<'static, PaneHarness>, path: &str) -> String {
    window.state().parts.pane::<Editors>().open[path].tab.text.to_string()
}

fn is_shown(window: &Harness<'static, PaneHarness>, label: &str) -> bool {
    window.query_by_label_contains(label).is_some()
}

fn operations(window: &Harness<'static, PaneHarness>) -> Vec<FileOperation> {
    let operation = |command: &Command| match command {
        Command::Act(RoomAct::File(command), _) => Some(command.operation.clone()),
        _ => None,
    };
    window.state().commands.iter().filter_map(operation).collect()
}

fn save(path: &str, base: &str, content: &str) -> FileOperation {
    FileOperation::Save { path: path.into(), base: Some(content_hash(base.as_bytes())), content: content.into() }
}

/// Reports the result of the last save to the window.
fn finish_save(window: &mut Harness<'static, PaneHarness>, result: Result<(), String>) {
    let Some(Command::Act(RoomAct::File(command), _)) = window.state().commands.last().cloned() else {
        panic!("there is no save")
    };
    window.state_mut().recent.record_file_outcomes([(command.key, result)]);
    window.run_steps(3);
}

fn piece(agent: &str) -> PieceView {
    PieceView {
        activation: ActivationKey::numbered(1),
        agent: agent.into(),
        task: "count".into(),
        stage: "thinking",
        turn: 1,
        depth: 0,
        tokens: 0,
        question: None,
    }
}

#[test]
fn edits_are_saved_by_shortcut_and_by_button() {
    let mut window = window("notes.md", text("one\n"));
    write(&mut window, "notes.md", "two");
    assert!(window.state().parts.pane::<Editors>().is_unsaved("notes.md"));
    window.key_press_modifiers(Modifiers::COMMAND, Key::S);
    window.run_steps(3);
    assert_eq!(operations(&window), [save("notes.md", "one\n", "one\ntwo")]);
    finish_save(&mut window, Err("the disk is full".into()));
    assert!(is_shown(&window, "the disk is full"));
    assert_eq!(window.state().parts.pane::<Editors>().unsaved(), ["notes.md"]);
    click(&mut window, "Save");
    finish_save(&mut window, Ok(()));
    assert!(!window.state().parts.pane::<Editors>().is_unsaved("notes.md"));
    assert_eq!(shown(&window, "notes.md"), "one\ntwo");
    assert!(window.state().commands.iter().all(|command| matches!(command, Command::Act(_, Some(_)))));
}

#[test]
fn tab_inserts_spaces() {
    let mut window = window("notes.md", text("a"));
    write(&mut window, "notes.md", "");
    window.key_press(Key::Tab);
    window.run_steps(3);
    assert_eq!(shown(&window, "notes.md"), "a  ");
}

#[test]
fn undo_in_the_field_undoes_typing() {
    let mut window = window("notes.md", text("a"));
    write(&mut window, "notes.md", "b");
    window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.run_steps(3);
    assert_eq!(shown(&window, "notes.md"), "a");
    assert!(!window.state().parts.pane::<Editors>().is_unsaved("notes.md"));
}

#[test]
fn a_file_that_is_not_text_can_be_opened_in_another_program() {
    let mut window = window("picture.png", Err("it is not UTF-8".into()));
    assert!(is_shown(&window, "it is not UTF-8"));
    click(&mut window, "Open in another program");
    assert_eq!(window.state().commands, [Command::OpenOutside("picture.png".into())]);
}

#[test]
fn edits_are_kept_when_the_file_becomes_unreadable() {
    let mut window = window("notes.md", text("a"));
    let mark = window.state().parts.pane::<Editors>().drafts_mark();
    write(&mut window, "notes.md", "b");
    assert_ne!(window.state().parts.pane::<Editors>().drafts_mark(), mark);
    window.state_mut().state.texts.texts.insert("notes.md".into(), Err("it is not UTF-8".into()));
    window.run_steps(3);
    assert!(is_shown(&window, "it is not UTF-8. Your changes are kept"));
    assert_eq!(shown(&window, "notes.md"), "ab");
    click(&mut window, "Open in another program");
    assert_eq!(window.state().commands, [Command::OpenOutside("notes.md".into())]);
    click(&mut window, "Discard my changes");
    assert!(is_shown(&window, "cannot be shown as text"));
    assert_eq!(window.state().parts.pane::<Editors>().drafts_mark(), mark);
}

#[test]
fn resolving_the_conflict_ends_the_comparison() {
    let mut window = window("notes.md", text("a"));
    write(&mut window, "notes.md", "b");
    window.state_mut().state.texts.texts.insert("notes.md".into(), text("c"));
    window.run_steps(3);
    window.key_press_modifiers(Modifiers::COMMAND, Key::S);
    window.run_steps(3);
    assert!(operations(&window).is_empty());
    assert!(is_shown(&window, "resolve the other changes"));
    click(&mut window, "Compare");
    assert!(window.query_by_label("Text of notes.md").is_none());
    click(&mut window, "Keep mine");
    assert!(window.query_by_label("Text of notes.md").is_some());
    click(&mut window, "Save");
    assert_eq!(operations(&window), [save("notes.md", "c", "ab")]);
}

#[test]
fn a_new_file_can_be_written() {
    let mut window = window("new.md", Ok(None));
    assert!(is_shown(&window, "new file"));
    write(&mut window, "new.md", "hello");
    click(&mut window, "Save");
    let wanted = FileOperation::Save { path: "new.md".into(), base: None, content: "hello".into() };
    assert_eq!(operations(&window), [wanted]);
}

#[test]
fn a_file_cannot_be_edited_before_it_is_loaded() {
    let state = UiState::default();
    let mut window = stage_pane(state, |ui, cx, panes| editor_ui(ui, "slow.md", cx, panes.pane_mut::<Editors>()));
    window.run_steps(2);
    assert!(is_shown(&window, "Loading file"));
    assert!(window.state().state.texts.has_requests(&FileTextRequest::Text("slow.md".into())));
    assert!(window.query_by_label("Text of slow.md").is_none());
}

#[test]
fn changes_by_others_can_be_compared_and_merged() {
    let mut window = window("notes.md", text("a\nb\n"));
    write(&mut window, "notes.md", "mine");
    let theirs = text("A\nb\n");
    window.state_mut().state.texts.texts.insert("notes.md".into(), theirs);
    window.run_steps(3);
    assert!(is_shown(&window, "Someone else changed this file"));
    click(&mut window, "Compare");
    click(&mut window, "Stop comparing");
    click(&mut window, "Merge");
    assert_eq!(shown(&window, "notes.md"), "A\nb\nmine");
    click(&mut window, "Save");
    assert_eq!(operations(&window), [save("notes.md", "A\nb\n", "A\nb\nmine")]);
}

#[test]
fn conflicts_are_resolved_one_by_one() {
    let mut window = window("notes.md", text("a"));
    write(&mut window, "notes.md", "!");
    window.state_mut().state.texts.texts.insert("notes.md".into(), text("b"));
    window.run_steps(3);
    click(&mut window, "Merge");
    assert!(is_shown(&window, "0 of 1 resolved"));
    click(&mut window, "Both for conflict 1");
    assert_eq!(shown(&window, "notes.md"), "a!\nb");
}

#[test]
fn a_file_deleted_by_others_can_be_saved_again() {
    let mut window = window("notes.md", text("a"));
    write(&mut window, "notes.md", "!");
    window.state_mut().state.texts.texts.insert("notes.md".into(), Ok(None));
    window.run_steps(3);
    click(&mut window, "Save again");
    let wanted = FileOperation::Save { path: "notes.md".into(), base: None, content: "a!".into() };
    assert_eq!(operations(&window), [wanted]);
}

#[test]
fn the_file_of_a_working_agent_is_saved_when_its_work_ends() {
    let mut window = window(AGENT, text("---\nname: Ada\n---\nHi"));
    window.state_mut().room.work.pieces = vec![piece("ada-1")];
    write(&mut window, AGENT, "!");
    assert!(is_shown(&window, "Ada is working"));
    click(&mut window, "Save");
    assert!(operations(&window).is_empty());
    assert!(window.state().parts.pane::<Editors>().drafts()[0].applies_when_idle);
    window.state_mut().room.agents[1].profile = "bram".into();
    window.state_mut().room.work.pieces = vec![piece("bram-1")];
    window.run_steps(3);
    assert_eq!(operations(&window).len(), 1, "another agent's work does not matter");
    finish_save(&mut window, Ok(()));
    assert!(window.state().parts.pane::<Editors>().drafts().is_empty());
}

#[test]
fn apply_saves_the_file_of_a_working_agent_at_once() {
    let mut window = window(AGENT, text("Hi"));
    window.state_mut().room.work.pieces = vec![piece("ada-1")];
    write(&mut window, AGENT, "!");
    click(&mut window, "Apply");
    assert_eq!(operations(&window), [save(AGENT, "Hi", "Hi!")]);
}

#[test]
fn drafts_are_restored_and_saved_even_in_hidden_tabs() {
    let mut window = window("notes.md", text("a"));
    write(&mut window, "notes.md", "b");
    let drafts = window.state().parts.pane::<Editors>().drafts();
    let written = serde_json::to_string(&drafts).expect("drafts are data");
    let read: Vec<Draft> = serde_json::from_str(&written).expect("they are read again");
    assert_eq!(
        read,
        [Draft { path: "notes.md".into(), base: Some("a".into()), text: "ab".into(), applies_when_idle: false }]
    );

    let mut stage = PaneHarness::new(sample_room(), UiState::default());
    stage.parts.pane_mut::<Editors>().restore(vec![Draft {
        path: AGENT.into(),
        applies_when_idle: true,
        ..read[0].clone()
    }]);
    stage.room.work.pieces = vec![piece("ada-1")];
    let saved =
        |stage: &mut PaneHarness| stage.with_context(|cx, panes| update_tabs(cx, panes.pane_mut::<Editors>())).len();
    assert_eq!(saved(&mut stage), 0, "the file is not loaded yet");
    stage.state.texts.texts.insert(AGENT.into(), text("a"));
    assert_eq!(saved(&mut stage), 0, "its agent is working");
    stage.room.work.pieces.clear();
    assert_eq!(saved(&mut stage), 1);
    assert_eq!(saved(&mut stage), 0, "it is saved only once");
    stage.parts.pane_mut::<Editors>().discard(AGENT);
    assert!(stage.parts.pane_mut::<Editors>().drafts().is_empty());
}

#[test]
fn text_can_be_found_and_replaced() {
    let mut window = window("notes.md", text("tea, Tea and teapot\n"));
    write(&mut window, "notes.md", "");
    window.key_press_modifiers(Modifiers::COMMAND, Key::H);
    window.run_steps(3);
    window.get_by_label("Find").type_text("tea");
    window.run_steps(3);
    assert!(is_shown(&window, "3 found"));
    click(&mut window, "Match whole word");
    assert!(is_shown(&window, "2 found"));
    window.get_by_label("Find").focus();
    window.run_steps(2);
    window.key_press(Key::F3);
    window.run_steps(3);
    assert!(is_shown(&window, "1 of 2"));
    window.get_by_label("Replace with").focus();
    window.run_steps(2);
    window.get_by_label("Replace with").type_text("milk");
    window.run_steps(2);
    click(&mut window, "Replace all");
    assert_eq!(shown(&window, "notes.md"), "milk, milk and teapot\n");
    assert!(is_shown(&window, "2 replaced"));
    click(&mut window, "Regular expression");
    window.get_by_label("Find").focus();
    window.run_steps(2);
    window.get_by_label("Find").type_text("(");
    window.run_steps(3);
    assert!(is_shown(&window, "Invalid expression"));
}

#[test]
fn escape_closes_the_find_bar_and_focuses_the_text() {
    let mut window = window("notes.md", text("tea\n"));
    write(&mut window, "notes.md", "");
    window.key_press_modifiers(Modifiers::COMMAND, Key::F);
    window.run_steps(3);
    assert!(window.get_by_label("Find").is_focused());
    window.key_press(Key::Escape);
    window.run_steps(3);
    assert!(window.query_by_label("Find").is_none());
    assert!(window.get_by_label("Text of notes.md").is_focused());
}

#[test]
fn pasting_a_long_text_splits_it_and_keeps_the_cursor() {
    let mut window = window("notes.txt", text("a\n"));
    let flood = "one more line of it\n".repeat(9_000);
    write(&mut window, "notes.txt", &flood);
    write(&mut window, "notes.txt", "end");
    assert_eq!(shown(&window, "notes.txt"), format!("a\n{flood}end"));
    let file = &window.state().parts.pane::<Editors>().open["notes.txt"];
    assert!(file.tab.chunks.count() > 1);
    assert_eq!(file.field.cursor.line, 9_001);
}

#[test]
fn file_names_of_any_length_and_script_work() {
    let name = "ein-sehr-langer-name-größer-als-alles-".repeat(20);
    let path: &'static str = Box::leak(format!("agents/{name}.md").into_boxed_str());
    let mut window = window(path, text("---\nname: Ä\n---\n日本語 👩‍🚀\n"));
    write(&mut window, path, "ß");
    assert!(shown(&window, path).ends_with("日本語 👩‍🚀\nß"));
}

#[test]
fn clicking_a_problem_moves_the_cursor_to_its_line() {
    let path = "scenes/a.yaml";
    let mut window = window(path, text("name: A\nelemnts: []\n"));
    let problem = window.get_by_label_contains("Line 2:");
    problem.click();
    window.run_steps(3);
    let file = &window.state().parts.pane::<Editors>().open[path];
    assert_eq!((file.field.cursor.line, file.field.anchor), (1, "name: A\n".len()));
}

#[test]
fn jumping_to_a_line_of_a_huge_file_draws_only_visible_rows() {
    let path = "huge.txt";
    let huge: String = (1..=20_000).map(|line| format!("line {line} of a file that is rather long\n")).collect();
    let mut window = window(path, text(&huge));
    window.state_mut().parts.pane_mut::<Editors>().go_to_line(path, 15_432);
    window.run_steps(4);
    let file = &window.state().parts.pane::<Editors>().open[path];
    assert_eq!(file.field.cursor.line + 1, 15_432);
    assert!(file.field.rows_drawn.len() < 120, "drawn: {:?}", file.field.rows_drawn);
    assert!(file.tab.chunks.text.len() < huge.len() / 5);
    write(&mut window, path, "!");
    click(&mut window, "Save");
    let [FileOperation::Save { content, .. }] = &operations(&window)[..] else { panic!("one save") };
    assert_eq!(content.len(), huge.len() + 1);
    assert_eq!(content.replacen('!', "", 1), huge);
}

#[test]
fn the_preview_is_shown_beside_the_text_or_instead_of_it() {
    let mut window = window("notes.md", text("---\na: b\n---\n# Title\nSome words.\n"));
    click(&mut window, "Preview");
    assert!(is_shown(&window, "Some words."));
    assert!(window.query_by_label("Text of notes.md").is_some());
    window.set_size(egui::vec2(500.0, 700.0));
    window.run_steps(3);
    assert!(window.query_by_label("Text of notes.md").is_none(), "there is no room for both");
}

fn versions(count: u64) -> Read<Arc<Vec<FileVersion>>> {
    let version = |number| FileVersion {
        number,
        time_ms: number * 1_000,
        author: "ada-1".into(),
        activation: None,
        order_key: None,
        chars: 1,
    };
    Ok(Arc::new((1..=count).rev().map(version).collect()))
}

#[test]
fn restoring_a_version_asks_before_discarding_changes() {
    let mut window = window("notes.md", text("b"));
    window.state_mut().state.texts.versions.insert("notes.md".into(), versions(3));
    click(&mut window, "History");
    let texts = &window.state().state.texts;
    assert!(texts.has_requests(&FileTextRequest::Version("notes.md".into(), 2)), "the one before the newest");
    click(&mut window, "Before: version 1");
    click(&mut window, "Restore version 1");
    assert_eq!(operations(&window), [FileOperation::Restore { path: "notes.md".into(), version: 1 }]);
    finish_save(&mut window, Ok(()));
    click(&mut window, "History");
    write(&mut window, "notes.md", "!");
    click(&mut window, "History");
    click(&mut window, "Restore version 1");
    assert_eq!(operations(&window).len(), 1);
    click(&mut window, "Discard and restore");
    assert_eq!(operations(&window).len(), 2);
}

#[test]
fn only_visible_rows_of_ten_thousand_versions_are_drawn() {
    let mut window = window("notes.md", text("b"));
    window.state_mut().state.texts.versions.insert("notes.md".into(), versions(10_000));
    click(&mut window, "History");
    let drawn = window.state().parts.pane::<Editors>().open["notes.md"].history.rows_drawn;
    assert!((1..60).contains(&drawn), "drawn: {drawn}");
}
