//! Reads front matter that is not valid YAML line by line: many published agents have a description with a colon in it
//! (`description: Use this agent when … Examples: …`), which YAML rejects but their own programs accept. A file with a
//! value that is only half there (`tools: [Read`, `name: "Ada`) is not read: its author is still writing it.

use serde_json::Value;

use super::front_matter::{fenced, refused};
use crate::workspace::yaml;

/// A key of front matter with its value.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    /// The value; its raw text if it is not valid YAML.
    pub(super) value: Value,
    /// Whether the value on its own is not valid YAML.
    pub(super) is_bare: bool,
    /// Its line in the file, from 1.
    pub(super) line: Option<usize>,
}

/// The keys of a [normalised](super::front_matter::normalise) file and the text below them; `None` if its lines do not
/// form a list of keys with at least one known key, or if a value is incomplete.
pub(super) fn split<'a>(text: &'a str, is_known: &dyn Fn(&str) -> bool) -> Option<(Vec<Entry>, &'a str)> {
    let (yaml, body) = fenced(text).ok()??;
    let entries = entries(yaml)?;
    entries.iter().any(|entry| is_known(&entry.key)).then_some((entries, body))
}

/// The keys of a text that is not valid YAML; `None` if its lines do not form a list of keys, or if a value is
/// incomplete.
pub(super) fn entries(yaml: &str) -> Option<Vec<Entry>> {
    refused(yaml).ok()?;
    let blocks = blocks(yaml)?;
    if blocks.iter().any(Block::is_incomplete) {
        // A file that is only half written is not read: the last good version stays in use.
        rule!("half-written-files-are-not-read");
        return None;
    }
    // Front matter that YAML refuses, but in which every value is whole, is read line by line.
    rule!("front-matter-is-read-leniently");
    Some(blocks.iter().flat_map(Block::entries).collect())
}

/// The lines that belong to one key.
struct Block<'a> {
    key: &'a str,
    line: usize,
    /// The text after the colon, and the lines below.
    rest: &'a str,
    below: Vec<&'a str>,
}

/// Keys that restrict, in lower case without the characters between their words.
const LIMITING: [&str; 9] = [
    "tools",
    "reads",
    "writes",
    "safetymode",
    "allowedtools",
    "disallowedtools",
    "permissionmode",
    "permissions",
    "readonly",
];

impl Block<'_> {
    /// The key, and restrictions that occur literally in its text: they count if YAML cannot determine their structure.
    fn entries(&self) -> Vec<Entry> {
        let entry = self.entry();
        if !entry.is_bare {
            return vec![entry];
        }
        let limit = |(number, line): (usize, &&str)| {
            let (key, rest) = key_of(line)?;
            let folded: String = key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
            let block = Block { key, line: self.line + number, rest, below: Vec::new() };
            LIMITING.contains(&folded.as_str()).then(|| block.entry())
        };
        let limits: Vec<Entry> = (1..).zip(&self.below).filter_map(limit).collect();
        [entry].into_iter().chain(limits).collect()
    }

    fn entry(&self) -> Entry {
        let (key, line) = (self.key.to_owned(), Some(self.line + 1));
        // On its own, most text is valid YAML.
        let alone = format!("value: {}\n{}", self.rest, self.below.join("\n"));
        match yaml::parse(&alone) {
            Ok(Value::Object(mut read)) if read.len() == 1 && read.contains_key("value") => {
                Entry { key, value: read.remove("value").unwrap_or_default(), is_bare: false, line }
            }
            _ => Entry { key, value: Value::String(self.bare()), is_bare: true, line },
        }
    }

    /// Whether the value is not valid YAML because its end is missing.
    fn is_incomplete(&self) -> bool {
        let text = self.text();
        self.entry().is_bare && is_cut_off(text.trim())
    }

    fn text(&self) -> String {
        format!("{}\n{}", self.rest, self.below.join("\n"))
    }

    /// The text without quotes around it.
    fn bare(&self) -> String {
        let text = self.text().replace("\\n", "\n").replace("\\\"", "\"");
        let text = text.trim();
        let unquoted = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
        unquoted.unwrap_or(text).trim().to_owned()
    }
}

/// Whether a value that begins with a bracket or a quotation mark lacks its counterpart.
fn is_cut_off(value: &str) -> bool {
    match value.chars().next() {
        Some('[' | '{') => {
            let count = |signs: [char; 2]| value.matches(signs).count();
            count(['[', '{']) > count([']', '}'])
        }
        Some(quote @ ('"' | '\'')) => {
            let is_closed = value.len() > 1 && value.ends_with(quote);
            // A text may begin with a quoted word; inside of double quotes, a mark may be escaped.
            let marks = value.replace("\\\\", "").replace("\\\"", "").matches(quote).count();
            !is_closed && marks % 2 == 1
        }
        _ => false,
    }
}

/// Splits the lines into blocks that each begin with a key; `None` if they cannot be separated reliably.
fn blocks(yaml: &str) -> Option<Vec<Block<'_>>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut margin = None;
    for (number, line) in (1..).zip(yaml.lines()) {
        let is_blank = line.trim().is_empty();
        let indent = line.len() - line.trim_start_matches(' ').len();
        if margin.is_none() && (is_blank || line.trim_start().starts_with('#')) {
            continue;
        }
        let margin = *margin.get_or_insert(indent);
        let is_at_margin = !is_blank && indent <= margin;
        // Notations of a key that do not fit on a line of its own.
        if is_at_margin && (line.trim_start().starts_with("? ") || line.trim() == "?" || line.starts_with('%')) {
            return None;
        }
        match key_of(line).filter(|_| is_at_margin) {
            Some((key, _)) if key.contains('\\') => return None,
            Some((key, rest)) => blocks.push(Block { key, line: number, rest, below: Vec::new() }),
            None => blocks.last_mut()?.below.push(line),
        }
    }
    Some(blocks)
}

/// The key that a line begins with, and the text after its colon. Words with spaces between them are a sentence, unless
/// they restrict something.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let at = line.match_indices(':').map(|(at, _)| at).find(|at| {
        let next = line[at + 1..].chars().next();
        next.is_none_or(char::is_whitespace)
    })?;
    let key = line[..at].trim_end();
    let key = ['"', '\''].iter().find_map(|quote| key.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(key);
    let is_odd = key.is_empty() || key.starts_with(['-', '<', '[', '{', '!', '&', '*', '#', '|', '>', '@', '`']);
    let is_sentence = key.contains(char::is_whitespace) && !super::limits::limits_by_its_name(key);
    (!is_odd && !is_sentence).then(|| (key, line[at + 1..].trim()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(yaml: &str) -> Option<Vec<(String, Value)>> {
        let text = format!("---\n{yaml}\n---\nBody");
        let (entries, body) = split(&text, &|key| key == "name" || key == "tools")?;
        assert_eq!(body, "Body");
        Some(entries.into_iter().map(|entry| (entry.key, entry.value)).collect())
    }

    fn pairs(pairs: &[(&str, Value)]) -> Option<Vec<(String, Value)>> {
        Some(pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
    }

    #[test]
    fn a_colon_in_a_text_does_not_spoil_the_other_keys() {
        checks_rule!("front-matter-is-read-leniently");
        let read =
            read("name: rapid\ndescription: Use it when: now\\n\\nExamples: <a>x: y</a>\ntools: [Read]\ncolor: red");
        let description = "Use it when: now\n\nExamples: <a>x: y</a>";
        assert_eq!(
            read,
            pairs(&[
                ("name", json!("rapid")),
                ("description", json!(description)),
                ("tools", json!(["Read"])),
                ("color", json!("red")),
            ])
        );
    }

    #[test]
    fn lines_without_a_key_belong_to_the_key_above() {
        let read =
            read("name: x\ndescription: Helps: a lot.\n\n<example>\nmore words\n</example>\ntools:\n  - Read\n- Edit")
                .unwrap();
        assert_eq!(read[1].1, json!("Helps: a lot.\n\n<example>\nmore words\n</example>"));
        assert_eq!(read[2].1, json!("- Read\n- Edit"), "a list that YAML refuses is bare text");
        let nested = self::read("name: a: b\npermissions:\n  deny: [Write]").unwrap();
        assert_eq!(nested[1].1, json!({ "deny": ["Write"] }));
    }

    #[test]
    fn values_with_brackets_or_quotation_marks_that_are_closed_are_whole() {
        for (value, expected) in [
            ("[sic] it is: so", "[sic] it is: so"),
            ("\"Reviews\" code: all of it", "\"Reviews\" code: all of it"),
            ("'it's: fine'", "it's: fine"),
            ("{a}: {b} c: d", "{a}: {b} c: d"),
            ("when: it's [unclear", "when: it's [unclear"),
        ] {
            let read = read(&format!("name: x\ndescription: {value}")).unwrap();
            assert_eq!(read[1].1, json!(expected), "{value}");
        }
    }

    #[test]
    fn forms_that_cannot_be_distinguished_are_refused() {
        checks_rule!("half-written-files-are-not-read");
        for yaml in [
            "words: only: here",
            "{ name: x, tools: [",
            "? tools\n: []\nname: a: b",
            "name: a: b\n? tools",
            "\"to\\u006fls\": a: b\nname: x",
            "- name: x: y",
            "words\nname: x: y",
            "name: [broken",
            "name: x\ntools: [Read",
            "name: x\ntools: {a: [b}",
            "name: x\ntools:\n  [Read,\n  Write",
            "name: \"x",
            "name: x\ndescription: \"so far",
            "name: 'x\ndescription: it is: so",
            "name: x\ndescription: \"a \\\" b: c",
        ] {
            assert_eq!(read(yaml), None, "{yaml:?}");
        }
    }
}
