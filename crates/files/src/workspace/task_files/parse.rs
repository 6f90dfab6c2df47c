//! Parses the text of a task file into tasks.

use super::head::{self, Head};
use super::issue::{Code, Issue};
use super::keys::key_length;
use super::lines::{self, Kind, Line};
use super::model::{Field, Quote, Section, Status, Task, TaskFile, Value};
use super::value::{ID_KEY, is_block_sign, of_plain};
use super::{ids, quoting, relations};
use crate::base::Severity;

const BLANK: [char; 2] = [' ', '\t'];
/// The maximum depth of tasks; deeper ones are reported and treated as if they were at this depth.
const MAX_DEPTH: usize = 64;

/// Parses a task file. Parsing never fails: errors are among the issues of the file.
pub fn parse(text: impl Into<String>) -> TaskFile {
    let text = text.into();
    let lines = lines::split(&text);
    let (sections, is_ours) = sections(&lines);
    let mut reader = Reader { text: &text, tasks: Vec::new(), issues: Vec::new(), open: Vec::new(), conflict: None };
    let mut at = 0;
    while at < lines.len() {
        let used = if is_ours[at] { reader.line(&lines, at) } else { reader.close(at + 1) };
        at = used;
    }
    reader.close(lines.len());
    reader.report_unread_bullets(&lines, &is_ours);
    let Reader { mut tasks, mut issues, .. } = reader;
    ids::assign(&mut tasks);
    relations::check(&tasks, &mut issues);
    for issue in &issues {
        if let (Some(task), Severity::Error) = (issue.task, issue.severity) {
            tasks[task].has_errors = true;
        }
    }
    issues.sort_by_key(|issue| issue.at);
    let line_end = if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" };
    let sections = sections.into_iter().map(|section| with_text_end(section, &text, &lines)).collect();
    let line_starts = lines.iter().map(|line| line.start).collect();
    TaskFile { tasks, sections, issues, line_end, line_starts, text }
}

/// Returns the sections that may contain tasks, by line numbers, and for each line whether it is in one.
fn sections(lines: &[Line]) -> (Vec<(Option<usize>, usize)>, Vec<bool>) {
    let mut sections: Vec<(Option<usize>, usize)> = Vec::new();
    let mut is_ours = vec![false; lines.len()];
    let mut within: Option<usize> = None;
    for (at, line) in lines.iter().enumerate() {
        if let Kind::Heading { level, is_todo } = line.kind {
            if within.is_some_and(|of| level <= of) {
                within = None;
            }
            if is_todo && within.is_none() {
                within = Some(level);
                sections.push((Some(at), at + 1));
                continue;
            }
        }
        if within.is_some() {
            is_ours[at] = true;
            if let Some((_, end)) = sections.last_mut() {
                *end = at + 1;
            }
        }
    }
    if sections.is_empty() {
        return (vec![(None, lines.len())], vec![true; lines.len()]);
    }
    (sections, is_ours)
}

fn with_text_end((heading, end): (Option<usize>, usize), text: &str, lines: &[Line]) -> Section {
    let first = heading.map_or(0, |at| at + 1);
    let start = heading.map_or(0, |at| lines[at].end);
    let says_something = |line: &&Line| !text[line.start..line.text_end].trim().is_empty();
    let text_end = lines[first..end.max(first)].iter().rev().find(says_something).map_or(start, |line| line.end);
    Section { start, text_end, has_heading: heading.is_some() }
}

struct Reader<'a> {
    text: &'a str,
    tasks: Vec<Task>,
    issues: Vec<Issue>,
    /// The tasks that the next line may belong to, outermost first.
    open: Vec<usize>,
    /// The first task after the start of an open merge conflict.
    conflict: Option<usize>,
}

impl Reader<'_> {
    fn error(&mut self, code: Code, task: Option<usize>, at: usize, what: impl Into<String>) {
        self.issues.push(Issue { code, severity: Severity::Error, task, at, what: what.into() });
    }

    fn warning(&mut self, code: Code, at: usize, what: impl Into<String>) {
        self.issues.push(Issue { code, severity: Severity::Warning, task: None, at, what: what.into() });
    }

    /// Ends all open tasks. Returns the next line.
    fn close(&mut self, next: usize) -> usize {
        while let Some(task) = self.open.pop() {
            self.tasks[task].next = self.tasks.len();
        }
        next
    }

    /// Parses the line at `at` and everything that belongs to it. Returns the next line.
    fn line(&mut self, lines: &[Line], at: usize) -> usize {
        let line = &lines[at];
        match line.kind {
            Kind::Comment => return at + 1,
            Kind::Code { within: 0 } | Kind::Heading { .. } => return self.close(at + 1),
            Kind::Code { within } => {
                self.close_to(within);
                self.extend(line.end);
                return at + 1;
            }
            Kind::Body => {}
        }
        let text = &self.text[line.start..line.text_end];
        let words = text.trim_start_matches(BLANK);
        if words.trim_end_matches(BLANK).is_empty() {
            return at + 1;
        }
        let blanks = &text[..text.len() - words.len()];
        // A tab is not valid indentation; it counts as one level, so that the rest of the line can be checked.
        let indent = blanks.chars().map(|blank| if blank == '\t' { 2 } else { 1 }).sum();
        let has_tab = blanks.contains('\t');
        if words.starts_with("- ") || words.starts_with("-\t") {
            self.task(line, indent, has_tab, line.text_end - words.len());
            return at + 1;
        }
        if let Some(sign) = unread_task(words) {
            let what = format!("this is not read as a task, because it begins with {sign}");
            self.warning(Code::NotRead, line.text_end - words.len(), what);
        }
        if indent == 0 {
            self.margin(line.start, text);
            return self.close(at + 1);
        }
        self.close_to(indent);
        let Some(&top) = self.open.last() else { return at + 1 };
        let start = line.text_end - words.len();
        let Some(length) = key_length(words) else {
            self.extend(line.end);
            return at + 1;
        };
        let owner = self.open.iter().rev().copied().find(|task| self.tasks[*task].indent + 2 == indent);
        let Some(owner) = owner.filter(|_| !has_tab) else {
            let what = format!("{} must be indented two spaces more than its task", &words[..length]);
            self.error(Code::BadIndentation, Some(top), start, what);
            self.extend(line.end);
            return at + 1;
        };
        self.field(lines, at, owner, start, length)
    }

    /// Reports bullets outside of the sections that contain tasks, if no task was read at all: then they were probably
    /// meant as tasks.
    fn report_unread_bullets(&mut self, lines: &[Line], is_ours: &[bool]) {
        if !self.tasks.is_empty() {
            return;
        }
        let text = self.text;
        let shown = |line: &Line| &text[line.start..line.text_end];
        let (mut unread, mut first, mut heading) = (0, None, None);
        for (line, _) in lines.iter().zip(is_ours).filter(|(_, is_ours)| !**is_ours) {
            if let Kind::Heading { is_todo, .. } = line.kind {
                heading = (!is_todo && first.is_none()).then_some(line).or(heading);
            }
            if line.kind == Kind::Body && shown(line).trim_start_matches(BLANK).starts_with("- ") {
                unread += 1;
                first = first.or(Some(line.start));
            }
        }
        let Some(first) = first else { return };
        let below = heading.map_or(String::new(), |heading| format!(" below {:?}", shown(heading).trim()));
        let (noun, verb) = if unread == 1 { ("bullet", "is") } else { ("bullets", "are") };
        let what =
            format!("{unread} {noun}{below} {verb} not read: only what is below ## TODO is, up to the next heading");
        self.warning(Code::NotRead, first, what);
    }

    /// Parses a line at the left margin, which ends every task. Merge markers are reported.
    fn margin(&mut self, at: usize, text: &str) {
        let is_mark = |sign: &str| text == sign || text.strip_prefix(sign).is_some_and(|rest| rest.starts_with(' '));
        if is_mark("<<<<<<<") {
            self.conflict = Some(self.tasks.len());
            // The conflict may affect the task above the marker.
            let above = self.open.last().copied();
            self.error(Code::ConflictMarker, above, at, "an unfinished merge");
        } else if is_mark(">>>>>>>")
            && let Some(first) = self.conflict.take()
        {
            for task in first..self.tasks.len() {
                let at = self.tasks[task].head.start;
                self.error(Code::ConflictMarker, Some(task), at, "the task is inside an unfinished merge");
            }
        }
    }

    /// Ends the tasks that a line with this indentation cannot belong to.
    fn close_to(&mut self, indent: usize) {
        while let Some(&task) = self.open.last() {
            if self.tasks[task].indent < indent {
                return;
            }
            self.open.pop();
            self.tasks[task].next = self.tasks.len();
        }
    }

    /// Extends the innermost task to the end of a line.
    fn extend(&mut self, end: usize) {
        if let Some(&top) = self.open.last()
            && top + 1 == self.tasks.len()
        {
            self.tasks[top].own_end = end;
        }
        for task in &self.open {
            self.tasks[*task].span.end = end;
        }
    }

    fn task(&mut self, line: &Line, indent: usize, has_tab: bool, dash: usize) {
        self.close_to(indent);
        let index = self.tasks.len();
        let parent = self.open.last().copied();
        let depth = parent.map_or(0, |parent| self.tasks[parent].depth + 1);
        let Head { status, priority, stakeholders, tags, title, fields, faults } =
            head::parse(self.text, dash + 2, line.text_end);
        for fault in faults {
            let issue =
                Issue { code: fault.code, severity: fault.severity, task: Some(index), at: fault.at, what: fault.what };
            self.issues.push(issue);
        }
        let expected = parent.map_or(0, |parent| self.tasks[parent].indent + 2);
        if parent.is_none() && indent > 0 {
            self.error(Code::OrphanChild, Some(index), dash, "the task is indented, but there is no task above it");
        } else if indent != expected || has_tab {
            let what = format!("the task is indented by {indent} instead of {expected} spaces");
            self.error(Code::BadIndentation, Some(index), dash, what);
        } else if depth >= MAX_DEPTH {
            let what = format!("the task is nested more than {MAX_DEPTH} deep");
            self.error(Code::BadIndentation, Some(index), dash, what);
        }
        self.tasks.push(Task {
            id: String::new(),
            has_written_id: false,
            status: status.as_ref().map_or(Status::Open, |(status, _)| *status),
            status_span: status.map(|(_, span)| span),
            priority,
            stakeholders,
            tags,
            title,
            fields: Vec::new(),
            parent,
            depth,
            indent,
            head: line.start..line.text_end,
            words_start: dash + 2,
            own_end: line.end,
            span: line.start..line.end,
            next: index + 1,
            has_errors: false,
        });
        for field in fields {
            self.add(index, field);
        }
        if depth < MAX_DEPTH {
            self.open.push(index);
        }
        for task in &self.open {
            self.tasks[*task].span.end = line.end;
        }
    }

    /// Parses a key on a line of its own. Returns the line after its value.
    fn field(&mut self, lines: &[Line], at: usize, owner: usize, start: usize, length: usize) -> usize {
        let line = &lines[at];
        let key = &self.text[start..start + length];
        let behind = start + length + 1;
        let rest = self.text[behind..line.text_end].trim_end_matches(BLANK);
        let raw = rest.trim_start_matches(BLANK);
        let mut last = at;
        let mut value_end = behind + rest.len();
        let value = if is_block_sign(raw) {
            let indent = start - line.start;
            last = self.block_end(lines, at, indent);
            value_end = if last > at { lines[last].text_end } else { value_end };
            self.block(&lines[at + 1..=last])
        } else {
            self.single(owner, key, raw, line.text_end)
        };
        if value == Value::Empty {
            let issue = Issue {
                code: Code::MissingValue,
                severity: Severity::Warning,
                task: Some(owner),
                at: start,
                what: format!("{key} has no value"),
            };
            self.issues.push(issue);
        }
        let end = lines[last].end;
        let (span, value_span) = (line.start..end, behind..value_end);
        let field = Field { key: key.into(), value, span, value_span, is_inline: false };
        self.add(owner, field);
        // The key may come after the children of its task.
        self.close_above(owner);
        self.extend(end);
        last + 1
    }

    /// Ends the children of a task before another key of the task.
    fn close_above(&mut self, owner: usize) {
        while let Some(&task) = self.open.last()
            && task != owner
        {
            self.open.pop();
            self.tasks[task].next = self.tasks.len();
        }
    }

    fn single(&mut self, owner: usize, key: &str, raw: &str, line_end: usize) -> Value {
        let quote = Quote::of_text(raw);
        if quote == Quote::None {
            return of_plain(raw, key);
        }
        match quoting::read(raw, quote) {
            Some(quoted) if quoted.end == raw.len() => Value::Text(quoted.text.into()),
            // Text follows the closing quote, so the quotes are part of the value.
            Some(_) => of_plain(raw, key),
            None => {
                let at = line_end - raw.len();
                self.error(Code::UnclosedQuote, Some(owner), at, format!("the quote of {key} is not closed"));
                Value::Text(raw.into())
            }
        }
    }

    /// Returns the last line of the block of the key in line `at`, which is indented more than the key.
    fn block_end(&self, lines: &[Line], at: usize, indent: usize) -> usize {
        let mut last = at;
        for (next, line) in lines.iter().enumerate().skip(at + 1) {
            let text = &self.text[line.start..line.text_end];
            if text.trim().is_empty() {
                continue;
            }
            let is_text = matches!(line.kind, Kind::Body | Kind::Code { within: 1.. });
            if !is_text || spaces(text) <= indent {
                break;
            }
            last = next;
        }
        last
    }

    fn block(&self, lines: &[Line]) -> Value {
        let text = |line: &Line| &self.text[line.start..line.text_end];
        let base = lines.iter().map(text).find(|line| !line.trim().is_empty()).map_or(0, spaces);
        let shown = |line: &Line| {
            let text = text(line);
            &text[spaces(text).min(base)..]
        };
        let text = lines.iter().map(shown).collect::<Vec<_>>().join("\n");
        if text.is_empty() { Value::Empty } else { Value::Text(text.into()) }
    }

    fn add(&mut self, owner: usize, field: Field) {
        if self.tasks[owner].field(&field.key).is_some() {
            let at = if field.is_inline { field.span.start } else { field.value_span.start - field.key.len() - 1 };
            self.error(Code::DuplicateField, Some(owner), at, format!("{} is given twice", field.key));
        }
        let task = &mut self.tasks[owner];
        if field.key.eq_ignore_ascii_case(ID_KEY) && !task.has_written_id {
            // An id is text, even if it looks like a number or a truth value.
            task.id = field.value.text().to_owned();
            task.has_written_id = !task.id.is_empty();
        }
        task.fields.push(field);
    }
}

/// Bullets of other programs, and dashes that look like the one of a task.
const OTHER_BULLETS: [&str; 14] = ["*", "+", "•", "◦", "‣", "▪", "·", "●", "○", "–", "—", "−", "‐", "‑"];

/// Returns how a line begins that looks like a task but is none: `* [ ] x`, `1. [ ] x`, `-[ ] x`, `[ ] x`, or a dash
/// alone. A quotation (`> - [ ] x`) is text.
fn unread_task(words: &str) -> Option<&str> {
    if words.trim_end() == "-" {
        return Some("a dash without a text");
    }
    let (before, rest) = words.split_at(words.find(head::OPENING_BRACKETS)?);
    head::mistyped_status(rest)?;
    let sign = before.trim();
    let number = sign.strip_suffix(['.', ')']);
    let is_number = number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    match sign {
        "-" => Some("a dash without a space behind it"),
        "" => Some("a box instead of a dash"),
        _ => (is_number || OTHER_BULLETS.contains(&sign)).then_some(sign),
    }
}

fn spaces(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}
