//! Messages about work: the kernel, which owns the session and the tools, requests model calls, and the mind returns
//! the replies with their markers carried out.

use std::borrow::Cow;

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use super::agent_report::{AgentImage, AgentSession, ResultImages};
use super::context::Line;
use super::headings;
use super::instructions::order_text;
use super::message::{PromptMessage, ToolCall};
use super::request::{ModelFailure, ToolDeclaration, Usage};
use crate::base::{ActivationKey, AgentKey, Seq};
use crate::simulation::ActivityId;

/// A piece of work needs a model call. Answered with exactly one [`WorkReplied`], unless it is withdrawn or its agent
/// leaves the room.
#[derive(Message, Clone, Debug, Serialize, Deserialize)]
pub struct WorkDue {
    /// Which piece.
    pub activation: ActivationKey,
    /// Which question of it.
    pub turn: u32,
    /// Whose work it is.
    pub agent: AgentKey,
    /// The agent's activity.
    pub activity: ActivityId,
    /// The session; its last message is to be answered.
    pub messages: Vec<PromptMessage>,
    /// How much of it may be sent.
    pub room: SessionRoom,
    /// The tools that may be called.
    pub tools: Vec<ToolDeclaration>,
    /// Whether whoever answers has tools of its own, as a coding agent has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_own_tools: bool,
    /// The model that is asked in place of the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The session that a coding agent keeps of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
    /// Images of the results that the session ends with, for a coding agent.
    #[serde(default, skip_serializing_if = "ResultImages::is_empty")]
    pub result_images: ResultImages,
    /// The record that it comes from.
    pub cause: Seq,
}

/// How much of a session may be sent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SessionRoom {
    /// Characters of the session.
    pub chars_at_most: usize,
    /// Tokens of everything that the model takes and gives at once, where that is known.
    pub window_tokens: Option<u32>,
    /// The file that has the whole session.
    pub place: String,
}

/// Characters that a token has at least, in most texts: a window that is counted so is not exceeded.
pub(super) const CHARS_PER_TOKEN_AT_LEAST: usize = 3;
/// Characters that are sent around each message: fences, names of roles.
const CHARS_AROUND_MESSAGE: usize = 24;

impl SessionRoom {
    /// How many characters of these messages may be sent beside others, with this many output tokens.
    pub(super) fn chars(&self, messages: &[PromptMessage], others: usize, output_tokens: u32) -> usize {
        let Some(window) = self.window_tokens else { return self.chars_at_most };
        let arguments = messages.iter().flat_map(|message| &message.tool_calls).map(|call| call.arguments.to_string());
        let texts = messages.iter().map(|message| Cow::from(&message.text)).chain(arguments.map(Cow::from));
        let (chars, bytes) =
            texts.fold((0, 0), |(chars, bytes), text| (chars + text.chars().count(), bytes + text.len()));
        // Letters beyond the English ones take more tokens, and more bytes.
        let per_token = |tokens: usize| (tokens * CHARS_PER_TOKEN_AT_LEAST).saturating_mul(chars.max(1)) / bytes.max(1);
        let window = usize::try_from(window).unwrap_or(usize::MAX).min(usize::MAX / 8);
        // A model that gives much may use up its window by that alone.
        let output = usize::try_from(output_tokens).unwrap_or(usize::MAX).min(window / 2);
        let taken = others + messages.len() * CHARS_AROUND_MESSAGE;
        self.chars_at_most.min(per_token(window - output).saturating_sub(taken))
    }
}

/// A model's reply to a piece of work.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorkReply {
    /// The words, without markers; of a reply that holds markers alone, what was done by them. Those of a reply that
    /// was cut off end in white space where it did.
    pub text: String,
    /// The white space that it begins with, for whoever joins it to one that was cut off.
    pub leading: String,
    /// The tools that it called, in order.
    pub tool_calls: Vec<ToolCall>,
    /// The limit of its output, in tokens, where it was cut off at it.
    pub cut_at_tokens: Option<u32>,
    /// Whether its provider held words of it back.
    pub was_filtered: bool,
}

/// The answer to a [`WorkDue`].
#[derive(Message, Clone, Debug)]
pub struct WorkReplied {
    /// To which piece.
    pub activation: ActivationKey,
    /// To which question of it.
    pub turn: u32,
    /// Characters of the session that were sent.
    pub sent_chars: usize,
    /// Characters of the session that might have been sent.
    pub sent_chars_at_most: usize,
    /// Who answered, when, and what that took; none where nobody did.
    pub taken: Option<WorkTaken>,
    /// The reply, or why there is none.
    pub outcome: Result<WorkReply, ModelFailure>,
}

/// The usage of an answer.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkTaken {
    /// Who answered.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// When, in milliseconds of the wall clock since 1970; none where it came in simulated time.
    pub at_ms: Option<u64>,
    /// Tokens, as the provider says.
    pub usage: Usage,
    /// The session that a coding agent keeps of it.
    pub agent_session: Option<AgentSession>,
    /// What a coding agent told of its thoughts.
    pub thought: String,
    /// Images of its answer.
    pub images: Vec<AgentImage>,
}

/// How a piece of work ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum Ending {
    /// The agent concluded with this text.
    Completed {
        /// Its last words.
        text: String,
    },
    /// It could not continue.
    Failed {
        /// Why, and what to do.
        why: String,
    },
    /// A person or a limit stopped it.
    Aborted {
        /// Who or what.
        why: String,
        /// Whether it was a person.
        by_person: bool,
    },
}

impl Ending {
    /// The word in session files.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Aborted { by_person: true, .. } => "aborted",
            Self::Aborted { by_person: false, .. } => "limited",
        }
    }

    /// The agent's last words, or the room's on why it ended.
    pub fn words(&self) -> &str {
        match self {
            Self::Completed { text } => text,
            Self::Failed { why } | Self::Aborted { why, .. } => why,
        }
    }

    /// Why it did not complete.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Completed { .. } => None,
            Self::Failed { why } | Self::Aborted { why, .. } => Some(why),
        }
    }

    /// The report to the agent that started the work; `None` if a person stopped it.
    pub fn report_words(&self) -> Option<String> {
        match self {
            Self::Completed { text } => Some(format!("finished: {text}")),
            Self::Failed { why } => Some(format!("failed: {why}")),
            Self::Aborted { why, by_person: false } => Some(format!("was stopped: {why}")),
            Self::Aborted { by_person: true, .. } => None,
        }
    }
}

/// A piece of work is over: nobody waits for an answer any more, and its agent remembers the outcome.
#[derive(Message, Clone, Debug)]
pub struct WorkOver {
    /// Which piece.
    pub activation: ActivationKey,
    /// Whose.
    pub agent: AgentKey,
    /// What it was asked.
    pub task: String,
    /// How it ended.
    pub ending: Ending,
    /// Paths of files that it changed, in the order in which it first did.
    pub outputs: Vec<String>,
    /// What was said and done in it.
    pub said: Vec<Line>,
    /// The record of its end.
    pub cause: Seq,
}

/// The first message of a piece of work, as the model gets it.
pub fn task_words(task: &str) -> String {
    format!("{} {}", headings::TASK, order_text(task))
}
