//! Tests of arranging furniture: pieces are selected, moved, resized, mirrored, added and removed, and nothing else in
//! the room changes meanwhile.

use super::*;
use crate::simulation::FurnishCommand;
use crate::view::model::DecorView;
use crate::workspace::DecorChange;

fn piece(kind: &str, x: f32, y: f32) -> DecorView {
    DecorView { kind: kind.into(), position: Vec2::new(x, y), size: Vec2::new(120.0, 60.0), turned: false }
}

/// The sample room with a rug and a desk, in arranging mode.
fn arranging() -> Window {
    let mut window = Window::new();
    window.room().decor = vec![piece("rug", 0.0, -150.0), piece("desk", -200.0, -100.0)].into();
    window.key(Modifiers::NONE, Key::L);
    assert!(window.state().view.arranging.is_some());
    window
}

#[track_caller]
fn change(window: &mut Window) -> DecorChange {
    match window.acts().as_slice() {
        [RoomAct::Furnish(FurnishCommand(change))] => change.clone(),
        other => panic!("{other:?} is not one change of furniture"),
    }
}

#[test]
fn a_dragged_piece_snaps_to_the_grid_and_stays_there() {
    let mut window = arranging();
    let (from, to) = (window.screen(-200.0, -100.0), window.screen(-303.0, 42.0));
    window.drag(from, to);
    let now = DecorView { position: Vec2::new(-300.0, 40.0), ..piece("desk", 0.0, 0.0) };
    assert_eq!(change(&mut window), DecorChange::Change { was: piece("desk", -200.0, -100.0), now: now.clone() });
    assert_eq!(window.state().view.arranging.clone().and_then(|arranging| arranging.chosen), Some(now));
}

#[test]
fn dragging_a_corner_resizes_a_rug_and_dragging_the_floor_pans() {
    let mut window = arranging();
    let (rug, corner, out) = (window.screen(0.0, -150.0), window.screen(60.0, -180.0), window.screen(101.0, -219.0));
    window.click(rug, Modifiers::NONE);
    window.drag(corner, out);
    let DecorChange::Change { now, .. } = change(&mut window) else { panic!("it was changed") };
    assert_eq!((now.position, now.size), (Vec2::new(20.0, -170.0), Vec2::new(160.0, 100.0)));
    let before = window.state().view.camera.middle;
    let (from, to) = (window.screen(300.0, 0.0), window.screen(200.0, 0.0));
    window.drag(from, to);
    assert!(window.state().view.camera.middle.x > before.x + 20.0);
    assert_eq!(window.commands(), []);
}

#[test]
fn keys_mirror_and_remove_the_chosen_piece_and_escape_ends_arranging() {
    let mut window = arranging();
    let desk = window.screen(-200.0, -100.0);
    window.click(desk, Modifiers::NONE);
    window.wait_after_typing();
    window.key(Modifiers::NONE, Key::M);
    let was = piece("desk", -200.0, -100.0);
    let turned = DecorView { turned: true, ..was.clone() };
    assert_eq!(change(&mut window), DecorChange::Change { was: was.clone(), now: turned });
    window.click(desk, Modifiers::NONE);
    window.key(Modifiers::NONE, Key::Delete);
    assert_eq!(change(&mut window), DecorChange::Remove { decor: was });
    window.key(Modifiers::NONE, Key::Escape);
    window.key(Modifiers::NONE, Key::Escape);
    assert!(window.state().view.arranging.is_none());
}

#[test]
fn agents_cannot_be_selected_or_dragged_while_arranging() {
    let mut window = arranging();
    let (ada, elsewhere) = (window.agent("ada-1"), window.screen(-150.0, -60.0));
    window.click(ada, Modifiers::NONE);
    assert!(window.selected().is_empty());
    window.drag(ada, elsewhere);
    assert_eq!(window.commands(), []);
    assert!(!window.is_holding());
}

#[test]
fn a_new_piece_is_added_in_the_middle_of_the_view_and_chosen() {
    let mut window = arranging();
    window.0.get_by_label("Add bench").click();
    window.0.run_steps(3);
    let DecorChange::Add { decor, at: None } = change(&mut window) else { panic!("it was added") };
    let middle = (window.state().view.camera.middle / 10.0).round() * 10.0;
    assert_eq!((&*decor.kind, decor.position), ("bench", middle));
    window.room().decor = vec![decor.clone()].into();
    window.0.run_steps(2);
    window.key(Modifiers::NONE, Key::Delete);
    assert_eq!(change(&mut window), DecorChange::Remove { decor });
}
