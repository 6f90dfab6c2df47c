//! Acts on an element, as data: a word declared by its kind, and arguments. A kind parses its acts into its own types;
//! code that passes on, records and checks acts need not know these.

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
    /// An act of this word.
    pub fn new(word: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self { act: word.into(), arguments }
    }

    /// An act that is a value of a kind's own type: an enum that is tagged with `act`.
    pub fn of(act: &impl Serialize) -> Self {
        let mut arguments = match serde_json::to_value(act) {
            Ok(Value::Object(map)) => map,
            // What is no such enum is an act that no kind knows, and refused as that.
            _ => Map::new(),
        };
        let word = arguments.shift_remove(WORD).and_then(|word| word.as_str().map(str::to_owned));
        Self { act: word.unwrap_or_default(), arguments }
    }

    /// The same with this argument.
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.arguments.insert(name.to_owned(), value);
        self
    }

    /// Its word.
    pub fn word(&self) -> &str {
        &self.act
    }

    /// Its arguments, by name.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.arguments
    }

    /// An argument that is a text; empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The act as a value of a kind's own type, if it is one of those.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        let mut map = Map::with_capacity(self.arguments.len() + 1);
        map.insert(WORD.to_owned(), Value::String(self.act.clone()));
        map.extend(self.arguments.iter().map(|(name, value)| (name.clone(), value.clone())));
        serde_json::from_value(Value::Object(map)).ok()
    }
}

/// Makes the acts of a kind's own type acts of an element.
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
    /// Who does it.
    pub by: &'a Author,
    /// When, in seconds of simulated time.
    pub now_secs: f64,
    /// How much elements hold.
    pub limits: &'a ElementSettings,
    /// The id of the message that the act makes, if it makes one; the copy that its sender keeps has the same.
    pub message: MessageKey,
}

/// Who may do an act on an element that has an owner. Elements without an owner are open to everyone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Actor {
    /// Its owner, and the person.
    #[default]
    Keeper,
    /// Everyone: it is delivered.
    Anyone,
}

/// For whom an act is news: news creates a new version of the element.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum News {
    /// Everyone.
    #[default]
    Always,
    /// Everyone where the person did it; of an agent it is no news to it.
    OfPerson,
    /// Nobody.
    Never,
}

/// An act that a kind declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ActKind {
    /// Its word.
    pub word: &'static str,
    /// Who may do this to something that belongs to someone else.
    pub doer: Actor,
    /// Whom it is news to.
    pub news: News,
    /// How the window offers it to the person, with one text; not at all where absent.
    pub offer: Option<Offer>,
    /// The marker by which agents do it; none where absent.
    pub marker: Option<Marker>,
}

impl ActKind {
    /// An act of this word that is news to everyone.
    pub const fn new(word: &'static str) -> Self {
        Self { word, doer: Actor::Keeper, news: News::Always, offer: None, marker: None }
    }
}

/// How the window offers an act that takes one text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// What the button says: "Draw".
    pub button: &'static str,
    /// The argument that is the text.
    pub argument: &'static str,
    /// The placeholder of the empty field.
    pub hint: &'static str,
}

/// The marker with which agents do an act that takes one text, on the nearest element of the kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marker {
    /// Its word, in capitals: `DRAW`.
    pub word: &'static str,
    /// The argument that is the text.
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
        assert_eq!((read.word(), read.read::<Deed>()), ("wipe_off", Some(deed())));
        assert_eq!(ElementAct::new("wipe_off", Map::new()).read::<Deed>(), None, "an argument is missing");
        assert_eq!(ElementAct::of(&"wipe_off").word(), "");
    }
}
