//! `settings.yaml`: each domain keeps its numbers in one struct with defaults, a section of the file.

use bevy::app::App;
use bevy::ecs::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The numbers of one domain: a resource whose fields all have defaults (`#[serde(default)]`).
/// The section of this name in `settings.yaml` overrides them, and then `settings:` of the scene.
pub trait SettingsSection:
    Resource<Mutability = bevy::ecs::component::Mutable> + Default + Clone + Serialize + DeserializeOwned
{
    /// The key in `settings.yaml`.
    const NAME: &'static str;
}

/// What `settings.yaml` and the scene say, as the world knows it, and the sections that read it.
#[derive(Resource, Default, Clone)]
pub struct SettingsSections(pub(super) Vec<ErasedSettings>);

/// A registered section.
#[derive(Clone, Copy)]
pub(super) struct ErasedSettings {
    /// Its key in `settings.yaml`.
    pub(super) name: &'static str,
    /// The names of its fields, for suggestions.
    pub(super) fields: fn() -> Vec<String>,
    /// Sets the resource from the section's keys, or says what is wrong; the resource stays as it was then.
    pub(super) set: fn(&mut World, serde_json::Value) -> Result<(), serde_json::Error>,
}

/// Registers sections.
pub trait SettingsExt {
    /// Adds the resource with its defaults and lets `settings.yaml` and the scene set it.
    fn add_settings<S: SettingsSection>(&mut self) -> &mut Self;
}

impl SettingsExt for App {
    fn add_settings<S: SettingsSection>(&mut self) -> &mut Self {
        self.init_resource::<S>().init_resource::<SettingsSections>();
        self.world_mut().resource_mut::<SettingsSections>().0.push(ErasedSettings {
            name: S::NAME,
            fields: || match serde_json::to_value(S::default()) {
                Ok(serde_json::Value::Object(fields)) => fields.into_iter().map(|(name, _)| name).collect(),
                _ => Vec::new(),
            },
            set: |world, keys| {
                *world.resource_mut::<S>() = serde_json::from_value(keys)?;
                Ok(())
            },
        });
        self
    }
}
