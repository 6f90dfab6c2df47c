//! Checks a call's arguments against its tool's JSON schema, and describes the first error in one sentence, so that a
//! model can correct itself.
//!
//! `jsonschema` alone is not sufficient: its errors name a keyword and a value, but not the argument that a misspelled
//! name was meant to be, and it corrects nothing. So it is only used for the final validation.
//!
//! Common deviations of models are corrected if there is only one possible meaning and nothing is lost: arguments as
//! the text of an object, a whole number or flag where a text is expected, digits where a number is expected, optional
//! arguments that are null. To give good error messages, the keywords that most schemas use are checked here: `type`,
//! `properties`, `required`, `additionalProperties: false`, `items`, `enum`, `minLength`, `maxLength`, `minimum`,
//! `maximum`. Everything else in JSON schema is checked afterwards by a library ([`schema_rules`]).

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::schema_rules;
use crate::base::text;
use crate::mind::ToolSchema;

/// The maximum length of a wrong value in an error, in characters.
const SHOWN_CHARS: usize = 60;
/// How many argument names an error lists.
const MAX_NAMES: usize = 12;

/// The maximum nesting depth of `anyOf`, `oneOf` and `allOf`, references followed.
const MAX_NESTED: usize = 64;

/// A schema of arguments with its validator.
#[derive(Clone, Debug)]
pub struct Checker {
    schema: ToolSchema,
    validator: Validator,
}

impl Checker {
    /// Creates a checker for this schema; the error says why the schema cannot be used.
    pub fn new(schema: impl Into<ToolSchema>) -> Result<Self, String> {
        let schema: ToolSchema = schema.into();
        let validator = schema_rules::validator(&schema)?;
        Ok(Self { schema, validator })
    }

    /// The schema.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Returns the arguments of a call in the form that the schema requires, or a sentence that describes the first
    /// error. `aliases` are names of arguments in other products, each with the intended name.
    pub fn check(&self, arguments: &Value, aliases: &[(&str, &str)]) -> Result<Map<String, Value>, String> {
        let arguments = correct_arguments(&self.schema, arguments, aliases)?;
        match schema_rules::fault(&self.validator, &arguments) {
            Some(fault) => Err(fault),
            None => Ok(arguments),
        }
    }
}

/// Corrects the arguments, or returns the first obvious error.
fn correct_arguments(
    schema: &Value,
    arguments: &Value,
    aliases: &[(&str, &str)],
) -> Result<Map<String, Value>, String> {
    let mut arguments = object(arguments)?;
    for (alias, meant) in aliases {
        let is_free = arguments.get(*meant).is_none_or(Value::is_null) && property(schema, alias).is_none();
        if is_free && let Some(value) = arguments.remove(*alias) {
            arguments.insert((*meant).to_owned(), value);
        }
    }
    let within = SchemaScope { root: schema, depth: 0 };
    check_object(within, within.meant(schema), arguments, "")
}

/// The root schema that a part belongs to, and the nesting depth of the part.
#[derive(Clone, Copy)]
struct SchemaScope<'a> {
    root: &'a Value,
    depth: usize,
}

impl<'a> SchemaScope<'a> {
    /// Follows the references of a schema to the schema that they name.
    fn meant(self, schema: &'a Value) -> &'a Value {
        let mut meant = schema;
        for _ in 0..MAX_NESTED {
            let Some(reference) = meant.get("$ref").and_then(Value::as_str) else { break };
            match schema_rules::referred(self.root, reference) {
                Some(part) => meant = part,
                None => break,
            }
        }
        meant
    }

    fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

/// The alternatives of `anyOf` or `oneOf`, or with `true` the parts of `allOf`, if the schema has them.
fn parts(schema: &Value) -> Option<(&[Value], bool)> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array).map(Vec::as_slice);
    list("anyOf").or_else(|| list("oneOf")).map(|parts| (parts, false)).or_else(|| Some((list("allOf")?, true)))
}

/// Corrects a value for one or all of several schemas if only one correction is possible. Does not check whether it
/// matches.
fn fitted<'a>(within: SchemaScope<'a>, (parts, is_all): (&'a [Value], bool), value: Value, at: &str) -> Value {
    let within = within.deeper();
    if within.depth > MAX_NESTED {
        return value;
    }
    let fits = |part: &'a Value, value: &Value| check_value(within, part, value.clone(), at).ok();
    if is_all {
        return parts.iter().fold(value, |value, part| fits(part, &value).unwrap_or(value));
    }
    let found: Vec<Value> = parts.iter().filter_map(|part| fits(part, &value)).collect();
    let is_fine = found.contains(&value);
    let mut changed = found.into_iter();
    match (is_fine, changed.next()) {
        (false, Some(first)) if changed.all(|other| other == first) => first,
        _ => value,
    }
}

/// Parses arguments as an object, or the text of one.
fn object(arguments: &Value) -> Result<Map<String, Value>, String> {
    let mut held = arguments.clone();
    // Some models send the text of the text of an object.
    for _ in 0..2 {
        let Value::String(text) = &held else { break };
        if text.trim().is_empty() {
            return Ok(Map::new());
        }
        held = serde_json::from_str(text).map_err(|error| {
            format!(
                "the arguments are not a JSON object: {error}; they begin with {}",
                shown(&Value::String(text.clone()))
            )
        })?;
    }
    match held {
        Value::Object(keys) => Ok(keys),
        Value::Null => Ok(Map::new()),
        other => Err(format!("the arguments are {}, not a JSON object", shown(&other))),
    }
}

fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.as_object()?.get(name)
}

fn check_object<'a>(
    inside: SchemaScope<'a>,
    schema: &'a Value,
    found: Map<String, Value>,
    within: &str,
) -> Result<Map<String, Value>, String> {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let mut checked = Map::new();
    for (name, value) in found {
        match properties.get(&name) {
            Some(property) if !value.is_null() || required.contains(&name.as_str()) => {
                let at = format!("{within}{name}");
                checked.insert(name, check_value(inside, property, value, &at)?);
            }
            None if is_closed && !value.is_null() => return Err(unknown(&name, within, properties)),
            None if !is_closed => {
                checked.insert(name, value);
            }
            _ => {}
        }
    }
    for name in required {
        if !checked.contains_key(name) {
            let expected = properties.get(name).map(expected).unwrap_or_default();
            return Err(format!("the argument '{within}{name}' is missing; it should be {expected}"));
        }
    }
    Ok(checked)
}

fn unknown(name: &str, within: &str, properties: &Map<String, Value>) -> String {
    let known = properties.keys().map(String::as_str);
    let remedy = match text::nearest(name, known.clone()) {
        Some(near) => format!("did you mean '{within}{near}'?"),
        None => {
            let known: Vec<&str> = known.take(MAX_NAMES).collect();
            if known.is_empty() { "it has none".to_owned() } else { format!("there are {}", known.join(", ")) }
        }
    };
    format!("there is no argument '{within}{}'; {remedy}", text::truncate(&text::one_line(name), SHOWN_CHARS))
}

fn check_value<'a>(within: SchemaScope<'a>, schema: &'a Value, value: Value, at: &str) -> Result<Value, String> {
    let schema = within.meant(schema);
    if let Some(parts) = parts(schema) {
        // Whether it matches is checked afterwards by the library.
        return Ok(fitted(within, parts, value, at));
    }
    if let Some(kinds) = schema.get("type").and_then(Value::as_array) {
        return Ok(of_kinds(kinds, value));
    }
    let value = coerce(kind(schema), value);
    let wrong =
        |value: &Value| Err(format!("the argument '{at}' should be {}, but it is {}", expected(schema), shown(value)));
    if !is_of(kind(schema), &value) {
        return wrong(&value);
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array)
        && !words.contains(&value)
    {
        return wrong(&value);
    }
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    match value {
        Value::String(ref text) => {
            let chars = text.chars().count();
            let limit =
                |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
            if limit("minLength").is_some_and(|least| chars < least) {
                return wrong(&value);
            }
            if let Some(most) = limit("maxLength").filter(|most| chars > *most) {
                return Err(format!("the argument '{at}' has {chars} characters; at most {most} are allowed"));
            }
            Ok(value)
        }
        Value::Number(ref number) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            let is_outside = bound("minimum").is_some_and(|least| number < least)
                || bound("maximum").is_some_and(|most| number > most);
            if is_outside { wrong(&value) } else { Ok(value) }
        }
        Value::Array(items) => {
            let Some(of) = schema.get("items") else { return Ok(Value::Array(items)) };
            let items = items.into_iter().enumerate();
            items.map(|(index, item)| check_value(within, of, item, &format!("{at}[{index}]"))).collect()
        }
        Value::Object(keys) if schema.get("properties").is_some() => {
            check_object(within, schema, keys, &format!("{at}.")).map(Value::Object)
        }
        other => Ok(other),
    }
}

fn kind(schema: &Value) -> &str {
    schema.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Converts the value to one of several types if only one is possible; otherwise returns it unchanged.
fn of_kinds(kinds: &[Value], value: Value) -> Value {
    let kinds = || kinds.iter().filter_map(Value::as_str);
    if kinds().any(|kind| is_of(kind, &value)) {
        return value;
    }
    let mut meant = kinds().map(|kind| (kind, coerce(kind, value.clone()))).filter(|(kind, value)| is_of(kind, value));
    match (meant.next(), meant.next()) {
        (Some((_, meant)), None) => meant,
        _ => value,
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// Converts the value to the expected type if the conversion is certain; otherwise returns it unchanged.
fn coerce(kind: &str, value: Value) -> Value {
    match (kind, &value) {
        // A fraction has several notations, a whole number only one.
        ("string", Value::Number(number)) if !number.is_f64() => Value::String(number.to_string()),
        ("string", Value::Bool(flag)) => Value::String(flag.to_string()),
        ("integer", Value::String(digits)) => digits.trim().parse::<i64>().map_or(value, Value::from),
        ("integer", Value::Number(number)) if number.is_f64() => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            // Beyond 2^53, floating point cannot represent every whole number.
            let is_whole = number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
            if is_whole { format!("{number:.0}").parse::<i64>().map_or(value, Value::from) } else { value }
        }
        ("number", Value::String(digits)) => match digits.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Value::from(number),
            _ => value,
        },
        ("boolean", Value::String(word)) => match word.trim().to_lowercase().as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => value,
        },
        _ => value,
    }
}

/// Describes the value that a schema expects.
fn expected(schema: &Value) -> String {
    let kind = match kind(schema) {
        "string" if schema.get("minLength").and_then(Value::as_u64) >= Some(1) => "a text that is not empty",
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        _ => "a value",
    };
    let mut words = kind.to_owned();
    if let Some(least) = schema.get("minimum") {
        words += &format!(" of at least {least}");
    }
    if let Some(most) = schema.get("maximum") {
        words += &format!(" of at most {most}");
    }
    if let Some(of) = schema.get("enum").and_then(Value::as_array) {
        words = format!("one of {}", of.iter().take(MAX_NAMES).map(shown).collect::<Vec<_>>().join(", "));
    }
    match schema.get("description").and_then(Value::as_str) {
        Some(about) => format!("{words} ({})", about.trim_end_matches('.')),
        None => words,
    }
}

/// Describes a value in a few words.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(keys) => format!("an object of {} keys", keys.len()),
        Value::String(text) if text.is_empty() => "an empty text".to_owned(),
        Value::String(words) => {
            // Truncated before it is joined to one line, because it may be very long.
            let start: String = words.chars().take(SHOWN_CHARS * 2).collect();
            format!("\"{}\"", text::truncate(&text::one_line(&start), SHOWN_CHARS))
        }
        other => text::truncate(&other.to_string(), SHOWN_CHARS),
    }
}

/// Lists the arguments of a schema in words: `path (a text), offset (a whole number, optional)`.
pub fn summary(schema: &Value) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty()) else {
        return "none".to_owned();
    };
    let required = schema.get("required").and_then(Value::as_array);
    let argument = |(name, property): (&String, &Value)| {
        let is_required = required.is_some_and(|names| names.iter().any(|required| required == name));
        let kind = expected(&serde_json::json!({ "type": kind(property) }));
        format!("{name} ({kind}{})", if is_required { "" } else { ", optional" })
    };
    properties.iter().map(argument).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "minLength": 1, "maxLength": 8, "description": "Where." },
                "line": { "type": "integer", "minimum": 1 },
                "share": { "type": "number", "maximum": 1 },
                "kind": { "enum": ["a", "b"] },
                "deep": { "type": "boolean" },
                "names": { "type": "array", "items": { "type": "string" } },
                "at": { "type": "object", "properties": { "x": { "type": "integer" } }, "required": ["x"] },
            },
            "required": ["path"],
            "additionalProperties": false,
        })
    }

    fn checker(schema: Value) -> Checker {
        Checker::new(schema).expect("the schema can be used")
    }

    fn checked(arguments: Value) -> Result<Value, String> {
        checker(schema()).check(&arguments, &[("file_path", "path")]).map(Value::Object)
    }

    #[test]
    fn unambiguous_deviations_are_corrected() {
        for (sent, meant) in [
            (json!("{\"path\": \"a\"}"), json!({ "path": "a" })),
            (json!("\"{\\\"path\\\": \\\"a\\\"}\""), json!({ "path": "a" })),
            (json!({ "path": 42 }), json!({ "path": "42" })),
            (json!({ "path": true }), json!({ "path": "true" })),
            (json!({ "path": "a", "line": null, "other": null }), json!({ "path": "a" })),
            (json!({ "path": "a", "line": "7" }), json!({ "path": "a", "line": 7 })),
            (json!({ "path": "a", "line": 7.0 }), json!({ "path": "a", "line": 7 })),
            (json!({ "path": "a", "share": "0.5" }), json!({ "path": "a", "share": 0.5 })),
            (json!({ "path": "a", "deep": "True" }), json!({ "path": "a", "deep": true })),
            (json!({ "file_path": "a" }), json!({ "path": "a" })),
            (json!({ "path": null, "file_path": "a" }), json!({ "path": "a" })),
            (json!({ "path": "a", "names": [1, "b"] }), json!({ "path": "a", "names": ["1", "b"] })),
            (json!({ "path": "a", "at": { "x": 1, "y": 2 } }), json!({ "path": "a", "at": { "x": 1, "y": 2 } })),
        ] {
            assert_eq!(checked(sent.clone()), Ok(meant), "{sent}");
        }
    }

    #[test]
    fn other_errors_name_the_argument_and_what_was_expected() {
        for (sent, words) in [
            (json!({}), &["'path' is missing", "a text that is not empty (Where)"][..]),
            (json!(null), &["'path' is missing"]),
            (json!(""), &["'path' is missing"]),
            (json!({ "path": null }), &["'path' should be", "it is null"]),
            (json!("{path: a}"), &["not a JSON object", "{path: a}"]),
            (json!([1, 2]), &["a list of 2, not a JSON object"]),
            (json!({ "path": "" }), &["'path'", "not empty", "an empty text"]),
            (json!({ "path": "much too long" }), &["13 characters; at most 8"]),
            (json!({ "path": 1.5 }), &["'path'", "1.5"]),
            (json!({ "path": { "a": 1 } }), &["'path'", "an object of 1 keys"]),
            (json!({ "path": "a", "line": 0 }), &["'line'", "at least 1", "it is 0"]),
            (json!({ "path": "a", "line": 1.5 }), &["'line'", "whole number"]),
            (json!({ "path": "a", "line": 1e300 }), &["'line'", "whole number"]),
            (json!({ "path": "a", "line": "x" }), &["'line'", "\"x\""]),
            (json!({ "path": "a", "share": 2 }), &["'share'", "at most 1"]),
            (json!({ "path": "a", "kind": "c" }), &["'kind'", "one of \"a\", \"b\""]),
            (json!({ "path": "a", "deep": 1 }), &["'deep'", "true or false"]),
            (json!({ "path": "a", "names": "b" }), &["'names'", "a list"]),
            (json!({ "path": "a", "names": ["b", [1]] }), &["'names[1]'"]),
            (json!({ "path": "a", "at": {} }), &["'at.x' is missing"]),
            (json!({ "path": "a", "lien": 1 }), &["no argument 'lien'", "'line'?"]),
            (json!({ "path": "a", "zzz": 1 }), &["no argument 'zzz'", "there are path, line"]),
            (json!({ "path": "a", "file_path": "b" }), &["no argument 'file_path'"]),
        ] {
            let error = checked(sent.clone()).unwrap_err();
            assert!(words.iter().all(|word| error.contains(word)), "{sent}: {error}");
        }
    }

    /// A schema as tool servers send it.
    fn wild() -> Value {
        json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "unit": { "$ref": "#/$defs/Unit" },
                "days": { "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }], "default": null },
                "place": { "oneOf": [{ "type": "string" }, { "$ref": "#/$defs/Point" }] },
                "limit": { "type": ["integer", "null"] },
                "mode": { "const": "fast" },
                "link": { "type": "string", "format": "uri" },
                "code": { "type": "string", "pattern": "^[A-Z]{3}$" },
                "wrapped": { "allOf": [{ "$ref": "#/$defs/Point" }] },
                "tags": { "type": "array", "items": { "type": "string" }, "uniqueItems": true },
            },
            "$defs": {
                "Unit": { "enum": ["c", "f"] },
                "Point": {
                    "type": "object",
                    "properties": { "x": { "type": "number" }, "y": { "type": "number" } },
                    "required": ["x", "y"],
                },
            },
        })
    }

    #[test]
    fn real_world_schemas_are_checked_and_arguments_corrected_for_them() {
        let checker = checker(wild());
        for (sent, meant) in [
            (json!({ "unit": "c" }), Some(json!({ "unit": "c" }))),
            (json!({ "unit": "k" }), None),
            (json!({ "days": "3" }), Some(json!({ "days": 3 }))),
            (json!({ "days": 3 }), Some(json!({ "days": 3 }))),
            (json!({ "days": 0 }), None),
            (json!({ "days": "soon" }), None),
            (json!({ "place": "Oslo" }), Some(json!({ "place": "Oslo" }))),
            (json!({ "place": { "x": "1", "y": 2 } }), Some(json!({ "place": { "x": 1.0, "y": 2 } }))),
            (json!({ "place": { "x": 1 } }), None),
            (json!({ "limit": "7" }), Some(json!({ "limit": 7 }))),
            (json!({ "limit": "all" }), None),
            (json!({ "mode": "fast" }), Some(json!({ "mode": "fast" }))),
            (json!({ "mode": "slow" }), None),
            (json!({ "link": "https://example.com/a" }), Some(json!({ "link": "https://example.com/a" }))),
            (json!({ "link": "not a link" }), None),
            (json!({ "code": "OSL" }), Some(json!({ "code": "OSL" }))),
            (json!({ "code": "oslo" }), None),
            (json!({ "wrapped": { "x": "1", "y": "2" } }), Some(json!({ "wrapped": { "x": 1.0, "y": 2.0 } }))),
            (json!({ "tags": ["a", "a"] }), None),
            (json!({ "more": 1 }), Some(json!({ "more": 1 }))),
        ] {
            match (checker.check(&sent, &[]), meant) {
                (Ok(found), Some(meant)) => assert_eq!(Value::Object(found), meant, "{sent}"),
                (Err(error), None) => {
                    let name = sent.as_object().and_then(|keys| keys.keys().next()).expect("one is sent");
                    assert!(error.contains(&format!("'{name}")) && error.chars().count() < 500, "{sent}: {error}");
                }
                (found, meant) => panic!("{sent}: {found:?} instead of {meant:?}"),
            }
        }
    }

    #[test]
    fn a_summary_lists_the_arguments() {
        assert!(summary(&schema()).starts_with("path (a text), line (a whole number, optional), "));
        assert_eq!(summary(&json!({})), "none");
    }

    pub fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let key =
                prop_oneof![".{0,4}", "path|content|filename|task|line|names|at|x|old|new|offset|text|glob|prefix"];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..5).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn checking_never_panics_and_is_idempotent(schema_too in any_json(), arguments in any_json()) {
            for schema in [schema(), schema_too] {
                summary(&schema);
                let Ok(checker) = Checker::new(schema) else { continue };
                match checker.check(&arguments, &[("file_path", "path")]) {
                    // Corrected arguments need no further correction.
                    Ok(fine) => prop_assert_eq!(checker.check(&Value::Object(fine.clone()), &[]), Ok(fine)),
                    Err(error) => prop_assert!(error.chars().count() < 2_000, "{}", error),
                }
            }
        }
    }
}
