//! All texts of the story strip.

use crate::base::Seq;

// The strip

pub(super) const STORY: &str = "Story";
pub(super) const STORY_STRIP: &str = "Story strip";
pub(super) const NO_EVENTS: &str = "Key events appear here as they happen.";
pub(super) const STEPS_NOT_SHOWN: &str = "Some steps are not shown";

pub(super) fn entry(words: &str) -> String {
    format!("Story: {words}")
}

/// What one agent did, with the number of others who did the same.
pub(super) fn and_others(sentence: &str, others: usize) -> String {
    format!("{sentence}, and {others} more")
}

/// Like [`and_others`], if not all are counted.
pub(super) fn and_many_others(sentence: &str, others: usize) -> String {
    format!("{sentence}, and at least {others} more")
}

pub(super) fn both(one: &str, other: &str) -> String {
    format!("{one} and {other}")
}

pub(super) fn agents(count: usize) -> String {
    format!("{count} agents")
}

pub(super) fn many_agents(count: usize) -> String {
    format!("At least {count} agents")
}

pub(super) fn was_restored(name: &str) -> String {
    format!("{name} was restored")
}

pub(super) fn were_restored(names: &str) -> String {
    format!("{names} were restored")
}

// The card of an entry

pub(super) const BECAUSE_OF: &str = "Caused by";
pub(super) const SHOW_CAUSE_TIP: &str = "Shows it in the event log";
pub(super) const SHOW_IN_THE_LOG: &str = "Show in the log";
pub(super) const SHOW_FILE: &str = "Show file";

/// Names the agents of a step, with the number of others; "at least" if not all are counted.
pub(super) fn who(names: &str, more: usize, is_all: bool) -> String {
    match (more, is_all) {
        (0, _) => format!("Who: {names}"),
        (more, true) => format!("Who: {names} and {more} more"),
        (more, false) => format!("Who: {names} and at least {more} more"),
    }
}

pub(super) fn because_of_record(number: Seq, sentence: &str) -> String {
    format!("Caused by record {number}: {sentence}")
}
