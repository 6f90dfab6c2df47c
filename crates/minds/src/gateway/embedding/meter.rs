//! The usage of embeddings since it was last read, and whether more may be used: shared by the embedding thread and the
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
    /// Requests that were sent.
    pub(super) calls: u64,
    /// Tokens of all texts.
    pub(super) tokens: u64,
    /// How long the requests took.
    pub(super) duration: Duration,
    /// What went wrong last, in words.
    pub(super) failure: Option<String>,
    /// Why nothing more may be used, where a cap is reached.
    refusal: Option<String>,
}

impl EmbeddingMeter {
    /// A request was sent.
    pub(super) fn note(&self, usage: Usage, took: Duration, failure: Option<String>) {
        let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reading.calls += 1;
        reading.tokens += u64::from(usage.input_tokens);
        reading.duration += took;
        reading.failure = failure.or(reading.failure.take());
    }

    /// The usage since the last call; `None` if there was none.
    pub(super) fn take(&self) -> Option<Reading> {
        let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let refusal = reading.refusal.clone();
        (reading.calls > 0).then(|| std::mem::replace(&mut *reading, Reading { refusal, ..Reading::default() }))
    }

    /// Whether something was used that is not booked yet.
    pub fn is_due(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).calls > 0
    }

    /// From now on nothing more may be used, for this reason, or something may.
    pub fn refuse(&self, why: Option<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).refusal = why;
    }

    /// Why nothing more may be used.
    pub(super) fn refusal(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).refusal.clone()
    }
}
