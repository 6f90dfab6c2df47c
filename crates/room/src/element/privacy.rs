//! Access of agents to the content of elements. An inbox is private to its owner, wherever it is stored: other agents
//! may not read files that contain it, or the records of other agents' work, and may not change its parts in a scene.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use serde_json::{Map, Value, json};

use super::content::{Element, HeldContent};
use super::editing::{find, may_keep};
use super::kind::Kind;
use super::kinds::{kind, kinds};
use crate::base::{Author, Id};
use crate::knowledge::Owner;
use crate::workspace::layout::element_file;
use crate::workspace::vfs::FileRights;
use crate::workspace::vfs::records::records_of;
use crate::workspace::{ElementEntry, FileChanged, KnownFiles, SceneState, SceneWrite, yaml};

/// Keys of an entry that reveal neither the content of its element nor its owner.
const PLACE_KEYS: [&str; 4] = ["id", "kind", "label", "position"];

/// The place where a scene stores an element's content.
#[derive(Clone, PartialEq, Debug)]
struct HeldPlace {
    /// Whether only the owner may read it.
    is_private: bool,
    owner: Option<Id>,
    /// The file with the content; `None` for the scene itself.
    file: Option<String>,
}

/// Where all scenes store the content of their elements, by scene file. Derived from the files and not saved. Written
/// by this module only.
#[derive(Resource, Default, Debug)]
pub struct PrivatePlaces {
    scenes: BTreeMap<String, Vec<HeldPlace>>,
    has_started: bool,
}

impl PrivatePlaces {
    /// Whether an inbox with mail, or with a file of its own, belongs to agents with this profile, whether or not they
    /// still exist: an agent with this id would get its mail.
    pub fn has_any_of(&self, profile: &str) -> bool {
        let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
        // Agents in a scene are named after their profile, with a number.
        let is_of_profile = |owner: &Id| {
            let rest = owner.strip_prefix(profile);
            rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(is_number))
        };
        let mut places = self.scenes.values().flatten();
        places.any(|place| place.is_private && place.owner.as_ref().is_some_and(is_of_profile))
    }
}

fn private_kinds() -> impl Iterator<Item = &'static Kind> {
    kinds().into_iter().filter(|kind| kind.private)
}

/// The places where a scene's text stores the contents of its elements: the files that it names, and the scene itself
/// for inboxes.
fn places_in_text(text: &str) -> Vec<HeldPlace> {
    match yaml::parse(text) {
        Ok(root) => places_in(&root),
        // A text that cannot be parsed may contain anything.
        Err(_) if private_kinds().any(|kind| text.contains(kind.word)) => {
            vec![HeldPlace { is_private: true, owner: None, file: None }]
        }
        Err(_) => Vec::new(),
    }
}

/// The places in a scene's data, including those of entries that a room cannot use.
fn places_in(root: &Value) -> Vec<HeldPlace> {
    let entries = root.get("elements").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    let word =
        |keys: &Map<String, Value>, key: &str| keys.get(key).and_then(Value::as_str).map(str::trim).map(Id::from);
    let mut places = Vec::new();
    for keys in entries {
        let is_private = word(keys, "kind").is_some_and(|word| private_kinds().any(|kind| kind.word == &*word));
        let owner = word(keys, "owner");
        if is_private && holds_something(keys) {
            places.push(HeldPlace { is_private, owner: owner.clone(), file: None });
        }
        if let Some(file) = word(keys, "file").and_then(|file| element_file(&file).ok()) {
            places.push(HeldPlace { is_private, owner, file: Some(file) });
        }
    }
    places
}

fn holds_something(keys: &Map<String, Value>) -> bool {
    let is_full = |value: &Value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(items) => !items.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    };
    let is_content = |key: &str| !PLACE_KEYS.contains(&key) && !matches!(key, "owner" | "file");
    keys.iter().any(|(key, value)| is_content(key) && is_full(value))
}

/// Records where all scenes store the contents of their elements.
pub(super) fn note_places(
    mut changes: MessageReader<FileChanged>,
    known: Option<Res<KnownFiles>>,
    mut places: ResMut<PrivatePlaces>,
) {
    let Some(known) = known else { return };
    let changed: Vec<&str> = changes.read().map(|change| change.path.as_str()).collect();
    let all: Vec<&str> = known.all().keys().map(String::as_str).collect();
    let due = if std::mem::replace(&mut places.has_started, true) { changed } else { all };
    for path in due.into_iter().filter(|path| path.starts_with("scenes/")) {
        match known.text(path) {
            Some(text) => places.scenes.insert(path.to_owned(), places_in_text(text)),
            None => places.scenes.remove(path),
        };
    }
}

/// The system parameters for checking an agent's access.
#[derive(SystemParam)]
pub struct Privacy<'w, 's> {
    places: Res<'w, PrivatePlaces>,
    scene: Option<Res<'w, SceneState>>,
    elements: Query<'w, 's, (&'static Element, &'static HeldContent)>,
}

impl Privacy<'_, '_> {
    /// The places of all scenes' contents.
    pub fn places(&self) -> &PrivatePlaces {
        &self.places
    }

    /// The rights of an order by this agent and profile, without files that are private to others, and without the
    /// content of other scenes' elements, whose rules cannot be checked here.
    pub fn within(&self, mut rights: FileRights, agent: &Id, profile: &Id) -> FileRights {
        let is_own = |owner: &Option<Id>| owner.as_ref().is_some_and(|owner| owner == agent || owner == profile);
        // A session contains its agent's prompts, including its mail.
        rights.records_of = Some(records_of(agent));
        rights.knowledge_of = Some(Owner::Agent(agent.clone()).place());
        let FileRights { unreadable, unwritable, .. } = &mut rights;
        let mut hide = |file: Option<&str>, scene: &str| match file {
            Some(file) => {
                unreadable.insert(file.to_owned());
                unwritable.insert(file.to_owned());
            }
            // A scene contains more than the inbox; the permission to write it does not permit changing others'
            // content.
            None => drop(unreadable.insert(scene.to_owned())),
        };
        let known = self.scene.as_deref().filter(|scene| scene.is_readable());
        let current = self.scene.as_deref().map_or("", |scene| scene.path.as_str());
        let own = known.map_or_else(Vec::new, |scene| places_in(&scene.doc.root));
        let others = self.places.scenes.iter().filter(|(scene, _)| known.is_none() || **scene != current);
        let places = others.flat_map(|(scene, places)| places.iter().map(move |place| (scene.as_str(), place)));
        for (scene, place) in places.clone().chain(own.iter().map(|place| (current, place))) {
            if place.is_private && !is_own(&place.owner) {
                hide(place.file.as_deref(), scene);
            }
        }
        let mut here = BTreeSet::new();
        for (element, held) in &self.elements {
            let is_private = kind(&element.kind).is_some_and(|kind| kind.private);
            let holds = element.file.is_some() || holds_something(&held.0.to_scene());
            if is_private && !is_own(&element.owner) && holds {
                hide(element.file.as_deref(), current);
            }
            here.extend(element.file.as_deref());
        }
        let elsewhere = places.filter_map(|(_, place)| place.file.as_deref()).filter(|file| !here.contains(file));
        unwritable.extend(elsewhere.map(str::to_owned));
        rights
    }
}

/// The entry of an element that this author may not change, as it is to stay in the scene; `None` if it may.
pub(super) fn protected_entry(world: &World, id: &str, by: &Author) -> Option<Map<String, Value>> {
    let entity = find(world, id).ok()?;
    if may_keep(world, entity, by) {
        return None;
    }
    let (element, held) = (world.get::<Element>(entity)?, world.get::<HeldContent>(entity)?);
    let mut keys = Map::new();
    keys.insert("id".to_owned(), json!(element.id));
    keys.insert("kind".to_owned(), json!(element.kind));
    if element.label != element.id {
        keys.insert("label".to_owned(), json!(element.label));
    }
    keys.insert("position".to_owned(), json!([element.position.x, element.position.y]));
    if let Some(owner) = &element.owner {
        keys.insert("owner".to_owned(), json!(owner));
    }
    match &element.file {
        Some(file) => drop(keys.insert("file".to_owned(), json!(file))),
        None => keys.extend(held.0.to_scene()),
    }
    Some(keys)
}

/// Whether an entry describes an element like these keys, apart from its position and name.
pub(super) fn is_same_apart_from_place(entry: &Map<String, Value>, keys: &Map<String, Value>) -> bool {
    let rest = |keys: &Map<String, Value>| -> Map<String, Value> {
        let is_rest = |(key, _): &(&String, &Value)| !PLACE_KEYS.contains(&key.as_str()) || *key == "kind";
        keys.iter().filter(is_rest).map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    rest(entry) == rest(keys)
}

/// Restores an entry, apart from its position and name.
pub(super) fn restored_entry(entry: &ElementEntry, keys: &Map<String, Value>) -> SceneWrite {
    let is_place = |key: &str| matches!(key, "id" | "label" | "position");
    let mut written: Map<String, Value> =
        keys.iter().filter(|(key, _)| !is_place(key)).map(|(key, value)| (key.clone(), value.clone())).collect();
    for key in entry.keys.keys().filter(|key| !keys.contains_key(*key) && !is_place(key)) {
        written.insert(key.clone(), Value::Null);
    }
    SceneWrite::Element { id: entry.id.clone(), keys: written }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inbox_with_mail_is_of_agents_with_its_owners_profile() {
        let mut places = PrivatePlaces::default();
        let scene = "elements:\n- { id: a, kind: inbox, owner: bo, items: [{ id: m1, text: Hi }] }\n\
            - { id: b, kind: inbox, owner: ada-1, file: boards/mail.md }\n\
            - { id: c, kind: inbox, owner: cy, items: [] }\n\
            - { id: d, kind: pinboard, owner: dov, pins: [Tea] }\n";
        places.scenes.insert("scenes/other.yaml".to_owned(), places_in_text(scene));
        for (profile, has_mail) in
            [("bo", true), ("ada", true), ("ada-1", true), ("cy", false), ("dov", false), ("b", false), ("ad", false)]
        {
            assert_eq!(places.has_any_of(profile), has_mail, "{profile}");
        }
    }
}
