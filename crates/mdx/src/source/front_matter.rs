//! Splits a text into its YAML front matter and the rest, without changing a byte of either.

use serde_json::{Map, Value};

use super::ByteRange;
use crate::base::yaml;

/// The maximum size of front matter in bytes; a longer one is rejected without parsing, since the parser is slow on
/// invalid input.
pub const MAX_FRONT_MATTER_BYTES: usize = 64 * 1024;

/// The front matter of a text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FrontMatter {
    /// The keys in order; empty if there is no front matter.
    pub keys: Map<String, Value>,
    /// The text between the fences.
    pub yaml: ByteRange,
    /// The range from the closing fence to the end of the text.
    pub body: ByteRange,
}

/// Why front matter cannot be used. The text below it can still be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct FrontMatterError {
    /// The error, as one sentence without a full stop.
    pub what: String,
    /// The line of the text, counted from 1.
    pub line: usize,
    /// The range below the front matter; the whole text if the front matter never ends.
    pub body: ByteRange,
}

impl FrontMatter {
    /// The value of a key, if it is present and is a text or a number.
    pub fn text(&self, key: &str) -> Option<String> {
        match self.keys.get(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

/// Splits a text. One that does not begin with a line `---` has no front matter. A byte order mark and any kind of line
/// break are accepted.
pub fn split_front_matter(text: &str) -> Result<FrontMatter, FrontMatterError> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let whole = start..text.len();
    let Some((yaml, body)) = fences(text, start) else {
        if starts_with_fence(&text[start..]) {
            let what = "the front matter that starts with --- is not closed".to_owned();
            return Err(FrontMatterError { what, line: 1, body: whole });
        }
        return Ok(FrontMatter { body: whole, ..FrontMatter::default() });
    };
    let refused = |what: String, line: usize| FrontMatterError { what, line, body: body.clone() };
    if yaml.len() > MAX_FRONT_MATTER_BYTES {
        let what = format!("the front matter is longer than {} KiB", MAX_FRONT_MATTER_BYTES / 1024);
        return Err(refused(what, 1));
    }
    let plain = text[yaml.clone()].replace("\r\n", "\n").replace('\r', "\n");
    match yaml::from_str::<Value>(&plain) {
        Ok(Value::Object(keys)) => Ok(FrontMatter { keys, yaml, body }),
        Ok(Value::Null) => Ok(FrontMatter { keys: Map::new(), yaml, body }),
        Ok(_) => Err(refused("the front matter is not a mapping of keys".to_owned(), 2)),
        Err(error) => {
            let line = error.line.unwrap_or(1) + 1;
            Err(refused(format!("the front matter is not valid YAML: {error}"), line))
        }
    }
}

fn starts_with_fence(text: &str) -> bool {
    lines_with_ends(text).next().is_some_and(is_fence)
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

/// Returns the ranges between and below the fences.
fn fences(text: &str, start: usize) -> Option<(ByteRange, ByteRange)> {
    let mut lines = lines_with_ends(&text[start..]);
    let first = lines.next().filter(|line| is_fence(line))?;
    let yaml_start = start + first.len();
    let mut at = yaml_start;
    for line in lines {
        if is_fence(line) {
            return Some((yaml_start..at, at + line.len()..text.len()));
        }
        at += line.len();
    }
    None
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

    #[test]
    fn keys_and_body_are_split_with_any_line_breaks() {
        for text in [
            "---\nname: Ada\nage: 3\n---\n# Hi\n",
            "---\r\nname: Ada\r\nage: 3\r\n---\r\n# Hi\n",
            "---\rname: Ada\rage: 3\r---\r# Hi\n",
            "\u{feff}---  \nname: Ada\nage: 3\n---\n# Hi\n",
        ] {
            let front = split_front_matter(text).unwrap();
            assert_eq!(front.text("name").as_deref(), Some("Ada"), "{text:?}");
            assert_eq!(front.text("age").as_deref(), Some("3"));
            assert_eq!(&text[front.body], "# Hi\n");
        }
    }

    #[test]
    fn a_text_without_front_matter_is_all_body() {
        for text in ["", "# Hi\n---\n", "----\nname: x\n----\n", "text"] {
            let front = split_front_matter(text).unwrap();
            assert_eq!((&text[front.body], front.keys.len()), (text, 0));
        }
        assert_eq!(split_front_matter("---\n---\nbody").unwrap().keys.len(), 0);
    }

    #[test]
    fn invalid_front_matter_is_reported_and_keeps_the_body() {
        let refused = |text: &str| {
            let error = split_front_matter(text).unwrap_err();
            (error.line, text[error.body].to_owned())
        };
        assert_eq!(refused("---\nname: Ada\n"), (1, "---\nname: Ada\n".to_owned()));
        assert_eq!(refused("---\njust words\n---\nB"), (2, "B".to_owned()));
        assert_eq!(refused("---\nname: Ada\ntools: [a\n---\nB").1, "B");
        let long = format!("---\nx: {}\n---\nB", "y".repeat(MAX_FRONT_MATTER_BYTES));
        assert_eq!(refused(&long), (1, "B".to_owned()));
    }
}
