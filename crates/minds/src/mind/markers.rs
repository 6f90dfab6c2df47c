//! Parses the markers in a reply into intents, and returns the remaining text to show.
//!
//! A marker acts only at the start of a line, or after another one there. Anywhere else it is text: in a sentence, in a
//! list, indented, in code, in a quoted line, in quotation marks or inside another marker. So is an unclosed marker. Both
//! are reported to the agent.

use serde::{Deserialize, Serialize};

use super::brackets::{Kind, Token, tokens};
use crate::base::text::nearest;
use crate::element::kinds::marker;

/// The words of all built-in markers with a text.
pub const WORDS: [&str; 10] =
    ["PIN", "REMOVE_PIN", "VOTE_UP", "VOTE_DOWN", "KEEP_PIN", "RELEASE_PIN", "SEND", "DONE", "REMEMBER", BYE];
/// The word of the marker without a text.
pub(super) const BYE: &str = "BYE";
/// Maximum length of a marker header (word and addressee) in characters.
const HEADER_CHARS: usize = 120;
/// Maximum length of a bracketed reference (`[1]`) within a marker, which is part of its text.
const REFERENCE_CHARS: usize = 20;

/// The request of one marker.
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
    /// `[DONE: id]`
    Done { id: String },
    /// `[REMEMBER: note]`
    Remember { note: String },
    /// The marker of an act that a kind of element declares, such as `[DRAW: text]`.
    Act { marker: String, text: String },
    /// `[BYE]`: leaves the conversation.
    Bye,
    /// A known marker that cannot be used, and why.
    Malformed { why: String },
    /// A known marker without a closing bracket; it stays in the text.
    Unclosed { word: String },
    /// A bracketed word in capitals that is no marker; it stays in the text.
    Unknown { word: String, meant: Option<String> },
}

/// A parsed reply.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parsed {
    /// The intents, in order.
    pub intents: Vec<Intent>,
    /// How many of the first intents are of function calls; the others are of markers.
    pub called: usize,
    /// The text without markers.
    pub shown: String,
    /// The number of markers inside quotation marks, which count as text.
    pub quoted: usize,
    /// The number of other markers that are not at the start of a line, which count as text, too.
    pub inline: usize,
}

/// Parses a reply. In a reply that was cut off at its limit, the last marker only counts if it is certainly closed.
pub fn parse(reply: &str, was_cut: bool) -> Parsed {
    let tokens = tokens(reply);
    let headers: Vec<Header> = tokens
        .iter()
        .map(|token| if token.kind == Kind::Open { header(&reply[token.at + 1..]) } else { Header::None })
        .collect();
    let line_ends: Vec<usize> = reply.match_indices('\n').map(|(at, _)| at).collect();
    let looked = ScannedReply { reply, tokens: &tokens, headers: &headers, line_ends: &line_ends, was_cut };
    let mut parsed = Parsed::default();
    let mut shown = Shown { text: String::with_capacity(reply.len()), open_header: false };
    let (mut copied, mut text_until, mut is_quotation, mut index) = (0, 0, false, 0);
    let mut acted_until = 0;
    while let Some(token) = tokens.get(index) {
        let here = index;
        index += 1;
        if token.at < copied {
            continue;
        }
        if let (Kind::Quote, Some(close)) = (token.kind, token.partner.filter(|_| token.at >= text_until)) {
            (text_until, is_quotation) = (tokens[close].at + 1, true);
        }
        match &headers[here] {
            Header::Known { .. } if token.at < text_until => {
                // A marker in code or in a quotation is text and does nothing.
                rule!("quoted-markers-are-text");
                parsed.quoted += usize::from(is_quotation);
            }
            Header::Known { .. } if !looked.begins_line(token.at, acted_until) => {
                // A marker counts only at the start of a line; elsewhere it is text, and its agent is told.
                rule!("markers-begin-a-line");
                parsed.inline += 1;
                let line_end = looked.line_end_at(token.at);
                let end = looked.close_of(here).map_or(line_end, |close| line_end.min(close + 1));
                (text_until, is_quotation) = (end, false);
            }
            Header::Known { word, .. } => match looked.close_of(here) {
                Some(close) => {
                    shown.push(&reply[copied..token.at]);
                    let inside = &reply[token.at + 1..close];
                    parsed.intents.push(intent(word, inside));
                    if let (BYE, Some((_, words))) = (*word, inside.split_once(':')) {
                        // The text of `[BYE: See you.]` is shown.
                        shown.push(&unescape(words));
                    }
                    copied = close + usize::from(reply.as_bytes().get(close) == Some(&b']'));
                    acted_until = copied;
                    copied += shown.leave_out(&reply[copied..]);
                }
                None => {
                    // A marker that is not closed, or was cut off at the limit of a reply, does nothing.
                    rule!("unclosed-markers-do-nothing");
                    parsed.intents.push(Intent::Unclosed { word: (*word).to_owned() });
                    (text_until, is_quotation) = (looked.line_end(here), false);
                }
            },
            Header::Unknown(word)
                if token.partner.is_some() && token.at >= text_until && looked.begins_line(token.at, acted_until) =>
            {
                let meant = nearest(word, WORDS).map(str::to_owned);
                parsed.intents.push(Intent::Unknown { word: word.clone(), meant });
            }
            _ => {}
        }
    }
    shown.push(&reply[copied..]);
    parsed.shown = trimmed(&shown.text).to_owned();
    parsed
}

/// Returns a text without blanks around it, except for those before a marker that is text only because of them.
fn trimmed(text: &str) -> &str {
    let start = text.trim_start();
    let is_marker = start.strip_prefix('[').is_some_and(|inside| !matches!(header(inside), Header::None));
    if is_marker { text.trim_end() } else { start.trim_end() }
}

/// Returns a reply without the single blank that some models put before everything that they say.
pub fn without_first_blank(reply: &str) -> &str {
    reply.strip_prefix(' ').unwrap_or(reply)
}

/// Returns a text with a backslash before every bracket that would open a marker in a reply that quotes it.
pub fn escape(text: &str) -> std::borrow::Cow<'_, str> {
    let opens = |at: &usize| !matches!(header(&text[at + 1..]), Header::None);
    let mut places = text.match_indices('[').map(|(at, _)| at).filter(opens).peekable();
    if places.peek().is_none() {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    let mut copied = 0;
    for at in places {
        escaped.push_str(&text[copied..at]);
        let before = text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count();
        if before.is_multiple_of(2) {
            escaped.push('\\');
        }
        copied = at;
    }
    escaped.push_str(&text[copied..]);
    escaped.into()
}

/// The text between an opening bracket and the first colon.
enum Header {
    /// No marker begins here.
    None,
    /// A marker.
    Known { word: &'static str },
    /// A word in capitals that is no marker.
    Unknown(String),
}

fn header(inside: &str) -> Header {
    let end = inside.char_indices().take(HEADER_CHARS).find(|(_, letter)| matches!(letter, ':' | '[' | ']' | '\n'));
    let Some((end, mark)) = end else { return Header::None };
    let header = inside[..end].trim();
    match mark {
        ':' => {}
        ']' if header.eq_ignore_ascii_case(BYE) => return Header::Known { word: BYE },
        _ => return Header::None,
    }
    let (word, rest) = header.split_once(char::is_whitespace).unwrap_or((header, ""));
    let of_house = WORDS.iter().copied().find(|known| known.eq_ignore_ascii_case(word));
    match of_house.or_else(|| marker(word).map(|(_, _, marker)| marker.word)) {
        Some(word) if word == "SEND" || rest.is_empty() => Header::Known { word },
        _ => {
            let is_word = header.len() >= 2
                && header.starts_with(|first: char| first.is_ascii_uppercase())
                && header.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
            if is_word { Header::Unknown(header.to_owned()) } else { Header::None }
        }
    }
}

/// A reply with its tokens.
struct ScannedReply<'a> {
    reply: &'a str,
    tokens: &'a [Token],
    headers: &'a [Header],
    line_ends: &'a [usize],
    was_cut: bool,
}

impl ScannedReply<'_> {
    /// Whether nothing precedes this position in its line but markers that acted.
    fn begins_line(&self, at: usize, acted_until: usize) -> bool {
        let lines = self.line_ends.partition_point(|end| *end < at);
        let line = lines.checked_sub(1).map_or(0, |line| self.line_ends[line] + 1);
        match acted_until > line {
            true => self.reply[acted_until..at].bytes().all(|byte| byte == b' '),
            false => line == at,
        }
    }

    /// Returns the end of the line at this position.
    fn line_end_at(&self, at: usize) -> usize {
        let line = self.line_ends.partition_point(|end| *end < at);
        self.line_ends.get(line).copied().unwrap_or(self.reply.len())
    }

    /// Returns the end of the marker that opens at a token: the position of its closing bracket, or of the text after
    /// it if the bracket is not its own.
    fn close_of(&self, open: usize) -> Option<usize> {
        match self.tokens[open].partner {
            Some(close) if self.takes_an_id(open) => Some(self.tokens[close].at),
            Some(close) => Some(self.tokens[self.stray_close_after(close).unwrap_or(close)].at),
            None => self.likely_close_of(open),
        }
    }

    fn takes_an_id(&self, open: usize) -> bool {
        match &self.headers[open] {
            Header::Known { word } => WORDS.contains(word) && !matches!(*word, "PIN" | "SEND" | "REMEMBER"),
            _ => true,
        }
    }

    /// Returns the end of a token's line.
    fn line_end(&self, token: usize) -> usize {
        let mut after = self.tokens[token..].iter();
        after.find(|one| is_line_end(one)).map_or(self.reply.len(), |end| end.at)
    }

    /// Returns the tokens after a token, up to the end of its line or the next marker.
    fn rest_of_line(&self, token: usize) -> impl Iterator<Item = (usize, &Token)> {
        let after = self.tokens.iter().enumerate().skip(token + 1);
        after.take_while(|(index, one)| !is_line_end(one) && !matches!(self.headers[*index], Header::Known { .. }))
    }

    /// Returns a later unpaired closing bracket in the line: `[REMEMBER: a note with ] after]`.
    fn stray_close_after(&self, close: usize) -> Option<usize> {
        let strays = self.rest_of_line(close).filter(|(_, one)| one.kind == Kind::Close && one.partner.is_none());
        let (last, stray) = strays.last()?;
        let between = &self.reply[self.tokens[close].at + 1..stray.at];
        between.contains(char::is_alphanumeric).then_some(last)
    }

    /// Returns the most likely end of a marker whose closing bracket is paired with another one or is part of a smiley.
    fn likely_close_of(&self, open: usize) -> Option<usize> {
        let rest: Vec<(usize, &Token)> = self.rest_of_line(open).collect();
        let end = match self.tokens.get(rest.last().map_or(open, |(last, _)| *last) + 1) {
            Some(next) => next.at,
            None => self.reply.len(),
        };
        if self.was_cut && end == self.reply.len() {
            return None;
        }
        let is_last = |one: &Token| !self.reply[one.at + 1..end].contains(char::is_alphanumeric);
        let hard = rest.iter().rev().find(|(_, one)| one.kind == Kind::Close).filter(|(_, one)| is_last(one));
        if let Some((_, close)) = hard {
            let inner = close.partner.map_or(0, |inner| self.tokens[inner].at);
            let is_reference = close.at - inner <= REFERENCE_CHARS
                && !self.reply[inner..close.at].contains(char::is_whitespace)
                && self.reply[..inner].ends_with(char::is_whitespace);
            return Some(if is_reference { close.at + 1 } else { close.at });
        }
        rest.iter().rev().find(|(_, one)| one.kind == Kind::SoftClose).map(|(_, close)| close.at)
    }
}

fn is_line_end(token: &Token) -> bool {
    matches!(token.kind, Kind::LineEnd | Kind::ParagraphEnd)
}

/// Builds the text to show.
struct Shown {
    text: String,
    /// Whether the text ends in an open bracket that further text could turn into a marker.
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

    /// Joins the text around a removed marker. Returns how many bytes of the following text to skip.
    fn leave_out(&mut self, after: &str) -> usize {
        if self.open_header {
            // The pieces around the gap must not join into a new marker.
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

/// Returns the intent of a marker, given its word and the text between its brackets.
fn intent(word: &str, inside: &str) -> Intent {
    let (header, body) = inside.split_once(':').unwrap_or((inside, ""));
    match word {
        "SEND" => {}
        BYE => return Intent::Bye,
        _ => {
            let body = unescape(body);
            if body.is_empty() {
                return Intent::Malformed { why: format!("[{word}: …] was empty, so nothing was done") };
            }
            return intent_with_text(word, body);
        }
    }
    let addressee = header.trim().split_once(char::is_whitespace).map_or("", |(_, addressee)| addressee.trim());
    send(addressee, body)
}

/// Returns the intent of a word that takes one text or id, which is not empty.
pub(super) fn intent_with_text(word: &str, body: String) -> Intent {
    let id = || body.trim_start_matches('#').to_owned();
    match word {
        "PIN" => Intent::Pin { text: body },
        "REMOVE_PIN" => Intent::RemovePin { id: id() },
        "VOTE_UP" => Intent::Vote { id: id(), up: true },
        "VOTE_DOWN" => Intent::Vote { id: id(), up: false },
        "KEEP_PIN" => Intent::KeepPin { id: id() },
        "RELEASE_PIN" => Intent::ReleasePin { id: id() },
        "DONE" => Intent::Done { id: id() },
        marker if !WORDS.contains(&marker) => Intent::Act { marker: marker.to_owned(), text: body },
        _ => {
            // An agent remembers what it writes as `[REMEMBER: …]` in a reply.
            rule!("remember-is-a-marker");
            Intent::Remember { note: body }
        }
    }
}

/// Parses a `SEND` marker: `rest` is `to Name` or, if empty, the name is at the start of the body.
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
        return Intent::Malformed { why: "[SEND …] named no recipient; write [SEND to Name: text]".to_owned() };
    }
    if text.is_empty() {
        return Intent::Malformed { why: format!("the mail to {to} was empty and was not sent") };
    }
    Intent::Send { to, text }
}

/// Returns a body trimmed and with escaped brackets unescaped.
fn unescape(body: &str) -> String {
    body.trim().replace("\\[", "[").replace("\\]", "]")
}

#[cfg(test)]
#[path = "markers_tests.rs"]
mod tests;
