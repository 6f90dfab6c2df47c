//! The pane of what agents know, driven as a person does.

use std::sync::Arc;

use egui_kittest::kittest::Queryable;

use super::*;
use crate::ui::UiState;
use crate::ui::commands::RoomAct;
use crate::ui::state::file_texts::TextRead;
use crate::ui::testing::{Stage, pane_of, sample_room};
use crate::workspace::vfs::{FileCommand, FileInfo, FileKind, FileOperation};

const ADA: &str = "- Port 8080 is taken. <!-- k-1 kind=procedure created=2026-11-20T10:00:00 contradicts=k-2 -->\n";
const SHARED: &str = "- Port 8080 is free. <!-- k-2 by=ada-1 -->\n";

fn stage(files: &[(&str, &str)]) -> egui_kittest::Harness<'static, Stage> {
    let mut state = UiState::default();
    let info = |path: &str| FileInfo {
        path: path.to_owned(),
        kind: FileKind::Memory,
        size: 1,
        modified_ms: 0,
        version: 1,
        is_there: true,
    };
    state.texts.files = Some(Ok(Arc::new(files.iter().map(|(path, _)| info(path)).collect())));
    for (path, text) in files {
        state.texts.texts.insert((*path).to_owned(), Ok(Some(TextRead::new(*text))));
    }
    let pane = std::cell::RefCell::new(KnowledgePane::default());
    pane_of(Stage::new(sample_room(), state), move |ui, cx, _| pane.borrow_mut().show(ui, cx))
}

fn usual() -> egui_kittest::Harness<'static, Stage> {
    stage(&[("memory/knowledge/ada-1.md", ADA), ("memory/knowledge/shared.md", SHARED)])
}

/// What was asked for of files: which, what they are to say, and what takes that back.
fn asked(window: &egui_kittest::Harness<'static, Stage>) -> Vec<(String, String, Option<String>)> {
    let saved = |act: &RoomAct| match act {
        RoomAct::File(FileCommand { operation: FileOperation::Save { path, content, .. }, .. }) => {
            Some((path.clone(), content.clone()))
        }
        _ => None,
    };
    let of = |command: &Command| match command {
        Command::Acts(acts) => acts
            .iter()
            .filter_map(|(forth, back)| {
                let (path, content) = saved(forth)?;
                Some((path, content, back.as_ref().and_then(saved).map(|(_, content)| content)))
            })
            .collect(),
        _ => Vec::new(),
    };
    window.state().commands.iter().flat_map(of).collect()
}

fn click(window: &mut egui_kittest::Harness<'static, Stage>, label: &str) {
    window.get_by_label(label).click();
    window.run();
}

#[test]
fn every_memory_is_shown_with_whose_it_is_and_what_contradicts_it() {
    let mut window = usual();
    window.run();
    for text in [
        "Port 8080 is taken.",
        "Procedure · only Ada · 2026-11-20 10:00:00",
        "Fact · everybody, from Ada",
        "Contradicts: Port 8080 is free.",
        "Contradicts: Port 8080 is taken.",
    ] {
        assert!(window.query_by_label(text).is_some(), "{text}");
    }
}

#[test]
fn what_is_forgotten_shared_and_pinned_is_an_edit_of_files_that_can_be_undone() {
    let mut window = usual();
    window.run();
    click(&mut window, "Forget: Port 8080 is taken.");
    assert_eq!(asked(&window), [("memory/knowledge/ada-1.md".into(), String::new(), Some(ADA.into()))]);
    let mut window = usual();
    window.run();
    click(&mut window, "Pin: Port 8080 is free.");
    let (path, after, before) = asked(&window).remove(0);
    assert_eq!((path.as_str(), before.as_deref()), ("memory/knowledge/shared.md", Some(SHARED)));
    assert!(after.contains("pinned") && after.starts_with("- Port 8080 is free. <!-- k-2"), "{after}");
    let mut window = usual();
    window.run();
    click(&mut window, "Share: Port 8080 is taken.");
    let acts = asked(&window);
    assert_eq!(acts.len(), 2);
    assert!(acts[0].0.ends_with("shared.md") && acts[0].1.contains("- Port 8080 is taken. <!-- k-1"), "{acts:?}");
    assert!(acts[1].0.ends_with("ada-1.md") && acts[1].1.is_empty(), "first where it goes: {acts:?}");
}

#[test]
fn where_nothing_is_remembered_it_says_how_that_comes() {
    let mut window = stage(&[]);
    window.run();
    assert!(window.query_by_label("Nothing is remembered yet").is_some());
}
