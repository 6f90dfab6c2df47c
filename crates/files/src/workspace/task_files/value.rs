//! Values of keys: their types, and how they are written so that they are parsed back unchanged.

use super::keys::is_key_word;
use super::model::{Quote, Value};
use super::quoting;

/// The maximum number of digits of a number. Longer ones are text, because they would not be exact.
const MAX_DIGITS: usize = 15;

/// The key whose value is always text.
pub const ID_KEY: &str = "id";

/// Parses an unquoted value.
pub(super) fn of_plain(text: &str, key: &str) -> Value {
    match text {
        "" => Value::Empty,
        text if key.eq_ignore_ascii_case(ID_KEY) => Value::Text(text.into()),
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => match number(text) {
            Some(number) => Value::Number(number, text.into()),
            None => Value::Text(text.into()),
        },
    }
}

/// Parses a number. One with a leading zero is text, such as a code.
pub fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, part) = digits.split_once('.').map_or((digits, None), |(whole, part)| (whole, Some(part)));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = is_digits(whole)
        && part.is_none_or(is_digits)
        && (whole == "0" || !whole.starts_with('0'))
        && text != "-0"
        && digits.len() <= MAX_DIGITS;
    is_number.then(|| text.parse().ok()).flatten()
}

impl Value {
    /// Returns the value as it is written after its colon and a space. `indent` is that of its key; `None` on the
    /// title's line.
    pub(super) fn formatted(&self, key: &str, indent: Option<usize>, line_end: &str) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Bool(value) => value.to_string(),
            Self::Number(_, written) => written.to_string(),
            Self::Text(text) => match indent {
                Some(indent) if is_block(text) => block(text, indent, line_end),
                _ if is_plain(text, key, indent.is_none()) => text.to_string(),
                _ => quoting::write(text, Quote::Straight),
            },
        }
    }

    /// Returns the value as text, as a person would write it.
    pub fn text(&self) -> &str {
        match self {
            Self::Empty => "",
            Self::Bool(true) => "true",
            Self::Bool(false) => "false",
            Self::Number(_, written) => written,
            Self::Text(text) => text,
        }
    }
}

/// Whether a text is parsed as itself without quotes.
fn is_plain(text: &str, key: &str, is_inline: bool) -> bool {
    let is_own = of_plain(text, key) == Value::Text(text.into());
    let is_safe = text.trim() == text
        && Quote::of_text(text) == Quote::None
        && !is_block_sign(text)
        && !text.ends_with("-->")
        && !text.contains(['\n', '\r']);
    is_own && is_safe && !(is_inline && (text.contains(char::is_whitespace) || is_key_word(text)))
}

/// Whether the text after a colon starts a block.
pub(super) fn is_block_sign(text: &str) -> bool {
    matches!(text, "|" | "|-" | "|+")
}

/// Whether a text is parsed back from a block unchanged.
fn is_block(text: &str) -> bool {
    let is_safe = |line: &str| (line.is_empty() || !line.trim().is_empty()) && !line.trim_end().ends_with("-->");
    text.contains('\n')
        && !text.contains('\r')
        && !text.starts_with([' ', '\t', '\n'])
        && !text.ends_with('\n')
        && text.split('\n').all(is_safe)
}

fn block(text: &str, indent: usize, line_end: &str) -> String {
    let mut written = "|".to_owned();
    for line in text.split('\n') {
        written.push_str(line_end);
        if !line.is_empty() {
            written.extend(std::iter::repeat_n(' ', indent + 2));
            written.push_str(line);
        }
    }
    written
}
