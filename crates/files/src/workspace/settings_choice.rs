//! Sorts settings as people write them into the registered sections, by their present names, and reports keys that
//! belong to none. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::settings::SettingsSections;
use super::yaml_syntax::line_of_key;
use crate::base::Problem;
use crate::base::settings::{FormerName, SettingKey, find_setting};
use crate::base::text::nearest;

/// A registered section: its name and its keys, of which there are none if any name is allowed.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) keys: &'static [SettingKey],
}

impl SettingsSections {
    /// Returns the names and keys of the sections.
    pub(super) fn known(&self) -> Vec<Known> {
        self.0.iter().map(|section| Known { name: section.name, keys: section.keys }).collect()
    }

    /// Returns the settings in `settings:` of a scene as `section.key`, by their present names.
    pub fn names_in_scene(&self, settings: &Map<String, Value>) -> Vec<String> {
        let chosen = choose_from(self, settings, true);
        let names = |(section, keys): (&str, Map<String, Value>)| {
            keys.keys().map(|key| format!("{section}.{key}")).collect::<Vec<_>>()
        };
        chosen.into_iter().flat_map(names).collect()
    }
}

/// Unknown keys, each with its section, or with the section that it probably belongs to.
pub(super) type Unknown = Vec<(&'static str, String, Value)>;

/// The chosen values by section.
pub(super) type Chosen = BTreeMap<&'static str, Map<String, Value>>;

/// One source of settings.
pub(super) struct Source<'a> {
    pub(super) place: &'a str,
    pub(super) text: &'a str,
    /// The keys that lead to the settings in that text.
    pub(super) path: &'a [&'a str],
}

impl Source<'_> {
    /// The problem with the setting that these keys lead to.
    pub(super) fn warn(&self, keys: &[&str], what: String, remedy: impl Into<String>) -> Problem {
        let path: Vec<&str> = self.path.iter().chain(keys).copied().collect();
        Problem::warning(self.place, what, remedy).at_line(line_of_key(self.text, &path))
    }
}

/// A setting that is written under a former name.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct FormerKey {
    pub(super) section: &'static str,
    pub(super) key: &'static SettingKey,
    pub(super) former: FormerName,
    /// The keys that lead to it.
    pub(super) path: Vec<String>,
    value: Value,
}

/// The settings of one source.
#[derive(Default)]
pub(super) struct Choice {
    /// The values by section and present name.
    pub(super) chosen: Chosen,
    /// Where each value is written: the keys that lead to it, as in the text.
    pub(super) written: BTreeMap<(&'static str, String), Vec<String>>,
    /// The settings that are written under a former name, whether or not they count.
    pub(super) former: Vec<FormerKey>,
    /// Keys that belong to no section.
    pub(super) unknown: Unknown,
    /// What could not be used.
    pub(super) problems: Vec<Problem>,
}

impl Choice {
    fn insert(&mut self, section: &'static str, key: &str, path: Vec<String>, value: Value) {
        self.chosen.entry(section).or_default().insert(key.to_owned(), value);
        self.written.insert((section, key.to_owned()), path);
    }

    /// Returns the keys that lead to a chosen value, as in the text.
    pub(super) fn path(&self, section: &'static str, key: &str) -> Option<Vec<&str>> {
        let path = self.written.get(&(section, key.to_owned()))?;
        Some(path.iter().map(String::as_str).collect())
    }

    /// Inserts a value by the name that a person wrote. Returns whether the section has such a setting.
    fn insert_named(&mut self, section: &Known, name: &str, path: Vec<String>, value: &Value) -> bool {
        match find_setting(section.keys, name) {
            Some((key, Some(former))) => {
                self.former.push(FormerKey { section: section.name, key, former, path, value: value.clone() });
            }
            Some((key, None)) => self.insert(section.name, key.name, path, value.clone()),
            // The keys of a section without fixed keys are names.
            None if section.keys.is_empty() => self.insert(section.name, name, path, value.clone()),
            None => return false,
        }
        true
    }

    /// Inserts the values under former names, unless the present name is written as well, which counts.
    fn insert_former(&mut self, source: &Source) {
        for FormerKey { section, key, former, path, value } in self.former.clone() {
            if self.written.contains_key(&(section, key.name.to_owned())) {
                let what = format!(
                    "\"{}\" of \"{section}\" has no effect: it is a former name of \"{}\", which is set, too",
                    former.name, key.name
                );
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                self.problems.push(source.warn(&path, what, format!("remove \"{}\"", former.name)));
            } else {
                self.insert(section, key.name, path, former.present_value(&value));
            }
        }
    }
}

/// Sorts keys into sections without reporting anything. `is_scene`: see [`choose`].
pub(super) fn choose_from(sections: &SettingsSections, found: &Map<String, Value>, is_scene: bool) -> Chosen {
    choose(&sections.known(), found, &Source { place: "", text: "", path: &[] }, is_scene).chosen
}

/// Sorts keys into sections. `bare` keys, outside of a section, are accepted if they belong to exactly one.
pub(super) fn choose(known: &[Known], found: &Map<String, Value>, source: &Source, bare: bool) -> Choice {
    let mut choice = Choice::default();
    for (name, value) in found {
        let section = known.iter().find(|section| section.name == name);
        match (section, value) {
            (Some(_), Value::Null) => {}
            // In a section of names, a list of entries with names is equivalent to a mapping.
            (Some(section), Value::Array(entries)) if section.keys.is_empty() => {
                for (name, entry) in entries.iter().enumerate().map(|(number, entry)| (named(number, entry), entry)) {
                    choice.chosen.entry(section.name).or_default().entry(name).or_insert_with(|| entry.clone());
                }
            }
            (Some(section), Value::Object(keys)) => choose_in_section(&mut choice, section, keys, source),
            (Some(section), value) => {
                choice.unknown.push((section.name, String::new(), value.clone()));
                choice.problems.push(source.warn(
                    &[name],
                    format!("\"{name}\" is a section, not one value"),
                    "indent its keys below it",
                ));
            }
            (None, value) => match bare_key(known, name, bare) {
                Ok(section) => {
                    choice.insert_named(section, name, vec![name.clone()], value);
                }
                Err(remedy) => {
                    let what = format!("unknown section or setting \"{name}\"");
                    choice.problems.push(source.warn(&[name], what, remedy));
                    let meant = nearest(name, known.iter().map(|section| section.name));
                    let meant = known.iter().find(|section| Some(section.name) == meant);
                    if let (Some(section), Value::Object(keys)) = (meant, value) {
                        let unknown = keys.iter().map(|(key, value)| (section.name, key.clone(), value.clone()));
                        choice.unknown.extend(unknown);
                    }
                }
            },
        }
    }
    choice.insert_former(source);
    choice
}

fn choose_in_section(choice: &mut Choice, section: &Known, keys: &Map<String, Value>, source: &Source) {
    for (key, value) in keys {
        let path = vec![section.name.to_owned(), key.clone()];
        if !choice.insert_named(section, key, path, value) {
            let what = format!("unknown setting \"{key}\" of \"{}\"", section.name);
            let remedy = suggest_setting(key, std::slice::from_ref(section), &[]);
            choice.problems.push(source.warn(&[section.name, key], what, remedy));
            choice.unknown.push((section.name, key.clone(), value.clone()));
        }
    }
}

/// Returns the name in an entry of a list; its position if it has none.
fn named(number: usize, entry: &Value) -> String {
    let name = entry.get("name").unwrap_or(entry).as_str();
    name.map_or_else(|| format!("entry {}", number + 1), |name| name.trim().to_owned())
}

/// Returns the section that a key outside of a section belongs to, or the remedy if there is not exactly one.
fn bare_key<'a>(known: &'a [Known], key: &str, bare: bool) -> Result<&'a Known, String> {
    let owners: Vec<&Known> = known.iter().filter(|section| find_setting(section.keys, key).is_some()).collect();
    match owners.as_slice() {
        [owner] if bare => Ok(owner),
        [] => {
            let sections: Vec<&str> = known.iter().map(|section| section.name).collect();
            Err(suggest_setting(key, if bare { known } else { &[] }, &sections))
        }
        owners => {
            let names: Vec<&str> = owners.iter().map(|owner| owner.name).collect();
            Err(format!("write it under {}", names.join(": or ")))
        }
    }
}

/// Returns what may have been meant: one of these words, or a setting of these sections. If it resembles a former name,
/// its present name is suggested.
fn suggest_setting(word: &str, sections: &[Known], words: &[&str]) -> String {
    let keys = || sections.iter().flat_map(|section| section.keys);
    let present = || words.iter().copied().chain(keys().map(|key| key.name));
    let former = keys().flat_map(|key| key.former.iter().map(|former| former.name));
    let Some(near) = nearest(word, present().chain(former)) else {
        return format!("known are {}", present().collect::<Vec<_>>().join(", "));
    };
    let renamed = keys().find(|key| key.former.iter().any(|former| former.name == near));
    let is_present = present().any(|name| name == near);
    let meant = renamed.filter(|_| !is_present).map_or(near, |key| key.name);
    format!("did you mean \"{meant}\"?")
}
