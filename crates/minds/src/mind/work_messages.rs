//! Messages about work between the kernel and the mind: the kernel, which owns sessions and tools, requests model
//! calls, and the mind returns the replies after carrying out their markers.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use super::agent_report::{AgentImage, AgentSession, ResultImages};
use super::context::Line;
use super::headings;
use super::instructions::order_text;
use super::message::{CallEnd, PromptMessage, ToolCall};
use super::request::{ModelFailure, Usage};
use super::tool_declaration::ToolDeclaration;
use super::tool_models::ToolModel;
use crate::base::{ActivationKey, AgentKey, Seq};
use crate::simulation::ActivityId;

/// Requests a model call for a piece of work. Answered with exactly one [`WorkReplied`], unless it is withdrawn or its
/// agent leaves the room.
#[derive(Message, Clone, Debug, Serialize, Deserialize)]
pub struct WorkDue {
    /// The key of the work.
    pub activation: ActivationKey,
    /// The number of the model call within the work.
    pub turn: u32,
    /// The agent.
    pub agent: AgentKey,
    /// The agent's activity.
    pub activity: ActivityId,
    /// The session, whose last message is to be answered.
    pub messages: Vec<PromptMessage>,
    /// The limits on how much of the session may be sent.
    pub room: SessionRoom,
    /// The tools that may be called.
    pub tools: Vec<ToolDeclaration>,
    /// Whether the agent also has tools of its own, like a coding agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_own_tools: bool,
    /// The model to use instead of the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model that is asked, as far as calls of functions are concerned.
    #[serde(default)]
    pub tool_model: ToolModel,
    /// A coding agent's own session for the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
    /// Images of the tool results at the end of the session, for a coding agent.
    #[serde(default, skip_serializing_if = "ResultImages::is_empty")]
    pub result_images: ResultImages,
    /// The log record that caused it.
    pub cause: Seq,
}

/// The limits on how much of a session may be sent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SessionRoom {
    /// Maximum number of characters of the session.
    pub chars_at_most: usize,
    /// The size of the model's context window in tokens, if known.
    pub window_tokens: Option<u32>,
    /// The path of the file with the whole session.
    pub place: String,
}

/// Minimum number of characters per token in most texts, to stay within the context window.
pub(super) const MIN_CHARS_PER_TOKEN: usize = 3;
/// Additional characters per message: fences, names of roles.
const CHARS_AROUND_MESSAGE: usize = 24;

impl SessionRoom {
    /// Returns how many characters of the messages may be sent, given the other characters of the prompt and the output
    /// tokens.
    pub(super) fn chars(&self, messages: &[PromptMessage], others: usize, output_tokens: u32) -> usize {
        let Some(window) = self.window_tokens else { return self.chars_at_most };
        let arguments = messages.iter().flat_map(|message| &message.tool_calls).map(|call| call.arguments.to_string());
        let texts = messages.iter().map(|message| Cow::from(&message.text)).chain(arguments.map(Cow::from));
        let (chars, bytes) =
            texts.fold((0, 0), |(chars, bytes), text| (chars + text.chars().count(), bytes + text.len()));
        // Non-ASCII text takes more tokens, and more bytes.
        let per_token = |tokens: usize| (tokens * MIN_CHARS_PER_TOKEN).saturating_mul(chars.max(1)) / bytes.max(1);
        let window = usize::try_from(window).unwrap_or(usize::MAX).min(usize::MAX / 8);
        // A large output limit must not use up the whole window.
        let output = usize::try_from(output_tokens).unwrap_or(usize::MAX).min(window / 2);
        let taken = others + messages.len() * CHARS_AROUND_MESSAGE;
        self.chars_at_most.min(per_token(window - output).saturating_sub(taken))
    }
}

/// A model's reply to a piece of work.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorkReply {
    /// The text without markers; for a reply of markers alone, a description of their effects. Trailing white space is
    /// kept in a reply that was cut off.
    pub text: String,
    /// The leading white space, to join the reply to one that was cut off.
    pub leading: String,
    /// The tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// The results of those calls that were acts and have been carried out or refused, by their position.
    pub answered: BTreeMap<usize, (String, CallEnd)>,
    /// The limit of output tokens, if the reply was cut off at it.
    pub cut_at_tokens: Option<u32>,
    /// Whether the provider's content filter removed something.
    pub was_filtered: bool,
}

/// The answer to a [`WorkDue`].
#[derive(Message, Clone, Debug)]
pub struct WorkReplied {
    /// The key of the work.
    pub activation: ActivationKey,
    /// The number of the model call within the work.
    pub turn: u32,
    /// Characters of the session that were sent.
    pub sent_chars: usize,
    /// The limit of these characters.
    pub sent_chars_at_most: usize,
    /// Provider, time and usage; `None` for a failure.
    pub taken: Option<ReplyUsage>,
    /// The reply or the failure.
    pub outcome: Result<WorkReply, ModelFailure>,
}

/// Provider, time and usage of an answer.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplyUsage {
    /// The provider that answered.
    pub provider: String,
    /// The model that answered.
    pub model: String,
    /// The wall-clock time of arrival in milliseconds since 1970; `None` in simulated time.
    pub at_ms: Option<u64>,
    /// The tokens that the provider reports.
    pub usage: Usage,
    /// A coding agent's own session for the work.
    pub agent_session: Option<AgentSession>,
    /// The reasoning that a coding agent reported.
    pub thought: String,
    /// The images in the answer.
    pub images: Vec<AgentImage>,
}

/// How a piece of work ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum Ending {
    /// The agent finished with a text.
    Completed {
        /// The final text.
        text: String,
    },
    /// The work could not continue.
    Failed {
        /// The reason, and what to do.
        why: String,
    },
    /// A person or a limit stopped it.
    Aborted {
        /// The person or limit that stopped it.
        why: String,
        /// Whether it was a person.
        by_person: bool,
    },
}

impl Ending {
    /// Returns the name used in session files.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Aborted { by_person: true, .. } => "aborted",
            Self::Aborted { by_person: false, .. } => "limited",
        }
    }

    /// Returns the agent's final text, or the reason it ended.
    pub fn text(&self) -> &str {
        match self {
            Self::Completed { text } => text,
            Self::Failed { why } | Self::Aborted { why, .. } => why,
        }
    }

    /// Returns the reason it did not complete; `None` if it did.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Completed { .. } => None,
            Self::Failed { why } | Self::Aborted { why, .. } => Some(why),
        }
    }

    /// Returns the report to the agent that started the work; `None` if a person stopped it.
    pub fn report_text(&self) -> Option<String> {
        match self {
            Self::Completed { text } => Some(format!("finished: {text}")),
            Self::Failed { why } => Some(format!("failed: {why}")),
            Self::Aborted { why, by_person: false } => Some(format!("was stopped: {why}")),
            Self::Aborted { by_person: true, .. } => None,
        }
    }
}

/// A piece of work has ended: pending requests are withdrawn, and its agent remembers the outcome.
#[derive(Message, Clone, Debug)]
pub struct WorkEnded {
    /// The key of the work.
    pub activation: ActivationKey,
    /// The agent.
    pub agent: AgentKey,
    /// The task.
    pub task: String,
    /// The ending.
    pub ending: Ending,
    /// The paths of changed files, in the order of their first change.
    pub outputs: Vec<String>,
    /// The transcript.
    pub said: Vec<Line>,
    /// The log record of its end.
    pub cause: Seq,
}

/// Returns the first message of a piece of work as the model gets it.
pub fn task_words(task: &str) -> String {
    format!("{} {}", headings::TASK, order_text(task))
}
