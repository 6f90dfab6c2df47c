//! Finds elements by key and by id, and recognises removed elements that return.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::content::Element;
use crate::base::{ElementKey, Id};

/// Elements whose files currently cannot be read, with their last readable content. They keep that content, and their
/// files are not written until they are fixed.
#[derive(Resource, Clone, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct HeldBack(pub(super) BTreeMap<ElementKey, Map<String, Value>>);

/// How many removed elements are remembered; the oldest is forgotten first.
const MAX_DEPARTED: usize = 100;

/// Removed elements, in case they return because an entry is cut and pasted, or a removal is undone.
#[derive(Resource, Clone, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Departed(Vec<Gone>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Gone {
    id: Id,
    kind: Id,
    key: ElementKey,
    version: u32,
    content: Map<String, Value>,
}

impl Departed {
    /// Remembers an element that leaves the room, with its content.
    pub(super) fn keep_removed(&mut self, element: &Element, content: Map<String, Value>) {
        let Element { id, kind, key, version, .. } = element.clone();
        self.0.retain(|gone| gone.id != id);
        self.0.push(Gone { id, kind, key, version, content });
        let over = self.0.len().saturating_sub(MAX_DEPARTED);
        self.0.drain(..over);
    }

    /// The key and version of an element that returns; the version is new if its content has changed.
    pub(super) fn restore(&mut self, id: &str, kind: &str, content: &Map<String, Value>) -> Option<(ElementKey, u32)> {
        let at = self.0.iter().position(|gone| &*gone.id == id)?;
        let gone = self.0.remove(at);
        let version = if gone.content == *content { gone.version } else { gone.version + 1 };
        (&*gone.kind == kind).then_some((gone.key, version))
    }
}

/// The elements in the room, by key and by id. Written by this module only.
#[derive(Resource, Default, Debug)]
pub struct Elements {
    entities: Vec<Option<Entity>>,
    keys: BTreeMap<Id, ElementKey>,
}

impl Elements {
    /// The entity of a key, if it is still in the room.
    pub fn entity(&self, element: ElementKey) -> Option<Entity> {
        self.entities.get(element.0 as usize).copied().flatten()
    }

    /// The key of an id, if it is in the room.
    pub fn key(&self, id: &str) -> Option<ElementKey> {
        self.keys.get(id).copied()
    }

    /// All elements, in order of key.
    pub fn iter(&self) -> impl Iterator<Item = (ElementKey, Entity)> + '_ {
        (0..).map(ElementKey).zip(&self.entities).filter_map(|(key, entity)| Some((key, (*entity)?)))
    }

    /// The ids, sorted.
    pub fn ids(&self) -> impl Iterator<Item = &Id> {
        self.keys.keys()
    }

    /// The key that the next element will get.
    pub fn next_key(&self) -> ElementKey {
        ElementKey(u32::try_from(self.entities.len()).expect("a room never has four billion elements"))
    }

    /// Adds an element that came into the room.
    pub fn insert(&mut self, key: ElementKey, id: Id, entity: Entity) {
        let index = key.0 as usize;
        if self.entities.len() <= index {
            self.entities.resize(index + 1, None);
        }
        self.entities[index] = Some(entity);
        self.keys.insert(id, key);
    }

    /// Ensures that no key below this one is issued again.
    pub(crate) fn count_on_from(&mut self, next: ElementKey) {
        let length = self.entities.len().max(next.0 as usize);
        self.entities.resize(length, None);
    }

    /// Removes an element that left the room.
    pub fn remove(&mut self, key: ElementKey, id: &str) {
        if let Some(entity) = self.entities.get_mut(key.0 as usize) {
            *entity = None;
        }
        self.keys.remove(id);
    }
}
