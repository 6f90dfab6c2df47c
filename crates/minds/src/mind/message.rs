//! Defines the messages of a session: role, text and tool calls; and how they are sent.

use serde::{Deserialize, Serialize};

use super::agent_report::AgentImage;
use super::headings;
use super::untrusted_text::{name, push_fenced, push_result};

/// The estimated tokens of an image; vendors scale larger ones down.
const IMAGE_TOKENS: u32 = 1_600;

/// The author of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The room, speaking to the agent.
    User,
    /// The agent.
    Assistant,
    /// A tool, answering a call.
    Tool,
}

/// The outcome of a tool call, independent of its text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    /// The call was carried out as requested.
    Done,
    /// Something other than the request was done: a change was accepted in part or waits as a suggestion.
    Otherwise,
    /// The call was refused or failed.
    NotDone,
}

/// One message of the session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PromptMessage {
    /// The author.
    pub role: Role,
    /// The text; the result for a tool.
    pub text: String,
    /// The agent's tool calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// For a tool: the [`ToolCall::id`] of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// For a tool: the outcome of the call, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<CallEnd>,
    /// For a tool: the images of its result. Only set in messages to send, because sessions keep images elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<AgentImage>,
}

impl PromptMessage {
    /// Creates a message of text.
    pub fn plain(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), tool_calls: Vec::new(), answers: None, end: None, images: Vec::new() }
    }

    /// Creates a message of the agent with tool calls.
    pub fn calls(text: impl Into<String>, tool_calls: Vec<ToolCall>) -> Self {
        Self { tool_calls, ..Self::plain(Role::Assistant, text) }
    }

    /// Creates the message with the result of a call.
    pub fn result(call: &ToolCall, text: impl Into<String>) -> Self {
        Self { answers: Some(call.id.clone()), ..Self::plain(Role::Tool, text) }
    }

    /// Sets the outcome of the call.
    #[must_use]
    pub fn ended(self, end: Option<CallEnd>) -> Self {
        Self { end, ..self }
    }

    /// Removes the images.
    #[must_use]
    pub fn without_images(self) -> Self {
        Self { images: Vec::new(), ..self }
    }

    /// Returns the estimated tokens of its images.
    pub fn image_tokens(&self) -> u32 {
        u32::try_from(self.images.len()).unwrap_or(u32::MAX).saturating_mul(IMAGE_TOKENS)
    }

    /// Returns the number of characters to send: text and calls with arguments.
    pub fn chars(&self) -> usize {
        self.text.chars().count() + self.tool_calls.iter().map(ToolCall::chars).sum::<usize>()
    }
}

/// A tool call in a reply.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id for it.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments: a JSON object, or a string that failed to parse as one.
    pub arguments: serde_json::Value,
    /// The reasoning that the provider requires back with the call, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Box<Reasoning>>,
}

impl ToolCall {
    /// Creates a call without reasoning.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: serde_json::Value) -> Self {
        Self { id: id.into(), name: name.into(), arguments, reasoning: None }
    }

    /// Returns the number of characters to send.
    pub fn chars(&self) -> usize {
        let reasoning = self.reasoning.iter().flat_map(|reasoning| &reasoning.blocks);
        let reasoning: usize = reasoning.map(ReasoningBlock::chars).sum();
        self.name.chars().count() + self.arguments.to_string().chars().count() + reasoning
    }
}

/// A model's reasoning before its tool calls, for its provider only: some require it back with the calls. It is never
/// read, shown or evaluated.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reasoning {
    /// The wire format it came in; it is only sent back in the same format.
    pub wire: String,
    /// The blocks, in order.
    pub blocks: Vec<ReasoningBlock>,
}

/// One block of reasoning.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReasoningBlock {
    /// A signature, with the text that it signs if the provider includes it.
    Signed {
        /// The signed text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The signature.
        signature: String,
    },
    /// An opaque block that is sent back unchanged.
    Sealed {
        /// The block.
        block: serde_json::Value,
    },
    /// Text without a signature.
    Plain {
        /// The text.
        text: String,
    },
}

impl ReasoningBlock {
    fn chars(&self) -> usize {
        match self {
            Self::Signed { text, signature } => {
                text.as_ref().map_or(0, |text| text.chars().count()) + signature.chars().count()
            }
            Self::Sealed { block } => block.to_string().chars().count(),
            Self::Plain { text } => text.chars().count(),
        }
    }
}

/// Returns a work message as it is sent: tool results and messages of other agents are put between fences as data.
pub(super) fn as_sent(message: &PromptMessage) -> PromptMessage {
    let mut sent = message.clone();
    let signal = message.text.strip_prefix(headings::SIGNAL).and_then(|rest| rest.split_once(':'));
    match (message.role, signal) {
        (Role::Tool, _) => {
            sent.text = String::with_capacity(message.text.len() + 16);
            push_result(&mut sent.text, &message.text);
        }
        (Role::User, Some((from, words))) => {
            sent.text = format!("{}{}:\n", headings::SIGNAL, name(from));
            push_fenced(&mut sent.text, words.trim(), usize::MAX);
        }
        (Role::User, None) => {
            if let Some((first, words)) = words_of_others(&message.text) {
                sent.text = format!("{first}\n");
                push_fenced(&mut sent.text, words.trim_end(), usize::MAX);
            }
        }
        _ => {}
    }
    sent
}

/// Splits a message with the words of others into the room's line about it and these words; `None` for other messages.
fn words_of_others(text: &str) -> Option<(&str, &str)> {
    let (first, words) = text.split_once('\n')?;
    // Some of these messages begin a session, as its task; a message of another agent then is the task.
    let (about, is_task) = match first.strip_prefix(headings::TASK) {
        Some(about) => (about.trim_start(), true),
        None => (first, false),
    };
    let of_agent = |prefix: &str| about.starts_with(prefix) && about.ends_with("):");
    let is_result = about.starts_with(headings::TASK_RESULT) && about.contains('“') && about.ends_with(':');
    let is_theirs = about.starts_with(headings::NEWS)
        || of_agent(headings::ANSWER)
        || is_result
        || !is_task && of_agent(headings::MESSAGE);
    is_theirs.then_some((first, words))
}
