//! A server's question to a person during a call: a message and the fields of a form, and the person's values. Pure:
//! the texts are data, and only values that match the form are sent back.
//!
//! MCP allows only flat objects of texts, numbers, flags and choices here, and the fields with their limits must be
//! known before the form is filled in. So the schema is parsed into fields, which also convert the texts that a person
//! types. A JSON schema validator would have nothing left to check.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use super::sampling::McpSampled;
use crate::base::secret_words::{SecretPlace, is_secret_word};
use crate::base::text::truncate;
use crate::base::visible_text::visible;

/// The maximum number of fields of a form.
const MAX_FIELDS: usize = 20;
/// The maximum number of choices of a field.
const MAX_CHOICES: usize = 50;
/// The maximum length of a server's question, in characters. A longer one is declined, because nobody would read it.
const MAX_MESSAGE: usize = 4_000;
/// The maximum length of a person's value in characters.
const MAX_TEXT: usize = 4_000;

/// A server's question to a person.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct McpElicitation {
    /// The number of the question, counted per connection.
    pub number: u64,
    /// The name of the server; empty if it was asked in an older version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub server: String,
    /// The server's message, as it is.
    pub message: String,
    /// The fields of the form; empty if the server only asks for confirmation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FormField>,
}

/// A field of a form.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FormField {
    /// The name of the field, as a person writes it.
    pub name: String,
    /// The name of the field in the answer, if nobody could write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_as: Option<String>,
    /// The title for a person.
    pub title: String,
    /// The description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The type and the valid values.
    pub kind: FieldKind,
    /// Whether a value is required.
    #[serde(default)]
    pub required: bool,
    /// The default value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual: Option<Value>,
}

/// The valid values of a field.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum FieldKind {
    /// A text.
    Text {
        /// The minimum and maximum number of characters.
        chars: (usize, usize),
    },
    /// A number.
    Number {
        /// Whether only integers are valid.
        whole: bool,
        /// The minimum.
        least: Option<Number>,
        /// The maximum.
        most: Option<Number>,
    },
    /// Yes or no.
    Flag,
    /// One of several values.
    Choice {
        /// The values, each with its title.
        choices: Vec<(String, String)>,
    },
}

/// The answer to a server's question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum McpReply {
    /// The person's values.
    Given {
        /// The values by field.
        content: Map<String, Value>,
    },
    /// The person declined.
    Declined,
    /// The answer of a model.
    Sampled {
        /// The answer, with the name of the model.
        sampled: McpSampled,
    },
    /// The question to a model was refused.
    Refused {
        /// The reason, for the server.
        why: String,
    },
}

impl McpElicitation {
    /// Parses a server's question; the error says why it cannot be answered.
    pub fn of(number: u64, message: &str, schema: &Value) -> Result<Self, String> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        if properties.len() > MAX_FIELDS {
            return Err(format!("its form has {} fields", properties.len()));
        }
        let required = |name: &str| {
            let all = schema.get("required").and_then(Value::as_array);
            all.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(name)))
        };
        let chars = message.chars().count();
        if chars > MAX_MESSAGE {
            return Err(format!("it has {chars} characters"));
        }
        let writable = |(index, name): (usize, &str)| match is_writable(name) {
            true => name.to_owned(),
            // A name that nobody can write is replaced by one that no other field has.
            false => (index + 1..)
                .map(|number| format!("field_{number}"))
                .find(|name| !properties.contains_key(name))
                .unwrap_or_default(),
        };
        let field = |(index, (name, schema)): (usize, (&String, &Value))| {
            FormField::of((name, writable((index, name))), schema, required(name))
        };
        let fields = properties.iter().enumerate().map(field).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { number, server: String::new(), message: message.to_owned(), fields })
    }

    /// Whether the server seems to ask for a key, a password or a token.
    pub fn asks_for_secret(&self) -> bool {
        let of_field =
            |field: &FormField| [&field.name, &field.title, &field.about].into_iter().any(|text| has_secret_word(text));
        let sent_as = |field: &FormField| field.sent_as.as_deref().is_some_and(has_secret_word);
        let is_text = |field: &FormField| matches!(field.kind, FieldKind::Text { .. } | FieldKind::Number { .. });
        let mut fields = self.fields.iter().filter(|field| is_text(field)).peekable();
        (fields.peek().is_some() && has_secret_word(&self.message))
            || fields.any(|field| of_field(field) || sent_as(field))
    }

    /// Returns the values to send back; the error says which value is invalid.
    pub fn content(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        if let Some(name) = given.keys().find(|name| !self.fields.iter().any(|field| field.name == **name)) {
            let names: Vec<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
            return Err(format!("there is no field {name:?}; there are: {}", names.join(", ")));
        }
        let mut content = Map::new();
        for field in &self.fields {
            match field.value(given.get(&field.name)) {
                Ok(Some(value)) => drop(content.insert(field.sent_as.as_ref().unwrap_or(&field.name).clone(), value)),
                Ok(None) => {}
                Err(why) => return Err(format!("{}: {why}", field.name)),
            }
        }
        Ok(content)
    }
}

impl FormField {
    /// Parses a field: its name in the answer, and the one that a person writes.
    fn of((sent_as, name): (&str, String), schema: &Value, required: bool) -> Result<Self, String> {
        let shown = words(sent_as, 64);
        let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
        let number = |key: &str| schema.get(key).and_then(Value::as_number).cloned();
        let size =
            |key: &str, usual: usize| schema.get(key).and_then(Value::as_u64).map_or(usual, |size| size as usize);
        let kind = match (choices(schema), text("type")) {
            (Some(choices), _) if choices.is_empty() || choices.len() > MAX_CHOICES => {
                return Err(format!("the field {name} has {} choices", choices.len()));
            }
            (Some(choices), _) => FieldKind::Choice { choices },
            (None, "string") => {
                FieldKind::Text { chars: (size("minLength", 0), size("maxLength", MAX_TEXT).min(MAX_TEXT)) }
            }
            (None, kind @ ("number" | "integer")) => {
                FieldKind::Number { whole: kind == "integer", least: number("minimum"), most: number("maximum") }
            }
            (None, "boolean") => FieldKind::Flag,
            (None, _) => return Err(format!("no known value fits the field {name}")),
        };
        let title = Some(words(text("title"), 80)).filter(|title| !title.is_empty()).unwrap_or(shown);
        let sent_as = (name != sent_as).then(|| sent_as.to_owned());
        let field = Self { name, sent_as, title, about: words(text("description"), 400), kind, required, usual: None };
        let usual = schema.get("default").filter(|usual| field.value(Some(usual)).is_ok()).cloned();
        Ok(Self { usual, ..field })
    }

    /// Returns the value for the server: `given`, or the default.
    pub fn value(&self, given: Option<&Value>) -> Result<Option<Value>, String> {
        let is_empty = |value: &Value| value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty());
        let given = given.filter(|value| !is_empty(value)).or(self.usual.as_ref());
        let Some(given) = given else {
            // An empty answer to a yes-or-no field means no.
            return match (self.required, &self.kind) {
                (true, FieldKind::Flag) => Ok(Some(Value::Bool(false))),
                (true, _) => Err("is missing".to_owned()),
                (false, _) => Ok(None),
            };
        };
        let text = given.as_str().map_or_else(|| given.to_string(), str::to_owned);
        let value = match &self.kind {
            FieldKind::Text { chars: (least, most) } => {
                let count = text.chars().count();
                if count < *least || count > *most {
                    return Err(format!("has {count} characters, but needs {least} to {most}"));
                }
                Value::String(text)
            }
            FieldKind::Flag => match text.trim().to_lowercase().as_str() {
                "true" | "yes" | "y" | "1" => Value::Bool(true),
                "false" | "no" | "n" | "0" => Value::Bool(false),
                _ => return Err("must be yes or no".to_owned()),
            },
            FieldKind::Choice { choices } => {
                let named = |choice: &&(String, String)| choice.0 == text || choice.1 == text;
                match choices.iter().find(named) {
                    Some((value, _)) => Value::String(value.clone()),
                    None => {
                        let all: Vec<&str> = choices.iter().map(|(value, _)| value.as_str()).collect();
                        return Err(format!("must be one of: {}", all.join(", ")));
                    }
                }
            }
            FieldKind::Number { whole, least, most } => number(text.trim(), *whole, least.as_ref(), most.as_ref())?,
        };
        Ok(Some(value))
    }
}

/// Whether a person can write this field name in a task file or in a command.
fn is_writable(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain)
}

/// A short text of a server, on one line with every character visible.
fn words(text: &str, most: usize) -> String {
    truncate(&visible(text.trim()), most)
}

/// Whether a text has a word for something secret: `api_key`, `accessToken`, `Your password`.
fn has_secret_word(text: &str) -> bool {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in text.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words.iter().any(|word| is_secret_word(word, SecretPlace::Question))
}

fn number(text: &str, whole: bool, least: Option<&Number>, most: Option<&Number>) -> Result<Value, String> {
    let parsed = match whole {
        true => text.parse::<i64>().ok().map(Number::from),
        false => text.parse::<f64>().ok().and_then(Number::from_f64),
    };
    let Some(parsed) = parsed else {
        return Err(if whole { "must be a whole number".to_owned() } else { "must be a number".to_owned() });
    };
    let value = parsed.as_f64().unwrap_or_default();
    let bound = |number: Option<&Number>| number.and_then(Number::as_f64);
    match (bound(least), bound(most)) {
        (Some(least), _) if value < least => Err(format!("must be at least {least}")),
        (_, Some(most)) if value > most => Err(format!("must be at most {most}")),
        _ => Ok(Value::Number(parsed)),
    }
}

/// Parses the choices, which can be written in several ways.
fn choices(schema: &Value) -> Option<Vec<(String, String)>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let title = |value: &Value| words(value.as_str().unwrap_or_default(), 200);
    if let Some(Value::Array(values)) = schema.get("enum") {
        let names = schema.get("enumNames").and_then(Value::as_array);
        let named = |(at, value): (usize, &Value)| {
            let name = names.and_then(|names| names.get(at)).map(title).filter(|name| !name.is_empty());
            (text(value), name.unwrap_or_else(|| title(value)))
        };
        return Some(values.iter().enumerate().map(named).collect());
    }
    let Some(Value::Array(values)) = schema.get("oneOf") else { return None };
    let titled = |value: &Value| {
        let constant = value.get("const").map(text).unwrap_or_default();
        let shown = value.get("title").map(title).filter(|title| !title.is_empty());
        (constant.clone(), shown.unwrap_or_else(|| words(&constant, 200)))
    };
    Some(values.iter().map(titled).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn question() -> McpElicitation {
        let schema = json!({
            "type": "object",
            "properties": {
                "branch": { "type": "string", "title": "Branch", "description": "Which one?", "maxLength": 10 },
                "depth": { "type": "integer", "minimum": 1, "maximum": 9, "default": 3 },
                "force": { "type": "boolean" },
                "level": { "type": "string", "enum": ["l", "h"], "enumNames": ["Low", "High"] },
            },
            "required": ["branch", "force"],
        });
        McpElicitation::of(1, "Which branch?\u{1b}[2J", &schema).expect("it can be answered")
    }

    fn content(given: Value) -> Result<Value, String> {
        question().content(given.as_object().expect("a table")).map(Value::Object)
    }

    #[test]
    fn values_are_returned_in_the_requested_types() {
        assert_eq!(question().message, "Which branch?\u{1b}[2J", "it is kept as it is");
        assert_eq!(content(json!({ "branch": "main" })), Ok(json!({ "branch": "main", "depth": 3, "force": false })));
        let all = json!({ "branch": "main", "depth": "4", "force": "yes", "level": "High" });
        assert_eq!(content(all), Ok(json!({ "branch": "main", "depth": 4, "force": true, "level": "h" })));
    }

    #[test]
    fn invalid_values_are_reported_and_not_returned() {
        for (given, told) in [
            (json!({}), "branch: is missing"),
            (json!({ "branch": "x".repeat(11) }), "branch: has 11 characters"),
            (json!({ "branch": "x", "depth": 10 }), "depth: must be at most 9"),
            (json!({ "branch": "x", "depth": "two" }), "depth: must be a whole number"),
            (json!({ "branch": "x", "force": "perhaps" }), "force: must be yes or no"),
            (json!({ "branch": "x", "level": "middle" }), "level: must be one of: l, h"),
            (json!({ "branch": "x", "other": 1 }), "there is no field \"other\""),
        ] {
            let why = content(given).expect_err("it does not fit");
            assert!(why.starts_with(told), "{why}");
        }
    }

    #[test]
    fn an_impossible_form_is_refused() {
        let of = |properties: Value| McpElicitation::of(1, "x", &json!({ "properties": properties }));
        assert!(of(json!({ "a": { "type": "array" } })).is_err());
        assert!(McpElicitation::of(1, &"x".repeat(MAX_MESSAGE + 1), &json!({})).is_err());
        assert!(of(json!({ "a": { "enum": [] } })).is_err());
        let many: Map<String, Value> = (0..50).map(|at| (format!("f{at}"), json!({ "type": "string" }))).collect();
        assert!(of(Value::Object(many)).is_err());
        let titled = of(json!({ "a": { "type": "string", "oneOf": [{ "const": "r", "title": "Red" }] } }));
        let kind = FieldKind::Choice { choices: vec![("r".into(), "Red".into())] };
        assert_eq!(titled.expect("it can be answered").fields[0].kind, kind);
        assert!(of(json!({})).expect("a yes is enough").fields.is_empty());
    }

    #[test]
    fn a_field_that_nobody_can_name_gets_a_name() {
        let schema = json!({ "properties": {
            "a\u{202e} b": { "type": "string" }, "field_1": { "type": "string" }, "": { "type": "boolean" },
        } });
        let question = McpElicitation::of(1, "x", &schema).expect("it can be answered");
        let fields: Vec<(&str, &str)> =
            question.fields.iter().map(|field| (field.name.as_str(), field.title.as_str())).collect();
        assert_eq!(fields, [("field_2", "a‹U+202E› b"), ("field_1", "field_1"), ("field_3", "")]);
        let given = json!({ "field_2": "one", "field_1": "two", "field_3": "yes" });
        let content = question.content(given.as_object().expect("a table"));
        let sent = json!({ "a\u{202e} b": "one", "field_1": "two", "": true });
        assert_eq!(content.map(Value::Object), Ok(sent));
    }

    #[test]
    fn a_question_for_a_secret_is_recognised() {
        let asks = |message: &str, name: &str, schema: Value| {
            let schema = json!({ "properties": { name: schema } });
            McpElicitation::of(1, message, &schema).expect("it can be answered").asks_for_secret()
        };
        let text = || json!({ "type": "string" });
        for (message, name) in [
            ("Sign in", "api_key"),
            ("Sign in", "accessToken"),
            ("Sign in", "Password"),
            ("Sign in", "client-secret"),
            ("Paste your OpenAI API key", "value"),
            ("Sign in", "PIN"),
            ("Sign in", "my token"),
        ] {
            assert!(asks(message, name, text()), "{message} {name}");
        }
        assert!(asks("x", "value", json!({ "type": "string", "description": "your pass-phrase or passphrase" })));
        for word in [
            "key",
            "keys",
            "apikey",
            "token",
            "tokens",
            "password",
            "passwords",
            "passwd",
            "pwd",
            "passphrase",
            "secret",
            "secrets",
            "credential",
            "credentials",
            "pin",
            "otp",
            "bearer",
            "cookie",
            "mnemonic",
            "pat",
        ] {
            assert!(asks(&format!("Enter the {word}"), "value", text()), "{word}");
            assert!(asks("x", &format!("our_{word}"), text()), "{word}");
        }
        for (message, name) in [("Which branch?", "branch"), ("Which monkey?", "keyboard"), ("x", "tokenizer")] {
            assert!(!asks(message, name, text()), "{message} {name}");
        }
        assert!(!asks("Delete the key?", "sure", json!({ "type": "boolean" })), "nothing is entered");
    }
}
