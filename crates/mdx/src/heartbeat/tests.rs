//! The example of the specification, the sentences that people write, and a simulated year.

use jiff::civil::date;
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};
use proptest::prelude::*;

use super::*;

const FILE: &str = "## Schedule\n\n@every: 15m\n\n## On Wake\n\n- Check for new messages\n- Review pending tasks\n\n## Routine Tasks\n\n- Every morning at 09:00: Daily summary\n- Every hour: Check system health\n\n## Context Reconstruction\n\n- Read state/priorities.md\n- Read state/current-task.md\n";

fn zoned(year: i16, month: i8, day: i8, hour: i8, minute: i8, zone: &str) -> Zoned {
    date(year, month, day).at(hour, minute, 0, 0).to_zoned(zone_of(zone)).unwrap()
}

/// Returns a zone by its rules, so that no test depends on the machine's list of zones.
fn zone_of(name: &str) -> TimeZone {
    let rule = match name {
        "Europe/Zurich" => "CET-1CEST,M3.5.0,M10.5.0/3",
        "America/New_York" => "EST5EDT,M3.2.0,M11.1.0",
        "Australia/Lord_Howe" => "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
        _ => "UTC0",
    };
    TimeZone::posix(rule).unwrap()
}

fn problem_lines(heartbeat: &Heartbeat) -> Vec<String> {
    heartbeat.problems.iter().map(|problem| format!("{}: {}", problem.line().unwrap(), problem.what)).collect()
}

#[test]
fn the_example_of_the_specification_is_parsed() {
    checks_rule!("intervals-have-a-unit");
    for text in [FILE.to_owned(), FILE.replace('\n', "\r\n"), format!("---\nx: y\n---\n# Heartbeat\n\n{FILE}")] {
        let heartbeat = read(&text);
        assert_eq!(problem_lines(&heartbeat), [] as [&str; 0]);
        assert_eq!(heartbeat.wake, Some(Trigger::Every(std::time::Duration::from_secs(900))));
        assert_eq!(heartbeat.on_wake, ["Check for new messages", "Review pending tasks"]);
        assert_eq!(heartbeat.context, ["Read state/priorities.md", "Read state/current-task.md"]);
        let tasks: Vec<(&str, &str)> = heartbeat.routines.iter().map(|one| (&*one.written, &*one.task)).collect();
        assert_eq!(tasks, [("Every morning at 09:00", "Daily summary"), ("Every hour", "Check system health")]);
    }
}

/// Returns the next two times after Wednesday, 14 January 2026, 10:20, as day and time.
fn next_two(written: &str) -> String {
    let now = zoned(2026, 1, 14, 10, 20, "UTC");
    let trigger = parse_trigger(written).unwrap_or_else(|error| panic!("{error}"));
    let first = trigger.next_after(&now, now.timestamp()).unwrap();
    let second = trigger.next_after(&first, now.timestamp()).unwrap();
    [first, second].map(|at| at.strftime("%m-%d %H:%M").to_string()).join(", ")
}

#[test]
fn sentences_are_parsed_correctly() {
    for (written, moments) in [
        ("Every morning at 09:00", "01-15 09:00, 01-16 09:00"),
        ("every morning", "01-15 09:00, 01-16 09:00"),
        ("Every evening", "01-14 18:00, 01-15 18:00"),
        ("Every day at noon", "01-14 12:00, 01-15 12:00"),
        ("Daily at 9:30 pm", "01-14 21:30, 01-15 21:30"),
        ("At 12am", "01-15 00:00, 01-16 00:00"),
        ("Every day at 09:00 and 17:00", "01-14 17:00, 01-15 09:00"),
        ("Every hour", "01-14 11:00, 01-14 12:00"),
        ("Hourly", "01-14 11:00, 01-14 12:00"),
        ("Every hour at :15", "01-14 11:15, 01-14 12:15"),
        ("Every 2 hours", "01-14 12:00, 01-14 14:00"),
        ("Every 15 minutes", "01-14 10:30, 01-14 10:45"),
        ("every half hour", "01-14 10:30, 01-14 11:00"),
        ("Every 7 minutes", "01-14 10:27, 01-14 10:34"),
        ("every 90m", "01-14 11:50, 01-14 13:20"),
        ("every 1h 30m", "01-14 11:50, 01-14 13:20"),
        ("Every other day", "01-16 10:20, 01-18 10:20"),
        ("Every Monday at 8:30", "01-19 08:30, 01-26 08:30"),
        ("Mondays and Thursdays at 8am", "01-15 08:00, 01-19 08:00"),
        ("on mon, wed, fri at 11:00", "01-14 11:00, 01-16 11:00"),
        ("Every Friday evening", "01-16 18:00, 01-23 18:00"),
        ("Weekdays at 9am", "01-15 09:00, 01-16 09:00"),
        ("Every weekend at 10", "01-17 10:00, 01-18 10:00"),
        ("Every week", "01-19 09:00, 01-26 09:00"),
        ("Every month", "02-01 09:00, 03-01 09:00"),
        ("Every month on the 15th at 6:00", "01-15 06:00, 02-15 06:00"),
        ("The last day of the month at 18:00", "01-31 18:00, 02-28 18:00"),
        ("0 9 * * 1-5", "01-15 09:00, 01-16 09:00"),
        ("`*/20 * * * *`", "01-14 10:40, 01-14 11:00"),
        ("cron 0 0 1 * *", "02-01 00:00, 03-01 00:00"),
        ("@daily", "01-15 00:00, 01-16 00:00"),
        ("@every: 5m", "01-14 10:25, 01-14 10:30"),
        ("**Every morning**", "01-15 09:00, 01-16 09:00"),
    ] {
        assert_eq!(next_two(written), moments, "{written}");
    }
}

#[test]
fn texts_without_a_time_are_refused() {
    for written in [
        "",
        "sometimes",
        "every",
        "every blue moon",
        "at",
        "at 25:00",
        "at 9:75",
        "at 13pm",
        "every 0 minutes",
        "every 5",
        "5",
        "every 1M",
        "61 * * * *",
        "every day at 9:00 or so",
        "every 400 days",
        "monday until friday",
        "every day at 9:00 and 17:30",
    ] {
        assert!(parse_trigger(written).is_err(), "{written}");
    }
}

#[test]
fn invalid_times_are_reported_with_examples() {
    let text = FILE.replace("Every hour:", "When I like:").replace("15m", "soon") + "\n## Notes\n\nx\n";
    let heartbeat = read(&text);
    assert_eq!(
        problem_lines(&heartbeat),
        [
            "3: \"@every: soon\" is not a valid interval",
            "13: \"When I like: Check system health\" does not say when it is due",
            "20: unknown heartbeat section \"Notes\"; it is ignored",
        ]
    );
    assert!(heartbeat.problems[1].remedy.contains("Every Monday at 8:30"));
    assert_eq!(heartbeat.routines.len(), 1);
    assert_eq!(problem_lines(&read("")), ["1: the file has no schedule"]);
    assert_eq!(problem_lines(&read("```\n@every: 5m\n```\n")).len(), 1, "what is shown is no schedule");
}

#[test]
fn missed_times_are_due_once() {
    checks_rule!("missed-times-are-due-once");
    let heartbeat = read(FILE);
    let began = zoned(2026, 1, 14, 8, 0, "UTC");
    let woke = due(&heartbeat, &began, &zoned(2026, 1, 16, 9, 5, "UTC"), began.timestamp());
    let made_up_for: Vec<(Option<usize>, u32, String)> =
        woke.iter().map(|due| (due.routine, due.missed, due.at.strftime("%d %H:%M").to_string())).collect();
    assert_eq!(
        made_up_for,
        [(None, 195, "16 09:00".to_owned()), (Some(0), 2, "16 09:00".to_owned()), (Some(1), 48, "16 09:00".to_owned())]
    );
    let now = zoned(2026, 1, 16, 9, 5, "UTC");
    assert_eq!(due(&heartbeat, &now, &now, began.timestamp()), [], "nothing is due twice");
}

/// Returns every time of a year at which it is due, checked every `step` minutes.
fn year(written: &str, year: i16, zone: &str, step: i64) -> Vec<Zoned> {
    let heartbeat = read(&format!("## Routine Tasks\n\n- {written}: Do it\n"));
    assert_eq!(problem_lines(&heartbeat), [] as [&str; 0], "{written}");
    let start = zoned(year, 1, 1, 0, 0, zone);
    let end = zoned(year + 1, 1, 1, 0, 0, zone);
    let mut found = Vec::new();
    let mut since = start.clone();
    while since < end {
        let now = since.checked_add(step.minutes()).unwrap().min(end.clone());
        for due in due(&heartbeat, &since, &now, start.timestamp()) {
            assert_eq!(due.missed, 0, "{written} at {}", due.at);
            found.push(due.at);
        }
        since = now;
    }
    found
}

#[test]
fn a_year_has_every_morning_once_despite_clock_changes() {
    for zone in ["UTC", "Europe/Zurich", "America/New_York", "Australia/Lord_Howe"] {
        let mornings = year("Every morning at 09:00", 2028, zone, 37);
        assert_eq!(mornings.len(), 366, "{zone}: a leap year");
        assert!(mornings.iter().all(|at| (at.hour(), at.minute()) == (9, 0)), "{zone}");
        let days: std::collections::BTreeSet<_> = mornings.iter().map(|at| at.date()).collect();
        assert_eq!(days.len(), mornings.len(), "{zone}");
        assert!(days.contains(&date(2028, 2, 29)));
    }
}

#[test]
fn times_in_a_skipped_or_repeated_hour_are_due_once_a_day() {
    // In Zurich, the clock is set from 2 to 3 on 29 March 2026, and from 3 to 2 on 25 October.
    let nights = year("Every night at 2:30", 2026, "Europe/Zurich", 20);
    let mut days: Vec<_> = nights.iter().map(|at| at.date()).collect();
    days.dedup();
    assert_eq!((days.len(), nights.len()), (365, 365));
}

#[test]
fn every_hour_includes_a_repeated_hour() {
    let hours = year("Every hour", 2026, "Europe/Zurich", 20);
    // The first hour of the year is not after its beginning; that of the next year is.
    assert_eq!(hours.len(), 365 * 24);
    assert!(hours.windows(2).all(|pair| pair[1].duration_since(&pair[0]).as_secs() == 3600));
}

#[test]
fn the_end_of_february_and_weekdays_are_correct_over_a_year() {
    assert_eq!(year("0 12 29 2 *", 2028, "UTC", 60 * 24).len(), 1);
    assert_eq!(year("0 12 29 2 *", 2027, "UTC", 60 * 24).len(), 0);
    assert_eq!(year("Every Monday at 8:30", 2026, "America/New_York", 60).len(), 52);
    assert_eq!(year("The last day of the month", 2026, "UTC", 60 * 12).len(), 12);
}

#[test]
fn impossible_dates_are_never_due() {
    let trigger = Trigger::cron("0 0 30 2 *").unwrap();
    let now = zoned(2026, 1, 1, 0, 0, "UTC");
    assert_eq!(trigger.next_after(&now, now.timestamp()), None);
}

proptest! {
    #[test]
    fn no_text_causes_a_panic(text in "\\PC{0,120}", words in "(every|at|on|monday|9|:|and|,|the|last|day|am| ){0,12}") {
        let _ = read(&text);
        let _ = parse_trigger(&text);
        let _ = parse_trigger(&words);
        let _ = read(&format!("## Routine Tasks\n- {words}: x\n## Schedule\n@every: {words}\n"));
    }
}

#[test]
fn setting_the_clock_makes_nothing_due_twice() {
    let heartbeat = read("## Schedule\n\n@every: 15m\n\n## Routine Tasks\n\n- Every morning at 09:00: sum up\n");
    let (day, hour) = (86_400, 3_600);
    let began = 20_000 * day;
    let due = |since: i64, now: i64| {
        let all = due_by_clock(&heartbeat, began + since, began + now, began);
        all.iter().map(|due| (due.routine, due.missed)).collect::<Vec<_>>()
    };
    assert_eq!(due(0, 15 * 60), [(None, 0)]);
    assert_eq!(due(8 * hour, 10 * hour), [(Some(0), 0), (None, 7)], "asleep for two hours, or set forward");
    assert_eq!(due(10 * hour, 9 * hour), [], "set back");
    assert_eq!(due(9 * hour, 9 * hour + 60), []);
    assert_eq!(due(0, 3 * day).iter().find(|one| one.0.is_some()), Some(&(Some(0), 2)), "days away are done once");
}

#[test]
fn a_repeated_hour_has_its_intervals_and_fires_certain_times_once() {
    let heartbeat =
        read("## Schedule\n\n@every: 15m\n\n## Routine Tasks\n\n- Every night at 2:30: tidy up\n- Every hour: look\n");
    let (day, minute) = (86_400, 60);
    let began_secs = 20_000 * day;
    // From 2:00 to 3:00, and then from 2:00 to 3:00 once more; every entry runs each time it is due.
    let (mut done_secs, mut counts) =
        (began_secs + 120 * minute, std::collections::BTreeMap::<Option<usize>, u32>::new());
    for passed in (1..=120).map(|minutes| minutes * minute) {
        let set_back_secs = if passed <= 60 * minute { 0 } else { 60 * minute };
        let now_secs = began_secs + 120 * minute + passed - set_back_secs;
        let reading = ClockReading { now_secs, done_secs, passed_secs: minute, set_back_secs, began_secs };
        for due in due_by_reading(&heartbeat, reading) {
            assert_eq!(due.missed, 0, "{due:?}");
            assert!(due.at.timestamp().as_second() <= now_secs, "{due:?}");
            *counts.entry(due.routine).or_default() += 1;
        }
        done_secs = done_secs.max(now_secs);
    }
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [(None, 8), (Some(0), 1), (Some(1), 2)]);
}

#[test]
fn daylight_saving_time_is_applied_where_it_exists() {
    let shown = |month, day| {
        let noon = zoned(2026, month, day, 12, 0, "UTC").timestamp().as_second();
        super::due::utc_to_zone(noon, zone_of("Europe/Zurich")) - noon
    };
    assert_eq!((shown(1, 14), shown(7, 14)), (3_600, 7_200));
    assert_eq!(super::due::utc_to_zone(i64::MAX, TimeZone::UTC), i64::MAX);
}
