//! UI tests of the explorer, driven by accessible names.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Key, Modifiers, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use super::texts::{ACTIONS, COLLAPSE_ALL_FOLDERS, IMPORT_FILES, NEW_FILE, NEW_WORKFLOW};
use super::tree::tests::{deleted_file, file};
use super::*;
use crate::base::{ActivationKey, Problem};
use crate::element::ElementCommand;
use crate::ui::UiState;
use crate::ui::commands::RoomAct;
use crate::ui::commands::table::{CommandTable, Menu};
use crate::ui::state::dock::Tab;
use crate::ui::state::{FileDialogPurpose, ShelfItem};
use crate::ui::testing::{PaneHarness, stage_keys, stage_pane};
use crate::ui::testing_keyboard::tab_stops;
use crate::view::work::PieceView;
use crate::workspace::vfs::{FileInfo, FileOperation};

fn sample() -> Vec<FileInfo> {
    vec![
        file("agents/ada.md", 2),
        file("agents/bram.md", 1),
        file("artifacts/plan.md", 5),
        file("artifacts/report.md", 1),
        deleted_file("old.md", 3),
        file("scenes/morning.yaml", 1),
        file("sessions/act-1.md", 0),
    ]
}

fn with(files: Vec<FileInfo>) -> Harness<'static, PaneHarness> {
    let mut state = UiState::default();
    state.texts.files = Some(Ok(Arc::new(files)));
    let mut window = stage_pane(state, |ui, cx, panes| explorer_ui(ui, cx, panes.pane_mut::<Explorer>()));
    window.run_steps(3);
    window
}

fn explorer() -> Harness<'static, PaneHarness> {
    with(sample())
}

fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
    window.get_by_label(label).click();
    window.run_steps(3);
}

fn press(window: &mut Harness<'static, PaneHarness>, modifiers: Modifiers, key: Key) {
    window.key_press_modifiers(modifiers, key);
    window.run_steps(3);
}

fn explorer_of(window: &Harness<'static, PaneHarness>) -> Explorer {
    window.state().parts.pane::<Explorer>().clone()
}

fn operations(window: &Harness<'static, PaneHarness>) -> Vec<FileOperation> {
    let of = |act: &RoomAct| match act {
        RoomAct::File(command) => Some(command.operation.clone()),
        _ => None,
    };
    let all = window.state().commands.iter().flat_map(|command| match command {
        Command::Act(act, _) => vec![of(act)],
        Command::Acts(acts) => acts.iter().map(|(act, _)| of(act)).collect(),
        _ => Vec::new(),
    });
    all.flatten().collect()
}

#[test]
fn a_click_selects_and_opens_a_file() {
    let mut window = explorer();
    window.state_mut().state.selection.select([crate::view::pick::RoomObject::Agent("ada-1".into())]);
    click(&mut window, "artifacts/plan.md");
    assert_eq!(window.state().commands, [Command::OpenFile("artifacts/plan.md".into(), None)]);
    assert_eq!(window.state().state.selection.file(), Some("artifacts/plan.md"));
    assert!(window.state().state.selection.things().is_empty(), "the inspector is about the file now");
}

#[test]
fn shift_and_command_select_several_files_without_opening_them() {
    let mut window = explorer();
    click(&mut window, "agents/ada.md, no task");
    window.get_by_label("artifacts/report.md").click_modifiers(Modifiers::SHIFT);
    window.run_steps(3);
    let selected = explorer_of(&window).selected;
    assert_eq!(selected.len(), 4, "{selected:?}");
    window.get_by_label("artifacts/plan.md").click_modifiers(Modifiers::COMMAND);
    window.run_steps(3);
    assert_eq!(explorer_of(&window).selected.len(), 3);
    assert_eq!(window.state().commands.len(), 1, "only the first was opened");
}

#[test]
fn folders_collapse_by_click_and_by_key() {
    let mut window = explorer();
    assert!(window.query_by_label("sessions/act-1.md").is_none(), "sessions are collapsed by default");
    click(&mut window, "Folder agents");
    assert!(window.query_by_label("agents/bram.md").is_none());
    press(&mut window, Modifiers::NONE, Key::ArrowRight);
    assert!(window.query_by_label("agents/bram.md").is_some());
    press(&mut window, Modifiers::NONE, Key::ArrowRight);
    assert_eq!(explorer_of(&window).active, Some(RowTarget::File("agents/ada.md".into())));
    press(&mut window, Modifiers::NONE, Key::ArrowLeft);
    press(&mut window, Modifiers::NONE, Key::ArrowLeft);
    assert!(explorer_of(&window).remembered.folded.contains("agents"));
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert!(!explorer_of(&window).remembered.folded.contains("agents"));
}

#[test]
fn tab_visits_the_buttons_from_left_to_right() {
    let buttons = [NEW_FILE, IMPORT_FILES, COLLAPSE_ALL_FOLDERS, ACTIONS];
    let mut stops = tab_stops(&mut explorer());
    stops.retain(|stop| buttons.contains(&stop.name.as_str()));
    assert_eq!(stops.iter().map(|stop| stop.name.as_str()).collect::<Vec<_>>(), buttons);
    assert!(stops.is_sorted_by(|one, next| one.place.left() < next.place.left()), "{stops:?}");
}

#[test]
fn arrow_keys_move_through_the_tree_and_enter_opens() {
    let mut window = explorer();
    click(&mut window, "Folder agents");
    click(&mut window, "Folder agents");
    press(&mut window, Modifiers::NONE, Key::ArrowDown);
    assert_eq!(window.state().state.selection.file(), Some("agents/ada.md"));
    assert!(window.state().commands.is_empty(), "arrow keys select without opening");
    press(&mut window, Modifiers::SHIFT, Key::ArrowDown);
    press(&mut window, Modifiers::NONE, Key::Enter);
    let open = |path: &str| Command::OpenFile(path.into(), None);
    assert_eq!(window.state().commands, [open("agents/ada.md"), open("agents/bram.md")]);
    press(&mut window, Modifiers::NONE, Key::End);
    assert_eq!(explorer_of(&window).active, Some(RowTarget::Bin));
    press(&mut window, Modifiers::NONE, Key::Home);
    assert_eq!(explorer_of(&window).active, Some(RowTarget::Folder("agents".into())));
}

#[test]
fn the_tree_handles_its_own_shortcuts() {
    let explorer = Explorer::default();
    for (act, in_tree, in_filter) in [
        ("room.delete", true, false),
        ("window.escape", true, true),
        ("room.select_all", true, false),
        ("edit.undo", false, false),
        ("window.palette", false, false),
    ] {
        assert_eq!(explorer.takes_key(Some(tree_id()), act), in_tree);
        assert_eq!(explorer.takes_key(Some(filter_id()), act), in_filter);
        assert!(!explorer.takes_key(None, act));
    }
}

#[test]
fn the_focused_tree_has_precedence_for_its_shortcuts() {
    let mut state = UiState::default();
    state.texts.files = Some(Ok(Arc::new(sample())));
    let mut window = stage_keys(state, |ui, stage| {
        let commands = stage.with_context(|cx, panes| explorer_ui(ui, cx, panes.pane_mut::<Explorer>()));
        stage.run(commands);
    });
    window.run_steps(3);
    click(&mut window, "artifacts/plan.md");
    let agent = crate::view::pick::RoomObject::Agent("ada-1".into());
    window.state_mut().state.selection.select([agent.clone()]);
    press(&mut window, Modifiers::NONE, Key::Delete);
    assert_eq!(operations(&window), [FileOperation::Delete { path: "artifacts/plan.md".into() }]);
    assert!(!window.state().commands.contains(&Command::Delete(vec![agent])), "the agent in the room stays");
    press(&mut window, Modifiers::NONE, Key::F2);
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(explorer_of(&window).dialog.is_none());
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(explorer_of(&window).selected.is_empty());
    assert_eq!(window.state().state.selection.things().len(), 1, "the selection in the room is unaffected");
}

#[test]
fn deleting_several_files_asks_first() {
    let mut window = explorer();
    click(&mut window, "artifacts/plan.md");
    press(&mut window, Modifiers::NONE, Key::Delete);
    assert_eq!(operations(&window), [FileOperation::Delete { path: "artifacts/plan.md".into() }]);
    window.get_by_label("artifacts/report.md").click_modifiers(Modifiers::COMMAND);
    window.run_steps(3);
    press(&mut window, Modifiers::NONE, Key::Delete);
    assert_eq!(operations(&window).len(), 1, "deleting asks first");
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(operations(&window).len(), 3, "the confirm button has the focus");
    assert!(explorer_of(&window).dialog.is_none());
    press(&mut window, Modifiers::NONE, Key::Home);
    assert_eq!(explorer_of(&window).active, Some(RowTarget::Folder("agents".into())), "the tree has the focus again");
}

#[test]
fn a_file_is_renamed_only_to_a_valid_path() {
    let mut window = explorer();
    click(&mut window, "artifacts/plan.md");
    press(&mut window, Modifiers::NONE, Key::F2);
    window.get_by_label("Path").type_text("report");
    window.run_steps(3);
    window.get_by_label("A file with this name already exists.");
    click(&mut window, "Rename");
    assert!(operations(&window).is_empty());
    window.get_by_label("Path").focus();
    window.run_steps(2);
    window.get_by_label("Path").type_text("-2");
    window.run_steps(3);
    click(&mut window, "Rename");
    let rename = FileOperation::Rename { from: "artifacts/plan.md".into(), to: "artifacts/report-2.md".into() };
    assert_eq!(operations(&window), [rename]);
}

#[test]
fn a_new_agent_is_created_from_its_template() {
    let mut window = explorer();
    click(&mut window, "New file…");
    click(&mut window, "Agent");
    click(&mut window, "Create file");
    let [FileOperation::Save { path, base: None, content }] = &operations(&window)[..] else {
        panic!("{:?}", window.state().commands);
    };
    assert_eq!(path, "agents/new-agent.md");
    assert!(content.starts_with("---\nid: \"new-agent\"\n"), "{content}");
}

#[test]
fn escape_closes_a_dialog() {
    let mut window = explorer();
    click(&mut window, "New file…");
    assert!(explorer_of(&window).dialog.is_some());
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(explorer_of(&window).dialog.is_none());
    assert!(window.state().commands.is_empty());
}

#[test]
fn files_are_found_by_typing() {
    let mut window = explorer();
    press(&mut window, Modifiers::COMMAND, Key::P);
    window.get_by_label("Find a file").type_text("act-1");
    window.run_steps(3);
    assert_eq!(explorer_of(&window).best().as_deref(), Some("sessions/act-1.md"));
    assert!(window.query_by_label("sessions/act-1.md").is_some(), "folders of matches are expanded");
    assert!(window.query_by_label("agents/bram.md").is_none());
    assert!(window.query_by_label("1 of 6").is_some());
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(window.state().commands, [Command::OpenFile("sessions/act-1.md".into(), None)]);
    press(&mut window, Modifiers::COMMAND, Key::P);
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(explorer_of(&window).filter.is_empty());
    assert!(window.query_by_label("6 files").is_some());
}

#[test]
fn deleted_files_can_be_restored() {
    let mut window = explorer();
    assert!(window.query_by_label("old.md, deleted").is_none(), "the bin is collapsed by default");
    click(&mut window, "Bin");
    window.get_by_label("old.md, deleted").hover();
    window.run_steps(60);
    assert!(window.query_by_label_contains("Deleted: last written").is_some(), "the tooltip says when it was deleted");
    click(&mut window, "Restore old.md");
    assert_eq!(operations(&window), [FileOperation::Restore { path: "old.md".into(), version: 3 }]);
}

#[test]
fn rows_show_the_status_of_their_files() {
    let mut window = explorer();
    window.get_by_label("agents/ada.md, no task");
    window.get_by_label("agents/bram.md");
    let (activation, task) = (ActivationKey::numbered(7), "count".to_owned());
    let agent = "ada-1".into();
    let piece = PieceView { activation, agent, task, stage: "thinking", turn: 1, depth: 0, tokens: 0, question: None };
    window.state_mut().room.work.pieces = vec![piece];
    let problem = Problem::error("scenes/morning.yaml", "it is no YAML", "mend it");
    window.state_mut().room.problems = vec![problem].into();
    let mut files = sample();
    files[2].version = 6;
    window.state_mut().state.texts.files = Some(Ok(Arc::new(files)));
    window.run_steps(3);
    window.get_by_label("agents/ada.md, running");
    window.get_by_label("scenes/morning.yaml, error");
    click(&mut window, "artifacts/plan.md, changed");
    assert!(window.query_by_label("artifacts/plan.md").is_some(), "an opened file counts as seen");
}

#[test]
fn selections_made_elsewhere_are_revealed() {
    let mut window = explorer();
    window.state_mut().state.selection.choose_file(Some("sessions/act-1.md".into()));
    window.run_steps(3);
    assert!(window.query_by_label("sessions/act-1.md").is_some());
    assert!(explorer_of(&window).selected.contains("sessions/act-1.md"));
    click(&mut window, "Folder sessions");
    assert!(window.query_by_label("sessions/act-1.md").is_none(), "it can be collapsed again");
}

#[test]
fn a_row_is_dragged_into_the_room_or_onto_a_folder() {
    let mut window = explorer();
    let from = window.get_by_label("agents/ada.md, no task").rect().center();
    window.drag_at(from);
    window.run_steps(1);
    window.hover_at(from + vec2(30.0, 8.0));
    window.run_steps(2);
    assert_eq!(window.state().state.transfer.dragging, Some(ShelfItem::Profile("ada".into())));
    let to = window.get_by_label("Folder artifacts").rect().center();
    window.hover_at(to);
    window.run_steps(2);
    window.drop_at(to);
    window.run_steps(2);
    let rename = FileOperation::Rename { from: "agents/ada.md".into(), to: "artifacts/ada.md".into() };
    assert_eq!(operations(&window), [rename]);
    assert_eq!(window.state().state.transfer.dragging, None, "the room does not handle the drop");
}

#[test]
fn a_drop_from_the_desktop_goes_to_the_folder_under_the_pointer() {
    let mut window = explorer();
    window.state_mut().state.transfer.hovering_files = vec!["notes.md".into(), "ada.md".into()];
    window.run_steps(3);
    window.get_by_label("Drop 2 files here: agents go to agents/, the rest to artifacts/.");
    let folder = window.get_by_label("Folder artifacts").rect().center();
    let file = window.get_by_label("artifacts/plan.md").rect().center();
    let explorer = explorer_of(&window);
    assert_eq!(explorer.drop_folder(folder).as_deref(), Some("artifacts"));
    assert_eq!(explorer.drop_folder(file).as_deref(), Some(""));
    assert_eq!(explorer.drop_folder(egui::pos2(-50.0, 10.0)), None);
}

#[test]
fn the_context_menu_of_a_file_lists_its_commands() {
    let mut window = explorer();
    window.get_by_label("agents/bram.md").click_secondary();
    window.run_steps(3);
    for label in ["Add to the room", "New file here", "Rename…", "Duplicate", "Copy path", "Delete"] {
        assert_eq!(window.query_all_by_label_contains(label).count() > 0, label != "New file here", "{label}");
    }
    click(&mut window, "Open in another program");
    assert_eq!(window.state().commands, [Command::OpenOutside("agents/bram.md".into())]);
    window.get_by_label("Folder artifacts").click_secondary();
    window.run_steps(3);
    click(&mut window, "Import files here…");
    let browse = WindowCommand::Browse(FileDialogPurpose::ImportFiles(Some("artifacts".into())));
    assert_eq!(window.state().commands.last(), Some(&browse.into()));
}

/// Returns the accessible names of all buttons.
fn buttons(window: &Harness<'static, PaneHarness>) -> Vec<String> {
    window.query_all_by_role(Role::Button).filter_map(|node| node.accesskit_node().label()).collect()
}

#[test]
fn every_context_menu_matches_the_command_table() {
    let rows: [(&str, &[Menu]); 6] = [
        ("agents/bram.md", &[Menu::File, Menu::AgentFile, Menu::Files]),
        ("scenes/morning.yaml", &[Menu::File, Menu::SceneFile, Menu::Files]),
        ("artifacts/plan.md", &[Menu::File, Menu::Files]),
        ("Folder artifacts", &[Menu::Folder]),
        ("Bin", &[Menu::Bin]),
        ("Files", &[Menu::FilesGround]),
    ];
    for (row, menus) in rows {
        let mut window = explorer();
        let before = buttons(&window);
        let row = window.get_by_label(row);
        let place =
            if row.accesskit_node().role() == Role::Tree { row.rect().center_bottom() } else { row.rect().center() };
        for pressed in [true, false] {
            window.event(egui::Event::PointerMoved(place));
            let (button, modifiers) = (egui::PointerButton::Secondary, Modifiers::NONE);
            window.event(egui::Event::PointerButton { pos: place, button, pressed, modifiers });
            window.run_steps(2);
        }
        let mut shown = buttons(&window);
        for other in before {
            if let Some(at) = shown.iter().position(|label| *label == other) {
                shown.remove(at);
            }
        }
        let in_table = |menu: &Menu| CommandTable::standard().in_menu(*menu).map(|(_, label)| label.to_owned());
        let mut wanted: Vec<String> = menus.iter().flat_map(in_table).collect();
        // The entries of a submenu are shown only when it is opened.
        let has_list = shown.iter().any(|label| label == NEW_WORKFLOW);
        assert_eq!(has_list, menus.contains(&Menu::FilesGround));
        shown.retain(|label| label != NEW_WORKFLOW);
        wanted.sort();
        shown.sort();
        assert_eq!(shown, wanted);
    }
}

#[test]
fn commands_that_do_not_apply_are_disabled_in_the_menu() {
    let is_off =
        |window: &Harness<'static, PaneHarness>, label: &str| window.get_by_label(label).accesskit_node().is_disabled();
    let mut window = explorer();
    window.get_by_label("agents/ada.md, no task").click_secondary();
    window.run_steps(3);
    assert!(is_off(&window, "Add to the room") && !is_off(&window, "Show in the room"));
    let mut window = explorer();
    click(&mut window, "Folder sessions");
    window.get_by_label("sessions/act-1.md").click_secondary();
    window.run_steps(3);
    for (label, off) in
        [("Open", false), ("Rename…", true), ("Duplicate", true), ("Copy path", false), ("Delete", true)]
    {
        assert_eq!(is_off(&window, label), off, "{label}");
    }
}

#[test]
fn a_shortcut_that_does_not_apply_explains_why() {
    let mut window = explorer();
    click(&mut window, "Folder sessions");
    press(&mut window, Modifiers::NONE, Key::ArrowDown);
    press(&mut window, Modifiers::NONE, Key::F2);
    let notices = window.state().state.notices.outcomes();
    assert!(notices.iter().any(|notices| notices.text.contains("own record")), "{notices:?}");
}

#[test]
fn tree_shortcuts_are_inactive_while_a_menu_is_open() {
    let mut window = explorer();
    click(&mut window, "artifacts/plan.md");
    window.get_by_label("artifacts/plan.md").click_secondary();
    window.run_steps(3);
    press(&mut window, Modifiers::NONE, Key::ArrowDown);
    press(&mut window, Modifiers::NONE, Key::Delete);
    assert_eq!(explorer_of(&window).active, Some(RowTarget::File("artifacts/plan.md".into())));
    assert!(operations(&window).is_empty());
}

#[test]
fn only_instruction_files_can_be_added_as_a_rulebook() {
    let mut window = with(vec![file("AGENTS.md", 1), file("artifacts/plan.md", 1)]);
    window.get_by_label("artifacts/plan.md").click_secondary();
    window.run_steps(3);
    assert!(window.query_by_label("Add to the room as a rulebook").is_none());
    let mut window = with(vec![file("AGENTS.md", 1)]);
    window.get_by_label("AGENTS.md").click_secondary();
    window.run_steps(3);
    click(&mut window, "Add to the room as a rulebook");
    let [Command::Act(RoomAct::Element(ElementCommand::Add { keys }), Some(_)), Command::Show(shown)] =
        &window.state().commands[..]
    else {
        panic!("{:?}", window.state().commands)
    };
    assert_eq!(*shown, Tab::ROOM);
    assert_eq!((keys["kind"].as_str(), keys["file"].as_str()), (Some("rulebook"), Some("AGENTS.md")));
}

#[test]
fn an_empty_explorer_explains_why() {
    let mut window = stage_pane(UiState::default(), |ui, cx, panes| explorer_ui(ui, cx, panes.pane_mut::<Explorer>()));
    window.run_steps(2);
    window.get_by_label("Loading files…");
    window.state_mut().state.texts.files = Some(Err("the folder may not be read".into()));
    window.run_steps(2);
    window.get_by_label("the folder may not be read");
    window.state_mut().state.texts.files = Some(Ok(Arc::default()));
    window.run_steps(2);
    click(&mut window, "Create file…");
    assert!(explorer_of(&window).dialog.is_some());
    let mut window = explorer();
    window.state_mut().parts.pane_mut::<Explorer>().filter = "zzz".into();
    window.run_steps(3);
    window.get_by_label("No results");
}

#[test]
fn a_failed_listing_keeps_the_saved_state() {
    let mut window = explorer();
    click(&mut window, "artifacts/plan.md");
    let before = explorer_of(&window).remembered;
    window.state_mut().state.texts.files = Some(Err("later".into()));
    window.run_steps(3);
    window.state_mut().state.texts.files = Some(Ok(Arc::new(sample())));
    window.run_steps(3);
    assert_eq!(explorer_of(&window).remembered, before);
}

#[test]
fn only_visible_rows_are_drawn() {
    let files =
        (0..10_000).map(|number| file(&format!("artifacts/part-{:03}/note-{number:05}.md", number / 100), 1)).collect();
    let mut window = with(files);
    let (drawn, all) = explorer_of(&window).rows_drawn();
    assert_eq!(all, 10_101);
    assert!(drawn > 20 && drawn < 80, "{drawn}");
    let made = explorer_of(&window).tree.revision();
    window.run_steps(10);
    assert_eq!(explorer_of(&window).tree.revision(), made, "rows are not rebuilt without changes");
    click(&mut window, "Folder artifacts");
    click(&mut window, "Folder artifacts");
    press(&mut window, Modifiers::NONE, Key::End);
    window.get_by_label("artifacts/part-099/note-09999.md");
    assert!(explorer_of(&window).rows_drawn().0 < 80);
}

#[test]
fn long_and_non_latin_names_are_drawn() {
    let long = format!("artifacts/{}/{}.md", "very-long-folder".repeat(12), "übergroß 夜🌙".repeat(20));
    let window = with(vec![file(&long, 1), file("مرحبا.md", 1)]);
    window.get_by_label(&long);
    window.get_by_label("مرحبا.md");
}

#[test]
fn the_saved_state_survives_serialization() {
    let mut window = explorer();
    click(&mut window, "Folder agents");
    let remembered = explorer_of(&window).remembered;
    let written = serde_json::to_string(&remembered).expect("it is plain data");
    assert_eq!(serde_json::from_str::<Remembered>(&written).expect("it was serialized"), remembered);
    assert_eq!(serde_json::from_str::<Remembered>("{}").expect("all fields have defaults"), Remembered::default());
}
