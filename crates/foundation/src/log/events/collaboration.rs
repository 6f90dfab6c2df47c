//! Events of agents that work together: channels, the blackboard, and tasks that are handed over.

use serde::{Deserialize, Serialize};

use super::{EventData, EventKind, is_false};
use crate::base::Id;
use crate::log::narration::{NarrationContext, counted, in_brackets, with};

/// A message was published in a channel.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Publish {
    /// The channel.
    pub channel: Id,
    /// The number of the message in its channel, from 1.
    pub number: u64,
    /// The text, shortened.
    pub text: String,
    /// The author, if it was no agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Id>,
    /// The ids of the first recipients.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<Id>,
    /// The number of recipients.
    pub subscribers: u64,
}

impl EventData for Publish {
    const KIND: EventKind = EventKind::Publish;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let who = context.agent_or(self.by.as_deref().unwrap_or_default());
        let said = with(&with(&format!("{who} said in"), " channel ", &self.channel), ": ", &self.text);
        in_brackets(&said, &if self.subscribers == 0 { "no listeners yet".to_owned() } else { String::new() })
    }
}

/// An agent subscribed to a channel, or unsubscribed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Subscribe {
    /// The channel.
    pub channel: Id,
    /// Whether the subscription ended.
    #[serde(skip_serializing_if = "is_false")]
    pub ended: bool,
    /// Who ended it, if it was not the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Id>,
}

impl EventData for Subscribe {
    const KIND: EventKind = EventKind::Subscribe;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let verb = if self.ended { "no longer listens to" } else { "listens to" };
        let said = with(&format!("{} {verb}", context.who()), " channel ", &self.channel);
        let by = self.by.as_deref().map(|by| format!("by {}", context.called(by)));
        in_brackets(&said, &by.unwrap_or_default())
    }
}

/// Messages of a channel were delivered to an agent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Deliver {
    /// The channel.
    pub channel: Id,
    /// The number of the first message.
    pub first: u64,
    /// The number of the last message.
    pub last: u64,
    /// The number of messages, without those by the agent itself.
    pub messages: u64,
    /// Whether the agent has new work because of them.
    #[serde(skip_serializing_if = "is_false")]
    pub woke: bool,
}

impl EventData for Deliver {
    const KIND: EventKind = EventKind::Deliver;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let messages = counted(self.messages, "message", "messages");
        with(&format!("{} heard {messages}", context.who()), " of channel ", &self.channel)
    }
}

/// An entry of the blackboard changed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Blackboard {
    /// The first activation of the run whose blackboard it is: `act-3`.
    pub run: Id,
    /// The key of the entry.
    pub key: String,
    /// The value as JSON, shortened; absent if the entry was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The version of the entry, from 1.
    pub version: u64,
    /// Whether it is kept when the run ends.
    #[serde(skip_serializing_if = "is_false")]
    pub shared: bool,
    /// The author, if it was no agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Id>,
}

impl EventData for Blackboard {
    const KIND: EventKind = EventKind::Blackboard;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let who = context.agent_or(self.by.as_deref().unwrap_or_default());
        let key = if self.key.is_empty() { "an entry".to_owned() } else { with("", "", &self.key) };
        match &self.value {
            Some(value) => with(&format!("{who} wrote {key} on the blackboard"), ": ", value),
            None => format!("{who} removed {key} from the blackboard"),
        }
    }
}

/// An agent handed a task over to another.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HandOver {
    /// The id of the other agent.
    pub to: Id,
    /// The task, shortened.
    pub task: String,
    /// The activation for the task: `act-9`.
    pub activation: Id,
    /// The depth of delegation.
    pub depth: u32,
    /// The number of turns in which it must be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_turns: Option<u32>,
    /// The urgency, if it is not normal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<TaskPriority>,
}

/// The urgency of a task that was handed over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskPriority {
    /// Before normal tasks.
    High,
    /// In order of arrival.
    #[default]
    Normal,
    /// After normal tasks.
    Low,
}

impl EventData for HandOver {
    const KIND: EventKind = EventKind::HandOver;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let handed = format!("{} handed a task over to {}", context.who(), context.called(&self.to));
        let turns = self.deadline_turns.map(|turns| counted(turns.into(), "turn", "turns"));
        with(&in_brackets(&handed, &with("", "within ", &turns.unwrap_or_default())), ": ", &self.task)
    }
}

/// An agent returned the result of a task that was handed over to it, or failed to.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskResultReturned {
    /// The id of the agent that handed it over.
    pub to: Id,
    /// Whether the task was done.
    pub ok: bool,
    /// The result, or why there is none; shortened.
    pub result: String,
}

impl EventData for TaskResultReturned {
    const KIND: EventKind = EventKind::TaskResultReturned;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let (who, to) = (context.who(), context.called(&self.to));
        let told =
            if self.ok { format!("{who} gave its result to {to}") } else { format!("{who} had no result for {to}") };
        with(&told, ": ", &self.result)
    }
}
