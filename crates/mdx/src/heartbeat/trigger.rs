//! Triggers: an interval, or a calendar pattern.

use std::str::FromStr;
use std::time::Duration;

use croner::Cron;
use jiff::{SignedDuration, Timestamp, Zoned};

/// When something is due.
#[derive(Clone, PartialEq, Debug)]
pub enum Trigger {
    /// Repeatedly after this interval, counted from the start of the agent.
    Every(Duration),
    /// By the calendar of a time zone, as a cron pattern.
    Calendar(Box<Cron>),
}

impl Trigger {
    /// Parses a cron pattern: five fields, or six with seconds first, or `@daily` and the like.
    pub fn cron(pattern: &str) -> Option<Self> {
        Cron::from_str(pattern).ok().map(|cron| Self::Calendar(Box::new(cron)))
    }

    /// Returns the first time after this one; `None` if there is none, as for the 30th of February. `began` is the time
    /// from which intervals are counted.
    pub fn next_after(&self, after: &Zoned, began: Timestamp) -> Option<Zoned> {
        match self {
            Self::Every(interval) => {
                let interval = SignedDuration::try_from(*interval).ok().filter(|interval| interval.is_positive())?;
                let since = after.timestamp().duration_since(began);
                let passed = since.as_nanos().div_euclid(interval.as_nanos()) + 1;
                let nanos = interval.as_nanos().checked_mul(passed)?;
                let moment = Timestamp::from_nanosecond(began.as_nanosecond().checked_add(nanos)?).ok()?;
                Some(moment.to_zoned(after.time_zone().clone()))
            }
            Self::Calendar(cron) => {
                let mut at = cron.find_next_occurrence(after, false).ok()?;
                // When clocks are set back, an hour occurs twice: a trigger for a certain hour is only due the first
                // time.
                while self.names_its_hour() && comes_again(&at) {
                    at = cron.find_next_occurrence(&at, false).ok()?;
                }
                (at > *after).then_some(at)
            }
        }
    }

    /// Whether the pattern is for certain hours rather than for every one.
    pub(super) fn names_its_hour(&self) -> bool {
        let Self::Calendar(cron) = self else { return false };
        let pattern = cron.as_str();
        let fields: Vec<&str> = pattern.split_whitespace().collect();
        let hour = match fields.len() {
            5 => fields[1],
            6 | 7 => fields[2],
            _ => return !pattern.eq_ignore_ascii_case("@hourly"),
        };
        !hour.starts_with('*')
    }
}

/// Whether this is the second time that the clock shows this time.
fn comes_again(at: &Zoned) -> bool {
    let first = at.time_zone().to_ambiguous_zoned(at.datetime()).earlier();
    first.is_ok_and(|first| first < *at)
}
