//! Splits a Markdown file into its YAML front matter and its body, and reads the front matter as plain data.

use serde_json::{Map, Value};

use crate::workspace::yaml;

/// The maximum size of front matter in bytes; it is refused before parsing if longer.
const MAX_BYTES: usize = 64 * 1024;

/// Why front matter cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct FrontMatterError {
    /// The error, as one sentence without a full stop.
    pub what: String,
    /// The line in the file, from 1, if known.
    pub line: Option<usize>,
}

impl FrontMatterError {
    fn new(what: impl Into<String>, line: usize) -> Self {
        Self { what: what.into(), line: Some(line) }
    }
}

/// The text without byte order mark, with `
/// ` as line ends.
pub fn normalise(text: &str) -> String {
    text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n")
}

/// A file split into the keys of its front matter (empty if it has none) and the text below.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FrontMatter<'a> {
    /// The keys as written.
    pub keys: Map<String, Value>,
    /// The text between the fences, for finding lines.
    pub yaml: &'a str,
    /// The text below the closing fence, without leading blank lines.
    pub body: &'a str,
}

impl FrontMatter<'_> {
    /// The line of a key in the file, from 1.
    pub fn line_of(&self, key: &str) -> Option<usize> {
        let at = self.yaml.lines().position(|line| {
            let line = line.trim_start_matches(['"', '\'']);
            line.strip_prefix(key).is_some_and(|rest| rest.trim_start_matches(['"', '\'', ' ']).starts_with(':'))
        })?;
        Some(at + 2)
    }
}

/// Splits a [normalised](normalise) file. A file that does not begin with a line `---` has no front matter.
pub fn split(text: &str) -> Result<FrontMatter<'_>, FrontMatterError> {
    let Some((yaml, body)) = fenced(text)? else { return Ok(FrontMatter { body: text, ..FrontMatter::default() }) };
    Ok(FrontMatter { keys: read_keys(yaml)?, yaml, body })
}

/// The text below the front matter of a [normalised](normalise) file, whatever the front matter contains.
pub fn below(text: &str) -> &str {
    fenced(text).ok().flatten().map_or(text, |(_, body)| body)
}

/// The text between the fences and the text below them; `None` if there is no front matter.
pub fn fenced(text: &str) -> Result<Option<(&str, &str)>, FrontMatterError> {
    let is_fence = |line: &str| line.trim_end() == "---";
    let Some(first) = text.lines().next().filter(|line| is_fence(line)) else { return Ok(None) };
    let start = (first.len() + 1).min(text.len());
    let mut end = start;
    for line in text[start..].split_inclusive('\n') {
        if is_fence(line) {
            return Ok(Some((&text[start..end], text[end + line.len()..].trim_start_matches('\n'))));
        }
        end += line.len();
    }
    Err(FrontMatterError::new("the front matter that starts with --- is not closed", 1))
}

/// Rejects front matter that must not be parsed at all.
pub(super) fn refused(yaml: &str) -> Result<(), FrontMatterError> {
    if yaml.len() > MAX_BYTES {
        return Err(FrontMatterError::new(format!("the front matter is longer than {} KiB", MAX_BYTES / 1024), 1));
    }
    // YAML ignores such a mark at its beginning and takes it for a letter of a key elsewhere: the same line would
    // change its meaning if a line were inserted above it.
    match yaml.lines().position(|line| line.contains('\u{feff}')) {
        Some(line) => {
            Err(FrontMatterError::new("the front matter contains an invisible byte order mark (U+FEFF)", line + 2))
        }
        None => Ok(()),
    }
}

fn read_keys(yaml: &str) -> Result<Map<String, Value>, FrontMatterError> {
    refused(yaml)?;
    let value = yaml::parse(yaml).map_err(|error| FrontMatterError {
        what: format!("the front matter is not valid YAML: {}", error.what),
        line: error.line.map(|line| line + 1),
    })?;
    match value {
        Value::Object(keys) => Ok(keys),
        Value::Null => Ok(Map::new()),
        _ => Err(FrontMatterError::new("the front matter is not a mapping of keys", 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_body_are_distinguished() {
        let front = split("---\nname: Ada\ntools: [a]\n---\n\n# Hi\n").unwrap();
        assert_eq!(front.keys["name"], "Ada");
        assert_eq!(front.body, "# Hi\n");
        assert_eq!(front.line_of("tools"), Some(3));
        assert_eq!(split("# Hi\n---\n").unwrap().body, "# Hi\n---\n");
        assert_eq!(split("---\n---\nbody").unwrap().body, "body");
        assert_eq!(split("").unwrap().body, "");
    }

    #[test]
    fn marks_of_other_editors_are_tolerated() {
        let text = normalise("\u{feff}---\r\nname: Ada\r\n---\r\nHello\r\n");
        assert_eq!(split(&text).unwrap().body, "Hello\n");
    }

    #[test]
    fn errors_have_a_line() {
        let line = |text: &str| split(text).unwrap_err().line;
        assert_eq!(line("---\nname: Ada\n"), Some(1));
        assert_eq!(line("---"), Some(1));
        assert_eq!(line("---\njust words\n---\n"), Some(2));
        assert_eq!(line("---\nname: Ada\n\u{feff}tools: [a]\n---\n"), Some(3));
        assert!(line("---\nname: Ada\ntools: [a\n---\n").is_some());
        assert!(split("---\nname: a\nname: b\n---\n").is_err());
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let mut yaml = String::from("---\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for level in 1..12 {
            let alias = format!("*a{}", level - 1);
            yaml += &format!("a{level}: &a{level} [{}]\n", vec![alias; 10].join(","));
        }
        yaml += "---\nbody\n";
        assert!(split(&yaml).is_err());
    }
}
