//! Everything that a prompt is made of, as plain data: the builder needs nothing else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::message::PromptMessage;
use crate::base::Id;
use crate::element::ItemNews;
use crate::knowledge::consolidation::Case;

/// What an agent knows and is asked at one moment.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MindContext {
    /// Every rulebook in the room: never filtered.
    pub rulebooks: Vec<LabelledText>,
    /// Who is asked.
    pub who: AgentIdentity,
    /// Where it is.
    pub place: Surroundings,
    /// What it can do.
    pub abilities: Abilities,
    /// What it works with, where it is at work.
    pub desk: WorkEnvironment,
    /// What it remembers.
    pub memory: Remembered,
    /// The pins that it keeps at hand.
    pub kept_pins: Vec<KeptPin>,
    /// The message boards.
    pub boards: Vec<LabelledText>,
    /// Its own open mail, what is unread first, the newest of the rest behind it.
    pub mail: Vec<MailItem>,
    /// What was refused or unknown in its last reply.
    pub feedback: Vec<String>,
    /// What was gathered for this prompt, by the part that asked for it.
    pub gathered: BTreeMap<Id, String>,
    /// The session, oldest message first.
    pub history: Vec<PromptMessage>,
    /// What it is asked.
    pub moment: CurrentRequest,
    /// Characters that the whole prompt may have.
    pub max_chars: usize,
    /// Tokens that a summary may have.
    pub summary_tokens: u32,
}

impl MindContext {
    /// Whether the agent may call a tool, where it is at work.
    pub fn has_tool(&self, tool: &str) -> bool {
        self.desk.tools.iter().any(|own| own == tool)
    }
}

/// The content of an element, with its label.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LabelledText {
    /// The element's id.
    pub id: Id,
    /// What it is called.
    pub label: Id,
    /// Its content.
    pub text: String,
}

/// The profile, as far as prompts need it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AgentIdentity {
    /// What it is called.
    pub name: Id,
    /// What it is for.
    pub description: String,
    /// Its system prompt.
    pub instructions: String,
    /// Whether the prompt holds what it knows of the workspace.
    pub share_workspace_info: bool,
    /// Whether the prompt holds what concerns the person.
    pub share_user_info: bool,
    /// Who the person is, where the settings say.
    pub person: String,
}

/// Where an agent is, and who and what is near, nearest first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Surroundings {
    /// The element that the agent is standing at, if any.
    pub at: Option<Id>,
    /// Who is near.
    pub people: Vec<Near>,
    /// What is near, by label.
    pub things: Vec<Id>,
    /// The room's date and time, in words; empty where the room knows none.
    pub time: String,
}

/// An agent nearby.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Near {
    /// Its name.
    pub name: Id,
    /// The profile it runs.
    pub profile: Id,
    /// What it does, in words; may be empty.
    pub doing: String,
}

/// What an agent can do besides speaking.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Abilities {
    /// The pinboards, by label: a new pin goes to the nearest.
    pub pinboards: Vec<Id>,
    /// Who can be sent mail, by name.
    pub addressees: Vec<Id>,
    /// Whether it has an inbox of its own.
    pub has_inbox: bool,
    /// The markers of other kinds of elements in the room.
    #[serde(default)]
    pub markers: Vec<MarkerLine>,
}

/// A marker that a kind of element declares.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MarkerLine {
    /// Its word.
    pub word: String,
    /// What it does.
    pub purpose: String,
}

/// The environment of a working agent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkEnvironment {
    /// The tools that it may call, by name.
    pub tools: Vec<String>,
    /// Whether it has tools of its own beside them, as a coding agent has.
    pub has_own_tools: bool,
    /// Who else is in the room.
    pub people: Vec<Colleague>,
    /// What it was asked last.
    pub asked: String,
    /// The skills that it may choose from, as they are listed; empty where it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub skills: String,
    /// What its modules add; empty where there is nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub modules: String,
}

/// Another agent in the room, as a working agent sees it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Colleague {
    /// Its name.
    pub name: Id,
    /// The profile it runs.
    pub profile: Id,
    /// What it is for.
    pub description: String,
}

/// The memory slots.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Remembered {
    /// The context summary.
    pub summary: String,
    /// Notes, oldest first.
    pub notes: Vec<String>,
    /// Interactions, oldest first.
    pub interactions: Vec<String>,
    /// Elements by label, and what it knows of them.
    pub seen: Vec<(Id, String)>,
    /// How many memories of its own and of everybody's it may be reminded of.
    #[serde(default)]
    pub recallable: usize,
}

/// A pin that an agent keeps.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct KeptPin {
    /// Its id.
    pub id: Id,
    /// The board it hangs on, by label.
    pub board: Id,
    /// Who put it up.
    pub author: Id,
    /// What it says.
    pub text: String,
}

/// A pin on a board.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PinView {
    /// Its id.
    pub id: Id,
    /// Who put it up.
    pub author: Id,
    /// What it says.
    pub text: String,
    /// Who voted for it.
    pub up: Vec<Id>,
    /// Who voted against it.
    pub down: Vec<Id>,
}

/// A piece of mail.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MailItem {
    /// Its id.
    pub id: Id,
    /// Who sent it, by name.
    pub from: Id,
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub text: String,
    /// Whether a model has seen it.
    pub read: bool,
}

/// Something that was said.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Line {
    /// Who said it, by name.
    pub by: Id,
    /// What.
    pub text: String,
    /// Whether the person said it.
    pub by_person: bool,
}

/// An item of an element that is new or changed for a reader.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NewItem {
    /// Its id.
    pub id: Id,
    /// What became of it.
    pub change: ItemNews,
    /// Who did that, by name.
    pub by: Id,
    /// What the item says now; empty where it is gone.
    pub text: String,
}

/// The current request to an agent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "moment", rename_all = "snake_case")]
pub enum CurrentRequest {
    /// To read what an element holds.
    Read {
        /// What it is called.
        label: Id,
        /// How a person would say its kind: "message board".
        kind: String,
        /// Its text.
        text: String,
        /// What is new of it since this agent's last read; all of it if it never read it.
        #[serde(default)]
        new: Option<String>,
        /// Its pins; of those that were read before only the new parts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pins: Vec<PinView>,
    },
    /// To read its own mail, which is in [`MindContext::mail`].
    ReadMail {
        /// What the inbox is called.
        label: Id,
        /// How a person would say its kind.
        kind: String,
        /// The mail, in a prompt as data; empty in a context.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mail: Vec<MailItem>,
    },
    /// To take a turn in a conversation.
    Talk {
        /// With whom, by name.
        with: Vec<Id>,
        /// About what.
        topic: Option<String>,
        /// What they said to each other before this conversation, oldest first.
        earlier: Vec<Line>,
        /// What was said in it, oldest first.
        said: Vec<Line>,
        /// Which turn this is, from 1.
        turn: u32,
        /// How many turns there are at most.
        turns: u32,
    },
    /// To turn to something that called it.
    Woken {
        /// Why, as a sentence without a full stop.
        why: String,
        /// What it is to do about it; may be empty.
        ask: String,
        /// What others said or wrote about it, oldest first.
        quotes: Vec<Line>,
        /// How many older ones were left out.
        left_out: u32,
    },
    /// To sum up its session.
    #[default]
    Compact,
    /// To decide what of everything that was said and done is worth remembering.
    Learn {
        /// The day, in words.
        today: String,
        /// What was said and done, oldest first.
        lines: Vec<Line>,
    },
    /// To decide what to do with candidates, given similar memories.
    Weigh {
        /// What is new, each with what is known that is like it.
        cases: Vec<Case>,
    },
    /// To continue work whose task is in the history.
    Work,
}

impl CurrentRequest {
    /// Whether it is about what is to be kept of what is over, and not about what is here and now: then the prompt
    /// holds nothing but what it is about.
    pub fn looks_back(&self) -> bool {
        matches!(self, Self::Compact | Self::Learn { .. } | Self::Weigh { .. })
    }

    /// Whether the request is independent: it is sent without a session.
    pub fn is_standalone(&self) -> bool {
        matches!(self, Self::Learn { .. } | Self::Weigh { .. })
    }
}
