//! Finds the markers in a reply: what it asks the world to do, and the text that is left to show.
//!
//! Works in one pass over brackets paired beforehand, so time grows with the length of the reply and nothing
//! else. Markers within ``` fences are examples, not wishes; a marker that is not closed is text.

use serde::{Deserialize, Serialize};

use crate::base::text::nearest;

/// The words of the markers that there are.
pub const WORDS: [&str; 8] =
    ["PIN", "REMOVE_PIN", "VOTE_UP", "VOTE_DOWN", "KEEP_PIN", "RELEASE_PIN", "SEND", "REMEMBER"];
/// Characters of the longest header: word and addressee.
const HEADER_CHARS: usize = 120;

/// What one marker asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "intent", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Intent {
    /// `[PIN: text]`
    Pin { text: String },
    /// `[REMOVE_PIN: id]`
    RemovePin { id: String },
    /// `[VOTE_UP: id]`, `[VOTE_DOWN: id]`
    Vote { id: String, up: bool },
    /// `[KEEP_PIN: id]`
    KeepPin { id: String },
    /// `[RELEASE_PIN: id]`
    ReleasePin { id: String },
    /// `[SEND to Name: text]`, `[SEND: Name: text]`
    Send { to: String, text: String },
    /// `[REMEMBER: note]`
    Remember { note: String },
    /// A known marker that cannot be used, and why.
    Malformed { why: String },
    /// A word in capitals that is no marker; it stays in the text.
    Unknown { word: String, meant: Option<String> },
}

/// A reply, taken apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parsed {
    /// What it asks for, in order.
    pub intents: Vec<Intent>,
    /// What is left to show.
    pub shown: String,
}

/// Takes a reply apart.
pub fn parse(reply: &str) -> Parsed {
    let closes = pair_brackets(reply);
    let mut shown = Shown { text: String::with_capacity(reply.len()), open_header: false };
    let mut intents = Vec::new();
    let mut copied = 0;
    let mut next = 0;
    while next < closes.len() {
        let (open, close) = closes[next];
        next += 1;
        if open < copied {
            continue;
        }
        shown.push(&reply[copied..open]);
        copied = open;
        let inside = close.map(|close| &reply[open + 1..close]);
        match inside.and_then(marker) {
            Some(Found::Known(intent)) => {
                intents.push(intent);
                copied = close.map_or(open, |close| close + 1);
                copied += shown.leave_out(&reply[copied..]);
            }
            Some(Found::Unknown(intent)) => intents.push(intent),
            None => {}
        }
    }
    shown.push(&reply[copied..]);
    Parsed { intents, shown: shown.text.trim().to_owned() }
}

/// Every bracket that opens, in order, with the place of the one that closes it, where there is one.
/// Escaped brackets and those within fences are not brackets.
fn pair_brackets(reply: &str) -> Vec<(usize, Option<usize>)> {
    let bytes = reply.as_bytes();
    let mut pairs: Vec<(usize, Option<usize>)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'`' => {
                let run = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
                at += run - 1;
                if run >= 3 {
                    // If nothing closes it, no later run can open a fence that is closed either.
                    if let Some(end) = reply[at + 1..].find("```") {
                        let close = at + 1 + end;
                        at = close + bytes[close..].iter().take_while(|byte| **byte == b'`').count() - 1;
                    }
                }
            }
            b'[' => {
                open.push(pairs.len());
                pairs.push((at, None));
            }
            b']' => {
                if let Some(index) = open.pop() {
                    pairs[index].1 = Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    pairs
}

/// The text to show while it grows.
struct Shown {
    text: String,
    /// Whether a bracket stands open whose word is not finished: what comes next could still make it a marker.
    open_header: bool,
}

impl Shown {
    fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                b'[' => self.open_header = true,
                b']' | b':' => self.open_header = false,
                _ => {}
            }
        }
        self.text.push_str(text);
    }

    /// Closes the gap where a marker stood: returns how many bytes of what follows go with it.
    fn leave_out(&mut self, after: &str) -> usize {
        if self.open_header {
            // The pieces around the gap must not join into a marker that nobody wrote.
            self.text.push_str("[]");
            self.open_header = false;
            return 0;
        }
        let ends_blank = self.text.is_empty() || self.text.ends_with(char::is_whitespace);
        let blanks = after.bytes().take_while(|byte| *byte == b' ').count();
        let next = after.as_bytes().get(blanks);
        if next == Some(&b'\n') && (self.text.is_empty() || self.text.ends_with('\n')) {
            return blanks + 1;
        }
        if ends_blank {
            return blanks;
        }
        if blanks == 0 && next.is_some_and(|byte| !byte.is_ascii_whitespace() && !b".,;:!?)".contains(byte)) {
            self.text.push(' ');
        }
        0
    }
}

enum Found {
    Known(Intent),
    Unknown(Intent),
}

/// What the inside of a pair of brackets asks for, if it is a marker.
fn marker(inside: &str) -> Option<Found> {
    let header_end = inside.char_indices().nth(HEADER_CHARS).map_or(inside.len(), |(index, _)| index);
    let (header, _) = inside[..header_end].split_once(':')?;
    let body = &inside[header.len() + 1..];
    let header = header.trim();
    if header.contains(['[', ']', '\n']) {
        return None;
    }
    let (word, rest) = header.split_once(char::is_whitespace).unwrap_or((header, ""));
    let known = WORDS.iter().find(|known| known.eq_ignore_ascii_case(word));
    match known {
        Some(&"SEND") => Some(Found::Known(send(rest.trim(), body))),
        Some(word) if rest.is_empty() => Some(Found::Known(simple(word, body))),
        _ => unknown(header),
    }
}

fn simple(word: &str, body: &str) -> Intent {
    let body = unescape(body);
    if body.is_empty() {
        return Intent::Malformed { why: format!("[{word}: …] was empty, nothing was done") };
    }
    let id = || body.trim_start_matches('#').to_owned();
    match word {
        "PIN" => Intent::Pin { text: body },
        "REMOVE_PIN" => Intent::RemovePin { id: id() },
        "VOTE_UP" => Intent::Vote { id: id(), up: true },
        "VOTE_DOWN" => Intent::Vote { id: id(), up: false },
        "KEEP_PIN" => Intent::KeepPin { id: id() },
        "RELEASE_PIN" => Intent::ReleasePin { id: id() },
        _ => Intent::Remember { note: body },
    }
}

/// `to Name` or nothing before the colon; in the latter case the name stands in the body.
fn send(rest: &str, body: &str) -> Intent {
    let rest = match rest.get(..2) {
        Some(to) if to.eq_ignore_ascii_case("to") && rest[2..].chars().next().is_none_or(char::is_whitespace) => {
            rest[2..].trim()
        }
        _ => rest,
    };
    let (to, text) = if rest.is_empty() { body.split_once(':').unwrap_or(("", body)) } else { (rest, body) };
    let (to, text) = (unescape(to), unescape(text));
    if to.is_empty() {
        return Intent::Malformed { why: "[SEND …] named nobody; write [SEND to Name: text]".to_owned() };
    }
    if text.is_empty() {
        return Intent::Malformed { why: format!("the mail to {to} was empty and was not sent") };
    }
    Intent::Send { to, text }
}

fn unknown(header: &str) -> Option<Found> {
    let is_word = header.len() >= 2
        && header.starts_with(|first: char| first.is_ascii_uppercase())
        && header.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
    is_word.then(|| {
        let meant = nearest(header, WORDS).map(str::to_owned);
        Found::Unknown(Intent::Unknown { word: header.to_owned(), meant })
    })
}

/// The text of a body: trimmed, escaped brackets as brackets.
fn unescape(body: &str) -> String {
    body.trim().replace("\\[", "[").replace("\\]", "]")
}

#[cfg(test)]
#[path = "markers_tests.rs"]
mod tests;
