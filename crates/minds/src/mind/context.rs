//! All input of the prompt builder as plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::message::PromptMessage;
use crate::base::Id;
use crate::element::ItemNews;
use crate::knowledge::consolidation::Case;

/// An agent's knowledge and its current request.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MindContext {
    /// All rulebooks in the room, unfiltered.
    pub rulebooks: Vec<LabelledText>,
    /// The agent's identity.
    pub who: AgentIdentity,
    /// The agent's surroundings.
    pub place: Surroundings,
    /// The agent's abilities besides speaking.
    pub abilities: Abilities,
    /// Whether it acts by calling functions instead of writing markers.
    pub calls_acts: bool,
    /// The environment of a working agent.
    pub desk: WorkEnvironment,
    /// The agent's memory slots.
    pub memory: Remembered,
    /// The pins that the agent keeps in its memory.
    pub kept_pins: Vec<KeptPin>,
    /// The message boards.
    pub boards: Vec<LabelledText>,
    /// The agent's open mail: unread items first, then the newest of the rest.
    pub mail: Vec<MailItem>,
    /// Remarks on refused or unknown parts of the agent's last reply.
    pub feedback: Vec<String>,
    /// The texts gathered for this prompt, by part.
    pub gathered: BTreeMap<Id, String>,
    /// The session, oldest message first.
    pub history: Vec<PromptMessage>,
    /// The current request.
    pub moment: CurrentRequest,
    /// Maximum length of the whole prompt in characters.
    pub max_chars: usize,
    /// Maximum length of a summary in tokens.
    pub summary_tokens: u32,
}

impl MindContext {
    /// Whether the working agent may call a tool.
    pub fn has_tool(&self, tool: &str) -> bool {
        self.desk.tools.iter().any(|own| own == tool)
    }
}

/// The content of an element, with its label.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LabelledText {
    /// The element's id.
    pub id: Id,
    /// The label of the element.
    pub label: Id,
    /// The content of the element.
    pub text: String,
}

/// The part of a profile that prompts need.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AgentIdentity {
    /// The agent's name.
    pub name: Id,
    /// The description of the profile.
    pub description: String,
    /// The instructions in the agent file.
    pub instructions: String,
    /// Whether the prompt contains the agent's knowledge of the workspace.
    pub share_workspace_info: bool,
    /// Whether the prompt contains information about the person.
    pub share_user_info: bool,
    /// The person's description of themselves from the settings; may be empty.
    pub person: String,
}

/// An agent's place, and the agents and elements nearby, nearest first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Surroundings {
    /// The element that the agent is standing at, if any.
    pub at: Option<Id>,
    /// The agents nearby.
    pub people: Vec<NearbyAgent>,
    /// The labels of the elements nearby.
    pub things: Vec<Id>,
    /// The room's date and time as text; empty if the room has none.
    pub time: String,
}

/// An agent nearby.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NearbyAgent {
    /// The agent's name.
    pub name: Id,
    /// The id of its profile.
    pub profile: Id,
    /// Its current activity as text; may be empty.
    pub doing: String,
}

/// An agent's abilities besides speaking.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Abilities {
    /// The labels of the pinboards; a new pin goes to the nearest.
    pub pinboards: Vec<Id>,
    /// The names of the agents that can receive mail.
    pub addressees: Vec<Id>,
    /// Whether it has an inbox of its own.
    pub has_inbox: bool,
    /// The markers of other element kinds in the room.
    #[serde(default)]
    pub markers: Vec<MarkerLine>,
}

/// A marker that an element kind declares.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MarkerLine {
    /// The word of the marker.
    pub word: String,
    /// The effect of the marker, for the prompt.
    pub purpose: String,
}

/// The environment of a working agent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkEnvironment {
    /// The names of the tools it may call.
    pub tools: Vec<String>,
    /// Whether it also has tools of its own, like a coding agent.
    pub has_own_tools: bool,
    /// The other agents in the room.
    pub people: Vec<Colleague>,
    /// The text of its last request.
    pub asked: String,
    /// The list of its skills as text; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub skills: String,
    /// The text that its modules add; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub modules: String,
}

/// Another agent in the room, as a working agent sees it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Colleague {
    /// The agent's name.
    pub name: Id,
    /// The id of its profile.
    pub profile: Id,
    /// The description of the profile.
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
    /// Label and remembered summary of each element it has read.
    pub seen: Vec<(Id, String)>,
    /// The number of memories it can recall, its own and shared ones.
    #[serde(default)]
    pub recallable: usize,
}

/// A pin that an agent keeps.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct KeptPin {
    /// The id.
    pub id: Id,
    /// The label of its pinboard.
    pub board: Id,
    /// The author.
    pub author: Id,
    /// The text.
    pub text: String,
}

/// A pin on a board.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PinView {
    /// The id.
    pub id: Id,
    /// The author.
    pub author: Id,
    /// The text.
    pub text: String,
    /// The ids of the agents that voted for it.
    pub up: Vec<Id>,
    /// The ids of the agents that voted against it.
    pub down: Vec<Id>,
}

/// A piece of mail.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MailItem {
    /// The id.
    pub id: Id,
    /// The sender's name.
    pub from: Id,
    /// The subject.
    pub subject: String,
    /// The text.
    pub text: String,
    /// Whether a model has seen it.
    pub read: bool,
}

/// One line of a conversation.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Line {
    /// The speaker's name.
    pub by: Id,
    /// The text.
    pub text: String,
    /// Whether the person said it.
    pub by_person: bool,
}

/// An item of an element that is new or changed for a reader.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NewItem {
    /// The id.
    pub id: Id,
    /// The change.
    pub change: ItemNews,
    /// The name of the author of the change.
    pub by: Id,
    /// The current text of the item; empty if it was removed.
    pub text: String,
}

/// The current request to an agent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "moment", rename_all = "snake_case")]
pub enum CurrentRequest {
    /// To read an element.
    Read {
        /// The label of the element.
        label: Id,
        /// The kind of the element as people name it: "message board".
        kind: String,
        /// The text of the element.
        text: String,
        /// The text that is new since this agent's last read; `None` if all of it is new.
        #[serde(default)]
        new: Option<String>,
        /// The pins of the element, without those already read.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pins: Vec<PinView>,
    },
    /// To read the agent's own mail, which is in [`MindContext::mail`].
    ReadMail {
        /// The label of the inbox.
        label: Id,
        /// The kind of the element as people name it.
        kind: String,
        /// The mail, if the request is part of a prompt; empty in a context.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mail: Vec<MailItem>,
    },
    /// To take a turn in a conversation.
    Talk {
        /// The names of the other participants.
        with: Vec<Id>,
        /// The topic.
        topic: Option<String>,
        /// The lines of earlier conversations between the two, oldest first.
        earlier: Vec<Line>,
        /// The lines of this conversation, oldest first.
        said: Vec<Line>,
        /// The number of this turn, from 1.
        turn: u32,
        /// The maximum number of turns.
        turns: u32,
    },
    /// To attend to something that woke the agent.
    Woken {
        /// The reason, as a sentence without a full stop.
        why: String,
        /// The task that comes with the wake-up; may be empty.
        ask: String,
        /// Related statements of others, oldest first.
        quotes: Vec<Line>,
        /// The number of older statements left out.
        left_out: u32,
    },
    /// To summarise the session.
    #[default]
    Compact,
    /// To decide what in a transcript is worth remembering.
    Learn {
        /// The current day as text.
        today: String,
        /// The transcript, oldest line first.
        lines: Vec<Line>,
    },
    /// To decide what to do with candidates, given similar memories.
    Weigh {
        /// The candidates, each with the similar memories.
        cases: Vec<Case>,
    },
    /// To continue work whose task is in the history.
    Work,
}

impl CurrentRequest {
    /// Whether the request is about the past, to summarise or remember it. Its prompt omits the agent's present
    /// situation.
    pub fn is_retrospective(&self) -> bool {
        matches!(self, Self::Compact | Self::Learn { .. } | Self::Weigh { .. })
    }

    /// Whether the request is sent without the session.
    pub fn is_standalone(&self) -> bool {
        matches!(self, Self::Learn { .. } | Self::Weigh { .. })
    }
}
