//! Which JSON schemas of arguments are accepted, and validation against all of JSON schema.
//!
//! Schemas come from external servers and files: references that would have to be fetched, endless self-references, and
//! schemas that are too large are rejected before any call is checked.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use crate::base::text;

/// The maximum size of a schema as JSON, in bytes.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// The maximum nesting depth of schemas that apply to the same value, references followed.
const MAX_NESTED: usize = 64;
/// The maximum number of steps for checking that a schema is finite.
const MAX_STEPS: usize = 100_000;
/// The maximum length of a library's error, in characters.
const WHY_CHARS: usize = 300;
/// How many errors are examined to report the first.
const MAX_FAULTS: usize = 100;
/// The maximum number of backtracking steps of a pattern; beyond it the pattern counts as not matching.
const MAX_BACKTRACKS: usize = 20_000;

/// Keywords whose schemas apply to the same value as the schema that contains them.
const IN_PLACE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];

/// Creates a validator for a schema of arguments; the error says why the schema is rejected.
pub(super) fn validator(schema: &Value) -> Result<Validator, String> {
    let Some(keys) = schema.as_object() else { return Err("the schema is not an object".to_owned()) };
    if schema.to_string().len() > MAX_SCHEMA_BYTES {
        return Err(format!("the schema is longer than {} KiB", MAX_SCHEMA_BYTES / 1024));
    }
    match keys.get("type") {
        None => {}
        Some(Value::String(kind)) if kind == "object" => {}
        Some(other) => return Err(format!("the schema is for {other}, but arguments are an object")),
    }
    check_finite(schema)?;
    let patterns = PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS).size_limit(1 << 20);
    let options = jsonschema::options().offline().with_pattern_options(patterns).should_validate_formats(true);
    options.build(schema).map_err(|error| text::truncate(&text::one_line(&error.to_string()), WHY_CHARS))
}

/// The first error of arguments, as a sentence for the model. The choice is deterministic.
pub(super) fn fault(validator: &Validator, arguments: &Map<String, Value>) -> Option<String> {
    let arguments = Value::Object(arguments.clone());
    let faults = validator.iter_errors(&arguments).take(MAX_FAULTS);
    let (at, why) = faults.map(|error| (error.instance_path().to_string(), error.masked().to_string())).min()?;
    let why = text::truncate(&text::one_line(&why), WHY_CHARS);
    let at = at.trim_start_matches('/').replace('/', ".");
    Some(if at.is_empty() {
        format!("the arguments are invalid: {why}")
    } else {
        format!("the argument '{at}' is invalid: {why}")
    })
}

/// The part of a schema that a reference names.
pub(super) fn referred<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// Rejects external references, and references to themselves without a step into the value.
fn check_finite(root: &Value) -> Result<(), String> {
    let mut open = vec![(root, 0)];
    let mut steps = 0;
    while let Some((part, depth)) = open.pop() {
        steps += 1;
        if steps > MAX_STEPS || depth > MAX_NESTED * 2 {
            return Err("the schema is too complex".to_owned());
        }
        match part {
            Value::Object(keys) => {
                for key in ["$dynamicRef", "$recursiveRef"] {
                    if keys.contains_key(key) {
                        return Err(format!("the schema uses {key}, which is not supported"));
                    }
                }
                if depth > 0 && keys.get("$id").is_some_and(Value::is_string) {
                    return Err("a part of the schema has an $id of its own, which is not supported".to_owned());
                }
                if let Some(reference) = keys.get("$ref").and_then(Value::as_str) {
                    let is_known =
                        (reference == "#" || reference.starts_with("#/")) && referred(root, reference).is_some();
                    if !is_known {
                        let reference = text::truncate(&text::one_line(reference), 80);
                        return Err(format!("the schema refers to {reference:?}, which it does not contain"));
                    }
                }
                nested(root, part, 0, &mut steps)?;
                open.extend(keys.values().map(|value| (value, depth + 1)));
            }
            Value::Array(parts) => open.extend(parts.iter().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    Ok(())
}

fn nested(root: &Value, part: &Value, depth: usize, steps: &mut usize) -> Result<(), String> {
    *steps += 1;
    if depth > MAX_NESTED || *steps > MAX_STEPS {
        return Err("the schema refers to itself endlessly".to_owned());
    }
    let Some(keys) = part.as_object() else { return Ok(()) };
    let referred = keys.get("$ref").and_then(Value::as_str).and_then(|reference| referred(root, reference));
    let lists = IN_PLACE_LISTS.iter().filter_map(|key| keys.get(*key)?.as_array()).flatten();
    let single = IN_PLACE.iter().filter_map(|key| keys.get(*key));
    let dependent = keys.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values);
    referred
        .into_iter()
        .chain(lists)
        .chain(single)
        .chain(dependent)
        .try_for_each(|part| nested(root, part, depth + 1, steps))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_that_would_be_fetched_or_has_no_end_is_refused() {
        for (schema, why) in [
            (json!(3), "not an object"),
            (json!({ "type": "string" }), "arguments are an object"),
            (json!({ "type": ["object", "null"] }), "arguments are an object"),
            (json!({ "$ref": "#" }), "endlessly"),
            (
                json!({ "allOf": [{ "$ref": "#/$defs/a" }], "$defs": { "a": { "anyOf": [{ "$ref": "#" }] } } }),
                "endlessly",
            ),
            (json!({ "properties": { "a": { "$ref": "https://example.com/a.json" } } }), "does not contain"),
            (json!({ "properties": { "a": { "$ref": "file:///etc/passwd" } } }), "does not contain"),
            (json!({ "properties": { "a": { "$ref": "#/$defs/none" } } }), "does not contain"),
            (json!({ "properties": { "a": { "$dynamicRef": "#a" } } }), "not supported"),
            (json!({ "properties": { "a": { "type": "nonsense" } } }), "nonsense"),
            (json!({ "properties": { "a": { "pattern": "(" } } }), "regex"),
            (json!({ "description": "x".repeat(300_000) }), "longer"),
        ] {
            let refusal = validator(&schema).expect_err("it cannot be used");
            assert!(refusal.contains(why), "{refusal}");
        }
        let tree = json!({ "properties": { "left": { "$ref": "#" } } });
        assert!(validator(&tree).is_ok(), "a tree comes to an end with its value");
    }
}
