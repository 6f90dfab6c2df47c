//! Parses settings as people write them: `settings.yaml` by section, overridden by `settings:` in the scene. Invalid
//! settings are reported and ignored; everything else applies.

use bevy::ecs::message::{MessageCursor, Messages};
use bevy::ecs::prelude::*;
use serde_json::{Map, Value};

use super::files::{KnownFiles, UnreadableFiles};
use super::layout::SETTINGS_FILE;
use super::problems::ProblemReport;
use super::scene_state::SceneState;
use super::settings::{ErasedSettings, SettingsSections};
use super::settings_choice::{Source, choose};
use super::settings_widenings::{defaults_of, hold_back_untrusted};
use super::trust::{TRUST_REMEDY, TrustAdded, TrustChanged, Widening, WorkspaceTrust};
use super::yaml;
use crate::base::Problem;
use crate::base::text::hide_user_info;

/// Whether `settings.yaml` could be read since the room was opened, or does not exist.
#[derive(Resource, Default)]
pub(super) struct SettingsRead(bool);

/// Sets every section from `settings.yaml` and the scene. If `settings.yaml` cannot be read, nothing changes; if it
/// never could be, each section is as strict as the file could have meant it.
pub(super) fn apply_settings(world: &mut World) {
    let Some(sections) = world.get_resource::<SettingsSections>().cloned() else { return };
    let known = sections.known();
    let files = world.resource::<KnownFiles>();
    let text = files.text(SETTINGS_FILE).unwrap_or("").to_owned();
    let scene = world.resource::<SceneState>();
    let (place, of_scene) = (scene.path.clone(), scene.doc.settings.clone());
    let scene_text = files.text(&place).unwrap_or("").to_owned();

    let file = Source { place: SETTINGS_FILE, text: &text, path: &[] };
    let mut problems = Vec::new();
    let of_file = parse_file(world, &text);
    let is_read = of_file.is_ok();
    let was_read = world.resource::<SettingsRead>().0;
    let of_file = match of_file {
        Ok(keys) => keys,
        Err(problem) if was_read => {
            world.write_message(ProblemReport { source: SETTINGS_FILE.into(), problems: vec![problem] });
            return;
        }
        Err(problem) => {
            problems.push(problem);
            Map::new()
        }
    };
    world.resource_mut::<SettingsRead>().0 = is_read;
    let mut in_file = choose(&known, &of_file, &file, false);
    problems.append(&mut in_file.problems);
    let scene = Source { place: &place, text: &scene_text, path: &["settings"] };
    let mut in_scene = choose(&known, &of_scene, &scene, true);
    let mut scene_problems = std::mem::take(&mut in_scene.problems);
    let trust = world.resource::<WorkspaceTrust>().clone();
    let defaults = defaults_of(&sections);
    let mut held = hold_back_untrusted(SETTINGS_FILE, &mut in_file.chosen, None, &defaults, &trust);
    held.extend(hold_back_untrusted(&place, &mut in_scene.chosen, Some(&in_file.chosen), &defaults, &trust));
    world.write_message(ProblemReport { source: TRUST.into(), problems: untrusted_problem(&trust, &held) });
    let mut chosen = std::mem::take(&mut in_file.chosen);
    for (section, keys) in std::mem::take(&mut in_scene.chosen) {
        chosen.entry(section).or_default().extend(keys);
    }
    for section in &sections.0 {
        let keys = chosen.remove(section.name).unwrap_or_default();
        let unusable = set(world, section, keys.clone());
        let unknown = in_file.unknown.iter().chain(&in_scene.unknown);
        for (key, value) in unknown.filter(|(of, ..)| *of == section.name).map(|(_, key, value)| (key, value)) {
            (section.not_understood)(world, key, value);
        }
        if !is_read {
            (section.unread)(world);
        }
        for (key, error) in unusable {
            (section.not_understood)(world, &key, keys.get(&key).unwrap_or(&Value::Null));
            let in_scene = in_scene.path(section.name, &key);
            let (source, found) =
                if in_scene.is_some() { (&scene, &mut scene_problems) } else { (&file, &mut problems) };
            let path =
                in_scene.or_else(|| in_file.path(section.name, &key)).unwrap_or_else(|| vec![section.name, &key]);
            let written = path.last().copied().unwrap_or(&key);
            let what = hide_user_info(&format!("\"{written}\" of \"{}\" cannot be used: {error}", section.name));
            found.push(source.warn(&path, what, "fix it, or remove it to use the default"));
        }
    }
    world.write_message(ProblemReport { source: SETTINGS_FILE.into(), problems });
    world.write_message(ProblemReport { source: format!("settings of {place}"), problems: scene_problems });
}

/// Applies the person's decisions about the workspace.
pub(super) fn apply_trust(
    world: &mut World,
    mut changes: Local<MessageCursor<TrustChanged>>,
    mut additions: Local<MessageCursor<TrustAdded>>,
) {
    let newest = changes.read(world.resource::<Messages<TrustChanged>>()).last().cloned();
    let added: Vec<TrustAdded> = additions.read(world.resource::<Messages<TrustAdded>>()).cloned().collect();
    let mut trust = world.resource::<WorkspaceTrust>().clone();
    if let Some(TrustChanged(newest)) = newest {
        trust = newest;
    }
    trust.add(added.into_iter().flat_map(|TrustAdded(widenings)| widenings));
    if *world.resource::<WorkspaceTrust>() != trust {
        world.insert_resource(trust);
        apply_settings(world);
    }
}

/// The source of the problem with settings that are not trusted.
const TRUST: &str = "workspace trust: settings";
/// How many settings the problem names.
const MAX_NAMED: usize = 5;

/// The problem with settings that have no effect because the person has not trusted them.
fn untrusted_problem(trust: &WorkspaceTrust, held: &[Widening]) -> Vec<Problem> {
    if trust.is_restricted() {
        let what = "this workspace is restricted until you trust it: agents ask before everything, it names no model, \
                    and nothing starts work by itself";
        return vec![Problem::warning("workspace", what, TRUST_REMEDY)];
    }
    let Some(first) = held.first() else { return Vec::new() };
    let mut named: Vec<&str> = held.iter().map(|widening| widening.key.as_str()).take(MAX_NAMED).collect();
    let more = format!("{} more", held.len().saturating_sub(MAX_NAMED));
    if held.len() > MAX_NAMED {
        named.push(&more);
    }
    let what = format!("has no effect until you trust it, because you have not seen it yet: {}", named.join(", "));
    vec![Problem::warning(first.place.clone(), what, TRUST_REMEDY)]
}

/// Returns the sections of `settings.yaml`; the problem if it cannot be read.
fn parse_file(world: &World, text: &str) -> Result<Map<String, Value>, Problem> {
    let is_unknown = world.resource::<KnownFiles>().text(SETTINGS_FILE).is_none();
    // While an earlier text is known, that one is in use.
    if let Some(failure) = world.resource::<UnreadableFiles>().failure(SETTINGS_FILE).filter(|_| is_unknown) {
        return Err(failure.problem(SETTINGS_FILE));
    }
    match yaml::parse(text) {
        Ok(Value::Null) => Ok(Map::new()),
        Ok(Value::Object(keys)) => Ok(keys),
        Ok(_) => {
            let remedy = "write \"section:\" and indent its keys below";
            Err(Problem::error(SETTINGS_FILE, "is not a mapping of sections", remedy))
        }
        Err(error) => {
            let remedy = "fix this line; until then the previous settings stay in use";
            let what = format!("invalid YAML: {}", error.what);
            Err(Problem::error(SETTINGS_FILE, what, remedy).at_line(error.line))
        }
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
