//! One message of a session: its role, text and tool calls; and how it is sent.

use serde::{Deserialize, Serialize};

use super::agent_report::AgentImage;
use super::headings;
use super::untrusted_text::{name, push_fenced, push_result};

/// The estimated tokens of an image: vendors scale large ones down to that.
const IMAGE_TOKENS: u32 = 1_600;

/// Who said a message of the history.
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

/// The outcome of a tool call, as data: its text is only for reading.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    /// It was done as it was asked for.
    Done,
    /// Something else than the request was done: a change that a person accepted in part, or that waits as a
    /// suggestion.
    Otherwise,
    /// It was refused, or failed.
    NotDone,
}

/// One message of the session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PromptMessage {
    /// Who.
    pub role: Role,
    /// What; of a tool, its result.
    pub text: String,
    /// The tools that the agent called with it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Of a tool: the [`ToolCall::id`] that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// Of a tool: what became of the call, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<CallEnd>,
    /// Of a tool: the images of its result that the model is shown. Sessions keep theirs elsewhere: only what is sent
    /// has some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<AgentImage>,
}

impl PromptMessage {
    /// Plain words, by the room or the agent.
    pub fn plain(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), tool_calls: Vec::new(), answers: None, end: None, images: Vec::new() }
    }

    /// What the agent said, with the tools that it called.
    pub fn calls(text: impl Into<String>, tool_calls: Vec<ToolCall>) -> Self {
        Self { tool_calls, ..Self::plain(Role::Assistant, text) }
    }

    /// What a tool answered to a call.
    pub fn result(call: &ToolCall, text: impl Into<String>) -> Self {
        Self { answers: Some(call.id.clone()), ..Self::plain(Role::Tool, text) }
    }

    /// The same with what became of the call.
    #[must_use]
    pub fn ended(self, end: Option<CallEnd>) -> Self {
        Self { end, ..self }
    }

    /// The same without images.
    #[must_use]
    pub fn without_images(self) -> Self {
        Self { images: Vec::new(), ..self }
    }

    /// Tokens that its images take, by estimate.
    pub fn image_tokens(&self) -> u32 {
        u32::try_from(self.images.len()).unwrap_or(u32::MAX).saturating_mul(IMAGE_TOKENS)
    }

    /// Characters that are sent for it: the words, and the calls with their arguments.
    pub fn chars(&self) -> usize {
        self.text.chars().count() + self.tool_calls.iter().map(ToolCall::chars).sum::<usize>()
    }
}

/// A tool call in a reply.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id for it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments: a JSON object, or the text that was to be one.
    pub arguments: serde_json::Value,
    /// What its provider wants to see again with the call, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Box<Reasoning>>,
}

impl ToolCall {
    /// A call of which its provider wants to see nothing again but itself.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: serde_json::Value) -> Self {
        Self { id: id.into(), name: name.into(), arguments, reasoning: None }
    }

    /// Characters that are sent for it.
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
    /// The wire format in which it came; it goes back in no other.
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
        /// The words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The signature.
        signature: String,
    },
    /// A block that goes back as it came.
    Sealed {
        /// The block.
        block: serde_json::Value,
    },
    /// Words without a signature.
    Plain {
        /// The words.
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

/// A message of a piece of work in the form in which it is sent: tool results and messages of other agents are
/// information and placed between fences.
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
        _ => {}
    }
    sent
}
