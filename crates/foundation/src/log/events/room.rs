//! Events in the room: runs, agents, their states and actions, and elements.

use serde::{Deserialize, Serialize};

use super::{EventData, EventKind, Word, present};
use crate::base::{Behaviour, Id};
use crate::log::narration::{NarrationContext, in_brackets, joined, with};

/// A room was opened.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunStart {
    /// The path of the scene in the workspace.
    pub scene: String,
    /// The seed of all random numbers of the run.
    pub seed: u64,
    /// The provider that replaces every agent's own.
    pub provider: Option<String>,
}

impl EventData for RunStart {
    const KIND: EventKind = EventKind::RunStart;

    fn narrate(&self, _: &NarrationContext<'_>) -> String {
        let began = with("the room was opened", ": scene ", &self.scene);
        let provider = self.provider.as_ref().map(|provider| with("", "answered by ", provider));
        in_brackets(&began, &joined([Some(format!("seed {}", self.seed)), provider]))
    }
}

/// A room was closed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunEnd {
    /// The reason.
    pub why: String,
}

impl EventData for RunEnd {
    const KIND: EventKind = EventKind::RunEnd;

    fn narrate(&self, _: &NarrationContext<'_>) -> String {
        with("the room was closed", ": ", &self.why)
    }
}

/// An agent was added to the room.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentAdded {
    /// The profile of the agent.
    pub profile: Id,
    /// The name.
    pub name: Id,
    /// The position, in room units.
    pub position: [f32; 2],
    /// The idle behaviour.
    pub behaviour: Behaviour,
}

impl EventData for AgentAdded {
    const KIND: EventKind = EventKind::AgentAdded;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        in_brackets(&format!("{} joined the room", context.who()), &with("", "profile ", &self.profile))
    }
}

/// An agent left the room.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentRemoved {
    /// The profile of the agent.
    pub profile: Id,
}

impl EventData for AgentRemoved {
    const KIND: EventKind = EventKind::AgentRemoved;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        in_brackets(&format!("{} left the room", context.who()), &with("", "profile ", &self.profile))
    }
}

/// An agent's state changed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The previous state.
    pub from: Word,
    /// The new state.
    pub to: Word,
    /// The reason.
    pub why: Word,
}

impl EventData for State {
    const KIND: EventKind = EventKind::State;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let (from, to) = (state_words(&self.from), state_words(&self.to));
        let changed = match (from.is_empty(), to.is_empty()) {
            (false, false) => format!("{} changed from {from} to {to}", context.who()),
            (true, false) => format!("{} is now {to}", context.who()),
            _ => format!("{} changed state", context.who()),
        };
        with(&changed, ": ", &self.why)
    }
}

/// Returns the name of a state for people; a state of another version is shown as it is.
fn state_words(state: &str) -> String {
    match state {
        "conversing" => "talking".to_owned(),
        "heartbeat" => "looking around".to_owned(),
        "cooldown" => "cooling down".to_owned(),
        "dragged" => "being carried".to_owned(),
        "waiting" => "waiting for you".to_owned(),
        "error" => "stuck".to_owned(),
        other => other.replace('_', " "),
    }
}

/// The content of an element changed, or the element itself.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ElementChanged {
    /// The id of the element.
    pub element: Id,
    /// The kind: `pinboard`.
    pub kind: Id,
    /// The author.
    pub by: Id,
    /// The change.
    pub change: ElementChangeKind,
    /// The id of the pin or mail that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// The reason, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The description by the element's kind, for changes that the log cannot describe: "drew on".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The id of the delivered message: `msg-7-3kq9x2mf`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Id>,
}

/// A change of an element.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElementChangeKind {
    /// The element was added.
    Added,
    /// The element was removed.
    Removed,
    /// The element was moved, renamed or reassigned.
    Rearranged,
    /// The text was replaced.
    TextSet,
    /// A pin was added.
    PinAdded,
    /// A pin was edited.
    PinEdited,
    /// A pin was removed.
    PinRemoved,
    /// A pin was voted on.
    PinVoted,
    /// A pin was flagged.
    PinFlagged,
    /// A comment was added to a pin.
    PinCommented,
    /// Mail arrived.
    MailAdded,
    /// Mail was edited.
    MailEdited,
    /// The status of mail changed.
    MailChanged,
    /// Mail was removed.
    MailRemoved,
    /// A change that only the element's kind knows, by its name.
    #[serde(untagged)]
    Other(Word),
}

impl Default for ElementChangeKind {
    fn default() -> Self {
        Self::Other("other".into())
    }
}

impl ElementChangeKind {
    /// Parses the name of a change.
    pub fn of(word: &str) -> Self {
        let known = Self::deserialize(serde::de::value::StrDeserializer::<serde::de::value::Error>::new(word));
        known.unwrap_or_else(|_| Self::Other(word.to_owned().into()))
    }
}

impl EventData for ElementChanged {
    const KIND: EventKind = EventKind::ElementChanged;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let by = context.by(&self.by);
        let element = context.element(&self.element);
        let id = self.id.as_deref().unwrap_or_default();
        let pin = if id.is_empty() { "a pin".to_owned() } else { with("pin", " ", id) };
        let mail = with("mail", " ", id);
        let done = match &self.change {
            ElementChangeKind::Added => in_brackets(&format!("{element} was added to the room"), &self.kind),
            ElementChangeKind::Removed => format!("{element} was removed from the room"),
            ElementChangeKind::Rearranged => format!("{element} was moved, renamed or reassigned"),
            ElementChangeKind::TextSet => format!("{by} wrote {element}"),
            ElementChangeKind::PinAdded => format!("{by} put {pin} on {element}"),
            ElementChangeKind::PinEdited => format!("{by} changed {pin} on {element}"),
            ElementChangeKind::PinRemoved => format!("{by} removed {pin} from {element}"),
            ElementChangeKind::PinVoted => format!("{by} voted on {pin} on {element}"),
            ElementChangeKind::PinFlagged => format!("{by} flagged {pin} on {element}"),
            ElementChangeKind::PinCommented => format!("{by} commented on {pin} on {element}"),
            ElementChangeKind::MailAdded => format!("{by} sent {mail} to {element}"),
            ElementChangeKind::MailEdited => format!("{by} edited {mail} in {element}"),
            ElementChangeKind::MailChanged => format!("{by} changed {mail} in {element}"),
            ElementChangeKind::MailRemoved => format!("{by} removed {mail} from {element}"),
            ElementChangeKind::Other(_) => format!("{by} {} {element}", self.said.as_deref().unwrap_or("changed")),
        };
        with(&done, ": ", self.why.as_deref().unwrap_or_default())
    }
}

/// An action was queued.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ActionQueued {
    /// The name of the action: `readElement`.
    pub action: Word,
    /// The id of the element or agent that it is about.
    pub target: Option<Id>,
    /// The urgency, if it differs among actions of its type.
    pub priority: Option<Word>,
    /// The earliest tick in which it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before_tick: Option<u64>,
    /// The reason, if the action does not imply it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl EventData for ActionQueued {
    const KIND: EventKind = EventKind::ActionQueued;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let action = action(context, &self.action, self.target.as_deref());
        let priority = self.priority.as_deref().filter(|priority| *priority == "high").unwrap_or_default();
        let done = match self.why.as_deref() {
            Some(why) => with(&format!("{} was woken by {}", context.who(), self.action), ": ", why),
            None => format!("{} decided to {action}", context.who()),
        };
        in_brackets(&done, priority)
    }
}

/// An action was refused or replaced, or a conversation did not start.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ActionDropped {
    /// The name of the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Word>,
    /// The id of the element or agent that it was about; null if that no longer exists.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub target: Option<Option<Id>>,
    /// What did not happen, if it was not an action of one agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<Word>,
    /// The kind of the conversation that did not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Word>,
    /// The topic of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// The reason.
    pub why: Word,
}

impl EventData for ActionDropped {
    const KIND: EventKind = EventKind::ActionDropped;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let dropped = match self.what.as_deref() {
            Some(what) if !what.is_empty() => with(what, " about ", self.topic.as_deref().unwrap_or_default()),
            _ => {
                let target = self.target.as_ref().and_then(Option::as_deref);
                let action = action(context, self.action.as_deref().unwrap_or_default(), target);
                format!("{} will not {action}", context.who())
            }
        };
        with(&dropped, ": ", &self.why)
    }
}

fn action(context: &NarrationContext<'_>, action: &str, target: Option<&str>) -> String {
    let about = target.unwrap_or_default();
    match action {
        "readElement" => format!("read {}", context.element(about)),
        "seekInfo" => format!("look at {}", context.element(about)),
        "approachAgent" => format!("go and tell {}", context.called(about)),
        "compactContext" => "sum up what it knows".to_owned(),
        "" => "do something".to_owned(),
        other => with(&format!("turn to {other}"), " at ", about),
    }
}

/// An agent reacted to an agent or element that it passed or looked at.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Reaction {
    /// The id of the agent that it reacted to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Id>,
    /// The id of the element that it reacted to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<Id>,
    /// The emoji shown above it.
    pub emoji: Word,
}

impl EventData for Reaction {
    const KIND: EventKind = EventKind::Reaction;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let to = match (&self.to, &self.element) {
            (Some(to), _) => context.called(to),
            (None, element) => context.element(element.as_deref().unwrap_or_default()),
        };
        with(&format!("{} noticed {to}", context.who()), " ", &self.emoji)
    }
}

/// An agent read an element, or tried to.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Read {
    /// The id of the element; null if it no longer exists.
    pub element: Option<Id>,
    /// The label of the element; null if it no longer exists.
    pub label: Option<Id>,
    /// The version that was read.
    pub version: Option<u32>,
    /// The outcome.
    pub outcome: ReadOutcome,
    /// The agent's remark about it.
    pub said: Option<String>,
    /// Why the agent made no remark.
    pub why: Option<Word>,
}

/// The outcome of reading an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadOutcome {
    /// The agent read it and made a remark.
    #[default]
    Read,
    /// The agent read it and made no remark.
    Nothing,
    /// It could not be read.
    Failed,
}

impl EventData for Read {
    const KIND: EventKind = EventKind::Read;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let element = match self.label.as_deref().filter(|label| !label.is_empty()) {
            Some(label) => with("", "", label),
            None => context.element(self.element.as_deref().unwrap_or_default()),
        };
        let version = self.version.map(|version| format!("version {version}")).unwrap_or_default();
        let (who, element) = (context.who(), in_brackets(&element, &version));
        let why = self.why.as_deref().unwrap_or_default();
        match self.outcome {
            ReadOutcome::Failed => with(&format!("{who} could not read {element}"), ": ", why),
            ReadOutcome::Nothing => with(&format!("{who} read {element} and said nothing"), ": ", why),
            ReadOutcome::Read => with(&format!("{who} read {element}"), ": ", self.said.as_deref().unwrap_or_default()),
        }
    }
}
