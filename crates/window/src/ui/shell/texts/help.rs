//! Interface texts of the list of shortcuts and gestures, and of the first steps.

// Shortcuts and gestures
pub(crate) const SHORTCUTS_AND_GESTURES: &str = "Shortcuts and gestures";
/// Follows “Close”.
pub(crate) const CLOSES_KEYS: &str = "keys";
pub(crate) const SHORTCUTS: &str = "Shortcuts";
pub(crate) const GESTURES: &str = "Gestures";

/// Mouse gestures and their effects.
pub(crate) const GESTURES_AND_MEANINGS: [(&str, &str); 13] = [
    ("Drag empty floor", "Move the view"),
    ("Scroll or pinch", "Zoom at the pointer"),
    ("Drag from the shelf", "Add it to the room"),
    ("Drop with Alt or Ctrl", "Place it exactly there"),
    ("Drop a file or folder", "Add agents or open a scene"),
    ("Drag an agent", "Move it; it stays where you drop it"),
    ("Drag an agent's handle", "Relate it to another agent"),
    ("Hold space and drag", "Move the view"),
    ("Click, Shift and click", "Select one, select several"),
    ("Shift and drag", "Select everything in a box"),
    ("Double-click an element", "Open its contents"),
    ("Right-click", "Show the menu"),
    ("Drag a tab", "Move a pane"),
];

pub(crate) fn alternatives(keys: &[String]) -> String {
    keys.join(" or ")
}

// First steps
pub(crate) const WELCOME: &str = "Welcome to the workshop";
pub(crate) const CLOSE_THE_HINT: &str = "Close the hint";
pub(crate) const ADD_AN_AGENT: &str = "Add an agent";
pub(crate) const ADD_AN_AGENT_HOW: &str = "Drag an agent from the shelf onto the floor.";
pub(crate) const CHANGE_THE_RULES: &str = "Change the rules";
pub(crate) const CHANGE_THE_RULES_HOW: &str = "Double-click the rulebook, write a line and save it.";
pub(crate) const SHOW_THOUGHTS: &str = "Show thoughts";
pub(crate) const SHOW_THOUGHTS_HOW: &str = "Turn on the debug overlay: what everyone does, and why.";
pub(crate) const NO_COST_YET: &str =
    "Answers come from the offline brain until you choose a provider: no network, no cost.";
pub(crate) const DONE: &str = "Done";
pub(crate) const GOT_IT: &str = "Got it";
pub(crate) const DO_NOT_SHOW_AGAIN: &str = "Don't show this again";

pub(crate) fn step_name(title: &str, is_done: bool) -> String {
    if is_done { format!("Step: {title}, done") } else { format!("Step: {title}") }
}
