//! Texts about channels and blackboards for models. Text by others is truncated, and omissions are stated.

use serde_json::Value;

use super::blackboard::{Entry, EntryVersion, RunBoard};
use super::board_archive_file::{ArchivedEntries, ArchivedEntry};
use super::channels::{Channel, Delivered};
use crate::base::text::{one_line, truncate};
use crate::mind::headings::NEWS;
use crate::schedule::TICKS_PER_SEC;

/// The maximum length of a value in a list, in characters.
const SHORT_CHARS: usize = 120;
/// How many earlier values of an entry are shown.
const HISTORY_SHOWN: usize = 10;
/// How many entry names are suggested if there is no entry with the requested name.
const MAX_NAMED: usize = 20;
/// The maximum length of a list of entries, in characters.
const MAX_LIST_CHARS: usize = 12_000;

/// The text with channel messages for an agent.
pub fn news(delivered: &[Delivered]) -> String {
    let of = |one: &Delivered| {
        let lines = one.messages.iter().map(|message| format!("[{}] {}: {}", message.number, message.by, message.text));
        let more = match one.left {
            0 => String::new(),
            left => format!("\n({left} more wait for your next turn.)"),
        };
        format!("{NEWS} '{}':\n{}{more}", one.channel, lines.collect::<Vec<_>>().join("\n"))
    };
    delivered.iter().map(of).collect::<Vec<_>>().join("\n\n")
}

/// The result of publishing a message.
pub fn published(name: &str, number: u64, channel: &Channel, by: &str) -> String {
    let others = channel.subscribers().filter(|(agent, _)| ***agent != *by).count();
    let hear = match others {
        0 => "it has no other subscribers yet".to_owned(),
        1 => "1 agent receives it on its next turn".to_owned(),
        many => format!("{many} agents receive it on their next turn"),
    };
    format!("Published in '{name}' (message {number}): {hear}.")
}

/// The result of subscribing. `earlier` is the number of messages that come on the next turn; `None` if the agent was
/// already subscribed.
pub fn subscribed(name: &str, earlier: Option<u64>, channel: &Channel) -> String {
    match earlier {
        None => format!("You are already subscribed to '{name}'."),
        Some(earlier) => {
            let coming = match earlier {
                0 if channel.message_count() > 0 => {
                    format!(" There are {} earlier messages; get them with 'earlier'.", channel.message_count())
                }
                0 => String::new(),
                1 => " The last message comes on your next turn.".to_owned(),
                many => format!(" The last {many} messages come on your next turn."),
            };
            format!("You are now subscribed to '{name}'.{coming}")
        }
    }
}

/// The result of unsubscribing.
pub fn unsubscribed(name: &str, did: bool) -> String {
    if did {
        format!("You are no longer subscribed to '{name}'.")
    } else {
        format!(
            "You were not subscribed to \
        '{name}'."
        )
    }
}

/// The result of writing or removing an entry.
pub fn entry_written(key: &str, entry: &Entry) -> String {
    let version = entry.now.version;
    match entry.value() {
        Some(_) => {
            let kept = if entry.shared { ", kept when this run ends" } else { "" };
            format!("Wrote '{key}' (version {version}{kept}).")
        }
        None => format!("Removed '{key}' from the blackboard."),
    }
}

/// An entry's value with author and time; and its earlier values if `with_history`.
pub fn entry(key: &str, entry: &Entry, with_history: bool, kept: Option<&ArchivedEntry>) -> String {
    let shared = if entry.shared { ", kept when this run ends" } else { "" };
    let mut text = format!("'{key}' ({}{shared}):\n{}", by_whom(&entry.now), shown(&entry.now.value));
    if with_history {
        if entry.before.is_empty() {
            text += "\nIt has no earlier values.";
        }
        for before in entry.before.iter().rev().take(HISTORY_SHOWN) {
            text += &format!("\nBefore ({}): {}", by_whom(before), short(&before.value));
        }
    }
    if let Some(kept) = kept {
        text += &format!("\nFrom an earlier run ({}): {}", by_run(kept), short(&kept.value));
    }
    text
}

/// The value of an entry of an earlier run.
pub fn kept_entry(kept: &ArchivedEntry) -> String {
    format!(
        "This run has no entry '{0}'. From an earlier run, there is '{0}' ({1}):\n{2}\nIt may be outdated; write \
         '{0}' to replace it in this run.",
        kept.key,
        by_run(kept),
        shown(&kept.value)
    )
}

/// The author, run and time of an archived entry.
fn by_run(kept: &ArchivedEntry) -> String {
    let by = if kept.by.is_empty() { "a person" } else { &*kept.by };
    match &*kept.run {
        "" => format!("by {by}"),
        run => format!("by {by} in {run}, {} into that room's time", minutes(kept.secs)),
    }
}

fn minutes(secs: u64) -> String {
    format!("{}:{:02}", secs / 60, secs % 60)
}

fn by_whom(written: &EntryVersion) -> String {
    let at = minutes(written.tick / TICKS_PER_SEC);
    format!("version {}, by {}, {at} into the room's time", written.version, written.by)
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(words) => words.clone(),
        other => other.to_string(),
    }
}

fn short(value: &Value) -> String {
    if value.is_null() { "(removed)".to_owned() } else { truncate(&one_line(&shown(value)), SHORT_CHARS) }
}

/// A list of all entries in short form: those of this run, then archived ones, the newest first.
pub fn entries(board: Option<&RunBoard>, kept: &ArchivedEntries) -> String {
    let all = board.into_iter().flat_map(RunBoard::entries).filter(|(_, entry)| entry.value().is_some());
    let lines: Vec<String> =
        all.map(|(key, entry)| format!("'{key}' ({}): {}", by_whom(&entry.now), short(&entry.now.value))).collect();
    let own = match lines.as_slice() {
        [] => "The blackboard of this run is empty.".to_owned(),
        lines => truncate(&lines.join("\n"), MAX_LIST_CHARS),
    };
    let earlier: Vec<String> =
        kept.iter().rev().map(|one| format!("'{}' ({}): {}", one.key, by_run(one), short(&one.value))).collect();
    match earlier.as_slice() {
        [] => own,
        lines => {
            let lines = truncate(&lines.join("\n"), MAX_LIST_CHARS);
            format!("{own}\n\nFrom earlier runs, possibly outdated:\n{lines}")
        }
    }
}

/// The text for a missing entry, with the available names.
pub fn no_entry(key: &str, board: Option<&RunBoard>, kept: &ArchivedEntries) -> String {
    let own = board.into_iter().flat_map(RunBoard::entries).filter(|(_, entry)| entry.value().is_some());
    let own: Vec<&str> = own.map(|(key, _)| key).take(MAX_NAMED).collect();
    let earlier: Vec<&str> = kept.iter().rev().map(|one| &*one.key).take(MAX_NAMED).collect();
    let own = match own.as_slice() {
        [] => format!("There is no entry '{key}': the blackboard of this run is empty."),
        there => format!("There is no entry '{key}'. Available entries: {}.", there.join(", ")),
    };
    if earlier.is_empty() { own } else { format!("{own} From earlier runs: {}.", earlier.join(", ")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kept() -> ArchivedEntries {
        let mut kept = ArchivedEntries::default();
        for (key, by, run) in [("plan", "ada", "act-7"), ("mine", "", "")] {
            let (by, run) = (by.into(), run.into());
            kept.insert(ArchivedEntry { key: key.into(), value: json!("count"), by, run, secs: 75 }, 9);
        }
        kept
    }

    #[test]
    fn entries_of_earlier_runs_are_marked_as_such() {
        let kept = kept();
        let text = kept_entry(kept.get("plan").expect("it should exist"));
        assert!(
            text.contains("From an earlier run, there is 'plan' (by ada in act-7, 1:15 into that room's time):\ncount"),
            "{text}"
        );
        assert_eq!(
            entries(None, &kept),
            "The blackboard of this run is empty.\n\nFrom earlier runs, possibly outdated:\n'mine' (by a person): count\n'plan' (by ada in act-7, 1:15 into that room's time): count"
        );
        assert!(no_entry("x", None, &kept).ends_with("From earlier runs: mine, plan."));
        assert_eq!(entries(None, &ArchivedEntries::default()), "The blackboard of this run is empty.");
    }
}
