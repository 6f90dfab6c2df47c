//! The YAML front matter of a file, between two lines `---` at its beginning, read without changing a byte of it.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::text::yaml;

/// The maximum size of front matter in bytes; it is refused before parsing if longer, since the parser is slow on invalid
/// input.
pub const MAX_FRONT_MATTER_BYTES: usize = 64 * 1024;

/// Where the parts of a file are, in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places {
    /// Between the two lines.
    pub yaml: Range<usize>,
    /// Below the second line, to the end of the file.
    pub body: Range<usize>,
}

/// The front matter of a file that does not end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the front matter that starts with --- is not closed")]
pub struct NotClosed;

/// Why the keys of front matter cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct KeysError {
    /// The error, as one sentence without a full stop.
    pub what: String,
    /// The line in the file, from 1, if known.
    pub line: Option<usize>,
}

impl KeysError {
    fn new(what: impl Into<String>, line: usize) -> Self {
        Self { what: what.into(), line: Some(line) }
    }
}

/// Finds the front matter of a file; `None` if the file does not begin with a line `---`. A byte order mark and any kind
/// of line break are accepted.
pub fn find(text: &str) -> Result<Option<Places>, NotClosed> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lines = lines_with_ends(&text[start..]);
    let Some(first) = lines.next().filter(|line| is_fence(line)) else { return Ok(None) };
    let yaml_start = start + first.len();
    let mut at = yaml_start;
    for line in lines {
        if is_fence(line) {
            return Ok(Some(Places { yaml: yaml_start..at, body: at + line.len()..text.len() }));
        }
        at += line.len();
    }
    Err(NotClosed)
}

/// Refuses front matter that must not be parsed at all.
pub fn check(yaml: &str) -> Result<(), KeysError> {
    if yaml.len() > MAX_FRONT_MATTER_BYTES {
        let what = format!("the front matter is longer than {} KiB", MAX_FRONT_MATTER_BYTES / 1024);
        return Err(KeysError::new(what, 1));
    }
    // YAML ignores such a mark at its beginning and takes it for a letter of a key elsewhere: the same line would
    // change its meaning if a line were inserted above it.
    match lines_with_ends(yaml).position(|line| line.contains('\u{feff}')) {
        Some(line) => Err(KeysError::new("the front matter contains an invisible byte order mark (U+FEFF)", line + 2)),
        None => Ok(()),
    }
}

/// Reads the keys of front matter as plain data, in order.
pub fn keys(yaml: &str) -> Result<Map<String, Value>, KeysError> {
    check(yaml)?;
    let value = yaml::parse(&with_unix_line_ends(yaml)).map_err(|error| KeysError {
        what: format!("the front matter is not valid YAML: {}", error.what),
        line: error.line.map(|line| line + 1),
    })?;
    match value {
        Value::Object(keys) => Ok(keys),
        Value::Null => Ok(Map::new()),
        _ => Err(KeysError::new("the front matter is not a mapping of keys", 2)),
    }
}

/// The text with `\n` as line ends.
pub fn with_unix_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

/// Returns the lines of a text with their line breaks, which may be `\r` alone.
fn lines_with_ends(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.find(['\n', '\r']).map(|at| if rest[at..].starts_with("\r\n") { at + 2 } else { at + 1 });
        let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<(&str, &str)> {
        find(text).expect("it is closed").map(|Places { yaml, body }| (&text[yaml], &text[body]))
    }

    #[test]
    fn front_matter_is_found_with_any_line_breaks() {
        assert_eq!(parts("---\nname: Ada\n---\n# Hi\n"), Some(("name: Ada\n", "# Hi\n")));
        assert_eq!(parts("---\r\nname: Ada\r\n---\r\n# Hi\n"), Some(("name: Ada\r\n", "# Hi\n")));
        assert_eq!(parts("---\rname: Ada\r---\r# Hi\n"), Some(("name: Ada\r", "# Hi\n")));
        assert_eq!(parts("\u{feff}---  \nname: Ada\n---"), Some(("name: Ada\n", "")));
        assert_eq!(parts("---\n---\nbody"), Some(("", "body")));
    }

    #[test]
    fn a_file_that_begins_otherwise_has_none() {
        for text in ["", "# Hi\n---\n", "----\nname: x\n----\n", "text", " ---\nx: 1\n---\n"] {
            assert_eq!(parts(text), None, "{text:?}");
        }
        assert_eq!(find("---\nname: Ada\n"), Err(NotClosed));
        assert_eq!(find("---"), Err(NotClosed));
    }

    #[test]
    fn keys_that_cannot_be_read_are_refused_with_a_line() {
        let line = |yaml: &str| keys(yaml).expect_err("it is refused").line;
        assert_eq!(line("just words\n"), Some(2));
        assert_eq!(line("name: Ada\n\u{feff}tools: [a]\n"), Some(3));
        assert_eq!(line("name: Ada\r\u{feff}tools: [a]\r"), Some(3));
        assert_eq!(line(&format!("x: {}\n", "y".repeat(MAX_FRONT_MATTER_BYTES))), Some(1));
        assert!(line("name: Ada\ntools: [a\n").is_some());
        assert!(keys("name: a\nname: b\n").is_err());
        assert_eq!(keys("name: Ada\rage: 3\r").map(|keys| keys.len()), Ok(2));
        assert_eq!(keys("").map(|keys| keys.len()), Ok(0));
    }
}
