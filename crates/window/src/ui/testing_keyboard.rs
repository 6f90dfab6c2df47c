//! The keyboard's way through a window, for tests: what Tab leads to, by name, and whether that is how it is read.

use egui::accesskit::Role;
use egui::{Key, Rect, pos2};
use egui_kittest::kittest::NodeT;
use egui_kittest::{Harness, Node};

/// No window here has as many stops as this.
const STOPS_AT_MOST: usize = 200;

/// What the keyboard comes to.
#[derive(Clone, PartialEq, Debug)]
pub struct TabStop {
    /// Its accessible name: what a screen reader says.
    pub name: String,
    /// Where it stands while nothing is scrolled.
    pub place: Rect,
}

/// Where the keyboard comes to by one press of Tab after another, until it begins again.
pub fn tab_stops<S>(window: &mut Harness<'_, S>) -> Vec<TabStop> {
    // Whatever was clicked before: it begins at the beginning.
    window.ctx.memory_mut(|memory| memory.focused().into_iter().for_each(|focused| memory.surrender_focus(focused)));
    // Who is reached may be scrolled into sight: places are those from before.
    let places: Vec<_> =
        window.root().children_recursive().map(|node| (node.accesskit_node().id(), place_of(&node))).collect();
    let mut seen = Vec::new();
    let mut stops = Vec::new();
    for _ in 0..STOPS_AT_MOST {
        window.key_press(Key::Tab);
        window.run_steps(1);
        let Some(node) = window.root().children_recursive().find(|node| node.is_focused()) else { continue };
        let id = node.accesskit_node().id();
        if seen.contains(&id) {
            break;
        }
        let before = places.iter().find(|(known, _)| *known == id).map(|(_, place)| *place);
        stops.push(TabStop { name: name_of(&node), place: before.unwrap_or_else(|| place_of(&node)) });
        seen.push(id);
    }
    stops
}

/// What a screen reader calls it; a text that can be clicked is its own name.
fn name_of(node: &Node<'_>) -> String {
    let node = node.accesskit_node();
    let text = || node.value().filter(|_| node.role() == Role::Label);
    node.label().or_else(text).unwrap_or_default()
}

fn place_of(node: &Node<'_>) -> Rect {
    let bounds = node.accesskit_node().bounding_box();
    bounds.map_or(Rect::NOTHING, |bounds| {
        Rect::from_min_max(pos2(bounds.x0 as f32, bounds.y0 as f32), pos2(bounds.x1 as f32, bounds.y1 as f32))
    })
}

/// Asserts that the stops stand as they are read, from the left to the right, row by row, that these are among them in
/// this order, and that each has a name.
pub fn are_as_read(stops: &[TabStop], among: &[&str]) {
    let is_read_after = |one: Rect, next: Rect| {
        let is_one_row = one.y_range().intersection(next.y_range()).span() > 0.0;
        if is_one_row { next.left() >= one.left() } else { next.top() >= one.bottom() }
    };
    for pair in stops.windows(2) {
        assert!(is_read_after(pair[0].place, pair[1].place), "it leads from {:?} to {:?}", pair[0], pair[1]);
    }
    let names: Vec<&str> = stops.iter().map(|stop| stop.name.as_str()).collect();
    assert!(names.iter().all(|name| !name.trim().is_empty()), "somebody has no name: {names:?}");
    let mut rest = names.iter();
    for wanted in among {
        assert!(rest.any(|name| name == wanted), "{wanted} has not its turn in {names:?}");
    }
}

/// Asserts that everything that can be pressed, chosen or written into has a name, whether Tab leads to it now or not.
pub fn controls_have_names<S>(window: &Harness<'_, S>) {
    let mut count = 0;
    for node in window.root().children_recursive() {
        let role = node.accesskit_node().role();
        if is_control(role) {
            count += 1;
            assert!(!name_of(&node).trim().is_empty(), "a {role:?} at {:?} has no name", place_of(&node));
        }
    }
    assert!(count > 0, "there is nothing to press");
}

fn is_control(role: Role) -> bool {
    matches!(
        role,
        Role::Button
            | Role::CheckBox
            | Role::ComboBox
            | Role::Link
            | Role::MultilineTextInput
            | Role::PasswordInput
            | Role::RadioButton
            | Role::Slider
            | Role::SpinButton
            | Role::TextInput
    )
}
