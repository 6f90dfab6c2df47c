//! The delay before a failed operation is retried; all retries use it.

/// The maximum number of doublings.
const MAX_DOUBLINGS: u32 = 16;

/// Delays between retries: each is twice as long as the previous one, up to a maximum.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Backoff {
    /// The delay after the first failure, in seconds.
    pub first_secs: f64,
    /// The longest delay, in seconds.
    pub longest_secs: f64,
}

impl Backoff {
    /// Creates a backoff with this first and longest delay.
    pub fn new(first_secs: impl Into<f64>, longest_secs: impl Into<f64>) -> Self {
        Self { first_secs: first_secs.into(), longest_secs: longest_secs.into() }
    }

    /// Returns the delay in seconds after a failure that this many others preceded.
    pub fn wait_secs(&self, failures_before: u32) -> f64 {
        // Multiplying by a power of two is exact, so the result is the same in every float type.
        let doubled = f64::from(1_u32 << failures_before.min(MAX_DOUBLINGS));
        (self.first_secs * doubled).min(self.longest_secs)
    }

    /// Like [`Self::wait_secs`], spread for callers that failed together and should not retry together: between half
    /// the delay and all of it, according to `jitter` in 0..1, which the caller draws at random or from a seed.
    pub fn spread_secs(&self, failures_before: u32, jitter: f64) -> f64 {
        self.wait_secs(failures_before) * (0.5 + 0.5 * jitter.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_doubles_the_delay_up_to_the_maximum() {
        let backoff = Backoff::new(10.0_f32, 300.0);
        assert_eq!(
            [0, 1, 2, 4, 5, u32::MAX].map(|before| backoff.wait_secs(before)),
            [10.0, 20.0, 40.0, 160.0, 300.0, 300.0]
        );
        assert_eq!(Backoff::new(1.0, f64::INFINITY).wait_secs(u32::MAX), 65_536.0, "many stay finite");
    }

    #[test]
    fn simultaneous_failures_are_retried_at_different_times_and_never_immediately() {
        let backoff = Backoff::new(2.0, 3.0);
        assert_eq!([0.0, 0.5, 1.0, 7.0, -1.0].map(|jitter| backoff.spread_secs(1, jitter)), [1.5, 2.25, 3.0, 3.0, 1.5]);
    }
}
