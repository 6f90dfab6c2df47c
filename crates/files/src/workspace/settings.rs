//! Settings: each domain has one struct with defaults, which is a section of `settings.yaml`.

use bevy::app::App;
use bevy::ecs::prelude::*;
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};

use super::settings_range::{Range, out_of_range};

/// The settings of one domain: a resource whose fields all have defaults (`#[serde(default)]`). They are overridden by
/// the section of this name in `settings.yaml`, and then by `settings:` of the scene.
pub trait SettingsSection:
    Resource<Mutability = bevy::ecs::component::Mutable> + Default + Clone + Serialize + DeserializeOwned
{
    /// The name of the section in `settings.yaml`.
    const NAME: &'static str;

    /// Reports an unusable part of the section: an unknown key, or a value that does not fit its key. A section that
    /// restricts something should apply the strictest possible meaning; all others use their defaults.
    fn not_understood(&mut self, _key: &str, _value: &serde_json::Value) {}
    /// Reports that `settings.yaml` cannot be read, and never could be since the room was opened, so that it may say
    /// anything about this section. A section that restricts something should apply the strictest possible meaning.
    fn unread(&mut self) {}
    /// Numbers whose range differs from the default for their unit.
    const RANGES: &'static [Range] = &[];
}

/// The registered sections.
#[derive(Resource, Default, Clone)]
pub struct SettingsSections(pub(super) Vec<ErasedSettings>);

impl SettingsSections {
    /// Returns every section with its defaults, sorted by name.
    pub fn defaults(&self) -> Vec<(&'static str, serde_json::Value)> {
        let mut sections: Vec<_> = self.0.iter().map(|section| (section.name, (section.defaults)())).collect();
        sections.sort_by_key(|(name, _)| *name);
        sections
    }
}

/// A registered section.
#[derive(Clone, Copy)]
pub(super) struct ErasedSettings {
    /// The name of the section in `settings.yaml`.
    pub(super) name: &'static str,
    /// Returns the keys with their defaults; null if any key is allowed.
    pub(super) defaults: fn() -> serde_json::Value,
    /// Sets the resource from the section's keys, or returns the problem and leaves the resource unchanged.
    pub(super) set: fn(&mut World, serde_json::Value) -> Result<(), serde_json::Error>,
    /// Reports an unusable part to the section.
    pub(super) not_understood: fn(&mut World, &str, &serde_json::Value),
    /// Reports to the section that the whole file cannot be read.
    pub(super) unread: fn(&mut World),
    /// Returns the first key whose number is out of range, with the reason.
    pub(super) out_of_range: fn(&serde_json::Map<String, serde_json::Value>) -> Option<(String, String)>,
}

impl ErasedSettings {
    /// Returns the names of the fields, for suggestions; empty if any key is allowed.
    pub(super) fn fields(&self) -> Vec<String> {
        match (self.defaults)() {
            serde_json::Value::Object(fields) => fields.into_iter().map(|(name, _)| name).collect(),
            _ => Vec::new(),
        }
    }
}

/// Registers settings sections.
pub trait SettingsExt {
    /// Adds the resource with its defaults, to be overridden by `settings.yaml` and the scene.
    fn add_settings<S: SettingsSection>(&mut self) -> &mut Self;
}

impl SettingsExt for App {
    fn add_settings<S: SettingsSection>(&mut self) -> &mut Self {
        self.init_resource::<S>().init_resource::<SettingsSections>();
        debug_assert_eq!(
            serde_json::to_value(S::default()).ok().and_then(|fields| out_of_range(fields.as_object()?, S::RANGES)),
            None,
            "defaults make sense"
        );
        self.world_mut().resource_mut::<SettingsSections>().0.push(ErasedSettings {
            name: S::NAME,
            defaults: || serde_json::to_value(S::default()).unwrap_or_default(),
            set: |world, keys| {
                if let Some((_, why)) = keys.as_object().and_then(|keys| out_of_range(keys, S::RANGES)) {
                    return Err(serde_json::Error::custom(why));
                }
                *world.resource_mut::<S>() = serde_json::from_value(keys)?;
                Ok(())
            },
            not_understood: |world, key, value| world.resource_mut::<S>().not_understood(key, value),
            unread: |world| world.resource_mut::<S>().unread(),
            out_of_range: |keys| out_of_range(keys, S::RANGES),
        });
        self
    }
}
