//! Limits how much a module may log outside of calls, so that endless logging does not fill the history.

use std::time::{Duration, Instant};

/// The maximum number of lines at once.
const LINES_AT_ONCE: u32 = 40;

/// The time after which one more line is allowed.
const LINE_EVERY: Duration = Duration::from_secs(2);

/// What to do with a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Allowed {
    /// Log it.
    Yes,
    /// Drop it, and log that lines are being dropped.
    FirstDropped,
    /// Drop it.
    Dropped,
}

/// The number of lines that a module may currently log.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogAllowance {
    left: u32,
    counted_at: Instant,
    has_dropped: bool,
}

impl LogAllowance {
    pub(super) fn new(now: Instant) -> Self {
        Self { left: LINES_AT_ONCE, counted_at: now, has_dropped: false }
    }

    /// Uses one line of the allowance, if there is one.
    pub(super) fn take(&mut self, now: Instant) -> Allowed {
        let passed = now.saturating_duration_since(self.counted_at);
        let more = u32::try_from(passed.as_millis() / LINE_EVERY.as_millis()).unwrap_or(u32::MAX);
        if more > 0 {
            self.left = self.left.saturating_add(more).min(LINES_AT_ONCE);
            self.counted_at = now;
        }
        if self.left > 0 {
            self.left -= 1;
            self.has_dropped = false;
            return Allowed::Yes;
        }
        if std::mem::replace(&mut self.has_dropped, true) { Allowed::Dropped } else { Allowed::FirstDropped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_logged_and_endless_output_is_dropped() {
        let begun = Instant::now();
        let mut allowance = LogAllowance::new(begun);
        let took: Vec<Allowed> = (0..LINES_AT_ONCE + 3).map(|_| allowance.take(begun)).collect();
        let (logged, dropped) = took.split_at(LINES_AT_ONCE as usize);
        assert!(logged.iter().all(|allowed| *allowed == Allowed::Yes));
        assert_eq!(dropped, [Allowed::FirstDropped, Allowed::Dropped, Allowed::Dropped]);
        let later = begun + LINE_EVERY;
        assert_eq!([allowance.take(later), allowance.take(later)], [Allowed::Yes, Allowed::FirstDropped]);
        let much_later = later + LINE_EVERY * 10_000;
        let logged = (0..LINES_AT_ONCE * 2).filter(|_| allowance.take(much_later) == Allowed::Yes).count();
        assert_eq!(logged, LINES_AT_ONCE as usize);
    }
}
