//! Moments as people read them, in one place: simulated time from ticks, and dates. Pure text; dates are in UTC.

use crate::schedule::TICKS_PER_SEC;

const DAY_SECS: u64 = 86_400;
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Simulated time of a tick: `02:07`, `1:02:07`.
pub fn simulated(tick: u64) -> String {
    let secs = tick / TICKS_PER_SEC;
    match secs / 3_600 {
        0 => format!("{:02}:{:02}", secs / 60, secs % 60),
        hours => format!("{hours}:{:02}:{:02}", secs / 60 % 60, secs % 60),
    }
}

/// The time of day of a moment, from milliseconds since 1970: `14:05:09`.
pub fn clock(time_ms: u64) -> String {
    let secs = time_ms / 1_000 % DAY_SECS;
    format!("{:02}:{:02}:{:02}", secs / 3_600, secs / 60 % 60, secs % 60)
}

/// A moment beside another: `today 14:05`, `yesterday 14:05`, `3 Feb 14:05`, `3 Feb 2024 14:05`.
pub fn when(time_ms: u64, now_ms: u64) -> String {
    let (day, today) = (time_ms / 1_000 / DAY_SECS, now_ms / 1_000 / DAY_SECS);
    let time = &clock(time_ms)[..5];
    let (year, month, of_month) = date(day);
    match today.checked_sub(day) {
        Some(0) => format!("today {time}"),
        Some(1) => format!("yesterday {time}"),
        _ if date(today).0 == year => format!("{of_month} {month} {time}"),
        _ => format!("{of_month} {month} {year} {time}"),
    }
}

/// A moment in full, to the second: `3 Feb 2024 14:05:09 UTC`.
pub fn in_full(time_ms: u64) -> String {
    let (year, month, of_month) = date(time_ms / 1_000 / DAY_SECS);
    format!("{of_month} {month} {year} {} UTC", clock(time_ms))
}

/// Year, month and day of a day counted from the first of 1970. Days are counted in eras of 400 years, which are all
/// of the same length, from the first of March, so that a leap day is the last of its year.
fn date(day: u64) -> (u64, &'static str, u64) {
    const ERA_DAYS: u64 = 146_097;
    let from_march = day + 719_468;
    let (era, of_era) = (from_march / ERA_DAYS, from_march % ERA_DAYS);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let is_next = month >= 10;
    let index = if is_next { month - 10 } else { month + 2 };
    let year = year_of_era + era * 400 + u64::from(is_next);
    (year, MONTHS[usize::try_from(index).unwrap_or(0) % 12], of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> u64 {
        let time = humantime::parse_rfc3339(text).expect("it is a moment");
        u64::try_from(time.duration_since(std::time::UNIX_EPOCH).expect("it is later").as_millis()).expect("it fits")
    }

    #[test]
    fn simulated_time_counts_seconds_of_ticks() {
        assert_eq!([0, 29, 30, 30 * 127, 30 * 3_727].map(simulated), ["00:00", "00:00", "00:01", "02:07", "1:02:07"]);
    }

    #[test]
    fn moments_are_as_near_as_they_are() {
        let now = moment("2026-03-01T10:00:00Z");
        let said = |text: &str| when(moment(text), now);
        assert_eq!(said("2026-03-01T08:05:59Z"), "today 08:05");
        assert_eq!(said("2026-02-28T23:59:00Z"), "yesterday 23:59");
        assert_eq!(said("2026-01-31T00:00:00Z"), "31 Jan 00:00");
        assert_eq!(said("2024-02-29T12:00:00Z"), "29 Feb 2024 12:00");
        assert_eq!(said("2026-03-02T01:00:00Z"), "2 Mar 01:00", "a clock that was wrong once");
        assert_eq!(in_full(moment("2000-12-31T23:59:59Z")), "31 Dec 2000 23:59:59 UTC");
        assert_eq!(in_full(0), "1 Jan 1970 00:00:00 UTC");
        in_full(u64::MAX);
    }

    #[test]
    fn every_day_is_the_one_that_the_log_writes() {
        for day in (0..40_000).step_by(17) {
            let written =
                humantime::format_rfc3339(std::time::UNIX_EPOCH + std::time::Duration::from_secs(day * DAY_SECS));
            let (year, month, of_month) = date(day);
            let month = MONTHS.iter().position(|name| *name == month).expect("it is a month") + 1;
            assert!(written.to_string().starts_with(&format!("{year}-{month:02}-{of_month:02}T")), "{written}");
        }
    }
}
