//! All texts of the area that contains the panes.

pub(crate) const UNKNOWN_PANE_HINT: &str = "This version does not have this pane. Close the tab.";

pub(crate) fn unknown_pane(word: &str) -> String {
    format!("Unknown pane: {word}")
}
