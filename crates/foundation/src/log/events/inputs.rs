//! Events for input from outside: a person's actions on agents, conversations, relationships and work.

use serde::{Deserialize, Serialize};

use super::{EventData, EventKind};
use crate::base::{ActivationKey, AllowScope, AnswerPlace, Behaviour, ConversationKey, Id};
use crate::log::narration::{NarrationContext, in_brackets, with};

/// An input from outside.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Input {
    /// A person made a decision about work.
    Work(WorkInput),
    /// A person changed relationships between agents.
    Relationship(RelationshipInput),
    /// A person did something with an agent.
    Agent(AgentInput),
    /// A person controlled conversations or the activity of the room.
    Talk(TalkInput),
    /// A person changed the furniture.
    Furnished {
        /// The kind of the furniture.
        furniture: Id,
        /// The change.
        did: Furnishing,
    },
    /// Unfinished work in a session file was dropped.
    Dropped {
        /// The id of its agent.
        agent: Id,
        /// The work, since when it is unfinished, and why it is dropped.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// A person replaced the provider of all agents; null if agents and settings decide again.
    ProviderOverride {
        /// Always `stand-in provider`.
        what: ProviderOverride,
        /// The provider.
        provider: Option<String>,
    },
}

/// A person's change of a piece of furniture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Furnishing {
    /// The piece was added.
    Added,
    /// The piece was moved, turned or resized.
    Changed,
    /// The piece was removed.
    Removed,
}

/// The constant value by which this input is recognised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum ProviderOverride {
    /// The only value.
    #[default]
    #[serde(rename = "stand-in provider")]
    Provider,
}

/// A person's decision about work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are those of the decision, and in whose work it is made")]
pub enum WorkInput {
    /// No work starts, and running work is paused.
    Pause,
    /// Work continues.
    Resume,
    /// Each activation runs for one more turn.
    OneTurnEach,
    /// One activation is stopped.
    Kill {
        activation: ActivationKey,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<String>,
    },
    /// All activations of an agent are stopped.
    KillAgent { agent: Id },
    /// All activations are stopped.
    KillAll,
    /// The maximum number of parallel activations and the maximum depth of delegation change.
    Limits { concurrency: Option<u32>, depth_at_most: Option<u32> },
    /// A tool call is allowed or denied.
    Decide {
        activation: ActivationKey,
        turn: u32,
        call: usize,
        allow: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        what: Option<String>,
        #[serde(default, skip_serializing_if = "AllowScope::is_once")]
        scope: AllowScope,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
        #[serde(default, skip_serializing_if = "AnswerPlace::is_window")]
        answered_in: AnswerPlace,
    },
}

/// A person's action on an agent. Positions are in room units.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum AgentInput {
    /// Added an agent.
    Add { id: Option<Id>, profile: Id, position: [f64; 2], behaviour: Option<Behaviour>, exactly: bool },
    /// Removed an agent.
    Remove { agent: Id },
    /// Set its idle behaviour.
    SetBehaviour { agent: Id, behaviour: Behaviour },
    /// Set its home; `by` says who did, if not the person.
    SetHome {
        agent: Id,
        position: [f64; 2],
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Id>,
    },
    /// Moved it.
    Place { agent: Id, position: [f64; 2] },
    /// Picked it up.
    PickUp { agent: Id },
    /// Moved it while it was picked up.
    Carry { agent: Id, position: [f64; 2] },
    /// Put it down.
    PutDown { agent: Id },
    /// Paused it.
    Pause { agent: Id },
    /// Resumed it.
    Resume { agent: Id },
}

/// A person's action on conversations and the activity of the room.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum TalkInput {
    /// Started a conversation between agents.
    Start { participants: Vec<Id>, topic: String },
    /// Said something.
    Speak { conversation: ConversationKey, text: String },
    /// Ended a conversation.
    Stop { conversation: ConversationKey },
    /// Turned conversations on or off.
    Switch { on: bool },
    /// Turned rest for agents without work on or off.
    Rest { on: bool },
}

/// A person's change of relationships.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum RelationshipInput {
    /// Added a relationship, at an index of the list or at its end.
    Add { relationship: RelationshipData, at: Option<usize> },
    /// Removed a relationship.
    Remove { relationship: RelationshipData },
    /// Changed the label of a relationship.
    Relabel { relationship: RelationshipData, label: String },
}

/// A relationship between two agents.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RelationshipData {
    /// The id of the first agent.
    pub from: Id,
    /// The id of the second agent.
    pub to: Id,
    /// The role of the first agent towards the second.
    pub label: String,
}

impl Input {
    /// Creates the input by which a person replaces the provider of all agents.
    pub fn provider_override(provider: Option<String>) -> Self {
        Self::ProviderOverride { what: ProviderOverride::Provider, provider }
    }
}

macro_rules! inputs {
    ($($name:ident($kind:ty)),*) => {
        $(impl From<$kind> for Input {
            fn from(input: $kind) -> Self {
                Self::$name(input)
            }
        })*
    };
}

inputs!(Work(WorkInput), Relationship(RelationshipInput), Agent(AgentInput), Talk(TalkInput));

impl EventData for Input {
    const KIND: EventKind = EventKind::Input;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        match self {
            Self::Work(input) => input.narrate(context),
            Self::Relationship(input) => input.narrate(context),
            Self::Agent(input) => input.narrate(context),
            Self::Talk(input) => input.narrate(context),
            Self::Furnished { furniture, did: Furnishing::Added } => {
                format!("you added furniture to the room: {furniture}")
            }
            Self::Furnished { furniture, did: Furnishing::Changed } => format!("you moved furniture: {furniture}"),
            Self::Furnished { furniture, did: Furnishing::Removed } => {
                format!("you removed furniture from the room: {furniture}")
            }
            Self::Dropped { what, .. } => with("", "", what),
            Self::ProviderOverride { provider: None, .. } => {
                "you reset the provider to the settings and agents".to_owned()
            }
            Self::ProviderOverride { provider: Some(provider), .. } => {
                with("you let", " ", provider) + " answer for everyone"
            }
        }
    }
}

impl WorkInput {
    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        match self {
            Self::Pause => "you paused all work".to_owned(),
            Self::Resume => "you resumed all work".to_owned(),
            Self::OneTurnEach => "you advanced all work by one turn".to_owned(),
            Self::KillAll => "you stopped all work".to_owned(),
            Self::KillAgent { agent } => format!("you stopped the work of {}", context.called(agent)),
            Self::Kill { activation, agent, task } => {
                let piece = match agent {
                    Some(agent) => format!("{}'s work ({})", context.called(agent), activation.id()),
                    None => activation.id().to_string(),
                };
                with(&format!("you stopped {piece}"), ": ", task.as_deref().unwrap_or_default())
            }
            Self::Limits { concurrency, depth_at_most } => {
                let most = concurrency.map(|most| format!(" concurrency: {most}"));
                let depth = depth_at_most.map(|depth| format!(" depth: {depth}"));
                let limits: Vec<String> = [most, depth].into_iter().flatten().collect();
                if limits.is_empty() {
                    return "you changed the work limits".to_owned();
                }
                format!("you changed the work limits,{}", limits.join(","))
            }
            Self::Decide { activation, allow, agent, tool, what, scope, because, answered_in, .. } => {
                let decided = if *allow { "allowed" } else { "refused" };
                let how_far = if *allow { scope.clause() } else { String::new() };
                let place = match answered_in {
                    AnswerPlace::Window => "",
                    AnswerPlace::Terminal => " on the command line",
                    AnswerPlace::File => " in the approvals file",
                    AnswerPlace::OnAsk => "",
                };
                let by = if *answered_in == AnswerPlace::OnAsk { "the option --on-ask" } else { "you" };
                match (agent, tool) {
                    (Some(agent), Some(tool)) => {
                        let told = with(&format!("{by} {decided} {}'s", context.called(agent)), " ", tool) + &how_far;
                        let told = told + place;
                        let told = with(&told, ": ", what.as_deref().unwrap_or_default());
                        in_brackets(&told, because.as_deref().unwrap_or_default())
                    }
                    (Some(agent), None) => {
                        let whose = context.called(agent);
                        format!("{by} {decided} a tool call of {whose}'s work ({})", activation.id())
                    }
                    (None, _) => format!("{by} {decided} a tool call of {}", activation.id()),
                }
            }
        }
    }
}

impl AgentInput {
    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        match self {
            Self::Add { profile, .. } => with("you added an agent to the room", ": ", profile),
            Self::Remove { agent } => format!("you removed {} from the room", context.called(agent)),
            Self::SetBehaviour { agent, behaviour } => {
                format!("you set the behaviour of {} to {}", context.called(agent), super::enum_name(behaviour))
            }
            Self::SetHome { agent, by, .. } => {
                let by = by.as_ref().map_or_else(|| "you".to_owned(), |by| context.called(by));
                format!("{by} gave {} a new home", context.called(agent))
            }
            Self::Place { agent, .. } => format!("you moved {}", context.called(agent)),
            Self::PickUp { agent } => format!("you picked {} up", context.called(agent)),
            Self::Carry { agent, .. } => format!("you carried {}", context.called(agent)),
            Self::PutDown { agent } => format!("you put {} down", context.called(agent)),
            Self::Pause { agent } => format!("you paused {}", context.called(agent)),
            Self::Resume { agent } => format!("you resumed {}", context.called(agent)),
        }
    }
}

impl TalkInput {
    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        match self {
            Self::Start { participants, topic } => {
                with(&format!("you let {} talk", context.everyone(participants)), " about ", topic)
            }
            Self::Speak { text, .. } => with("you said", ": ", text),
            Self::Stop { conversation } => format!("you ended conversation {conversation}"),
            Self::Switch { on: true } => "you turned conversations on".to_owned(),
            Self::Switch { on: false } => "you turned conversations off".to_owned(),
            Self::Rest { on: true } => "you let everyone who is not working rest".to_owned(),
            Self::Rest { on: false } => "you let everyone continue".to_owned(),
        }
    }
}

impl RelationshipInput {
    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let pair = |tie: &RelationshipData| format!("{} and {}", context.called(&tie.from), context.called(&tie.to));
        match self {
            Self::Add { relationship, .. } => {
                with(&format!("you related {}", pair(relationship)), ": ", &relationship.label)
            }
            Self::Remove { relationship } => {
                with(&format!("you ended a relationship of {}", pair(relationship)), ": ", &relationship.label)
            }
            Self::Relabel { relationship, label } => {
                let label = if label.is_empty() { "nothing" } else { label };
                with(&format!("you renamed the relationship of {} to", pair(relationship)), " ", label)
            }
        }
    }
}
