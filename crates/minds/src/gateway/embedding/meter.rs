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

    /// Passes the usage on, if there was any, and resets it if `give` could do so. Returns whether nothing is left.
    pub(super) fn take_if(&self, give: impl FnOnce(&Reading) -> bool) -> bool {
        let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if reading.calls > 0 {
            if !give(&reading) {
                return false;
            }
            *reading = Reading { refusal: reading.refusal.take(), ..Reading::default() };
        }
        true
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_passed_on_once_and_kept_until_somebody_takes_it() {
        let meter = EmbeddingMeter::default();
        assert!(meter.take_if(|_| panic!("there is nothing to pass on")));
        meter.refuse(Some("the limit is reached".to_owned()));
        for tokens in [7, 5] {
            let usage = Usage { input_tokens: tokens, ..Usage::default() };
            meter.note(usage, Duration::from_millis(3), None);
        }
        assert!(!meter.take_if(|_| false), "nobody took it");
        let mut passed = Vec::new();
        for _ in 0..2 {
            assert!(meter.take_if(|reading| {
                passed.push((reading.calls, reading.tokens));
                true
            }));
        }
        assert_eq!(passed, [(2, 12)]);
        assert_eq!(meter.refusal().as_deref(), Some("the limit is reached"));
    }
}
