//! Interface texts of the window state.

// Titles of tabs

pub(super) const SHELF: &str = "Shelf";
pub(super) const FILES: &str = "Files";
pub(super) const ROOM: &str = "Room";
pub(super) const GRAPH: &str = "Graph";
pub(super) const INSPECTOR: &str = "Inspector";
pub(super) const CONVERSATIONS: &str = "Conversations";
pub(super) const EVENT_LOG: &str = "Event log";

// Running jobs

pub(super) fn running(job: &str) -> String {
    format!("{job}…")
}

pub(super) fn running_percent(job: &str, percent: f32) -> String {
    format!("{job}, {percent:.0} %")
}

pub(super) fn cancelling(job: &str) -> String {
    format!("{job}, cancelling")
}

// Times and places

pub(super) const AT_AN_UNKNOWN_TIME: &str = "at an unknown time";

pub(super) fn place_in_file(file: &str, line: usize) -> String {
    format!("{file}, line {line}")
}
