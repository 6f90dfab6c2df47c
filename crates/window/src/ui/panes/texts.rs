//! The titles of the tabs of panes.

pub(super) const SHELF: &str = "Shelf";
pub(super) const FILES: &str = "Files";
pub(super) const ROOM: &str = "Room";
pub(super) const GRAPH: &str = "Graph";
pub(super) const EDITOR: &str = "Editor";
pub(super) const INSPECTOR: &str = "Inspector";
pub(super) const CONVERSATIONS: &str = "Conversations";
pub(super) const EVENT_LOG: &str = "Event log";
