//! All texts of the editor.

use crate::ui::widgets::text_format;

// The toolbar and the status of the file

pub(super) const SAVE: &str = "Save";
pub(super) const FIND_AND_REPLACE: &str = "Find and replace";
pub(super) const WRAP: &str = "Wrap";
pub(super) const PREVIEW: &str = "Preview";
pub(super) const HISTORY: &str = "History";

pub(super) const SAVES_THE_FILE: &str = "Saves the file";
pub(super) const SAVING: &str = "Saving…";
pub(super) const NOTHING_TO_SAVE: &str = "Nothing to save";
pub(super) const RESOLVE_FIRST: &str = "Resolve the other changes first";

pub(super) const IS_SAVING: &str = "saving";
pub(super) const IS_NEW: &str = "new file";
pub(super) const IS_SAVED: &str = "saved";
pub(super) const IS_DRAFT: &str = "draft, applied after work";
pub(super) const IS_UNSAVED: &str = "unsaved";
pub(super) const IS_CHANGED_BY_OTHERS: &str = "changed by someone else";

// The text

pub(super) const LOADING_FILE: &str = "Loading file…";
pub(super) const LOADING_HIGHLIGHTING: &str = "Loading syntax highlighting";
pub(super) const NOT_TEXT: &str = "This file cannot be shown as text";
pub(super) const OPEN_IN_ANOTHER_PROGRAM: &str = "Open in another program";
pub(super) const FILE_DOES_NOT_EXIST: &str =
    "This file does not exist. Saving creates it; earlier versions are in its history.";
pub(super) const FILE_IS_EMPTY: &str = "This file is empty. Write something.";

pub(super) fn text_of(path: &str) -> String {
    format!("Text of {path}")
}

// The status line

pub(super) const KEYS_HINT: &str = "Tab indents; Escape leaves the editor";
pub(super) const PREVIOUS_PART: &str = "Previous part";
pub(super) const NEXT_PART: &str = "Next part";
pub(super) const PARTS_HINT: &str = "Long files are edited in parts to keep typing fast; search covers the whole file";

/// The cursor position and the size of the text.
pub(super) fn cursor_and_size(line: usize, column: usize, lines: usize, bytes: usize) -> String {
    let lines = text_format::count(lines, "line", "lines");
    format!("Line {line}, column {column} · {lines}, {}", text_format::size(bytes as u64))
}

pub(super) fn part(number: usize, count: usize) -> String {
    format!("Part {number} of {count}")
}

pub(super) fn too_large_to_highlight(max_bytes: usize) -> String {
    format!("No highlighting: larger than {}", text_format::size(max_bytes as u64))
}

// Problems

pub(super) const TOO_LARGE_TO_CHECK: &str = "Too large to check while typing; it is checked when saved";
pub(super) const FIX_THAT_LINE: &str = "fix that line";
pub(super) const FIX_THAT_LINE_OF_YAML: &str = "fix that line; until then the whole file is ignored";

pub(super) fn not_yaml(why: &str) -> String {
    format!("not valid YAML: {why}")
}

pub(super) fn not_json(why: &str) -> String {
    format!("not valid JSON: {why}")
}

/// A problem with its position and remedy.
pub(super) fn problem((line, column): (Option<usize>, Option<usize>), what: &str, remedy: &str) -> String {
    let place = match (line, column) {
        (Some(line), Some(column)) => format!("Line {line}, column {column}: "),
        (Some(line), None) => format!("Line {line}: "),
        (None, _) => String::new(),
    };
    format!("{place}{what} ({remedy})")
}

// Banners: someone else changed or deleted the file

pub(super) const CHANGED_MEANWHILE: &str = "Someone else changed this file while you were editing.";
pub(super) const DELETED_MEANWHILE: &str = "Someone else deleted this file while you were editing.";

pub(super) const MERGE: &str = "Merge";
pub(super) const KEEP_MINE: &str = "Keep mine";
pub(super) const USE_THEIRS: &str = "Use theirs";
pub(super) const COMPARE: &str = "Compare";
pub(super) const STOP_COMPARING: &str = "Stop comparing";
pub(super) const SAVE_AGAIN: &str = "Save again";
pub(super) const CLOSE: &str = "Close";
pub(super) const DISCARD_MY_CHANGES: &str = "Discard my changes";

pub(super) const MERGE_TIP: &str = "Merges both; asks where both changed the same lines";
pub(super) const KEEP_MINE_TIP: &str = "Your next save overwrites the other changes";
pub(super) const COMPARE_TIP: &str = "Shows the other version beside yours";
pub(super) const SAVE_AGAIN_TIP: &str = "Restores the file with your text";
pub(super) const DISCARDS_CHANGES_TIP: &str = "Discards your changes";

pub(super) fn no_longer_readable(why: &str) -> String {
    format!("The file can no longer be shown: {why}. Your changes are kept.")
}

// Banners: an agent of the file is working

pub(super) const APPLY: &str = "Apply";
pub(super) const APPLY_TIP: &str = "Changes the agent while it works";
pub(super) const DO_NOT_APPLY: &str = "Do not apply";
pub(super) const DO_NOT_APPLY_TIP: &str = "Keeps the draft without saving it";

/// The names of working agents, and the number of further ones.
pub(super) fn agents_working(names: &[&str], more: usize) -> String {
    match names {
        [one] if more == 0 => format!("{one} is working"),
        [first @ .., last] if more == 0 => format!("{} and {last} are working", first.join(", ")),
        names => format!("{} and {more} more are working", names.join(", ")),
    }
}

pub(super) fn changes_are_kept(working: &str) -> String {
    format!("{working}. Your changes are kept as a draft and applied when the work ends; Apply changes the agent now.")
}

pub(super) fn changes_are_a_draft(working: &str) -> String {
    format!("{working}. Your changes are a draft and are applied when the work ends.")
}

// Banners: errors

pub(super) const DISMISS: &str = "Dismiss";
pub(super) const MUST_RESOLVE_FIRST: &str = "resolve the other changes first";

pub(super) fn failed(why: &str) -> String {
    format!("Failed: {why}")
}

// Find and replace

pub(super) const FIND: &str = "Find";
pub(super) const REPLACE_WITH: &str = "Replace with";
pub(super) const FIRST_GROUP_HINT: &str = "$1 is the first group";
pub(super) const CASE: &str = "Aa";
pub(super) const WORD: &str = "Word";
pub(super) const EXPRESSION: &str = ".*";
pub(super) const MATCH_CASE: &str = "Match case";
pub(super) const MATCH_WHOLE_WORD: &str = "Match whole word";
pub(super) const REGULAR_EXPRESSION: &str = "Regular expression";
pub(super) const PREVIOUS: &str = "Previous";
pub(super) const NEXT: &str = "Next";
pub(super) const SHOW_REPLACE: &str = "Replace…";
pub(super) const HIDE_REPLACE: &str = "Hide replace";
pub(super) const CLOSE_SEARCH: &str = "Close search";
pub(super) const REPLACE: &str = "Replace";
pub(super) const REPLACE_ALL: &str = "Replace all";
pub(super) const NOT_FOUND: &str = "not found";
pub(super) const EXPRESSION_TOO_LARGE: &str = "The expression is too large; shorten it";

pub(super) fn found(count: usize) -> String {
    format!("{count} found")
}

pub(super) fn found_more_than(count: usize) -> String {
    format!("more than {count}")
}

pub(super) fn found_at(number: usize, count: usize) -> String {
    format!("{number} of {count}")
}

pub(super) fn replaced(count: usize) -> String {
    format!("{count} replaced")
}

pub(super) fn invalid_expression(why: &str) -> String {
    format!("Invalid expression: {why}")
}

// Preview

pub(super) const NOTHING_TO_PREVIEW: &str = "Nothing to preview yet";

pub(super) fn preview_is_cut(bytes: usize) -> String {
    format!("Preview shows {} from the start of the open part", text_format::size(bytes as u64))
}

// Preview of an agent document: its tools and their test runs

pub(super) const NO_TOOLS: &str = "No tools yet: a <Tool name=\"…\" description=\"…\"> with a ```ts block makes one";
pub(super) const SCHEMA: &str = "What a model is told of its parameters";
pub(super) const TRY: &str = "Try";
pub(super) const TRY_TIP: &str = "Runs the code with these values as a call would, without accessing files or servers";
pub(super) const STOP: &str = "Stop";
pub(super) const STOPPED: &str = "stopped";
pub(super) const ACCESS_REFUSED: &str = "this is a test: files and servers are not accessed";

pub(super) fn try_tool(tool: &str) -> String {
    format!("Try {tool}")
}

pub(super) fn parameter_kind(kind: &str, is_required: bool) -> String {
    format!("{kind}{}", if is_required { "" } else { ", optional" })
}

pub(super) fn value_of(parameter: &str) -> String {
    format!("Value of {parameter}")
}

pub(super) fn would_request(url: &str, method: &str) -> String {
    format!("It would request {url} ({method})")
}

pub(super) fn would_read(path: &str) -> String {
    format!("It would read {path}")
}

pub(super) fn would_write(characters: usize, path: &str) -> String {
    format!("It would write {} to {path}", text_format::count(characters, "character", "characters"))
}

pub(super) fn would_prompt(message: &str) -> String {
    format!("It would prompt its agent: {message}")
}

// History

pub(super) const LOADING_VERSIONS: &str = "Loading versions…";
pub(super) const VERSIONS_NOT_LOADED: &str = "Versions could not be loaded";
pub(super) const NO_VERSIONS: &str = "No versions yet";
pub(super) const NO_VERSIONS_HINT: &str = "A version is kept each time the file is saved.";
pub(super) const BEFORE: &str = "Before";
pub(super) const AFTER: &str = "After";
pub(super) const SIDE_BY_SIDE: &str = "Side by side";
pub(super) const ONE_COLUMN: &str = "One column";
pub(super) const RESTORE_TIP: &str = "Saves that version again as a new one; nothing is lost";
pub(super) const DISCARD_AND_RESTORE: &str = "Discard and restore";
pub(super) const KEEP_MY_CHANGES: &str = "Keep my changes";

/// The accessible name of a version; the current text has no number.
pub(super) fn version_name(number: Option<u64>) -> String {
    number.map_or_else(|| "current text".to_owned(), |number| format!("version {number}"))
}

pub(super) fn before(version: &str) -> String {
    format!("{BEFORE}: {version}")
}

pub(super) fn after(version: &str) -> String {
    format!("{AFTER}: {version}")
}

pub(super) fn current_text(is_unsaved: bool) -> String {
    format!("Current text{}", if is_unsaved { ", with unsaved changes" } else { "" })
}

pub(super) fn version(number: u64) -> String {
    format!("Version {number}")
}

pub(super) fn version_details(author: &str, when: &str, characters: &str) -> String {
    format!("{author}, {when}, {characters} characters")
}

pub(super) fn restore_version(number: u64) -> String {
    format!("Restore version {number}")
}

pub(super) fn restore_question(number: u64) -> String {
    format!("Version {number} replaces your unsaved changes. Restore it?")
}

pub(super) fn loading_version(number: u64) -> String {
    format!("Loading version {number}…")
}

pub(super) fn version_not_loaded(number: u64, why: &str) -> String {
    format!("Version {number} could not be loaded: {why}")
}

pub(super) fn version_not_kept(number: u64) -> String {
    format!("The text of version {number} was not kept")
}
