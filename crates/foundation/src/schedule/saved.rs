//! The parts of the world that are saved, in sections, one per layer: saved, loaded and hashed as a whole. The hash of
//! the world is the hash of what would be saved, so everything compared is saved and vice versa.

use bevy::app::App;
use bevy::ecs::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::base::hash::HashWriter;

/// The part of the saved world that belongs to one layer. Its order must not depend on hash maps or on `Entity`.
pub trait Section: Serialize + DeserializeOwned + 'static {
    /// The key of this section. A stored format: never change it.
    const NAME: &'static str;

    /// Copies the layer's state from the world.
    fn save(world: &mut World) -> Self;

    /// Restores the state into a world in which the layers below are already loaded.
    fn load(self, world: &mut World);
}

/// All sections, in the order in which they load.
#[derive(Resource, Default, Clone)]
pub struct SavedSections(Vec<ErasedSection>);

#[derive(Clone, Copy)]
struct ErasedSection {
    name: &'static str,
    save: fn(&mut World) -> Result<Value, serde_json::Error>,
    load: fn(&mut World, Value) -> Result<(), serde_json::Error>,
    hash: fn(&mut World, &mut HashWriter) -> Result<(), serde_json::Error>,
}

/// Adds a section; layers do so in their own order.
pub fn register<T: Section>(app: &mut App) {
    app.world_mut().resource_mut::<SavedSections>().0.push(ErasedSection {
        name: T::NAME,
        save: |world| serde_json::to_value(T::save(world)),
        load: |world, value| {
            serde_json::from_value::<T>(value)?.load(world);
            Ok(())
        },
        hash: |world, hasher| serde_json::to_writer(hasher, &T::save(world)),
    });
}

/// Saves the whole world as one JSON object of sections.
pub fn save_world(world: &mut World) -> Result<Value, serde_json::Error> {
    let mut sections = serde_json::Map::new();
    for section in world.resource::<SavedSections>().0.clone() {
        sections.insert(section.name.to_owned(), (section.save)(world)?);
    }
    Ok(Value::Object(sections))
}

/// Loads the result of [`save_world`]. If a section is absent, its state is left unchanged.
pub fn load_world(world: &mut World, saved: &Value) -> Result<(), serde_json::Error> {
    for section in world.resource::<SavedSections>().0.clone() {
        if let Some(value) = saved.get(section.name) {
            (section.load)(world, value.clone())?;
        }
    }
    Ok(())
}

/// Returns a hash of everything that would be saved.
pub fn world_hash(world: &mut World) -> u64 {
    section_hashes(world).into_iter().fold(0, |hash, (_, section)| hash.rotate_left(5) ^ section)
}

/// Returns a hash per section, to find the layer in which two worlds differ.
pub fn section_hashes(world: &mut World) -> Vec<(&'static str, u64)> {
    let sections = world.resource::<SavedSections>().0.clone();
    sections
        .into_iter()
        .map(|section| {
            let mut hasher = HashWriter::default();
            (section.hash)(world, &mut hasher).expect("a saved section is always serialisable");
            (section.name, hasher.digest())
        })
        .collect()
}
