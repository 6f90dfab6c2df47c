//! All texts of the event log.

use crate::base::Seq;
use crate::view::event_text::thousands;

// The pane
pub(super) const EVENT_LOG: &str = "Event log";
pub(super) const ROWS_OF_THE_LOG: &str = "Rows of the event log";
pub(super) const NO_EVENTS_YET: &str = "No events yet";
pub(super) const NO_EVENTS_HINT: &str = "Resume the room or give an agent a task. Events appear here.";
pub(super) const NO_RESULTS: &str = "No results";
pub(super) const NO_RESULTS_HINT: &str = "Clear the filters or use fewer words.";
pub(super) const WHOLE_LOG: &str = "Whole log";
pub(super) const WHOLE_LOG_HINT: &str = "Shows everything, with filters";

// The bar: search and filters
pub(super) const SEARCH: &str = "Search";
pub(super) const SEARCH_THE_LOG: &str = "Search the log";
pub(super) const AGENT_FILTER: &str = "Agent filter";
pub(super) const ALL_AGENTS: &str = "All agents";
pub(super) const TYPE_FILTER: &str = "Type filter";
pub(super) const ALL_TYPES: &str = "All types";
pub(super) const TOOL_FILTER: &str = "Tool filter";
pub(super) const ALL_TOOLS: &str = "All tools";
pub(super) const SEVERITY_FILTER: &str = "Severity filter";
pub(super) const EVERYTHING: &str = "Everything";
pub(super) const WARNINGS_AND_ERRORS: &str = "Warnings and errors";
pub(super) const ERRORS: &str = "Errors";
pub(super) const RUN_FILTER: &str = "Run filter";
pub(super) const ALL_RUNS: &str = "All runs";
pub(super) const CLEAR_FILTERS: &str = "Clear filters";

pub(super) fn kind_and_more(kind: &str, more: usize) -> String {
    format!("{kind} and {more} more")
}

// The bar: the number of rows
pub(super) const STILL_COUNTING: &str = "Still counting";

pub(super) fn hits_of(hits: u64, total: u64) -> String {
    format!("{} of {}", thousands(hits), thousands(total))
}

pub(super) fn hits_so_far(hits: u64, total: u64) -> String {
    format!("{} so far of {}", thousands(hits), thousands(total))
}

pub(super) fn records(number: u64) -> String {
    format!("{} {}", thousands(number), if number == 1 { "record" } else { "records" })
}

pub(super) fn records_and_folded(shown: u64, folded: u64) -> String {
    format!("{}, {} folded", records(shown), thousands(folded))
}

// The bar: display options
pub(super) const SHOW_EVERYTHING: &str = "Show everything";
pub(super) const SHOW_EVERYTHING_HINT: &str = "Also show states, heartbeats and planned actions";
pub(super) const FOLLOW: &str = "Follow";
pub(super) const FOLLOW_HINT: &str = "Keeps the newest row in view";
pub(super) const SIMULATED: &str = "Simulated";
pub(super) const SIMULATED_TIME: &str = "Simulated time";
pub(super) const CLOCK: &str = "Clock";
pub(super) const CLOCK_TIME: &str = "Clock time";
pub(super) const EXPORT_JSON: &str = "Export JSON";
pub(super) const EXPORT_HINT: &str = "Writes the log of this run into the workspace's exports";

// The bar: runs
pub(super) const RUN: &str = "Run";
pub(super) const THE_OPEN_RUN: &str = "The open run";
pub(super) const BACK_TO_THE_OPEN_RUN: &str = "Back to the open run";
pub(super) const LOADING_RUNS: &str = "Loading runs…";
pub(super) const NO_EARLIER_RUNS: &str = "No earlier runs in this workspace.";
pub(super) const NOT_ENDED: &str = "not ended";

pub(super) fn runs_not_loaded(why: &str) -> String {
    format!("Runs could not be loaded: {why}")
}

pub(super) fn scene_and_time(scene: &str, when: &str) -> String {
    format!("{scene}, {when}")
}

pub(super) fn run_in_a_line(scene: &str, when: &str, end: &str) -> String {
    format!("{scene}, {when}: {end}")
}

// Rows
pub(super) const JUMP_TO_NEWEST: &str = "Jump to newest";
pub(super) const JUMP_TO_NEWEST_HINT: &str = "Jumps to the newest row and follows it";

pub(super) fn new_rows(number: u64) -> String {
    format!("{} new", thousands(number))
}

pub(super) fn row_name(seq: Seq, kind: &str, agent: Option<&str>, text: &str) -> String {
    match agent {
        Some(agent) => format!("Record {seq}: {kind}, {agent}, {text}"),
        None => format!("Record {seq}: {kind}, {text}"),
    }
}

// The card of a record
pub(super) const CLOSE_CARD: &str = "Close card";
pub(super) const NOT_AVAILABLE: &str = "This record is not available";
pub(super) const NOT_AVAILABLE_HINT: &str = "It is older than the window keeps, or belongs to a run that is not shown.";
pub(super) const IS_COLLAPSED: &str = "This record is collapsed in the list.";
pub(super) const IS_FILTERED_OUT: &str = "The filters hide this record in the list.";
pub(super) const SHOW_RECORD: &str = "Show record";
pub(super) const SHOW_RECORD_NAME: &str = "Clear the filters and show this record";
pub(super) const SHOW_AGENT: &str = "Show agent";
pub(super) const AGENT_IS_GONE: &str = "It is no longer in the room";
pub(super) const SHOW_FILE: &str = "Show file";
pub(super) const SHOW_CONVERSATION: &str = "Show conversation";
pub(super) const COPY_AS_JSON: &str = "Copy as JSON";
pub(super) const COPY_AS_JSON_HINT: &str = "As in the exported log";
pub(super) const IS_A_WARNING: &str = "This is a warning";
pub(super) const IS_AN_ERROR: &str = "This is an error";

pub(super) fn record(seq: Seq) -> String {
    format!("Record {seq}")
}

pub(super) fn record_copied(seq: Seq) -> String {
    format!("Record {seq} was copied")
}

// The card of a record: its fields
pub(super) const FIELDS: &str = "Fields";
pub(super) const TIME: &str = "Time";
pub(super) const TICK: &str = "Tick";
pub(super) const AGENT: &str = "Agent";
pub(super) const WORK: &str = "Work";
pub(super) const SESSION: &str = "Session";
pub(super) const TOOL: &str = "Tool";
pub(super) const FILE: &str = "File";

pub(super) fn both_times(simulated: &str, clock: &str) -> String {
    format!("{simulated} ({clock})")
}

pub(super) fn name_and_id(name: &str, id: &str) -> String {
    format!("{name} ({id})")
}

// The card of a record: causes and effects
pub(super) const BECAUSE_OF: &str = "Caused by";
pub(super) const AND_FURTHER_BACK: &str = "earlier causes";
pub(super) const NO_CAUSES: &str = "No causes in the log.";
pub(super) const CONSEQUENCES: &str = "Consequences";
pub(super) const LED_TO: &str = "Led to";
pub(super) const NOTHING_SO_FAR: &str = "Nothing so far.";

pub(super) fn goes_to_record(seq: Seq) -> String {
    format!("Goes to record {seq}")
}

pub(super) fn cause_is_missing(seq: Seq) -> String {
    format!("Record {seq}, which is not available.")
}

pub(super) fn causes_form_a_loop(seq: Seq) -> String {
    format!("Record {seq} again: these causes form a loop.")
}

pub(super) fn and_what_came_before(seq: Seq) -> String {
    format!("Record {seq} and what came before it.")
}

pub(super) fn and_more(number: u64) -> String {
    format!("and {} more", thousands(number))
}

pub(super) fn link_name(relation: &str, seq: Seq, text: &str) -> String {
    format!("{relation} record {seq}: {text}")
}

pub(super) fn link_hint(kind: &str, seq: Seq) -> String {
    format!("{kind}, record {seq}")
}

// The card of a record: its data
pub(super) const DATA: &str = "Data";

pub(super) fn more_characters(number: u64) -> String {
    match number {
        1 => "1 more character; a copy includes all of them.".to_owned(),
        many => format!("{} more characters; a copy includes all of them.", thousands(many)),
    }
}
