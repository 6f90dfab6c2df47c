//! Converts YAML text to data and back. This is the only place that calls the parser, which takes minutes for deeply
//! nested brackets and fills the memory with aliases of aliases, and that defines how YAML is written.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::yaml_depth::may_be_too_deep;
use super::yaml_syntax::{YamlSyntaxError, parse_syntax};
use super::yaml_value;

/// The maximum length of a line in flow style, in characters.
const MAX_FLOW_CHARS: usize = 160;

/// Why a text is not valid YAML.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct YamlError {
    /// The line, counted from 1, if known.
    pub line: Option<usize>,
    /// The error, as a sentence.
    pub what: String,
}

impl fmt::Display for YamlError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.what)
    }
}

impl std::error::Error for YamlError {}

impl From<serde_yaml::Error> for YamlError {
    fn from(error: serde_yaml::Error) -> Self {
        Self { line: error.location().map(|location| location.line()), what: error.to_string() }
    }
}

/// Parses a YAML text; an empty one is null. Merge keys are resolved, tags dropped.
pub fn parse(text: &str) -> Result<Value, YamlError> {
    let text = checked(text)?;
    Ok(yaml_value::read(text)?)
}

/// Parses a YAML text as a type, which decides how a scalar is read: `007` is a text where a text is expected.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    let text = checked(text)?;
    // Only aliases can make the data much larger than its text.
    if text.contains('&') && text.contains('*') {
        yaml_value::check_aliases(text)?;
    }
    Ok(serde_yaml::from_str(text)?)
}

/// Returns the text for the parser, without a byte order mark, unless the parser would take too long to reject it.
fn checked(text: &str) -> Result<&str, YamlError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_too_deep = match parse_syntax(text) {
        Ok(_) => false,
        Err(YamlSyntaxError::TooDeep) => true,
        // The outline ended at something that it does not know, and the brackets may come after it.
        Err(YamlSyntaxError::Unknown) => may_be_too_deep(text),
    };
    if is_too_deep {
        // A YAML text that is nested so deeply that reading it would take minutes is refused at once, with a problem.
        rule!("deep-yaml-is-refused-at-once");
        return Err(YamlError { line: None, what: "it is nested too deeply".into() });
    }
    Ok(text)
}

/// Writes a value in flow style, on one line.
pub fn inline(value: &Value) -> String {
    match value {
        Value::Object(map) if map.is_empty() => "{}".into(),
        Value::Object(map) => {
            let pairs: Vec<_> = map.iter().map(|(key, value)| format!("{}: {}", scalar(key), inline(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// Writes a text as a plain scalar if every YAML parser would read it as that text, otherwise in double quotes.
pub fn scalar(text: &str) -> String {
    let plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ' '))
        && !text.ends_with(' ')
        && !["y", "n", "yes", "no", "on", "off", "true", "false", "null"].contains(&text.to_lowercase().as_str());
    if plain { text.to_owned() } else { double_quoted(text) }
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if needs_escape(c) => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether YAML would fold, drop or reject a character.
fn needs_escape(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether a value is readable on one line.
pub fn fits_inline(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.values().all(fits_inline) && inline(value).chars().count() <= MAX_FLOW_CHARS,
        Value::Array(items) => items.iter().all(fits_inline) && inline(value).chars().count() <= MAX_FLOW_CHARS,
        Value::String(text) => !text.contains('\n'),
        _ => true,
    }
}

/// Writes a value after `key:` or `-` in block style, with the space or line break before it. `indent` is the
/// indentation of the lines of a nested value.
pub fn block(value: &Value, indent: usize) -> String {
    let pad = " ".repeat(indent);
    match value {
        Value::String(text) => match literal(text, &pad) {
            Some(literal) => format!(" {literal}"),
            None => format!(" {}", scalar(text)),
        },
        Value::Array(items) if !items.is_empty() && items.iter().any(|item| item.is_object() || !fits_inline(item)) => {
            items.iter().map(|item| format!("\n{pad}-{}", item_text(item, indent + 2))).collect()
        }
        Value::Object(map) if !map.is_empty() => {
            map.iter().map(|(key, value)| format!("\n{pad}{}:{}", scalar(key), block(value, indent + 2))).collect()
        }
        other => format!(" {}", inline(other)),
    }
}

/// Writes a list's entry after its dash: in flow style if that is readable, otherwise in block style.
pub fn item_text(value: &Value, indent: usize) -> String {
    match value {
        Value::Object(map) if !map.is_empty() && !fits_inline(value) => block_item(map, indent),
        Value::Object(_) => format!(" {}", inline(value)),
        other => block(other, indent),
    }
}

/// Writes a mapping after a dash in block style.
pub fn block_item(map: &Map<String, Value>, indent: usize) -> String {
    let lines = block(&Value::Object(map.clone()), indent);
    format!(" {}", lines.trim_start())
}

/// Writes a text of several lines after `|`, if that preserves every character.
fn literal(text: &str, pad: &str) -> Option<String> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let awkward = !body.contains('\n')
        || body.ends_with('\n')
        || body.starts_with(['\n', ' ', '\t'])
        || body.lines().any(|line| !line.is_empty() && line.trim().is_empty())
        || body.chars().any(|character| character != '\n' && needs_escape(character));
    if awkward {
        return None;
    }
    let lines: Vec<_> =
        body.split('\n').map(|line| if line.is_empty() { String::new() } else { format!("{pad}{line}") }).collect();
    let chomp = if text.ends_with('\n') { "" } else { "-" };
    Some(format!("|{chomp}\n{}", lines.join("\n")))
}

/// Writes a whole file, with the keys in their order.
pub fn document(value: &Value) -> String {
    format!("{}\n", block(value, 0).trim_start_matches(['\n', ' ']))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn written_yaml_is_parsed_to_the_same_data() {
        let texts = [
            "yes",
            "7",
            "",
            "a: b",
            "# x",
            "x #y",
            "Ünïcode “q” 🪑",
            "tab\there",
            "a\nb",
            "a\nb\n",
            " lead\nx",
            "a\n\n\nb\n\n",
            "\u{85}\u{2028}",
            "\u{7}",
            "c:\\dir",
            "null",
            "~",
            "- x",
            "2025-01-01",
            "x ",
            "a\n   \nb",
        ];
        for text in texts {
            let value = json!({ "k": text, "list": [{ "t": text, "n": [1, -2.5] }], text: 1 });
            assert_eq!(parse(&document(&value)).expect("what we write is YAML"), value, "{}", document(&value));
            assert_eq!(parse(&inline(&value)).expect("what we write is YAML"), value, "{}", inline(&value));
        }
    }

    #[test]
    fn long_texts_are_literal_blocks() {
        let value = json!({ "elements": [{ "id": "a", "text": "one\ntwo\n" }] });
        assert_eq!(document(&value), "elements:\n  - id: a\n    text: |\n      one\n      two\n");
    }

    /// Texts that are as large as the readers of files accept, and as deep or as full of anchors as possible.
    fn hostile_texts() -> Vec<(&'static str, String)> {
        let deep = |opening: &str| opening.repeat(20_000);
        let flat_list = vec!["[a, {b: c}]"; 20_000].join(", ");
        let nested_in = |depth: usize| format!("{}{flat_list}{}", "[".repeat(depth), "]".repeat(depth));
        let anchors: String = (0..20_000).map(|number| format!("k{number}: &a{number} {{ x: *a0 }}\n")).collect();
        vec![
            ("brackets", deep("[")),
            ("braces", deep("{")),
            ("mappings in lists", deep("[{a: ")),
            ("anchored lists", deep("&a [")),
            ("tagged lists", deep("!!seq [")),
            ("quoted closing brackets", deep("[\"]\", ")),
            ("brackets below a key", format!("name: x\nlist: {}", deep("["))),
            ("brackets below a complex key", format!("? x\n: {}", deep("["))),
            ("brackets in a second document", format!("a: b\n---\n{}", deep("["))),
            ("brackets after a directive", format!("%YAML 1.2\n---\n{}", deep("["))),
            ("brackets after a tab", format!("a:\n\t- b\nc: {}", deep("["))),
            ("brackets after an open quote", format!("a: b \"c\n? d\n: {}", deep("[']', "))),
            ("brackets after a broken key", format!("a: b: c\nd: {}", deep("["))),
            ("closed brackets", format!("{}{}", deep("["), deep("]"))),
            ("dashes", deep("- ")),
            ("complex keys", deep("? ")),
            ("keys", (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect()),
            ("anchors", deep("&a ")),
            ("anchors with aliases", anchors),
            ("aliases", format!("a: &a [x]\nb: [{}]", vec!["*a"; 20_000].join(", "))),
            ("merge keys", format!("a: &a {{ x: y }}\nb:\n{}", "  <<: *a\n".repeat(20_000))),
            ("a wide list", nested_in(1)),
            ("a wide list in lists", nested_in(60)),
            ("a wide list in lists below a complex key", format!("? x\n: {}", nested_in(60))),
            ("a long line", "x ".repeat(200_000)),
            ("quotes", deep("\"")),
        ]
    }

    #[test]
    fn no_text_takes_long_to_read_or_to_refuse() {
        checks_rule!("deep-yaml-is-refused-at-once");
        // A limit for an unoptimised build on a busy computer; without the check, each of the deep ones takes minutes.
        let limit = std::time::Duration::from_secs(10);
        for (name, text) in hostile_texts() {
            let start = std::time::Instant::now();
            let _any_result = parse(&text);
            let _any_result = from_str::<serde_yaml::Value>(&text);
            assert!(start.elapsed() < limit, "{name} takes {:?}", start.elapsed());
        }
    }

    #[test]
    fn a_type_decides_how_scalars_are_read() {
        #[derive(serde::Deserialize, PartialEq, Debug)]
        struct Head {
            id: String,
            #[serde(default)]
            count: Option<u64>,
        }
        let read = from_str::<Head>("\u{feff}id: 007\ncount: 7\n").expect("it is YAML");
        assert_eq!(read, Head { id: "007".to_owned(), count: Some(7) });
        assert_eq!(from_str::<Head>("id: a\n  b: [").expect_err("it is broken").line, Some(2));
        let mut bomb = String::from("id: a\na0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        let refused = from_str::<Head>(&bomb).expect_err("it is too much");
        assert!(refused.to_string().contains("aliases"), "{refused}");
    }

    #[test]
    fn alias_bombs_are_refused() {
        assert!(parse(&"{".repeat(200_000)).is_err());
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        let refused = parse(&bomb).expect_err("it is too much");
        assert!(refused.to_string().contains("aliases"), "{refused}");
    }
}
