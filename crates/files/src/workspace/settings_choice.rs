//! Sorts settings as people write them into the registered sections, and reports keys that belong to none. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::settings::SettingsSections;
use super::yaml_syntax::line_of_key;
use crate::base::Problem;
use crate::base::text::nearest;

/// A registered section: its name and its keys.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) keys: Vec<String>,
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

/// Sorts keys into sections without reporting anything. `is_scene`: see [`choose`].
pub(super) fn choose_from(sections: &SettingsSections, found: &Map<String, Value>, is_scene: bool) -> Chosen {
    let known: Vec<Known> =
        sections.0.iter().map(|section| Known { name: section.name, keys: section.fields() }).collect();
    let source = Source { place: "", text: "", path: &[] };
    choose(&known, found, &source, is_scene, (&mut Vec::new(), &mut Unknown::new()))
}

/// Sorts keys into sections. `bare` keys, outside of a section, are accepted if they belong to exactly one.
pub(super) fn choose(
    known: &[Known],
    found: &Map<String, Value>,
    source: &Source,
    bare: bool,
    (problems, unknown): (&mut Vec<Problem>, &mut Unknown),
) -> Chosen {
    let mut chosen = Chosen::new();
    for (name, value) in found {
        let section = known.iter().find(|section| section.name == name);
        match (section, value) {
            (Some(_), Value::Null) => {}
            // In a section of names, a list of entries with names is equivalent to a mapping.
            (Some(section), Value::Array(entries)) if section.keys.is_empty() => {
                for (name, entry) in entries.iter().enumerate().map(|(number, entry)| (named(number, entry), entry)) {
                    chosen.entry(section.name).or_default().entry(name).or_insert_with(|| entry.clone());
                }
            }
            (Some(section), Value::Object(keys)) => {
                for (key, value) in keys {
                    // A section without fixed keys accepts any: its keys are names.
                    if section.keys.is_empty() || section.keys.contains(key) {
                        chosen.entry(section.name).or_default().insert(key.clone(), value.clone());
                    } else {
                        let what = format!("unknown setting \"{key}\" of \"{name}\"");
                        let remedy = suggest(key, section.keys.iter().map(String::as_str));
                        problems.push(source.warn(&[name, key], what, remedy));
                        unknown.push((section.name, key.clone(), value.clone()));
                    }
                }
            }
            (Some(section), value) => {
                unknown.push((section.name, String::new(), value.clone()));
                problems.push(source.warn(
                    &[name],
                    format!("\"{name}\" is a section, not one value"),
                    "indent its keys below it",
                ));
            }
            (None, value) => match bare_key(known, name, bare) {
                Ok(section) => {
                    chosen.entry(section).or_default().insert(name.clone(), value.clone());
                }
                Err(remedy) => {
                    problems.push(source.warn(&[name], format!("unknown section or setting \"{name}\""), remedy));
                    let meant = nearest(name, known.iter().map(|section| section.name));
                    let meant = known.iter().find(|section| Some(section.name) == meant);
                    if let (Some(section), Value::Object(keys)) = (meant, value) {
                        unknown.extend(keys.iter().map(|(key, value)| (section.name, key.clone(), value.clone())));
                    }
                }
            },
        }
    }
    chosen
}

/// Returns the name in an entry of a list; its position if it has none.
fn named(number: usize, entry: &Value) -> String {
    let name = entry.get("name").unwrap_or(entry).as_str();
    name.map_or_else(|| format!("entry {}", number + 1), |name| name.trim().to_owned())
}

fn bare_key(known: &[Known], key: &str, bare: bool) -> Result<&'static str, String> {
    let owners: Vec<&'static str> =
        known.iter().filter(|section| section.keys.iter().any(|own| own == key)).map(|section| section.name).collect();
    match owners.as_slice() {
        [owner] if bare => Ok(owner),
        [] => {
            let sections = known.iter().map(|section| section.name);
            let keys = known.iter().filter(|_| bare).flat_map(|section| section.keys.iter().map(String::as_str));
            Err(suggest(key, sections.chain(keys)))
        }
        owners => Err(format!("write it under {}", owners.join(": or "))),
    }
}

fn suggest<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(word, known.clone()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("known are {}", known.collect::<Vec<_>>().join(", ")),
    }
}
