//! Converts YAML text to plain data and back. This is the only place that calls the parser and defines how YAML is
//! written.

use serde_json::{Map, Value};

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

/// Parses a YAML text; an empty one is null. Merge keys are resolved, tags dropped. All YAML from files is parsed here.
pub fn parse(text: &str) -> Result<Value, YamlError> {
    // The parser takes minutes for deeply nested brackets before it rejects them.
    if parse_syntax(text) == Err(YamlSyntaxError::TooDeep) {
        return Err(YamlError { line: None, what: "it is nested too deeply".into() });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    yaml_value::read(text)
        .map_err(|error| YamlError { line: error.location().map(|location| location.line()), what: error.to_string() })
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

    #[test]
    fn alias_bombs_are_refused() {
        assert!(parse(&"{".repeat(200_000)).is_err());
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        assert!(parse(&bomb).is_err());
    }
}
