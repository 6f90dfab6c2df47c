//! Parses `heartbeat.md`.

use super::trigger::Trigger;
use super::trigger_parser::{self, EXAMPLES, interval};
use crate::source::outline::{self, Heading, Outline};
use crate::source::{ByteRange, LineIndex, SourceProblem, split_front_matter};

/// The parsed content of `heartbeat.md`: when an agent wakes up, and its tasks then.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Heartbeat {
    /// The interval between wakes: `@every: 15m`. `None` if the file has none.
    pub wake: Option<Trigger>,
    /// What the agent checks on every wake.
    pub on_wake: Vec<String>,
    /// What the agent does at certain times.
    pub routines: Vec<Routine>,
    /// The files that the agent reads first, to recall its state.
    pub context: Vec<String>,
    /// The problems, in text order.
    pub problems: Vec<SourceProblem>,
}

/// A task that is due at certain times.
#[derive(Clone, PartialEq, Debug)]
pub struct Routine {
    /// The time, as written.
    pub written: String,
    /// The parsed time.
    pub trigger: Trigger,
    /// The task.
    pub task: String,
    /// The line of the file, counted from 1.
    pub line: usize,
}

/// The key of an interval in the section Schedule.
const EVERY: &str = "@every";

/// Parses the file. Parsing never fails: see [`Heartbeat::problems`].
pub fn read(text: &str) -> Heartbeat {
    let body = split_front_matter(text).map_or_else(|error| error.body, |front| front.body);
    let outline = outline::read(text, text, body.clone(), Vec::new());
    let mut reader =
        Reader { text, lines: LineIndex::new(text), outline: &outline, heartbeat: Heartbeat::default(), schedules: 0 };
    let headings: Vec<&Heading> = outline.headings.iter().collect();
    let first = headings.first().map_or(body.end, |heading| heading.range.start);
    reader.schedule(body.start..first, false);
    for (index, heading) in headings.iter().enumerate() {
        let end = headings.get(index + 1).map_or(body.end, |next| next.range.start);
        reader.section(heading, heading.range.end..end);
    }
    if reader.heartbeat.wake.is_none() && reader.heartbeat.routines.is_empty() && reader.heartbeat.problems.is_empty() {
        let what = "the file has no schedule";
        reader.warning(body.start, what, "add a section ## Schedule with a line @every: 15m");
    }
    let mut heartbeat = reader.heartbeat;
    heartbeat.problems.sort_by_key(|problem| problem.at);
    heartbeat
}

struct Reader<'a> {
    text: &'a str,
    lines: LineIndex,
    outline: &'a Outline,
    heartbeat: Heartbeat,
    schedules: usize,
}

impl Reader<'_> {
    fn error(&mut self, at: usize, what: impl Into<String>, remedy: impl Into<String>) {
        let at = self.lines.position(self.text, at);
        self.heartbeat.problems.push(SourceProblem::error(at, what, remedy));
    }

    fn warning(&mut self, at: usize, what: impl Into<String>, remedy: impl Into<String>) {
        let at = self.lines.position(self.text, at);
        self.heartbeat.problems.push(SourceProblem::warning(at, what, remedy));
    }

    fn section(&mut self, heading: &Heading, body: ByteRange) {
        match heading.text.trim().trim_end_matches(':').to_lowercase().as_str() {
            "schedule" => self.schedule(body, true),
            "on wake" | "on wake-up" | "on wakeup" => {
                let items = self.items(&body);
                self.heartbeat.on_wake.extend(items.into_iter().map(|(item, _)| item));
            }
            "routine tasks" | "routines" => self.routines(&body),
            "context reconstruction" => {
                let items = self.items(&body);
                self.heartbeat.context.extend(items.into_iter().map(|(item, _)| item));
            }
            _ if heading.level == 1 => self.schedule(body, false),
            _ => {
                let what = format!("unknown heartbeat section \"{}\"; it is ignored", heading.text.trim());
                let remedy = "the sections are Schedule, On Wake, Routine Tasks and Context Reconstruction";
                self.warning(heading.range.start, what, remedy);
            }
        }
    }

    /// Parses lines that say how often the agent wakes. In the section for that (`is_own`), a line without a time is a
    /// problem.
    fn schedule(&mut self, body: ByteRange, is_own: bool) {
        let mut at = body.start;
        let end = body.end;
        while at < end {
            let line = self.text[at..end].split(['\n', '\r']).next().unwrap_or_default();
            let start = at;
            at += line.len() + 1;
            let entry = line.trim().trim_start_matches(['-', '*', '+']).trim();
            if entry.is_empty() || outline::is_in(&self.outline.shown, start) || (!is_own && !entry.starts_with('@')) {
                continue;
            }
            let trigger = match entry.strip_prefix(EVERY) {
                Some(rest) => interval(rest.trim_start_matches(':')).map(Trigger::Every),
                None => trigger_parser::parse(entry).ok(),
            };
            match trigger {
                Some(trigger) => self.wake(start, trigger),
                None => {
                    let what = format!("\"{entry}\" is not a valid interval");
                    self.error(start, what, "write @every: 15m, with s, m, h or d after the number");
                }
            }
        }
    }

    fn wake(&mut self, at: usize, trigger: Trigger) {
        self.schedules += 1;
        if self.schedules == 1 {
            self.heartbeat.wake = Some(trigger);
        } else {
            self.warning(at, "the schedule has two intervals; the first one is used", "keep one");
        }
    }

    fn routines(&mut self, body: &ByteRange) {
        for (item, at) in self.items(body) {
            match routine(&item) {
                Some((written, trigger, task)) => {
                    let line = self.lines.line(at);
                    self.heartbeat.routines.push(Routine { written, trigger, task, line });
                }
                None => {
                    let what = format!("\"{}\" does not say when it is due", shown(&item));
                    self.error(at, what, format!("write a time, a colon and what to do; times are: {EXAMPLES}"));
                }
            }
        }
    }

    /// Returns the list entries in a section, each with its position; without a list, its lines.
    fn items(&self, body: &ByteRange) -> Vec<(String, usize)> {
        let first = self.outline.items.partition_point(|item| item.start < body.start);
        let inside: Vec<&ByteRange> =
            self.outline.items[first..].iter().take_while(|item| item.start < body.end).collect();
        let entry = |range: &ByteRange| {
            let text = self.text[range.clone()].trim_start();
            let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let text = text[digits..].strip_prefix(['-', '*', '+', '.', ')']).unwrap_or(text);
            (text.split_whitespace().collect::<Vec<_>>().join(" "), range.start)
        };
        if !inside.is_empty() {
            return inside.into_iter().map(entry).filter(|(text, _)| !text.is_empty()).collect();
        }
        let mut lines = Vec::new();
        let mut at = body.start;
        for line in self.text[body.clone()].split_inclusive(['\n', '\r']) {
            if !line.trim().is_empty() && !outline::is_in(&self.outline.shown, at) {
                lines.push((line.trim().to_owned(), at));
            }
            at += line.len();
        }
        lines
    }
}

/// Splits an entry into the time, its trigger, and the task, at the first colon that follows a valid time. A colon
/// inside a time of day is not followed by a space.
fn routine(item: &str) -> Option<(String, Trigger, String)> {
    let colons = item.match_indices(':').map(|(at, _)| at).filter(|at| item[at + 1..].starts_with([' ', '*', '`']));
    colons.into_iter().find_map(|at| {
        let (written, task) = (item[..at].trim(), item[at + 1..].trim_start_matches(['*', '`']).trim());
        let trigger = trigger_parser::parse(written).ok()?;
        let written = trigger_parser::unmarked(written).to_owned();
        (!task.is_empty()).then(|| (written, trigger, task.to_owned()))
    })
}

fn shown(item: &str) -> String {
    const MAX_CHARS: usize = 80;
    if item.chars().count() <= MAX_CHARS {
        item.to_owned()
    } else {
        item.chars().take(MAX_CHARS).chain(['…']).collect()
    }
}
