//! All texts of the canvas, which shows the room.

use crate::ui::widgets::text_format;

// The room, and what lies over its edges

pub(super) const ROOM: &str = "The room";
pub(super) const MINIMAP: &str = "Minimap";
pub(super) const DEBUG_OVERLAY: &str = "Debug overlay";

// Menus

pub(super) const WHEN_IDLE: &str = "When idle";
pub(super) const RELATE_TO: &str = "Relate to…";
pub(super) const RELATIONSHIPS: &str = "Relationships";
pub(super) const RELATED_TO: &str = "related to";
pub(super) const RELATIONSHIP_TIP: &str = "Selects it; Enter renames, Delete removes";
pub(super) const ADD_AN_AGENT: &str = "Add an agent";
pub(super) const ADD_AN_ELEMENT: &str = "Add an element";

/// A relationship, as "from: label to".
pub(super) fn relationship(from: &str, label: &str, to: &str) -> String {
    format!("{from}: {label} {to}")
}

// The name of a relationship

pub(super) const RELATIONSHIP_LABEL: &str = "Relationship label";
pub(super) const AGENT_HAS_LEFT: &str = "No relationship was added: one of the two has left the room.";

pub(super) fn relationship_hint(from: &str, to: &str) -> String {
    format!("What {from} is to {to}")
}

// Drag and drop

pub(super) const DRAG_AN_AGENT_HERE: &str = "Drag an agent here";
pub(super) const DRAG_FROM_SHELF: &str = "Drag an agent from the shelf, or right-click the floor.";
pub(super) const RIGHT_CLICK_FLOOR: &str = "Right-click the floor to add an agent.";
pub(super) const DROPPED_FILES_HINT: &str = "Agent files become agents; scene files are opened";

pub(super) fn drop_file(name: &str) -> String {
    format!("Drop {name} here")
}

pub(super) fn drop_files(count: usize) -> String {
    format!("Drop {} here", text_format::count(count, "file", "files"))
}

pub(super) fn left_during_drag(who: &str) -> String {
    format!("{who} left the room while you were dragging it.")
}

// Arranging furniture

pub(super) const FURNITURE: &str = "The furniture";
pub(super) const ARRANGE_HINT: &str = "Click a piece to add it, then drag it. Hold Alt to place it exactly.";
pub(super) const DONE: &str = "Done";
pub(super) const REMOVE: &str = "Remove";
pub(super) const MIRROR: &str = "Mirror";

pub(super) fn add_kind(kind: &str) -> String {
    format!("Add {kind}")
}

/// The chosen piece with its width and depth.
pub(super) fn piece(kind: &str, width: f32, depth: f32) -> String {
    format!("{}, {width} by {depth}", text_format::capitalised(kind))
}

// The hover card of an agent

pub(super) const WHY: &str = "Why";
pub(super) const NEXT: &str = "Next";
pub(super) const NOTHING_QUEUED: &str = "Nothing queued";
pub(super) const INBOX: &str = "Inbox";

pub(super) fn next_and_more(next: &str, more: usize) -> String {
    format!("{next}, and {more} more")
}

pub(super) fn unread_messages(count: usize) -> String {
    text_format::count(count, "unread message", "unread messages")
}

// The hover card of an element

pub(super) const CONTENTS: &str = "Contents";
pub(super) const VERSION: &str = "Version";
pub(super) const READING_NOW: &str = "Reading it now";
pub(super) const UP_TO_DATE: &str = "Up to date";
pub(super) const NO_ONE_YET: &str = "No one yet";
pub(super) const READ_AN_OLDER_VERSION: &str = "Read an older version";
pub(super) const NOT_YET: &str = "Not yet";
pub(super) const LAST_CHANGE: &str = "Last change";

/// Appended to the name of a reader who read an older version.
pub(super) fn version_suffix(number: u32) -> String {
    format!(" (version {number})")
}

pub(super) fn changed_ago(change: &str, duration: &str) -> String {
    format!("{change}, {duration} ago")
}

pub(super) fn names_and_more(names: &str, more: usize) -> String {
    format!("{names} and {more} more")
}

// The debug overlay

pub(super) fn state_and_duration(state: &str, duration: &str) -> String {
    format!("{state} {duration}")
}

pub(super) fn refused(what: &str) -> String {
    format!("not done: {what}")
}

pub(super) fn and_more(count: usize) -> String {
    format!("and {count} more")
}

pub(super) fn notes_and_elements(notes: usize, elements: usize) -> String {
    let elements = text_format::count(elements, "element", "elements");
    format!("{}, {elements} known", text_format::count(notes, "note", "notes"))
}

pub(super) fn last_prompt(tokens: &str) -> String {
    format!("last prompt {tokens} tokens")
}

pub(super) fn spent(tokens: &str, cost: &str) -> String {
    format!("{tokens} tokens, {cost}")
}
