//! A session as plain data.

use serde_json::Value;

use crate::base::ActivationKey;

/// The role of a message's author.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum MessageRole {
    /// The one who asks: a person, the room or another agent.
    User,
    /// The agent.
    Assistant,
    /// The result of a tool.
    Tool,
    /// Guidance in addition to the system prompt; it does not ask for a reply.
    System,
}

impl MessageRole {
    /// The word for it in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
        }
    }

    /// The role of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::User, Self::Assistant, Self::Tool, Self::System].into_iter().find(|role| role.word() == word)
    }
}

/// A tool call in a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionCall {
    /// Names it within the session.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

/// One message of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionMessage {
    /// Whose it is.
    pub role: MessageRole,
    /// What it says.
    pub content: String,
    /// The tools that the agent called with it.
    pub tool_calls: Vec<SessionCall>,
    /// Of a tool: the call that it answers.
    pub tool_call_id: Option<String>,
}

impl SessionMessage {
    /// Plain words.
    pub fn words(role: MessageRole, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), tool_calls: Vec::new(), tool_call_id: None }
    }

    /// A text that is the same for messages that mean the same, whatever they are written like. Guidance counts as
    /// words of a user: it is sent as such.
    pub fn identity(&self) -> String {
        let role = if self.role == MessageRole::System { MessageRole::User } else { self.role };
        let calls: Vec<_> = self.tool_calls.iter().map(|call| (&call.id, &call.name, &call.arguments)).collect();
        let content = self.content.replace("\r\n", "\n");
        serde_json::json!([role.word(), content.trim_end(), calls, self.tool_call_id]).to_string()
    }
}

/// A parsed session file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SessionText {
    /// The id that it gives itself.
    pub session_id: Option<String>,
    /// The agent, as it is named there: by its id, its profile's or its name.
    pub agent_id: String,
    /// The thread of the room's that it is, where the room wrote it.
    pub thread: Option<ActivationKey>,
    /// The scene in whose room it was, where the room wrote it.
    pub scene: Option<String>,
    /// The pieces of work that it had, where the room wrote it.
    pub activations: Vec<ActivationKey>,
    /// How many of its first messages the room wrote, as the room noted it.
    pub written: Option<usize>,
    /// What was said.
    pub messages: Vec<SessionMessage>,
    /// The line of each message, counted from 1, where known.
    pub lines: Vec<Option<usize>>,
}

impl SessionText {
    /// Whether it goes on where nothing else is known of it: its last message asks for a reply, and it is not merely
    /// what the room wrote itself, which does not begin again unasked.
    pub fn begins(&self) -> bool {
        self.needs_reply() && self.written.is_none_or(|written| written != self.messages.len())
    }

    /// Whether its last message asks for a reply.
    pub fn needs_reply(&self) -> bool {
        self.messages.last().is_some_and(|last| matches!(last.role, MessageRole::User | MessageRole::Tool))
    }
}

/// Why a text is not a valid session.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}; {remedy}")]
pub struct SessionFault {
    /// The line, counted from 1, where known.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl SessionFault {
    pub(super) fn new(line: Option<usize>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { line, what: what.into(), remedy: remedy.into() }
    }
}
