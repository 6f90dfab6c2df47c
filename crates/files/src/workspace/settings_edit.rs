//! Changes `settings.yaml` from within the program: a setting chosen in the window is an input. It is written into the
//! text of the file at exactly that key, applies at once, and is saved like every other change.
//!
//! The text is edited by [`scene_patch`], where the reasons against `yamlpatch` are documented.

use bevy::ecs::message::{Message, MessageCursor, Messages};
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::files::{KnownFiles, UnreadableFiles};
use super::layout::SETTINGS_FILE;
use super::problems::ProblemReport;
use super::room_sync::{know, order};
use super::settings::SettingsSections;
use super::settings_choice::choose_from;
use super::settings_file::apply_settings;
use super::settings_former::{SettingsText, renamed_data, written_former};
use super::settings_widenings::{defaults_of, widenings};
use super::trust::WorkspaceTrust;
use super::unsaved::{Target, Unsaved};
use super::{scene_patch, yaml};
use crate::base::settings::{SettingKey, find_setting};
use crate::base::{Author, Problem, text};
use crate::log::events::FileChange;
use crate::log::{EventDraft, EventLog};
use crate::schedule::Input;

/// The source of the problems with such changes.
const SOURCE: &str = "changing settings.yaml";

/// Sets keys of one section of `settings.yaml`. An input.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SettingsEdit {
    /// The section, such as `gateway` or `budget`.
    pub section: String,
    /// The new values by key. Null is a value, too: it means "none", whatever the default is.
    pub keys: Map<String, Value>,
    /// The keys to remove, so that their defaults apply.
    #[serde(default)]
    pub defaults: Vec<String>,
    /// Additions by key: missing entries are added to lists, and mappings are extended recursively.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub additions: Map<String, Value>,
}

impl SettingsEdit {
    /// Creates an edit that sets one key.
    pub fn set(section: &str, key: &str, value: Value) -> Self {
        let keys = [(key.to_owned(), value)].into_iter().collect();
        Self { section: section.to_owned(), keys, ..Self::nothing() }
    }

    /// Creates an edit that adds to one key.
    pub fn add(section: &str, key: &str, value: Value) -> Self {
        let additions = [(key.to_owned(), value)].into_iter().collect();
        Self { section: section.to_owned(), additions, ..Self::nothing() }
    }

    fn nothing() -> Self {
        Self { section: String::new(), keys: Map::new(), defaults: Vec::new(), additions: Map::new() }
    }

    /// Creates an edit that resets one key to its default.
    pub fn reset(section: &str, key: &str) -> Self {
        Self { section: section.to_owned(), defaults: vec![key.to_owned()], ..Self::nothing() }
    }

    /// Returns the edit by the present names of its settings: one that an earlier version recorded has former names.
    fn with_present_names(&self, known: &'static [SettingKey]) -> Self {
        let present = |name: &String, value: &Value| match find_setting(known, name) {
            Some((key, Some(former))) => (key.name.to_owned(), former.present_value(value)),
            _ => (name.clone(), value.clone()),
        };
        let all = |values: &Map<String, Value>| values.iter().map(|(name, value)| present(name, value)).collect();
        Self {
            section: self.section.clone(),
            keys: all(&self.keys),
            defaults: self.defaults.iter().map(|name| present(name, &Value::Null).0).collect(),
            additions: all(&self.additions),
        }
    }
}

impl Input for SettingsEdit {
    const KIND: &'static str = "settings";
}

/// Applies the edits in order.
pub(super) fn apply_edits(world: &mut World, mut edits: Local<MessageCursor<SettingsEdit>>) {
    let edits: Vec<SettingsEdit> = edits.read(world.resource::<Messages<SettingsEdit>>()).cloned().collect();
    for edit in edits {
        let problems = match change(world, &edit) {
            Ok(()) => Vec::new(),
            Err(problem) => vec![problem],
        };
        world.write_message(ProblemReport { source: SOURCE.into(), problems });
    }
}

fn change(world: &mut World, edit: &SettingsEdit) -> Result<(), Problem> {
    let keys = world.resource::<SettingsSections>().keys_of(&edit.section);
    let edit = &edit.with_present_names(keys);
    check(world, edit)?;
    let known = world.resource::<KnownFiles>().text(SETTINGS_FILE).map(str::to_owned);
    if let Some(failure) = world.resource::<UnreadableFiles>().failure(SETTINGS_FILE).filter(|_| known.is_none()) {
        return Err(failure.problem(SETTINGS_FILE));
    }
    let text = known.as_deref().unwrap_or("");
    let old = yaml::parse(text).map_err(|error| {
        let what = format!("invalid YAML, so settings cannot be changed here: {}", error.what);
        Problem::error(SETTINGS_FILE, what, "fix this line, then try again").at_line(error.line)
    })?;
    if !matches!(old, Value::Null | Value::Object(_)) {
        let what = "is not a mapping of sections, so settings cannot be changed here";
        return Err(Problem::error(SETTINGS_FILE, what, "write \"section:\" and indent its keys below"));
    }
    let (written, new) = changed(SettingsText { text: text.to_owned(), data: old.clone() }, edit, keys);
    if new == old {
        return Ok(());
    }
    trust_edit(world, edit);
    let patched = scene_patch::patch(&written.text, &written.data, &new);
    let mut unsaved = world.resource_mut::<Unsaved>();
    unsaved.begin_change();
    unsaved.track(SETTINGS_FILE, known.as_deref());
    unsaved.note_file(Target::File(SETTINGS_FILE.to_owned()), known.unwrap_or_default());
    know(world, SETTINGS_FILE, Some(patched));
    order(world, SETTINGS_FILE);
    let mut keys = edit.keys.clone();
    keys.extend(edit.additions.clone());
    keys.values_mut().for_each(hide_user_info);
    let change = FileChange {
        section: Some(edit.section.clone()),
        keys: Some(keys),
        ..FileChange::new(SETTINGS_FILE, Author::user().0)
    };
    world.resource_mut::<EventLog>().write(EventDraft::of(&change));
    apply_settings(world);
    Ok(())
}

/// Trusts what the person chose here, and nothing else in the file.
fn trust_edit(world: &mut World, edit: &SettingsEdit) {
    let sections = world.resource::<SettingsSections>().clone();
    let mut keys = edit.additions.clone();
    keys.extend(edit.keys.clone());
    let section = [(edit.section.clone(), Value::Object(keys))].into_iter().collect();
    let chosen = choose_from(&sections, &section, false);
    let found = widenings(SETTINGS_FILE, &chosen, None, &defaults_of(&sections));
    world.resource_mut::<WorkspaceTrust>().add(found);
}

/// Removes passwords from URLs before an edit is logged.
fn hide_user_info(value: &mut Value) {
    match value {
        Value::String(text) => *text = text::hide_user_info(text),
        Value::Array(values) => values.iter_mut().for_each(hide_user_info),
        Value::Object(keys) => keys.values_mut().for_each(hide_user_info),
        _ => {}
    }
}

/// Rejects keys that no settings section has.
fn check(world: &World, edit: &SettingsEdit) -> Result<(), Problem> {
    let sections = world.resource::<SettingsSections>();
    let Some(section) = sections.0.iter().find(|section| section.name == edit.section) else {
        let what = format!("there is no section {:?}", edit.section);
        return Err(Problem::error(SETTINGS_FILE, what, "choose an existing setting"));
    };
    let is_unknown = |name: &&String| !section.keys.iter().any(|key| key.name == name.as_str());
    match edit.keys.keys().chain(&edit.defaults).chain(edit.additions.keys()).find(is_unknown) {
        Some(key) => {
            let what = format!("there is no setting {key:?} of {:?}", edit.section);
            Err(Problem::error(SETTINGS_FILE, what, "choose an existing setting"))
        }
        None => match (section.out_of_range)(&edit.keys) {
            Some((key, why)) => {
                let what = format!("{key:?} of {:?} was not changed: {why}", edit.section);
                Err(Problem::error(SETTINGS_FILE, what, "choose a number in this range"))
            }
            None => Ok(()),
        },
    }
}

/// Returns the data after the edit, and the text to be patched to it: with the present names of the settings that the edit
/// changes, and with all others as the person wrote them.
fn changed(mut written: SettingsText, edit: &SettingsEdit, known: &'static [SettingKey]) -> (SettingsText, Value) {
    let mut data = written.data.clone();
    let mut edit = edit.clone();
    for key in known {
        let section = data.get(&edit.section).and_then(Value::as_object).cloned().unwrap_or_default();
        if edit.defaults.iter().any(|name| name == key.name) {
            edit.defaults.extend(key.former.iter().map(|former| former.name.to_owned()));
        }
        let Some((former, value)) = written_former(&section, key) else { continue };
        let present = former.present_value(value);
        let mut with_addition = present.clone();
        if let Some(addition) = edit.additions.get(key.name) {
            add_to(&mut with_addition, addition);
        }
        let is_set = edit.keys.get(key.name).is_some_and(|value| !is_same(value, &present));
        if is_set || with_addition != present {
            written.rename(&edit.section, former.name, key.name);
            data = renamed_data(&data, &edit.section, former.name, key.name, |_| present.clone());
        } else {
            edit.keys.shift_remove(key.name);
            edit.additions.shift_remove(key.name);
        }
    }
    let new = with(&data, &edit);
    (written, new)
}

/// Whether two values are equal, also as a whole number and one with a fraction of zero.
fn is_same(value: &Value, other: &Value) -> bool {
    value == other || value.as_f64().is_some_and(|number| other.as_f64() == Some(number))
}

/// Returns the data after an edit by the names in the data.
fn with(old: &Value, edit: &SettingsEdit) -> Value {
    let mut root = old.as_object().cloned().unwrap_or_default();
    let mut section = root.get(&edit.section).and_then(Value::as_object).cloned().unwrap_or_default();
    for (key, value) in &edit.keys {
        section.insert(key.clone(), value.clone());
    }
    for key in &edit.defaults {
        section.shift_remove(key);
    }
    for (key, value) in &edit.additions {
        add_to(section.entry(key.clone()).or_insert(Value::Null), value);
    }
    // An existing section is kept even if it becomes empty, because its comments are a person's.
    if !section.is_empty() || root.get(&edit.section).is_some_and(Value::is_object) {
        root.insert(edit.section.clone(), Value::Object(section));
    }
    if root.is_empty() && old.is_null() { Value::Null } else { Value::Object(root) }
}

/// Adds missing entries. A value of another type is kept as a person wrote it.
fn add_to(there: &mut Value, added: &Value) {
    match (there, added) {
        (there @ Value::Null, added) => *there = added.clone(),
        (Value::Array(there), Value::Array(added)) => {
            let new: Vec<Value> = added.iter().filter(|value| !there.contains(value)).cloned().collect();
            there.extend(new);
        }
        (Value::Object(there), Value::Object(added)) => {
            for (key, value) in added {
                add_to(there.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
#[path = "settings_edit_tests.rs"]
mod tests;
