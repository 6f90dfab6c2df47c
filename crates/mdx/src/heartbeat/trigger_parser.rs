//! Parses triggers as people write them: "Every morning at 09:00", "Every Monday at 8:30", "every 15 minutes", "0 9 * *
//! 1-5".

use std::time::Duration;

use super::trigger::Trigger;

/// Examples of valid times, for error messages.
pub const EXAMPLES: &str =
    "Every morning at 09:00 · Every hour · Every 15 minutes · Every Monday at 8:30 · Weekdays at 9am · 0 9 * * 1-5";

/// The minimum interval; the maximum is a year and a day.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(367 * 24 * 60 * 60);

/// The text is not a valid time.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{written}\" is not a valid time")]
pub struct TriggerError {
    /// The text.
    pub written: String,
}

/// Parses a trigger.
pub fn parse(text: &str) -> Result<Trigger, TriggerError> {
    let written = unmarked(text);
    let months = |word: &str| word.strip_suffix('M').is_some_and(|count| count.ends_with(|c: char| c.is_ascii_digit()));
    let understood = cron(written).or_else(|| {
        if written.split_whitespace().any(months) {
            return None;
        }
        let words: Vec<String> =
            written.to_lowercase().replace(',', " , ").split_whitespace().map(str::to_owned).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        sentence(&words)
    });
    understood.ok_or_else(|| TriggerError { written: text.trim().to_owned() })
}

/// Removes Markdown markup around a text.
pub(super) fn unmarked(text: &str) -> &str {
    text.trim().trim_start_matches("**").trim_end_matches("**").trim_matches(['`', '"']).trim()
}

/// Parses an interval such as `15m`, `1h 30m` or `2 days`. `M` would be a month, which is not supported.
pub(super) fn interval(text: &str) -> Option<Duration> {
    let text = text.trim();
    if text.contains('M') {
        return None;
    }
    // An interval is a number with a unit, such as `@every: 15m`, `1h 30m` or `2 days`, from a second to a year.
    rule!("intervals-have-a-unit");
    let interval = humantime::parse_duration(text).ok()?;
    (SHORTEST..=LONGEST).contains(&interval).then_some(interval)
}

fn cron(text: &str) -> Option<Trigger> {
    let pattern = text.strip_prefix("cron ").or_else(|| text.strip_prefix("@cron ")).unwrap_or(text).trim();
    if let Some(rest) = pattern.strip_prefix("@every") {
        return interval(rest.trim_start_matches(':')).map(Trigger::Every);
    }
    let fields = pattern.split_whitespace().count();
    let is_pattern = pattern.starts_with('@') || (5..=7).contains(&fields);
    let starts_like_one = pattern.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '*' | '@'));
    (is_pattern && starts_like_one).then(|| Trigger::cron(pattern)).flatten()
}

/// The days on which a trigger is due, as cron fields: day of the month, month, day of the week.
#[derive(Clone, PartialEq, Debug)]
struct Days {
    of_month: String,
    of_week: String,
    /// The default hour and minute.
    usual: (u32, u32),
}

fn sentence(words: &[&str]) -> Option<Trigger> {
    let (words, is_every) = match words {
        ["every" | "each", rest @ ..] => (rest, true),
        ["on", rest @ ..] => (rest, false),
        words => (words, false),
    };
    if let Some(trigger) = interval_of(words, is_every) {
        return Some(trigger);
    }
    if let ["at", ..] = words {
        return at_times(&every_day(), words);
    }
    let (days, rest) = days(words)?;
    at_times(&days, rest)
}

fn every_day() -> Days {
    Days { of_month: "*".to_owned(), of_week: "*".to_owned(), usual: (9, 0) }
}

/// Parses "hour", "5 minutes", "half hour", "15m", "hourly", "other day".
fn interval_of(words: &[&str], is_every: bool) -> Option<Trigger> {
    let calendar = |pattern: String| Trigger::cron(&pattern);
    match words {
        ["hourly"] => return calendar("0 * * * *".to_owned()),
        ["hour", "at", minute] if is_every => {
            let minute: u32 = minute.trim_start_matches(':').parse().ok().filter(|minute| *minute < 60)?;
            return calendar(format!("{minute} * * * *"));
        }
        ["half", "hour"] | ["half", "an", "hour"] => return calendar("*/30 * * * *".to_owned()),
        ["minute"] if is_every => return calendar("* * * * *".to_owned()),
        ["hour"] if is_every => return calendar("0 * * * *".to_owned()),
        ["second"] if is_every => return Some(Trigger::Every(Duration::from_secs(1))),
        _ => {}
    }
    if !is_every {
        return None;
    }
    let (count, unit) = match words {
        ["other", unit] => (2, *unit),
        [count, unit] if number(count).is_some() => (number(count)?, *unit),
        [short] => return interval(short).map(Trigger::Every),
        _ => return interval(&words.join(" ")).map(Trigger::Every),
    };
    match unit.trim_end_matches('s') {
        "minute" | "min" if count > 0 && 60 % count == 0 && count < 60 => calendar(format!("*/{count} * * * *")),
        "hour" | "hr" if count > 0 && 24 % count == 0 && count < 24 => calendar(format!("0 */{count} * * *")),
        _ => interval(&format!("{count} {unit}")).map(Trigger::Every),
    }
}

fn number(word: &str) -> Option<u64> {
    let words =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    word.parse().ok().or_else(|| words.iter().position(|known| *known == word).map(|at| at as u64))
}

/// Parses the days at the beginning of the words, and returns the remaining words.
fn days<'a, 'w>(words: &'a [&'w str]) -> Option<(Days, &'a [&'w str])> {
    let at = |hour: u32, words: &'a [&'w str]| Some((Days { usual: (hour, 0), ..every_day() }, words));
    match words {
        ["day" | "daily", rest @ ..] => at(9, rest),
        ["morning", rest @ ..] => at(9, rest),
        ["noon" | "midday", rest @ ..] => at(12, rest),
        ["afternoon", rest @ ..] => at(15, rest),
        ["evening", rest @ ..] => at(18, rest),
        ["night", rest @ ..] => at(22, rest),
        ["midnight", rest @ ..] => at(0, rest),
        ["week" | "weekly", rest @ ..] => on_weekdays("MON".to_owned(), rest),
        ["weekday" | "weekdays" | "workday" | "workdays", rest @ ..] => on_weekdays("MON-FRI".to_owned(), rest),
        ["weekend" | "weekends", rest @ ..] => on_weekdays("SAT,SUN".to_owned(), rest),
        ["month" | "monthly", "on", "the", rest @ ..] | ["month" | "monthly", "on", rest @ ..] => {
            let (day, rest) = day_of_month(rest)?;
            Some((Days { of_month: day, ..every_day() }, rest))
        }
        ["month" | "monthly", rest @ ..] => Some((Days { of_month: "1".to_owned(), ..every_day() }, rest)),
        ["first" | "last", "day", "of", "the" | "each" | "every", "month", rest @ ..]
        | ["the", "first" | "last", "day", "of", "the" | "each" | "every", "month", rest @ ..] => {
            let day = if words.contains(&"last") { "L" } else { "1" };
            Some((Days { of_month: day.to_owned(), ..every_day() }, rest))
        }
        _ => weekdays(words),
    }
}

fn on_weekdays<'a, 'w>(of_week: String, rest: &'a [&'w str]) -> Option<(Days, &'a [&'w str])> {
    Some((Days { of_week, ..every_day() }, rest))
}

/// Parses "1st", "15", "last day".
fn day_of_month<'a, 'w>(words: &'a [&'w str]) -> Option<(String, &'a [&'w str])> {
    match words {
        ["last", "day", rest @ ..] => Some(("L".to_owned(), rest)),
        ["first", "day", rest @ ..] | ["first", rest @ ..] => Some(("1".to_owned(), rest)),
        [day, rest @ ..] => {
            let day: u32 = day.trim_end_matches(['s', 't', 'n', 'd', 'r', 'h']).parse().ok()?;
            (1..=31).contains(&day).then(|| (day.to_string(), rest))
        }
        [] => None,
    }
}

/// Parses "monday", "mondays and thursdays", "mon, wed, fri", "monday morning".
fn weekdays<'a, 'w>(words: &'a [&'w str]) -> Option<(Days, &'a [&'w str])> {
    let mut found: Vec<&str> = Vec::new();
    let mut rest = words;
    while let [word, behind @ ..] = rest {
        match (weekday(word), *word) {
            (Some(day), _) => found.push(day),
            (None, "and" | "," | "&" | "or") if !found.is_empty() => {}
            _ => break,
        }
        rest = behind;
    }
    if found.is_empty() {
        return None;
    }
    let mut usual = (9, 0);
    if let [part, behind @ ..] = rest
        && let Some((part_of_day, [])) = days(&[*part]).filter(|(days, _)| days.of_month == "*" && days.of_week == "*")
    {
        usual = part_of_day.usual;
        rest = behind;
    }
    Some((Days { of_week: found.join(","), usual, ..every_day() }, rest))
}

fn weekday(word: &str) -> Option<&'static str> {
    const DAYS: [(&str, &str); 7] = [
        ("monday", "MON"),
        ("tuesday", "TUE"),
        ("wednesday", "WED"),
        ("thursday", "THU"),
        ("friday", "FRI"),
        ("saturday", "SAT"),
        ("sunday", "SUN"),
    ];
    let word = word.trim_end_matches('.');
    let singular = word.strip_suffix('s').unwrap_or(word);
    DAYS.iter().find(|(name, _)| *name == singular || (word.len() >= 3 && name.starts_with(word))).map(|(_, day)| *day)
}

/// Parses "at 09:00", "at 9am and 5:30 pm", "at noon", or nothing for the default time of those days.
fn at_times(days: &Days, words: &[&str]) -> Option<Trigger> {
    let mut times = Vec::new();
    let mut rest = match words {
        [] => return pattern(days, &[days.usual]),
        ["at" | "by" | "around", rest @ ..] => rest,
        _ => return None,
    };
    loop {
        let (time, behind) = time(rest)?;
        times.push(time);
        match behind {
            [] => return pattern(days, &times),
            [",", "and", "at", next @ ..] | ["and", "at", next @ ..] | [",", "and", next @ ..] => rest = next,
            ["and" | "," | "&", next @ ..] => rest = next,
            _ => return None,
        }
    }
}

fn pattern(days: &Days, times: &[(u32, u32)]) -> Option<Trigger> {
    // One pattern can only contain several times with the same minute.
    let minute = times.first()?.1;
    if times.iter().any(|(_, other)| *other != minute) {
        return None;
    }
    let hours: Vec<String> = times.iter().map(|(hour, _)| hour.to_string()).collect();
    Trigger::cron(&format!("{minute} {} {} * {}", hours.join(","), days.of_month, days.of_week))
}

/// Parses a time of day, and returns the remaining words.
fn time<'a, 'w>(words: &'a [&'w str]) -> Option<((u32, u32), &'a [&'w str])> {
    let (first, rest) = words.split_first()?;
    match *first {
        "noon" | "midday" => return Some(((12, 0), rest)),
        "midnight" => return Some(((0, 0), rest)),
        _ => {}
    }
    let digits = first.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '.');
    let mut suffix = first[digits.len()..].replace('.', "");
    let mut rest = rest;
    if suffix.is_empty()
        && let [next, behind @ ..] = rest
        && matches!(*next, "am" | "pm" | "a.m." | "p.m." | "o'clock" | "h" | "uhr")
    {
        suffix = next.replace('.', "");
        rest = behind;
    }
    let (hour, minute) = digits.split_once([':', '.', 'h']).unwrap_or((digits, "0"));
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match (&*suffix, hour) {
        ("am", 12) => 0,
        ("pm", 1..=11) => hour + 12,
        ("am", 1..=11) | ("pm", 12) => hour,
        ("am" | "pm", _) => return None,
        ("" | "h" | "uhr" | "o'clock", hour) => hour,
        _ => return None,
    };
    (hour < 24 && minute < 60).then_some(((hour, minute), rest))
}
