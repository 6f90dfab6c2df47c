//! Interface texts of the run bar and of the panels above it.

use crate::ui::widgets::text_format::compact;

// The agent
pub(crate) const ASSIGN_TO: &str = "Assign to";
pub(crate) const NOBODY: &str = "Nobody";

pub(crate) fn not_in_the_room_yet(name: &str) -> String {
    format!("{name} – not in the room yet")
}

// The task
pub(crate) const TASK_TO_RUN: &str = "Task to run";
pub(crate) const TASK_HINT: &str = "What should be done?";
pub(crate) const RUN: &str = "Run";
pub(crate) const EARLIER_TASKS: &str = "Earlier tasks";
pub(crate) const EARLIER: &str = "Earlier";

// The status of work
pub(crate) fn status_hint(sentence: &str) -> String {
    format!("{sentence}\nWho is working, and on what")
}

pub(crate) const PAUSE_WORK: &str = "Pause work";
pub(crate) const PAUSE_WORK_HINT: &str = "Pauses tasks; the room keeps running";
pub(crate) const IS_PAUSED_HINT: &str = "Work is already paused; resume it above";
pub(crate) const STOP_ALL: &str = "Stop all";
pub(crate) const STOP_ALL_HINT: &str = "Ends every task now";

// Limits
pub(crate) const LIMITS_OF_WORK: &str = "Work limits";
pub(crate) const APPLIES_TO_NEW_TASKS: &str = "Applies to new tasks";
pub(crate) const IN_PARALLEL: &str = "In parallel";
pub(crate) const IN_PARALLEL_HINT: &str = "How many agents work at the same time";
pub(crate) const LEVELS: &str = "Levels";
pub(crate) const LEVELS_HINT: &str = "How many levels deep agents may start other agents";

// Why a task does not start
pub(crate) const RESUME_WORK: &str = "Resume work";
pub(crate) const WORK_IS_PAUSED: &str = "Work is paused. New tasks wait until it is resumed.";
pub(crate) const ROOM_IS_PAUSED: &str = "The room is paused. New tasks start when it is resumed.";
pub(crate) const RESUME: &str = "Resume";

pub(crate) fn work_is_stopped(why: &str) -> String {
    format!("Work is stopped: {why}. New tasks wait until it is resumed.")
}

// Running tasks
pub(crate) const NO_ONE_IS_WORKING: &str = "No one is working. Give an agent a task.";

pub(crate) fn piece(stage: &str, turn: impl std::fmt::Display, tokens: u64) -> String {
    format!("{stage} · turn {turn} · {} tokens", compact(tokens))
}

pub(crate) fn stop_agent(name: &str) -> String {
    format!("Stop {name}")
}

pub(crate) fn and_more(more: usize) -> String {
    format!("and {more} more")
}

// A workflow step that asks the person
pub(crate) const ANSWER: &str = "Answer";
pub(crate) const SHOW_IN_GRAPH: &str = "Show in graph";
pub(crate) const APPROVE: &str = "Approve";
pub(crate) const DO_NOT_APPROVE: &str = "Do not approve";
pub(crate) const COMMENT: &str = "Comment";
pub(crate) const STEP_KEYS_HINT: &str = "By key: A approves, R does not, once you have clicked this card or the room";

pub(crate) fn step_asks_you(step: &str, more: usize) -> String {
    let more = if more > 0 { format!(" ({more} more)") } else { String::new() };
    format!("Step {step} asks you{more}")
}

pub(crate) fn question_of(step: &str) -> String {
    format!("Question of step {step}")
}

pub(crate) fn comment_on(step: &str) -> String {
    format!("Comment on step {step}")
}

pub(crate) fn with_key(label: &str, key: &str) -> String {
    format!("{label} ({key})")
}
