//! Lists of items with ids (pins, mail) as data: their keys, and the acts that change one list to another.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::act::{ElementAct, element_acts};
use crate::base::{Id, Problem};

/// The list of an element that contains an item.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemList {
    /// The pins of a pinboard.
    Pins,
    /// Received mail.
    Items,
    /// Copies of sent mail.
    Outbox,
}

impl ItemList {
    /// The key of the scene entry that contains the list.
    pub fn scene_key(self) -> &'static str {
        match self {
            Self::Pins => "pins",
            Self::Items => "items",
            Self::Outbox => "outbox",
        }
    }
}

/// A change of a list in a person's file: acts for all kinds with lists.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum ListAct {
    /// Inserts a pin or mail at an index of its list.
    Put { list: ItemList, item: Map<String, Value>, at: usize },
    /// Sets these keys of a pin or mail; null removes a key.
    Correct { list: ItemList, id: Id, keys: Map<String, Value> },
    /// Sets the order of the listed items that exist.
    Order { list: ItemList, ids: Vec<Id> },
    /// Sets the lines below the list, which belong to no item.
    KeepLines { below: Vec<String> },
}

element_acts!(ListAct);

/// An item in a list of an element.
pub(super) trait Item: Clone + PartialEq {
    /// Its id within the list.
    fn id(&self) -> &Id;
    /// Sets its id.
    fn set_id(&mut self, id: Id);
    /// Its text, by which an item without a written id is recognised.
    fn text(&self) -> &str;
    /// Whether its id was generated because its file has none.
    fn made_up(&self) -> bool;
    /// The lines above it in its file.
    fn above_mut(&mut self) -> &mut Vec<String>;
    /// All its keys, including unknown ones.
    fn to_map(&self) -> Map<String, Value>;
    /// Reads an item from its keys; an unusable key is reported in `problems` and stays unset.
    fn from_map(map: &Map<String, Value>, problems: &mut Vec<String>) -> Self;
}

/// The first unused id `{prefix}1`, `{prefix}2`, … above `counter`, which is advanced.
pub(super) fn fresh_id(prefix: &str, counter: &mut u32, taken: impl Fn(&str) -> bool) -> Id {
    loop {
        *counter += 1;
        let id = format!("{prefix}{counter}");
        if !taken(&id) {
            return id.into();
        }
    }
}

/// Advances the counter past an id in the form of [`fresh_id`], so that no id is reused.
pub(super) fn count_on(prefix: &str, counter: &mut u32, id: &str) {
    if let Some(number) = id.strip_prefix(prefix).and_then(|number| number.parse().ok())
        && number == counter.saturating_add(1)
    {
        *counter = number;
    }
}

/// Gives an id to each item that has none, and a new one to each duplicate; returns the duplicates.
pub(super) fn assign_ids<T: Item>(items: &mut [T], prefix: &str, counter: &mut u32) -> Vec<String> {
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

/// Removes an item on behalf of the room: the lines that a person wrote above it stay, above the next item or below
/// all.
pub(super) fn take_out<T: Item>(items: &mut Vec<T>, index: usize, below: &mut Vec<String>) -> T {
    let mut item = items.remove(index);
    let lines = std::mem::take(item.above_mut());
    items.get_mut(index).map_or(below, Item::above_mut).splice(0..0, lines);
    item
}

/// Reads a list of an entry. Invalid items are reported as problems; the rest is used.
pub(super) fn read_list<T: Item>(
    entry: &Map<String, Value>,
    list: ItemList,
    place: &str,
    problems: &mut Vec<Problem>,
) -> Vec<T> {
    let remedy = format!("write {}: as a list of entries with a text", list.scene_key());
    let values = match entry.get(list.scene_key()) {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(values)) => values,
        Some(_) => {
            problems.push(Problem::error(place, format!("{} is not a list", list.scene_key()), remedy));
            return Vec::new();
        }
    };
    let mut items = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let mut wrong = Vec::new();
        match value {
            Value::Object(map) => items.push(T::from_map(map, &mut wrong)),
            // A plain text is the shortest way to write an item.
            Value::String(text) => {
                let map = Map::from_iter([("text".to_owned(), Value::String(text.clone()))]);
                items.push(T::from_map(&map, &mut wrong));
            }
            _ => wrong.push("is neither text nor an entry with text".to_owned()),
        }
        let place = format!("{place}, {} {}", list.scene_key(), index + 1);
        problems.extend(wrong.into_iter().map(|what| Problem::warning(&place, what, remedy.clone())));
    }
    items
}

/// Indexes of items by text, lowest first.
struct ByText<'a>(BTreeMap<&'a str, VecDeque<usize>>);

impl<'a> ByText<'a> {
    fn new<T: Item>(items: &'a [T]) -> Self {
        let mut places: BTreeMap<&str, VecDeque<usize>> = BTreeMap::new();
        for (place, item) in items.iter().enumerate() {
            places.entry(item.text()).or_default().push_back(place);
        }
        Self(places)
    }

    /// Returns the first unclaimed item with this text, and marks it as claimed.
    fn claim<'i, T: Item>(&mut self, items: &'i [T], text: &str, claimed: &mut BTreeSet<Id>) -> Option<&'i Id> {
        let places = self.0.get_mut(text)?;
        while let Some(place) = places.pop_front() {
            let id = items[place].id();
            if claimed.insert(id.clone()) {
                return Some(id);
            }
        }
        None
    }
}

/// The items of `newer` with the ids that they have in `older`: an item without a written id is the one with the same
/// text. The flag says whether the item still needs an id.
fn match_items<T: Item>(older: &[T], newer: &[T]) -> Vec<(T, bool)> {
    let mut claimed: BTreeSet<Id> = newer.iter().filter(|item| !item.made_up()).map(|item| item.id().clone()).collect();
    let mut known = ByText::new(older);
    newer
        .iter()
        .map(|item| {
            let mut item = item.clone();
            if !item.made_up() {
                return (item, false);
            }
            let id = known.claim(older, item.text(), &mut claimed).cloned();
            let is_fresh = id.is_none();
            id.into_iter().for_each(|id| item.set_id(id));
            (item, is_fresh)
        })
        .collect()
}

/// Gives items of `base` without an id in the file the ids that `held` has for them now. Items that no longer exist are
/// removed from both `base` and `newer`, because they were not added again.
pub(super) fn adopt_ids<T: Item>(held: &[T], base: &mut Vec<T>, newer: &mut Vec<T>) {
    let mut claimed: BTreeSet<Id> = base.iter().filter(|item| !item.made_up()).map(|item| item.id().clone()).collect();
    let mut known = ByText::new(held);
    let mut gone: BTreeMap<String, usize> = BTreeMap::new();
    base.retain_mut(|item| {
        if !item.made_up() {
            return true;
        }
        match known.claim(held, item.text(), &mut claimed).cloned() {
            Some(id) => item.set_id(id),
            None => *gone.entry(item.text().to_owned()).or_default() += 1,
        }
        !item.made_up()
    });
    newer.retain(|item| match gone.get_mut(item.text()).filter(|count| item.made_up() && **count > 0) {
        Some(count) => {
            *count -= 1;
            false
        }
        None => true,
    });
}

/// The acts that change one list to another. `changed` returns those for an item in both.
pub(super) fn acts_between<T: Item>(
    list: ItemList,
    older: &[T],
    newer: &[T],
    remove: impl Fn(&Id) -> ElementAct,
    changed: impl Fn(&T, &T) -> Vec<ElementAct>,
) -> Vec<ElementAct> {
    let newer = match_items(older, newer);
    let known: BTreeMap<&Id, &T> =
        newer.iter().filter(|(_, fresh)| !fresh).map(|(item, _)| (item.id(), item)).collect();
    let mut acts = Vec::new();
    let mut kept: Vec<Id> = Vec::new();
    for old in older {
        match known.get(old.id()) {
            Some(new) => {
                kept.push(old.id().clone());
                acts.extend(changed(old, new));
            }
            None => acts.push(remove(old.id())),
        }
    }
    let there: BTreeSet<Id> = kept.iter().cloned().collect();
    for (at, (new, fresh)) in newer.iter().enumerate() {
        if *fresh || !there.contains(new.id()) {
            let mut item = new.to_map();
            if *fresh {
                item.remove("id");
            }
            acts.push(ListAct::Put { list, item, at }.into());
        }
    }
    // Inserted items are at their final position; only the order of the others may still be wrong.
    let wanted = newer.iter().filter(|(item, fresh)| !fresh && there.contains(item.id()));
    if !wanted.map(|(item, _)| item.id()).eq(&kept) {
        let named = newer.iter().filter(|(_, fresh)| !fresh).map(|(item, _)| item.id().clone());
        acts.push(ListAct::Order { list, ids: named.collect() }.into());
    }
    acts
}

/// The keys that differ, with their new values; null for removed ones.
pub(super) fn differing(older: &Map<String, Value>, newer: &Map<String, Value>) -> Map<String, Value> {
    let gone = older.keys().filter(|key| !newer.contains_key(*key)).map(|key| (key.clone(), Value::Null));
    let set = newer.iter().filter(|(key, value)| older.get(*key) != Some(value));
    gone.chain(set.map(|(key, value)| (key.clone(), value.clone()))).collect()
}

/// Sets keys; null removes one.
pub(super) fn set_keys(map: &mut Map<String, Value>, keys: &Map<String, Value>) {
    for (key, value) in keys {
        if value.is_null() {
            map.shift_remove(key);
        } else {
            map.insert(key.clone(), value.clone());
        }
    }
}

/// Puts the named items into this order, within the positions that they occupy together.
pub(super) fn reorder<T: Item>(items: &mut [T], ids: &[Id]) {
    let mut order: BTreeMap<&Id, usize> = BTreeMap::new();
    for (place, id) in ids.iter().enumerate() {
        order.entry(id).or_insert(place);
    }
    let places: Vec<usize> = (0..items.len()).filter(|index| order.contains_key(items[*index].id())).collect();
    let mut named: Vec<T> = places.iter().map(|index| items[*index].clone()).collect();
    named.sort_by_key(|item| order.get(item.id()));
    for (place, item) in places.into_iter().zip(named) {
        items[place] = item;
    }
}
