//! UI tests of the knowledge pane.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use egui_kittest::kittest::Queryable;

use super::*;
use crate::ui::UiState;
use crate::ui::commands::RoomAct;
use crate::ui::state::file_texts::TextRead;
use crate::ui::testing::{PaneHarness, pane_of, sample_room};
use crate::view::who_knows::KnowledgeSource;
use crate::workspace::vfs::{FileCommand, FileInfo, FileKind, FileOperation};

const ADA: &str = "- Port 8080 is taken. <!-- k-1 kind=procedure created=2026-11-20T10:00:00 contradicts=k-2 -->\n";
const SHARED: &str = "- Port 8080 is free. <!-- k-2 by=ada-1 -->\n";

fn stage(files: &[(&str, &str)]) -> egui_kittest::Harness<'static, PaneHarness> {
    stage_of(files, Rc::default())
}

fn stage_of(files: &[(&str, &str)], pane: Rc<RefCell<KnowledgePane>>) -> egui_kittest::Harness<'static, PaneHarness> {
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
    pane_of(PaneHarness::new(sample_room(), state), move |ui, cx, _| pane.borrow_mut().show(ui, cx))
}

fn usual() -> egui_kittest::Harness<'static, PaneHarness> {
    stage(&[("memory/knowledge/ada-1.md", ADA), ("memory/knowledge/shared.md", SHARED)])
}

/// Returns the requested file changes: path, new text, and the text that undoes it.
fn requested_edits(window: &egui_kittest::Harness<'static, PaneHarness>) -> Vec<(String, String, Option<String>)> {
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

fn click(window: &mut egui_kittest::Harness<'static, PaneHarness>, label: &str) {
    window.get_by_label(label).click();
    window.run();
}

#[test]
fn memories_are_listed_with_owner_and_contradictions() {
    let mut window = usual();
    window.run();
    for text in [
        "Port 8080 is taken.",
        "Procedure · only Ada · 2026-11-20 10:00:00",
        "Fact · everyone, from Ada",
        "Contradicts: Port 8080 is free.",
        "Contradicts: Port 8080 is taken.",
    ] {
        assert!(window.query_by_label(text).is_some(), "{text}");
    }
}

#[test]
fn edits_of_memories_are_undoable_file_changes() {
    let mut window = usual();
    window.run();
    click(&mut window, "Forget: Port 8080 is taken.");
    assert_eq!(requested_edits(&window), [("memory/knowledge/ada-1.md".into(), String::new(), Some(ADA.into()))]);
    let mut window = usual();
    window.run();
    click(&mut window, "Pin: Port 8080 is free.");
    let (path, after, before) = requested_edits(&window).remove(0);
    assert_eq!((path.as_str(), before.as_deref()), ("memory/knowledge/shared.md", Some(SHARED)));
    assert!(after.contains("pinned") && after.starts_with("- Port 8080 is free. <!-- k-2"), "{after}");
    let mut window = usual();
    window.run();
    click(&mut window, "Share: Port 8080 is taken.");
    let acts = requested_edits(&window);
    assert_eq!(acts.len(), 2);
    assert!(acts[0].0.ends_with("shared.md") && acts[0].1.contains("- Port 8080 is taken. <!-- k-1"), "{acts:?}");
    assert!(acts[1].0.ends_with("ada-1.md") && acts[1].1.is_empty(), "first where it goes: {acts:?}");
}

#[test]
fn an_empty_pane_explains_how_memories_arise() {
    let mut window = stage(&[]);
    window.run();
    assert!(window.query_by_label("No memories yet").is_some());
}

#[test]
fn agents_who_know_a_memory_are_highlighted_until_done() {
    let mut window = usual();
    window.run();
    click(&mut window, "Who knows this?: Port 8080 is taken.");
    window.run();
    let known = window.state().state.who_knows.clone().expect("agents are highlighted");
    assert_eq!(known.what, "Port 8080 is taken.");
    assert_eq!(known.knowers, [("ada-1".into(), [KnowledgeSource::Remembers].into())].into());
    assert!(window.query_by_label("remembers it").is_some());
    click(&mut window, "Done");
    window.run();
    assert_eq!(window.state().state.who_knows, None);
}

#[test]
fn relations_can_be_added_and_removed() {
    let shared = "- Port 8080 is free. <!-- k-2 by=ada-1 -->\n- The proxy listens on 8080. <!-- k-3 supports=k-2 -->\n";
    let files = [("memory/knowledge/ada-1.md", ADA), ("memory/knowledge/shared.md", shared)];
    let mut window = stage(&files);
    window.run();
    click(&mut window, "Relate to another memory: Port 8080 is free.");
    let to_own = "Relates to this one: Port 8080 is taken.";
    assert!(window.query_by_label(to_own).is_none(), "shared files do not refer to private memories");
    click(&mut window, "Relates to this one: The proxy listens on 8080.");
    let (path, after, _) = requested_edits(&window).remove(0);
    assert_eq!(path, "memory/knowledge/shared.md");
    assert!(after.contains("by=ada-1 relates_to=k-3"), "{after}");
    let mut window = stage(&files);
    window.run();
    click(&mut window, "Remove: The proxy listens on 8080. supports: Port 8080 is free.");
    let (_, after, _) = requested_edits(&window).remove(0);
    assert!(after.contains("- The proxy listens on 8080. <!-- k-3") && !after.contains("supports"), "{after}");
}

#[test]
fn the_graph_shows_relations_and_selects_memories() {
    let pane: Rc<RefCell<KnowledgePane>> = Rc::default();
    let mut window =
        stage_of(&[("memory/knowledge/ada-1.md", ADA), ("memory/knowledge/shared.md", SHARED)], pane.clone());
    window.run();
    click(&mut window, "Show memories with their relations");
    let job = |command: &Command| match command {
        Command::Run(job) => Some(job.clone()),
        _ => None,
    };
    let jobs: Vec<_> = window.state().asked.iter().filter_map(job).collect();
    assert_eq!(jobs.len(), 1, "it is laid out once, in the background");
    pane.borrow_mut().finish(&jobs[0].name, jobs[0].run());
    window.run();
    click(&mut window, "Memory: Port 8080 is taken.");
    assert!(window.query_by_label("Forget: Port 8080 is taken.").is_some(), "the selected memory has commands");
}

#[test]
fn memories_are_filtered_by_tag_and_time() {
    let tagged =
        "- One. <!-- k-1 tags=net created=2026-11-20T10:00:00 -->\n- Two. <!-- k-2 created=2020-01-01T10:00:00 -->\n";
    let pane: Rc<RefCell<KnowledgePane>> = Rc::default();
    let mut window = stage_of(&[("memory/knowledge/shared.md", tagged)], pane.clone());
    // One day after the first memory.
    window.state_mut().state.time.born_ms = 1_795_255_200_000;
    let shown = |window: &egui_kittest::Harness<'static, PaneHarness>| {
        ["One.", "Two."].map(|label| window.query_by_label(label).is_some())
    };
    window.run();
    assert_eq!(shown(&window), [true, true]);
    pane.borrow_mut().form.tag = Some("net".to_owned());
    window.run();
    assert_eq!(shown(&window), [true, false]);
    pane.borrow_mut().form = SearchForm { since: search::Since::Week, ..SearchForm::default() };
    window.run();
    assert_eq!(shown(&window), [true, false]);
}

#[test]
fn filters_wrap_within_a_narrow_pane() {
    let mut window = usual();
    for width in [320.0, 420.0, 572.0, 640.0, 900.0] {
        window.set_size(egui::vec2(width, 500.0));
        window.run_steps(3);
        for choice in [texts::SHOW_AS_LIST, texts::SHOW_AS_GRAPH] {
            let place = window.get_by_label(choice).rect();
            assert!(place.right() <= width, "{choice} ends at {} of {width}", place.right());
        }
    }
}
