//! Conversions between calendar dates and seconds since 1970. Pure: the caller knows which clock is meant.

/// The number of seconds in a day.
pub const SECS_PER_DAY: i64 = 86_400;

/// Formats seconds since 1970 for files: “2026-11-22T14:05:09”.
pub fn stamp(secs: i64) -> String {
    let (days, in_day) = (secs.div_euclid(SECS_PER_DAY), secs.rem_euclid(SECS_PER_DAY));
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (in_day / 3_600, in_day / 60 % 60, in_day % 60);
    format!("{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:{second:02}", month + 1)
}

/// Parses the format of [`stamp`] to seconds since 1970; the seconds may be missing, and a space may replace the `T`.
pub fn parse_stamp(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let mut parts = date.splitn(3, '-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let days = days_of(year, month - 1, 1) + day - 1;
    // A day that its month does not have would become a day of the next month.
    let is_real = date_of(days) == (year, usize::try_from(month - 1).ok()?, day);
    is_real.then_some(())?;
    Some(days * SECS_PER_DAY + parse_time(time.trim())?)
}

/// Parses “18:00” or “18:00:30” to seconds since midnight; “24:00” is the end of the day.
pub fn parse_time(text: &str) -> Option<i64> {
    let parts: Vec<i64> = text.split(':').map(number).collect::<Option<_>>()?;
    let (hour, minute, second) = match parts.as_slice() {
        [hour, minute] => (*hour, *minute, 0),
        [hour, minute, second] => (*hour, *minute, *second),
        _ => return None,
    };
    let is_time = (hour < 24 && minute < 60 && second < 60) || (hour, minute, second) == (24, 0, 0);
    is_time.then_some(hour * 3_600 + minute * 60 + second)
}

fn number(digits: &str) -> Option<i64> {
    let is_number = !digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

/// Converts days since 1 January 1970 to the year, the month from 0 and the day from 1.
pub fn date_of(days: i64) -> (i64, usize, i64) {
    // Years begin in March here, so that a leap day is the last of its year.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    (year, usize::try_from(month).unwrap_or(0), day)
}

/// Converts a year, a month from 0 and a day from 1 to days since 1 January 1970.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month < 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 10) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_round_trips() {
        assert_eq!(stamp(1_795_356_309), "2026-11-22T14:05:09");
        for secs in [0, 951_782_399, 951_782_400, 1_795_356_309, 4_107_542_400, 253_402_300_799] {
            assert_eq!(parse_stamp(&stamp(secs)), Some(secs), "{}", stamp(secs));
        }
        assert_eq!(parse_stamp("2026-11-22 14:05"), parse_stamp("2026-11-22T14:05:00"));
        for odd in ["", "2026-11-22", "2026-13-01T00:00", "2026-02-29T00:00", "2026-1-0T00:00", "2026-11-22T25:00", "T"]
        {
            assert_eq!(parse_stamp(odd), None, "{odd}");
        }
        assert_eq!((parse_time("18:00"), parse_time("24:00"), parse_time("24:01")), (Some(64_800), Some(86_400), None));
    }
}
