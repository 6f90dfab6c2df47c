//! Events about models: calls, limits that forbid them, and failing providers.

use serde::{Deserialize, Serialize};

use super::{EventData, EventKind, Word, is_false, present};
use crate::base::Id;
use crate::log::narration::{NarrationContext, aside, joined, thousands, with};

/// The word for calls by which a person tries a provider out.
const TRIAL: &str = "trial";

/// A model was called.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelCall {
    /// What for: `read`, or `trial` where a person tried a provider out.
    pub kind: Word,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Tokens that were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    /// Tokens that came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    /// How many of those sent were in the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens in and out, where they are not counted apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Why the model stopped; null where it did not answer.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub finish: Option<Option<Word>>,
    /// What it cost, in US dollars; null where that is not known.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub cost_usd: Option<Option<f64>>,
    /// Whether the tokens are estimated.
    #[serde(skip_serializing_if = "is_false")]
    pub estimated: bool,
    /// Tokens that the provider put into its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_written_tokens: Option<u64>,
    /// How often the provider was asked, where that is not once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u64>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CallFailure>,
}

/// Why a model did not answer.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CallFailure {
    /// What kind of failure it is: `rate_limited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Word>,
    /// What failed, in words.
    pub what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// When the provider may be asked again, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_secs: Option<f64>,
}

impl EventData for ModelCall {
    const KIND: EventKind = EventKind::ModelCall;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let provider = if self.provider.is_empty() { "a model".to_owned() } else { with("", "", &self.provider) };
        let is_trial = self.kind == TRIAL;
        let whom = if is_trial { "your test".to_owned() } else { telling.agent() };
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
        aside(&with(&format!("{provider} answered"), " ", &whom), &joined(used))
    }

    fn to_do(&self) -> &str {
        self.error.as_ref().and_then(|error| error.remedy.as_deref()).unwrap_or_default()
    }
}

/// Tokens, costs or calls were refused because of a limit.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// What happened: `refused`.
    pub act: Word,
    /// The field of `budget` in the settings that sets the cap.
    pub cap: Word,
    /// Whose use the cap counts, and over what time.
    pub scope: Word,
    /// The agent or work whose use it counts; null where it is the room's.
    pub whose: Option<Id>,
    /// The cap: calls, tokens or millionths of a US dollar.
    pub limit: u64,
    /// What was used and reserved before.
    pub used: u64,
    /// What was asked for.
    pub asked: u64,
    /// What the model was to be asked for: `read`.
    pub kind: Word,
    /// The provider that was to be asked.
    pub provider: String,
    /// What is refused, in words.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl Budget {
    /// Whether a cap forbade something, and not only something was counted.
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

    fn to_do(&self) -> &str {
        &self.remedy
    }
}

/// A provider started to fail, fails for another reason, works again, or is tried again.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Provider {
    /// Which.
    pub provider: String,
    /// The models that fail so.
    pub models: Vec<String>,
    /// How it is now: `failing`, `working`, `unknown`.
    pub state: Word,
    /// In which way it fails or failed.
    pub kind: Word,
    /// What failed, or that it works again, in words.
    pub what: String,
    /// What to do about it, while it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Failures in a row, once they are over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<u64>,
    /// The tick of the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_tick: Option<u64>,
}

impl Provider {
    /// Whether it fails now.
    pub fn is_failing(&self) -> bool {
        self.state == "failing"
    }
}

impl EventData for Provider {
    const KIND: EventKind = EventKind::Provider;

    fn narrate(&self, _: &NarrationContext<'_>) -> String {
        with("", "", if self.what.is_empty() { "a provider's state changed" } else { &self.what })
    }

    fn to_do(&self) -> &str {
        self.remedy.as_deref().unwrap_or_default()
    }
}
