//! Events about models: calls, limits that forbid them, and failing providers.

use serde::{Deserialize, Serialize};

use super::{EventData, EventKind, Word, is_false, present};
use crate::base::Id;
use crate::log::narration::{NarrationContext, in_brackets, joined, thousands, with};

/// The kind of calls by which a person tests a provider.
const TRIAL: &str = "trial";

/// A model was called.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelCall {
    /// The purpose: `read`, or `trial` for a person's test of a provider.
    pub kind: Word,
    /// The name of the provider.
    pub provider: String,
    /// The name of the model.
    pub model: String,
    /// The number of input tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    /// The number of output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    /// The number of input tokens from the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// The number of input and output tokens, if they are not counted separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// Why the model stopped; null if it did not answer.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub finish: Option<Option<Word>>,
    /// The cost in US dollars; null if it is not known.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub cost_usd: Option<Option<f64>>,
    /// Whether the numbers of tokens are estimated.
    #[serde(skip_serializing_if = "is_false")]
    pub estimated: bool,
    /// The number of tokens that the provider wrote to its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_written_tokens: Option<u64>,
    /// The number of attempts, if there was more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u64>,
    /// The failure, if there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CallFailure>,
}

/// Why a model did not answer.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CallFailure {
    /// The kind of failure: `rate_limited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Word>,
    /// The description.
    pub what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The seconds until the provider may be called again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_secs: Option<f64>,
}

impl EventData for ModelCall {
    const KIND: EventKind = EventKind::ModelCall;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let provider = if self.provider.is_empty() { "a model".to_owned() } else { with("", "", &self.provider) };
        let is_trial = self.kind == TRIAL;
        let whom = if is_trial { "your test".to_owned() } else { context.agent() };
        if let Some(error) = &self.error {
            return with(&with(&format!("{provider} did not answer"), " ", &whom), ": ", &error.what);
        }
        let kind = (!is_trial).then(|| self.kind.to_string());
        let amount = |count: Option<u64>, what: &str| count.map(|count| format!("{}{what}", thousands(count)));
        let cost = match self.cost_usd {
            Some(Some(cost)) if cost > 0.0 => Some(format!("${cost:.4}")),
            Some(None) => Some("cost unknown".to_owned()),
            Some(Some(_)) | None => None,
        };
        let estimated = self.estimated.then(|| "tokens estimated".to_owned());
        let finish = match self.finish.as_ref().and_then(Option::as_deref) {
            Some("length") => Some("cut at the limit".to_owned()),
            Some("filtered") => Some("partly filtered".to_owned()),
            _ => None,
        };
        let used = [
            kind,
            amount(self.tokens_in, " tokens in"),
            amount(self.tokens_out, " out"),
            amount(self.tokens, " tokens"),
            Some(format!("{} ms", thousands(self.duration_ms))),
            cost,
            estimated,
            finish,
        ];
        in_brackets(&with(&format!("{provider} answered"), " ", &whom), &joined(used))
    }

    fn remedy(&self) -> &str {
        self.error.as_ref().and_then(|error| error.remedy.as_deref()).unwrap_or_default()
    }
}

/// Tokens, costs or calls were refused because of a limit, or there is room again.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// The decision: `refused`, or `freed` when what waited may continue.
    pub act: Word,
    /// The key of the limit in the section `budget` of the settings.
    pub cap: Word,
    /// What the limit applies to, and its period.
    pub scope: Word,
    /// The id of the agent or activation that it applies to; null for the room.
    pub whose: Option<Id>,
    /// The limit, in calls, tokens or millionths of a US dollar.
    pub limit: u64,
    /// The amount that was used and reserved before.
    pub used: u64,
    /// The requested amount.
    pub asked: u64,
    /// The purpose of the request: `read`.
    pub kind: Word,
    /// The name of the provider.
    pub provider: String,
    /// The description.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl Budget {
    /// Whether a limit forbade something, rather than something only being counted.
    pub fn is_refusal(&self) -> bool {
        self.act == "refused" && !self.cap.is_empty()
    }
}

impl EventData for Budget {
    const KIND: EventKind = EventKind::Budget;

    fn narrate(&self, _: &NarrationContext<'_>) -> String {
        match (self.what.is_empty(), self.act.is_empty()) {
            (false, _) => with("", "", &self.what),
            (true, false) => with(&with("a budget was", " ", &self.act), ": ", &self.cap),
            _ => with("a budget was touched", ": ", &self.cap),
        }
    }

    fn remedy(&self) -> &str {
        &self.remedy
    }
}

/// A provider started to fail, fails for another reason, works again, or is tried again.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Provider {
    /// The name of the provider.
    pub provider: String,
    /// The models that fail in this way.
    pub models: Vec<String>,
    /// The state: `failing`, `working`, `unknown`.
    pub state: Word,
    /// The kind of failure.
    pub kind: Word,
    /// The description.
    pub what: String,
    /// What to do about it, while it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The number of consecutive failures, once they have ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<u64>,
    /// The tick of the first of these failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_tick: Option<u64>,
}

impl Provider {
    /// Whether the provider is failing.
    pub fn is_failing(&self) -> bool {
        self.state == "failing"
    }
}

impl EventData for Provider {
    const KIND: EventKind = EventKind::Provider;

    fn narrate(&self, _: &NarrationContext<'_>) -> String {
        with("", "", if self.what.is_empty() { "a provider's state changed" } else { &self.what })
    }

    fn remedy(&self) -> &str {
        self.remedy.as_deref().unwrap_or_default()
    }
}
