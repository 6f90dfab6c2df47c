//! The room's changes that are not on disk yet, as far as the world knows: enough to merge them with external edits of
//! the saved file. Part of the saved world, because the result of an edit depends on it.

use std::collections::{BTreeMap, HashSet};

use bevy::ecs::resource::Resource;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::scene::SceneWrite;
use super::scene_file::{agent_id_of, id_of};
use super::scene_merge::merge;
use crate::base::Id;
use crate::base::hash::content_hash;

/// The maximum number of changes that are kept individually. Beyond that, only the first change of each target is kept,
/// with the value before it.
const MAX_EXACT: usize = 128;

/// A part of a file that the room itself changes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Target {
    Element(Id),
    Agent(Id),
    Relationships,
    Decor,
    File(String),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Change {
    number: u64,
    target: Target,
    /// The previous value; null if there was none.
    before: Value,
}

/// The room's changes that are not on disk yet.
#[derive(Resource, Clone, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Unsaved {
    number: u64,
    changes: Vec<Change>,
    /// For each file that the room writes, the hash of the last text by someone else that was merged.
    over: BTreeMap<String, Option<u64>>,
}

impl Unsaved {
    /// Whether this file, other than the scene, has unsaved changes by the room. If so, the text on disk is older than
    /// the room's.
    pub fn holds_file(&self, path: &str) -> bool {
        self.changes.iter().any(|change| matches!(&change.target, Target::File(file) if file == path))
    }

    /// Starts a new change with the next number.
    pub(super) fn begin_change(&mut self) {
        self.number += 1;
        if self.changes.len() > MAX_EXACT {
            let mut seen = HashSet::new();
            self.changes.retain(|change| seen.insert(change.target.clone()));
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Records that the room writes this file, whose text was `text`.
    pub(super) fn track(&mut self, path: &str, text: Option<&str>) {
        self.over.entry(path.to_owned()).or_insert_with(|| text.map(|text| content_hash(text.as_bytes())));
    }

    pub(super) fn tracks(&self, path: &str) -> bool {
        self.over.contains_key(path)
    }

    /// Records that someone else's text was merged.
    pub(super) fn note_external_text(&mut self, path: &str, hash: Option<u64>) {
        if let Some(over) = self.over.get_mut(path) {
            *over = hash;
        }
    }

    /// Returns the hash of the text that may be overwritten; `None` if the room does not write this file.
    pub(super) fn over(&self, path: &str) -> Option<Option<u64>> {
        self.over.get(path).copied()
    }

    /// Records a change of the scene, given the scene before it.
    pub(super) fn note(&mut self, target: Target, root: &Value) {
        let before = part(root, &target);
        self.changes.push(Change { number: self.number, target, before });
    }

    pub(super) fn note_file(&mut self, target: Target, before: String) {
        self.changes.push(Change { number: self.number, target, before: Value::String(before) });
    }

    /// Removes the changes of this file up to this number, which are on disk.
    pub(super) fn saved(&mut self, path: &str, number: u64, is_scene: bool) {
        self.changes.retain(|change| {
            let here = match &change.target {
                Target::File(file) => file == path,
                _ => is_scene,
            };
            !here || change.number > number
        });
    }

    /// Removes all changes, which are on disk.
    pub(super) fn all_saved(&mut self) {
        self.changes.clear();
    }

    /// Records that the unsaved changes were applied to someone else's scene, which is now their base.
    pub(super) fn rebased_scene(&mut self, theirs: &Value) {
        let its = |change: &&mut Change| !matches!(change.target, Target::File(_));
        self.changes.iter_mut().filter(its).for_each(|change| change.before = part(theirs, &change.target));
    }

    /// Removes the unsaved changes of a file and returns the text that they are based on. The caller has someone else's
    /// newer text, which is the current content of the file.
    pub(super) fn take_base_of_file(&mut self, path: &str) -> Option<String> {
        let base = self.changes.iter().find_map(|change| match (&change.target, &change.before) {
            (Target::File(file), Value::String(before)) if file == path => Some(before.clone()),
            _ => None,
        });
        self.changes.retain(|change| !matches!(&change.target, Target::File(file) if file == path));
        base
    }
}

/// Returns the part of the scene that a write changes.
pub(super) fn target_of(write: &SceneWrite) -> Option<Target> {
    Some(match write {
        SceneWrite::Element { id, .. } | SceneWrite::RemoveElement { id } => Target::Element(id.clone()),
        SceneWrite::Agent { id, .. } | SceneWrite::RemoveAgent { id } => Target::Agent(id.clone()),
        SceneWrite::AddElement { keys } => Target::Element(id_of(keys.get("id"))?),
        SceneWrite::AddAgent { keys } => Target::Agent(agent_id_of(keys)?),
        SceneWrite::Relationships(_) => Target::Relationships,
        SceneWrite::Decor(_) => Target::Decor,
        SceneWrite::File { .. } => return None,
    })
}

fn list_of(target: &Target) -> Option<(&'static str, &Id)> {
    match target {
        Target::Element(id) => Some(("elements", id)),
        Target::Agent(id) => Some(("agents", id)),
        _ => None,
    }
}

/// Returns the list of entries without ids that a target represents as a whole.
fn set_of(target: &Target) -> &'static str {
    if *target == Target::Decor { "decor" } else { "relationships" }
}

fn position(root: &Value, list: &str, id: &str) -> Option<usize> {
    root.get(list)?.as_array()?.iter().position(|entry| {
        let own = if list == "agents" { entry.as_object().and_then(agent_id_of) } else { id_of(entry.get("id")) };
        own.as_deref() == Some(id)
    })
}

fn part(root: &Value, target: &Target) -> Value {
    match list_of(target) {
        Some((list, id)) => position(root, list, id).map_or(Value::Null, |index| root[list][index].clone()),
        None => root.get(set_of(target)).cloned().unwrap_or_default(),
    }
}

/// Applies the room's unsaved changes to someone else's scene.
pub(super) fn rebase(unsaved: &Unsaved, ours: &Value, theirs: &Value) -> Value {
    let mut joined = theirs.clone();
    let mut seen = HashSet::new();
    for change in unsaved.changes.iter().filter(|change| !matches!(change.target, Target::File(_))) {
        // The first change of a target has the common base of all of them.
        if !seen.insert(&change.target) {
            continue;
        }
        let (our, their) = (part(ours, &change.target), part(theirs, &change.target));
        match list_of(&change.target) {
            Some((list, id)) => put(&mut joined, list, id, merge(&change.before, &our, &their)),
            None => {
                let merged = merge_sets(&change.before, &our, &their);
                if merged != their {
                    joined[set_of(&change.target)] = merged;
                }
            }
        }
    }
    joined
}

fn put(root: &mut Value, list: &str, id: &str, entry: Value) {
    let at = position(root, list, id);
    if at.is_none() && entry.is_null() {
        return;
    }
    if !root.is_object() {
        *root = Value::Object(Map::new());
    }
    if !root.get(list).is_some_and(Value::is_array) {
        root[list] = Value::Array(Vec::new());
    }
    let Some(entries) = root[list].as_array_mut() else { return };
    match (at, entry) {
        (Some(at), Value::Null) => {
            entries.remove(at);
        }
        (Some(at), entry) => entries[at] = entry,
        (None, entry) => entries.push(entry),
    }
}

/// Merges lists without ids: their entries, without those that the room removed, and with those that it added.
fn merge_sets(base: &Value, ours: &Value, theirs: &Value) -> Value {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (base, ours, their) = (list(base), list(ours), list(theirs));
    let mut merged: Vec<Value> =
        their.iter().filter(|entry| !base.contains(entry) || ours.contains(entry)).cloned().collect();
    merged.extend(ours.iter().filter(|entry| !base.contains(entry) && !their.contains(entry)).cloned());
    if merged == their { theirs.clone() } else { Value::Array(merged) }
}
