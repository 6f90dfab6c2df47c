//! All texts of the blackboard pane.

use crate::gateway::ExchangeCounts;
use crate::ui::widgets::text_format;

// The pane

pub(super) const BLACKBOARD: &str = "Blackboard";
pub(super) const SHOW_BLACKBOARD: &str = "Show blackboard and channels";
pub(super) const BLACKBOARD_IS_EMPTY: &str = "The blackboard is empty";
pub(super) const HOW_VALUES_COME: &str =
    "Agents at work write values here with blackboard_write, and send messages to channels with publish.";

// Blackboards of runs

pub(super) const A_PAST_RUN: &str = "A past run";
pub(super) const RUN_HAS_ENDED: &str = "This run has ended; its blackboard can no longer be changed.";
pub(super) const FROM_EARLIER_RUNS: &str = "From earlier runs";
pub(super) const ABOUT_EARLIER_RUNS: &str =
    "Agents in later runs read this. It is kept in memory/knowledge/blackboard.yaml.";
pub(super) const FIND_ENTRIES: &str = "Find entries";
pub(super) const FIND_BY_NAME_OR_VALUE: &str = "Find by name or value";
pub(super) const NO_RESULTS: &str = "No results";
pub(super) const NAME_OF_A_NEW_ENTRY: &str = "Name of a new entry";

/// The owner and task of a run.
pub(super) fn run_for(whose: &str, task: &str) -> String {
    format!("{whose}: {task}")
}

/// How much the agents of a run exchanged.
pub(super) fn exchanged(counts: &ExchangeCounts) -> String {
    format!("In this run: {counts}")
}

pub(super) fn new_entry_of(run: &str) -> String {
    format!("New entry of {run}")
}

pub(super) fn show_more(count: usize, left: usize) -> String {
    format!("Show {count} more of {}", text_format::count(left, "entry", "entries"))
}

// An entry

pub(super) const EDIT: &str = "Edit";
pub(super) const REMOVE: &str = "Remove";
pub(super) const KEEP_FOR_LATER_RUNS: &str = "Keep for later runs";
pub(super) const SHOW_ALL: &str = "Show all";
pub(super) const SHOW_LESS: &str = "Show less";
pub(super) const WHAT_A_VALUE_IS: &str = "JSON or plain text";
pub(super) const SAVE: &str = "Save";
pub(super) const CANCEL: &str = "Cancel";

pub(super) fn edit_entry(entry: &str) -> String {
    format!("Edit {entry}")
}

pub(super) fn remove_entry(entry: &str) -> String {
    format!("Remove {entry}")
}

pub(super) fn keep_entry_for_later_runs(entry: &str) -> String {
    format!("Keep {entry} for later runs")
}

pub(super) fn show_all_of(entry: &str) -> String {
    format!("Show all of {entry}")
}

pub(super) fn show_less_of(entry: &str) -> String {
    format!("Show less of {entry}")
}

pub(super) fn value_of(entry: &str) -> String {
    format!("Value of {entry}")
}

pub(super) fn written_by(who: &str, when: &str) -> String {
    format!("{who}, {when}")
}

pub(super) fn written_in_run(who: &str, run: &str, when: &str) -> String {
    format!("{who} in {run}, {when}")
}

pub(super) fn version_by(version: u64, who: &str, when: &str) -> String {
    format!("Version {version}, {who}, {when}")
}

pub(super) fn earlier_values(count: usize) -> String {
    text_format::count(count, "earlier value", "earlier values")
}

/// A simulated time.
pub(super) fn at(minutes: u64, seconds: u64) -> String {
    format!("at {minutes}:{seconds:02}")
}

// Channels

pub(super) const CHANNELS: &str = "Channels";
pub(super) const SEND_TO_LISTENERS: &str = "Send a message to all listeners";
pub(super) const SELECT_BOARD: &str = "Select this board";
pub(super) const SHOW_ON_NEW_BOARD: &str = "Show on a new board";
pub(super) const SHOW_ON_BOARD: &str = "Show on a board";
pub(super) const NO_LISTENERS: &str = "No listeners";
pub(super) const STOP_LISTENING: &str = "Stop listening";

/// The number of messages, deliveries and refusals.
pub(super) fn messages(said: u64, delivered: u64, refused: u64) -> String {
    let messages = text_format::count(said as usize, "message", "messages");
    let delivered = text_format::count(delivered as usize, "time", "times");
    let refused = if refused > 0 { format!(", {refused} refused because the channel was full") } else { String::new() };
    format!("{messages}, delivered {delivered}{refused}")
}

pub(super) fn say_in(channel: &str) -> String {
    format!("Send to {channel}")
}

pub(super) fn on_board(board: &str) -> String {
    format!("On {board}")
}

pub(super) fn show_channel_on_new_board(channel: &str) -> String {
    format!("Show {channel} on a new board")
}

pub(super) fn show_channel_on_board(channel: &str) -> String {
    format!("Show {channel} on a board")
}

/// A listener, with the number of messages waiting for it.
pub(super) fn listener(agent: &str, waiting: u64) -> String {
    if waiting > 0 { format!("{agent} ({waiting} waiting) ×") } else { format!("{agent} ×") }
}

pub(super) fn stop_listening(agent: &str, channel: &str) -> String {
    format!("Stop {agent} from listening to {channel}")
}
