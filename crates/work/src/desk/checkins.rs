//! Planner check-ins: while work is open, a planner is regularly asked to check the progress of all agents. The
//! schedule and the session are stored in `storage/planner-checkin.yaml`, which a person may edit. Pure; the systems
//! are in `checkin_systems`.

use serde_json::Value;

use crate::base::Problem;
use crate::base::calendar::{parse_stamp, stamp};
use crate::workspace::layout::CHECK_IN_FILE;
use crate::workspace::session_files::segments::with_key;
use crate::workspace::yaml;
use crate::workspace::yaml_syntax::line_of_key;

/// The default interval between check-ins in seconds.
pub const USUAL_INTERVAL_SECS: i64 = 60;
/// The maximum interval in seconds: a year.
const MAX_INTERVAL_SECS: f64 = 31_536_000.0;
/// The first line of the message to a planner.
pub const CHECK_IN: &str = "Check-in with running agents to ensure progress";

/// The parsed file.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckInFile {
    /// The simulated date of the last check-in in seconds.
    pub last_secs: Option<i64>,
    /// The interval between check-ins in seconds.
    pub interval_secs: i64,
    /// The id of the planner's session.
    pub session: Option<String>,
    /// The number of check-ins so far.
    pub count: u64,
}

/// The open work with which a planner can help.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OpenWork {
    /// The number of sessions with queued or running work.
    pub sessions: usize,
    /// The number of open tasks that have an assignee.
    pub tasks: usize,
    /// The number of questions to a person.
    pub questions: usize,
}

impl OpenWork {
    /// Whether no work is open.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    fn in_words(self) -> String {
        let counted = |count: usize, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {many}")),
        };
        let parts = [
            counted(self.sessions, "active session", "active sessions"),
            counted(self.tasks, "open task", "open tasks"),
            counted(self.questions, "open approval", "open approvals"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// The next step of check-ins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckInStep {
    /// No action is needed.
    Wait,
    /// Starts the interval, for this reason.
    Begin(String),
    /// Asks a planner, for this reason.
    Ask(String),
}

/// Parses the file. Unusable parts are reported and ignored; the error says why the whole file is unusable.
pub fn read(text: &str) -> Result<(CheckInFile, Vec<Problem>), Problem> {
    let data = yaml::parse(text).map_err(|error| {
        let what = format!("invalid YAML, so planners do not check in: {}", error.what);
        Problem::error(CHECK_IN_FILE, what, "fix this line, or remove the file").at_line(error.line)
    })?;
    let map = match &data {
        Value::Object(map) => map.clone(),
        Value::Null => serde_json::Map::new(),
        _ => {
            let what = "it has no keys, so planners do not check in";
            return Err(Problem::error(CHECK_IN_FILE, what, "write keys such as interval_seconds: 60"));
        }
    };
    let mut problems = Vec::new();
    let mut odd = |key: &str, what: String, remedy: &str| {
        problems.push(Problem::warning(CHECK_IN_FILE, what, remedy).at_line(line_of_key(text, &[key])));
    };
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    let interval = match map.get("interval_seconds") {
        None | Some(Value::Null) => USUAL_INTERVAL_SECS,
        Some(value) => match number(value).filter(|secs| (1.0..=MAX_INTERVAL_SECS).contains(secs)) {
            Some(secs) => secs.round() as i64,
            None => {
                let what = format!(
                    "interval_seconds is {}; {USUAL_INTERVAL_SECS} is used \
                    instead",
                    yaml::inline(value)
                );
                odd("interval_seconds", what, "write a number of seconds from 1 to 31536000");
                USUAL_INTERVAL_SECS
            }
        },
    };
    let last = map.get("last_checkin").filter(|value| !value.is_null());
    let last_secs = last.and_then(|value| secs_of(value.as_str()?));
    if let (Some(value), None) = (last, last_secs) {
        let what = format!("last_checkin is {}, which is not a valid time; counting from now", yaml::inline(value));
        odd("last_checkin", what, "write a time such as 2026-01-31T10:20:30, or remove the line");
    }
    let session = map.get("planner_session").and_then(Value::as_str).map(str::trim).filter(|name| !name.is_empty());
    let count = map.get("checkin_count").and_then(Value::as_u64).unwrap_or(0);
    Ok((CheckInFile { last_secs, interval_secs: interval, session: session.map(str::to_owned), count }, problems))
}

/// Parses a time in the file. Fractions and a `Z`, as written by other programs, are ignored: times are in the
/// person's local time.
fn secs_of(text: &str) -> Option<i64> {
    parse_stamp(text.trim().split(['.', 'Z', 'z']).next().unwrap_or_default())
}

/// The next step. The interval counts from the last check-in or from when work became open, whichever is later.
pub fn step(file: Option<&CheckInFile>, open: OpenWork, open_since_secs: Option<i64>, now_secs: i64) -> CheckInStep {
    let Some(last) = file.and_then(|file| file.last_secs) else {
        return CheckInStep::Begin("counting starts now".to_owned());
    };
    if last > now_secs {
        return CheckInStep::Begin("the clock was set back; counting starts again".to_owned());
    }
    let interval = file.map_or(USUAL_INTERVAL_SECS, |file| file.interval_secs);
    let from = open_since_secs.map_or(last, |since| since.max(last));
    if open.is_empty() || now_secs - from < interval {
        return CheckInStep::Wait;
    }
    CheckInStep::Ask(format!("{}s since last check-in (threshold: {interval}s)", now_secs - last))
}

/// The message to a planner.
pub fn message(count: u64, reason: &str, open: OpenWork) -> String {
    format!("{CHECK_IN}\n\nCheck-in {count}: {reason}. Open now: {}.", open.in_words())
}

/// The text of the file after a check-in. `count` and `session` do not change if they are `None`; unknown keys and
/// comments are kept.
pub fn updated_text(text: &str, now_secs: i64, reason: &str, count: Option<u64>, session: Option<&str>) -> String {
    let is_new = text.trim().is_empty();
    let mut text = with_key(text, "last_checkin", &stamp(now_secs).into());
    if is_new {
        text = with_key(&text, "interval_seconds", &USUAL_INTERVAL_SECS.into());
    }
    if let Some(session) = session.map(str::to_owned).or_else(|| is_new.then(String::new)) {
        text = with_key(&text, "planner_session", &session.into());
    }
    if let Some(count) = count.or(is_new.then_some(0)) {
        text = with_key(&text, "checkin_count", &count.into());
    }
    with_key(&text, "last_reason", &reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_759_651_384;
    const BUSY: OpenWork = OpenWork { sessions: 1, tasks: 2, questions: 0 };

    fn file(text: &str) -> CheckInFile {
        let (file, problems) = read(text).expect("it can be read");
        assert_eq!(problems, []);
        file
    }

    #[test]
    fn a_file_of_the_reference_is_updated_without_losing_unknown_keys_and_comments() {
        let text = "# ours\nlast_checkin: \"2025-10-05T08:02:04.076Z\" # by the room\ninterval_seconds: 90\nteam: red\n\
                    planner_session: planner-001-abc123.session.yaml\ncheckin_count: 3\n\
                    last_reason: \"65s since last check-in (threshold: 60s)\"\n# end\n";
        let read = file(text);
        assert_eq!((read.last_secs, read.interval_secs, read.count), (Some(1_759_651_324), 90, 3));
        let CheckInStep::Ask(reason) = step(Some(&read), BUSY, Some(0), NOW + 60) else { panic!("it is due") };
        assert_eq!(reason, "120s since last check-in (threshold: 90s)");
        let next = updated_text(text, NOW + 60, &reason, Some(4), Some("planner-001.act-9.session.yaml"));
        assert_eq!(
            next,
            "# ours\nlast_checkin: \"2025-10-05T08:04:04\" # by the room\ninterval_seconds: 90\nteam: red\n\
             planner_session: planner-001.act-9.session.yaml\ncheckin_count: 4\n\
             last_reason: \"120s since last check-in (threshold: 90s)\"\n# end\n"
        );
        assert_eq!(file(&next).last_secs, Some(NOW + 60));
        assert!(updated_text(&text.replace('\n', "\r\n"), NOW, "x", None, None).matches("\r\n").count() == 8);
        let words = message(4, &reason, BUSY);
        assert!(words.starts_with(CHECK_IN) && words.contains("Check-in 4: 120s"), "{words}");
        assert!(words.contains("1 active session, 2 open tasks."), "{words}");
    }

    #[test]
    fn the_first_check_only_starts_the_interval() {
        assert!(matches!(step(None, BUSY, Some(0), NOW), CheckInStep::Begin(_)));
        let text = updated_text("", NOW, "counting starts now", None, None);
        let begun = file(&text);
        assert_eq!(
            (begun.last_secs, begun.interval_secs, begun.count, begun.session.clone()),
            (Some(NOW), 60, 0, None)
        );
        assert_eq!(step(Some(&begun), BUSY, Some(NOW), NOW + 59), CheckInStep::Wait);
        assert!(matches!(step(Some(&begun), BUSY, Some(NOW), NOW + 60), CheckInStep::Ask(_)));
        assert_eq!(step(Some(&begun), OpenWork::default(), None, NOW + 6_000), CheckInStep::Wait, "nothing is open");
        assert_eq!(step(Some(&begun), BUSY, Some(NOW + 6_000), NOW + 6_010), CheckInStep::Wait, "it has just begun");
    }

    #[test]
    fn clock_changes_and_invalid_values_are_tolerated() {
        let begun = file(&updated_text("", NOW, "x", None, None));
        assert!(matches!(step(Some(&begun), BUSY, Some(NOW), NOW - 5), CheckInStep::Begin(_)));
        assert_eq!(file("").interval_secs, 60);
        for odd in ["0", "-5", "soon", "1e12", ".nan", "[1]"] {
            let text = format!("last_checkin: 2025-10-05T08:02:04\ninterval_seconds: {odd}\n");
            let (read, problems) = read(&text).expect("it can be read");
            assert_eq!((read.interval_secs, problems.len()), (60, 1), "{odd}");
            assert_eq!(problems[0].line, Some(2), "{odd}");
        }
        let (read_, problems) = read("last_checkin: soon\n").expect("it can be read");
        assert!(read_.last_secs.is_none() && problems[0].what.contains("which is not a valid time"));
        for broken in ["a: [1", "- 1\n", "<<<<<<< mine\n"] {
            assert!(read(broken).is_err(), "{broken}");
        }
        assert_eq!(file("interval_seconds: '15'\n").interval_secs, 15);
    }
}
