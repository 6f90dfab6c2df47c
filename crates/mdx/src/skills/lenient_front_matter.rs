//! Parses the front matter of a skill line by line if it is not valid YAML: many published skills have a colon in their
//! description.

use serde_json::{Map, Value};

use crate::source::{ByteRange, FrontMatterError, split_front_matter};

/// Returns the keys of a skill, the range of its body, and why the keys had to be parsed line by line.
pub(super) fn read(text: &str) -> (Map<String, Value>, ByteRange, Option<FrontMatterError>) {
    match split_front_matter(text) {
        Ok(front) => (front.keys, front.body, None),
        Err(error) => {
            let keys = by_lines(&text[..error.body.start.min(text.len())]);
            (keys, error.body.clone(), Some(error))
        }
    }
}

/// Parses every line that begins with a key, together with the indented lines below it.
fn by_lines(front: &str) -> Map<String, Value> {
    let mut keys: Vec<(String, String)> = Vec::new();
    for line in front.lines().filter(|line| line.trim_end() != "---") {
        let is_indented = line.starts_with([' ', '\t']);
        match line.split_once(':').filter(|(key, _)| !is_indented && is_key(key)) {
            Some((key, value)) => keys.push((key.to_owned(), unquoted(value))),
            None => {
                if let Some((_, text)) = keys.last_mut() {
                    text.push(' ');
                    text.push_str(line.trim());
                }
            }
        }
    }
    keys.into_iter().map(|(key, text)| (key, Value::String(text.trim().to_owned()))).collect()
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

fn unquoted(value: &str) -> String {
    let value = value.trim();
    let block = matches!(value, ">" | "|" | ">-" | "|-" | ">+" | "|+");
    let inner = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    if block { String::new() } else { inner.unwrap_or(value).to_owned() }
}
