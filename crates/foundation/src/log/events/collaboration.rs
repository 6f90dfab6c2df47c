//! Events of agents that work together: channels, the blackboard, and tasks that are handed over.

use serde::{Deserialize, Serialize};

use super::{EventData, EventKind, is_false};
use crate::base::Id;
use crate::log::narration::{NarrationContext, aside, counted, with};

/// A message was published in a channel.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Publish {
    /// In which.
    pub channel: Id,
    /// The number of the message in its channel, from 1.
    pub number: u64,
    /// What, cut to a length.
    pub text: String,
    /// Who said it, where it was no agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Id>,
    /// Who hears it, by id: the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<Id>,
    /// How many hear it.
    pub subscribers: u64,
}

impl EventData for Publish {
    const KIND: EventKind = EventKind::Publish;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let who = telling.agent_or(self.by.as_deref().unwrap_or_default());
        let said = with(&with(&format!("{who} said in"), " channel ", &self.channel), ": ", &self.text);
        aside(&said, &if self.subscribers == 0 { "no listeners yet".to_owned() } else { String::new() })
    }
}

/// An agent subscribed to a channel, or unsubscribed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Subscribe {
    /// Which.
    pub channel: Id,
    /// Whether it ended.
    #[serde(skip_serializing_if = "is_false")]
    pub ended: bool,
    /// Who ended it, where it was not the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Id>,
}

impl EventData for Subscribe {
    const KIND: EventKind = EventKind::Subscribe;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let verb = if self.ended { "no longer listens to" } else { "listens to" };
        let said = with(&format!("{} {verb}", telling.who()), " channel ", &self.channel);
        let by = self.by.as_deref().map(|by| format!("by {}", telling.called(by)));
        aside(&said, &by.unwrap_or_default())
    }
}

/// Messages of a channel were delivered to an agent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Deliver {
    /// In which.
    pub channel: Id,
    /// The number of the first message.
    pub first: u64,
    /// The number of the last one.
    pub last: u64,
    /// How many; what it said itself is none of them.
    pub messages: u64,
    /// Whether it has new work because of it.
    #[serde(skip_serializing_if = "is_false")]
    pub woke: bool,
}

impl EventData for Deliver {
    const KIND: EventKind = EventKind::Deliver;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let messages = counted(self.messages, "message", "messages");
        with(&format!("{} heard {messages}", telling.who()), " of channel ", &self.channel)
    }
}

/// An entry of the blackboard changed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Blackboard {
    /// The piece of work that began the run whose blackboard it is: `act-3`.
    pub run: Id,
    /// Which entry.
    pub key: String,
    /// What it says, as JSON that is cut to a length; absent where it was taken away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Which version of the entry it is, from 1.
    pub version: u64,
    /// Whether it is kept when the run ends.
    #[serde(skip_serializing_if = "is_false")]
    pub shared: bool,
    /// Who wrote it, where it was no agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Id>,
}

impl EventData for Blackboard {
    const KIND: EventKind = EventKind::Blackboard;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let who = telling.agent_or(self.by.as_deref().unwrap_or_default());
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
    /// To whom, by id.
    pub to: Id,
    /// The task, cut to a length.
    pub task: String,
    /// Its work: `act-9`.
    pub activation: Id,
    /// How deep it is.
    pub depth: u32,
    /// In how many turns it is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_turns: Option<u32>,
    /// How soon, where it is not the usual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<TaskPriority>,
}

/// The urgency of a task that was handed over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskPriority {
    /// Before what is usual.
    High,
    /// In its turn.
    #[default]
    Normal,
    /// After what is usual.
    Low,
}

impl EventData for HandOver {
    const KIND: EventKind = EventKind::HandOver;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let handed = format!("{} handed a task over to {}", telling.who(), telling.called(&self.to));
        let turns = self.deadline_turns.map(|turns| counted(turns.into(), "turn", "turns"));
        with(&aside(&handed, &with("", "within ", &turns.unwrap_or_default())), ": ", &self.task)
    }
}

/// An agent returned the result of a task that was handed over to it, or failed to.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskResultReturned {
    /// To whom, by id.
    pub to: Id,
    /// Whether it is what was asked for.
    pub ok: bool,
    /// The result, or why there is none; cut to a length.
    pub result: String,
}

impl EventData for TaskResultReturned {
    const KIND: EventKind = EventKind::TaskResultReturned;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let (who, to) = (telling.who(), telling.called(&self.to));
        let told =
            if self.ok { format!("{who} gave its result to {to}") } else { format!("{who} had no result for {to}") };
        with(&told, ": ", &self.result)
    }
}
