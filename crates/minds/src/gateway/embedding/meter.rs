//! The usage of embeddings since it was last read, and whether more is allowed: shared by the embedding thread and the
//! room, which keeps the ledger.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::mind::Usage;

/// The meter of embedding usage. Cheap to clone; all clones share their state.
#[derive(Clone, Default)]
pub struct EmbeddingMeter(Arc<Mutex<Reading>>);

/// A reading of the meter.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reading {
    /// The number of requests that were sent.
    pub(super) calls: u64,
    /// The number of tokens of all texts.
    pub(super) tokens: u64,
    /// The total duration of the requests.
    pub(super) duration: Duration,
    /// The message of the last failure.
    pub(super) failure: Option<String>,
    /// Why no more is allowed, if a limit is reached.
    refusal: Option<String>,
}

impl EmbeddingMeter {
    /// Records a request.
    pub(super) fn note(&self, usage: Usage, took: Duration, failure: Option<String>) {
        let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reading.calls += 1;
        reading.tokens += u64::from(usage.input_tokens);
        reading.duration += took;
        reading.failure = failure.or(reading.failure.take());
    }

    /// Returns and resets the usage; `None` if there was none.
    pub(super) fn take(&self) -> Option<Reading> {
        let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let refusal = reading.refusal.clone();
        (reading.calls > 0).then(|| std::mem::replace(&mut *reading, Reading { refusal, ..Reading::default() }))
    }

    /// Whether there is usage that is not in the ledger yet.
    pub fn is_due(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).calls > 0
    }

    /// Forbids further requests for this reason, or allows them.
    pub fn refuse(&self, why: Option<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).refusal = why;
    }

    /// Returns why further requests are forbidden.
    pub(super) fn refusal(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).refusal.clone()
    }
}
