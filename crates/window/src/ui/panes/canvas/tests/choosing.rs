//! Tests of selecting in the room with clicks, boxes, keys and menus, at every zoom level, and of relationships.

use super::*;

#[test]
fn clicks_boxes_and_keys_select() {
    let mut window = Window::new();
    let (ada, bram, floor) = (window.agent("ada-1"), window.agent("bram-1"), window.screen(0.0, -200.0));
    window.click(ada, Modifiers::NONE);
    assert_eq!(window.selected(), [Id::from("ada-1")]);
    window.click(bram, Modifiers::SHIFT);
    assert_eq!(window.selected(), [Id::from("ada-1"), "bram-1".into()]);
    window.click(ada, Modifiers::SHIFT);
    assert_eq!(window.selected(), [Id::from("bram-1")]);
    window.click(floor, Modifiers::NONE);
    assert!(window.selected().is_empty());
    window.key(Modifiers::COMMAND, Key::A);
    assert_eq!(window.selected().len(), 6);
    window.key(Modifiers::NONE, Key::Escape);
    let (low, high) = (window.screen(-300.0, -50.0), window.screen(-20.0, 260.0));
    window.move_to(low);
    window.button(low, PointerButton::Primary, true, Modifiers::SHIFT);
    window.move_to(high);
    window.button(high, PointerButton::Primary, false, Modifiers::SHIFT);
    window.0.run_steps(2);
    assert_eq!(window.selected(), [Id::from("ada-1"), "news".into(), "rules".into()]);
    assert_eq!(window.commands(), []);
}

#[test]
fn a_clicked_element_stays_under_the_pointer_when_the_inspector_opens() {
    let mut window = Window::new();
    let news = window.element("news");
    window.click(news, Modifiers::NONE);
    assert!(window.state().view.camera.viewport.right() < 1100.0, "the inspector is open");
    let now = window.element("news");
    assert!(now.distance(news) < 0.5, "{now} is not {news}");
    window.double_click(news);
    assert_eq!(window.state().front.element().map(|id| &**id), Some("news"));
}

#[test]
fn zooming_to_either_limit_keeps_the_point_under_the_pointer() {
    let mut window = Window::new();
    let pivot = window.screen(-90.0, -120.0);
    for (points, end) in [(4_000.0, 3.0), (-9_000.0, 0.1)] {
        let before = window.state().view.camera.to_world(pivot);
        window.wheel(pivot, points);
        let camera = window.state().view.camera;
        assert_eq!(camera.zoom, end);
        assert!(camera.to_screen(before).distance(pivot) < 0.5, "at {end}");
    }
}

#[test]
fn input_over_a_panel_does_not_move_the_room() {
    let mut window = Window::new();
    window.state().selection.select([RoomObject::Agent("ada-1".into())]);
    window.0.run_steps(3);
    let before = window.state().view.camera;
    let (shelf, top, inspector) = (pos2(100.0, 500.0), pos2(640.0, 14.0), pos2(1_200.0, 640.0));
    for place in [shelf, top, inspector] {
        window.wheel(place, 300.0);
        window.0.event(Event::Zoom(1.5));
        window.0.run_steps(4);
        window.double_click(place);
        window.drag(place, place + vec2(20.0, 60.0));
        assert_eq!(window.state().view.camera, before, "{place}");
    }
    let floor = window.screen(0.0, -150.0);
    window.drag(top, floor);
    assert_eq!(window.state().view.camera, before, "a drag that begins on a panel does not pan");
    window.drag(floor, top);
    let after = window.state().view.camera;
    let expected = before.middle + Vec2::new(-(top.x - floor.x), top.y - floor.y) / before.zoom;
    assert!(after.middle.distance(expected) < 8.0 / before.zoom, "one that begins in the room continues over panels");
}

#[test]
fn the_room_ignores_keys_while_a_text_field_has_focus() {
    let mut window = Window::new();
    window.state().selection.select([RoomObject::Element("news".into())]);
    window.0.get_by_label("Search the shelf").focus();
    window.0.run_steps(2);
    for key in [Key::Delete, Key::Space, Key::ArrowLeft, Key::D, Key::Num3, Key::Enter] {
        window.key(Modifiers::NONE, key);
    }
    assert_eq!(window.commands(), []);
    assert_eq!(window.selected(), [Id::from("news")]);
}

#[test]
fn space_pauses_on_release_unless_it_panned_the_view() {
    let mut window = Window::new();
    let floor = window.screen(0.0, -150.0);
    window.click(floor, Modifiers::NONE);
    window.0.key_down(Key::Space);
    window.0.run_steps(2);
    assert_eq!(window.commands(), [], "not yet");
    window.0.key_up(Key::Space);
    window.0.run_steps(2);
    assert_eq!(window.commands(), [Command::SetPaused(true)], "the room has the focus and nothing was dragged");
    let (ada, before) = (window.agent("ada-1"), window.state().view.camera);
    window.0.key_down(Key::Space);
    window.0.run_steps(2);
    window.drag(ada, ada + vec2(60.0, 0.0));
    window.0.key_up(Key::Space);
    window.0.run_steps(2);
    assert_eq!(window.commands(), [], "neither paused nor dragged");
    assert!(window.state().view.camera.middle.x < before.middle.x - 30.0);
}

#[test]
fn everything_can_be_reached_moved_and_opened_by_keyboard() {
    let mut window = Window::new();
    let floor = window.screen(0.0, -150.0);
    window.click(floor, Modifiers::NONE);
    let mut seen = Vec::new();
    for _ in 0..6 {
        window.key(Modifiers::NONE, Key::Tab);
        seen.extend(window.selected());
    }
    assert_eq!(seen, ["ada-1", "bram-1", "rules", "news", "ideas", "post"].map(Id::from));
    window.key(Modifiers::SHIFT, Key::Tab);
    assert_eq!(window.selected(), [Id::from("ideas")]);
    window.key(Modifiers::NONE, Key::ArrowUp);
    assert_eq!(window.commands(), [Command::Nudge(vec!["ideas".into()], Vec2::new(0.0, 10.0))]);
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(window.state().front.element().map(|id| &**id), Some("ideas"));
    window.key(Modifiers::NONE, Key::Escape);
    window.key(Modifiers::NONE, Key::Tab);
    window.key(Modifiers::NONE, Key::Tab);
    assert!(window.selected().is_empty(), "beyond the last thing");
    let focused = window.0.ctx.memory(|memory| memory.focused());
    assert_ne!(focused, Some(room_widget()), "the keyboard goes on to the next widget");
}

#[test]
fn shortcuts_undo_redo_and_open_the_menu() {
    let mut window = Window::new();
    window.key(Modifiers::COMMAND, Key::Z);
    window.key(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    assert_eq!(window.commands(), [Command::Undo, Command::Redo]);
    window.state().selection.select([RoomObject::Agent("ada-1".into())]);
    window.key(Modifiers::SHIFT, Key::F10);
    window.0.run_steps(3);
    window.choose("Pause");
    assert_eq!(window.acts(), [RoomAct::Agent(AgentCommand::Pause { agent: "ada-1".into() })]);
}

#[test]
fn every_menu_entry_sends_its_command() {
    let ada = || vec![RoomObject::Agent("ada-1".into())];
    for (entry, expected) in [
        ("Duplicate D", Command::Duplicate(ada())),
        ("Copy Ctrl+C", Command::Copy(ada())),
        ("Delete Del", Command::Delete(ada())),
    ] {
        let mut window = Window::new();
        let place = window.agent("ada-1");
        window.menu_at(place);
        let word = entry.split(' ').next().expect("it has one");
        window.choose(word);
        assert_eq!(window.commands(), [expected], "{entry}");
    }
    let mut window = Window::new();
    let place = window.element("rules");
    window.menu_at(place);
    window.choose("Open");
    assert_eq!(window.state().front.element().map(|id| &**id), Some("rules"));
    assert_eq!(window.selected(), [Id::from("rules")]);
}

#[test]
fn the_floor_menu_adds_and_pastes() {
    let mut window = Window::new();
    window.state().transfer.copied = vec![RoomObject::Element("news".into())];
    let floor = window.screen(0.0, -150.0);
    window.menu_at(floor);
    window.choose("Paste");
    let commands = window.commands();
    assert!(matches!(&commands[..], [Command::Paste(place)] if place.distance(Vec2::new(0.0, -150.0)) < 1.0));
    window.menu_at(floor);
    window.choose("Add an element");
    window.choose("Message board");
    let acts = window.acts();
    assert!(matches!(&acts[..], [RoomAct::Element(ElementCommand::Add { keys })] if keys["kind"] == "messageboard"));
}

#[test]
fn dragging_the_minimap_moves_only_the_view() {
    let mut window = Window::new();
    let map = window.0.get_by_label("Minimap").rect();
    let before = window.state().view.camera;
    window.drag(map.center(), map.left_top() + vec2(8.0, 8.0));
    let after = window.state().view.camera;
    assert!(after.middle.x < before.middle.x && after.middle.y > before.middle.y, "{before:?} {after:?}");
    assert_eq!(after.zoom, before.zoom);
    assert_eq!((window.commands(), window.selected()), (vec![], vec![]));
}

#[test]
fn dragging_the_handle_to_an_agent_asks_for_a_relationship_label() {
    let mut window = Window::new();
    let (ada, bram) = (window.agent("ada-1"), window.agent("bram-1"));
    window.move_to(ada);
    let view = window.room().agents[0].clone();
    let handle = paint::handle_place(&view, window.state().view.camera);
    window.move_to(handle);
    window.drag(handle, bram);
    assert_eq!(window.commands(), [], "nothing yet, and no agent was moved");
    window.0.get_by_label("Relationship label").type_text("mentors");
    window.0.run_steps(2);
    window.key(Modifiers::NONE, Key::Enter);
    let add = RelationshipCommand::Add { relationship: tie("ada-1", "bram-1", "mentors"), at: None };
    assert_eq!(window.acts(), [RoomAct::Relate(add)]);
    assert_eq!(window.state().selection.rope(), Some(&tie("ada-1", "bram-1", "mentors")));
    assert_eq!(window.naming(), None);
}

#[test]
fn a_relationship_drag_that_ends_nowhere_or_is_cancelled_adds_nothing() {
    let mut window = Window::new();
    let (bram, floor) = (window.agent("bram-1"), window.screen(0.0, -180.0));
    window.state().selection.select([RoomObject::Agent("ada-1".into())]);
    window.0.run_steps(5);
    let view = window.room().agents[0].clone();
    let handle = paint::handle_place(&view, window.state().view.camera);
    for end in [floor, handle - vec2(20.0, 0.0), pos2(100.0, 500.0)] {
        window.drag(handle, end);
        assert_eq!((window.commands(), window.naming()), (vec![], None), "{end}");
    }
    window.drag(handle, bram);
    assert!(window.naming().is_some());
    window.key(Modifiers::NONE, Key::Escape);
    assert_eq!((window.commands(), window.naming()), (vec![], None));
    assert!(window.0.query_by_label("Relationship label").is_none());
}

#[test]
fn a_relationship_can_be_selected_renamed_and_removed() {
    let mut window = related();
    let camera = window.state().view.camera;
    let middle = paint::relationship_midpoint(window.room(), camera, "ada-1", "bram-1").expect("both are here");
    window.click(middle, Modifiers::NONE);
    assert_eq!(window.state().selection.rope(), Some(&tie("ada-1", "bram-1", "mentors")));
    window.key(Modifiers::NONE, Key::Enter);
    window.0.get_by_label("Relationship label").type_text(" well");
    window.0.run_steps(2);
    window.key(Modifiers::NONE, Key::Enter);
    let relabel =
        RelationshipCommand::Relabel { relationship: tie("ada-1", "bram-1", "mentors"), label: "mentors well".into() };
    assert_eq!(window.acts(), [RoomAct::Relate(relabel)]);
    window.click(middle, Modifiers::NONE);
    window.wait_after_typing();
    window.key(Modifiers::NONE, Key::Delete);
    let remove = RoomAct::Relate(RelationshipCommand::Remove { relationship: tie("ada-1", "bram-1", "mentors") });
    assert_eq!(window.acts(), std::slice::from_ref(&remove));
    window.menu_at(middle);
    window.choose("Delete");
    assert_eq!(window.acts(), [remove]);
    window.double_click(middle);
    assert!(window.naming().as_ref().is_some_and(|naming| !naming.is_new));
}

#[test]
fn the_menu_adds_a_relationship_or_renames_the_existing_one() {
    let mut window = related();
    let place = window.agent("ada-1");
    window.menu_at(place);
    window.choose("Relate to…");
    window.choose("Bram");
    let naming = window.naming().expect("the label is asked for");
    assert!(!naming.is_new && naming.label == "mentors", "the existing relationship is renamed");
    window.key(Modifiers::NONE, Key::Escape);
    let place = window.agent("bram-1");
    window.menu_at(place);
    window.choose("Relate to…");
    window.choose("Ada");
    assert!(window.naming().as_ref().is_some_and(|naming| naming.is_new), "the reverse direction is another");
    window.room().agents.remove(0);
    window.0.run_steps(2);
    assert_eq!(window.naming(), None, "an agent that has left cannot be related");
}
