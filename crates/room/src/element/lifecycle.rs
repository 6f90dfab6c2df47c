//! Adds, moves and removes elements, for changes of the scene and for commands on the canvas.

use bevy::ecs::message::{Message, MessageCursor};
use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::change::ElementChange;
use super::content::{Content, Element, HeldContent};
use super::directory::HeldBack;
use super::directory::{Departed, Elements};
use super::editing::{Unwritten, find, record_change, refuse};
use super::kind::Kind;
use super::kinds::{kind, kinds};
use super::merging::{Writer, fitting_file, hold_back_faulty, kind_from_entry, known_text, merge};
use super::problem_reports::{report, scene_path};
use super::{messageboard, privacy};
use crate::agent::lifecycle::read;
use crate::agent::{TopElementHeight, TopmostElement};
use crate::base::{Author, Id, Problem, Seq, text, unique_names};
use crate::schedule::Input;
use crate::workspace::layout::element_file;
use crate::workspace::{ElementEntry, SceneEdit, SceneWrite};

/// A person's command about elements on the canvas. An input.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum ElementCommand {
    /// Adds an element to the room and the scene.
    Add {
        /// The keys of its entry: at least `kind`; `id` is derived from the kind if absent.
        keys: Map<String, Value>,
    },
    /// Removes an element from the room and the scene; its file stays.
    Remove {
        /// The id of the element.
        element: Id,
    },
    /// Moves an element.
    Move {
        /// The id of the element.
        element: Id,
        /// The new center.
        position: Vec2,
    },
    /// Changes the label of an element.
    Relabel {
        /// The id of the element.
        element: Id,
        /// The new label; empty for its id.
        label: String,
    },
    /// Changes the owner of an element.
    SetOwner {
        /// The id of the element.
        element: Id,
        /// The id of an agent or a profile; `None` for no owner.
        owner: Option<Id>,
    },
    /// Sets the channel that a message board shows.
    SetChannel {
        /// The id of the element.
        element: Id,
        /// The name of the channel; `None` for no channel.
        channel: Option<String>,
    },
}

impl Input for ElementCommand {
    const KIND: &'static str = "element";
}

/// Applies changes of elements in the scene.
pub(super) fn apply_scene_edits(world: &mut World, mut cursor: Local<MessageCursor<SceneEdit>>) {
    for edit in read(world, &mut cursor) {
        match edit {
            SceneEdit::Element { now, before, by, cause } => {
                let scene = scene_path(world);
                let writer = Writer { by: &by, cause, file: &scene };
                follow_entry(world, now, before.as_ref(), &writer);
            }
            SceneEdit::ElementGone { id, by, cause } => {
                let scene = scene_path(world);
                let writer = Writer { by: &by, cause, file: &scene };
                if let Some(keys) = privacy::protected_entry(world, &id, &by) {
                    world.write_message(SceneWrite::AddElement { keys });
                    writer.refuse(world, &id, format!("{id} is not yours and was not removed"));
                    continue;
                }
                remove(world, &id, &by, cause);
                report(world, &id, Vec::new());
            }
            SceneEdit::Agent { .. }
            | SceneEdit::AgentGone { .. }
            | SceneEdit::Relationships(_)
            | SceneEdit::Decor(_) => {}
        }
    }
}

fn follow_entry(world: &mut World, mut now: ElementEntry, before: Option<&ElementEntry>, writer: &Writer) {
    let elements = world.resource::<Elements>();
    let Some(entity) = elements.key(&now.id).and_then(|key| elements.entity(key)) else {
        spawn(world, &now, writer.by, writer.cause);
        return;
    };
    // An entry that is new in the scene but known to the room was written by the room itself.
    let (Some(before), Some(mut element)) = (before, world.get::<Element>(entity).cloned()) else { return };
    let Some(kind) = kind(&now.kind) else {
        // The last valid state stays until the word is corrected.
        report(world, &now.id, vec![unknown_kind(world, &now)]);
        return;
    };
    let kept = privacy::protected_entry(world, &now.id, writer.by);
    let kept = kept.filter(|_| !privacy::is_same_apart_from_place(&now.keys, &before.keys));
    if let Some(keys) = &kept {
        writer.refuse(world, &now.id, format!("{} is not yours; only its position and label were changed", now.id));
        world.write_message(privacy::restored_entry(&now, keys));
        (now.kind, now.owner, now.file) = (element.kind.clone(), element.owner.clone(), element.file.clone());
    }
    if now.kind != element.kind {
        remove(world, &now.id, writer.by, writer.cause);
        spawn(world, &now, writer.by, writer.cause);
        return;
    }
    let old = element.clone();
    if now.label != before.label {
        element.label = label_of(&now);
    }
    if now.position != before.position && now.position.is_finite() {
        element.position = now.position;
    }
    if now.owner != before.owner && kept.is_none() {
        element.owner = now.owner.clone();
    }
    let as_written = now.clone();
    now.file = fitting_file(kind, &now);
    element.file = now.file.clone();
    rearrange(world, entity, &old, element.clone(), (writer.by, writer.cause));
    if kept.is_some() {
        return;
    }
    let (written, mut problems) = kind_from_entry(world, kind, &as_written);
    let base =
        if now.file.is_some() || before.file.is_some() { None } else { Some((kind.from_scene)(&before.keys, "").0) };
    // A new file name whose file does not exist gets the element's present content.
    let is_missing = now.file.as_ref().is_some_and(|path| known_text(world, path).is_none());
    let is_other_file = now.file != before.file;
    if is_other_file {
        world.resource_mut::<HeldBack>().0.remove(&element.key);
    }
    if is_missing && is_other_file {
        world.resource_mut::<Unwritten>().0.insert(element.key);
    } else if is_other_file && hold_back_faulty(world, kind, entity) {
        // The content stays until the file can be read.
    } else if !is_missing && (now.file.is_none() || now.file != before.file) {
        problems.extend(merge(world, entity, base.as_deref(), &*written, writer));
    }
    report(world, &now.id, problems);
}

fn unknown_kind(world: &World, entry: &ElementEntry) -> Problem {
    let what = format!("element {:?}: there is no kind {:?}", entry.id, entry.kind);
    let words = || kinds().into_iter().map(|kind| kind.word);
    let remedy = match text::nearest(&entry.kind, words()) {
        Some(meant) => format!("did you mean {meant:?}?"),
        None => format!("write one of {}", words().collect::<Vec<_>>().join(", ")),
    };
    Problem::error(scene_path(world), what, remedy).at_line(entry.line)
}

fn label_of(entry: &ElementEntry) -> Id {
    let label = entry.label.as_deref().map(text::one_line).filter(|label| !label.is_empty());
    label.map_or_else(|| entry.id.clone(), Id::from)
}

fn spawn(world: &mut World, entry: &ElementEntry, by: &Author, cause: Option<Seq>) -> bool {
    let Some(kind) = kind(&entry.kind) else {
        report(world, &entry.id, vec![unknown_kind(world, entry)]);
        return false;
    };
    let (content, problems) = kind_from_entry(world, kind, entry);
    report(world, &entry.id, problems);
    // If it returns unchanged, agents that had read it still know it.
    let back = world.resource_mut::<Departed>().restore(&entry.id, kind.word, &content.to_scene());
    let (key, version) = back.unwrap_or_else(|| (world.resource::<Elements>().next_key(), 0));
    let element = Element {
        key,
        id: entry.id.clone(),
        kind: kind.word.into(),
        label: label_of(entry),
        position: entry.position,
        owner: entry.owner.clone(),
        file: fitting_file(kind, entry),
        version,
    };
    let entity = insert_entity(world, element.clone(), content);
    hold_back_faulty(world, kind, entity);
    record_change(world, &element, ElementChange::new(ElementChange::ADDED), by, cause);
    true
}

/// Spawns the entity and adds it to the directory.
pub(super) fn insert_entity(world: &mut World, element: Element, content: Box<dyn Content>) -> Entity {
    let entity = world.spawn_empty().id();
    world.resource_mut::<Elements>().insert(element.key, element.id.clone(), entity);
    world.entity_mut(entity).insert((HeldContent(content), element));
    entity
}

fn remove(world: &mut World, id: &Id, by: &Author, cause: Option<Seq>) -> bool {
    let Ok(entity) = find(world, id) else { return false };
    let Some(element) = world.get::<Element>(entity).cloned() else { return false };
    world.resource_mut::<Elements>().remove(element.key, id);
    world.resource_mut::<HeldBack>().0.remove(&element.key);
    if let Some(content) = world.get::<HeldContent>(entity).map(|held| held.0.to_scene()) {
        world.resource_mut::<Departed>().keep_removed(&element, content);
    }
    world.despawn(entity);
    record_change(world, &element, ElementChange::new(ElementChange::REMOVED), by, cause);
    true
}

fn rearrange(world: &mut World, entity: Entity, old: &Element, new: Element, (by, cause): (&Author, Option<Seq>)) {
    if *old == new {
        return;
    }
    if let Some(mut element) = world.get_mut::<Element>(entity) {
        *element = new.clone();
    }
    record_change(world, &new, ElementChange::new(ElementChange::REARRANGED), by, cause);
}

/// Applies a person's commands on the canvas.
pub(super) fn apply_commands(world: &mut World, mut cursor: Local<MessageCursor<ElementCommand>>) {
    for command in read(world, &mut cursor) {
        let (id, done) = match command {
            ElementCommand::Add { keys } => {
                let id: Id = keys.get("id").and_then(Value::as_str).unwrap_or("new element").into();
                (id, add(world, keys))
            }
            ElementCommand::Remove { element } => {
                let done = find(world, &element).map(|_| {
                    remove(world, &element, &Author::user(), None);
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
            ElementCommand::SetChannel { element, channel } => {
                let kind = find(world, &element).map(|entity| world.get::<Element>(entity).map(|one| one.kind.clone()));
                let done = match kind {
                    Ok(Some(kind)) if *kind != *messageboard::KIND.word => {
                        Err("only a message board can show a channel".to_owned())
                    }
                    // The orchestration layer reads it from the scene.
                    _ => set(world, &element, json!({ "channel": channel }), |_| {}),
                };
                (element, done)
            }
        };
        if let Err(why) = done {
            refuse(world, &Author::user(), &id, why, None, None);
        }
    }
}

fn set(world: &mut World, id: &Id, keys: Value, change: impl FnOnce(&mut Element)) -> Result<(), String> {
    let entity = find(world, id)?;
    let Some(old) = world.get::<Element>(entity).cloned() else { return Err("it no longer exists".to_owned()) };
    let mut new = old.clone();
    change(&mut new);
    rearrange(world, entity, &old, new, (&Author::user(), None));
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
        Some(id) if elements.key(&id).is_some() => return Err(format!("there is already an element {id}")),
        Some(id) => id,
        None => {
            let ids = unique_names::numbered(&kind_word, "", 1);
            unique_names::first_free(ids, |id| elements.key(id).is_some()).into()
        }
    };
    let position = match keys.get("position").map(|position| serde_json::from_value::<Vec2>(position.clone())) {
        None => Vec2::ZERO,
        Some(Ok(position)) if position.is_finite() => position,
        Some(_) => return Err("its position is not two finite numbers".to_owned()),
    };
    let (label, owner) = (word("label").map(|label| label.to_string()), word("owner"));
    let file = word("file").map(|file| element_file(&file)).transpose()?;
    if let Some(file) = &file {
        keys.insert("file".to_owned(), json!(file));
    }
    keys.shift_remove("id");
    keys.shift_insert(0, "id".to_owned(), json!(id));
    keys.entry("position").or_insert_with(|| json!([position.x, position.y]));
    let entry =
        ElementEntry { id, kind: kind_word.clone(), label, position, owner, file, keys: keys.clone(), line: None };
    let Some(kind) = kind(&kind_word) else { return Err(format!("there is no kind of element {kind_word:?}")) };
    if let Some(file) = &entry.file {
        kind.check_file(file)?;
    }
    spawn(world, &entry, &Author::user(), None);
    begin_file(world, kind, &entry);
    world.write_message(SceneWrite::AddElement { keys });
    Ok(())
}

/// Creates the file of a new element of a kind whose files have initial content, if there is none.
fn begin_file(world: &mut World, kind: &Kind, entry: &ElementEntry) {
    let is_missing = entry.file.as_ref().is_some_and(|file| known_text(world, file).is_none());
    let Some(key) = world.resource::<Elements>().key(&entry.id) else { return };
    if is_missing && !kind.file_begins.is_empty() {
        world.resource_mut::<Unwritten>().0.insert(key);
        report(world, &entry.id, Vec::new());
    }
}

/// Reports the extent of the elements when it changes.
pub(super) fn report_reach(
    elements: Query<&Element>,
    topmost: Res<TopmostElement>,
    mut reach: MessageWriter<TopElementHeight>,
) {
    let top = elements.iter().map(|element| element.position.y).reduce(f32::max);
    if top != topmost.0 {
        reach.write(TopElementHeight { top });
    }
}
