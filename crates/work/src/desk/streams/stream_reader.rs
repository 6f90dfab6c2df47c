//! Reads new lines of a stream of messages: a file with one JSON object per line to which others append. Pure.
//!
//! Each line counts once: reading continues where it stopped as long as the text before that position is unchanged. If
//! it changed because the file was truncated, rotated or edited, the file is read from its beginning, and lines that
//! were already read are skipped. An incomplete last line counts once it is complete.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::hash::content_hash;
use crate::base::text::{one_line, truncate};

/// The number of lines that are remembered, so that they are not delivered again if a stream starts over.
const MAX_REMEMBERED: usize = 20_000;
/// The maximum size of a line in bytes; longer lines are skipped.
const MAX_LINE_BYTES: usize = 64 * 1024;
/// The maximum length of names in a message in characters.
const NAME_CHARS: usize = 200;
/// The maximum length of a message text in characters.
const TEXT_CHARS: usize = 16_000;

/// The read position in a stream. Part of the saved world.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamPosition {
    /// The number of bytes that were read.
    bytes: usize,
    /// Hash of these bytes.
    hash: u64,
    /// The number of lines in these bytes.
    lines: usize,
    /// Hashes of the lines that were read last.
    taken: VecDeque<u64>,
    /// Lines that were delivered before the stream started over and have not occurred again: hash and number of
    /// occurrences.
    passed_over: BTreeMap<u64, u32>,
}

/// An incoming message.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IncomingMessage {
    /// The sender, as given in the message.
    pub from: String,
    /// The recipient, if given: an agent or an inbox.
    pub to: Option<String>,
    /// The subject.
    pub subject: String,
    /// The text.
    pub text: String,
    /// The channel, if given.
    pub channel: Option<String>,
    /// The time, as given in the message.
    pub time: Option<String>,
}

/// A new line of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewLine {
    /// The line number, from 1.
    pub number: usize,
    /// The message, or why the line is not one.
    pub message: Result<IncomingMessage, String>,
    /// The number of bytes of the text up to the end of the line.
    end: usize,
    hash: u64,
}

impl StreamPosition {
    /// Whether this text begins with the text that was read.
    fn is_continued_by(&self, text: &str) -> bool {
        text.as_bytes().get(..self.bytes).is_some_and(|read| content_hash(read) == self.hash)
    }

    /// Starts over if this text does not begin with the text that was read. Returns whether it did.
    pub fn follow(&mut self, text: &str) -> bool {
        if self.bytes == 0 || self.is_continued_by(text) {
            return false;
        }
        for hash in std::mem::take(&mut self.taken) {
            *self.passed_over.entry(hash).or_default() += 1;
        }
        (self.bytes, self.lines, self.hash) = (0, 0, content_hash(b""));
        true
    }

    /// The next new line of a text after [`Self::follow`]; `None` if there is no further complete line. Lines that
    /// were delivered before are skipped.
    pub fn next(&mut self, text: &str) -> Option<NewLine> {
        loop {
            let rest = text.get(self.bytes..).filter(|rest| !rest.is_empty())?;
            let (line, is_ended) = rest.split_once('\n').map_or((rest, false), |(line, _)| (line, true));
            let end = self.bytes + line.len() + usize::from(is_ended);
            let content = line.trim();
            // A truncated object cannot be parsed, so a line that can be parsed is complete.
            if !is_ended && read(content).is_err() {
                return None;
            }
            let hash = content_hash(content.as_bytes());
            let new = NewLine { number: self.lines + 1, message: read(content), end, hash };
            let is_old = self.passed_over.get(&hash).is_some_and(|left| *left > 0);
            if !content.is_empty() && !is_old {
                return Some(new);
            }
            if let Some(left) = self.passed_over.get_mut(&hash).filter(|_| is_old) {
                // Each line of a stream reaches an agent once, even if the file is cut, rotated or edited.
                rule!("each-message-arrives-once");
                *left -= 1;
                self.passed_over.retain(|_, left| *left > 0);
            }
            self.mark_read(text, &new);
        }
    }

    /// Marks a line as read.
    pub fn mark_read(&mut self, text: &str, line: &NewLine) {
        let ended = text.as_bytes().get(..line.end).unwrap_or_default();
        (self.bytes, self.hash) = (line.end, content_hash(ended));
        self.lines += usize::from(ended.ends_with(b"\n"));
        self.taken.push_back(line.hash);
        let surplus = self.taken.len().saturating_sub(MAX_REMEMBERED);
        self.taken.drain(..surplus);
    }
}

/// Parses a line.
pub fn read(line: &str) -> Result<IncomingMessage, String> {
    if line.len() > MAX_LINE_BYTES {
        return Err(format!("it is longer than {} KiB", MAX_LINE_BYTES / 1024));
    }
    let value: Value = serde_json::from_str(line).map_err(|error| format!("it is not valid JSON: {error}"))?;
    let Value::Object(keys) = value else { return Err("it is not a JSON object".to_owned()) };
    let text = first(&keys, &["text", "body", "content", "message"]).unwrap_or_default();
    let subject = first(&keys, &["subject", "title"]).unwrap_or_default();
    if text.trim().is_empty() && subject.trim().is_empty() {
        return Err("it has neither text nor subject".to_owned());
    }
    let named = |names: &[&str]| first(&keys, names).map(|name| truncate(&one_line(&name), NAME_CHARS));
    Ok(IncomingMessage {
        from: named(&["from", "user", "sender", "author"]).unwrap_or_else(|| "somebody".to_owned()),
        to: named(&["to", "recipient"]).map(|to| to.trim_start_matches('@').to_owned()),
        subject: truncate(&one_line(&subject), NAME_CHARS),
        text: truncate(text.trim(), TEXT_CHARS),
        channel: named(&["channel"]),
        time: named(&["ts", "timestamp", "date", "time"]),
    })
}

/// The first non-empty value of these keys: a text or a number, or the name in an object.
fn first(keys: &Map<String, Value>, names: &[&str]) -> Option<String> {
    let said = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(of) => {
            ["name", "real_name", "id"].iter().find_map(|name| Some(of.get(*name)?.as_str()?.to_owned()))
        }
        _ => None,
    };
    names.iter().find_map(|name| said(keys.get(*name)?)).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
#[path = "stream_reader_tests.rs"]
mod tests;
