//! Recognizes requests in a task that involve other agents: subscribing or publishing to a channel, writing to the
//! blackboard, delegating a task, and returning a result in a given format. Pure.

use serde_json::{Map, Value, json};

use super::history::PUNCTUATION;
use crate::mind::headings::HANDED_OVER;

/// The text before and after the list of result fields in a task.
const FIELDS_MARKERS: (&str, &str) = ("a JSON object with the fields ", " and nothing around it");
/// The text before the JSON schema of a result in a task.
const SCHEMA_MARKER: &str = "fits this schema, and nothing around it: ";
/// Maximum depth to which a schema is filled in.
const MAX_SCHEMA_DEPTH: usize = 6;

/// The requests of a task that involve other agents.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Collaboration {
    /// The channel to subscribe to: the word after “channel” or one that starts with `#`.
    pub subscribe_to: Option<String>,
    /// The channel to publish the result in.
    pub publish_to: Option<String>,
    /// The key of the blackboard entry for the result.
    pub blackboard_key: Option<String>,
    /// The agent to delegate to, and the task for it.
    pub delegate: Option<(String, String)>,
}

impl Collaboration {
    /// Parses the text of a task.
    pub fn of(task: &str) -> Self {
        // The message that comes with a delegated task is not part of it.
        let task = task.split_once(&format!("\n\n{HANDED_OVER}")).map_or(task, |(task, _)| task);
        let lower = task.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().map(trim_punctuation).collect();
        let word_after = |marks: &[&str]| {
            let word = words.windows(2).find(|pair| marks.contains(&pair[0])).map(|pair| pair[1]);
            word.filter(|name| !name.is_empty())
        };
        let channel = || {
            let tagged = || words.iter().copied().find(|word| word.starts_with('#'));
            let name = word_after(&["channel"]).or_else(tagged)?.trim_start_matches('#');
            (!name.is_empty()).then(|| name.to_owned())
        };
        let subscribes = ["subscribe", "listen to"].iter().any(|verb| lower.contains(verb));
        let key = || word_after(&["as", "under", "entry", "key"]).unwrap_or("result").to_owned();
        Self {
            subscribe_to: subscribes.then(channel).flatten(),
            publish_to: lower.contains("publish").then(channel).flatten(),
            blackboard_key: lower.contains("blackboard").then(key),
            delegate: parse_delegation(task, &lower),
        }
    }
}

fn trim_punctuation(word: &str) -> &str {
    word.trim_matches(|c: char| c == '.' || PUNCTUATION.contains(&c))
}

/// Returns the agent and the delegated task in “Delegate to Rolf: count the chairs.” or “Hand the counting over to
/// Rolf.”
fn parse_delegation(task: &str, lower: &str) -> Option<(String, String)> {
    // Byte positions differ if lower case changes the length of a letter.
    if task.len() != lower.len() {
        return None;
    }
    let phrases = ["delegate to ", "delegate this to ", "over to "];
    let at = phrases.iter().find_map(|phrase| lower.find(phrase).map(|at| at + phrase.len()))?;
    let rest = task.get(at..)?;
    let (name, what) = rest.split_once([':', ',', '\n']).unwrap_or((rest.split(['.', ' ']).next()?, ""));
    let name = trim_punctuation(name.trim());
    let what = if what.trim().is_empty() { task } else { what };
    (!name.is_empty() && name.split_whitespace().count() <= 3).then(|| (name.to_owned(), what.trim().to_owned()))
}

/// Returns a JSON result in the format that a task asks for, filled with `text`; `None` if it asks for no format.
pub fn formatted_result(task: &str, text: &str) -> Option<String> {
    if let Some((_, rest)) = task.split_once(FIELDS_MARKERS.0)
        && let Some((names, _)) = rest.split_once(FIELDS_MARKERS.1)
    {
        let fields = names.split(", ").map(|name| (name.to_owned(), json!(text)));
        return Some(Value::Object(fields.collect()).to_string());
    }
    let (_, rest) = task.split_once(SCHEMA_MARKER)?;
    let schema = serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()?;
    Some(value_for_schema(&schema, text, 0).to_string())
}

/// Returns a value that fits the common keywords of a JSON schema.
fn value_for_schema(schema: &Value, text: &str, depth: usize) -> Value {
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|all| all.first()) {
        return first.clone();
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or("object");
    match kind {
        "string" => json!(text),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "null" => Value::Null,
        "array" => match schema.get("items").filter(|_| depth < MAX_SCHEMA_DEPTH) {
            Some(items) => json!([value_for_schema(items, text, depth + 1)]),
            None => json!([text]),
        },
        _ if depth < MAX_SCHEMA_DEPTH => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let fields = properties.into_iter().flatten();
            Value::Object(
                fields.map(|(name, schema)| (name.clone(), value_for_schema(schema, text, depth + 1))).collect(),
            )
        }
        _ => Value::Object(Map::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_involve_others_are_found() {
        let wanted = Collaboration::of("Find sources and publish what you find in channel findings.");
        assert_eq!((wanted.publish_to.as_deref(), wanted.subscribe_to), (Some("findings"), None));
        assert_eq!(Collaboration::of("Subscribe to #News, then write it down.").subscribe_to.as_deref(), Some("news"));
        assert_eq!(
            Collaboration::of("Count, and put it on the blackboard as chairs.").blackboard_key.as_deref(),
            Some("chairs")
        );
        assert_eq!(Collaboration::of("Count on the blackboard").blackboard_key.as_deref(), Some("result"));
        let delegate = Collaboration::of("Delegate to Rolf: count the chairs.").delegate;
        assert_eq!(delegate, Some(("Rolf".into(), "count the chairs.".into())));
        let delegate = Collaboration::of("Hand the counting over to Rolf.").delegate;
        assert_eq!(delegate, Some(("Rolf".into(), "Hand the counting over to Rolf.".into())));
        assert_eq!(Collaboration::of("Write a page about chairs."), Collaboration::default());
        let delegated =
            format!("Count.\n\n{HANDED_OVER}Ada, who receives your result.\nWhat you should know: #tea is wet.");
        assert_eq!(
            Collaboration::of(&delegated),
            Collaboration::default(),
            "the message of a delegated task is ignored"
        );
    }

    #[test]
    fn a_result_has_the_requested_format() {
        let task = "Count. Give as your last words a JSON object with the fields chairs, tables and nothing around it.";
        assert_eq!(formatted_result(task, "Twelve."), Some("{\"chairs\":\"Twelve.\",\"tables\":\"Twelve.\"}".into()));
        let task = "Give as your last words JSON that fits this schema, and nothing around it: {\"type\":\"object\",\
                    \"properties\":{\"count\":{\"type\":\"integer\",\"minimum\":3},\"words\":{\"type\":\"array\",\
                    \"items\":{\"type\":\"string\"}}}}.";
        assert_eq!(formatted_result(task, "Twelve."), Some("{\"count\":3,\"words\":[\"Twelve.\"]}".into()));
        assert_eq!(formatted_result("Write it down.", "Twelve."), None);
    }
}
