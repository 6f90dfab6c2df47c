//! The parts of the world that are saved, in sections, one per layer: saved, loaded and hashed as a whole. The hash of
//! the world is the hash of its saved form, so everything that is compared is also saved, and vice versa.

use bevy::app::App;
use bevy::ecs::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::base::hash::HashWriter;

/// The part of the saved world that belongs to one layer. Its order must not depend on hash maps or on `Entity`.
pub trait Section: Serialize + DeserializeOwned + Send + Sync + 'static {
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
    copy: fn(&mut World) -> Box<dyn CopiedSection>,
    load: fn(&mut World, Value) -> Result<(), serde_json::Error>,
}

/// Adds a section; layers do so in their own order.
pub fn register<T: Section>(app: &mut App) {
    app.world_mut().resource_mut::<SavedSections>().0.push(ErasedSection {
        name: T::NAME,
        copy: |world| Box::new(T::save(world)),
        load: |world, value| {
            serde_json::from_value::<T>(value)?.load(world);
            Ok(())
        },
    });
}

/// A copied section of any type.
trait CopiedSection: Send + Sync {
    /// Returns the section as JSON.
    fn to_value(&self) -> Result<Value, serde_json::Error>;

    /// Returns a hash of the section.
    fn hash(&self) -> u64;
}

impl<T: Section> CopiedSection for T {
    fn to_value(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }

    fn hash(&self) -> u64 {
        let mut hasher = HashWriter::default();
        serde_json::to_writer(&mut hasher, self).expect("a saved section is always serialisable");
        hasher.digest()
    }
}

/// A copy of all sections after a tick. Copying is fast; formatting and hashing take several times as long, and can be
/// done on another thread.
pub struct SavedWorld(Vec<(&'static str, Box<dyn CopiedSection>)>);

impl SavedWorld {
    /// Copies all sections of a world.
    pub fn of(world: &mut World) -> Self {
        let sections = world.resource::<SavedSections>().0.clone();
        Self(sections.into_iter().map(|section| (section.name, (section.copy)(world))).collect())
    }

    /// Returns one JSON object with an entry per section.
    pub fn to_value(&self) -> Result<Value, serde_json::Error> {
        let entry =
            |(name, section): &(&'static str, Box<dyn CopiedSection>)| Ok(((*name).to_owned(), section.to_value()?));
        self.0.iter().map(entry).collect::<Result<serde_json::Map<_, _>, _>>().map(Value::Object)
    }

    /// Returns a hash per section, to find the layer in which two worlds differ.
    pub fn section_hashes(&self) -> Vec<(&'static str, u64)> {
        self.0.iter().map(|(name, section)| (*name, section.hash())).collect()
    }

    /// Returns a hash of all sections.
    pub fn hash(&self) -> u64 {
        self.section_hashes().into_iter().fold(0, |hash, (_, section)| hash.rotate_left(5) ^ section)
    }
}

/// Saves the whole world as one JSON object of sections.
pub fn save_world(world: &mut World) -> Result<Value, serde_json::Error> {
    SavedWorld::of(world).to_value()
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
    SavedWorld::of(world).hash()
}

/// Returns a hash per section, to find the layer in which two worlds differ.
pub fn section_hashes(world: &mut World) -> Vec<(&'static str, u64)> {
    SavedWorld::of(world).section_hashes()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Resource, Clone, Default, Serialize, Deserialize)]
    struct Count(u32);

    impl Section for Count {
        const NAME: &'static str = "count";

        fn save(world: &mut World) -> Self {
            world.resource::<Self>().clone()
        }

        fn load(self, world: &mut World) {
            world.insert_resource(self);
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test may fail if there is no thread")]
    fn a_copy_stays_as_the_world_was_and_can_be_formatted_and_hashed_elsewhere() {
        let mut app = App::new();
        app.init_resource::<SavedSections>().init_resource::<Count>();
        register::<Count>(&mut app);
        let world = app.world_mut();
        let hash_before = world_hash(world);
        let copy = SavedWorld::of(world);
        world.resource_mut::<Count>().0 = 7;
        assert_ne!(world_hash(world), hash_before);
        let (hash, value) = std::thread::spawn(move || (copy.hash(), copy.to_value())).join().expect("it should end");
        assert_eq!((hash, value.expect("it should be JSON")), (hash_before, json!({ "count": 0 })));
        load_world(world, &json!({ "count": 0 })).expect("it should load");
        assert_eq!(world_hash(world), hash_before);
    }
}
