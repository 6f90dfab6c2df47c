//! The request to a model and its answer. `mind` owns both types; `gateway` reads the request and writes the answer.

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use super::agent_report::{AgentReport, AgentSession, ResultImages};
use super::message::ToolCall;
use super::prompt::Prompt;
use super::tool_declaration::ToolDeclaration;
use crate::base::{AgentKey, Id, RequestId, Seq};
use crate::schedule::Input;
use crate::simulation::{ActivityId, FailureCause, Urgency};

/// The reason for a model call; calls, tokens and cost are counted per kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// To read an element.
    Read,
    /// To take a turn in a conversation.
    Conversation,
    /// To summarise a session.
    Compaction,
    /// To work on a task.
    Task,
    /// To attend to something that woke the agent.
    Wake,
    /// To extract or consolidate memories.
    Learning,
    /// To answer a sampling request of a tool server.
    Sampling,
}

impl CallKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Read, Self::Conversation, Self::Compaction, Self::Task, Self::Wake, Self::Learning, Self::Sampling];

    /// Returns the name used in the log and in scripts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Conversation => "conversation",
            Self::Compaction => "compaction",
            Self::Task => "task",
            Self::Wake => "wake",
            Self::Learning => "learning",
            Self::Sampling => "sampling",
        }
    }
}

/// A request to a model. `gateway` answers each with exactly one [`ModelReply`], unless the agent leaves the room.
#[derive(Message, Clone, Debug, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The id of the request.
    pub id: RequestId,
    /// The agent that asks.
    pub agent: AgentKey,
    /// The id of the agent.
    pub agent_id: Id,
    /// The id of the agent's profile, by which scripts are found.
    pub profile: Id,
    /// The agent's activity that the request belongs to.
    pub activity: ActivityId,
    /// The reason for the request.
    pub kind: CallKind,
    /// The priority among requests that wait for a free slot.
    #[serde(default)]
    pub urgency: Urgency,
    /// `provider:model`, `provider` or `model` from the profile; `None` for the workspace's default.
    pub model: Option<String>,
    /// The prompt.
    pub prompt: Prompt,
    /// The tools that may be called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDeclaration>,
    /// The id of the piece of work that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation: Option<Id>,
    /// A coding agent's own session for that work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
    /// Images of the tool results at the end of the prompt, for a coding agent.
    #[serde(default, skip_serializing_if = "ResultImages::is_empty")]
    pub result_images: ResultImages,
    /// The maximum number of output tokens.
    pub max_output_tokens: u32,
    /// Stop sequences at which the model would continue as another speaker, for vendors that support them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<String>,
    /// The number of sentences noted before the request; see [`SpokenSentences`](super::spoken::SpokenSentences).
    #[serde(default, skip_serializing_if = "is_none_noted")]
    pub spoken_before: u64,
    /// A random seed for providers that need one, drawn from the agent's random numbers.
    pub seed: u64,
    /// The log record that caused it.
    pub cause: Seq,
}

fn is_none_noted(noted: &u64) -> bool {
    *noted == 0
}

/// Cancels a request whose answer is no longer needed. `gateway` may drop it without an answer.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct CancelRequest {
    /// The id of the request.
    pub request: RequestId,
}

/// Puts off a request that is still waiting: `gateway` answers it with [`FailureKind::PutOff`]. A running request
/// continues.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct PutOffRequest {
    /// The id of the request.
    pub request: RequestId,
}

/// The tokens used by a call, as the provider reports them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the prompt, including those from the cache.
    pub input_tokens: u32,
    /// Tokens of the prompt that came from the provider's cache.
    pub cached_tokens: u32,
    /// Tokens of the prompt that the provider wrote to its cache, if it charges extra for that.
    #[serde(skip_serializing_if = "is_no_token")]
    pub cache_written_tokens: u32,
    /// Tokens of the reply.
    pub output_tokens: u32,
}

fn is_no_token(tokens: &u32) -> bool {
    *tokens == 0
}

/// The reason a model stopped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The reply is complete.
    Stop,
    /// The limit of output tokens was reached.
    Length,
    /// The model called tools.
    ToolCalls,
    /// The provider's content filter removed something.
    Filtered,
}

/// A complete reply.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Completion {
    /// The text.
    pub text: String,
    /// Tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// The tokens used.
    pub usage: Usage,
    /// The reason it ended.
    pub finish: Finish,
    /// The report of a coding agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Box<AgentReport>>,
}

impl Completion {
    /// Whether the provider reported its usage; no tokens at all for a non-empty reply count as no report.
    pub fn reports_usage(&self) -> bool {
        let said_something = !self.text.is_empty() || !self.tool_calls.is_empty();
        self.usage.input_tokens > 0 && (self.usage.output_tokens > 0 || !said_something)
    }
}

/// The kind of failure, which decides who can resolve it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The API key is missing or wrong.
    Unauthorised,
    /// Too many requests; all retries failed.
    RateLimited,
    /// The provider is broken or unreachable; all retries failed.
    Unavailable,
    /// No answer arrived in time.
    TimedOut,
    /// The answer was unusable: malformed, cut off or too large.
    Malformed,
    /// The provider refused this request: unknown model, bad parameter.
    Rejected,
    /// A cap was reached before the call; nothing was sent.
    OverBudget,
    /// The call was cancelled.
    Cancelled,
    /// It was put off in favour of something more urgent before it was sent.
    PutOff,
}

impl FailureKind {
    /// Whether the same request may succeed later without any change.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::RateLimited | Self::Unavailable | Self::TimedOut | Self::Malformed | Self::Cancelled)
    }
}

/// Whose usage a limit counts, and over which time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapScope {
    /// The room, in this run.
    Run,
    /// The room's use of network providers, in this run.
    Outside,
    /// The room, in the last 60 minutes.
    Hour,
    /// One agent, in this run.
    AgentRun,
    /// One agent, in the last 60 minutes.
    AgentHour,
    /// One activation, from start to end.
    Activation,
}

impl CapScope {
    /// Whether it counts the usage of the whole room.
    pub fn is_of_room(self) -> bool {
        matches!(self, Self::Run | Self::Outside | Self::Hour)
    }
}

/// The limit that rejected a request; [`ModelFailure::remedy`] says how to raise it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CapReached {
    /// The field of `budget` that sets it.
    pub name: String,
    /// Whose usage it counts, and over which time.
    pub scope: CapScope,
    /// The limit in calls, tokens or millionths of a dollar.
    pub limit: u64,
    /// The usage so far, in the same unit.
    pub used: u64,
    /// The id of the agent or activation, for limits of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whose: Option<Id>,
    /// For hourly limits, minutes until usage is below the limit; `None` if waiting does not help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_minutes: Option<u32>,
    /// Whether these minutes are of the wall clock instead of the room's clock.
    #[serde(default)]
    pub waits_in_real_time: bool,
}

/// The reason there is no reply. Contains no secrets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModelFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// What failed and where: "gemini answered 401 at https://…".
    pub what: String,
    /// What to do: "set GEMINI_API_KEY".
    pub remedy: String,
    /// Seconds that the server asked to wait, from its last answer; between 0 and a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_secs: Option<f32>,
    /// The HTTP status that the server answered with, if it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether the gateway will not retry: its retries are used up, or the answer had begun to arrive.
    #[serde(default)]
    pub is_final: bool,
    /// Whether the gateway itself delays the next request by the wall clock, so that the caller need not wait.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_in_real_time: bool,
    /// The limit that rejected the request, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Box<CapReached>>,
    /// Whether the request was longer than the model accepts; a shorter one may succeed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_too_long: bool,
}

impl ModelFailure {
    /// Whether the caller may retry: the failure may be temporary, and the gateway has not used up its own retries.
    pub fn may_be_asked_again(&self) -> bool {
        let may_pass = matches!(self.kind, FailureKind::RateLimited | FailureKind::Unavailable | FailureKind::TimedOut);
        may_pass && !self.is_final
    }

    /// What has to change before the same request can succeed: only what the vendor refuses for its content, or what
    /// is too long for the model or a limit, is wrong with the request itself.
    pub fn cause(&self) -> FailureCause {
        let never_fits =
            |cap: &CapReached| matches!(cap.scope, CapScope::Hour | CapScope::AgentHour) && cap.wait_minutes.is_none();
        match self.kind {
            FailureKind::Cancelled | FailureKind::PutOff => FailureCause::Passing,
            _ if self.is_too_long => FailureCause::Content,
            FailureKind::Rejected if matches!(self.status, Some(400 | 413 | 415 | 422)) => FailureCause::Content,
            FailureKind::OverBudget if self.cap.as_deref().is_some_and(never_fits) => FailureCause::Content,
            _ => FailureCause::Model,
        }
    }

    /// The answer to a request that is made again by itself.
    pub fn put_off(why: &str) -> Self {
        Self::new(FailureKind::PutOff, why, "it is asked again by itself")
    }

    /// Creates a failure without further details.
    pub fn new(kind: FailureKind, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (what, remedy) = (what.into(), remedy.into());
        Self {
            kind,
            what,
            remedy,
            retry_after_secs: None,
            status: None,
            is_final: false,
            waits_in_real_time: false,
            cap: None,
            is_too_long: false,
        }
    }

    /// Returns a sentence with what failed and what to do about it.
    pub fn sentence(&self) -> String {
        format!("{}; {}", self.what, self.remedy)
    }
}

/// The answer to a [`ModelRequest`]. An input if it was not computed in the world.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModelReply {
    /// The id of the request.
    pub request: RequestId,
    /// The provider that answered.
    pub provider: String,
    /// The model that answered.
    pub model: String,
    /// The duration in milliseconds, for the log only.
    pub duration_ms: u64,
    /// The wall-clock time of arrival in milliseconds since 1970, for display; `None` in simulated time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
    /// The attempts and estimated usage; `None` in older recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The agent's new position in its script, if it runs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptPlace>,
    /// The reply or the failure.
    pub outcome: Result<Completion, ModelFailure>,
}

/// The effort of a request besides the usage reported by the provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Effort {
    /// How often the request was sent.
    pub attempts: u32,
    /// Estimated tokens that no provider reported: of aborted attempts, and of an answer without usage.
    pub estimated: Usage,
}

/// The position of an agent in its script.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ScriptPlace {
    /// The hash of the script; with another script, the agent starts from the beginning.
    pub script: u64,
    /// The index before which all turns are used.
    pub before: usize,
    /// The indices of used turns after it, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<usize>,
    /// The position in the default turns.
    pub next_default: usize,
    /// The number of scripted tool calls so far, from which their ids are made.
    pub calls: u64,
}

impl Input for ModelReply {
    const KIND: &'static str = "model_reply";
}
