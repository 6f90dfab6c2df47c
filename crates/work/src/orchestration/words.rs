//! What models are told of channels and blackboards. What others said is bounded, and what is left out is said.

use serde_json::Value;

use super::blackboard::{Entry, RunBoard, Written};
use super::channels::{Channel, Heard};
use crate::base::text::{one_line, truncate};
use crate::mind::headings::NEWS;
use crate::schedule::TICKS_PER_SEC;

/// Of a value in a list so many characters are shown.
const SHORT_CHARS: usize = 120;
/// So many earlier values of an entry are shown.
const HISTORY_SHOWN: usize = 10;
/// A list of entries ends after so many characters.
const LIST_CHARS_AT_MOST: usize = 12_000;

/// What an agent is told of what was said in channels.
pub fn news(heard: &[Heard]) -> String {
    let of = |heard: &Heard| {
        let lines =
            heard.messages.iter().map(|message| format!("[{}] {}: {}", message.number, message.by, message.text));
        let more = match heard.left {
            0 => String::new(),
            left => format!("\n({left} more wait for your next turn.)"),
        };
        format!("{NEWS} '{}':\n{}{more}", heard.channel, lines.collect::<Vec<_>>().join("\n"))
    };
    heard.iter().map(of).collect::<Vec<_>>().join("\n\n")
}

/// Something was said in a channel.
pub fn published(name: &str, number: u64, channel: &Channel, by: &str) -> String {
    let others = channel.subscribers().filter(|(agent, _)| ***agent != *by).count();
    let hear = match others {
        0 => "nobody else listens yet".to_owned(),
        1 => "1 agent hears it with its next turn".to_owned(),
        many => format!("{many} agents hear it with their next turn"),
    };
    format!("Published in '{name}' (message {number}): {hear}.")
}

/// An agent listens to a channel, or did already. `earlier` messages come with its next turn.
pub fn subscribed(name: &str, earlier: Option<u64>, channel: &Channel) -> String {
    match earlier {
        None => format!("You listen to '{name}' already."),
        Some(earlier) => {
            let coming = match earlier {
                0 if channel.said() > 0 => {
                    format!(" {} were said before; ask for them with 'earlier'.", channel.said())
                }
                0 => String::new(),
                1 => " The last message comes with your next turn.".to_owned(),
                many => format!(" The last {many} messages come with your next turn."),
            };
            format!("You listen to '{name}' now.{coming}")
        }
    }
}

/// An agent listens no more, or never did.
pub fn unsubscribed(name: &str, did: bool) -> String {
    if did { format!("You listen to '{name}' no more.") } else { format!("You did not listen to '{name}'.") }
}

/// An entry was written, or taken away.
pub fn wrote(key: &str, entry: &Entry) -> String {
    let version = entry.now.version;
    match entry.value() {
        Some(_) => {
            let kept = if entry.shared { ", kept when this run ends" } else { "" };
            format!("Wrote '{key}' (version {version}{kept}).")
        }
        None => format!("Took '{key}' off the blackboard."),
    }
}

/// What an entry says, with who wrote it and when; and what it said before, if that is wanted.
pub fn entry(key: &str, entry: &Entry, with_history: bool) -> String {
    let shared = if entry.shared { ", kept when this run ends" } else { "" };
    let mut told = format!("'{key}' ({}{shared}):\n{}", by_whom(&entry.now), shown(&entry.now.value));
    if with_history {
        if entry.before.is_empty() {
            told += "\nIt said nothing before.";
        }
        for before in entry.before.iter().rev().take(HISTORY_SHOWN) {
            told += &format!("\nBefore ({}): {}", by_whom(before), short(&before.value));
        }
    }
    told
}

fn by_whom(written: &Written) -> String {
    let secs = written.tick / TICKS_PER_SEC;
    format!("version {}, by {}, {}:{:02} into the room's time", written.version, written.by, secs / 60, secs % 60)
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(words) => words.clone(),
        other => other.to_string(),
    }
}

fn short(value: &Value) -> String {
    if value.is_null() { "(taken away)".to_owned() } else { truncate(&one_line(&shown(value)), SHORT_CHARS) }
}

/// All entries in short.
pub fn entries(board: Option<&RunBoard>) -> String {
    let all = board.into_iter().flat_map(RunBoard::entries).filter(|(_, entry)| entry.value().is_some());
    let lines: Vec<String> =
        all.map(|(key, entry)| format!("'{key}' ({}): {}", by_whom(&entry.now), short(&entry.now.value))).collect();
    if lines.is_empty() {
        return "The blackboard of this run is empty.".to_owned();
    }
    truncate(&lines.join("\n"), LIST_CHARS_AT_MOST)
}

/// There is no such entry.
pub fn no_entry(key: &str, board: Option<&RunBoard>) -> String {
    let there: Vec<&str> = board
        .into_iter()
        .flat_map(RunBoard::entries)
        .filter(|(_, entry)| entry.value().is_some())
        .map(|(key, _)| key)
        .take(20)
        .collect();
    match there.as_slice() {
        [] => format!("There is no entry '{key}': the blackboard of this run is empty."),
        there => format!("There is no entry '{key}'. There are {}.", there.join(", ")),
    }
}
