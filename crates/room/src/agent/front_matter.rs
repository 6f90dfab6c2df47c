//! Splits a Markdown file into its YAML front matter and its body, and reads the front matter as plain data.

use serde_json::{Map, Value};

pub use crate::text::front_matter::KeysError as FrontMatterError;
pub(super) use crate::text::front_matter::check as refused;
use crate::text::front_matter::{NotClosed, Places, find, keys, with_unix_line_ends};

/// The text without byte order mark, with `\n` as line ends.
pub fn normalise(text: &str) -> String {
    with_unix_line_ends(text.strip_prefix('\u{feff}').unwrap_or(text))
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
    Ok(FrontMatter { keys: keys(yaml)?, yaml, body })
}

/// The text below the front matter of a [normalised](normalise) file, whatever the front matter contains.
pub fn below(text: &str) -> &str {
    fenced(text).ok().flatten().map_or(text, |(_, body)| body)
}

/// The text between the fences and the text below them; `None` if there is no front matter.
pub fn fenced(text: &str) -> Result<Option<(&str, &str)>, FrontMatterError> {
    if text.starts_with('\u{feff}') {
        // The one mark that a file may begin with is not in a normalised text.
        return Ok(None);
    }
    let not_closed = |error: NotClosed| FrontMatterError { what: error.to_string(), line: Some(1) };
    let places = find(text).map_err(not_closed)?;
    Ok(places.map(|Places { yaml, body }| (&text[yaml], text[body].trim_start_matches('\n'))))
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
