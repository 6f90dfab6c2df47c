//! The interface between the worker and a provider: plain data, without ECS types and vendor-specific types.

use std::fmt;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::base::{Id, text};
use crate::gateway::vendors::reasoning_models::output_limit_with_reasoning;
use crate::mind::spoken::SaidBefore;
use crate::mind::{
    AgentSession, CallKind, Completion, ModelRequest, Prompt, PromptMessage, ResultImages, ScriptPlace,
    ToolDeclaration, Usage,
};

/// One request as a provider receives it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProviderRequest {
    /// The id of the agent.
    pub agent: String,
    /// The profile of the agent, which selects its part of a script.
    pub profile: String,
    /// The kind of call.
    pub kind: CallKind,
    /// The provider's name of the model.
    pub model: String,
    /// The prompt as data, from which the provider creates its own format.
    pub prompt: Prompt,
    /// The available tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDeclaration>,
    /// The maximum number of output tokens.
    pub max_output_tokens: u32,
    /// Stop sequences, because the model would continue as another speaker.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<String>,
    /// The recent sentences in the room, for a provider that selects from a stock of sentences.
    #[serde(skip)]
    pub said_before: SaidBefore,
    /// The seed for providers that use random numbers.
    pub seed: u64,
    /// The position in the agent's script, for a provider that plays one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptPlace>,
    /// The activation that it belongs to, if any: a coding agent has a session for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Id>,
    /// The stored session of a coding agent, by which it can continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
    /// The images of the results at the end of the prompt, for a coding agent.
    #[serde(default, skip_serializing_if = "ResultImages::is_empty")]
    pub result_images: ResultImages,
}

impl ProviderRequest {
    /// Creates the request of an agent for this model.
    pub fn new(request: &ModelRequest, model: &str) -> Self {
        Self {
            agent: request.agent_id.to_string(),
            profile: request.profile.to_string(),
            kind: request.kind,
            model: model.to_owned(),
            prompt: request.prompt.clone(),
            tools: request.tools.clone(),
            max_output_tokens: output_limit_with_reasoning(model, request.max_output_tokens),
            stops: request.stops.clone(),
            said_before: SaidBefore::default(),
            seed: request.seed,
            script: None,
            work: request.activation.clone(),
            agent_session: request.agent_session.clone(),
            result_images: request.result_images.clone(),
        }
    }

    /// Returns the expected maximum usage of one attempt.
    pub fn most(&self) -> Usage {
        let (input_tokens, output_tokens) = (self.estimated_input_tokens(), self.max_output_tokens);
        Usage { input_tokens, output_tokens, ..Usage::default() }
    }

    /// Returns the estimated number of input tokens.
    pub fn estimated_input_tokens(&self) -> u32 {
        let messages = self.prompt.messages().into_iter().map(|message| message.chars());
        let tools = self.tools.iter().map(ToolDeclaration::chars);
        let images = self.prompt.history.iter().map(PromptMessage::image_tokens);
        let parts = messages.chain(tools).map(text::tokens_of_chars).chain(images);
        parts.fold(text::estimate_tokens(&self.prompt.system_text()), u32::saturating_add)
    }
}

/// A provider that computes its answers locally; its latency is simulated time. The same requests in the same order get
/// the same answers.
pub trait SimulatedProvider: Send {
    /// Computes an answer.
    fn answer(&mut self, request: &ProviderRequest) -> SimulatedAnswer;
}

/// The answer of a simulated provider, and its simulated latency.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulatedAnswer {
    /// The reply, or a simulated error.
    pub outcome: Result<Completion, SimulatedError>,
    /// The latency in seconds of simulated time.
    pub latency_secs: f32,
    /// The position in the agent's script after this answer, if one was played.
    pub script: Option<ScriptPlace>,
}

/// An error as a server would send it.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulatedError {
    /// The HTTP status.
    pub status: u16,
    /// The value of `Retry-After`, in seconds.
    pub retry_after_secs: Option<f32>,
    /// The message.
    pub message: String,
}

/// A streamed piece of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamedPiece<'a> {
    /// More text.
    Text(&'a str),
    /// More of the model's reasoning: not shown, but paid for.
    Thought(&'a str),
    /// A tool is being called.
    Call {
        /// The index of the call in the answer.
        position: usize,
        /// The name of the tool.
        name: &'a str,
        /// The part of its arguments that has arrived: the beginning of a JSON text.
        arguments: &'a str,
    },
}

/// Receives the streamed pieces of an answer from a provider, for the screen only.
pub struct DeltaSink(Box<dyn FnMut(StreamedPiece<'_>) + Send>);

impl DeltaSink {
    /// Creates a sink that passes each piece to this function.
    pub fn new(on_piece: impl FnMut(StreamedPiece<'_>) + Send + 'static) -> Self {
        Self(Box::new(on_piece))
    }

    /// Passes on a piece.
    pub fn push(&mut self, piece: StreamedPiece<'_>) {
        (self.0)(piece);
    }
}

/// A network provider. It makes one attempt; the caller decides about retries.
pub trait AiProvider: Send + Sync {
    /// Sends the request, streams the answer into the sink, and returns the whole reply. Ends soon after `cancel`.
    fn complete(
        &self,
        request: ProviderRequest,
        sink: DeltaSink,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<Completion, ProviderError>>;
}

/// The error of one attempt. It may still contain a key that a server sent back: only
/// [`failure`](crate::gateway::worker::failure) turns it into text for people.
#[derive(Clone, PartialEq, Debug)]
pub struct ProviderError {
    /// The cause.
    pub cause: ErrorCause,
    /// The message of the server or the library.
    pub detail: String,
    /// The remedy, if it is more specific than that of the cause; otherwise empty.
    pub remedy: String,
}

/// The cause of a failed attempt.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ErrorCause {
    /// The server answered with this status.
    Status {
        /// The HTTP status.
        status: u16,
        /// The pause that the server asked for, in seconds.
        retry_after_secs: Option<f64>,
    },
    /// The connection failed, or was lost before an answer.
    Connect,
    /// No server listens at an address on this computer.
    Refused,
    /// No data arrived for this many seconds.
    Stalled(u32),
    /// The answer was not complete after this many seconds.
    TooLong(u32),
    /// The answer was cut off.
    Cut,
    /// The answer is invalid.
    Garbage,
    /// The answer is too long.
    TooMuch,
    /// There is no key.
    NoKey,
    /// The address is only set by the workspace, and the person did not allow it.
    NotAllowed,
    /// A coding agent failed.
    Agent(AgentFault),
    /// The provider's own code panicked.
    Panicked,
    /// The request was cancelled.
    Cancelled,
}

/// Why a coding agent failed. Its message and the remedy are part of the error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentFault {
    /// No person has allowed exactly this agent.
    NotAllowed,
    /// The agent cannot be started or initialized.
    NotStarted,
    /// The agent requires a login by a person.
    NeedsLogin,
    /// The agent ended.
    Ended,
    /// The agent answered with an error.
    Refused,
    /// The agent stopped early for a reason of its own.
    Stopped,
}

impl ProviderError {
    /// Creates an error with this message.
    pub fn new(cause: ErrorCause, detail: impl fmt::Display) -> Self {
        Self { cause, detail: detail.to_string(), remedy: String::new() }
    }

    /// Creates an error of a coding agent, with texts for a person.
    pub fn of_agent(fault: AgentFault, what: String, remedy: String) -> Self {
        Self { cause: ErrorCause::Agent(fault), detail: what, remedy }
    }
}

/// Adds two usages.
pub(in crate::gateway) fn sum_of_usage(one: Usage, other: Usage) -> Usage {
    Usage {
        input_tokens: one.input_tokens.saturating_add(other.input_tokens),
        cached_tokens: one.cached_tokens.saturating_add(other.cached_tokens),
        cache_written_tokens: one.cache_written_tokens.saturating_add(other.cache_written_tokens),
        output_tokens: one.output_tokens.saturating_add(other.output_tokens),
    }
}
