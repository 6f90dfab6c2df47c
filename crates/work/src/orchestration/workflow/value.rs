//! Output values of steps: texts, lists, and yes or no, parsed from the text that a model wrote.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kind of an output, inferred from how the workflow uses it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputKind {
    /// A text.
    #[default]
    Text,
    /// A list, used by `for_each`.
    List,
    /// Yes or no, used by a condition.
    YesNo,
}

impl OutputKind {
    /// The description for an agent.
    pub fn description(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::List => "a list, one entry per line; [] if there are none",
            Self::YesNo => "yes or no",
        }
    }

    /// Converts a value to this kind. The error is a clause that follows the output's name.
    pub fn fit(self, value: Value) -> Result<Value, String> {
        match self {
            Self::Text if is_empty(&value) => Err("is empty".to_owned()),
            Self::Text => Ok(value),
            Self::List => match list(&value) {
                Some(entries) => Ok(Value::Array(entries)),
                None => Err("should be a list, one entry per line".to_owned()),
            },
            Self::YesNo => match yes_or_no(&value) {
                Some(answer) => Ok(Value::Bool(answer)),
                None => Err("should be yes or no".to_owned()),
            },
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

const YES: [&str; 8] = ["yes", "true", "approved", "accepted", "pass", "passed", "ok", "y"];
const NO: [&str; 9] = ["no", "false", "rejected", "refused", "fail", "failed", "not", "none", "n"];

/// Recognises yes or no.
fn yes_or_no(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(answer) => Some(*answer),
        Value::Number(number) => number.as_f64().map(|number| number != 0.0),
        Value::String(text) => {
            let first: String = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            let first = first.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            match (YES.contains(&first), NO.contains(&first), first) {
                (true, ..) | (.., "1") => Some(true),
                (_, true, _) | (.., "0") => Some(false),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a value counts as true: a non-empty text does, unless it says no.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(entries) => !entries.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        Value::String(text) if text.trim().is_empty() => false,
        other => yes_or_no(other).unwrap_or(true),
    }
}

/// The entries of a list: from a JSON array, a text with one entry per line, or one line with commas. "None" is a list
/// without entries.
pub fn list(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(entries) => Some(entries.clone()),
        Value::String(text) => {
            if let Ok(Value::Array(entries)) = serde_json::from_str::<Value>(text.trim()) {
                return Some(entries);
            }
            if text.trim().trim_matches(['(', ')', '.']).eq_ignore_ascii_case("none") {
                return Some(Vec::new());
            }
            let lines: Vec<&str> = text.lines().map(bare).filter(|line| !line.is_empty()).collect();
            let entries: Vec<&str> = match lines.as_slice() {
                [line] if line.contains(',') => {
                    line.split(',').map(str::trim).filter(|word| !word.is_empty()).collect()
                }
                _ => lines,
            };
            (!entries.is_empty()).then(|| entries.into_iter().map(Value::from).collect())
        }
        _ => None,
    }
}

/// A line without its list marker: `- tea`, `2. tea`.
fn bare(line: &str) -> &str {
    let line = line.trim();
    let marked = ["- ", "* ", "• "].iter().find_map(|mark| line.strip_prefix(mark));
    let numbered = || {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let rest = line.get(digits..).filter(|_| digits > 0)?;
        rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
    };
    marked.or_else(numbered).unwrap_or(line).trim()
}

/// The value as text.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(entries) => {
            let lines: Vec<String> = entries.iter().map(entry).collect();
            lines.join("\n")
        }
        other => other.to_string(),
    }
}

/// A list entry as text; further lines are indented below its marker.
fn entry(value: &Value) -> String {
    let words = text(value);
    format!("- {}", words.replace('\n', "\n  "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yes_and_no_are_recognised_in_any_notation() {
        for yes in [json!(true), json!("Yes."), json!("**approved**: fine"), json!(1), json!("TRUE")] {
            assert_eq!(OutputKind::YesNo.fit(yes.clone()), Ok(json!(true)), "{yes}");
        }
        for no in [json!(false), json!("no, because it is short"), json!("Not yet"), json!(0), json!("rejected")] {
            assert_eq!(OutputKind::YesNo.fit(no.clone()), Ok(json!(false)), "{no}");
            assert!(!is_truthy(&no), "{no}");
        }
        for unclear in [json!("maybe"), json!(["yes"]), json!(null), json!("")] {
            assert!(OutputKind::YesNo.fit(unclear.clone()).is_err(), "{unclear}");
        }
        assert!(is_truthy(&json!("three findings")) && is_truthy(&json!(["a"])) && !is_truthy(&json!([])));
    }

    #[test]
    fn lists_are_recognised_in_any_notation() {
        for written in
            [json!(["a", "b"]), json!("- a\n- b\n"), json!("1. a\n2) b"), json!("a, b"), json!("[\"a\", \"b\"]")]
        {
            assert_eq!(list(&written), Some(vec![json!("a"), json!("b")]), "{written}");
        }
        assert_eq!(list(&json!("tea")), Some(vec![json!("tea")]));
        assert!(list(&json!("")).is_none() && list(&json!(7)).is_none());
        for empty in [json!([]), json!("[]"), json!(" [ ]\n"), json!("none"), json!("(None)"), json!("None.")] {
            assert_eq!(OutputKind::List.fit(empty.clone()), Ok(json!([])), "{empty}");
        }
        for missing in [json!(""), json!(" \n"), json!(null)] {
            assert!(OutputKind::List.fit(missing.clone()).is_err(), "{missing}");
        }
        assert_eq!(text(&json!(["a", "b\nc"])), "- a\n- b\n  c");
        assert_eq!(OutputKind::Text.fit(json!("  ")), Err("is empty".into()));
    }
}
