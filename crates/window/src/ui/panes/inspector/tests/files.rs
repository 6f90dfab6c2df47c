//! UI tests of files: properties, versions and restoring.

use std::sync::Arc;

use super::*;
use crate::store::FileVersion;
use crate::ui::state::file_texts::FileTextRequest;
use crate::workspace::vfs::{FileInfo, FileKind, FileOperation};

const PATH: &str = "artifacts/plan.md";

fn info(path: &str, is_there: bool) -> FileInfo {
    FileInfo { path: path.into(), kind: FileKind::Artifact, size: 1_204, modified_ms: 0, version: 3, is_there }
}

fn version(number: u64, author: &str) -> FileVersion {
    let activation = Some(format!("act-{number}"));
    let time_ms = 1_700_000_000_000 + number;
    FileVersion { number, time_ms, author: author.into(), activation, order_key: None, chars: 1_204 }
}

/// Returns an inspector showing a file with three readable versions.
fn inspect_file(is_there: bool) -> Harness<'static, PaneHarness> {
    let mut state = UiState::default();
    state.selection.choose_file(Some(PATH.to_owned()));
    let library = &mut state.texts;
    library.files = Some(Ok(Arc::new(vec![info("a.md", true), info(PATH, is_there)])));
    let versions = vec![version(3, "user"), version(2, "bram-1"), version(1, "ada-1")];
    library.versions.insert(PATH.into(), Ok(versions.into()));
    for (number, text) in [(1, "# Plan\n"), (2, "# Plan\nblue\n"), (3, "# Plan\nred\n")] {
        library.version_texts.insert((PATH.into(), number), Ok(Some(text.into())));
    }
    let mut window = stage_pane(state, draw_inspector);
    window.run_steps(3);
    window
}

fn is_shown(window: &Harness<'static, PaneHarness>, label: &str) -> bool {
    window.query_all_by_label(label).next().is_some()
}

fn restored(window: &Harness<'static, PaneHarness>) -> Vec<FileOperation> {
    let operation = |command: &Command| match command {
        Command::Act(RoomAct::File(command), None) => Some(command.operation.clone()),
        _ => None,
    };
    window.state().commands.iter().filter_map(operation).collect()
}

#[test]
fn a_file_shows_its_properties_and_opens_in_a_tab() {
    let mut window = inspect_file(true);
    for shown in ["plan.md", "artifact", "1,204 bytes", "Ada, 14 Nov 2023, 22:13", "unknown (not in the log)"] {
        assert!(is_shown(&window, shown), "{shown}");
    }
    click(&mut window, "Open in a tab");
    assert_eq!(window.state().commands, [Command::OpenFile(PATH.into(), None)]);
    let texts = &window.state().state.texts;
    assert!(texts.has_requests(&FileTextRequest::Files) && texts.has_requests(&FileTextRequest::Versions(PATH.into())));
}

#[test]
fn a_version_can_be_compared_with_any_other() {
    let mut window = inspect_file(true);
    click(&mut window, "Version 3");
    assert!(is_shown(&window, "- blue") && is_shown(&window, "+ red"));
    click(&mut window, "Compare from");
    click(&mut window, "nothing");
    assert!(is_shown(&window, "+ # Plan"), "all lines are added");
    click(&mut window, "Version 1");
    assert!(is_shown(&window, "+ # Plan") && !is_shown(&window, "+ red"));
    click(&mut window, "Version 2");
    click(&mut window, "Show what changed beside");
    assert!(is_shown(&window, "+ blue"));
}

#[test]
fn a_version_is_restored_once_and_the_result_is_shown() {
    let mut window = inspect_file(true);
    click(&mut window, "Version 3");
    click(&mut window, "Restore version 3");
    assert!(restored(&window).is_empty(), "the file already has this text");
    click(&mut window, "Version 2");
    click(&mut window, "Restore version 2");
    click(&mut window, "Restore version 2");
    assert_eq!(restored(&window), [FileOperation::Restore { path: PATH.into(), version: 2 }]);
    let key = window.state().parts.pane::<Inspector>().file.operation.clone().unwrap();
    window.state_mut().recent.record_file_outcomes([(key, Err("the disk is full".to_owned()))]);
    window.run_steps(3);
    assert!(is_shown(&window, "Restore failed: the disk is full"));
    click(&mut window, "Restore version 2");
    let key = window.state().parts.pane::<Inspector>().file.operation.clone().unwrap();
    window.state_mut().recent.record_file_outcomes([(key, Ok(()))]);
    window.run_steps(3);
    assert!(is_shown(&window, "Restored as a new version."));
}

#[test]
fn a_deleted_file_can_be_restored() {
    let mut window = inspect_file(false);
    assert!(is_shown(&window, "Deleted. Restore any version below."));
    click(&mut window, "Open in a tab");
    click(&mut window, "Version 3");
    click(&mut window, "Restore version 3");
    assert_eq!(window.state().commands.len(), 1, "a deleted file cannot be opened");
    assert_eq!(restored(&window), [FileOperation::Restore { path: PATH.into(), version: 3 }]);
}

#[test]
fn read_errors_are_explained() {
    let mut window = inspect_file(true);
    click(&mut window, "Version 3");
    let library = &mut window.state_mut().state.texts;
    library.version_texts.insert((PATH.into(), 2), Ok(None));
    window.run_steps(3);
    assert!(is_shown(&window, "The text of version 2 is no longer kept."));
    let library = &mut window.state_mut().state.texts;
    library.version_texts.insert((PATH.into(), 2), Err("it is not text".to_owned()));
    library.files = Some(Err("the folder is closed".to_owned()));
    window.run_steps(3);
    assert!(is_shown(&window, "it is not text") && is_shown(&window, "the folder is closed"));
    window.state_mut().state.texts.versions.insert(PATH.into(), Err("the history is locked".to_owned()));
    window.run_steps(3);
    assert!(is_shown(&window, "the history is locked"));
    window.state_mut().state.texts.versions.insert(PATH.into(), Ok(Arc::default()));
    window.state_mut().state.texts.files = Some(Ok(Arc::default()));
    window.run_steps(3);
    assert!(is_shown(&window, "This file no longer exists, and no version was kept."));
}

#[test]
fn only_visible_versions_are_drawn() {
    let mut window = inspect_file(true);
    let library = &mut window.state_mut().state.texts;
    let files = (0..10_000).map(|number| info(&format!("artifacts/{number:05}-{}.md", "x".repeat(300)), true));
    library.files = Some(Ok(Arc::new(files.collect())));
    library
        .versions
        .insert(PATH.into(), Ok(Arc::new((1..=5_000).rev().map(|number| version(number, "ada-1")).collect())));
    window.run_steps(3);
    let drawn = window.state().parts.pane::<Inspector>().file.drawn;
    assert!((3..20).contains(&drawn), "{drawn} versions were drawn");
}

#[test]
fn a_long_non_latin_file_name_is_shown() {
    let mut window = inspect_file(true);
    window.state_mut().state.selection.choose_file(Some(format!("artifacts/{}/東京 🍵.md", "ü".repeat(500))));
    window.run_steps(3);
    assert!(is_shown(&window, "東京 🍵.md") && is_shown(&window, "Loading…"));
}
