//! Finds the JSON objects in a model's answer, one by one, so that a malformed or cut one does not lose the others: in
//! one list or several, within other objects, one per line, or between sentences.

use serde_json::Value;

/// The maximum number of places in an answer at which an object or a list is tried; an answer with more is no list.
const MAX_TRIES: usize = 5_000;

/// What an answer contains.
#[derive(Default, Debug, PartialEq)]
pub(super) struct FoundObjects {
    /// The usable objects in order, with the texts in their lists; only texts if there are no objects.
    pub(super) items: Vec<Value>,
    /// The number of objects that begin like usable ones and cannot be read.
    pub(super) lost: usize,
    /// Whether there is a list, which may be empty.
    pub(super) has_list: bool,
}

impl FoundObjects {
    /// Finds the objects for which `is_item` holds. `begins_item` recognises the beginning of one that cannot be read.
    pub(super) fn in_answer(
        text: &str,
        is_item: impl Fn(&Value) -> bool,
        begins_item: impl Fn(&str) -> bool,
    ) -> FoundObjects {
        let mut search = Search { found: Self::default(), texts: Vec::new(), is_item: &is_item };
        let (mut at, mut tries) = (0, 0);
        while let Some(start) = text[at..].find(['[', '{']).map(|next| at + next) {
            tries += 1;
            if tries > MAX_TRIES {
                break;
            }
            let rest = &text[start..];
            if let Some((value, length)) = value_at(rest) {
                search.take(value);
                at = start + length;
                continue;
            }
            let own = rest[1..].split('{').next().unwrap_or_default();
            search.found.lost += usize::from(rest.starts_with('{') && begins_item(own));
            at = start + 1;
        }
        let Search { mut found, texts, .. } = search;
        if found.items.is_empty() {
            found.items = texts.into_iter().max_by_key(Vec::len).unwrap_or_default();
        }
        found
    }
}

struct Search<'a, F> {
    found: FoundObjects,
    /// The lists that contain texts and no objects.
    texts: Vec<Vec<Value>>,
    is_item: &'a F,
}

impl<F: Fn(&Value) -> bool> Search<'_, F> {
    fn take(&mut self, value: Value) {
        match value {
            Value::Array(list) => {
                self.found.has_list = true;
                if list.iter().any(|one| (self.is_item)(one)) {
                    list.into_iter().for_each(|one| match one {
                        text @ Value::String(_) => self.found.items.push(text),
                        other => self.take(other),
                    });
                    return;
                }
                let (texts, others): (Vec<Value>, Vec<Value>) = list.into_iter().partition(Value::is_string);
                if !texts.is_empty() {
                    self.texts.push(texts);
                }
                others.into_iter().for_each(|other| self.take(other));
            }
            item if (self.is_item)(&item) => self.found.items.push(item),
            Value::Object(object) => object.into_iter().for_each(|(_, value)| {
                if value.is_array() || value.is_object() {
                    self.take(value);
                }
            }),
            _ => {}
        }
    }
}

/// Parses the value at the beginning of a text, and returns its length. Commas before a closing bracket are ignored.
fn value_at(text: &str) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    if let Some(Ok(value)) = values.next() {
        return Some((value, values.byte_offset()));
    }
    let whole = balanced(text)?;
    let value = serde_json::from_str(&without_last_commas(whole)).ok()?;
    Some((value, whole.len()))
}

/// Returns the beginning of a text up to the bracket that closes its first one.
fn balanced(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, character, is_in_string) in characters(text) {
        match character {
            '[' | '{' if !is_in_string => depth += 1,
            ']' | '}' if !is_in_string => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(&text[..at + 1]);
                }
            }
            _ => {}
        }
    }
    None
}

/// Removes the commas before closing brackets.
fn without_last_commas(text: &str) -> String {
    let is_last = |at: usize| text[at + 1..].trim_start().starts_with([']', '}']);
    let kept = characters(text).filter(|(at, character, in_string)| *in_string || *character != ',' || !is_last(*at));
    kept.map(|(_, character, _)| character).collect()
}

/// The characters of a JSON text with their positions, and whether each is in a string.
fn characters(text: &str) -> impl Iterator<Item = (usize, char, bool)> {
    let (mut is_in_string, mut is_escaped) = (false, false);
    text.char_indices().map(move |(at, character)| {
        let was_in_string = is_in_string;
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_in_string => is_escaped = true,
            '"' => is_in_string = !is_in_string,
            _ => {}
        }
        (at, character, was_in_string)
    })
}
