//! Parses and writes quotes and escapes of titles and values.

use std::borrow::Cow;

use super::model::Quote;

impl Quote {
    /// Returns the quote at the beginning of a text.
    pub(super) fn of_text(text: &str) -> Self {
        match text.chars().next() {
            Some('"') => Self::Straight,
            Some('“') => Self::Curly,
            Some('`') => Self::Backtick,
            _ => Self::None,
        }
    }

    fn signs(self) -> (&'static str, &'static str) {
        match self {
            Self::None => ("", ""),
            Self::Straight => ("\"", "\""),
            Self::Curly => ("“", "”"),
            Self::Backtick => ("`", "`"),
        }
    }
}

/// A quoted text at the beginning of a longer text.
pub(super) struct Quoted<'a> {
    /// The text without quotes and escapes.
    pub(super) text: Cow<'a, str>,
    /// The byte offset of the end, including the quotes.
    pub(super) end: usize,
}

/// Parses the quoted text at the beginning of `text`; `None` if the quote is not closed.
pub(super) fn read(text: &str, quote: Quote) -> Option<Quoted<'_>> {
    let (open, close) = quote.signs();
    let body = text.strip_prefix(open).filter(|_| quote != Quote::None)?;
    // In UTF-8, no byte of another character equals a backslash or the first byte of a quote.
    let (bytes, mut at) = (body.as_bytes(), 0);
    while at < bytes.len() {
        if bytes[at] == b'\\' {
            at += 2;
        } else if bytes[at] == close.as_bytes()[0] && bytes[at..].starts_with(close.as_bytes()) {
            return Some(Quoted { text: unescape(&body[..at]), end: open.len() + at + close.len() });
        } else {
            at += 1;
        }
    }
    None
}

fn unescape(body: &str) -> Cow<'_, str> {
    if !body.contains('\\') {
        return Cow::Borrowed(body);
    }
    let mut text = String::with_capacity(body.len());
    let mut characters = body.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            Some(sign @ ('"' | '“' | '”' | '`' | '\\')) => text.push(sign),
            // An unknown escape is kept, as in a Windows path.
            Some(other) => text.extend(['\\', other]),
            None => text.push('\\'),
        }
    }
    Cow::Owned(text)
}

/// Writes a text in quotes, so that [`read`] returns the same.
pub(super) fn write(text: &str, quote: Quote) -> String {
    let quote = if quote == Quote::None { Quote::Straight } else { quote };
    let (open, close) = quote.signs();
    let mut written = String::with_capacity(text.len() + 2);
    written.push_str(open);
    for character in text.chars() {
        match character {
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            '\\' => written.push_str("\\\\"),
            sign if close.starts_with(sign) => written.extend(['\\', sign]),
            other => written.push(other),
        }
    }
    written.push_str(close);
    written
}
