//! Detects edits that would accidentally discard content. A scene with a mistyped key still parses, but content that
//! was not removed on purpose is missing. Such a text is detected here, so that the last good version of the scene
//! stays in use until the text is fixed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::scene_file::{SCENE_KEYS, id_of};
use crate::base::Id;
use crate::base::text::nearest;

/// The keys of a scene's entries, and of the pins and mail within them.
const WITHIN: [&str; 23] = [
    "id",
    "kind",
    "label",
    "position",
    "owner",
    "file",
    "text",
    "pins",
    "items",
    "outbox",
    "profile",
    "behaviour",
    "author",
    "up",
    "down",
    "comments",
    "from",
    "to",
    "subject",
    "status",
    "attachments",
    "time",
    "read",
];
/// The maximum number of reported mistakes per text.
const MAX_MISTAKES: usize = 10;

/// An edit that removes something, probably by accident.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct AccidentalEdit {
    /// The keys that lead to the mistake, as far as they are known.
    pub(super) path: Vec<String>,
    /// The mistake.
    pub(super) what: String,
    /// What to do about it.
    pub(super) remedy: String,
}

/// Returns what `new` seems to have lost from `old` by mistake; empty if everything that is missing was removed on
/// purpose.
pub(super) fn mistakes(old: &Value, new: &Value) -> Vec<AccidentalEdit> {
    let mut found = Vec::new();
    if let (Value::Object(old), Value::Object(new)) = (old, new) {
        keys(old, new, &SCENE_KEYS, "the scene", &mut found);
        for (list, needed) in [("elements", &["id", "kind"][..]), ("agents", &["profile"])] {
            entries(list, needed, old.get(list), new.get(list), &mut found);
        }
    }
    found.truncate(MAX_MISTAKES);
    found
}

/// Finds keys of `old` that `new` lacks but has a similar key instead, or whose value has another type.
fn keys(old: &Map<String, Value>, new: &Map<String, Value>, known: &[&str], of: &str, found: &mut Vec<AccidentalEdit>) {
    for (key, value) in old.iter().filter(|(key, value)| known.contains(&key.as_str()) && !is_nothing(value)) {
        match new.get(key) {
            None => {
                let strange = new.keys().find(|word| {
                    !known.contains(&word.as_str())
                        && !old.contains_key(*word)
                        && nearest(word, [key.as_str()]).is_some()
                });
                if let Some(strange) = strange {
                    let what = format!("{of} has \"{strange}\" where it had \"{key}\"");
                    found.push(slip(strange, what, format!("write \"{key}\", or \"{key}: []\" to empty it")));
                }
            }
            Some(now) if !is_nothing(now) && is_other_shape(value, now) => {
                let what = format!("\"{key}\" of {of} is no longer a {}", shape(value));
                found.push(slip(key, what, format!("change it back to a {}", shape(value))));
            }
            Some(_) => {}
        }
    }
}

fn slip(key: &str, what: String, remedy: String) -> AccidentalEdit {
    AccidentalEdit { path: vec![key.to_owned()], what, remedy }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(keys) => keys.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn shape(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "list",
        Value::Object(_) => "mapping",
        _ => "word or text",
    }
}

fn is_other_shape(old: &Value, new: &Value) -> bool {
    // A position may be written as a list or as a mapping.
    let is_place = |value: &Value| value.as_array().is_some_and(|pair| pair.iter().all(Value::is_number));
    shape(old) != shape(new) && !is_place(old) && !is_place(new)
}

/// Finds missing entries of a list that contains an invalid entry, and mistakes within the other entries.
fn entries(list: &str, needed: &[&str], old: Option<&Value>, new: Option<&Value>, found: &mut Vec<AccidentalEdit>) {
    let (Some(Value::Array(old)), Some(Value::Array(new))) = (old, new) else { return };
    let of = |entry: &Value| {
        let id = id_of(entry.get("id"));
        if list == "agents" { id.or_else(|| id_of(entry.get("profile"))) } else { id }
    };
    let mut now: BTreeMap<Id, &Value> = BTreeMap::new();
    let mut unusable = None;
    for entry in new {
        let id = of(entry).filter(|_| entry.is_object());
        let has_all = needed.iter().all(|key| list == "agents" || id_of(entry.get(*key)).is_some());
        match id {
            Some(id) if has_all && !now.contains_key(&id) => drop(now.insert(id, entry)),
            Some(id) => {
                now.entry(id.clone()).or_insert(entry);
                unusable = Some(format!("an entry of \"{list}\" with the id \"{id}\" cannot be used"));
            }
            None => unusable = Some(format!("an entry of \"{list}\" cannot be used")),
        }
    }
    let mut gone = BTreeSet::new();
    for entry in old {
        let Some(id) = of(entry) else { continue };
        match now.get(&id) {
            None => drop(gone.insert(id)),
            Some(now) => within(&id, entry, now, found),
        }
    }
    if let Some(what) = unusable
        && let Some(first) = gone.first()
    {
        let more = if gone.len() > 1 { format!(" and {} more", gone.len() - 1) } else { String::new() };
        let what = format!("{what}, and \"{first}\"{more} would be gone");
        found.push(slip(list, what, "give each entry an id, or remove the entry completely".to_owned()));
    }
}

/// Finds mistakes within an entry, and within its pins and mail.
fn within(id: &str, old: &Value, new: &Value, found: &mut Vec<AccidentalEdit>) {
    let (Value::Object(old), Value::Object(new)) = (old, new) else { return };
    keys(old, new, &WITHIN, &format!("\"{id}\""), found);
    for list in ["pins", "items", "outbox"] {
        let (Some(Value::Array(old)), Some(Value::Array(new))) = (old.get(list), new.get(list)) else { continue };
        let now: BTreeMap<Id, &Map<String, Value>> =
            new.iter().filter_map(|entry| Some((id_of(entry.get("id"))?, entry.as_object()?))).collect();
        for entry in old {
            let known = id_of(entry.get("id")).and_then(|id| Some((now.get(&id)?, id)));
            if let Some((now, part)) = known
                && let Value::Object(entry) = entry
            {
                keys(entry, now, &WITHIN, &format!("\"{part}\" of \"{id}\""), found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::yaml;
    use super::*;

    const GOOD: &str = "elements:\n  - { id: a, kind: pinboard, position: [0, 0], pins: [{ id: p1, text: one }, two] }\n  - { id: b, kind: rulebook, text: Be kind. }\nagents:\n  - { id: r, profile: ada }\nsettings: { most: 3 }\n";

    fn found(text: &str) -> Vec<String> {
        let data = |text: &str| yaml::parse(text).expect("it is YAML");
        mistakes(&data(GOOD), &data(text)).into_iter().map(|slip| slip.what).collect()
    }

    #[test]
    fn every_typing_mistake_that_would_remove_something_is_found() {
        for (word, typed) in [
            ("elements:", "elementz:"),
            ("agents:", "agnets:"),
            ("settings:", "setings:"),
            ("pins:", "pinz:"),
            ("{ id: a, kind", "{ idd: a, kind"),
            ("id: a, kind:", "id: a, knid:"),
            ("id: p1, text:", "id: p1, txt:"),
            ("rulebook, text:", "rulebook, texxt:"),
            ("- { id: r, profile: ada }", "- { idd: r, profil: ada }"),
            ("- { id: r, profile: ada }", "- nobody"),
            ("[{ id: p1, text: one }, two]", "here"),
            ("Be kind.", "{ a: b }"),
            ("{ id: b,", "{ id: a,"),
        ] {
            let text = GOOD.replacen(word, typed, 1);
            assert_ne!(text, GOOD, "{word}");
            assert!(!found(&text).is_empty(), "{typed}");
        }
        assert!(!found("elements: none\nagents: []\n").is_empty());
    }

    #[test]
    fn deliberate_removals_are_applied() {
        for text in [
            GOOD,
            "",
            "name: Empty\n",
            "elements: []\nagents:\n",
            "# nothing\nelements:\n",
            &GOOD.replace("  - { id: b, kind: rulebook, text: Be kind. }\n", ""),
            &GOOD.replace("{ id: p1, text: one }, two", ""),
            &GOOD.replace("{ id: p1, text: one }", "{ id: p1, text: \"\" }"),
            &GOOD.replace("position: [0, 0]", "position: { x: 1, y: 2 }"),
            &GOOD.replace("{ id: r, profile: ada }", "{ profile: ada, mood: good }"),
            &GOOD.replace(", text: Be kind.", ", file: boards/b.md"),
            &format!("{GOOD}extra: 1\n"),
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(mistakes(&Value::Null, &json!({ "elementz": [] })), [], "nothing can be lost of nothing");
    }
}
