//! What is known of a session's messages beside their words.

use serde::{Deserialize, Serialize};

/// What is known of a message beside its words: when it came, and what it took.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageNote {
    /// The tick in which it came.
    pub tick: u64,
    /// What the model took for it, where it is a model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<ReplyNote>,
}

/// What a model took for its replies.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplyNote {
    /// Provider and model that answered: `openai:gpt-x`.
    pub model: String,
    /// When the answer came, in milliseconds of the wall clock since 1970; none where it came in simulated time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
    /// Tokens of the question.
    pub tokens_in: u64,
    /// Those of them that the provider had kept.
    pub cached_tokens: u64,
    /// Tokens of the answer.
    pub tokens_out: u64,
    /// What it cost, with every try, in millionths of a dollar.
    pub cost_micro_usd: u64,
    /// Tokens of which nobody knows what they cost.
    pub unpriced_tokens: u64,
}

impl ReplyNote {
    /// Both together; the later one says who answered and when.
    pub(super) fn plus(&self, later: &Self) -> Self {
        Self {
            model: later.model.clone(),
            at_ms: later.at_ms,
            tokens_in: self.tokens_in.saturating_add(later.tokens_in),
            cached_tokens: self.cached_tokens.saturating_add(later.cached_tokens),
            tokens_out: self.tokens_out.saturating_add(later.tokens_out),
            cost_micro_usd: self.cost_micro_usd.saturating_add(later.cost_micro_usd),
            unpriced_tokens: self.unpriced_tokens.saturating_add(later.unpriced_tokens),
        }
    }

    /// The money, where all of it is known.
    pub(super) fn cost_usd(&self) -> Option<f64> {
        (self.unpriced_tokens == 0).then(|| self.cost_micro_usd as f64 / 1e6)
    }
}
