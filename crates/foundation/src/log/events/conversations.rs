//! Events of conversations, memory and session summaries.

use serde::{Deserialize, Serialize};

use super::{EventData, EventKind, Word};
use crate::base::Id;
use crate::log::narration::{NarrationContext, counted, in_brackets, joined, with};

/// A conversation started.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConversationStart {
    /// The ids of the participants.
    pub participants: Vec<Id>,
    /// The occasion: `chance`.
    pub kind: Word,
    /// The topic; may be empty.
    pub topic: String,
}

impl EventData for ConversationStart {
    const KIND: EventKind = EventKind::ConversationStart;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        with(&format!("{} started talking", context.everyone(&self.participants)), " about ", &self.topic)
    }
}

/// Someone said something in a conversation.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Message {
    /// The author, if it was no agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Id>,
    /// The text.
    pub text: String,
    /// The id, such as `msg-7-3kq9x2mf`. Records of older versions have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
}

impl EventData for Message {
    const KIND: EventKind = EventKind::Message;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let who = context.agent_or(self.by.as_deref().unwrap_or_default());
        with(&format!("{who} said"), ": ", &self.text)
    }
}

/// A conversation ended.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConversationEnd {
    /// The reason.
    pub why: String,
    /// The number of turns.
    pub turns: Option<u32>,
}

impl EventData for ConversationEnd {
    const KIND: EventKind = EventKind::ConversationEnd;

    fn narrate(&self, _: &NarrationContext<'_>) -> String {
        let turns = self.turns.map(|turns| counted(turns.into(), "turn", "turns"));
        with(&with("the conversation ended", " after ", &turns.unwrap_or_default()), ": ", &self.why)
    }
}

/// A memory slot changed. An element is given by its id, unless it no longer exists.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are; `dropped` had to make room")]
pub enum Memory {
    /// A note was added.
    Noted { note: String, dropped: Option<String> },
    /// An interaction was added.
    Met { interaction: String, dropped: Option<String> },
    /// A version of an element was read.
    Saw {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        element: Option<Id>,
        version: u32,
        summary: String,
    },
    /// A pin was added to the kept ones.
    PinKept {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        element: Option<Id>,
        pin: Id,
        dropped: Option<Id>,
    },
    /// A kept pin was released.
    PinReleased { pin: Id },
    /// The summary was replaced.
    Summed { summary: String },
    /// The summary was emptied.
    SummaryCleared,
    /// An element was removed from the room, with everything known about it.
    Forgot {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        element: Option<Id>,
        #[serde(default)]
        pins: Vec<Id>,
    },
    /// An element is back in the room, with everything known about it.
    Recalled {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        element: Option<Id>,
        #[serde(default)]
        pins: Vec<Id>,
    },
    /// Every slot was emptied.
    Cleared,
}

impl EventData for Memory {
    const KIND: EventKind = EventKind::Memory;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let who = context.who();
        let named = |element: &Option<Id>| context.element(element.as_deref().unwrap_or_default());
        match self {
            Self::Noted { note, .. } => with(&format!("{who} noted"), ": ", note),
            Self::Met { interaction, .. } => with(&format!("{who} remembered"), ": ", interaction),
            Self::Saw { element, summary, .. } => with(&format!("{who} learned {}", named(element)), ": ", summary),
            Self::PinKept { pin, .. } => format!("{who} kept {} in mind", with("pin", " ", pin)),
            Self::PinReleased { pin } => format!("{who} let {} go", with("pin", " ", pin)),
            Self::Summed { summary } => with(&format!("{who} summed up"), ": ", summary),
            Self::SummaryCleared => format!("{who} cleared its summary"),
            Self::Recalled { element, .. } => format!("{who} remembered {}", named(element)),
            Self::Forgot { element, .. } => format!("{who} forgot {}", named(element)),
            Self::Cleared => format!("{who} forgot everything"),
        }
    }
}

/// How a model asked for an act.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActWay {
    /// It called a declared function.
    Call,
    /// It wrote a marker into its reply.
    Marker,
}

/// An agent acted on the room with a reply.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Acted {
    /// How its model asked for it.
    pub way: ActWay,
    /// What was done, one sentence for each act. An act that its element refuses has a record of that, too.
    pub acts: Vec<String>,
}

impl EventData for Acted {
    const KIND: EventKind = EventKind::Acted;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let how = match self.way {
            ActWay::Call => "by calling functions",
            ActWay::Marker => "by markers in its text",
        };
        let acts: Vec<&str> = self.acts.iter().map(|act| act.trim_end_matches('.')).collect();
        with(&format!("{} acted {how}", context.who()), ": ", &acts.join("; "))
    }
}

/// A session was compacted, or the compaction failed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Compaction {
    /// The session was summarised.
    Done {
        /// The number of turns that the summary replaces.
        turns: u32,
        /// The number of messages that were removed.
        messages_dropped: u64,
    },
    /// The compaction failed.
    Failed {
        /// The reason.
        why: String,
        /// The tick of the next attempt; null if there is none.
        retry_tick: Option<u64>,
        /// The number of consecutive failures.
        failures: u32,
    },
}

impl EventData for Compaction {
    const KIND: EventKind = EventKind::Compaction;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let who = context.who();
        match self {
            Self::Failed { why, .. } => with(&format!("{who} could not sum up its session"), ": ", why),
            Self::Done { turns, messages_dropped } => {
                let turns = counted((*turns).into(), "turn", "turns");
                let dropped = counted(*messages_dropped, "message", "messages") + " dropped";
                in_brackets(&format!("{who} summed up its session"), &joined([Some(turns), Some(dropped)]))
            }
        }
    }
}
