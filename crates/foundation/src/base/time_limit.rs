//! The end of a permission, as a person writes it: for some hours, until a time of day, or until a date. It is
//! converted to a date in the room when the permission is given; nothing here reads a clock.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::calendar::{SECS_PER_DAY, parse_stamp, parse_time, stamp};

/// The maximum duration of a permission with an end, in seconds.
const MAX_SECS: i64 = 31 * SECS_PER_DAY;

/// The end of a permission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeLimit {
    /// This many seconds after the answer.
    Secs(u32),
    /// This second of the day of the answer; 86,400 is the end of the day.
    OfDay(u32),
    /// This date in the room, in seconds since 1970 as the person's clock shows them.
    At(i64),
}

/// Why a text is not a valid time limit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TimeLimitError {
    /// It cannot be parsed.
    #[error("{0:?} is not a valid time; write 2h, 90m, 18:00, end of day or 2026-01-31T18:00")]
    Unknown(String),
    /// It is in the past.
    #[error("it is already {now} in the room, past {at}")]
    Over {
        /// The present date.
        now: String,
        /// The date of the limit.
        at: String,
    },
    /// It is too far in the future.
    #[error("{0} is more than 31 days away; choose an earlier time, or allow it always")]
    TooLong(String),
    /// The room does not know the present date.
    #[error("the room's time is unknown; allow it once or for the task")]
    NoDate,
}

impl TimeLimit {
    /// One hour.
    pub const HOUR: Self = Self::Secs(3_600);
    /// The rest of the day.
    pub const DAY: Self = Self::OfDay(86_400);

    /// Returns the date of the limit, given the present date `now` in the room, both in seconds since 1970.
    pub fn date(self, now: Option<i64>) -> Result<i64, TimeLimitError> {
        let now = now.ok_or(TimeLimitError::NoDate)?;
        let at = match self {
            Self::Secs(secs) => now.saturating_add(secs.into()),
            Self::OfDay(secs) => now.div_euclid(SECS_PER_DAY).saturating_mul(SECS_PER_DAY).saturating_add(secs.into()),
            Self::At(at) => at,
        };
        match at.saturating_sub(now) {
            ..=0 => Err(TimeLimitError::Over { now: stamp(now), at: stamp(at) }),
            1..=MAX_SECS => Ok(at),
            _ => Err(TimeLimitError::TooLong(stamp(at))),
        }
    }
}

impl FromStr for TimeLimit {
    type Err = TimeLimitError;

    fn from_str(text: &str) -> Result<Self, TimeLimitError> {
        let plain = text.trim().to_lowercase();
        let plain = plain.strip_prefix("until ").unwrap_or(&plain).trim();
        if ["end of day", "end of the day", "today", "tonight", "midnight"].contains(&plain) {
            return Ok(Self::DAY);
        }
        if let Some(secs) = parse_time(plain).and_then(|secs| u32::try_from(secs).ok()) {
            return Ok(Self::OfDay(secs));
        }
        if let Some(at) = parse_stamp(plain) {
            return Ok(Self::At(at));
        }
        let lasting = humantime::parse_duration(plain).ok().and_then(|lasting| u32::try_from(lasting.as_secs()).ok());
        lasting.filter(|secs| *secs > 0).map(Self::Secs).ok_or_else(|| TimeLimitError::Unknown(text.trim().to_owned()))
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secs(secs) => {
                write!(f, "{}", humantime::format_duration(std::time::Duration::from_secs((*secs).into())))
            }
            Self::OfDay(86_400) => f.write_str("end of day"),
            Self::OfDay(secs) => write!(f, "{:02}:{:02}", secs / 3_600, secs / 60 % 60),
            Self::At(at) => f.write_str(&stamp(*at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sunday, 22 November 2026, 14:05:09.
    const NOW: i64 = 1_795_356_309;

    #[test]
    fn times_can_be_written_in_several_ways_and_become_dates() {
        for (text, date) in [
            ("2h", "2026-11-22T16:05:09"),
            ("90m", "2026-11-22T15:35:09"),
            ("1h 30m", "2026-11-22T15:35:09"),
            ("until 18:00", "2026-11-22T18:00:00"),
            ("18:00", "2026-11-22T18:00:00"),
            ("End of day", "2026-11-23T00:00:00"),
            ("24:00", "2026-11-23T00:00:00"),
            ("2026-11-30T08:30", "2026-11-30T08:30:00"),
        ] {
            let limit: TimeLimit = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(limit.date(Some(NOW)).map(stamp).as_deref(), Ok(date), "{text}");
            let again: TimeLimit = limit.to_string().parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again, limit, "{text}");
        }
    }

    #[test]
    fn invalid_past_and_distant_times_are_refused() {
        for text in ["", "soon", "25:00", "2026-02-30T00:00", "0s", "-1h", "2026-11-30T08:30Z"] {
            assert!(text.parse::<TimeLimit>().is_err(), "{text}");
        }
        let date = |text: &str| text.parse::<TimeLimit>().and_then(|limit| limit.date(Some(NOW)));
        assert!(matches!(date("14:05"), Err(TimeLimitError::Over { .. })));
        assert!(matches!(date("1970-01-01T00:00"), Err(TimeLimitError::Over { .. })));
        assert!(matches!(date("9000-01-01T00:00"), Err(TimeLimitError::TooLong(_))));
        assert!(matches!(date("4000h"), Err(TimeLimitError::TooLong(_))));
        assert_eq!(TimeLimit::HOUR.date(None), Err(TimeLimitError::NoDate));
    }
}
