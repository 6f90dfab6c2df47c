//! Tests of the whole window with its keyboard shortcuts, drawn without a screen.

mod typing;

use std::sync::OnceLock;

use bevy::math::Vec2;
use egui::{Event, Key, Modifiers, PointerButton};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use super::*;
use crate::kernel::KernelCommand;
use crate::ui::commands::table::KeyContext;
use crate::ui::commands::{PaneCommand, RoomAct};
use crate::ui::panes::pane::PaneWindow;
use crate::ui::state::dock::Tab;
use crate::ui::state::dock_place::{DockArea, DockPlace};
use crate::ui::state::{Dialog, FileDialogPurpose};
use crate::ui::testing::{PaneHarness, asking_piece, pane_of, sample_recent, sample_room};
use crate::ui::testing_keyboard::{are_as_read, controls_have_names, name_of, tab_stops};
use crate::view::pick::RoomObject;

/// A window, and its commands that concern more than the window.
struct WholeWindow {
    shell: Shell,
    room: RoomModel,
    state: UiState,
    commands: Vec<Command>,
}

fn open_window() -> Harness<'static, WholeWindow> {
    static DRAWN: OnceLock<(Art, Recent)> = OnceLock::new();
    let app = |ui: &mut Ui, window: &mut WholeWindow| {
        let (art, recent) = DRAWN.get_or_init(|| (Art::default(), sample_recent()));
        let WholeWindow { shell, room, state, commands } = window;
        commands.extend(shell.show(ui, room, recent, art, state));
    };
    let mut state = UiState::default();
    state.selection.select([RoomObject::Element("rules".into())]);
    let window_state = WholeWindow { shell: Shell::default(), room: sample_room(), state, commands: Vec::new() };
    let mut window =
        Harness::builder().with_size(egui::vec2(1280.0, 800.0)).with_max_steps(64).build_ui_state(app, window_state);
    window.run_steps(4);
    window
}

fn click(window: &mut Harness<'static, WholeWindow>, label: &str) {
    window.get_by_label(label).click();
    window.run_steps(4);
}

/// Whether a command changes something behind the dialog in front.
fn changes_the_room(command: &Command) -> bool {
    use Command::{Acts, Copy, Delete, Duplicate, Nudge, Paste, Redo, SetPaused, SetSpeed, Undo};
    matches!(
        command,
        Command::Act(..)
            | Acts(_)
            | Copy(_)
            | Delete(_)
            | Duplicate(_)
            | Nudge(..)
            | Paste(_)
            | Redo
            | SetPaused(_)
            | SetSpeed(_)
            | Undo
    )
}

#[test]
fn shortcuts_do_not_reach_what_is_behind_an_open_panel() {
    type Open = fn(&mut Harness<'static, WholeWindow>);
    let open: [(&str, Open); 8] = [
        ("the palette", |window| window.state_mut().state.front.open(FrontPanel::Palette)),
        ("the settings", |window| window.state_mut().state.front.open(FrontPanel::Settings)),
        ("the keys", |window| window.state_mut().state.front.open(FrontPanel::Keys)),
        ("the notices", |window| window.state_mut().state.front.open(FrontPanel::Notices)),
        ("a question", |window| window.state_mut().state.front.ask(Dialog::ResetScene)),
        ("a dialog for files", |window| window.state_mut().shell.file_picker.open(FileDialogPurpose::OpenWorkspace)),
        ("the menu of the scene", |window| click(window, "Scene menu")),
        ("the menu of the workspace", |window| click(window, "Workspace menu")),
    ];
    // These keys are for the focused widget in front.
    let is_for_widgets = |key: Key| [Key::Enter, Key::Tab, Key::Escape, Key::Questionmark, Key::F1].contains(&key);
    let commands = CommandTable::standard().all().iter();
    let behind = commands.filter(|command| matches!(command.context, KeyContext::Room | KeyContext::NotWriting));
    let keys: Vec<_> =
        behind.flat_map(|command| command.keys).filter(|keys| !is_for_widgets(keys.logical_key)).collect();
    for (what, open) in open {
        let mut window = open_window();
        open(&mut window);
        window.run_steps(4);
        let (selected, dock) = (window.state().state.selection.clone(), format!("{:?}", window.state().state.dock));
        for keys in &keys {
            window.key_press_modifiers(keys.modifiers, keys.logical_key);
            window.run_steps(1);
        }
        window.event(Event::Copy);
        window.event(Event::Paste("words".into()));
        window.run_steps(2);
        let WholeWindow { commands, state, .. } = window.state();
        let done: Vec<&Command> = commands.iter().filter(|command| changes_the_room(command)).collect();
        assert!(done.is_empty(), "before {what}: {done:?}");
        assert_eq!((&state.selection, format!("{:?}", state.dock)), (&selected, dock), "before {what}");
    }
}

#[test]
fn an_open_menu_is_closed_before_anything_else() {
    let mut window = open_window();
    click(&mut window, "Scene menu");
    assert!(window.query_by_label("New scene…").is_some());
    window.key_press(Key::Escape);
    window.run_steps(4);
    assert!(window.query_by_label("New scene…").is_none());
    assert_eq!(window.state().state.selection.things().len(), 1, "one press closes one thing");
    window.key_press(Key::Escape);
    window.run_steps(4);
    assert!(window.state().state.selection.things().is_empty());
}

#[test]
fn tab_follows_the_reading_order_of_the_run_bar() {
    for width in [1200.0, 700.0] {
        let mut stage = PaneHarness::new(sample_room(), UiState::default());
        stage.room.work.pieces = vec![asking_piece(7, "ada-1", "write notes.md")];
        stage.room.work.is_paused = true;
        let mut window = pane_of(stage, |ui, cx, panes| run_bar::run_bar_ui(ui, cx, &mut panes.run_bar));
        window.set_size(egui::vec2(width, 800.0));
        // A new approval card ignores clicks for a moment.
        window.run_steps(40);
        controls_have_names(&window);
        let among = ["Resume work", "Refuse Ada", "Message Ada", "Allow Ada", "Assign to", "Task to run", "Stop all"];
        are_as_read(&tab_stops(&mut window), &among);
    }
}

#[test]
fn tab_follows_the_reading_order_of_the_top_bar() {
    for width in [1280.0, 800.0, 480.0] {
        let stage = PaneHarness::new(sample_room(), UiState::default());
        let mut window = pane_of(stage, |ui, cx, panes| top_bar::top_bar_ui(ui, cx, &mut panes.provider));
        window.set_size(egui::vec2(width, 800.0));
        window.run_steps(4);
        controls_have_names(&window);
        let stops = tab_stops(&mut window);
        are_as_read(&stops, &["Scene menu", "Pause the room", "Speed 1×", "Speed Max", "Conversations on", "Settings"]);
        let among = ["Workspace menu", "Provider menu"];
        assert!(among.iter().all(|name| stops.iter().any(|stop| stop.name == *name)), "{width}: {stops:?}");
    }
}

#[test]
fn tab_follows_the_reading_order_of_the_whole_window() {
    let mut window = open_window();
    // The card of the first steps is in front of the room, so it would be the last stop.
    window.state_mut().state.notices.is_hint_closed = true;
    window.run_steps(4);
    let focused = window.ctx.memory(|memory| memory.focused());
    window.ctx.memory_mut(|memory| focused.into_iter().for_each(|focused| memory.surrender_focus(focused)));
    let mut stops: Vec<(String, f32)> = Vec::new();
    for _ in 0..300 {
        window.key_press(Key::Tab);
        // The room handles several presses of Tab, and takes another frame to release the focus.
        window.run_steps(2);
        let Some(node) = window.root().children_recursive().find(|node| node.is_focused()) else { continue };
        let stop = (name_of(&node), node.rect().top());
        assert!(!stop.0.trim().is_empty(), "the widget at {:?} has no name; before it: {stops:?}", node.rect());
        if stops.len() > 1 && stops[0] == stop {
            break;
        }
        if stops.last().is_none_or(|last| last.0 != stop.0) {
            stops.push(stop);
        }
    }
    let names: Vec<&str> = stops.iter().map(|(name, _)| name.as_str()).collect();
    let mut rest = names.iter();
    let read = ["Scene menu", "Files", "Shelf", "Room", "The room", "Story strip", "Inspector", "Assign to"];
    for wanted in read {
        assert!(rest.any(|name| *name == wanted), "{wanted} is missing or out of order in {names:?}");
    }
    let bar = names.iter().position(|name| *name == "Assign to").expect("it was found above");
    let below = window.state().state.dock.rect(&Tab::ROOM).expect("the room is seen").bottom();
    assert!(stops[bar..].iter().all(|(_, top)| *top >= below), "the bar below comes last: {names:?}");
    assert!(stops[..bar].iter().all(|(name, _)| name != "Pause work"), "and is visited once: {names:?}");
}

#[test]
fn the_run_bar_takes_what_it_needs_and_the_panes_get_the_rest() {
    let mut window = open_window();
    let room = |window: &Harness<'static, WholeWindow>| window.state().state.dock.rect(&Tab::ROOM).expect("it is seen");
    let task = |window: &Harness<'static, WholeWindow>| window.get_by_label("Task to run").rect();
    let before = room(&window);
    assert!(before.bottom() <= task(&window).top() && task(&window).bottom() <= 800.0, "{before:?}");
    window.state_mut().room.work.pieces = vec![asking_piece(7, "ada-1", "write notes.md")];
    window.run_steps(4);
    assert!(room(&window).bottom() < before.bottom() - 40.0, "the approval card is there");
    assert!(task(&window).bottom() <= 800.0, "and everything still fits into the window");
    window.state_mut().room.work.pieces.clear();
    window.run_steps(4);
    assert_eq!(room(&window), before);
}

#[test]
fn the_view_moves_to_an_agent_with_a_new_approval_once_input_is_idle() {
    let mut window = open_window();
    window.run_steps(4);
    assert!(window.state().state.view.is_framed, "the room has been fitted into the view");
    window.state_mut().state.appearance.look.calm = true;
    window.state_mut().state.view.camera.middle = Vec2::new(9_000.0, 0.0);
    window.run_steps(2);
    let is_seen = |window: &Harness<'static, WholeWindow>| {
        let WholeWindow { room, state, .. } = window.state();
        let camera = &state.view.camera;
        camera.viewport.contains(camera.to_screen(room.agents[0].position))
    };
    let press = |window: &mut Harness<'static, WholeWindow>, pressed: bool| {
        let pos = window.state().state.view.camera.viewport.center();
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        window.event(Event::PointerMoved(pos));
        window.event(Event::PointerButton { pos, button, pressed, modifiers });
        window.run_steps(3);
    };
    press(&mut window, true);
    window.state_mut().room.work.pieces = vec![asking_piece(7, "ada-1", "write notes.md")];
    window.run_steps(3);
    assert!(!is_seen(&window), "the view does not move while the button is held");
    press(&mut window, false);
    assert!(is_seen(&window));
}

#[test]
fn the_two_pause_buttons_have_different_names_and_effects() {
    let mut window = open_window();
    click(&mut window, "Pause work");
    click(&mut window, "Pause the room");
    let commands: Vec<&Command> = window.state().commands.iter().filter(|command| changes_the_room(command)).collect();
    let work = Command::Act(RoomAct::Work(KernelCommand::Pause), None);
    assert_eq!(commands, [&work, &Command::SetPaused(true)]);
}

#[test]
fn every_control_in_the_window_has_a_name() {
    let mut window = open_window();
    controls_have_names(&window);
    for panel in [FrontPanel::Settings, FrontPanel::Keys, FrontPanel::Notices, FrontPanel::Palette] {
        window.state_mut().state.front.open(panel);
        window.run_steps(4);
        controls_have_names(&window);
    }
}

/// A pane that is not one of those of every window.
#[derive(Clone)]
struct Ledger {
    place: DockPlace,
    text: &'static str,
}

impl Pane for Ledger {
    fn id(&self) -> &'static str {
        "ledger"
    }

    fn title(&self) -> &'static str {
        "Ledger"
    }

    fn place(&self) -> DockPlace {
        self.place
    }

    fn show(&mut self, ui: &mut Ui, _: &ViewerContext<'_>) -> Vec<Command> {
        ui.label(self.text);
        Vec::new()
    }

    fn apply(&mut self, command: &PaneCommand, _: &mut PaneWindow<'_>) -> Vec<Command> {
        self.text = command.get::<&'static str>().copied().unwrap_or(self.text);
        Vec::new()
    }
}

#[test]
fn a_pane_that_is_added_stands_where_it_says_is_closed_like_others_and_gets_its_commands() {
    let tab = Tab::named("ledger");
    let in_column = DockPlace::always_in(DockArea::Right);
    for (place, is_open) in [
        (in_column, true),
        (DockPlace { is_closed_at_first: true, ..in_column }, false),
        (DockPlace::WHILE_OPEN, false),
    ] {
        let mut window = open_window();
        window.state_mut().shell.add_pane(Box::new(Ledger { place, text: "nothing yet" }));
        window.run_steps(4);
        assert_eq!(window.state().state.dock.is_shown(&tab), is_open, "{place:?}");
        window.state_mut().state.dock.show(&tab, |_| true);
        window.run_steps(4);
        assert!(window.query_by_label("nothing yet").is_some(), "{place:?}");
        let dock = &window.state().state.dock;
        let left = dock.rect(&tab).expect("it is seen").min.x;
        assert_eq!(left > 1280.0 * 0.6, place.area.is_some(), "it stands in the right column: {place:?}, {left}");
        let WholeWindow { shell, room, state, .. } = window.state_mut();
        shell.apply(PaneCommand::new("ledger", "one entry").into(), room, state);
        window.run_steps(4);
        assert!(window.query_by_label("one entry").is_some(), "{place:?}");
        let saved = window.state().state.dock.to_value();
        let read = crate::ui::state::dock::Dock::from_value(&saved).expect("it is a layout");
        assert!(read.is_shown(&tab), "its tab is in the saved layout: {place:?}");
        window.state_mut().state.dock.close(&tab);
        window.run_steps(4);
        assert!(!window.state().state.dock.is_shown(&tab), "{place:?}");
    }
}

#[test]
fn every_pane_of_the_window_is_found_by_its_id_and_has_a_title_of_its_own() {
    let parts = WindowParts::default();
    let ids: BTreeSet<&str> = parts.panes.iter().map(|pane| pane.id()).collect();
    let titles: BTreeSet<&str> = parts.panes.iter().map(|pane| pane.title()).collect();
    assert_eq!((ids.len(), titles.len()), (parts.panes.iter().count(), parts.panes.iter().count()));
    let permanent: Vec<&str> =
        parts.panes.iter().filter(|pane| pane.place().is_permanent).map(|pane| pane.id()).collect();
    assert_eq!(permanent, ["room"], "one pane cannot be closed");
}
