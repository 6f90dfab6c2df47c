//! All texts of the shelf.

pub(super) const HOW_TO_ADD: &str = "Drag something into the room, or double-click it.";
pub(super) const SEARCH_THE_SHELF: &str = "Search the shelf";
pub(super) const SEARCH: &str = "Search";
pub(super) const NO_RESULTS: &str = "No results";
pub(super) const TRY_A_SHORTER_SEARCH: &str = "Try a shorter search.";
pub(super) const AGENTS: &str = "Agents";
pub(super) const ELEMENTS: &str = "Elements";
pub(super) const ADD_YOUR_OWN: &str = "Add your own…";
pub(super) const ADD_CODING_AGENT: &str = "Add your coding agent";
pub(super) const ABOUT_CODING_AGENTS: &str =
    "Claude Code, Codex, Gemini, or any other program that speaks the Agent Client Protocol";
pub(super) const NO_AGENTS: &str = "No agents yet";
pub(super) const HOW_TO_MAKE_AGENTS: &str =
    "Add a Markdown file to the workspace's agents folder, or drop one onto the room.";

/// The number of a kind in the room; empty if there are none.
pub(super) fn here(count: usize) -> String {
    if count == 0 { String::new() } else { format!("{count} here") }
}

pub(super) fn add(name: &str) -> String {
    format!("Add {name}")
}
