//! The keys of a mapping in front matter, each read as the type that it should have, with its line.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::base::Problem;
use crate::base::text::nearest;
use crate::workspace::yaml_syntax::{YamlNode, parse_syntax};

/// Keys whose values begin with a brace without being mappings.
const BRACED: [&str; 3] = ["when", "for_each", "repeat_until"];

/// Quotes the values of these keys if they begin with a brace, which YAML would read as a mapping. Line numbers stay
/// the same.
pub fn quoted_braces(yaml: &str) -> Cow<'_, str> {
    let quoted = |line: &str| -> Option<String> {
        let bare = line.trim_start().trim_start_matches("- ").trim_start();
        let key =
            BRACED.iter().find(|key| bare.starts_with(*key) && bare[key.len()..].trim_start().starts_with(':'))?;
        let colon = line.find(key)? + line[line.find(key)?..].find(':')? + 1;
        let (head, value) = line.split_at(colon);
        let comment = value.find(" #").unwrap_or(value.len());
        let (value, comment) = value.split_at(comment);
        let bare = value.trim();
        (bare.starts_with('{') && !bare.contains('"')).then(|| format!("{head} \"{bare}\"{comment}"))
    };
    if !yaml.lines().any(|line| quoted(line).is_some()) {
        return yaml.into();
    }
    let mut text = String::with_capacity(yaml.len() + 64);
    for line in yaml.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        text.push_str(&quoted(bare).unwrap_or_else(|| bare.to_owned()));
        text.push_str(&line[bare.len()..]);
    }
    text.into()
}

/// The lines of the front matter's keys in a file.
pub struct Lines {
    root: Option<YamlNode>,
    /// The offset of the first byte of each line.
    starts: Vec<usize>,
}

impl Lines {
    /// Parses the text between the fences; the opening fence is line 1 of the file.
    pub fn of(yaml: &str) -> Self {
        let starts = std::iter::once(0).chain(yaml.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { root: parse_syntax(yaml).ok(), starts }
    }

    fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte) + 1
    }

    fn keys(&self, node: &YamlNode) -> BTreeMap<String, usize> {
        node.pairs().iter().map(|pair| (pair.key.clone(), self.line(pair.start))).collect()
    }

    /// The lines of the keys of the mapping at this path.
    pub fn lines_of_keys(&self, path: &[&str]) -> BTreeMap<String, usize> {
        let node = path.iter().try_fold(self.root.as_ref(), |node, key| Some(node?.get(key))).flatten();
        node.map(|node| self.keys(node)).unwrap_or_default()
    }

    /// The lines of the keys of a list entry.
    pub fn of_item(&self, list: &str, index: usize) -> BTreeMap<String, usize> {
        let item = self.root.as_ref().and_then(|root| root.get(list)).and_then(|list| list.items().get(index));
        item.map(|item| self.keys(&item.value)).unwrap_or_default()
    }

    /// The line of a list entry.
    pub fn line_of_item(&self, list: &str, index: usize) -> Option<usize> {
        let item = self.root.as_ref()?.get(list)?.items().get(index)?;
        Some(self.line(item.start))
    }
}

/// The keys of a mapping.
pub struct Keys<'a> {
    entries: &'a Map<String, Value>,
    lines: BTreeMap<String, usize>,
}

impl<'a> Keys<'a> {
    /// Creates the keys from these entries and their lines.
    pub fn new(entries: &'a Map<String, Value>, lines: BTreeMap<String, usize>) -> Self {
        Self { entries, lines }
    }

    /// The line of a key.
    pub fn line(&self, key: &str) -> Option<usize> {
        self.lines.get(key).copied()
    }

    /// The line of the first key.
    pub fn first_line(&self) -> Option<usize> {
        self.lines.values().min().copied()
    }

    /// The lines of all keys.
    pub fn lines(self) -> BTreeMap<String, usize> {
        self.lines
    }

    /// The value of a key, unless it is absent or null.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.entries.get(key).filter(|value| !value.is_null())
    }

    /// The value as text; numbers and booleans are converted.
    pub fn text(&mut self, key: &str) -> Option<String> {
        match self.value(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Object(_) => None,
            other => Some(super::value::text(other)),
        }
    }

    /// The value as text if it may begin with a placeholder: YAML reads `{a.b}` without quotes as a mapping.
    pub fn braced(&mut self, key: &str) -> Option<String> {
        match self.value(key)? {
            Value::Object(map) if map.len() == 1 && map.values().all(Value::is_null) => {
                map.keys().next().map(|inside| format!("{{{inside}}}"))
            }
            Value::Object(_) => Some("{".to_owned()),
            other => Some(super::value::text(other)),
        }
    }

    /// A list of words, from a YAML list or a text with commas.
    pub fn string_list(&mut self, key: &str) -> Vec<String> {
        let words: Vec<String> = match self.value(key) {
            None => Vec::new(),
            Some(Value::Array(entries)) => entries.iter().map(super::value::text).collect(),
            Some(other) => super::value::text(other).split(',').map(str::to_owned).collect(),
        };
        let mut found: Vec<String> = Vec::with_capacity(words.len());
        let mut known = std::collections::BTreeSet::new();
        for word in words.into_iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()) {
            if known.insert(word.clone()) {
                found.push(word);
            }
        }
        found
    }

    /// The unknown keys, with a warning for each that looks like a mistyped known one.
    pub fn rest(&self, place: &str, known: &[&str], what: &str) -> (Map<String, Value>, Vec<Problem>) {
        let others = self.entries.iter().filter(|(key, _)| !known.contains(&key.as_str()));
        let extra: Map<String, Value> = others.map(|(key, value)| (key.clone(), value.clone())).collect();
        let mistyped = extra.keys().filter_map(|key| {
            let near = nearest(key, known.iter().copied())?;
            let problem =
                Problem::warning(place, format!("unknown key {key:?} of a {what}"), format!("did you mean {near:?}?"));
            Some(problem.at_line(self.line(key)))
        });
        let mistyped = mistyped.collect();
        (extra, mistyped)
    }
}
