//! How much longer to wait after each failure: one rule for whatever is tried again.

/// No wait is doubled more often.
const DOUBLINGS_AT_MOST: u32 = 16;

/// By how much to multiply the first wait after so many failures before: twice as long with each.
pub fn backoff_factor(failures_before: u32) -> f32 {
    // A power of two is the same number in every kind of float.
    (1_u32 << failures_before.min(DOUBLINGS_AT_MOST)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_doubles_the_wait_and_many_stay_finite() {
        assert_eq!([0, 1, 2, 5].map(backoff_factor), [1.0, 2.0, 4.0, 32.0]);
        assert_eq!(backoff_factor(u32::MAX), 65_536.0);
    }
}
