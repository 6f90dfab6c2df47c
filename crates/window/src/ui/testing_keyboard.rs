//! Tab navigation for tests: the names of the focused widgets in order, and whether that is the reading order.

use egui::accesskit::Role;
use egui::{Key, Rect, pos2};
use egui_kittest::kittest::NodeT;
use egui_kittest::{Harness, Node};

/// No window here has more stops.
const STOPS_AT_MOST: usize = 200;

/// A widget that Tab leads to.
#[derive(Clone, PartialEq, Debug)]
pub struct TabStop {
    /// Its accessible name, which a screen reader says.
    pub name: String,
    /// Its place before anything is scrolled.
    pub place: Rect,
}

/// The stops of pressing Tab again and again until it starts over.
pub fn tab_stops<S>(window: &mut Harness<'_, S>) -> Vec<TabStop> {
    // Whatever was focused before: it starts at the beginning.
    window.ctx.memory_mut(|memory| memory.focused().into_iter().for_each(|focused| memory.surrender_focus(focused)));
    // A focused widget may be scrolled into view: these are the places from before.
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

/// The name that a screen reader says; a clickable text is its own name.
pub fn name_of(node: &Node<'_>) -> String {
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

/// Asserts that the stops are in reading order (from left to right, row by row), that these names are among them in
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

/// Asserts that every control has a name, whether Tab leads to it now or not.
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
