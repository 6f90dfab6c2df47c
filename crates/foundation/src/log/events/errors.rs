//! Warnings and the three kinds of errors.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::work::WorkFailed;
use super::{EventData, EventKind, Word, present};
use crate::base::{Id, Problem, RequestId};
use crate::log::narration::{NarrationContext, with};

/// Something is wrong, but the room continues; or, within an [`Error`], a file cannot be read.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Warning {
    /// The file or agent in which something is wrong, if it is a problem that a person can fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The line of the file, from 1; null if it is not known.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub line: Option<Option<usize>>,
    /// The id of the agent whose entry in the scene it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The id of the element that rejected a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<Id>,
    /// The description.
    pub what: Word,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Word>,
    /// The version of a file that was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Who tried the failed action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Id>,
    /// The id of the failed file operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Id>,
    /// The path of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Id>,
    /// The id of the agent or person that changed the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer: Option<Id>,
    /// The ids of the agents that had read the file before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readers: Option<Vec<Id>>,
    /// The kind of a conversation that did not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Word>,
    /// The topic of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// The reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Word>,
    /// A text that was said but not delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The request to a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestId>,
    /// The approval that was requested from a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Id>,
}

impl Warning {
    /// Creates a warning with this description.
    pub fn new(what: impl Into<Word>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    /// Sets the remedy.
    pub fn with_remedy(mut self, remedy: impl Into<Word>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Whether it is a problem with a place, which is listed for as long as it exists.
    pub fn is_problem(&self) -> bool {
        self.place.is_some() || self.subject.is_some()
    }

    fn narrate_or(&self, context: &NarrationContext<'_>, otherwise: &str) -> String {
        let what = if self.what.is_empty() { otherwise } else { &self.what };
        let told = match &self.element {
            Some(element) => {
                let who = context.agent_or(self.by.as_deref().unwrap_or_default());
                with(&format!("{who} could not change {}", context.element(element)), ": ", what)
            }
            None => match self.about(context) {
                about if about.is_empty() => with("", "", what),
                about => with(&about, ": ", what),
            },
        };
        let told = with(&told, ", ", self.topic.as_deref().unwrap_or_default());
        with(&told, ": ", self.why.as_deref().unwrap_or_default())
    }

    /// Returns the place, otherwise the name of the subject.
    fn about(&self, context: &NarrationContext<'_>) -> String {
        let line = self.line.flatten().map(|line| format!(", line {line}")).unwrap_or_default();
        match (self.place.as_deref(), self.path.as_deref().or(self.subject.as_deref())) {
            (Some(place), _) if !place.is_empty() => with("", "", place) + &line,
            (_, Some(path)) => with("", "", path),
            _ => context.agent(),
        }
    }
}

impl From<&Problem> for Warning {
    fn from(problem: &Problem) -> Self {
        Self {
            place: Some(problem.place.clone()),
            line: Some(problem.line),
            what: problem.what.clone().into(),
            remedy: Some(problem.remedy.clone().into()),
            ..Self::default()
        }
    }
}

impl EventData for Warning {
    const KIND: EventKind = EventKind::Warning;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        self.narrate_or(context, "there is a problem")
    }

    fn remedy(&self) -> &str {
        self.remedy.as_deref().unwrap_or_default()
    }
}

/// Something failed. The key `of` of a record says which variant it is; records of old logs are told apart by their
/// keys.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Error {
    /// An activation failed.
    Work(WorkFailed),
    /// A request to a model failed.
    Request(RequestFailed),
    /// A file cannot be parsed.
    Problem(Box<Warning>),
}

/// A request to a model failed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestFailed {
    /// The purpose of the request: `read`.
    pub kind: Word,
    /// The reason.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl Error {
    /// Returns the failed activation, if it is one.
    pub fn work(&self) -> Option<&WorkFailed> {
        match self {
            Self::Work(failed) => Some(failed),
            _ => None,
        }
    }

    /// Returns the description.
    pub fn description(&self) -> &str {
        match self {
            Self::Work(failed) => &failed.what,
            Self::Request(failed) => &failed.what,
            Self::Problem(problem) => &problem.what,
        }
    }
}

impl<'de> Deserialize<'de> for Error {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let data = serde_json::Map::deserialize(deserializer)?;
        let of = match data.get("of").and_then(Value::as_str) {
            Some(of) => of.to_owned(),
            None if data.contains_key("turns") => "work".to_owned(),
            None if data.contains_key("kind") => "request".to_owned(),
            None => "problem".to_owned(),
        };
        let data = Value::Object(data);
        let error = match &*of {
            "work" => serde_json::from_value(data).map(Self::Work),
            "request" => serde_json::from_value(data).map(Self::Request),
            "problem" => serde_json::from_value(data).map(Self::Problem),
            of => return Err(serde::de::Error::unknown_variant(of, &["work", "request", "problem"])),
        };
        error.map_err(serde::de::Error::custom)
    }
}

impl EventData for Error {
    const KIND: EventKind = EventKind::Error;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        match self {
            Self::Work(failed) => failed.narrate(context),
            Self::Problem(problem) => problem.narrate_or(context, "something failed"),
            Self::Request(failed) => Warning::new(failed.what.clone()).narrate_or(context, "something failed"),
        }
    }

    fn remedy(&self) -> &str {
        match self {
            Self::Work(_) => "",
            Self::Request(failed) => &failed.remedy,
            Self::Problem(problem) => problem.remedy(),
        }
    }
}
