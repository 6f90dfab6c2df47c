//! The tools with which working agents communicate: channels, and the blackboard of a run. A call becomes a
//! [`CollaborationOrder`], which a higher layer executes.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::files::{object, text_schema};
use super::plan::Planned;
use super::tool::{Arguments, Tool};
use crate::base::text;
use crate::gate::{DeclaredTouch, Power, TouchKind};

/// The executor of orders about channels and blackboards.
pub const COLLABORATION: &str = "together";

/// The maximum length of the name of a channel or an entry, in characters.
pub const MAX_NAME_CHARS: usize = 64;
/// The maximum length of a message in a channel, in characters.
pub const MAX_MESSAGE_CHARS: usize = 8_000;
/// The maximum length of an entry's value as JSON, in characters.
pub const MAX_VALUE_CHARS: usize = 8_000;

/// An order of an agent about channels and the blackboard.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum CollaborationOrder {
    /// Publishes a message in a channel.
    Publish {
        /// The channel.
        channel: String,
        /// The message.
        message: String,
    },
    /// Subscribes to a channel.
    Subscribe {
        /// The channel.
        channel: String,
        /// How many of the earlier messages are delivered as well.
        earlier: usize,
    },
    /// Unsubscribes from a channel.
    Unsubscribe {
        /// The channel.
        channel: String,
    },
    /// Changes an entry of the blackboard.
    BlackboardWrite {
        /// The name of the entry.
        key: String,
        /// The new value; null removes the entry.
        value: Value,
        /// The condition for the change.
        only_if: Condition,
        /// Whether it is archived when the run ends.
        shared: bool,
    },
    /// Reads the blackboard.
    BlackboardRead {
        /// The entry; `None` for a list of all.
        key: Option<String>,
        /// Whether to include earlier values.
        history: bool,
    },
}

/// The condition for changing an entry.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Condition {
    /// Always.
    #[default]
    Anything,
    /// Only if there is no such entry.
    Absent,
    /// Only if the entry has this value.
    Value {
        /// The expected value.
        value: Value,
    },
}

/// Normalizes the name of a channel or an entry: removes a leading `#` and converts to lower case.
pub fn name(given: &str) -> Result<String, String> {
    let name = given.trim().trim_start_matches('#').trim().to_lowercase();
    let is_odd = |c: char| c.is_control() || "\"'`<>{}[]|\\".contains(c);
    if name.is_empty() || name.chars().count() > MAX_NAME_CHARS || name.contains(is_odd) {
        let shown = text::truncate(&text::one_line(given), MAX_NAME_CHARS);
        return Err(format!("{shown:?} is not a valid name; use one or a few plain words, such as findings"));
    }
    Ok(text::one_line(&name))
}

/// Parses a value as JSON if possible, otherwise takes it as text.
pub fn value_of(given: &str) -> Value {
    serde_json::from_str(given).unwrap_or_else(|_| Value::String(given.to_owned()))
}

fn order(order: &CollaborationOrder, touch: (TouchKind, String), doing: (&str, &str)) -> Planned {
    let touches = vec![DeclaredTouch::new(touch.0, touch.1)];
    let order = serde_json::to_value(order).expect("an order is plain data with text keys");
    Planned::order(COLLABORATION, order, touches, doing)
}

fn channel_argument() -> Value {
    json!({
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_NAME_CHARS,
        "description": "The channel's name, such as findings. Using a name creates the channel.",
    })
}

fn key_argument(description: &str) -> Value {
    text_schema(MAX_NAME_CHARS, description)
}

fn channel(arguments: &Arguments) -> Result<String, String> {
    name(&arguments.text("channel")).map_err(|why| format!("'channel': {why}"))
}

/// The tool that publishes a message in a channel.
pub(super) fn publish() -> Tool {
    Tool::new(
        "publish",
        "Send a message to a channel. Its subscribers receive it on their next turn; do not wait for them.",
        object(
            json!({
                "channel": channel_argument(),
                "message": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_MESSAGE_CHARS,
                    "description": "What they should know: results, where they are, what is open.",
                },
            }),
            &["channel", "message"],
        ),
        |arguments, _| {
            let (channel, message) = (channel(arguments)?, arguments.text("message"));
            if message.trim().is_empty() {
                return Err("'message' is empty".to_owned());
            }
            let touch = (TouchKind::MESSAGE_SEND, format!("channel {channel}"));
            let target = format!("{channel}: {message}");
            Ok(order(&CollaborationOrder::Publish { channel, message }, touch, ("publishing in", &target)))
        },
    )
    .by_default(Power::Talk)
}

/// The tool that subscribes to a channel.
pub(super) fn subscribe() -> Tool {
    Tool::new(
        "subscribe",
        "Subscribe to a channel: you receive what others publish there from now on on your next turn, each message \
         once. Do not wait for messages or look for them: end your turn, and you will be activated again when there \
         are some.",
        object(
            json!({
                "channel": channel_argument(),
                "earlier": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 1_000,
                    "description": "How many earlier messages you also want.",
                },
            }),
            &["channel"],
        ),
        |arguments, _| {
            let (channel, earlier) = (channel(arguments)?, arguments.number("earlier").unwrap_or(0));
            let touch = (TouchKind::MESSAGE_READ, format!("channel {channel}"));
            let doing = ("subscribing to", channel.clone());
            Ok(order(&CollaborationOrder::Subscribe { channel, earlier }, touch, (doing.0, &doing.1)))
        },
    )
    .by_default(Power::Listen)
}

/// The tool that unsubscribes from a channel.
pub(super) fn unsubscribe() -> Tool {
    Tool::new(
        "unsubscribe",
        "Unsubscribe from a channel.",
        object(json!({ "channel": channel_argument() }), &["channel"]),
        |arguments, _| {
            let channel = channel(arguments)?;
            let touch = (TouchKind::MESSAGE_READ, format!("channel {channel}"));
            let doing = ("unsubscribing from", channel.clone());
            Ok(order(&CollaborationOrder::Unsubscribe { channel }, touch, (doing.0, &doing.1)))
        },
    )
    .by_default(Power::Listen)
}

/// The tool that changes an entry of the blackboard.
pub(super) fn blackboard_write() -> Tool {
    let value =
        |description: &str| json!({ "type": "string", "maxLength": MAX_VALUE_CHARS, "description": description });
    Tool::new(
        "blackboard_write",
        "Write a value on the blackboard, which everybody in this run sees: plans, claims, numbers, who does what. If \
         others may write the same entry, set expected or is_new, so that nobody's value is overwritten.",
        object(
            json!({
                "key": key_argument("The entry's name, such as plan."),
                "value": value("The value: JSON or plain text. null removes the entry."),
                "expected": value("Write only if this is the entry's current value: JSON or plain text."),
                "is_new": { "type": "boolean", "description": "Write only if the entry does not exist yet." },
                "shared": {
                    "type": "boolean",
                    "description": "Keep the entry for later runs.",
                },
            }),
            &["key", "value"],
        ),
        |arguments, _| {
            let key = name(&arguments.text("key")).map_err(|why| format!("'key': {why}"))?;
            let given = arguments.some_text("value").ok_or("'value' is empty; use null to remove the entry")?;
            let only_if = match (arguments.some_text("expected"), arguments.flag("is_new")) {
                (Some(_), true) => return Err("give 'expected' or 'is_new', not both".to_owned()),
                (Some(expected), false) => Condition::Value { value: value_of(&expected) },
                (None, true) => Condition::Absent,
                (None, false) => Condition::Anything,
            };
            let (value, shared) = (value_of(&given), arguments.flag("shared"));
            let touch = (TouchKind::MESSAGE_SEND, format!("the blackboard ({key})"));
            let target = format!("{key} on the blackboard");
            let verb = if value.is_null() { "taking" } else { "writing" };
            Ok(order(&CollaborationOrder::BlackboardWrite { key, value, only_if, shared }, touch, (verb, &target)))
        },
    )
    .by_default(Power::Talk)
    .with_json_arguments(&["value", "expected"])
}

/// The tool that reads the blackboard.
pub(super) fn blackboard_read() -> Tool {
    Tool::new(
        "blackboard_read",
        "Read an entry of this run's blackboard, with its author and time; without a key, a short list of all \
         entries. Entries shared by earlier runs are included and marked as such.",
        object(
            json!({
                "key": key_argument("The entry's name; omit it for a short list of all entries."),
                "history": { "type": "boolean", "description": "Whether to include its earlier values." },
            }),
            &[],
        ),
        |arguments, _| {
            let key = arguments.some_text("key").map(|key| name(&key)).transpose();
            let key = key.map_err(|why| format!("'key': {why}"))?;
            let history = arguments.flag("history");
            let target = key.clone().unwrap_or_else(|| "the blackboard".to_owned());
            let touch = (TouchKind::MESSAGE_READ, "the blackboard".to_owned());
            Ok(order(&CollaborationOrder::BlackboardRead { key, history }, touch, ("looking at", &target)))
        },
    )
    .by_default(Power::Listen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_normalized() {
        for given in ["findings", "#findings", " # Findings ", "FINDINGS"] {
            assert_eq!(name(given).as_deref(), Ok("findings"), "{given}");
        }
        for odd in ["", "#", " \n", "a\u{7}b", "a|b", "<b>", &"x".repeat(65)] {
            assert!(name(odd).is_err(), "{odd:?}");
        }
    }

    #[test]
    fn a_value_is_json_if_it_parses_and_text_otherwise() {
        assert_eq!(value_of("{\"a\":1}"), json!({ "a": 1 }));
        assert_eq!(value_of("12"), json!(12));
        assert_eq!(value_of("twelve chairs"), json!("twelve chairs"));
        assert_eq!(value_of("null"), Value::Null);
    }
}
