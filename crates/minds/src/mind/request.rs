//! The request to a model and its answer. `mind` owns both types; `gateway` reads the request and writes the answer.

use std::sync::Arc;

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use super::agent_report::{AgentReport, AgentSession, ResultImages};
use super::message::ToolCall;
use super::prompt::Prompt;
use crate::base::{AgentKey, Id, RequestId, Seq};
use crate::schedule::Input;
use crate::simulation::{ActivityId, Urgency};

/// Why a model is called; calls, tokens and cost are counted per kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// To read an element.
    Read,
    /// To take a turn in a conversation.
    Conversation,
    /// To sum up a session.
    Compaction,
    /// To do what a person asked.
    Task,
    /// To turn to something that called it.
    Wake,
    /// To say what is worth remembering.
    Learning,
    /// To answer a server that carries out a call of the agent's.
    Sampling,
}

impl CallKind {
    /// Every kind.
    pub const ALL: [Self; 7] =
        [Self::Read, Self::Conversation, Self::Compaction, Self::Task, Self::Wake, Self::Learning, Self::Sampling];

    /// The word in the log and in scripts.
    pub fn word(self) -> &'static str {
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

/// The declaration of a tool for a model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolDeclaration {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Its arguments: a JSON schema of an object. Shared with the tool, because each request carries all of them.
    pub parameters: Arc<serde_json::Value>,
}

impl ToolDeclaration {
    /// Characters that are sent for it.
    pub fn chars(&self) -> usize {
        let words = self.name.chars().count() + self.description.chars().count();
        words + self.parameters.to_string().chars().count()
    }
}

/// A request to a model. `gateway` answers each with exactly one [`ModelReply`], unless the agent leaves the room.
#[derive(Message, Clone, Debug, Serialize, Deserialize)]
pub struct ModelRequest {
    /// Names it.
    pub id: RequestId,
    /// Who asks.
    pub agent: AgentKey,
    /// Who asks, by id.
    pub agent_id: Id,
    /// The profile it runs; scripts are found by it.
    pub profile: Id,
    /// For which of its activities.
    pub activity: ActivityId,
    /// Why.
    pub kind: CallKind,
    /// How soon, where many wait for a free slot.
    #[serde(default)]
    pub urgency: Urgency,
    /// `provider:model`, `provider` or `model` from the profile; the workspace's default where absent.
    pub model: Option<String>,
    /// What is asked.
    pub prompt: Prompt,
    /// The tools that may be called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDeclaration>,
    /// The piece of work that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation: Option<Id>,
    /// The session that a coding agent keeps of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
    /// Images of the results that the prompt ends with, for a coding agent.
    #[serde(default, skip_serializing_if = "ResultImages::is_empty")]
    pub result_images: ResultImages,
    /// At most so many tokens are to come back.
    pub max_output_tokens: u32,
    /// Texts that end a reply, because the model would continue as another speaker; for vendors that support them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<String>,
    /// How many sentences the room had noted when it was asked; see
    /// [`SpokenSentences`](super::spoken::SpokenSentences).
    #[serde(default, skip_serializing_if = "is_none_noted")]
    pub spoken_before: u64,
    /// Chance for providers that need some, drawn from the agent's own.
    pub seed: u64,
    /// The record that it comes from.
    pub cause: Seq,
}

fn is_none_noted(noted: &u64) -> bool {
    *noted == 0
}

/// Cancels a request for whose answer nobody waits any more: `gateway` may drop it, and need not answer.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct CancelRequest {
    /// Which.
    pub request: RequestId,
}

/// Asks a request to give way if it is still waiting: then `gateway` answers it with [`FailureKind::PutOff`]. A running
/// request continues.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct PutOffRequest {
    /// Which.
    pub request: RequestId,
}

/// The tokens used by a call, as the provider reports them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the prompt, those from the cache among them.
    pub input_tokens: u32,
    /// Tokens of the prompt that came from the provider's cache.
    pub cached_tokens: u32,
    /// Tokens of the prompt that the provider put into its cache, where that costs more.
    #[serde(skip_serializing_if = "is_no_token")]
    pub cache_written_tokens: u32,
    /// Tokens of the reply.
    pub output_tokens: u32,
}

fn is_no_token(tokens: &u32) -> bool {
    *tokens == 0
}

/// Why a model stopped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done.
    Stop,
    /// It reached the limit of output tokens.
    Length,
    /// It called tools.
    ToolCalls,
    /// The provider held something back.
    Filtered,
}

/// A complete reply.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Completion {
    /// The words.
    pub text: String,
    /// Tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// What it cost.
    pub usage: Usage,
    /// Why it ended.
    pub finish: Finish,
    /// What a coding agent told beside that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Box<AgentReport>>,
}

impl Completion {
    /// Whether the provider told what it used: none at all, for something that was said, is no answer to that.
    pub fn reports_usage(&self) -> bool {
        let said_something = !self.text.is_empty() || !self.tool_calls.is_empty();
        self.usage.input_tokens > 0 && (self.usage.output_tokens > 0 || !said_something)
    }
}

/// The kind of failure: decides who can do something about it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No key, or a wrong one.
    Unauthorised,
    /// Too many requests; retries were used up.
    RateLimited,
    /// The provider is broken or cannot be reached; retries were used up.
    Unavailable,
    /// Nothing came in time.
    TimedOut,
    /// What came could not be used: garbage, a cut stream, too much.
    Malformed,
    /// The provider refused this request: unknown model, bad parameter.
    Rejected,
    /// A cap was reached before the call; nothing was sent.
    OverBudget,
    /// The call was cancelled.
    Cancelled,
    /// It was cancelled in favour of something more urgent before it was sent.
    PutOff,
}

impl FailureKind {
    /// Whether the same may work later without anybody doing anything.
    pub fn is_passing(self) -> bool {
        matches!(self, Self::RateLimited | Self::Unavailable | Self::TimedOut | Self::Malformed | Self::Cancelled)
    }
}

/// Whose usage a limit counts, and over what time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapScope {
    /// The room, in this run.
    Run,
    /// The room's use of providers outside, in this run.
    Outside,
    /// The room, in the last 60 minutes.
    Hour,
    /// One agent, in this run.
    AgentRun,
    /// One agent, in the last 60 minutes.
    AgentHour,
    /// One activation, from its beginning to its end.
    Activation,
}

impl CapScope {
    /// Whether it counts what the whole room uses, and not what one agent or one piece of work does.
    pub fn is_of_room(self) -> bool {
        matches!(self, Self::Run | Self::Outside | Self::Hour)
    }
}

/// The limit that refused a request; [`ModelFailure::remedy`] says how to raise it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CapReached {
    /// The field of `budget` that sets it.
    pub name: String,
    /// Whose use it counts, and over what time.
    pub scope: CapScope,
    /// So much and no more: calls, tokens, or millionths of a dollar.
    pub limit: u64,
    /// What was used already, in the same unit.
    pub used: u64,
    /// Whose it is, if an agent's or an activation's: its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whose: Option<Id>,
    /// Minutes until there is room, for caps by the hour; none where waiting does not help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_minutes: Option<u32>,
    /// Whether those minutes are of the wall clock, and not of the room's.
    #[serde(default)]
    pub waits_in_real_time: bool,
}

/// Why there is no reply. Contains no secrets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModelFailure {
    /// Which kind.
    pub kind: FailureKind,
    /// What failed and where: "gemini answered 401 at https://…".
    pub what: String,
    /// What to do: "set GEMINI_API_KEY".
    pub remedy: String,
    /// Seconds that the server asked to wait, counted from its last answer; between 0 and a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_secs: Option<f32>,
    /// The HTTP status that the server answered with, if it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether the gateway did all that can be done: it tried as often as it may, or the answer had begun to come.
    #[serde(default)]
    pub is_final: bool,
    /// Whether the gateway sees to it by the wall clock that nobody is asked again too soon, so that whoever asks
    /// again need not wait.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_in_real_time: bool,
    /// The cap that refused the question, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Box<CapReached>>,
    /// Whether the question was refused because it is longer than the model takes: a shorter one may be answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_too_long: bool,
}

impl ModelFailure {
    /// Whether asking the same again may help, and was not tried already: where nothing came, nothing was paid for,
    /// and the gateway did not ask again by itself.
    pub fn may_be_asked_again(&self) -> bool {
        let may_pass = matches!(self.kind, FailureKind::RateLimited | FailureKind::Unavailable | FailureKind::TimedOut);
        may_pass && !self.is_final
    }

    /// A failure of which no more is known.
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

    /// What failed and what to do about it, in one sentence.
    pub fn sentence(&self) -> String {
        format!("{}; {}", self.what, self.remedy)
    }
}

/// The answer to a [`ModelRequest`]. An input where it came from outside.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModelReply {
    /// To which question.
    pub request: RequestId,
    /// Who answered.
    pub provider: String,
    /// Which model answered.
    pub model: String,
    /// How long it took, in milliseconds, for the log only.
    pub duration_ms: u64,
    /// When it came, in milliseconds of the wall clock since 1970, for people; none where it came in simulated time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
    /// What asking took, beside the use that the provider told; none in what was recorded before this was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Where the agent is in its script now, if one was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptPlace>,
    /// The reply, or why there is none.
    pub outcome: Result<Completion, ModelFailure>,
}

/// The effort of getting an answer, or none, besides the usage reported by the provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Effort {
    /// How often the question was sent.
    pub attempts: u32,
    /// Tokens that no provider told, by estimate: of attempts that broke off, and of an answer without its use.
    pub estimated: Usage,
}

/// The position of an agent in its script.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ScriptPlace {
    /// The script, by its hash: in another one, an agent begins anew.
    pub script: u64,
    /// All turns before this one are used.
    pub before: usize,
    /// Those behind it that are used, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<usize>,
    /// Where it is in the turns for everyone.
    pub next_default: usize,
    /// Tool calls that were played; their ids are counted by it.
    pub calls: u64,
}

impl Input for ModelReply {
    const KIND: &'static str = "model_reply";
}
