//! Lists of things with ids (pins, mail) as data: their keys, and the acts that lead from one list to another.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::content::{ElementAct, ItemList};
use crate::base::{Id, Problem};

/// Something that stands in a list of an element.
pub(super) trait Item: Clone + PartialEq {
    /// Its id within the list.
    fn id(&self) -> &Id;
    /// Gives it an id.
    fn set_id(&mut self, id: Id);
    /// Its text, by which an item without a written id is recognised.
    fn text(&self) -> &str;
    /// Whether its id was made here because its file gives none.
    fn made_up(&self) -> bool;
    /// All its keys, unknown ones among them.
    fn to_map(&self) -> Map<String, Value>;
    /// From its keys; a key that cannot be used is a problem in words and stays unset.
    fn from_map(map: &Map<String, Value>, problems: &mut Vec<String>) -> Self;
}

/// The first id `{prefix}1`, `{prefix}2`, … above `counter` that is free; the counter moves along.
pub(super) fn fresh_id(prefix: &str, counter: &mut u32, taken: impl Fn(&str) -> bool) -> Id {
    loop {
        *counter += 1;
        let id = format!("{prefix}{counter}");
        if !taken(&id) {
            return id.into();
        }
    }
}

/// Moves the counter on where an id was chosen as [`fresh_id`] would have, so that none is given twice.
pub(super) fn count_on(prefix: &str, counter: &mut u32, id: &str) {
    if let Some(number) = id.strip_prefix(prefix).and_then(|number| number.parse().ok())
        && number == counter.saturating_add(1)
    {
        *counter = number;
    }
}

/// Gives an id to each item that has none, and another to each that repeats one; says which repeated.
pub(super) fn settle_ids<T: Item>(items: &mut [T], prefix: &str, counter: &mut u32) -> Vec<String> {
    let mut taken: BTreeSet<Id> = items.iter().map(|item| item.id().clone()).collect();
    let mut seen = BTreeSet::new();
    let mut repeated = Vec::new();
    for item in items {
        if !item.id().is_empty() && seen.insert(item.id().clone()) {
            continue;
        }
        if !item.id().is_empty() {
            repeated.push(item.id().to_string());
        }
        let id = fresh_id(prefix, counter, |id| taken.contains(id));
        taken.insert(id.clone());
        seen.insert(id.clone());
        item.set_id(id);
    }
    repeated
}

/// Reads a list of an entry. What is no item becomes a problem; the rest is used.
pub(super) fn read_list<T: Item>(
    entry: &Map<String, Value>,
    list: ItemList,
    place: &str,
    problems: &mut Vec<Problem>,
) -> Vec<T> {
    let remedy = format!("write {}: as a list of entries with a text", list.word());
    let values = match entry.get(list.word()) {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(values)) => values,
        Some(_) => {
            problems.push(Problem::error(place, format!("{} is not a list", list.word()), remedy));
            return Vec::new();
        }
    };
    let mut items = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let mut wrong = Vec::new();
        match value {
            Value::Object(map) => items.push(T::from_map(map, &mut wrong)),
            // A bare text is the shortest way to write one.
            Value::String(text) => {
                let map = Map::from_iter([("text".to_owned(), Value::String(text.clone()))]);
                items.push(T::from_map(&map, &mut wrong));
            }
            _ => wrong.push("is neither a text nor an entry with a text".to_owned()),
        }
        let place = format!("{place}, {} {}", list.word(), index + 1);
        problems.extend(wrong.into_iter().map(|what| Problem::warning(&place, what, remedy.clone())));
    }
    items
}

/// The items of `newer` under the ids that `older` knows them by: an item without a written id is the one with
/// the same text. The flag says whether the id is still to be made by the element.
fn recognise<T: Item>(older: &[T], newer: &[T]) -> Vec<(T, bool)> {
    let mut claimed: BTreeSet<Id> = newer.iter().filter(|item| !item.made_up()).map(|item| item.id().clone()).collect();
    newer
        .iter()
        .map(|item| {
            let mut item = item.clone();
            if !item.made_up() {
                return (item, false);
            }
            let known = older.iter().find(|old| old.text() == item.text() && !claimed.contains(old.id()));
            match known {
                Some(old) => {
                    claimed.insert(old.id().clone());
                    item.set_id(old.id().clone());
                    (item, false)
                }
                None => (item, true),
            }
        })
        .collect()
}

/// The acts that lead from one list to another. `changed` makes those for an item that both have.
pub(super) fn acts_between<T: Item>(
    list: ItemList,
    older: &[T],
    newer: &[T],
    remove: impl Fn(&Id) -> ElementAct,
    changed: impl Fn(&T, &T) -> Vec<ElementAct>,
) -> Vec<ElementAct> {
    let newer = recognise(older, newer);
    let find = |id: &Id| newer.iter().find(|(item, fresh)| !fresh && item.id() == id);
    let mut acts = Vec::new();
    let mut ids: Vec<Id> = Vec::new();
    for old in older {
        match find(old.id()) {
            Some((new, _)) => {
                ids.push(old.id().clone());
                acts.extend(changed(old, new));
            }
            None => acts.push(remove(old.id())),
        }
    }
    for (at, (new, fresh)) in newer.iter().enumerate() {
        if *fresh || !ids.contains(new.id()) {
            let mut item = new.to_map();
            if *fresh {
                item.remove("id");
            }
            ids.insert(at.min(ids.len()), new.id().clone());
            acts.push(ElementAct::Put { list, item, at });
        }
    }
    let wanted: Vec<Id> = newer.iter().map(|(item, _)| item.id().clone()).collect();
    if ids != wanted {
        acts.push(ElementAct::Order { list, ids: wanted });
    }
    acts
}

/// The keys that differ, with their new values; null where one is gone.
pub(super) fn differing(older: &Map<String, Value>, newer: &Map<String, Value>) -> Map<String, Value> {
    let gone = older.keys().filter(|key| !newer.contains_key(*key)).map(|key| (key.clone(), Value::Null));
    let set = newer.iter().filter(|(key, value)| older.get(*key) != Some(value));
    gone.chain(set.map(|(key, value)| (key.clone(), value.clone()))).collect()
}

/// Sets keys; null takes one away.
pub(super) fn set_keys(map: &mut Map<String, Value>, keys: &Map<String, Value>) {
    for (key, value) in keys {
        if value.is_null() {
            map.shift_remove(key);
        } else {
            map.insert(key.clone(), value.clone());
        }
    }
}

/// Puts those items that are named into the order of the names, in the places that they hold together.
pub(super) fn reorder<T: Item>(items: &mut [T], ids: &[Id]) {
    let places: Vec<usize> = (0..items.len()).filter(|index| ids.contains(items[*index].id())).collect();
    let mut named: Vec<T> = places.iter().map(|index| items[*index].clone()).collect();
    named.sort_by_key(|item| ids.iter().position(|id| id == item.id()));
    for (place, item) in places.into_iter().zip(named) {
        items[place] = item;
    }
}
