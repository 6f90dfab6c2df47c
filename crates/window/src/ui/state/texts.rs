//! All texts of the state of the window.

// Titles of tabs

pub(super) const SHELF: &str = "Shelf";
pub(super) const FILES: &str = "Files";
pub(super) const ROOM: &str = "Room";
pub(super) const GRAPH: &str = "Graph";
pub(super) const INSPECTOR: &str = "Inspector";
pub(super) const CONVERSATIONS: &str = "Conversations";
pub(super) const EVENT_LOG: &str = "Event log";

// Jobs under way

pub(super) fn under_way(job: &str) -> String {
    format!("{job} …")
}

pub(super) fn under_way_by(job: &str, percent: f32) -> String {
    format!("{job}, {percent:.0} %")
}

pub(super) fn cancelling(job: &str) -> String {
    format!("{job}, cancelling")
}

// When and where something was

pub(super) const AT_AN_UNKNOWN_TIME: &str = "at an unknown time";

pub(super) fn place_in_file(file: &str, line: usize) -> String {
    format!("{file}, line {line}")
}
