//! The front matter of a document: its keys and where the text below it is, also if the keys cannot be read.

use serde_json::{Map, Value};

use super::ByteRange;
pub use crate::text::front_matter::MAX_FRONT_MATTER_BYTES;
use crate::text::front_matter::{Places, find, keys};

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
    match find(text) {
        Err(error) => Err(FrontMatterError { what: error.to_string(), line: 1, body: whole }),
        Ok(None) => Ok(FrontMatter { body: whole, ..FrontMatter::default() }),
        Ok(Some(Places { yaml, body })) => match keys(&text[yaml.clone()]) {
            Ok(keys) => Ok(FrontMatter { keys, yaml, body }),
            Err(error) => Err(FrontMatterError { what: error.what, line: error.line.unwrap_or(2), body }),
        },
    }
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
