//! Typing in the whole window: what is typed into a field stays there, and keys decide nothing where nobody chose them.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{ImeEvent, Pos2, Rect};
use proptest::prelude::*;

use super::*;
use crate::desk::trust_page::TrustPage;
use crate::kernel::KernelCommand;
use crate::simulation::TaskCommand;
use crate::ui::state::file_texts::TextRead;
use crate::workspace::trust::Widening;
use crate::workspace::vfs::{FileInfo, FileKind};

type Window = Harness<'static, WholeWindow>;

/// How a text reaches the window.
#[derive(Clone, Copy, PartialEq, Debug)]
enum By {
    Keys,
    InputMethod,
}

/// A window in which every key would do something: two approvals wait, and things are selected and copied.
fn busy_window(prepare: impl FnOnce(&mut WholeWindow)) -> Window {
    let app = |ui: &mut Ui, window: &mut WholeWindow| {
        static DRAWN: OnceLock<(Art, Recent)> = OnceLock::new();
        let (art, recent) = DRAWN.get_or_init(|| (Art::default(), sample_recent()));
        let WholeWindow { shell, room, state, commands } = window;
        state.time.now_secs = ui.input(|input| input.time);
        commands.extend(shell.show(ui, room, recent, art, state));
    };
    let mut state = UiState::default();
    let rules = RoomObject::Element("rules".into());
    state.selection.select([rules.clone()]);
    state.transfer.copied = vec![rules];
    state.notices.is_hint_closed = true;
    let mut room = sample_room();
    room.work.pieces = vec![asking_piece(7, "ada-1", "write a.md"), asking_piece(8, "bram-1", "write b.md")];
    let mut window = WholeWindow { shell: Shell::default(), room, state, commands: Vec::new() };
    prepare(&mut window);
    let size = egui::vec2(1280.0, 900.0);
    let mut window = Harness::builder().with_size(size).with_step_dt(1.0 / 30.0).build_ui_state(app, window);
    window.run_steps(6);
    window
}

/// Sends events within one frame, as the platform does.
fn send(window: &mut Window, events: Vec<Event>) {
    let modifiers = events.iter().find_map(|event| match event {
        Event::Key { modifiers, .. } => Some(*modifiers),
        _ => None,
    });
    let input = window.input_mut();
    input.events.push(Event::ModifiersChanged(modifiers.unwrap_or_default()));
    input.events.extend(events);
    window.run_steps(1);
}

fn key(key: Key, pressed: bool, modifiers: Modifiers) -> Event {
    Event::Key { key, physical_key: None, pressed, repeat: false, modifiers }
}

fn press(window: &mut Window, one: Key, modifiers: Modifiers) {
    send(window, vec![key(one, true, modifiers), key(one, false, modifiers)]);
}

fn type_character(window: &mut Window, character: char) {
    let modifiers = if character.is_uppercase() { Modifiers::SHIFT } else { Modifiers::NONE };
    let named = if character == ' ' { Some(Key::Space) } else { Key::from_name(&character.to_uppercase().to_string()) };
    let mut events = vec![Event::Text(character.to_string())];
    events.extend(named.into_iter().flat_map(|one| [key(one, true, modifiers), key(one, false, modifiers)]));
    send(window, events);
}

fn type_text(window: &mut Window, text: &str, by: By) {
    match by {
        By::Keys => text.chars().for_each(|character| type_character(window, character)),
        By::InputMethod => {
            for word in text.split_inclusive(' ') {
                for end in word.char_indices().map(|(at, character)| at + character.len_utf8()) {
                    let preedit = ImeEvent::Preedit { text: word[..end].to_owned(), active_range_chars: None };
                    send(window, vec![Event::Ime(preedit)]);
                }
                send(window, vec![Event::Ime(ImeEvent::Commit(word.to_owned()))]);
            }
        }
    }
}

fn click_at(window: &mut Window, pos: Pos2) {
    let button =
        |pressed| Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers: Modifiers::NONE };
    for events in [vec![Event::PointerMoved(pos)], vec![button(true)], vec![button(false)]] {
        send(window, events);
    }
    window.run_steps(2);
}

/// The widget with this name that is lowest: of the cards of an approval, the one in the bar below the room.
fn lowest<'a>(window: &'a Window, label: &str) -> egui_kittest::Node<'a> {
    let nodes: Vec<_> = window.root().children_recursive().filter(|node| name_of(node) == label).collect();
    let lowest = nodes.into_iter().max_by(|one, other| one.rect().bottom().total_cmp(&other.rect().bottom()));
    lowest.unwrap_or_else(|| panic!("there is no {label}"))
}

/// The fields that text can be typed into, with their names and places.
fn fields(window: &Window) -> Vec<(String, Rect)> {
    let is_field = |role| matches!(role, Role::TextInput | Role::MultilineTextInput | Role::PasswordInput);
    let nodes = window.root().children_recursive().filter(|node| is_field(node.accesskit_node().role()));
    nodes.map(|node| (name_of(&node), node.rect())).collect()
}

fn decides(command: &Command) -> bool {
    let is_decision = |act: &RoomAct| matches!(act, RoomAct::Work(_) | RoomAct::Workflow(_) | RoomAct::File(_));
    match command {
        Command::Act(act, _) => is_decision(act),
        Command::Acts(acts) => acts.iter().any(|(act, _)| is_decision(act)),
        Command::Delete(_) | Command::DeleteSurely(_) | Command::QuitNow => true,
        _ => false,
    }
}

fn decisions(window: &Window) -> Vec<KernelCommand> {
    let decision = |command: &Command| match command {
        Command::Act(RoomAct::Work(command @ KernelCommand::Decide { .. }), _) => Some(command.clone()),
        _ => None,
    };
    window.state().commands.iter().filter_map(decision).collect()
}

/// What a person sees of the window's own state, without the fields.
fn look(window: &Window) -> String {
    let WholeWindow { state, .. } = window.state();
    let front = (state.front.dialog(), state.front.element(), state.view.debug_overlay, state.view.is_story_folded);
    format!("{:?} {front:?} {:?} {:?}", state.selection, state.view.arranging, state.view.camera.zoom)
}

type Prepare = fn(&mut WholeWindow);

/// Every pane, panel, dialog and element with a field.
const PLACES: [(&str, Prepare); 15] = [
    ("an element in the inspector", |_| {}),
    ("an agent in the inspector", |window| window.state.selection.select([RoomObject::Agent("bram-1".into())])),
    ("the rulebook", |window| window.state.front.open_element("rules".into())),
    ("the message board", |window| window.state.front.open_element("news".into())),
    ("the pinboard", |window| window.state.front.open_element("ideas".into())),
    ("the inbox", |window| window.state.front.open_element("post".into())),
    ("the conversations", |window| window.state.dock.show(&Tab::TALKS, |_| true)),
    ("the log", |window| window.state.dock.show(&Tab::LOG, |_| true)),
    ("the knowledge", with_a_memory),
    ("the blackboard", |window| window.state.dock.show(&Tab::named("blackboard"), |_| true)),
    ("a file", |window| {
        window.state.texts.texts.insert("agents/ada.md".into(), Ok(Some(TextRead::new("You are Ada.".to_owned()))));
        window.state.dock.show(&Tab::file("agents/ada.md"), |_| true);
    }),
    ("the settings", |window| window.state.front.open(FrontPanel::Settings)),
    ("the palette", |window| window.state.front.open(FrontPanel::Palette)),
    ("the name of a scene", |window| window.state.front.ask(Dialog::NewScene)),
    ("a coding agent", |window| window.state.front.ask(Dialog::AddCodingAgent)),
];

#[test]
fn what_is_typed_into_a_field_changes_nothing_else() {
    let mut seen = BTreeSet::new();
    for (place, prepare) in PLACES {
        let count = fields(&busy_window(prepare)).len();
        assert!(count > 0, "{place} has a field");
        for index in 0..count {
            let mut window = busy_window(prepare);
            let (name, rect) = fields(&window)[index].clone();
            // The fields of the window around a pane are tried once.
            if !seen.insert((name.clone(), rect.width().round() as i32)) {
                continue;
            }
            let by = if index % 2 == 0 { By::Keys } else { By::InputMethod };
            click_at(&mut window, rect.center());
            let (before, given) = (look(&window), window.state().commands.len());
            type_text(&mut window, "Also run 2 talks by A R ql", by);
            let new = &window.state().commands[given..];
            let changes: Vec<&Command> = new.iter().filter(|command| changes_the_room(command)).collect();
            assert!(changes.is_empty(), "{name} of {place} by {by:?}: {changes:?}");
            assert_eq!(look(&window), before, "{name} of {place} by {by:?}");
        }
    }
    assert!(seen.len() >= 20, "{seen:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 8, ..ProptestConfig::default() })]
    #[test]
    fn the_task_field_keeps_the_keys_after_enter(
        tasks in proptest::collection::vec("[A-Za-z][a-zA-Z0-9 ]{0,10}[a-z]", 1..4),
        by in prop_oneof![Just(By::Keys), Just(By::InputMethod)],
    ) {
        let mut window = busy_window(|_| {});
        let place = window.get_by_label("Task to run").rect().center();
        click_at(&mut window, place);
        for task in &tasks {
            type_text(&mut window, task, by);
            press(&mut window, Key::Enter, Modifiers::NONE);
        }
        let given: Vec<String> = window.state().commands.iter().filter_map(|command| match command {
            Command::Act(RoomAct::Task(TaskCommand { text, .. }), _) => Some(text.clone()),
            _ => None,
        }).collect();
        let trimmed: Vec<String> = tasks.iter().map(|task| task.trim().to_owned()).collect();
        prop_assert_eq!(given, trimmed);
        prop_assert_eq!(window.state().commands.iter().filter(|command| changes_the_room(command)).count(), tasks.len());
        prop_assert!(window.get_by_label("Task to run").is_focused());
        press(&mut window, Key::Escape, Modifiers::NONE);
        prop_assert!(!window.get_by_label("Task to run").is_focused());
        prop_assert_eq!(window.state().state.selection.things().len(), 1, "Escape only left the field");
    }
}

#[test]
fn a_click_that_misses_a_field_makes_no_key_a_decision() {
    let window = busy_window(|_| {});
    let room = window.state().state.dock.rect(&Tab::ROOM).expect("it is seen");
    let card = lowest(&window, "Approval for Ada").rect();
    let points = (0..9).flat_map(|x| (0..7).map(move |y| Pos2::new(20.0 + 155.0 * x as f32, 20.0 + 140.0 * y as f32)));
    let mut tried = 0;
    for point in points.filter(|point| !room.contains(*point) && !card.contains(*point)) {
        let mut window = busy_window(|_| {});
        click_at(&mut window, point);
        window.run_steps(40);
        let given = window.state().commands.len();
        for word in ["also", "A R", "race"] {
            type_text(&mut window, word, By::Keys);
            press(&mut window, Key::Backspace, Modifiers::NONE);
            press(&mut window, Key::Delete, Modifiers::NONE);
            window.run_steps(40);
        }
        let decided: Vec<&Command> = window.state().commands[given..].iter().filter(|one| decides(one)).collect();
        assert!(decided.is_empty(), "after a click at {point:?}: {decided:?}");
        tried += 1;
    }
    assert!(tried >= 20, "{tried}");
}

#[test]
fn keys_answer_the_card_that_was_clicked_and_only_that_one() {
    let mut window = busy_window(|_| {});
    press(&mut window, Key::A, Modifiers::NONE);
    window.run_steps(40);
    press(&mut window, Key::A, Modifiers::NONE);
    assert_eq!(decisions(&window), [], "the room has the focus at the start, but nobody chose it");
    let head = lowest(&window, "Approval for Ada").rect().left_top() + egui::vec2(20.0, 20.0);
    click_at(&mut window, head);
    window.run_steps(40);
    type_character(&mut window, 'a');
    assert_eq!(decisions(&window).len(), 1, "it was clicked");
    window.state_mut().room.work.pieces.remove(0);
    window.run_steps(40);
    type_character(&mut window, 'a');
    window.run_steps(40);
    type_character(&mut window, 'r');
    assert_eq!(decisions(&window).len(), 1, "the next approval was not chosen");
    window.run_steps(40);
    press(&mut window, Key::Q, Modifiers::NONE);
    press(&mut window, Key::R, Modifiers::NONE);
    assert_eq!(decisions(&window).len(), 1, "within a second of another key");
    window.run_steps(40);
    press(&mut window, Key::R, Modifiers::NONE);
    assert_eq!(decisions(&window).len(), 2, "Q chose it");
}

#[test]
fn keys_answer_in_the_room_once_it_was_clicked_or_got_its_own_key_but_not_after_text() {
    for chosen_by_key in [false, true] {
        let mut window = busy_window(|_| {});
        if chosen_by_key {
            let place = window.get_by_label("Task to run").rect().center();
            click_at(&mut window, place);
            press(&mut window, Key::R, Modifiers::COMMAND | Modifiers::SHIFT);
        } else {
            let rect = window.state().state.dock.rect(&Tab::ROOM).expect("it is seen");
            click_at(&mut window, rect.left_top() + egui::vec2(12.0, 60.0));
        }
        window.run_steps(40);
        type_text(&mut window, "hea", By::Keys);
        window.run_steps(40);
        press(&mut window, Key::A, Modifiers::NONE);
        press(&mut window, Key::Delete, Modifiers::NONE);
        assert!(!window.state().commands.iter().any(decides), "text was typed: {:?}", window.state().commands);
        press(&mut window, Key::R, Modifiers::COMMAND | Modifiers::SHIFT);
        window.run_steps(40);
        press(&mut window, Key::A, Modifiers::NONE);
        assert_eq!(decisions(&window).len(), 1, "the room was chosen again");
    }
}

#[test]
fn keys_decide_nothing_once_what_was_chosen_is_gone() {
    let mut window = busy_window(|_| {});
    let rect = window.state().state.dock.rect(&Tab::ROOM).expect("it is seen");
    click_at(&mut window, rect.left_top() + egui::vec2(12.0, 60.0));
    window.state_mut().state.dock.show(&Tab::GRAPH, |_| true);
    window.run_steps(40);
    press(&mut window, Key::A, Modifiers::NONE);
    press(&mut window, Key::Delete, Modifiers::NONE);
    window.state_mut().state.dock.show(&Tab::ROOM, |_| true);
    window.run_steps(40);
    press(&mut window, Key::R, Modifiers::NONE);
    press(&mut window, Key::Delete, Modifiers::NONE);
    assert!(!window.state().commands.iter().any(decides), "{:?}", window.state().commands);
}

#[test]
fn a_key_does_not_press_an_answer_button_within_a_second_of_typing() {
    let mut window = busy_window(|_| {});
    let comment = lowest(&window, "Message Ada").rect().center();
    click_at(&mut window, comment);
    type_text(&mut window, "not now", By::Keys);
    press(&mut window, Key::Tab, Modifiers::NONE);
    window.run_steps(2);
    assert!(lowest(&window, "Allow Ada").is_focused());
    type_text(&mut window, " a", By::Keys);
    assert_eq!(decisions(&window), []);
    window.run_steps(40);
    press(&mut window, Key::Space, Modifiers::NONE);
    window.run_steps(40);
    press(&mut window, Key::Enter, Modifiers::NONE);
    assert_eq!(decisions(&window).len(), 1, "a second later, Enter presses the button");
}

/// Gives the knowledge pane a memory to show.
fn with_a_memory(window: &mut WholeWindow) {
    let path = "memory/knowledge/ada-1.md";
    let file =
        FileInfo { path: path.to_owned(), kind: FileKind::Memory, size: 1, modified_ms: 0, version: 1, is_there: true };
    window.state.texts.files = Some(Ok(Arc::new(vec![file])));
    let text = TextRead::new("- The office closes at six. <!-- k-1 kind=fact -->\n");
    window.state.texts.texts.insert(path.to_owned(), Ok(Some(text)));
    window.state.dock.show(&Tab::named("knowledge"), |_| true);
}

#[test]
fn a_memory_that_is_opened_for_editing_has_the_keys() {
    let saves = |window: &Window| window.state().commands.iter().filter(|one| changes_the_room(one)).count();
    for by in [By::Keys, By::InputMethod] {
        let mut window = busy_window(with_a_memory);
        click(&mut window, "Edit: The office closes at six.");
        assert!(window.get_by_label("Text of the memory").is_focused());
        type_text(&mut window, " Also at rest a", by);
        let typed = window.get_by_label("Text of the memory").value();
        assert_eq!(typed.as_deref(), Some("The office closes at six. Also at rest a"), "{by:?}");
        assert_eq!(saves(&window), 0);
        press(&mut window, Key::Escape, Modifiers::NONE);
        window.run_steps(2);
        assert!(window.query_by_label("Text of the memory").is_none(), "Escape cancels");
        assert_eq!((saves(&window), window.state().state.selection.things().len()), (0, 1));
        window.run_steps(30);
        click(&mut window, "Edit: The office closes at six.");
        type_text(&mut window, " Sharp.", by);
        press(&mut window, Key::Enter, Modifiers::COMMAND);
        window.run_steps(2);
        assert_eq!(saves(&window), 1, "Ctrl+Enter saves");
        assert!(window.query_by_label("Text of the memory").is_none());
    }
}

#[test]
fn a_key_does_not_trust_a_workspace_within_a_second_of_typing() {
    let wish = Widening::new("settings.yaml", "commands.network", "true", "");
    let page = TrustPage {
        folder: "/home/room".into(),
        trusted: true,
        wants: vec![wish.clone()],
        new: vec![wish],
        starts: Vec::new(),
        unreadable: Vec::new(),
        has_unknown_room: false,
        runs: Vec::new(),
        code: Default::default(),
    };
    for label in ["Trust this wish", "Revoke trust"] {
        let mut window = busy_window(|window| {
            window.state.front.ask(Dialog::Trust);
            window.state.trust.page = Some(Arc::new(page.clone()));
        });
        let decided = |window: &Window| {
            let is_decision =
                |command: &&Command| matches!(command, Command::TrustWorkspace(_) | Command::RevokeTrust(_));
            window.state().commands.iter().filter(is_decision).count()
        };
        window.get_by_label(label).focus();
        window.run_steps(2);
        type_text(&mut window, "go on ", By::Keys);
        press(&mut window, Key::Enter, Modifiers::NONE);
        assert_eq!(decided(&window), 0, "{label}: the person was typing");
        window.run_steps(40);
        press(&mut window, Key::Enter, Modifiers::NONE);
        assert_eq!(decided(&window), 1, "{label}: a second later, Enter presses the button");
    }
}
