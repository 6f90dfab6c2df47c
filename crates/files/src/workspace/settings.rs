//! Settings: each domain has one struct, declared with `settings!`, which is a section of `settings.yaml`.

use bevy::app::App;
use bevy::ecs::prelude::*;
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};

use crate::base::settings::{DescribedSettings, SettingKey, joined, out_of_range};

/// The settings of one domain: a resource whose fields all have defaults. They are overridden by the section of this
/// name in `settings.yaml`, and then by `settings:` of the scene.
pub trait SettingsSection:
    Resource<Mutability = bevy::ecs::component::Mutable>
    + DescribedSettings
    + Default
    + Clone
    + Serialize
    + DeserializeOwned
{
    /// The name of the section in `settings.yaml`.
    const NAME: &'static str;

    /// Reports an unusable part of the section: an unknown key, or a value that does not fit its key. A section that
    /// restricts something should apply the strictest possible meaning; all others use their defaults.
    fn not_understood(&mut self, _key: &str, _value: &serde_json::Value) {}
    /// Reports that `settings.yaml` cannot be read, and never could be since the room was opened, so that it may say
    /// anything about this section. A section that restricts something should apply the strictest possible meaning.
    fn unread(&mut self) {}
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

    /// Returns every section as it is in effect in this world, sorted by name.
    pub fn in_effect(&self, world: &World) -> Vec<(&'static str, serde_json::Value)> {
        let mut sections: Vec<_> = self.0.iter().map(|section| (section.name, (section.in_effect)(world))).collect();
        sections.sort_by_key(|(name, _)| *name);
        sections
    }

    /// Returns what is known of the settings of each section, sorted by name.
    pub fn described(&self) -> Vec<SectionDescription> {
        let mut sections: Vec<_> = self.0.iter().map(ErasedSettings::described).collect();
        sections.sort_by_key(|section| section.name);
        sections
    }

    /// Returns what is known of the settings of a section; empty if any key is allowed, or if there is no such section.
    pub(super) fn keys_of(&self, section: &str) -> &'static [SettingKey] {
        self.0.iter().find(|known| known.name == section).map_or(&[], |known| known.keys)
    }
}

/// What is known of a section.
#[derive(Clone, Debug)]
pub struct SectionDescription {
    /// The name of the section in `settings.yaml`.
    pub name: &'static str,
    /// What it is about.
    pub doc: String,
    /// Its settings, in order; empty if any name is allowed.
    pub keys: &'static [SettingKey],
    /// The defaults by key.
    pub defaults: serde_json::Value,
}

/// A registered section.
#[derive(Clone, Copy)]
pub(super) struct ErasedSettings {
    /// The name of the section in `settings.yaml`.
    pub(super) name: &'static str,
    /// The description, by line.
    doc: &'static [&'static str],
    /// What is known of each key; empty if any key is allowed.
    pub(super) keys: &'static [SettingKey],
    /// Returns the keys with their defaults.
    pub(super) defaults: fn() -> serde_json::Value,
    /// Returns the keys with the values in effect.
    in_effect: fn(&World) -> serde_json::Value,
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
    fn described(&self) -> SectionDescription {
        SectionDescription { name: self.name, doc: joined(self.doc), keys: self.keys, defaults: (self.defaults)() }
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
        debug_assert!(
            is_well_declared::<S>(),
            "every setting of {:?} is declared, with a default in its range",
            S::NAME
        );
        self.world_mut().resource_mut::<SettingsSections>().0.push(ErasedSettings {
            name: S::NAME,
            doc: S::DOC,
            keys: S::KEYS,
            defaults: || serde_json::to_value(S::default()).unwrap_or_default(),
            in_effect: |world| serde_json::to_value(world.resource::<S>()).unwrap_or_default(),
            set: |world, keys| {
                if let Some((_, why)) = keys.as_object().and_then(|keys| out_of_range(keys, S::KEYS)) {
                    return Err(serde_json::Error::custom(why));
                }
                *world.resource_mut::<S>() = serde_json::from_value(keys)?;
                Ok(())
            },
            not_understood: |world, key, value| world.resource_mut::<S>().not_understood(key, value),
            unread: |world| world.resource_mut::<S>().unread(),
            out_of_range: |keys| out_of_range(keys, S::KEYS),
        });
        self
    }
}

/// Whether the keys of a section are exactly its declared settings, each with a default in its range.
fn is_well_declared<S: SettingsSection>() -> bool {
    let Ok(serde_json::Value::Object(defaults)) = serde_json::to_value(S::default()) else { return false };
    let is_declared = defaults.keys().eq(S::KEYS.iter().map(|key| key.name));
    is_declared && out_of_range(&defaults, S::KEYS).is_none()
}
