//! The terms of a task that is handed over, or of a signal to the parent: context, urgency, deadline in turns, and the
//! expected format of the result. Pure.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::schema::Checker;
use crate::base::text;
use crate::log::events::TaskPriority;

/// The maximum number of fields in an expected result.
const MAX_FIELDS: usize = 40;
/// The maximum length of a field's name, in characters.
const MAX_FIELD_CHARS: usize = 60;
/// The key under which a result that is not an object is checked.
const RESULT: &str = "result";
/// A schema has at least one of these keywords; an object without them is an example.
const SCHEMA_WORDS: [&str; 9] = ["type", "properties", "required", "items", "enum", "anyOf", "oneOf", "allOf", "$ref"];

/// The terms of a task or a signal.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Terms {
    /// Context for the receiver.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// The urgency.
    #[serde(skip_serializing_if = "is_normal")]
    pub haste: TaskPriority,
    /// The deadline in turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_turns: Option<u32>,
    /// The expected format of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
}

fn is_normal(haste: &TaskPriority) -> bool {
    *haste == TaskPriority::Normal
}

impl Terms {
    /// The order in which work is done: lower is sooner.
    pub fn rank(&self) -> i32 {
        match self.haste {
            TaskPriority::High => -10,
            TaskPriority::Normal => 0,
            TaskPriority::Low => 10,
        }
    }

    /// The additional information for the receiver, line by line; empty if there is none. `deadline` and `wanted`
    /// introduce the time limit and the expected result.
    pub fn describe(&self, deadline: &str, wanted: &str) -> String {
        let mut lines = Vec::new();
        if !self.context.trim().is_empty() {
            lines.push(format!("What you should know: {}", self.context.trim()));
        }
        if self.haste != TaskPriority::Normal {
            let haste = if self.haste == TaskPriority::High { "high" } else { "low" };
            lines.push(format!("Priority: {haste}."));
        }
        if let Some(turns) = self.deadline_turns {
            lines.push(format!("{deadline} {turns} {}.", if turns == 1 { "turn" } else { "turns" }));
        }
        if let Some(expected) = &self.expected {
            lines.push(format!("{wanted} {}.", expected.description()));
        }
        lines.join("\n")
    }
}

/// The expected format of a result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// A description, which cannot be checked.
    Words(String),
    /// A JSON object with these fields.
    Fields(Vec<String>),
    /// JSON that matches this schema.
    Schema(Value),
}

impl Expected {
    /// Parses what an agent wrote: a JSON schema, an example, a list of fields, or a description.
    pub fn parse(given: &str) -> Result<Self, String> {
        let given = given.trim();
        if given.starts_with(['{', '[']) {
            let value: Value =
                serde_json::from_str(given).map_err(|error| format!("it looks like JSON but is invalid: {error}"))?;
            return match value {
                Value::Array(names) => {
                    let names = names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>();
                    fields(names.ok_or("a list of fields may only contain names")?)
                }
                Value::Object(keys) if !SCHEMA_WORDS.iter().any(|word| keys.contains_key(*word)) => {
                    fields(keys.into_iter().map(|(name, _)| name).collect())
                }
                schema => checker(&schema).map(|_| Self::Schema(schema)),
            };
        }
        let is_name = |name: &str| {
            !name.is_empty()
                && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
                && name.chars().count() <= 40
        };
        let names: Vec<&str> = given.split(',').map(str::trim).collect();
        if names.len() > 1 && names.iter().all(|name| is_name(name)) {
            return fields(names.into_iter().map(str::to_owned).collect());
        }
        Ok(Self::Words(given.to_owned()))
    }

    /// The description for the receiver.
    pub fn description(&self) -> String {
        match self {
            Self::Words(words) => words.trim_end_matches('.').to_owned(),
            Self::Fields(names) => format!("a JSON object with the fields {} and nothing around it", names.join(", ")),
            Self::Schema(schema) => format!("JSON that fits this schema, and nothing around it: {schema}"),
        }
    }

    /// Whether a result can be checked against it.
    pub fn is_checked(&self) -> bool {
        !matches!(self, Self::Words(_))
    }

    /// Extracts the result from an agent's last message. The error says what is wrong with it.
    pub fn fit(&self, said: &str) -> Result<String, String> {
        if let Self::Words(_) = self {
            return Ok(said.to_owned());
        }
        let found = json_in(said).ok_or("it contains no JSON")?;
        match self {
            Self::Words(_) => Ok(said.to_owned()),
            Self::Fields(names) => {
                let Value::Object(keys) = &found else { return Err("it is JSON, but not an object".to_owned()) };
                let missing: Vec<String> = names
                    .iter()
                    .filter(|name| keys.get(name.as_str()).is_none_or(Value::is_null))
                    .map(|name| format!("'{name}'"))
                    .collect();
                match missing.as_slice() {
                    [] => Ok(found.to_string()),
                    [one] => Err(format!("the field {one} is missing")),
                    many => Err(format!("the fields {} are missing", many.join(", "))),
                }
            }
            Self::Schema(schema) => {
                let is_wrapped = !is_of_object(schema);
                let checked = if is_wrapped { json!({ RESULT: found }) } else { found };
                let fitted = checker(schema)?.check(&checked, &[]).map_err(|fault| of_result(&fault))?;
                let result = if is_wrapped { fitted.get(RESULT).cloned() } else { Some(Value::Object(fitted)) };
                Ok(result.unwrap_or_default().to_string())
            }
        }
    }
}

/// Rewords an error about arguments as one about a result.
fn of_result(fault: &str) -> String {
    let fault = fault.replace(&format!("'{RESULT}."), "'").replace(&format!("the argument '{RESULT}'"), "the result");
    text::truncate(&fault.replace("the arguments", "the result").replace("argument", "field"), 600)
}

fn fields(names: Vec<String>) -> Result<Expected, String> {
    let is_fine = |name: &String| !name.trim().is_empty() && name.chars().count() <= MAX_FIELD_CHARS;
    if names.is_empty() || names.len() > MAX_FIELDS || !names.iter().all(is_fine) {
        return Err(format!("name 1 to {MAX_FIELDS} fields, each in at most {MAX_FIELD_CHARS} characters"));
    }
    Ok(Expected::Fields(names))
}

fn is_of_object(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object") || schema.get("properties").is_some()
}

/// The checker of a result: a schema of anything but an object is wrapped in one.
fn checker(schema: &Value) -> Result<Checker, String> {
    if is_of_object(schema) {
        return Checker::new(schema.clone());
    }
    Checker::new(json!({ "type": "object", "properties": { RESULT: schema }, "required": [RESULT] }))
}

/// The JSON of a text, or in a text: in a fence, or from its first bracket to its last one. No Markdown parser is used,
/// because models rarely send strict Markdown: fences may be within a line or never closed.
fn json_in(said: &str) -> Option<Value> {
    let said = said.trim();
    let read = |text: &str| serde_json::from_str::<Value>(text.trim()).ok();
    let is_structure = |value: &Value| value.is_object() || value.is_array();
    let fenced = said.split("```").skip(1).step_by(2).map(|fence| {
        let (head, rest) = fence.split_once('\n').unwrap_or(("", fence));
        if head.trim().chars().all(char::is_alphanumeric) { rest } else { fence }
    });
    let between =
        |open: char, close: char| Some(&said[said.find(open)?..=said.rfind(close)?]).filter(|text| text.len() > 1);
    read(said)
        .or_else(|| fenced.filter_map(read).find(is_structure))
        .or_else(|| between('{', '}').and_then(read))
        .or_else(|| between('[', ']').and_then(read))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(expected: &str, said: &str) -> Result<String, String> {
        Expected::parse(expected).expect("it can be used").fit(said)
    }

    #[test]
    fn fields_are_parsed_from_every_notation_that_models_use() {
        let wanted = Expected::Fields(vec!["summary".into(), "sources".into()]);
        for given in ["summary, sources", "[\"summary\", \"sources\"]", "{\"summary\": \"…\", \"sources\": []}"] {
            assert_eq!(Expected::parse(given), Ok(wanted.clone()), "{given}");
        }
        let words = "one page, in Markdown";
        assert_eq!(Expected::parse(words), Ok(Expected::Words(words.into())));
        for odd in ["{oops", "[1, 2]", "[]", "{\"type\": \"nonsense\"}", "{\"$ref\": \"https://example.org/a.json\"}"] {
            assert!(Expected::parse(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn a_result_is_found_anywhere_in_a_message() {
        for said in [
            "{\"chairs\": 12, \"tables\": 3}",
            "Here it is:\n```json\n{\"chairs\": 12, \"tables\": 3}\n```\nDone.",
            "I counted {\"chairs\": 12, \"tables\": 3}, twice.",
        ] {
            assert_eq!(fit("chairs, tables", said).as_deref(), Ok("{\"chairs\":12,\"tables\":3}"), "{said}");
        }
        assert_eq!(fit("chairs, tables", "{\"chairs\": 12}"), Err("the field 'tables' is missing".into()));
        assert_eq!(fit("chairs, tables", "{}"), Err("the fields 'chairs', 'tables' are missing".into()));
        assert_eq!(fit("chairs, tables", "Twelve."), Err("it contains no JSON".into()));
        assert_eq!(fit("in plain words", "Twelve.").as_deref(), Ok("Twelve."));
    }

    #[test]
    fn schema_errors_refer_to_the_result() {
        let schema =
            "{\"type\":\"object\",\"properties\":{\"chairs\":{\"type\":\"integer\"}},\"required\":[\"chairs\"]}";
        assert_eq!(
            fit(schema, "{\"chairs\": \"12\"}").as_deref(),
            Ok("{\"chairs\":12}"),
            "put right where it is plain"
        );
        let wrong = fit(schema, "{\"chairs\": [1]}").expect_err("it does not fit");
        assert!(wrong.starts_with("the field 'chairs' should be a whole number"), "{wrong}");
        let list = "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}";
        assert_eq!(fit(list, "[\"a\", \"b\"]").as_deref(), Ok("[\"a\",\"b\"]"));
        let wrong = fit(list, "{\"a\": 1}").expect_err("it does not fit");
        assert!(wrong.starts_with("the result should be a list"), "{wrong}");
    }

    #[test]
    fn terms_are_described_line_by_line() {
        let terms = Terms {
            context: "The hall is open.".into(),
            haste: TaskPriority::High,
            deadline_turns: Some(1),
            expected: Expected::parse("chairs, tables").ok(),
        };
        let told = terms.describe("Finish within", "It must be");
        assert_eq!(
            told,
            "What you should know: The hall is open.\nPriority: high.\nFinish within 1 turn.\nIt must be a \
             JSON object with the fields chairs, tables and nothing around it."
        );
        assert!(Terms::default().describe("x", "y").is_empty());
        assert!(terms.rank() < Terms::default().rank());
    }
}
