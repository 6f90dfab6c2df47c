//! Tab navigation in tests: the names of the focused widgets in order, and checks of that order.

use egui::accesskit::Role;
use egui::{Key, Rect, pos2};
use egui_kittest::kittest::NodeT;
use egui_kittest::{Harness, Node};

/// An upper limit, which no window reaches.
const MAX_STOPS: usize = 200;

/// A widget that receives the focus by Tab.
#[derive(Clone, PartialEq, Debug)]
pub struct TabStop {
    /// The accessible name, as a screen reader reads it.
    pub name: String,
    /// The rectangle before anything was scrolled.
    pub place: Rect,
}

/// Returns the widgets focused by repeatedly pressing Tab, until the first one is focused again.
pub fn tab_stops<S>(window: &mut Harness<'_, S>) -> Vec<TabStop> {
    // Clears the focus, to begin at the first widget.
    window.ctx.memory_mut(|memory| memory.focused().into_iter().for_each(|focused| memory.surrender_focus(focused)));
    // Focusing a widget may scroll it into view, so the rectangles are taken before.
    let places: Vec<_> =
        window.root().children_recursive().map(|node| (node.accesskit_node().id(), place_of(&node))).collect();
    let mut seen = Vec::new();
    let mut stops = Vec::new();
    for _ in 0..MAX_STOPS {
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

/// Returns the accessible name; for a clickable text, the text.
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

/// Asserts that the stops are in reading order (row by row, left to right), that each has a name, and that `among` is a
/// subsequence of those names.
pub fn are_as_read(stops: &[TabStop], among: &[&str]) {
    let is_read_after = |one: Rect, next: Rect| {
        let is_one_row = one.y_range().intersection(next.y_range()).span() > 0.0;
        if is_one_row { next.left() >= one.left() } else { next.top() >= one.bottom() }
    };
    for pair in stops.windows(2) {
        assert!(is_read_after(pair[0].place, pair[1].place), "Tab goes from {:?} to {:?}", pair[0], pair[1]);
    }
    let names: Vec<&str> = stops.iter().map(|stop| stop.name.as_str()).collect();
    assert!(names.iter().all(|name| !name.trim().is_empty()), "a widget has no name: {names:?}");
    let mut rest = names.iter();
    for wanted in among {
        assert!(rest.any(|name| name == wanted), "{wanted} is missing or out of order in {names:?}");
    }
}

/// Asserts that every control has a name, whether or not it is focused by Tab.
pub fn controls_have_names<S>(window: &Harness<'_, S>) {
    let mut count = 0;
    for node in window.root().children_recursive() {
        let role = node.accesskit_node().role();
        if is_control(role) {
            count += 1;
            assert!(!name_of(&node).trim().is_empty(), "a {role:?} at {:?} has no name", place_of(&node));
        }
    }
    assert!(count > 0, "there are no controls");
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
