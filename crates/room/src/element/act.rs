//! Acts on an element, as data: a word declared by its kind, and arguments. A kind parses its acts into its own types;
//! code that forwards, records and checks acts need not know these.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::settings::ElementSettings;
use crate::base::{Author, MessageKey};

/// The key of an act's word in JSON.
const WORD: &str = "act";

/// An act on an element's content. A kind rejects acts that do not apply to it. In JSON, it is one object: the word
/// under `act`, next to the arguments.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ElementAct {
    act: String,
    #[serde(flatten)]
    arguments: Map<String, Value>,
}

impl ElementAct {
    /// Creates an act with this word.
    pub fn new(word: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self { act: word.into(), arguments }
    }

    /// Creates an act from a value of a kind's own type: an enum tagged with `act`.
    pub fn of(act: &impl Serialize) -> Self {
        let mut arguments = match serde_json::to_value(act) {
            Ok(Value::Object(map)) => map,
            // Anything else becomes an act that no kind knows, and is refused.
            _ => Map::new(),
        };
        let word = arguments.shift_remove(WORD).and_then(|word| word.as_str().map(str::to_owned));
        Self { act: word.unwrap_or_default(), arguments }
    }

    /// Adds an argument.
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.arguments.insert(name.to_owned(), value);
        self
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        &self.act
    }

    /// The arguments by name.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.arguments
    }

    /// A text argument; empty if absent.
    pub fn text(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Parses the act as a kind's own type, if it is one of its acts.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        let mut map = Map::with_capacity(self.arguments.len() + 1);
        map.insert(WORD.to_owned(), Value::String(self.act.clone()));
        map.extend(self.arguments.iter().map(|(name, value)| (name.clone(), value.clone())));
        serde_json::from_value(Value::Object(map)).ok()
    }
}

/// Converts a kind's own types of acts to acts of an element.
macro_rules! element_acts {
    ($($act:ty),*) => {
        $(impl From<$act> for $crate::element::ElementAct {
            fn from(act: $act) -> Self {
                Self::of(&act)
            }
        })*
    };
}
pub(super) use element_acts;

/// Who does an act, when, and within which limits.
#[derive(Clone, Copy, Debug)]
pub struct ActContext<'a> {
    /// The author of the act.
    pub by: &'a Author,
    /// The time in seconds of simulated time.
    pub now_secs: f64,
    /// The limits of elements.
    pub limits: &'a ElementSettings,
    /// The id of the message that the act creates, if it creates one; the sender's copy has the same id.
    pub message: MessageKey,
}

/// Who may do an act on an element that has an owner. Elements without an owner are open to everyone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Actor {
    /// Its owner, and the person.
    #[default]
    Owner,
    /// Everyone, as for delivered mail.
    Anyone,
}

/// Whether an act counts as news, which increases the version of the element.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum News {
    /// Always.
    #[default]
    Always,
    /// Only for acts of the person.
    OfPerson,
    /// Never.
    Never,
}

/// An act that a kind declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ActKind {
    /// The word.
    pub word: &'static str,
    /// Who may do it to an element that belongs to someone else.
    pub doer: Actor,
    /// Whether it counts as news.
    pub news: News,
    /// The field that the window shows for it, if any.
    pub offer: Option<Offer>,
    /// The marker by which agents do it, if any.
    pub marker: Option<Marker>,
}

impl ActKind {
    /// Creates an act that only the owner may do, that is always news and that is not offered anywhere.
    pub const fn new(word: &'static str) -> Self {
        Self { word, doer: Actor::Owner, news: News::Always, offer: None, marker: None }
    }
}

/// The field and button that the window shows for an act with one text argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The label of the button: "Draw".
    pub button: &'static str,
    /// The name of the argument for the text.
    pub argument: &'static str,
    /// The placeholder of the empty field.
    pub hint: &'static str,
}

/// The marker with which agents do an act with one text argument, on the nearest element of the kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marker {
    /// The word in capitals: `DRAW`.
    pub word: &'static str,
    /// The name of the argument for the text.
    pub argument: &'static str,
    /// The effect, as described to agents after `[DRAW: text]`: "draws on the nearest whiteboard".
    pub purpose: &'static str,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(PartialEq, Debug, Serialize, Deserialize)]
    #[serde(tag = "act", rename_all = "snake_case")]
    enum Deed {
        WipeOff { at: usize, why: Option<String> },
    }

    #[test]
    fn an_act_of_a_kinds_own_is_the_same_json_and_comes_back() {
        let deed = || Deed::WipeOff { at: 3, why: None };
        let act = ElementAct::of(&deed());
        let written = json!({ "act": "wipe_off", "at": 3, "why": null });
        assert_eq!(serde_json::to_string(&act).unwrap(), written.to_string());
        let read: ElementAct = serde_json::from_value(written).unwrap();
        assert_eq!((read.as_str(), read.read::<Deed>()), ("wipe_off", Some(deed())));
        assert_eq!(ElementAct::new("wipe_off", Map::new()).read::<Deed>(), None, "an argument is missing");
        assert_eq!(ElementAct::of(&"wipe_off").as_str(), "");
    }
}
