//! Removes keys from everything that a server or a library returns before it is shown, stored or spoken: from errors,
//! everything that looks like a key; from answers, the known keys, even if they are split across pieces.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::base::text;
use crate::mind::{Completion, Reasoning, ReasoningBlock, ToolCall};

/// The text that replaces a key.
pub(in crate::gateway) const REDACTED: &str = "[redacted]";
/// The minimum length of a key; removing shorter values would damage ordinary words.
const MIN_SECRET_CHARS: usize = 6;
/// The prefixes of the usual vendors' keys.
const KEY_PREFIXES: [&str; 7] = ["sk-", "AIza", "sk_", "gsk_", "ghp_", "gho_", "xai-"];
/// Names before `=` or `:` whose value is a key: in a URL, a header, or JSON.
const KEY_NAMES: [&str; 7] = ["key", "api_key", "api-key", "apikey", "authorization", "x-api-key", "x-goog-api-key"];
/// The maximum length of a quotation of a server's text, in characters.
const QUOTE_CHARS: usize = 300;
/// A text in which one character in this many is unprintable counts as binary.
const ONE_IN: usize = 10;

/// Removes known keys from text.
#[derive(Clone, Default)]
pub struct Redactor(Arc<[String]>);

/// Never shows the keys.
impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(REDACTED)
    }
}

impl Redactor {
    /// Creates a redactor for these keys.
    pub fn of<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let long = secrets.into_iter().filter(|secret| secret.chars().count() >= MIN_SECRET_CHARS);
        let mut secrets: Vec<String> = long.map(str::to_owned).collect();
        // A longer key is replaced before its prefix: otherwise the rest of it would be visible.
        secrets.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        secrets.dedup();
        Self(secrets.into())
    }

    /// Removes the known keys. Everything else is kept: an answer may well be about keys.
    pub fn redact_known<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in self.0.iter().filter(|secret| !secret.is_empty()) {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), REDACTED));
            }
        }
        text
    }

    /// Removes the known keys, and everything that looks like a key or is in the position of one, including user names
    /// and passwords in URLs.
    pub fn redact_all(&self, text: &str) -> String {
        text::hide_user_info(&redact_lookalikes(&self.redact_known(text)))
    }

    /// Returns the length in bytes of the prefix that contains no beginning of a key: the rest may continue as one.
    fn keyless_len(&self, text: &str) -> usize {
        let begins = |secret: &String| {
            let longest = text.floor_char_boundary(text.len().min(secret.len() - 1));
            (1..=longest).rev().find(|length| secret.get(..*length).is_some_and(|start| text.ends_with(start)))
        };
        let mut end = text.len() - self.0.iter().filter_map(begins).max().unwrap_or(0);
        // A complete key that reaches into the held part is held with it.
        while let Some(start) = self.0.iter().filter_map(|secret| across(text, secret, end)).min() {
            end = start;
        }
        end
    }

    /// Returns the part of an incomplete text that is safe to show, without known keys and a possible beginning of one
    /// at its end.
    pub fn redact_partial<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact_known(&text[..self.keyless_len(text)])
    }

    /// Like [`redact_partial`](Self::redact_partial), for JSON text, in which characters can be escaped.
    pub fn json_so_far(&self, json: &str) -> String {
        self.redact_partial(&without_redundant_escapes(json)).into_owned()
    }

    /// Removes the known keys from every part of an answer.
    pub fn completion(&self, completion: Completion) -> Completion {
        if self.0.is_empty() {
            return completion;
        }
        let Completion { text, tool_calls, usage, finish, told } = completion;
        let tool_calls = tool_calls.into_iter().map(|call| self.call(call)).collect();
        let told = told.map(|told| Box::new(told.mapped(|text| self.owned(text))));
        Completion { text: self.owned(text), tool_calls, usage, finish, told }
    }

    fn call(&self, call: ToolCall) -> ToolCall {
        let ToolCall { id, name, arguments, reasoning } = call;
        let reasoning = reasoning.map(|reasoning| {
            let Reasoning { wire, blocks } = *reasoning;
            Box::new(Reasoning { wire, blocks: blocks.into_iter().map(|block| self.block(block)).collect() })
        });
        ToolCall { id: self.owned(id), name: self.owned(name), arguments: self.value(arguments), reasoning }
    }

    fn block(&self, block: ReasoningBlock) -> ReasoningBlock {
        match block {
            ReasoningBlock::Signed { text, signature } => {
                ReasoningBlock::Signed { text: text.map(|text| self.owned(text)), signature: self.owned(signature) }
            }
            ReasoningBlock::Sealed { block } => ReasoningBlock::Sealed { block: self.value(block) },
            ReasoningBlock::Plain { text } => ReasoningBlock::Plain { text: self.owned(text) },
        }
    }

    /// Whether there are no keys.
    pub(in crate::gateway) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes the known keys from the values and the keys of JSON data.
    pub(in crate::gateway) fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.owned(text)),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.value(item)).collect()),
            Value::Object(entries) => {
                let clean = entries.into_iter().map(|(name, value)| (self.owned(name), self.value(value)));
                Value::Object(clean.collect::<Map<_, _>>())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    fn owned(&self, text: String) -> String {
        match self.redact_known(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => clean,
        }
    }
}

/// Returns the start of a secret that extends across this offset.
fn across(text: &str, secret: &str, place: usize) -> Option<usize> {
    let from = text.floor_char_boundary(place.saturating_sub(secret.len() - 1));
    let found = text.get(from..)?.match_indices(secret).map(|(at, _)| from + at);
    found.into_iter().find(|at| *at < place && at + secret.len() > place)
}

/// Redacts a streamed text: the beginning of a possible key is held back until the next piece.
#[derive(Debug)]
pub struct RedactedStream {
    redactor: Redactor,
    held: String,
}

impl RedactedStream {
    /// Creates an empty stream.
    pub fn new(redactor: Redactor) -> Self {
        Self { redactor, held: String::new() }
    }

    /// Adds a piece, and returns the text that can be passed on now.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let rest = self.held.split_off(self.redactor.keyless_len(&self.held));
        let sure = std::mem::replace(&mut self.held, rest);
        self.redactor.owned(sure)
    }
}

/// Removes unnecessary escapes from JSON text: those of letters, digits and other characters of keys. An incomplete
/// escape is left out.
fn without_redundant_escapes(json: &str) -> Cow<'_, str> {
    if !json.contains('\\') {
        return Cow::Borrowed(json);
    }
    let mut plain = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let escape = &rest[at..];
        let length = match escape.as_bytes().get(1) {
            None => return Cow::Owned(plain),
            Some(b'u') if escape.len() < 6 => return Cow::Owned(plain),
            Some(b'u') => 6,
            Some(_) => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        rest = escape;
        let Some(whole) = escape.get(..length) else { break };
        let code = whole.strip_prefix("\\u").and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code.map(char::from).filter(|c| c.is_ascii_graphic() && !matches!(c, '"' | '\\')) {
            Some(letter) => plain.push(letter),
            None if whole == "\\/" => plain.push('/'),
            None => plain.push_str(whole),
        }
        rest = &escape[length..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Redacts words (runs of characters that keys consist of), each checked together with the name before it.
fn redact_lookalikes(text: &str) -> String {
    let is_key_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/' | '~');
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    let mut after_key_name = false;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_key_char(c)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        let gap_end = tail.find(is_key_char).unwrap_or(tail.len());
        let (gap, tail) = tail.split_at(gap_end);
        let lower = word.to_ascii_lowercase();
        if looks_like_key(word) || (after_key_name && word.len() >= MIN_SECRET_CHARS && lower != "bearer") {
            clean.push_str(REDACTED);
            after_key_name = false;
        } else {
            clean.push_str(word);
            let names_key = KEY_NAMES.contains(&lower.as_str()) && gap.contains([':', '=']);
            let goes_on =
                lower == "bearer" || (after_key_name && lower == "basic") || (word.is_empty() && after_key_name);
            after_key_name = names_key || goes_on;
        }
        clean.push_str(gap);
        rest = tail;
    }
    clean
}

fn looks_like_key(word: &str) -> bool {
    // A path may end in a key, so each of its parts is checked, too.
    word.split('/')
        .any(|part| KEY_PREFIXES.iter().any(|prefix| part.starts_with(prefix) && part.len() >= prefix.len() + 8))
}

/// Quotes a server's or library's message: short, on one line and redacted; binary data is only mentioned.
pub fn quote(text: &str, redactor: &Redactor) -> String {
    if !is_text(text) {
        return "its value is not text".to_owned();
    }
    let readable: String = text.chars().filter(|c| c.is_whitespace() || !is_odd(*c)).collect();
    text::truncate(&text::one_line(&redactor.redact_all(&readable)), QUOTE_CHARS)
}

/// Whether this is readable text rather than compressed or other binary data.
fn is_text(text: &str) -> bool {
    let looked_at = || text.chars().take(4 * QUOTE_CHARS);
    let odd = looked_at().filter(|c| !c.is_whitespace() && is_odd(*c)).count();
    odd * ONE_IN <= looked_at().count()
}

/// Whether a character does not occur in text: a replacement for invalid bytes, or a control character.
fn is_odd(c: char) -> bool {
    c.is_control() || c == char::REPLACEMENT_CHARACTER
}

#[cfg(test)]
#[path = "redaction_tests.rs"]
mod tests;
