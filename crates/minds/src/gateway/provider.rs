//! The interface between the worker and a provider: plain text, no ECS types, no vendor-specific types.

use std::fmt;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::reasoning_models::with_room_to_think;
use crate::base::{Id, text};
use crate::mind::spoken::SaidBefore;
use crate::mind::{
    AgentSession, CallKind, Completion, ModelRequest, Prompt, PromptMessage, ResultImages, ScriptPlace,
    ToolDeclaration, Usage,
};

/// One request as a provider receives it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProviderRequest {
    /// The id of the agent that asks.
    pub agent: String,
    /// The profile it runs; scripts are found by it.
    pub profile: String,
    /// Why it asks.
    pub kind: CallKind,
    /// The model, in the provider's own words.
    pub model: String,
    /// What is asked, as data; whoever sends it as text makes the text of it.
    pub prompt: Prompt,
    /// The tools that may be called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDeclaration>,
    /// At most so many tokens are to come back.
    pub max_output_tokens: u32,
    /// Texts that end an answer, because the model would continue as another speaker.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<String>,
    /// What was said in the room, for a provider that draws from a stock of sentences.
    #[serde(skip)]
    pub said_before: SaidBefore,
    /// Chance for providers that need some.
    pub seed: u64,
    /// Where the agent is in its script, for a provider that plays one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptPlace>,
    /// The piece of work that it is asked for, if any: a coding agent keeps a session for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Id>,
    /// The session that a coding agent keeps of it, by which it can go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
    /// Images of the results that the prompt ends with, for a coding agent.
    #[serde(default, skip_serializing_if = "ResultImages::is_empty")]
    pub result_images: ResultImages,
}

impl ProviderRequest {
    /// The question of an agent, for this model.
    pub fn new(request: &ModelRequest, model: &str) -> Self {
        Self {
            agent: request.agent_id.to_string(),
            profile: request.profile.to_string(),
            kind: request.kind,
            model: model.to_owned(),
            prompt: request.prompt.clone(),
            tools: request.tools.clone(),
            max_output_tokens: with_room_to_think(model, request.max_output_tokens),
            stops: request.stops.clone(),
            said_before: SaidBefore::default(),
            seed: request.seed,
            script: None,
            work: request.activation.clone(),
            agent_session: request.agent_session.clone(),
            result_images: request.result_images.clone(),
        }
    }

    /// The most that one attempt is expected to use.
    pub fn most(&self) -> Usage {
        let (input_tokens, output_tokens) = (self.estimated_input_tokens(), self.max_output_tokens);
        Usage { input_tokens, output_tokens, ..Usage::default() }
    }

    /// About how many tokens the prompt costs.
    pub fn estimated_input_tokens(&self) -> u32 {
        let messages = self.prompt.messages().into_iter().map(|message| message.chars());
        let tools = self.tools.iter().map(ToolDeclaration::chars);
        let images = self.prompt.history.iter().map(PromptMessage::image_tokens);
        let parts = messages.chain(tools).map(text::tokens_of_chars).chain(images);
        parts.fold(text::estimate_tokens(&self.prompt.system_text()), u32::saturating_add)
    }
}

/// A provider that computes its answers locally; its latency is counted in simulated time. The same requests in the
/// same order get the same answers.
pub trait SimulatedProvider: Send {
    /// Answers at once.
    fn answer(&mut self, request: &ProviderRequest) -> SimulatedAnswer;
}

/// The answer of a simulated provider, and its simulated latency.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulatedAnswer {
    /// The reply, or the error it plays.
    pub outcome: Result<Completion, SimulatedError>,
    /// Seconds of simulated time until the reply is there.
    pub latency_secs: f32,
    /// Where the agent is in its script after this, if one was played.
    pub script: Option<ScriptPlace>,
}

/// An error as a server would send it.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulatedError {
    /// The HTTP status.
    pub status: u16,
    /// What its `Retry-After` says, in seconds.
    pub retry_after_secs: Option<f32>,
    /// Its words.
    pub message: String,
}

/// A streamed piece of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LivePiece<'a> {
    /// More text.
    Text(&'a str),
    /// More of what it thinks before it speaks: not shown, but paid for.
    Thought(&'a str),
    /// A tool is being called.
    Call {
        /// The how-manyeth call of the answer, from 0.
        position: usize,
        /// The tool.
        name: &'a str,
        /// Its arguments as far as they came: the beginning of a JSON text.
        arguments: &'a str,
    },
}

/// Where a provider puts streamed pieces of an answer, for the screen only.
pub struct DeltaSink(Box<dyn FnMut(LivePiece<'_>) + Send>);

impl DeltaSink {
    /// A sink that hands each piece to this function.
    pub fn new(on_piece: impl FnMut(LivePiece<'_>) + Send + 'static) -> Self {
        Self(Box::new(on_piece))
    }

    /// Hands on a piece.
    pub fn push(&mut self, piece: LivePiece<'_>) {
        (self.0)(piece);
    }
}

/// A network provider. It tries once; the caller decides about retries.
pub trait AiProvider: Send + Sync {
    /// Asks, streams what comes into the sink, and ends with the whole reply. Ends soon after `cancel`.
    fn complete(
        &self,
        request: ProviderRequest,
        sink: DeltaSink,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<Completion, ProviderError>>;
}

/// The error of one attempt. It may still contain a key that a server echoed: only [`super::failure`] turns it into
/// text for people.
#[derive(Clone, PartialEq, Debug)]
pub struct ProviderError {
    /// What happened.
    pub cause: ErrorCause,
    /// The server's or the library's words.
    pub detail: String,
    /// What to do, where whoever failed knows better than its cause; else empty.
    pub remedy: String,
}

/// The cause of a failed attempt.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ErrorCause {
    /// The server answered with this status.
    Status {
        /// The HTTP status.
        status: u16,
        /// What it asked us to wait, in seconds.
        retry_after_secs: Option<f64>,
    },
    /// No connection, or it broke before an answer.
    Connect,
    /// It is to be asked on this computer, and no server listens there.
    Refused,
    /// Nothing came for this many seconds.
    Stalled(u32),
    /// It was not done after this many seconds.
    TooLong(u32),
    /// The answer ended in the middle.
    Cut,
    /// What came was not what was agreed.
    Garbage,
    /// More came than anyone needs.
    TooMuch,
    /// There is no key to ask with.
    NoKey,
    /// Only the workspace named that address, and the person did not allow it.
    NotAllowed,
    /// A coding agent did not answer.
    Agent(AgentFault),
    /// The provider's own code broke.
    Panicked,
    /// We stopped it.
    Cancelled,
}

/// Why a coding agent did not answer. Its message and the remedy are part of the error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentFault {
    /// No person has allowed exactly this agent.
    NotAllowed,
    /// It cannot be started, or does not say hello.
    NotStarted,
    /// It wants a person to log in.
    NeedsLogin,
    /// It ended.
    Ended,
    /// It answered with an error.
    Refused,
    /// It stopped in the middle for a reason of its own.
    Stopped,
}

impl ProviderError {
    /// An error with these words.
    pub fn new(cause: ErrorCause, detail: impl fmt::Display) -> Self {
        Self { cause, detail: detail.to_string(), remedy: String::new() }
    }

    /// A coding agent did not answer, in words for a person.
    pub fn of_agent(fault: AgentFault, what: String, remedy: String) -> Self {
        Self { cause: ErrorCause::Agent(fault), detail: what, remedy }
    }
}
