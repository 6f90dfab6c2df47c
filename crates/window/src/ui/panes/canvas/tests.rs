//! Tests of mouse and keyboard input in the room, with panels around it; this file covers dragging and dropping.

mod arranging;
mod asking;
mod choosing;
mod looking;

use std::cell::RefCell;

use egui::{Event, Key, Modifiers, MouseWheelUnit, PointerButton, Pos2, Shape, TouchPhase, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::*;
use crate::agent::AgentCommand;
use crate::base::Id;
use crate::element::ElementCommand;
use crate::simulation::{RelationshipCommand, State};
use crate::ui::UiState;
use crate::ui::commands::{RoomAct, create};
use crate::ui::panes::room::RoomPane;
use crate::ui::shell::Shell;
use crate::ui::testing::{PaneHarness, sample_room};
use crate::view::art::Art;
use crate::view::model::RelationshipView;
use crate::view::recent_events::Recent;

const SIZE: egui::Vec2 = vec2(1280.0, 800.0);

struct Window(Harness<'static, PaneHarness>);

impl Window {
    fn of(room: RoomModel, state: UiState) -> Self {
        let stage = PaneHarness { recent: Recent::default(), ..PaneHarness::new(room, state) };
        let shell = RefCell::new((Shell::default(), None));
        let app = move |ui: &mut Ui, stage: &mut PaneHarness| {
            let (shell, art) = &mut *shell.borrow_mut();
            let art = art.get_or_insert_with(|| Art::load(ui.ctx(), 1.0).0);
            let mut room = stage.room.clone();
            std::mem::swap(&mut shell.parts, &mut stage.parts);
            let commands = shell.show(ui, &mut room, &stage.recent, art, &mut stage.state);
            std::mem::swap(&mut shell.parts, &mut stage.parts);
            stage.commands.extend(commands);
        };
        let mut window = Self(
            Harness::builder().with_size(SIZE).with_step_dt(1.0 / 60.0).with_max_steps(64).build_ui_state(app, stage),
        );
        window.0.run_steps(4);
        window
    }

    /// The sample room, with its agents and elements spread out.
    fn new() -> Self {
        let mut room = sample_room();
        room.agents[0].position = Vec2::new(-150.0, 0.0);
        room.agents[1].position = Vec2::new(150.0, 0.0);
        for (index, element) in room.elements.iter_mut().enumerate() {
            element.position = Vec2::new(-240.0 + 160.0 * index as f32, 200.0);
        }
        let camera = crate::view::camera::Camera { middle: Vec2::new(0.0, 60.0), ..Default::default() };
        let mut state = UiState::default();
        state.notices.is_hint_closed = true;
        (state.view.is_framed, state.view.camera) = (true, camera);
        Self::of(room, state)
    }

    fn is_holding(&self) -> bool {
        self.0.state().parts.pane::<RoomPane>().canvas.is_holding()
    }

    fn state(&mut self) -> &mut UiState {
        &mut self.0.state_mut().state
    }

    /// The label being edited.
    fn naming(&self) -> Option<RelationshipNaming> {
        self.0.state().parts.pane::<RoomPane>().canvas.naming.clone()
    }

    fn room(&mut self) -> &mut RoomModel {
        &mut self.0.state_mut().room
    }

    /// Returns the commands since the last call.
    fn commands(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.0.state_mut().commands)
    }

    fn acts(&mut self) -> Vec<RoomAct> {
        let acts = |command| match command {
            Command::Act(act, _) => vec![act],
            Command::Acts(acts) => acts.into_iter().map(|(act, _)| act).collect(),
            other => panic!("{other:?} is no act"),
        };
        self.commands().into_iter().flat_map(acts).collect()
    }

    /// Converts a world position to a screen position.
    fn screen(&mut self, x: f32, y: f32) -> Pos2 {
        self.state().view.camera.to_screen(Vec2::new(x, y))
    }

    fn agent(&mut self, id: &str) -> Pos2 {
        let place = self.room().agent(id).expect("it is in the room").position;
        self.screen(place.x, place.y + 15.0)
    }

    fn element(&mut self, id: &str) -> Pos2 {
        let place = self.room().element(id).expect("it is in the room").position;
        self.screen(place.x, place.y)
    }

    fn button(&mut self, at: Pos2, button: PointerButton, pressed: bool, modifiers: Modifiers) {
        self.0.event(Event::ModifiersChanged(modifiers));
        self.0.event(Event::PointerButton { pos: at, button, pressed, modifiers });
        self.0.run_steps(1);
    }

    fn press(&mut self, at: Pos2) {
        self.move_to(at);
        self.button(at, PointerButton::Primary, true, Modifiers::NONE);
    }

    fn move_to(&mut self, at: Pos2) {
        self.0.hover_at(at);
        self.0.run_steps(2);
    }

    fn release(&mut self, at: Pos2) {
        self.move_to(at);
        self.button(at, PointerButton::Primary, false, Modifiers::NONE);
        self.0.run_steps(2);
    }

    fn drag(&mut self, from: Pos2, to: Pos2) {
        self.press(from);
        self.move_to(from.lerp(to, 0.5));
        self.release(to);
    }

    fn click(&mut self, at: Pos2, modifiers: Modifiers) {
        self.move_to(at);
        self.button(at, PointerButton::Primary, true, modifiers);
        self.button(at, PointerButton::Primary, false, modifiers);
        self.0.event(Event::ModifiersChanged(Modifiers::NONE));
        self.0.run_steps(1);
        // Waits long enough that the next click is no double-click.
        self.0.run_steps(40);
    }

    fn double_click(&mut self, at: Pos2) {
        self.move_to(at);
        // Waits long enough that earlier clicks are not counted with these.
        self.0.run_steps(40);
        for _ in 0..2 {
            self.button(at, PointerButton::Primary, true, Modifiers::NONE);
            self.button(at, PointerButton::Primary, false, Modifiers::NONE);
        }
        self.0.run_steps(2);
    }

    fn menu_at(&mut self, at: Pos2) {
        self.move_to(at);
        self.button(at, PointerButton::Secondary, true, Modifiers::NONE);
        self.button(at, PointerButton::Secondary, false, Modifiers::NONE);
        self.0.run_steps(3);
    }

    fn choose(&mut self, label: &str) {
        // Something below the menu may have the same label.
        let in_menu = |node: &egui_kittest::Node| {
            let layer = self.0.ctx.layer_id_at(node.rect().center());
            layer.is_some_and(|layer| layer.order == egui::Order::Foreground)
        };
        self.0.get_all_by_label_contains(label).rfind(in_menu).expect("it is in a menu").click();
        self.0.run_steps(6);
    }

    fn wheel(&mut self, at: Pos2, points: f32) {
        self.move_to(at);
        self.0.event(Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta: vec2(0.0, points),
            phase: TouchPhase::Move,
            modifiers: Modifiers::NONE,
        });
        self.0.run_steps(90);
    }

    /// Waits until a key may decide something after others were typed.
    fn wait_after_typing(&mut self) {
        let secs = crate::ui::commands::keyboard::TYPING_SECS;
        self.0.run_steps((secs * 60.0) as usize + 1);
    }

    fn key(&mut self, modifiers: Modifiers, key: Key) {
        self.0.key_press_modifiers(modifiers, key);
        self.0.run_steps(2);
    }

    /// Whether this text is among the painted shapes, for text without a widget of its own.
    fn paints(&self, text: &str) -> bool {
        fn is_in(shape: &Shape, text: &str) -> bool {
            match shape {
                Shape::Text(painted) => painted.galley.text() == text,
                Shape::Vec(shapes) => shapes.iter().any(|shape| is_in(shape, text)),
                _ => false,
            }
        }
        self.0.output().shapes.iter().any(|painted| is_in(&painted.shape, text))
    }

    fn selected(&mut self) -> Vec<Id> {
        self.state().selection.things().iter().map(|thing| thing.id().clone()).collect()
    }
}

fn tie(from: &str, to: &str, label: &str) -> Relationship {
    Relationship { from: from.into(), to: to.into(), label: label.into() }
}

fn related() -> Window {
    let mut window = Window::new();
    let (from, to) = (window.room().agents[0].key, window.room().agents[1].key);
    window.room().relationships = vec![RelationshipView { from, to, label: "mentors".into() }];
    window.0.run_steps(2);
    window
}

#[test]
fn an_agent_from_the_shelf_is_lifted_above_the_elements_unless_alt_is_held() {
    for (modifiers, height) in [(Modifiers::NONE, 320.0), (Modifiers::ALT, -100.0)] {
        let mut window = Window::new();
        let (row, floor) = (window.0.get_by_label("Add Bram").rect().center(), window.screen(40.0, -100.0));
        window.press(row);
        window.move_to(row + vec2(30.0, 0.0));
        window.move_to(floor);
        window.button(floor, PointerButton::Primary, false, modifiers);
        window.0.run_steps(2);
        let commands = window.commands();
        let [Command::Act(RoomAct::Agent(AgentCommand::Add { position, profile, .. }), Some(_))] = &commands[..] else {
            panic!("{commands:?}");
        };
        assert!(position.distance(Vec2::new(40.0, height)) < 0.2, "{position}");
        assert_eq!(&**profile, "bram");
        assert_eq!(window.state().transfer.dragging, None);
    }
}

#[test]
fn a_dragged_agent_shows_why_it_is_lifted() {
    let mut window = Window::new();
    let row = window.0.get_by_label("Add Bram").rect().center();
    let [low, high] = [-100.0, 330.0].map(|y| window.screen(40.0, y));
    window.press(row);
    window.move_to(row + vec2(30.0, 0.0));
    window.move_to(low);
    assert!(window.paints(create::LIFTED));
    window.move_to(high);
    assert!(!window.paints(create::LIFTED), "here it is placed where it is dropped");
    window.move_to(low);
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!window.paints(create::LIFTED));
}

#[test]
fn a_shelf_drag_released_over_a_panel_or_cancelled_adds_nothing() {
    let mut window = Window::new();
    let row = window.0.get_by_label("Add pinboard").rect().center();
    window.drag(row, row + vec2(10.0, -60.0));
    assert_eq!((window.commands(), window.state().transfer.dragging.clone()), (vec![], None));
    let floor = window.screen(0.0, -120.0);
    window.press(row);
    window.move_to(floor);
    window.key(Modifiers::NONE, Key::Escape);
    window.release(floor);
    assert_eq!((window.commands(), window.state().transfer.dragging.clone()), (vec![], None));
    window.drag(row, floor);
    let acts = window.acts();
    let [RoomAct::Element(ElementCommand::Add { keys })] = &acts[..] else { panic!("{acts:?}") };
    assert_eq!((&keys["kind"], &keys["position"][1]), (&"pinboard".into(), &(-120.0).into()));
}

#[test]
fn agents_can_be_dragged_in_every_state_and_a_drag_sends_one_command_on_release() {
    for state in State::ALL {
        let mut window = Window::new();
        window.room().agents[0].state = state;
        let (from, to) = (window.agent("ada-1"), window.screen(-60.0, -100.0));
        window.press(from);
        for step in 1..=10 {
            window.move_to(from + (to - from) * (step as f32 / 10.0));
            assert_eq!(window.acts(), [], "{state:?}: nothing is sent while the pointer moves");
        }
        assert!(window.is_holding());
        window.release(to);
        let acts = window.acts();
        let [RoomAct::Agent(AgentCommand::Place { agent, position })] = &acts[..] else { panic!("{acts:?}") };
        assert_eq!(&**agent, "ada-1");
        assert!(position.distance(Vec2::new(-60.0, -115.0)) < 1.0, "{state:?}: {position}");
        assert!(!window.is_holding());
    }
}

#[test]
fn a_selection_is_dropped_with_one_command() {
    let mut window = Window::new();
    let both = [RoomObject::Agent("ada-1".into()), RoomObject::Element("news".into())];
    window.state().selection.select(both.clone());
    window.0.run_steps(2);
    let places = |window: &mut Window| (window.room().agents[0].position, window.room().elements[1].position);
    let (ada, news) = places(&mut window);
    let (from, to) = (window.agent("ada-1"), window.screen(-60.0, -100.0));
    window.drag(from, to);
    let acts: Vec<_> = window
        .commands()
        .into_iter()
        .filter(|command| matches!(command, Command::Act(..) | Command::Acts(_)))
        .collect();
    let [Command::Acts(acts)] = &acts[..] else { panic!("{acts:?}") };
    let moved: BTreeMap<&str, Vec2> = acts
        .iter()
        .map(|(act, _)| match act {
            RoomAct::Agent(AgentCommand::Place { agent, position }) => (&**agent, *position),
            RoomAct::Element(ElementCommand::Move { element, position }) => (&**element, *position),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!((moved["ada-1"] - ada).distance(moved["news"] - news) < 0.2, "they keep their distance: {moved:?}");
    let is_undone = |(act, back): &(RoomAct, Option<RoomAct>)| back.is_some() || matches!(act, RoomAct::Agent(_));
    assert!(acts.iter().all(is_undone));
}

#[test]
fn dragged_and_dropped_things_override_the_model_until_the_room_catches_up() {
    let ada = RoomObject::Agent("ada-1".into());
    let positions = BTreeMap::from([(ada, Vec2::new(40.0, 50.0))]);
    let mut room = sample_room();
    drag::apply_positions(&positions, true, &mut room);
    assert_eq!((room.agents[0].position, room.agents[0].state), (Vec2::new(40.0, 50.0), State::Dragged));
    let mut canvas = Canvas { dropped: positions, dropped_until_tick: 1_802, ..Canvas::default() };
    for (tick, place) in [(1_800, 40.0), (1_801, 40.0), (1_802, -150.0)] {
        let mut room = RoomModel { tick, ..sample_room() };
        room.agents[0].position = Vec2::new(-150.0, 0.0);
        canvas.show_held(None, &mut room);
        assert_eq!(room.agents[0].position.x, place, "at tick {tick}");
    }
}

#[test]
fn escape_cancels_a_drag_and_the_rest_of_the_movement_does_nothing() {
    let mut window = Window::new();
    let (from, to) = (window.agent("ada-1"), window.screen(0.0, -100.0));
    let element = window.element("news");
    for start in [from, element] {
        window.press(start);
        window.move_to(to);
        assert!(window.is_holding());
        let selected = window.selected();
        window.key(Modifiers::NONE, Key::Escape);
        assert_eq!(window.selected(), selected, "Escape only cancels the drag");
        window.release(to);
        assert_eq!(window.commands(), [], "what was not dropped did not move");
    }
}

#[test]
fn losing_window_focus_drops_what_is_dragged() {
    let mut window = Window::new();
    let (from, to) = (window.agent("ada-1"), window.screen(0.0, -100.0));
    window.press(from);
    window.move_to(to);
    window.0.input_mut().focused = false;
    window.0.run_steps(2);
    let acts = window.acts();
    assert!(matches!(&acts[..], [RoomAct::Agent(AgentCommand::Place { .. })]), "{acts:?}");
    assert!(!window.is_holding());
}

#[test]
fn a_drag_ends_with_a_notice_when_the_dragged_thing_leaves_the_room() {
    let mut window = Window::new();
    let (from, to) = (window.agent("ada-1"), window.screen(0.0, -100.0));
    window.press(from);
    window.move_to(to);
    window.commands();
    window.room().agents.remove(0);
    window.0.run_steps(2);
    assert!(!window.is_holding());
    window.release(to + vec2(30.0, 0.0));
    assert_eq!(window.commands(), []);
    assert_eq!(window.state().notices.outcomes()[0].text, "Ada left the room while you were dragging it.");
    let element = window.element("news");
    window.press(element);
    window.move_to(to);
    window.room().elements.remove(1);
    window.0.run_steps(2);
    window.release(to);
    assert_eq!(window.commands(), [], "the same for elements");
}

#[test]
fn undoing_a_drag_returns_an_element_to_where_a_file_edit_moved_it() {
    let mut window = Window::new();
    let (from, to) = (window.element("news"), window.screen(0.0, -100.0));
    window.press(from);
    window.move_to(to);
    window.room().elements[1].position = Vec2::new(999.0, 999.0);
    window.0.run_steps(1);
    window.release(to);
    let commands = window.commands();
    let [Command::Acts(acts)] = &commands[..] else { panic!("{commands:?}") };
    let [(RoomAct::Element(ElementCommand::Move { position, .. }), back)] = &acts[..] else { panic!("{acts:?}") };
    assert!(position.distance(Vec2::new(0.0, -100.0)) < 1.0, "{position}");
    let home = ElementCommand::Move { element: "news".into(), position: Vec2::new(999.0, 999.0) };
    assert_eq!(*back, Some(RoomAct::Element(home)));
}

#[test]
fn files_dragged_over_the_window_do_not_block_clicks() {
    let mut window = Window::new();
    window.state().transfer.hovering_files = vec!["ada.md".into(), "room.yaml".into()];
    window.0.run_steps(2);
    let ada = window.agent("ada-1");
    window.click(ada, Modifiers::NONE);
    assert_eq!(window.selected(), [Id::from("ada-1")]);
}
