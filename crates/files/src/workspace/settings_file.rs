//! Parses settings as people write them: `settings.yaml` by section, overridden by `settings:` in the scene. Invalid
//! settings are reported and ignored; everything else applies.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde_json::{Map, Value};

use super::files::KnownFiles;
use super::layout::SETTINGS_FILE;
use super::problems::ProblemReport;
use super::scene_state::SceneState;
use super::settings::{ErasedSettings, SettingsSections};
use super::yaml;
use super::yaml_syntax::line_of_key;
use crate::base::Problem;
use crate::base::text::{hide_user_info, nearest};

/// A registered section: its name and its keys.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) keys: Vec<String>,
}

/// Unknown keys, each with its section, or with the section that it probably belongs to.
type Unknown = Vec<(&'static str, String, Value)>;

/// The chosen values by section.
pub(super) type Chosen = BTreeMap<&'static str, Map<String, Value>>;

/// One source of settings.
struct Source<'a> {
    place: &'a str,
    text: &'a str,
    /// The keys that lead to the settings in that text.
    path: &'a [&'a str],
}

impl Source<'_> {
    fn warn(&self, keys: &[&str], what: String, remedy: impl Into<String>) -> Problem {
        let path: Vec<&str> = self.path.iter().chain(keys).copied().collect();
        Problem::warning(self.place, what, remedy).at_line(line_of_key(self.text, &path))
    }
}

/// Sets every section from `settings.yaml` and the scene. If `settings.yaml` is not valid YAML, nothing changes.
pub(super) fn apply_settings(world: &mut World) {
    let Some(sections) = world.get_resource::<SettingsSections>().map(|sections| sections.0.clone()) else { return };
    let known: Vec<Known> =
        sections.iter().map(|section| Known { name: section.name, keys: section.fields() }).collect();
    let files = world.resource::<KnownFiles>();
    let text = files.text(SETTINGS_FILE).unwrap_or("").to_owned();
    let scene = world.resource::<SceneState>();
    let (place, of_scene) = (scene.path.clone(), scene.doc.settings.clone());
    let scene_text = files.text(&place).unwrap_or("").to_owned();

    let file = Source { place: SETTINGS_FILE, text: &text, path: &[] };
    let mut problems = Vec::new();
    let of_file = match yaml::parse(&text) {
        Ok(Value::Null) => Map::new(),
        Ok(Value::Object(keys)) => keys,
        Ok(_) => {
            problems.push(Problem::error(
                SETTINGS_FILE,
                "is not a mapping of sections",
                "write \"section:\" and indent its keys below",
            ));
            world.write_message(ProblemReport { source: SETTINGS_FILE.into(), problems });
            sections.iter().for_each(|section| (section.not_understood)(world, None));
            return;
        }
        Err(error) => {
            let remedy = "fix this line; until then the previous settings stay in use";
            problems.push(
                Problem::error(SETTINGS_FILE, format!("invalid YAML: {}", error.what), remedy).at_line(error.line),
            );
            world.write_message(ProblemReport { source: SETTINGS_FILE.into(), problems });
            sections.iter().for_each(|section| (section.not_understood)(world, None));
            return;
        }
    };
    let mut unknown = Unknown::new();
    let mut chosen = choose(&known, &of_file, &file, false, (&mut problems, &mut unknown));
    let scene = Source { place: &place, text: &scene_text, path: &["settings"] };
    let mut scene_problems = Vec::new();
    for (section, keys) in choose(&known, &of_scene, &scene, true, (&mut scene_problems, &mut unknown)) {
        chosen.entry(section).or_default().extend(keys);
    }
    for section in &sections {
        let keys = chosen.remove(section.name).unwrap_or_default();
        let unusable = set(world, section, keys.clone());
        for (key, value) in unknown.iter().filter(|(of, ..)| *of == section.name).map(|(_, key, value)| (key, value)) {
            (section.not_understood)(world, Some((key.as_str(), value)));
        }
        for (key, error) in unusable {
            (section.not_understood)(world, Some((key.as_str(), keys.get(&key).unwrap_or(&Value::Null))));
            let in_scene =
                of_scene.contains_key(&key) || of_scene.get(section.name).is_some_and(|keys| keys.get(&key).is_some());
            let what = hide_user_info(&format!("\"{key}\" of \"{}\" cannot be used: {error}", section.name));
            let remedy = "fix it, or remove it to use the default";
            if in_scene {
                let keys =
                    if of_scene.contains_key(&key) { vec![key.as_str()] } else { vec![section.name, key.as_str()] };
                scene_problems.push(scene.warn(&keys, what, remedy));
            } else {
                problems.push(file.warn(&[section.name, &key], what, remedy));
            }
        }
    }
    world.write_message(ProblemReport { source: SETTINGS_FILE.into(), problems });
    world.write_message(ProblemReport { source: format!("settings of {place}"), problems: scene_problems });
}

/// Sorts keys into sections. `bare` keys, outside of a section, are accepted if they belong to exactly one.
fn choose(
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

/// Sets a section. Returns the unusable keys, each with the reason.
fn set(world: &mut World, section: &ErasedSettings, keys: Map<String, Value>) -> Vec<(String, String)> {
    if (section.set)(world, Value::Object(keys.clone())).is_ok() {
        return Vec::new();
    }
    let mut good = Map::new();
    let mut bad = Vec::new();
    for (key, value) in keys {
        let mut with = good.clone();
        with.insert(key.clone(), value);
        match (section.set)(world, Value::Object(with.clone())) {
            Ok(()) => good = with,
            Err(error) => bad.push((key, error.to_string())),
        }
    }
    if good.is_empty()
        && let Err(error) = (section.set)(world, Value::Object(good))
    {
        bad.push((section.name.to_owned(), error.to_string()));
    }
    bad
}
