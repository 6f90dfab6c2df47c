//! Finding elements by key and by id.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;

use crate::base::{ElementKey, Id};

/// Which elements are in the room, by key and by id. Written by this module only.
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

    /// All of them, in order of key.
    pub fn iter(&self) -> impl Iterator<Item = (ElementKey, Entity)> + '_ {
        (0..).map(ElementKey).zip(&self.entities).filter_map(|(key, entity)| Some((key, (*entity)?)))
    }

    /// The ids, in order.
    pub fn ids(&self) -> impl Iterator<Item = &Id> {
        self.keys.keys()
    }

    /// The key that the next element will get.
    pub fn next_key(&self) -> ElementKey {
        ElementKey(u32::try_from(self.entities.len()).expect("a room never sees four thousand million elements"))
    }

    pub(crate) fn insert(&mut self, key: ElementKey, id: Id, entity: Entity) {
        let index = key.0 as usize;
        if self.entities.len() <= index {
            self.entities.resize(index + 1, None);
        }
        self.entities[index] = Some(entity);
        self.keys.insert(id, key);
    }

    /// Gives no key below this one again, whoever had it.
    pub(crate) fn count_on_from(&mut self, next: ElementKey) {
        let length = self.entities.len().max(next.0 as usize);
        self.entities.resize(length, None);
    }

    pub(crate) fn remove(&mut self, key: ElementKey, id: &str) {
        if let Some(entity) = self.entities.get_mut(key.0 as usize) {
            *entity = None;
        }
        self.keys.remove(id);
    }
}
