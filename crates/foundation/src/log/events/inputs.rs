//! Events for input from outside: what a person did with agents, conversations, relationships and work.

use serde::{Deserialize, Serialize};

use super::{EventData, EventKind};
use crate::base::{ActivationKey, AllowScope, AnsweredIn, Behaviour, ConversationKey, Id};
use crate::log::narration::{NarrationContext, aside, with};

/// Something came in from outside.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Input {
    /// A person decided about work.
    Work(WorkInput),
    /// A person related agents, or changed how they are related.
    Relationship(RelationshipInput),
    /// A person did something to an agent.
    Agent(AgentInput),
    /// A person controls conversations, or lets everybody rest.
    Talk(TalkInput),
    /// A person furnished the room.
    Furnished {
        /// With what: the word of its kind.
        furniture: Id,
        /// What was done with it.
        did: Furnishing,
    },
    /// Work that a session's file calls unfinished is dropped.
    Dropped {
        /// Whose it was, by id.
        agent: Id,
        /// Which work, since when, and why it is dropped.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// A person lets a provider answer for everyone; null where agents and settings choose again.
    ProviderOverride {
        /// `stand-in provider`.
        what: ProviderOverride,
        /// Which.
        provider: Option<String>,
    },
}

/// What a person did with a piece of furniture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Furnishing {
    /// It was put into the room.
    Added,
    /// It was moved, turned or resized.
    Changed,
    /// It was taken out.
    Removed,
}

/// The name in an input that sets a provider for everyone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum ProviderOverride {
    /// The only ones.
    #[default]
    #[serde(rename = "stand-in provider")]
    Provider,
}

/// A person's decision about work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are those of the decision, and in whose work it is made")]
pub enum WorkInput {
    /// No work begins, and running work is paused.
    Pause,
    /// Work continues.
    Resume,
    /// Every piece of work has one more turn.
    OneTurnEach,
    /// One piece of work ends now.
    Kill {
        activation: ActivationKey,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<String>,
    },
    /// All work of an agent ends now.
    KillAgent { agent: Id },
    /// All work ends now.
    KillAll,
    /// How much work runs in parallel, and how deep agents may start agents.
    Limits { concurrency: Option<u32>, depth_at_most: Option<u32> },
    /// A tool call may happen, or may not.
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
        #[serde(default, skip_serializing_if = "AnsweredIn::is_window")]
        answered_in: AnsweredIn,
    },
}

/// What a person did to an agent. Positions are in room units.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum AgentInput {
    /// Put one into the room.
    Add { id: Option<Id>, profile: Id, position: [f64; 2], behaviour: Option<Behaviour>, exactly: bool },
    /// Took it out.
    Remove { agent: Id },
    /// Told it what to do when it has nothing to do.
    SetBehaviour { agent: Id, behaviour: Behaviour },
    /// Gave it a new home.
    SetHome { agent: Id, position: [f64; 2] },
    /// Put it elsewhere.
    Place { agent: Id, position: [f64; 2] },
    /// Lifted it.
    PickUp { agent: Id },
    /// Moved it while it was lifted.
    Carry { agent: Id, position: [f64; 2] },
    /// Put it down.
    PutDown { agent: Id },
    /// Paused it in place.
    Pause { agent: Id },
    /// Resume it.
    Resume { agent: Id },
}

/// What a person did about conversations and the activity of the room.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum TalkInput {
    /// Let agents talk about something.
    Start { participants: Vec<Id>, topic: String },
    /// Said something.
    Speak { conversation: ConversationKey, text: String },
    /// Ended a conversation.
    Stop { conversation: ConversationKey },
    /// Let agents talk to each other, or not.
    Switch { on: bool },
    /// Let everybody rest who is not at work, or live on.
    Rest { on: bool },
}

/// What a person did to relationships.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum RelationshipInput {
    /// Related one agent to another, at a place of the list or at its end.
    Add { relationship: Tie, at: Option<usize> },
    /// Ended a relationship.
    Remove { relationship: Tie },
    /// Called a relationship something else.
    Relabel { relationship: Tie, label: String },
}

/// A relationship between two agents.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tie {
    /// Who, by id.
    pub from: Id,
    /// To whom.
    pub to: Id,
    /// What the one is to the other.
    pub label: String,
}

impl Input {
    /// A person lets a provider answer for everyone.
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

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        match self {
            Self::Work(input) => input.narrate(telling),
            Self::Relationship(input) => input.narrate(telling),
            Self::Agent(input) => input.narrate(telling),
            Self::Talk(input) => input.narrate(telling),
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
    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        match self {
            Self::Pause => "you paused all work".to_owned(),
            Self::Resume => "you resumed all work".to_owned(),
            Self::OneTurnEach => "you advanced all work by one turn".to_owned(),
            Self::KillAll => "you stopped all work".to_owned(),
            Self::KillAgent { agent } => format!("you stopped the work of {}", telling.called(agent)),
            Self::Kill { activation, agent, task } => {
                let piece = match agent {
                    Some(agent) => format!("{}'s work ({})", telling.called(agent), activation.id()),
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
                    AnsweredIn::Window => "",
                    AnsweredIn::Terminal => " on the command line",
                    AnsweredIn::File => " in the approvals file",
                };
                match (agent, tool) {
                    (Some(agent), Some(tool)) => {
                        let told = with(&format!("you {decided} {}'s", telling.called(agent)), " ", tool) + &how_far;
                        let told = told + place;
                        let told = with(&told, ": ", what.as_deref().unwrap_or_default());
                        aside(&told, because.as_deref().unwrap_or_default())
                    }
                    (Some(agent), None) => {
                        let whose = telling.called(agent);
                        format!("you {decided} a tool call of {whose}'s work ({})", activation.id())
                    }
                    (None, _) => format!("you {decided} a tool call of {}", activation.id()),
                }
            }
        }
    }
}

impl AgentInput {
    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        match self {
            Self::Add { profile, .. } => with("you added an agent to the room", ": ", profile),
            Self::Remove { agent } => format!("you removed {} from the room", telling.called(agent)),
            Self::SetBehaviour { agent, behaviour } => {
                format!("you set the behaviour of {} to {}", telling.called(agent), super::word(behaviour))
            }
            Self::SetHome { agent, .. } => format!("you gave {} a new home", telling.called(agent)),
            Self::Place { agent, .. } => format!("you moved {}", telling.called(agent)),
            Self::PickUp { agent } => format!("you picked {} up", telling.called(agent)),
            Self::Carry { agent, .. } => format!("you carried {}", telling.called(agent)),
            Self::PutDown { agent } => format!("you put {} down", telling.called(agent)),
            Self::Pause { agent } => format!("you paused {}", telling.called(agent)),
            Self::Resume { agent } => format!("you resumed {}", telling.called(agent)),
        }
    }
}

impl TalkInput {
    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        match self {
            Self::Start { participants, topic } => {
                with(&format!("you let {} talk", telling.everyone(participants)), " about ", topic)
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
    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let pair = |tie: &Tie| format!("{} and {}", telling.called(&tie.from), telling.called(&tie.to));
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
