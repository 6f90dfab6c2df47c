//! What a provider is asked and what it answers, in plain text: nothing here knows the room.

use crate::mind::{CallKind, Completion, PromptMessage};

/// What the worker gives a provider: plain text, no ECS types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProviderRequest {
    /// The agent's id.
    pub agent: String,
    /// The id of the profile it runs.
    pub profile: String,
    /// Why it is asked.
    pub kind: CallKind,
    /// Which model is to answer.
    pub model: String,
    /// The system text.
    pub system: String,
    /// The history, and the moment as the last user message.
    pub messages: Vec<PromptMessage>,
    /// At most so many tokens are to come back.
    pub max_output_tokens: u32,
    /// Chance for providers that need some.
    pub seed: u64,
}

/// A provider that computes its answer by itself; its latency is counted in simulated time.
pub trait SimulatedProvider: Send {
    /// Answers at once; the caller waits out the latency.
    fn answer(&mut self, request: &ProviderRequest) -> SimulatedAnswer;
}

/// What a [`SimulatedProvider`] answers.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulatedAnswer {
    /// The reply, or the failure it plays.
    pub outcome: Result<Completion, SimulatedError>,
    /// After so many simulated seconds.
    pub latency_secs: f32,
}

/// A failure as a real provider would have had it.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulatedError {
    /// The HTTP status.
    pub status: u16,
    /// What `Retry-After` says, in seconds.
    pub retry_after_secs: Option<f32>,
    /// In words.
    pub message: String,
}
