//! The delay before the lists of a server that reported a change are read again: short at first, and longer each time
//! if it keeps reporting changes. Pure.

use std::time::Duration;

use crate::base::backoff::Backoff;

/// The delay after the first report, because a server may report several changes at once.
pub(super) const SETTLE: Duration = Duration::from_millis(200);
/// The number of successive changes that are followed at once.
const AT_ONCE: u32 = 5;
/// The time after which a change no longer counts as successive.
const QUIET: Duration = Duration::from_secs(60);
/// The longest delay in seconds.
const LONGEST_SECS: f64 = 300.0;

/// The pace at which the changes of a server are followed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// The number of successive changes.
    count: u32,
    /// When the lists were due after the last change, since the connection began.
    due: Duration,
}

impl Pace {
    /// Returns the delay for a change that was reported `now`, as time since the connection began.
    pub(super) fn wait(&mut self, now: Duration) -> Duration {
        if now.saturating_sub(self.due) >= QUIET {
            self.count = 0;
        }
        let wait = match self.count.checked_sub(AT_ONCE) {
            None => SETTLE,
            Some(before) => Duration::from_secs_f64(Backoff::new(1.0, LONGEST_SECS).wait_secs(before)),
        };
        self.count = self.count.saturating_add(1);
        self.due = now + wait;
        wait
    }

    /// Whether changes are followed with an increased delay.
    pub(super) fn is_slowed(&self) -> bool {
        self.count > AT_ONCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constantly_changing_server_is_read_less_and_less_often() {
        let (mut pace, mut now, mut asked) = (Pace::default(), Duration::ZERO, 0);
        while now < Duration::from_secs(3_600) {
            // The server reports a change again as soon as its lists were read.
            now += pace.wait(now);
            asked += 1;
            assert_eq!(pace.is_slowed(), asked > AT_ONCE);
        }
        assert!((15..30).contains(&asked), "{asked} times in an hour");
    }

    #[test]
    fn an_occasionally_changing_server_is_read_at_once() {
        let (mut pace, mut now) = (Pace::default(), Duration::ZERO);
        for _ in 0..100 {
            now += pace.wait(now) + QUIET;
            assert!(!pace.is_slowed());
        }
        for _ in 0..AT_ONCE {
            assert_eq!(pace.wait(now), SETTLE);
        }
        assert!(pace.wait(now) > SETTLE);
        // After a while without changes, the delay is short again.
        now += Duration::from_secs(120);
        assert_eq!(pace.wait(now), SETTLE);
    }
}
