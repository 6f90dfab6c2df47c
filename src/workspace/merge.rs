//! Two edits of the same thing at once: what the room did since a file was last saved, and what a person made of
//! the saved file meanwhile. Nothing is lost on either side; where both changed one word, the person's stands.

use serde_json::{Map, Value};

use super::scene_file::id_of;

/// Joins two versions that grew from `base`. Null stands for "not there".
pub fn merge(base: &Value, ours: &Value, theirs: &Value) -> Value {
    if ours == base || ours == theirs {
        return theirs.clone();
    }
    if theirs == base {
        return ours.clone();
    }
    match (base, ours, theirs) {
        (_, Value::Object(ours), Value::Object(theirs)) => {
            let nothing = Map::new();
            let base = base.as_object().unwrap_or(&nothing);
            Value::Object(merge_maps(base, ours, theirs))
        }
        (_, Value::Array(ours), Value::Array(theirs)) => {
            let base = base.as_array().map_or(&[][..], Vec::as_slice);
            merge_lists(base, ours, theirs).unwrap_or_else(|| Value::Array(theirs.clone()))
        }
        (Value::String(base), Value::String(ours), Value::String(theirs)) => {
            Value::String(merge_lines(base, ours, theirs))
        }
        // What one side threw away and the other changed stays, changed.
        (_, ours, Value::Null) => ours.clone(),
        _ => theirs.clone(),
    }
}

fn merge_maps(base: &Map<String, Value>, ours: &Map<String, Value>, theirs: &Map<String, Value>) -> Map<String, Value> {
    let get = |map: &Map<String, Value>, key: &str| map.get(key).cloned().unwrap_or(Value::Null);
    let mut merged = Map::new();
    for key in theirs.keys().chain(ours.keys().filter(|key| !theirs.contains_key(*key))) {
        let value = merge(&get(base, key), &get(ours, key), &get(theirs, key));
        if !value.is_null() || theirs.get(key).is_some_and(Value::is_null) {
            merged.insert(key.clone(), value);
        }
    }
    merged
}

/// Lists whose entries have ids are joined entry by entry; others are not.
fn merge_lists(base: &[Value], ours: &[Value], theirs: &[Value]) -> Option<Value> {
    let find = |list: &[Value], id: &str| {
        list.iter().find(|entry| id_of(entry.get("id")).as_deref() == Some(id)).cloned().unwrap_or(Value::Null)
    };
    if base.iter().chain(ours).chain(theirs).any(|entry| id_of(entry.get("id")).is_none()) {
        return None;
    }
    let mut merged = Vec::new();
    let behind = ours.iter().filter(|entry| id_of(entry.get("id")).is_some_and(|id| find(theirs, &id).is_null()));
    for entry in theirs.iter().chain(behind) {
        let id = id_of(entry.get("id"))?;
        let entry = merge(&find(base, &id), &find(ours, &id), &find(theirs, &id));
        if !entry.is_null() {
            merged.push(entry);
        }
    }
    Some(Value::Array(merged))
}

/// Joins two versions of a text line by line: theirs, without the lines that we took out, and with those that we
/// put in, each behind the line that it followed.
pub fn merge_lines(base: &str, ours: &str, theirs: &str) -> String {
    if ours == base || ours == theirs {
        return theirs.to_owned();
    }
    if theirs == base {
        return ours.to_owned();
    }
    let mut merged: Vec<&str> = theirs.lines().collect();
    let ours_lines: Vec<&str> = ours.lines().collect();
    let count = |lines: &[&str], line: &str| lines.iter().filter(|other| **other == line).count();
    let base_lines: Vec<&str> = base.lines().collect();
    for line in &base_lines {
        if count(&ours_lines, line) < count(&base_lines, line)
            && count(&merged, line) >= count(&base_lines, line)
            && let Some(at) = merged.iter().position(|other| other == line)
        {
            merged.remove(at);
        }
    }
    let mut behind = 0;
    for line in &ours_lines {
        if let Some(at) = merged.iter().skip(behind).position(|other| other == line) {
            behind += at + 1;
        } else if !base_lines.contains(line) {
            merged.insert(behind, line);
            behind += 1;
        }
    }
    let mut merged = merged.join("\n");
    if !merged.is_empty() && (theirs.ends_with('\n') || ours.ends_with('\n')) {
        merged.push('\n');
    }
    merged
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pins_of_both_sides_stay_and_what_one_took_down_is_down() {
        let base =
            json!({ "id": "ideas", "pins": [{ "id": "p1", "text": "a" }, { "id": "p2", "text": "b" }], "label": "L" });
        let ours = json!({ "id": "ideas", "pins": [{ "id": "p1", "text": "a", "up": ["x"] }, { "id": "p2", "text": "b" }, { "id": "p3", "text": "ours" }], "label": "L" });
        let theirs = json!({ "id": "ideas", "pins": [{ "id": "p9", "text": "theirs" }, { "id": "p1", "text": "A" }], "label": "M", "new": 1 });
        assert_eq!(
            merge(&base, &ours, &theirs),
            json!({ "id": "ideas", "pins": [{ "id": "p9", "text": "theirs" }, { "id": "p1", "text": "A", "up": ["x"] }, { "id": "p3", "text": "ours" }], "label": "M", "new": 1 })
        );
    }

    #[test]
    fn entries_that_only_one_side_knows() {
        assert_eq!(merge(&Value::Null, &json!({ "id": "n" }), &Value::Null), json!({ "id": "n" }));
        assert_eq!(merge(&json!({ "id": "n" }), &Value::Null, &json!({ "id": "n" })), Value::Null);
        assert_eq!(
            merge(&json!({ "id": "n" }), &Value::Null, &json!({ "id": "n", "text": "mine" })),
            json!({ "id": "n", "text": "mine" })
        );
    }

    #[test]
    fn lines_of_both_sides_stay() {
        let base = "# Rules\n- one\n- two\n";
        assert_eq!(
            merge_lines(base, "# Rules\n- one\n- two\n- ours\n", "# Rules\n- one\n- theirs\n- two\n"),
            "# Rules\n- one\n- theirs\n- two\n- ours\n"
        );
        assert_eq!(merge_lines(base, "# Rules\n- two\n", "# Rules!\n- one\n- two\n"), "# Rules!\n- two\n");
        assert_eq!(merge_lines(base, base, "x"), "x");
    }
}
