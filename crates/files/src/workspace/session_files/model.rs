//! A session as plain data.

use serde_json::Value;

use crate::base::ActivationKey;

/// The role of a message's author.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum MessageRole {
    /// The user: a person, the room or another agent.
    User,
    /// The agent.
    Assistant,
    /// The result of a tool.
    Tool,
    /// Guidance in addition to the system prompt; it does not ask for a reply.
    System,
}

impl MessageRole {
    /// Returns the name of the role in session files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
        }
    }

    /// Parses the name of a role.
    pub fn from_name(word: &str) -> Option<Self> {
        [Self::User, Self::Assistant, Self::Tool, Self::System].into_iter().find(|role| role.as_str() == word)
    }
}

/// A tool call in a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionCall {
    /// The id of the call, unique within the session.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
}

/// One message of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionMessage {
    /// The role of the author.
    pub role: MessageRole,
    /// The text.
    pub content: String,
    /// The tool calls of an agent's message.
    pub tool_calls: Vec<SessionCall>,
    /// For the result of a tool: the id of its call.
    pub tool_call_id: Option<String>,
}

impl SessionMessage {
    /// Creates a message that consists of text only.
    pub fn from_text(role: MessageRole, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), tool_calls: Vec::new(), tool_call_id: None }
    }

    /// Returns a key that is the same for messages with the same meaning, however they are written. A system message
    /// equals a user message: it is sent as such.
    pub fn identity(&self) -> String {
        let role = if self.role == MessageRole::System { MessageRole::User } else { self.role };
        let calls: Vec<_> = self.tool_calls.iter().map(|call| (&call.id, &call.name, &call.arguments)).collect();
        let content = self.content.replace("\r\n", "\n");
        serde_json::json!([role.as_str(), content.trim_end(), calls, self.tool_call_id]).to_string()
    }
}

/// A parsed session file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SessionText {
    /// The id in the file.
    pub session_id: Option<String>,
    /// The agent: its id, the id of its profile, or its name.
    pub agent_id: String,
    /// The thread of the room, if the room wrote it.
    pub thread: Option<ActivationKey>,
    /// The scene of the room, if the room wrote it.
    pub scene: Option<String>,
    /// The activations of the session, if the room wrote them.
    pub activations: Vec<ActivationKey>,
    /// The number of its first messages that the room wrote, as the room recorded it.
    pub written: Option<usize>,
    /// The messages.
    pub messages: Vec<SessionMessage>,
    /// The line of each message, counted from 1, if known.
    pub lines: Vec<Option<usize>>,
}

impl SessionText {
    /// Whether the session continues without any further information: its last message asks for a reply, and it was not
    /// written by the room alone, which does not restart without a request.
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
    /// The line, counted from 1, if known.
    pub line: Option<usize>,
    /// The fault.
    pub what: String,
    /// How to fix it.
    pub remedy: String,
}

impl SessionFault {
    pub(super) fn new(line: Option<usize>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { line, what: what.into(), remedy: remedy.into() }
    }
}
