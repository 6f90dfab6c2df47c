//! Merges two concurrent edits of a scene: the room's changes since its last save, and a person's changes to the saved
//! file. Changes of both sides are kept; if both changed the same value, the person's wins. Texts are merged line by
//! line ([`super::text_merge`]).

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value};

use super::scene_file::id_of;
use super::text_merge::merge_keeping_both;
use crate::base::Id;

/// Merges two versions that are based on `base`. Null means "missing".
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
            Value::String(merge_keeping_both(base, ours, theirs))
        }
        // A value that the room created is kept; a value that a person removed is removed, even if the room changed it.
        (Value::Null, ours, Value::Null) => ours.clone(),
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

/// Merges lists whose entries have ids entry by entry; `None` for other lists. An entry that `theirs` removed is
/// removed, even if `ours` changed it.
fn merge_lists(base: &[Value], ours: &[Value], theirs: &[Value]) -> Option<Value> {
    if ours.iter().any(|entry| id_of(entry.get("id")).is_none()) {
        return None;
    }
    let (base, theirs) = (named_as(ours, base), named_as(ours, theirs));
    let by_id = |list: &[Value]| -> HashMap<Id, Value> {
        list.iter().filter_map(|entry| Some((id_of(entry.get("id"))?, entry.clone()))).collect()
    };
    let (based, our, their) = (by_id(&base), by_id(ours), by_id(&theirs));
    let nothing = Value::Null;
    let mut merged = Vec::new();
    for entry in &theirs {
        let get = |list: &HashMap<Id, Value>, id: &Id| list.get(id).unwrap_or(&nothing).clone();
        let joined = match id_of(entry.get("id")) {
            Some(id) => merge(&get(&based, &id), &get(&our, &id), &get(&their, &id)),
            // An entry that `ours` removed and `theirs` left unchanged is removed.
            None if base.contains(entry) => Value::Null,
            None => entry.clone(),
        };
        if !joined.is_null() {
            merged.push(joined);
        }
    }
    let is_new = |id: &Id| !based.contains_key(id) && !their.contains_key(id);
    merged.extend(ours.iter().filter(|entry| id_of(entry.get("id")).is_some_and(|id| is_new(&id))).cloned());
    Some(Value::Array(merged))
}

/// Gives entries without an id the ids that entries with the same text have in `ours`, because a person need not write
/// ids.
fn named_as(ours: &[Value], list: &[Value]) -> Vec<Value> {
    let text_of = |entry: &Value| entry.as_str().or_else(|| entry.get("text")?.as_str()).map(str::to_owned);
    let mut claimed: HashSet<Id> = list.iter().filter_map(|entry| id_of(entry.get("id"))).collect();
    let mut known: HashMap<String, VecDeque<Id>> = HashMap::new();
    for entry in ours {
        if let Some((text, id)) = text_of(entry).zip(id_of(entry.get("id"))) {
            known.entry(text).or_default().push_back(id);
        }
    }
    let mut name = |entry: &Value| {
        let is_named = id_of(entry.get("id")).is_some();
        let text = text_of(entry).filter(|_| !is_named)?;
        let ids = known.get_mut(&text)?;
        let id = std::iter::from_fn(|| ids.pop_front()).find(|id| claimed.insert(id.clone()))?;
        let mut named = Map::from_iter([("id".to_owned(), Value::String(id.to_string()))]);
        named.insert("text".to_owned(), Value::String(text));
        named.extend(entry.as_object().cloned().unwrap_or_default());
        Some(Value::Object(named))
    };
    list.iter().map(|entry| name(entry).unwrap_or_else(|| entry.clone())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pins_of_both_sides_are_kept_and_removed_ones_stay_removed() {
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
    fn entries_that_a_person_removed_stay_removed_with_or_without_an_id() {
        let base = json!({ "pins": ["a", { "text": "b" }, "c"] });
        let ours = json!({ "pins": [{ "id": "p1", "text": "a", "up": ["x"] }, { "id": "p2", "text": "b" },
                                    { "id": "p3", "text": "c" }, { "id": "p4", "text": "new" }] });
        let theirs = json!({ "pins": ["a", "c", "mine"] });
        let joined = merge(&base, &ours, &theirs);
        assert_eq!(joined["pins"][0], json!({ "id": "p1", "text": "a", "up": ["x"] }));
        let texts: Vec<&str> = joined["pins"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|pin| pin["text"].as_str().or(pin.as_str()).expect("a text"))
            .collect();
        assert_eq!(texts, ["a", "c", "mine", "new"]);
        let voted = json!({ "pins": [{ "id": "p1", "text": "a", "up": ["x"] }] });
        let base = json!({ "pins": [{ "id": "p1", "text": "a" }] });
        assert_eq!(merge(&base, &voted, &json!({ "pins": [] })), json!({ "pins": [] }));
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
}
