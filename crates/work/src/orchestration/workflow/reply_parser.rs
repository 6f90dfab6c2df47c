//! Finds outputs in the final answer of an agent: in a data block, or below their names.
//!
//! Works line by line, without a Markdown parser: a name and a colon at the start of a line are not a Markdown
//! construct, and the text below is taken verbatim, with its lists and emphasis. A block that is never closed contains
//! no outputs.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::workspace::yaml;

/// The words that may follow the fence of a block of outputs.
const BLOCKS: [&str; 6] = ["outputs", "output", "json", "yaml", "yml", ""];

/// Finds the outputs with these names in an answer.
pub fn outputs(words: &str, names: &[&str]) -> BTreeMap<String, Value> {
    let mut found = in_blocks(words, names);
    for (name, value) in below_names(words, names) {
        found.entry(name).or_insert(value);
    }
    found
}

/// Reads outputs from fenced mappings; a later value replaces an earlier one.
fn in_blocks(words: &str, names: &[&str]) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let mut block: Option<(bool, String)> = None;
    for line in words.lines() {
        let fence = line.trim_start().strip_prefix("```");
        match (&mut block, fence) {
            (None, Some(info)) => {
                let is_data = BLOCKS.contains(&info.trim().to_lowercase().as_str());
                block = Some((is_data, String::new()));
            }
            (Some((is_data, text)), Some(_)) => {
                if let (true, Ok(Value::Object(map))) = (*is_data, yaml::parse(text)) {
                    let named = map.into_iter().filter_map(|(key, value)| Some((matching_name(&key, names)?, value)));
                    found.extend(named.filter(|(_, value)| !value.is_null()));
                }
                block = None;
            }
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

/// Reads outputs below a line that begins with a name and a colon, or below a heading with the name, up to the next.
fn below_names(words: &str, names: &[&str]) -> BTreeMap<String, Value> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut current: Option<String> = None;
    for line in words.lines() {
        if let Some((name, rest)) = label(line, names) {
            found.insert(name.clone(), rest.to_owned());
            current = Some(name);
        } else if let Some(text) = current.as_ref().and_then(|name| found.get_mut(name)) {
            text.push('\n');
            text.push_str(line);
        }
    }
    let texts = found.into_iter().map(|(name, text)| (name, text.trim().to_owned()));
    texts.filter(|(_, text)| !text.is_empty()).map(|(name, text)| (name, Value::String(text))).collect()
}

/// The output name that a line begins with, and the rest of the line.
fn label<'a>(line: &'a str, names: &[&str]) -> Option<(String, &'a str)> {
    const MARKS: [char; 6] = ['#', '*', '_', '>', '-', ' '];
    let is_heading = line.trim_start().starts_with('#');
    let bare = line.trim().trim_start_matches(MARKS);
    if let Some((head, rest)) = bare.split_once(':')
        && let Some(name) = matching_name(head.trim_end_matches(MARKS), names)
    {
        return Some((name, rest.trim_start_matches(['*', '_', ' '])));
    }
    let name = matching_name(bare.trim_end_matches(MARKS), names).filter(|_| is_heading)?;
    Some((name, ""))
}

/// The name that a word matches, ignoring case and how its parts are joined.
pub(super) fn matching_name(word: &str, names: &[&str]) -> Option<String> {
    let plain = |word: &str| word.trim().to_lowercase().replace([' ', '-'], "_");
    let word = plain(word);
    names.iter().find(|name| plain(name) == word).map(|name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(words: &str, names: &[&str]) -> Value {
        json!(outputs(words, names))
    }

    #[test]
    fn outputs_are_read_from_a_data_block() {
        let words = "Here it is.\n```outputs\nfindings: |\n  one\n  two\napproved: yes\nother: 1\n```\nBye.";
        assert_eq!(found(words, &["findings", "approved"]), json!({ "findings": "one\ntwo\n", "approved": "yes" }));
        let words = "```json\n{\"Review Report\": [1, 2]}\n```";
        assert_eq!(found(words, &["review_report"]), json!({ "review_report": [1, 2] }));
        assert_eq!(found("```\nnot: [closed\n", &["not"]), json!({ "not": "[closed" }));
    }

    #[test]
    fn outputs_are_read_below_their_names() {
        let words = "I looked.\n\n## Findings\n- tea\n- cake\n\n**Approved:** no, it is short\nComments: more\n";
        let found = found(words, &["findings", "approved", "comments"]);
        assert_eq!(found, json!({ "findings": "- tea\n- cake", "approved": "no, it is short", "comments": "more" }));
        assert_eq!(self::found("The findings are good.\nFindings", &["findings"]), json!({}));
    }
}
