//! Interface texts of the area of the panes.

pub(crate) const UNKNOWN_PANE_HINT: &str = "This version does not have this pane. Close the tab.";

pub(crate) fn unknown_pane(word: &str) -> String {
    format!("Unknown pane: {word}")
}
