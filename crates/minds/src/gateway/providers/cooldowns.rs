//! The cooldowns of providers that refused requests, by the wall clock, at every speed of the room. All callers share
//! them.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::provider::ErrorCause;
use super::retry::RetryPolicy;

/// The maximum cooldown in seconds; a server that asks for more is called again after this.
pub(in crate::gateway) const LONGEST_REST_SECS: f64 = 86_400.0;

/// When the cooldown of each provider ends. Clones share their state.
#[derive(Clone, Default, Debug)]
pub(in crate::gateway) struct Cooldowns(Arc<Mutex<BTreeMap<String, Cooldown>>>);

#[derive(Clone, Copy, Debug)]
struct Cooldown {
    until: Instant,
    /// The number of consecutive refusals without a duration.
    times: u32,
}

impl Cooldowns {
    /// If a provider refused a request for now, starts its cooldown: for as long as the provider asked, or increasingly
    /// longer if it did not say.
    pub(in crate::gateway) fn note_refusal(
        &self,
        provider: &str,
        cause: ErrorCause,
        policy: &RetryPolicy,
        now: Instant,
    ) {
        let Some(asked_secs) = wait_asked(cause) else { return };
        let mut rests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = rests.entry(provider.to_owned()).or_insert(Cooldown { until: now, times: 0 });
        let secs = match asked_secs {
            Some(secs) => secs.clamp(0.0, LONGEST_REST_SECS),
            // Simultaneous requests that were refused together count once.
            None if now < rest.until => return,
            None => {
                rest.times = rest.times.saturating_add(1);
                policy.cooldown_secs(rest.times - 1)
            }
        };
        rest.until = rest.until.max(now + Duration::from_secs_f64(secs));
    }

    /// Records that a provider answered. A cooldown that it asked for with another request still applies.
    pub(in crate::gateway) fn note_answer(&self, provider: &str) {
        if let Some(rest) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(provider) {
            rest.times = 0;
        }
    }

    /// Returns the remaining cooldown of a provider; zero if it may be called.
    pub(in crate::gateway) fn remaining(&self, provider: &str, now: Instant) -> Duration {
        let rests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rests.get(provider).map_or(Duration::ZERO, |rest| rest.until.saturating_duration_since(now))
    }

    /// Returns the longest remaining cooldown of any provider.
    pub(in crate::gateway) fn longest_remaining(&self, now: Instant) -> Duration {
        let rests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rests.values().map(|rest| rest.until.saturating_duration_since(now)).max().unwrap_or_default()
    }
}

/// Returns whether a server asks for a pause, and for how many seconds if it says that.
pub(in crate::gateway) fn wait_asked(cause: ErrorCause) -> Option<Option<f64>> {
    match cause {
        ErrorCause::Status { status, retry_after_secs } => {
            let asked = retry_after_secs.filter(|secs| secs.is_finite());
            (status == 429 || asked.is_some()).then_some(asked)
        }
        _ => None,
    }
}

/// Returns an unpredictable number in 0..1, to spread retries. Never reaches the world.
pub(in crate::gateway) fn chance() -> f64 {
    (RandomState::new().build_hasher().finish() % 1000) as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy =
        RetryPolicy { attempts: 4, first_delay_secs: 1.0, longest_delay_secs: 30.0, total_delay_secs: 60.0 };

    fn refused(status: u16, retry_after_secs: Option<f64>) -> ErrorCause {
        ErrorCause::Status { status, retry_after_secs }
    }

    #[test]
    fn a_cooldown_lasts_as_long_as_requested_and_affects_no_other_provider() {
        let (rests, now) = (Cooldowns::default(), Instant::now());
        rests.note_refusal("openai", refused(429, Some(40.0)), &POLICY, now);
        assert_eq!(rests.remaining("openai", now), Duration::from_secs(40));
        assert_eq!(rests.remaining("openai", now + Duration::from_secs(41)), Duration::ZERO);
        assert_eq!(rests.remaining("gemini", now), Duration::ZERO);
        // A shorter time for another request, or an answer to a third one, shortens nothing.
        rests.note_refusal("openai", refused(429, Some(2.0)), &POLICY, now);
        rests.note_answer("openai");
        assert_eq!(rests.clone().remaining("openai", now), Duration::from_secs(40));
        rests.note_refusal("gemini", refused(503, Some(3e9)), &POLICY, now);
        assert_eq!(rests.longest_remaining(now), Duration::from_secs(86_400), "a hundred years are a day");
    }

    #[test]
    fn cooldowns_without_a_duration_grow_until_an_answer() {
        let (rests, mut now) = (Cooldowns::default(), Instant::now());
        let refuse = |now: &mut Instant| {
            rests.note_refusal("openai", refused(429, None), &POLICY, *now);
            // Requests that are refused at the same moment count as one refusal.
            rests.note_refusal("openai", refused(429, None), &POLICY, *now);
            let left = rests.remaining("openai", *now);
            *now += left;
            left.as_secs()
        };
        let waits: Vec<u64> = (0..8).map(|_| refuse(&mut now)).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        rests.note_answer("openai");
        assert_eq!(refuse(&mut now), 1);
    }

    #[test]
    fn only_refusals_start_a_cooldown() {
        let (rests, now) = (Cooldowns::default(), Instant::now());
        for cause in [refused(500, None), refused(401, None), ErrorCause::Connect, ErrorCause::Cut] {
            rests.note_refusal("openai", cause, &POLICY, now);
        }
        assert_eq!(rests.longest_remaining(now), Duration::ZERO);
    }
}
