//! Formats times for people: simulated time from ticks, and dates in the person's language and time zone. Pure
//! functions.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};

use crate::schedule::TICKS_PER_SEC;

/// The language or format in which dates are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateLanguage {
    /// `3 Feb 2024, 14:05`
    #[default]
    English,
    /// `3. Feb. 2024, 14:05`
    German,
    /// `3 févr. 2024, 14:05`
    French,
    /// `3 feb 2024, 14:05`
    Spanish,
    /// `2024-02-03 14:05`
    Numbers,
}

impl DateLanguage {
    /// Every language with its own name for itself.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::English, "English"),
        (Self::German, "Deutsch"),
        (Self::French, "Français"),
        (Self::Spanish, "Español"),
        (Self::Numbers, "2024-02-03"),
    ];

    fn months(self) -> [&'static str; 12] {
        match self {
            Self::English | Self::Numbers => {
                ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
            }
            Self::German => {
                ["Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."]
            }
            Self::French => {
                ["janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."]
            }
            Self::Spanish => ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"],
        }
    }

    fn today(self) -> Option<[&'static str; 2]> {
        match self {
            Self::English => Some(["today", "yesterday"]),
            Self::German => Some(["heute", "gestern"]),
            Self::French => Some(["aujourd’hui", "hier"]),
            Self::Spanish => Some(["hoy", "ayer"]),
            Self::Numbers => None,
        }
    }
}

/// How dates are formatted: language and time zone.
#[derive(Clone, PartialEq, Debug)]
pub struct Dates {
    /// The language.
    pub language: DateLanguage,
    zone: TimeZone,
}

impl Default for Dates {
    fn default() -> Self {
        Self { language: DateLanguage::default(), zone: TimeZone::UTC }
    }
}

impl Dates {
    /// In the time zone of this computer.
    pub fn here(language: DateLanguage) -> Self {
        Self { language, zone: TimeZone::system() }
    }

    fn moment(&self, time_ms: u64) -> Option<Zoned> {
        let timestamp = Timestamp::from_millisecond(i64::try_from(time_ms).ok()?).ok()?;
        Some(timestamp.to_zoned(self.zone.clone()))
    }

    /// The time of day: `14:05:09`. `time_ms` counts from 1970.
    pub fn clock(&self, time_ms: u64) -> String {
        self.moment(time_ms)
            .map_or_else(unknown, |at| format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second()))
    }

    /// A date relative to `now_ms`: `today, 14:05`, `yesterday, 14:05`, `3 Feb, 14:05`, `3 Feb 2024, 14:05`.
    pub fn when(&self, time_ms: u64, now_ms: u64) -> String {
        let (Some(at), Some(now)) = (self.moment(time_ms), self.moment(now_ms)) else { return unknown() };
        let time = format!("{:02}:{:02}", at.hour(), at.minute());
        let yesterday = now.date().yesterday().ok();
        match self.language.today() {
            Some([today, _]) if at.date() == now.date() => format!("{today}, {time}"),
            Some([_, word]) if Some(at.date()) == yesterday => format!("{word}, {time}"),
            Some(_) if at.year() == now.year() => format!("{}, {time}", self.day(&at, false)),
            Some(_) => format!("{}, {time}", self.day(&at, true)),
            None => format!("{} {time}", self.day(&at, true)),
        }
    }

    /// A full date, to the second: `3 Feb 2024, 14:05:09`.
    pub fn full(&self, time_ms: u64) -> String {
        let Some(at) = self.moment(time_ms) else { return unknown() };
        let between = if self.language == DateLanguage::Numbers { " " } else { ", " };
        format!("{}{between}{}", self.day(&at, true), self.clock(time_ms))
    }

    fn day(&self, at: &Zoned, with_year: bool) -> String {
        if self.language == DateLanguage::Numbers {
            return format!("{:04}-{:02}-{:02}", at.year(), at.month(), at.day());
        }
        let month = usize::try_from(at.month() - 1).ok().and_then(|index| self.language.months().get(index).copied());
        let point = if self.language == DateLanguage::German { "." } else { "" };
        let year = if with_year { format!(" {}", at.year()) } else { String::new() };
        format!("{}{point} {}{year}", at.day(), month.unwrap_or_default())
    }
}

/// Text for a time outside the calendar's range.
fn unknown() -> String {
    "at an unknown time".to_owned()
}

/// Simulated time of a tick: `02:07`, `1:02:07`.
pub fn simulated(tick: u64) -> String {
    let secs = tick / TICKS_PER_SEC;
    match secs / 3_600 {
        0 => format!("{:02}:{:02}", secs / 60, secs % 60),
        hours => format!("{hours}:{:02}:{:02}", secs / 60 % 60, secs % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> u64 {
        let time: Timestamp = text.parse().expect("it is a moment");
        u64::try_from(time.as_millisecond()).expect("it is after 1970")
    }

    #[test]
    fn simulated_time_counts_seconds_of_ticks() {
        assert_eq!([0, 29, 30, 30 * 127, 30 * 3_727].map(simulated), ["00:00", "00:00", "00:01", "02:07", "1:02:07"]);
    }

    #[test]
    fn nearby_dates_are_relative() {
        let now = moment("2026-03-01T10:00:00Z");
        let formatted = |text: &str| Dates::default().when(moment(text), now);
        assert_eq!(formatted("2026-03-01T08:05:59Z"), "today, 08:05");
        assert_eq!(formatted("2026-02-28T23:59:00Z"), "yesterday, 23:59");
        assert_eq!(formatted("2026-01-31T00:00:00Z"), "31 Jan, 00:00");
        assert_eq!(formatted("2024-02-29T12:00:00Z"), "29 Feb 2024, 12:00");
        assert_eq!(formatted("2026-03-02T01:00:00Z"), "2 Mar, 01:00", "a clock that was wrong once");
        assert_eq!(Dates::default().full(0), "1 Jan 1970, 00:00:00");
        assert_eq!(Dates::default().full(u64::MAX), "at an unknown time");
    }

    #[test]
    fn every_language_says_the_same_day() {
        let at = moment("2024-02-03T14:05:09Z");
        let formatted = DateLanguage::ALL.map(|(language, _)| Dates { language, ..Dates::default() }.full(at));
        assert_eq!(
            formatted,
            [
                "3 Feb 2024, 14:05:09",
                "3. Feb. 2024, 14:05:09",
                "3 févr. 2024, 14:05:09",
                "3 feb 2024, 14:05:09",
                "2024-02-03 14:05:09"
            ]
        );
    }

    #[test]
    fn dates_use_the_person_s_time_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(9));
        let tokyo = Dates { language: DateLanguage::English, zone };
        assert_eq!(tokyo.full(moment("2024-02-03T20:00:00Z")), "4 Feb 2024, 05:00:00");
    }
}
