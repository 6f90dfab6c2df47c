//! The first line of a task: its marks, its title, and the keys after it.

use super::issue::Code;
use super::keys::{is_key_word, is_name, key_length};
use super::model::{Field, Name, Priority, Quote, Span, Status, Title, Value};
use super::quoting;
use super::value::of_plain;
use crate::base::Severity;

const BLANK: [char; 2] = [' ', '\t'];
/// The brackets of a status, also as keyboards for Chinese and Japanese write them.
pub(super) const OPENING_BRACKETS: [char; 3] = ['[', '［', '【'];
const CLOSING_BRACKETS: [char; 3] = [']', '］', '】'];
/// The contents of boxes in lists of tasks.
const STATUS_SIGNS: [&str; 7] = ["", "x", "X", "-", "_", "✓", "✔"];

/// The parsed first line of a task.
pub(super) struct Head {
    pub(super) status: Option<(Status, Span)>,
    pub(super) priority: Option<(Priority, Span)>,
    pub(super) stakeholders: Vec<Name>,
    pub(super) tags: Vec<Name>,
    pub(super) title: Title,
    pub(super) fields: Vec<Field>,
    pub(super) faults: Vec<Fault>,
}

/// An error in the line.
pub(super) struct Fault {
    pub(super) code: Code,
    pub(super) severity: Severity,
    pub(super) at: usize,
    pub(super) what: String,
}

/// A mark before the title.
enum Mark {
    Status(Status),
    Priority(Priority),
    Stakeholder,
    Tag,
}

/// Parses the words of a line between the byte offsets `start` and `end` of the text.
pub(super) fn parse(text: &str, start: usize, end: usize) -> Head {
    let mut reader = Reader { text, at: start, end, head: empty_at(start) };
    reader.marks();
    reader.title();
    reader.fields();
    reader.head
}

fn empty_at(at: usize) -> Head {
    Head {
        status: None,
        priority: None,
        stakeholders: Vec::new(),
        tags: Vec::new(),
        title: Title { text: String::new(), span: at..at, quote: Quote::None },
        fields: Vec::new(),
        faults: Vec::new(),
    }
}

/// Returns the mark at the beginning of a text, and its length.
fn mark(text: &str) -> Option<(Mark, usize)> {
    if text.starts_with('[') {
        let status = match text.get(..3)? {
            "[x]" | "[X]" => Status::Completed,
            "[_]" | "[ ]" => Status::Open,
            "[-]" => Status::Skipped,
            _ => return None,
        };
        let is_word = text.len() == 3 || text[3..].starts_with(BLANK);
        return is_word.then_some((Mark::Status(status), 3));
    }
    let word = text.split(BLANK).next().unwrap_or(text);
    let named = |sign: char| word.strip_prefix(sign).is_some_and(is_name);
    let mark = match word {
        "x" => Mark::Status(Status::Completed),
        "-" => Mark::Status(Status::Skipped),
        _ if named('@') => Mark::Stakeholder,
        _ if named('#') => Mark::Tag,
        word => Mark::Priority(Priority::from_letter(word)?),
    };
    Some((mark, word.len()))
}

/// Whether an unquoted title with this beginning would be parsed as a mark.
pub(super) fn begins_with_mark(title: &str) -> bool {
    mark(title).is_some()
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    head: Head,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(BLANK).len();
    }

    fn fault(&mut self, code: Code, severity: Severity, at: usize, what: impl Into<String>) {
        self.head.faults.push(Fault { code, severity, at, what: what.into() });
    }

    /// Parses everything before the title, in any order.
    fn marks(&mut self) {
        loop {
            self.skip_blanks();
            let Some((mark, length)) = mark(self.rest()) else { return };
            let span = self.at..self.at + length;
            let is_bracketed = self.rest().starts_with('[');
            let name = || Name { text: self.text[span.start + 1..span.end].into(), span: span.clone() };
            match mark {
                Mark::Stakeholder => self.head.stakeholders.push(name()),
                Mark::Tag => self.head.tags.push(name()),
                Mark::Status(status) if self.head.status.is_none() => self.head.status = Some((status, span.clone())),
                Mark::Priority(priority) if self.head.priority.is_none() => {
                    self.head.priority = Some((priority, span.clone()));
                }
                Mark::Status(_) if is_bracketed => {
                    self.fault(Code::MisplacedToken, Severity::Error, span.start, "the status is given twice");
                }
                // A second letter belongs to the title.
                Mark::Status(_) | Mark::Priority(_) => return,
            }
            self.at = span.end;
        }
    }

    fn title(&mut self) {
        self.skip_blanks();
        let (start, rest) = (self.at, self.rest());
        if let Some(mark) = mistyped_status(rest).filter(|_| self.head.status.is_none()) {
            let what = format!("{mark} is not a status, and is read as part of the title");
            self.fault(Code::MistypedStatus, Severity::Warning, start, what);
        }
        if let Some((at, odd)) = rest.char_indices().find(|(_, c)| c.is_control() && *c != '\t') {
            let what = format!("the line contains the control character U+{:04X}", u32::from(odd));
            self.fault(Code::ControlCharacter, Severity::Warning, start + at, what);
        }
        let quote = Quote::of_text(rest);
        if rest.is_empty() {
            self.fault(Code::MissingTitle, Severity::Error, start, "the task has no title");
            self.head.title.span = start..start;
        } else if quote != Quote::None {
            let (text, length) = match quoting::read(rest, quote) {
                Some(quoted) => (quoted.text.into_owned(), quoted.end),
                None => {
                    self.fault(Code::UnclosedQuote, Severity::Error, start, "the quote of the title is not closed");
                    (rest.trim_end_matches(BLANK).to_owned(), rest.len())
                }
            };
            if text.trim().is_empty() {
                self.fault(Code::MissingTitle, Severity::Error, start, "the title is empty");
            }
            self.at = start + length;
            self.head.title = Title { text, span: start..self.at, quote };
        } else {
            self.plain_title(start, rest);
        }
    }

    /// Parses an unquoted title, up to the first key with a value.
    fn plain_title(&mut self, start: usize, rest: &'a str) {
        let mut end = 0;
        for (at, word) in words(rest) {
            let has_value = || !rest[at + word.len()..].trim_matches(BLANK).is_empty();
            if at > 0
                && is_key_word(word)
                && word.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
                && has_value()
            {
                break;
            }
            let is_name = word.strip_prefix(['@', '#']).is_some_and(|name| is_name(name) && !is_digits(name));
            if at > 0 && (is_name || matches!(word, "[x]" | "[_]" | "[-]")) {
                let what = format!("{word} comes after the title, and is read as part of it");
                self.fault(Code::MisplacedToken, Severity::Warning, start + at, what);
            }
            end = at + word.len();
        }
        self.at = start + end;
        self.head.title = Title { text: rest[..end].to_owned(), span: start..self.at, quote: Quote::None };
    }

    /// Parses the keys after the title.
    fn fields(&mut self) {
        loop {
            self.skip_blanks();
            let (start, rest) = (self.at, self.rest());
            if rest.is_empty() {
                return;
            }
            let Some(length) = key_length(rest) else {
                self.stray(start, rest);
                continue;
            };
            let key = &rest[..length];
            let behind = start + length + 1;
            self.at = behind;
            self.skip_blanks();
            let value = self.value(key);
            let value_span = behind..self.at.max(behind);
            let span = start..value_span.end;
            self.head.fields.push(Field { key: key.into(), value, span, value_span, is_inline: true });
        }
    }

    fn stray(&mut self, start: usize, rest: &str) {
        let word = words(rest).next().map_or(rest, |(_, word)| word);
        let quoted = quoting::read(rest, Quote::of_text(rest));
        self.at = start + quoted.map_or(word.len(), |quoted| quoted.end);
        let what = format!("{word} comes after the title");
        self.fault(Code::MisplacedToken, Severity::Error, start, what);
    }

    fn value(&mut self, key: &str) -> Value {
        let (start, rest) = (self.at, self.rest());
        let quote = Quote::of_text(rest);
        if quote != Quote::None {
            match quoting::read(rest, quote) {
                Some(quoted) if rest[quoted.end..].is_empty() || rest[quoted.end..].starts_with(BLANK) => {
                    self.at = start + quoted.end;
                    return Value::Text(quoted.text.into());
                }
                Some(_) => {}
                None => {
                    self.fault(
                        Code::UnclosedQuote,
                        Severity::Error,
                        start,
                        format!("the quote of {key} is not closed"),
                    );
                    self.at = self.end;
                    return Value::Text(rest.into());
                }
            }
        }
        let mut end = 0;
        for (at, word) in words(rest) {
            if is_key_word(word) {
                break;
            }
            if at > 0 && word.strip_prefix('@').is_some_and(is_name) {
                let what = format!("{word} is read as part of {key}, not as a name");
                self.fault(Code::MisplacedToken, Severity::Warning, start + at, what);
            }
            end = at + word.len();
        }
        let value = of_plain(&rest[..end], key);
        if value == Value::Empty {
            self.fault(Code::MissingValue, Severity::Warning, start, format!("{key} has no value"));
            self.at = start - (self.text[..start].len() - self.text[..start].trim_end_matches(BLANK).len());
        } else {
            self.at = start + end;
        }
        value
    }
}

/// Returns a word in brackets at the beginning of a title that was probably meant as a status: at most one letter or sign
/// with blanks around it. `[a](b)` is a link.
pub(super) fn mistyped_status(title: &str) -> Option<&str> {
    let inner = title.strip_prefix(OPENING_BRACKETS)?;
    let end = inner.find(CLOSING_BRACKETS)?;
    let mut behind = inner[end..].chars();
    let closing = behind.next()?;
    let content = inner[..end].trim();
    let is_apart = behind.next().is_none_or(|next| next.is_whitespace());
    // What follows directly makes it a link, or a part of the title, unless it is certainly a box.
    let is_glued = behind_is_word(&inner[end + closing.len_utf8()..]) && STATUS_SIGNS.contains(&content);
    let length = title.len() - inner.len() + end + closing.len_utf8();
    ((is_apart || is_glued) && content.chars().count() <= 1).then(|| &title[..length])
}

/// Whether a text begins like a word, and not like the target of a link.
fn behind_is_word(text: &str) -> bool {
    text.chars().next().is_some_and(|next| !matches!(next, '(' | '[' | ':' | '{'))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the words of a text with their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = text.as_ptr() as usize;
    text.split(BLANK).filter(|word| !word.is_empty()).map(move |word| (word.as_ptr() as usize - start, word))
}
