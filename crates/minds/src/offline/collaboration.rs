//! What a task asks of an agent that works with others: subscribing to a channel, publishing to one, writing on the
//! blackboard, handing something over, and giving a result in a format. Pure.

use serde_json::{Map, Value, json};

use super::history::MARKS;
use crate::mind::headings::HANDED_OVER;

/// What stands before the fields of a result, and behind them.
const FIELDS: (&str, &str) = ("a JSON object with the fields ", " and nothing around it");
/// What stands before the schema of a result.
const SCHEMA: &str = "fits this schema, and nothing around it: ";
/// A schema is followed no deeper.
const NESTED_AT_MOST: usize = 6;

/// What a task asks for besides the work itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// The channel to listen to: named behind the word, or with `#`.
    pub listen: Option<String>,
    /// The channel to say the result in.
    pub publish: Option<String>,
    /// The entry of the blackboard to write it to.
    pub entry: Option<String>,
    /// To whom something is to be handed over, and what.
    pub hand_over: Option<(String, String)>,
}

impl Wanted {
    /// What this task asks for.
    pub fn of(task: &str) -> Self {
        // What was said with a task that was handed over is none of it.
        let task = task.split_once(&format!("\n\n{HANDED_OVER}")).map_or(task, |(task, _)| task);
        let lower = task.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().map(bare).collect();
        let behind = |marks: &[&str]| {
            let named = words.windows(2).find(|pair| marks.contains(&pair[0])).map(|pair| pair[1]);
            named.filter(|name| !name.is_empty())
        };
        let channel = || {
            let marked = || words.iter().copied().find(|word| word.starts_with('#'));
            let name = behind(&["channel"]).or_else(marked)?.trim_start_matches('#');
            (!name.is_empty()).then(|| name.to_owned())
        };
        let listens = ["subscribe", "listen to"].iter().any(|verb| lower.contains(verb));
        let entry = || behind(&["as", "under", "entry", "key"]).unwrap_or("result").to_owned();
        Self {
            listen: listens.then(channel).flatten(),
            publish: lower.contains("publish").then(channel).flatten(),
            entry: lower.contains("blackboard").then(entry),
            hand_over: handed_over(task, &lower),
        }
    }
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| c == '.' || MARKS.contains(&c))
}

/// “Delegate to Rolf: count the chairs.”, “Hand the counting over to Rolf.”
fn handed_over(task: &str, lower: &str) -> Option<(String, String)> {
    // Letters that change their length in lower case would be found at another place.
    if task.len() != lower.len() {
        return None;
    }
    let phrases = ["delegate to ", "delegate this to ", "over to "];
    let at = phrases.iter().find_map(|phrase| lower.find(phrase).map(|at| at + phrase.len()))?;
    let rest = task.get(at..)?;
    let (name, what) = rest.split_once([':', ',', '\n']).unwrap_or((rest.split(['.', ' ']).next()?, ""));
    let name = bare(name.trim());
    let what = if what.trim().is_empty() { task } else { what };
    (!name.is_empty() && name.split_whitespace().count() <= 3).then(|| (name.to_owned(), what.trim().to_owned()))
}

/// A result in the form that a task asks for, made of these words; none where it asks for no form.
pub fn in_form(task: &str, said: &str) -> Option<String> {
    if let Some((_, rest)) = task.split_once(FIELDS.0)
        && let Some((names, _)) = rest.split_once(FIELDS.1)
    {
        let fields = names.split(", ").map(|name| (name.to_owned(), json!(said)));
        return Some(Value::Object(fields.collect()).to_string());
    }
    let (_, rest) = task.split_once(SCHEMA)?;
    let schema = serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()?;
    Some(filled(&schema, said, 0).to_string())
}

/// A value that fits a schema as far as that is plain.
fn filled(schema: &Value, said: &str, depth: usize) -> Value {
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|all| all.first()) {
        return first.clone();
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or("object");
    match kind {
        "string" => json!(said),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "null" => Value::Null,
        "array" => match schema.get("items").filter(|_| depth < NESTED_AT_MOST) {
            Some(items) => json!([filled(items, said, depth + 1)]),
            None => json!([said]),
        },
        _ if depth < NESTED_AT_MOST => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let fields = properties.into_iter().flatten();
            Value::Object(fields.map(|(name, of)| (name.clone(), filled(of, said, depth + 1))).collect())
        }
        _ => Value::Object(Map::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_task_asks_for_beside_the_work_is_found() {
        let wanted = Wanted::of("Find sources and publish what you find in channel findings.");
        assert_eq!((wanted.publish.as_deref(), wanted.listen), (Some("findings"), None));
        assert_eq!(Wanted::of("Subscribe to #News, then write it down.").listen.as_deref(), Some("news"));
        assert_eq!(Wanted::of("Count, and put it on the blackboard as chairs.").entry.as_deref(), Some("chairs"));
        assert_eq!(Wanted::of("Count on the blackboard").entry.as_deref(), Some("result"));
        let handed = Wanted::of("Delegate to Rolf: count the chairs.").hand_over;
        assert_eq!(handed, Some(("Rolf".into(), "count the chairs.".into())));
        let handed = Wanted::of("Hand the counting over to Rolf.").hand_over;
        assert_eq!(handed, Some(("Rolf".into(), "Hand the counting over to Rolf.".into())));
        assert_eq!(Wanted::of("Write a page about chairs."), Wanted::default());
        let told = format!("Count.\n\n{HANDED_OVER}Ada, who receives your result.\nWhat you should know: #tea is wet.");
        assert_eq!(Wanted::of(&told), Wanted::default(), "whose task it is says nothing of whose it is to be");
    }

    #[test]
    fn a_result_has_the_form_that_is_asked_for() {
        let task = "Count. Give as your last words a JSON object with the fields chairs, tables and nothing around it.";
        assert_eq!(in_form(task, "Twelve."), Some("{\"chairs\":\"Twelve.\",\"tables\":\"Twelve.\"}".into()));
        let task = "Give as your last words JSON that fits this schema, and nothing around it: {\"type\":\"object\",\
                    \"properties\":{\"count\":{\"type\":\"integer\",\"minimum\":3},\"words\":{\"type\":\"array\",\
                    \"items\":{\"type\":\"string\"}}}}.";
        assert_eq!(in_form(task, "Twelve."), Some("{\"count\":3,\"words\":[\"Twelve.\"]}".into()));
        assert_eq!(in_form("Write it down.", "Twelve."), None);
    }
}
