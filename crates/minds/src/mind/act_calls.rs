//! Turns the function calls of a reply into the intents that markers stand for, and finds the markers in a reply that
//! do nothing because its model was offered functions.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::act_tools::{ActArgument, arguments_of};
use super::context::MindContext;
use super::markers::{BYE, Intent, Parsed, intent_with_text};
use super::message::ToolCall;
use super::parts::abilities::{called, function_name, written};
use super::tool_models::ToolModel;
use crate::base::text::{one_line, truncate};

/// Maximum number of characters of markers that did nothing in a warning.
const LEFT_OUT_CHARS: usize = 2_000;
/// Maximum number of characters of a quoted name of a function.
const NAME_CHARS: usize = 60;

/// Names that models give to acts, with the words of the acts. They count only if no tool has such a name.
const ALIASES: [(&str, &str); 10] = [
    ("add_pin", "PIN"),
    ("pin_text", "PIN"),
    ("upvote", "VOTE_UP"),
    ("downvote", "VOTE_DOWN"),
    ("send_mail", "SEND"),
    ("mail", "SEND"),
    ("close_mail", "DONE"),
    ("note", "REMEMBER"),
    ("goodbye", BYE),
    ("end_conversation", BYE),
];

/// The functions for acts that a model was offered with a request.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OfferedActs {
    /// The provider and model that they were offered to.
    pub(super) model: String,
    /// The words of their markers.
    pub(super) words: Vec<String>,
    /// The words of the acts that stay markers, because tools have their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) markers: Vec<String>,
}

/// What a call of an act asks for.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct CalledAct {
    /// The position of the call in the reply.
    pub(super) index: usize,
    /// The intent.
    pub(super) intent: Intent,
    /// The last words that it adds to what the agent says.
    pub(super) said: String,
}

impl OfferedActs {
    /// Returns the functions that are offered with a prompt to a model; empty if the agent writes markers.
    pub(super) fn of(context: &MindContext, model: &ToolModel) -> Self {
        let words = called(context);
        if words.is_empty() {
            return Self::default();
        }
        Self { model: model.name.clone(), words, markers: written(context) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the calls of acts in a reply, in order. If `may_rename`, other names for the acts are understood, too.
    pub(super) fn called(&self, calls: &[ToolCall], may_rename: bool) -> Vec<CalledAct> {
        let called = calls.iter().enumerate().filter_map(|(index, call)| {
            let word = self.word_of(&call.name, may_rename)?;
            let (intent, said) = match intent(word, &call.arguments) {
                Ok(found) => found,
                Err(why) => (Intent::Malformed { why }, String::new()),
            };
            Some(CalledAct { index, intent, said })
        });
        called.collect()
    }

    /// Returns the word of the act that a call names, in any case; with other names, a namespace before it does not
    /// matter either.
    fn word_of(&self, name: &str, may_rename: bool) -> Option<&str> {
        let name = name.trim();
        let bare = name.rsplit(['.', ':', '/']).next().filter(|_| may_rename).unwrap_or(name);
        let name = bare.to_lowercase().replace(['-', ' '], "_");
        let offered = |wanted: &str| self.words.iter().map(String::as_str).find(|word| function_name(word) == wanted);
        let renamed = || {
            let (_, word) = ALIASES.iter().find(|(alias, _)| may_rename && *alias == name)?;
            offered(&function_name(word))
        };
        offered(&name).or_else(renamed)
    }

    /// Separates the markers in a reply's text that do nothing, because the model was offered functions.
    pub(super) fn take_markers(&self, parsed: &mut Parsed) -> Vec<Intent> {
        if self.is_empty() {
            return Vec::new();
        }
        let acts =
            |intent: &Intent| word_of_intent(intent).is_some_and(|word| self.markers.iter().any(|one| one == word));
        let (acting, idle): (Vec<Intent>, Vec<Intent>) =
            std::mem::take(&mut parsed.intents).into_iter().partition(acts);
        parsed.intents = acting;
        idle
    }

    /// The remark to an agent whose markers did nothing. It does not repeat them, because they may be text of others.
    pub(super) fn idle_remark(&self, idle: &[Intent]) -> String {
        let words = idle.iter().filter_map(word_of_intent);
        let mut names: Vec<String> =
            words.filter(|word| self.words.iter().any(|offered| offered == word)).map(function_name).collect();
        names.sort_unstable();
        names.dedup();
        let named = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        format!("text in square brackets does nothing; what you mean to do, do by calling the function{named}")
    }
}

/// Returns the word of the marker for an intent, if it is certain.
fn word_of_intent(intent: &Intent) -> Option<&str> {
    Some(match intent {
        Intent::Pin { .. } => "PIN",
        Intent::RemovePin { .. } => "REMOVE_PIN",
        Intent::Vote { up: true, .. } => "VOTE_UP",
        Intent::Vote { up: false, .. } => "VOTE_DOWN",
        Intent::KeepPin { .. } => "KEEP_PIN",
        Intent::ReleasePin { .. } => "RELEASE_PIN",
        Intent::Send { .. } => "SEND",
        Intent::Done { .. } => "DONE",
        Intent::Remember { .. } => "REMEMBER",
        Intent::Bye => BYE,
        Intent::Act { marker, .. } => marker,
        Intent::Unclosed { word } => word,
        Intent::Malformed { .. } | Intent::Unknown { .. } => return None,
    })
}

/// Describes markers that did nothing for the log: those that were taken out of the text in full.
pub(super) fn left_out(idle: &[Intent]) -> Option<String> {
    let written = idle.iter().filter_map(|intent| {
        let word = word_of_intent(intent)?;
        Some(match intent {
            Intent::Pin { text } | Intent::Act { text, .. } | Intent::Remember { note: text } => {
                format!("[{word}: {text}]")
            }
            Intent::RemovePin { id }
            | Intent::Vote { id, .. }
            | Intent::KeepPin { id }
            | Intent::ReleasePin { id }
            | Intent::Done { id } => format!("[{word}: {id}]"),
            Intent::Send { to, text } => format!("[{word} to {to}: {text}]"),
            Intent::Bye => format!("[{word}]"),
            // It stays in the text.
            Intent::Unclosed { .. } | Intent::Malformed { .. } | Intent::Unknown { .. } => return None,
        })
    });
    let written = written.collect::<Vec<_>>().join(" ");
    (!written.is_empty()).then(|| truncate(&one_line(&written), LEFT_OUT_CHARS))
}

/// The remark to an agent that called a function that it does not have.
pub(super) fn unknown_remark(name: &str) -> String {
    let name = truncate(&one_line(name), NAME_CHARS);
    format!("you called the function “{name}”, which you do not have, so nothing was done")
}

/// Returns the intent of a call and what it adds to what the agent says, or why it cannot be carried out.
fn intent(word: &str, arguments: &Value) -> Result<(Intent, String), String> {
    let name = function_name(word);
    let given = object(arguments).ok_or_else(|| {
        format!("the arguments of {name} were not a complete JSON object, so nothing was done; call it again")
    })?;
    let wanted = arguments_of(word);
    let value = |argument: &ActArgument| {
        let text = value_of(&given, argument, wanted.len() == 1);
        text.map_err(|()| format!("the argument {} of {name} was not a text, so nothing was done", argument.name))
    };
    let required = |argument: &ActArgument| match value(argument)? {
        Some(text) => Ok(text),
        None => Err(format!("{name} was called without {}, so nothing was done", argument.name)),
    };
    match (word, wanted) {
        (BYE, [argument]) => Ok((Intent::Bye, value(argument)?.unwrap_or_default())),
        ("SEND", [to, text]) => Ok((Intent::Send { to: required(to)?, text: required(text)? }, String::new())),
        (_, arguments) => {
            let first = arguments.first().ok_or_else(|| format!("{name} takes nothing, so nothing was done"))?;
            Ok((intent_with_text(word, required(first)?), String::new()))
        }
    }
}

/// Parses arguments as an object, or the text of one, as tools do. `None` if they are something else.
fn object(arguments: &Value) -> Option<Map<String, Value>> {
    let mut held = Cow::Borrowed(arguments);
    // Some models send the text of the text of an object.
    for _ in 0..2 {
        let Value::String(text) = &*held else { break };
        if text.trim().is_empty() {
            return Some(Map::new());
        }
        let parsed: Value = serde_json::from_str(text).ok()?;
        held = Cow::Owned(parsed);
    }
    match held.into_owned() {
        Value::Object(keys) => Some(keys),
        Value::Null => Some(Map::new()),
        _ => None,
    }
}

/// Returns the text of an argument; `None` if it is missing or blank, an error if it is no text. Other names for it
/// are understood, and any name if it is the only argument.
fn value_of(given: &Map<String, Value>, argument: &ActArgument, is_only: bool) -> Result<Option<String>, ()> {
    let named = |name: &str| given.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    let only = || if is_only && given.len() == 1 { given.values().next() } else { None };
    let found = named(argument.name).filter(|value| !value.is_null());
    let found = found.or_else(|| argument.aliases.iter().find_map(|alias| named(alias))).or_else(only);
    let text = match found {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => return Err(()),
    };
    Ok(Some(text).filter(|text| !text.is_empty()))
}

#[cfg(test)]
#[path = "act_calls_tests.rs"]
mod tests;
