//! Elements come, move and go, and what a person writes into their files is applied to what they hold.

use std::collections::BTreeMap;

use bevy::ecs::message::{Message, MessageCursor};
use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::content::{Content, Element, ElementChange, Held};
use super::directory::Elements;
use super::editing::{Unwritten, do_act, find, refuse, tell};
use super::kind::{KINDS, Kind, kind};
use crate::agent::presence::read;
use crate::agent::{ElementsReach, TopmostElement};
use crate::base::{Author, Id, Problem, text};
use crate::schedule::Input;
use crate::workspace::files::FileContent;
use crate::workspace::{ElementEntry, FileChanged, KnownFiles, ProblemReport, RoomStart, SceneEdit, SceneWrite};

/// What a person does to elements on the canvas. As an input it is recorded.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum ElementCommand {
    /// Puts an element into the room and the scene.
    Add {
        /// The keys of its entry: `kind` at least; `id` is made from the kind where absent.
        keys: Map<String, Value>,
    },
    /// Takes it out of the room and the scene; a file that it names stays.
    Remove {
        /// Which.
        element: Id,
    },
    /// Puts it elsewhere.
    Move {
        /// Which.
        element: Id,
        /// Where its middle is to be.
        position: Vec2,
    },
    /// Calls it something else.
    Relabel {
        /// Which.
        element: Id,
        /// What; its id where empty.
        label: String,
    },
    /// Gives it to someone else.
    SetOwner {
        /// Which.
        element: Id,
        /// An agent's or a profile's id; nobody where absent.
        owner: Option<Id>,
    },
}

impl Input for ElementCommand {
    const KIND: &'static str = "element";
}

/// What is wrong with elements now, by source; told again after a world was loaded.
#[derive(Resource, Clone, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Reported(pub(super) BTreeMap<String, Vec<Problem>>);

pub(super) fn report(world: &mut World, id: &str, problems: Vec<Problem>) {
    let source = format!("element {id}");
    let mut reported = world.resource_mut::<Reported>();
    let was = reported.0.remove(&source);
    if problems.is_empty() && was.is_none() {
        return;
    }
    if !problems.is_empty() {
        reported.0.insert(source.clone(), problems.clone());
    }
    world.write_message(ProblemReport { source, problems });
}

fn scene_path(world: &World) -> String {
    world.get_resource::<RoomStart>().map_or("scene", |start| start.scene.as_str()).to_owned()
}

/// Makes so what the scene says about elements.
pub(super) fn follow_scene(world: &mut World, mut cursor: Local<MessageCursor<SceneEdit>>) {
    for edit in read(world, &mut cursor) {
        match edit {
            SceneEdit::Element { now, before } => follow_entry(world, &now, before.as_ref()),
            SceneEdit::ElementGone { id } => {
                remove(world, &id);
                report(world, &id, Vec::new());
            }
            SceneEdit::Agent { .. } | SceneEdit::AgentGone { .. } | SceneEdit::Relationships(_) => {}
        }
    }
}

fn follow_entry(world: &mut World, now: &ElementEntry, before: Option<&ElementEntry>) {
    let Ok(entity) = find(world, &now.id) else {
        spawn(world, now);
        return;
    };
    // An entry that is new to the scene but not to the room is our own writing, come back.
    let (Some(before), Some(mut element)) = (before, world.get::<Element>(entity).cloned()) else { return };
    if now.kind != element.kind {
        remove(world, &now.id);
        spawn(world, now);
        return;
    }
    let Some(kind) = kind(&now.kind) else { return };
    let old = element.clone();
    if now.label != before.label {
        element.label = label_of(now);
    }
    if now.position != before.position && now.position.is_finite() {
        element.position = now.position;
    }
    if now.owner != before.owner {
        element.owner = now.owner.clone();
    }
    element.file = now.file.clone();
    rearrange(world, entity, &old, element.clone());
    let (written, mut problems) = kind_from_entry(world, kind, now);
    let base =
        if now.file.is_some() || before.file.is_some() { None } else { Some((kind.from_scene)(&before.keys, "").0) };
    // A file that is named for the first time and does not exist is to hold what the element holds.
    let is_missing = now.file.as_ref().is_some_and(|path| known_text(world, path).is_none());
    if is_missing && now.file != before.file {
        world.resource_mut::<Unwritten>().0.insert(element.key);
    } else if !is_missing && (now.file.is_none() || now.file != before.file) {
        problems.extend(merge(world, entity, base.as_deref(), &*written));
    }
    report(world, &now.id, problems);
}

fn known_text(world: &World, path: &str) -> Option<String> {
    world.get_resource::<KnownFiles>().and_then(|files| files.text(path)).map(str::to_owned)
}

/// What an entry says that its element holds, and what is wrong with it.
fn kind_from_entry(world: &World, kind: &Kind, entry: &ElementEntry) -> (Box<dyn Content>, Vec<Problem>) {
    let place = format!("{}, element {}", scene_path(world), entry.id);
    let (inline, mut problems) = (kind.from_scene)(&entry.keys, &place);
    if kind.private && entry.owner.is_none() {
        let what = format!("the {} {:?} belongs to nobody", kind.name, entry.id);
        problems.push(Problem::warning(&place, what, "write owner: and the id of an agent or profile"));
    }
    let problems =
        problems.into_iter().map(|problem| if problem.line.is_none() { problem.at_line(entry.line) } else { problem });
    let mut problems: Vec<Problem> = problems.collect();
    let Some(path) = &entry.file else { return (inline, problems) };
    match known_text(world, path) {
        Some(text) => ((kind.from_markdown)(&text), problems),
        None => {
            let what = format!("the file {path} does not exist");
            let remedy = "write it, or wait: it is made when something is put on the element";
            problems.push(Problem::warning(place, what, remedy).at_line(entry.line));
            (inline, problems)
        }
    }
}

/// Applies what a person changed between `base` and `written` to what the element holds now (to which
/// `written` is compared where there is no base). Where the two then differ, the element is written anew.
fn merge(world: &mut World, entity: Entity, base: Option<&dyn Content>, written: &dyn Content) -> Vec<Problem> {
    let Some((held, element)) = world.get::<Held>(entity).zip(world.get::<Element>(entity)) else { return Vec::new() };
    let (key, id) = (element.key, element.id.clone());
    let acts = base.unwrap_or(&*held.0).acts_to(written);
    let was_unwritten = world.resource::<Unwritten>().0.contains(&key);
    let mut problems = Vec::new();
    for act in acts {
        if let Err(why) = do_act(world, entity, &act, &Author::user(), None) {
            problems.push(Problem::warning(
                format!("element {id}"),
                format!("an edit of the file does not fit any more: {why}"),
                "look at the element and change it again",
            ));
        }
    }
    let same = world.get::<Held>(entity).is_some_and(|held| held.0.to_scene() == written.to_scene());
    if same && !was_unwritten {
        world.resource_mut::<Unwritten>().0.remove(&key);
    } else if !same {
        world.resource_mut::<Unwritten>().0.insert(key);
    }
    problems
}

/// Follows the files that elements name.
pub(super) fn follow_files(world: &mut World, mut cursor: Local<MessageCursor<FileChanged>>) {
    for change in read(world, &mut cursor) {
        let elements = world.resource::<Elements>().iter().map(|(_, entity)| entity);
        let naming: Vec<Entity> = elements
            .filter(|entity| {
                let file = world.get::<Element>(*entity).and_then(|element| element.file.as_deref());
                file == Some(change.path.as_str())
            })
            .collect();
        for entity in naming {
            follow_file(world, entity, &change);
        }
    }
}

fn follow_file(world: &mut World, entity: Entity, change: &FileChanged) {
    let Some(element) = world.get::<Element>(entity).cloned() else { return };
    let Some(kind) = kind(&element.kind) else { return };
    let path = &change.path;
    let problems = match &change.content {
        FileContent::Text(text) => merge(world, entity, None, &*(kind.from_markdown)(text)),
        FileContent::Removed => vec![Problem::warning(
            path,
            format!("the file is gone; {} holds what stood in it", element.id),
            "restore it, or wait: it is made again when something is put on the element",
        )],
        FileContent::Unusable { what, remedy } => vec![Problem::error(path, what.clone(), remedy.clone())],
    };
    report(world, &element.id, problems);
}

fn label_of(entry: &ElementEntry) -> Id {
    let label = entry.label.as_deref().map(text::one_line).filter(|label| !label.is_empty());
    label.map_or_else(|| entry.id.clone(), Id::from)
}

fn spawn(world: &mut World, entry: &ElementEntry) -> bool {
    let Some(kind) = kind(&entry.kind) else {
        let place = scene_path(world);
        let what = format!("element {:?}: there is no kind {:?}", entry.id, entry.kind);
        let words = || KINDS.iter().map(|kind| kind.word);
        let remedy = match text::nearest(&entry.kind, words()) {
            Some(meant) => format!("did you mean {meant:?}?"),
            None => format!("write one of {}", words().collect::<Vec<_>>().join(", ")),
        };
        report(world, &entry.id, vec![Problem::error(place, what, remedy).at_line(entry.line)]);
        return false;
    };
    let (content, problems) = kind_from_entry(world, kind, entry);
    report(world, &entry.id, problems);
    let element = Element {
        key: world.resource::<Elements>().next_key(),
        id: entry.id.clone(),
        kind: kind.word.into(),
        label: label_of(entry),
        position: entry.position,
        owner: entry.owner.clone(),
        file: entry.file.clone(),
        version: 0,
    };
    settle(world, element.clone(), content);
    tell(world, &element, ElementChange::Added, &Author::user(), None);
    true
}

/// Puts the entity into the world and the directory.
pub(super) fn settle(world: &mut World, element: Element, content: Box<dyn Content>) {
    let entity = world.spawn_empty().id();
    world.resource_mut::<Elements>().insert(element.key, element.id.clone(), entity);
    world.entity_mut(entity).insert((Held(content), element));
}

fn remove(world: &mut World, id: &Id) -> bool {
    let Ok(entity) = find(world, id) else { return false };
    let Some(element) = world.get::<Element>(entity).cloned() else { return false };
    world.resource_mut::<Elements>().remove(element.key, id);
    world.despawn(entity);
    tell(world, &element, ElementChange::Removed, &Author::user(), None);
    true
}

fn rearrange(world: &mut World, entity: Entity, old: &Element, new: Element) {
    if *old == new {
        return;
    }
    if let Some(mut element) = world.get_mut::<Element>(entity) {
        *element = new.clone();
    }
    tell(world, &new, ElementChange::Rearranged, &Author::user(), None);
}

/// Does what persons ask for on the canvas.
pub(super) fn obey(world: &mut World, mut cursor: Local<MessageCursor<ElementCommand>>) {
    for command in read(world, &mut cursor) {
        let (id, done) = match command {
            ElementCommand::Add { keys } => {
                let id: Id = keys.get("id").and_then(Value::as_str).unwrap_or("new element").into();
                (id, add(world, keys))
            }
            ElementCommand::Remove { element } => {
                let done = find(world, &element).map(|_| {
                    remove(world, &element);
                    report(world, &element, Vec::new());
                    world.write_message(SceneWrite::RemoveElement { id: element.clone() });
                });
                (element, done)
            }
            ElementCommand::Move { element, position } => {
                let keys = json!({ "position": [position.x, position.y] });
                let done = if position.is_finite() {
                    set(world, &element, keys, |element| element.position = position)
                } else {
                    Err("its new position is not a finite number".to_owned())
                };
                (element, done)
            }
            ElementCommand::Relabel { element, label } => {
                let label: Id = text::one_line(&label).into();
                let written = if label.is_empty() { Value::Null } else { json!(label) };
                let done = set(world, &element, json!({ "label": written }), |element| {
                    element.label = if label.is_empty() { element.id.clone() } else { label.clone() };
                });
                (element, done)
            }
            ElementCommand::SetOwner { element, owner } => {
                let keys = json!({ "owner": owner });
                let done = set(world, &element, keys, |element| element.owner = owner.clone());
                (element, done)
            }
        };
        if let Err(why) = done {
            refuse(world, &Author::user(), &id, why, None);
        }
    }
}

fn set(world: &mut World, id: &Id, keys: Value, change: impl FnOnce(&mut Element)) -> Result<(), String> {
    let entity = find(world, id)?;
    let Some(old) = world.get::<Element>(entity).cloned() else { return Err("it is gone".to_owned()) };
    let mut new = old.clone();
    change(&mut new);
    rearrange(world, entity, &old, new);
    if let Value::Object(keys) = keys {
        world.write_message(SceneWrite::Element { id: id.clone(), keys });
    }
    Ok(())
}

fn add(world: &mut World, mut keys: Map<String, Value>) -> Result<(), String> {
    let word = |key: &str| keys.get(key).and_then(Value::as_str).filter(|word| !word.is_empty()).map(Id::from);
    let Some(kind_word) = word("kind") else { return Err("a new element needs a kind".to_owned()) };
    let elements = world.resource::<Elements>();
    let id = match word("id") {
        Some(id) if elements.key(&id).is_some() => return Err(format!("there is an element {id} already")),
        Some(id) => id,
        None => {
            let mut ids = (1_u64..).map(|count| Id::from(format!("{kind_word}-{count}")));
            ids.find(|id| elements.key(id).is_none()).ok_or("no id is free")?
        }
    };
    let position = match keys.get("position").map(|position| serde_json::from_value::<Vec2>(position.clone())) {
        None => Vec2::ZERO,
        Some(Ok(position)) if position.is_finite() => position,
        Some(_) => return Err("its position is not two finite numbers".to_owned()),
    };
    let (label, owner) = (word("label").map(|label| label.to_string()), word("owner"));
    let file = word("file").map(|file| file.to_string());
    keys.shift_remove("id");
    keys.shift_insert(0, "id".to_owned(), json!(id));
    keys.entry("position").or_insert_with(|| json!([position.x, position.y]));
    let entry =
        ElementEntry { id, kind: kind_word.clone(), label, position, owner, file, keys: keys.clone(), line: None };
    if kind(&kind_word).is_none() {
        return Err(format!("there is no kind of element {kind_word:?}"));
    }
    spawn(world, &entry);
    world.write_message(SceneWrite::AddElement { keys });
    Ok(())
}

/// Tells how high the elements reach, when that changes.
pub(super) fn tell_reach(
    elements: Query<&Element>,
    topmost: Res<TopmostElement>,
    mut reach: MessageWriter<ElementsReach>,
) {
    let top = elements.iter().map(|element| element.position.y).reduce(f32::max);
    if top != topmost.0 {
        reach.write(ElementsReach { top });
    }
}
