//! Interface texts of the widgets, and the labels of numbers and states.

// Dialogs

pub(super) const QUESTION: &str = "question";

pub(super) fn close(what: &str) -> String {
    format!("Close {what}")
}

// Merge conflicts

pub(super) const STOP_MERGING: &str = "Stop merging";
pub(super) const BEFORE: &str = "Before";
pub(super) const MINE: &str = "Mine";
pub(super) const THEIRS: &str = "Theirs";
pub(super) const BOTH: &str = "Both";
pub(super) const NO_LINES: &str = "(nothing)";

pub(super) fn resolved(count: usize, all: usize) -> String {
    format!("Both changed the same lines: {count} of {all} resolved.")
}

pub(super) fn place(number: usize) -> String {
    format!("Conflict {number}")
}

pub(super) fn choice_at_place(choice: &str, number: usize) -> String {
    format!("{choice} for conflict {number}")
}

pub(super) fn more_lines(count: usize) -> String {
    format!("… and {count} more {}", if count == 1 { "line" } else { "lines" })
}

// Faults of providers, following the provider's name

pub(super) const NO_VALID_KEY: &str = "has no valid key";
pub(super) const RATE_LIMITING: &str = "is rate-limiting";
pub(super) const NOT_REACHED: &str = "cannot be reached";
pub(super) const NO_ANSWER_IN_TIME: &str = "does not answer in time";
pub(super) const UNUSABLE_ANSWERS: &str = "sends unusable answers";
pub(super) const REFUSES_REQUESTS: &str = "refuses requests";
pub(super) const STOPPED_BY_LIMIT: &str = "is stopped by a limit";
pub(super) const INTERRUPTED: &str = "was interrupted";

pub(super) fn fault(provider: &str, what: &str) -> String {
    format!("{provider} {what}")
}

/// Joins what failed, for how long, how often, and what to do.
pub(super) fn fault_in_full(what: &str, duration: &str, failures: u64, remedy: &str) -> String {
    let times = if failures == 1 { "1 failure".to_owned() } else { format!("{failures} failures") };
    let remedy = if remedy.is_empty() { String::new() } else { format!(" {remedy}.") };
    format!("{what}. For {duration}, {times} in a row.{remedy}")
}

// Why the room is quiet: short, and as a sentence

pub(super) const PAUSED: &str = "the room is paused";
pub(super) const LIMIT_REACHED: &str = "a limit is reached";
pub(super) const WAITING_FOR_ANSWER: &str = "waiting for an answer";
pub(super) const WAITING_FOR_SLOT: &str = "waiting for a free slot";
pub(super) const NOTHING_NEW: &str = "nothing new to read";

pub(super) const ROOM_IS_PAUSED: &str = "The room is paused. Space, or the button on the left, resumes it.";
pub(super) const WAITING_FOR_MODEL: &str = "Waiting for a model to answer.";
pub(super) const ALL_CALLS_RUNNING: &str = "The maximum number of calls is running.";
pub(super) const NOTHING_TO_DO: &str = "No one has anything new to read or a task to do.";

pub(super) fn no_more_calls(cap: &str) -> String {
    format!("Models are no longer called: {cap}. Raise the limit in Settings.")
}

// The status of the room

pub(super) const NO_AGENTS: &str = "No agents yet";
pub(super) const IS_PAUSED: &str = "Paused";
pub(super) const AS_FAST_AS_POSSIBLE: &str = "As fast as possible";
pub(super) const QUIET: &str = "quiet";

pub(super) fn quiet_because(why: &str) -> String {
    format!("quiet – {why}")
}

pub(super) fn stuck(count: usize) -> String {
    format!("{count} stuck")
}

pub(super) fn things_to_do(count: usize) -> String {
    if count == 1 { "1 thing to do".to_owned() } else { format!("{count} things to do") }
}

pub(super) fn tokens(count: &str) -> String {
    format!("{count} tokens")
}

// Labels of numbers and states

pub(super) const STAY: &str = "Stay in place";
pub(super) const WANDER: &str = "Wander";
pub(super) const PATROL: &str = "Patrol";
pub(super) const MAX_SPEED: &str = "Max";
pub(super) const UNDER_A_CENT: &str = "under $0.01";
pub(super) const COST_UNKNOWN: &str = "cost unknown";

pub(super) fn seconds(count: u64) -> String {
    format!("{count} s")
}

pub(super) fn minutes(count: u64) -> String {
    format!("{count} min")
}

pub(super) fn hours(count: u64) -> String {
    format!("{count} h")
}

pub(super) fn hours_and_minutes(hours: u64, minutes: u64) -> String {
    format!("{hours} h {minutes} min")
}

pub(super) fn lasting(duration: &str) -> String {
    format!("for {duration}")
}

pub(super) fn at_least(money: &str) -> String {
    format!("at least {money}")
}

/// Returns the usage of models: calls, tokens and cost.
pub(super) fn tally(calls: u64, tokens: &str, cost: &str) -> String {
    let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
    format!("{calls}, {tokens} tokens, {cost}")
}

// Long texts
pub(super) const SHOW_LESS: &str = "Show less";

pub(super) fn show_all_characters(count: usize) -> String {
    format!("Show all {} characters", crate::view::chat::grouped(count))
}
