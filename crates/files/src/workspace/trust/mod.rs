//! Which parts of a workspace a person trusts. A workspace that came from elsewhere is restricted until they do:
//! nothing in it widens what agents may do, and nothing starts work by itself.
//!
//! Reading order: [`Widening`] (one thing that a file wants to be allowed) and [`settings_keys`] (which settings widen).
//! What a person trusts is kept in their config folder, never in the workspace; the room gets it as [`WorkspaceTrust`].

pub mod settings_keys;
mod waiting_texts;

use std::collections::BTreeSet;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use serde::{Deserialize, Serialize};

pub use waiting_texts::WaitingTexts;

use crate::schedule::{Input, RoomPaused};

/// What a person can do about a workspace that they have not trusted, or about what is new in it.
pub const TRUST_REMEDY: &str = "look at what it wants and decide with: workshop trust";

/// The key of a widening that would start by itself: an agent's heartbeat or code, or a workflow with a trigger.
const STARTS: &str = "starts by itself";

/// Something that a file of the workspace wants to be allowed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Widening {
    /// The file.
    pub place: String,
    /// What in the file: a setting such as `gate.touches.process.run`, or a rule.
    pub key: String,
    /// The value, as one line.
    pub value: String,
    /// What it means for the person.
    pub sentence: String,
    /// Whether the program asks for a permission of its own before this has any effect, as for MCP servers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_asked_elsewhere: bool,
    /// Former names of the setting: what was trusted under one of them stays trusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_keys: Vec<String>,
}

impl Widening {
    /// Creates a widening.
    pub fn new(place: &str, key: impl Into<String>, value: impl Into<String>, sentence: impl Into<String>) -> Self {
        let (key, value, sentence) = (key.into(), value.into(), sentence.into());
        Self { place: place.to_owned(), key, value, sentence, is_asked_elsewhere: false, former_keys: Vec::new() }
    }

    /// Creates the widening of something that would start by itself; `value` says when, or names the code.
    pub fn starting(place: &str, value: impl Into<String>, sentence: impl Into<String>) -> Self {
        Self::new(place, STARTS, value, sentence)
    }

    /// Whether it would start by itself.
    pub fn starts_by_itself(&self) -> bool {
        self.key == STARTS
    }

    /// A cryptographic hash of the place, the key and the value.
    pub fn hash(&self) -> String {
        self.hash_with_key(&self.key)
    }

    fn hash_with_key(&self, key: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [self.place.as_str(), key, &self.value] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// What the person trusts of the open workspace. Written by this module only.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "trusts", rename_all = "snake_case")]
pub enum WorkspaceTrust {
    /// Everything, now and later: the person said so for this run, or the room is not a workspace on disk.
    #[default]
    Everything,
    /// The workspace, with these widenings by hash. Others have no effect.
    Parts {
        /// The hashes.
        parts: BTreeSet<String>,
    },
    /// Nothing: the workspace is restricted.
    Nothing,
}

impl WorkspaceTrust {
    /// Whether the workspace is restricted: everything is asked, and nothing starts work by itself.
    pub fn is_restricted(&self) -> bool {
        *self == Self::Nothing
    }

    /// Whether everything is trusted.
    pub fn is_everything(&self) -> bool {
        *self == Self::Everything
    }

    /// Whether a widening has an effect.
    pub fn allows(&self, widening: &Widening) -> bool {
        match self {
            Self::Everything => true,
            Self::Parts { parts } => {
                // What a file wants to be allowed has no effect until you have seen exactly this.
                rule!("trust-is-for-exactly-what-was-seen");
                let mut keys = std::iter::once(&widening.key).chain(&widening.former_keys);
                widening.is_asked_elsewhere || keys.any(|key| parts.contains(&widening.hash_with_key(key)))
            }
            Self::Nothing => widening.is_asked_elsewhere,
        }
    }

    /// Trusts widenings that the person made in this program. A restricted workspace stays so.
    pub fn add(&mut self, widenings: impl IntoIterator<Item = Widening>) {
        if let Self::Parts { parts } = self {
            parts.extend(widenings.into_iter().map(|widening| widening.hash()));
        }
    }
}

/// The person trusts more or less of the open workspace. An input.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TrustChanged(pub WorkspaceTrust);

impl Input for TrustChanged {
    const KIND: &'static str = "workspace_trust";
}

/// A person made these widenings in this program, by an edit or an answer, so they are trusted.
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub struct TrustAdded(pub Vec<Widening>);

/// Whether nothing may start work by itself: the room is paused, or the workspace is restricted.
#[derive(SystemParam)]
pub struct StartsHeld<'w> {
    paused: Option<Res<'w, RoomPaused>>,
    trust: Option<Res<'w, WorkspaceTrust>>,
}

impl StartsHeld<'_> {
    /// Whether nothing may start work by itself.
    pub fn holds(&self) -> bool {
        if self.trust.as_ref().is_some_and(|trust| trust.is_restricted()) {
            // In a workspace from elsewhere that you have not trusted, nothing starts by itself.
            rule!("restricted-workspaces-start-nothing");
            return true;
        }
        self.paused.as_ref().is_some_and(|paused| paused.holds())
    }

    /// Whether the person trusts something that would start by itself.
    pub fn allows(&self, widening: impl FnOnce() -> Widening) -> bool {
        self.trust.as_ref().is_none_or(|trust| trust.is_everything() || trust.allows(&widening()))
    }
}

#[cfg(test)]
mod tests {
    use bevy::ecs::system::RunSystemOnce;

    use super::*;

    #[test]
    fn in_a_restricted_workspace_nothing_starts_by_itself() {
        checks_rule!("restricted-workspaces-start-nothing");
        let mut world = World::new();
        let mut holds = |trust: WorkspaceTrust| {
            world.insert_resource(trust);
            world.run_system_once(|held: StartsHeld| held.holds()).expect("its resources are optional")
        };
        assert!(holds(WorkspaceTrust::Nothing));
        assert!(!holds(WorkspaceTrust::Parts { parts: BTreeSet::new() }));
        assert!(!holds(WorkspaceTrust::Everything));
    }

    #[test]
    fn a_widening_is_trusted_with_exactly_its_place_key_and_value() {
        checks_rule!("trust-is-for-exactly-what-was-seen");
        let widening = Widening::new("settings.yaml", "commands.network", "true", "commands may use the network");
        let mut trust = WorkspaceTrust::Parts { parts: BTreeSet::new() };
        assert!(!trust.allows(&widening));
        trust.add([widening.clone()]);
        assert!(trust.allows(&widening));
        for other in [
            Widening { place: "scenes/a.yaml".into(), ..widening.clone() },
            Widening { key: "commands.networ".into(), value: "ktrue".into(), ..widening.clone() },
            Widening { value: "yes".into(), ..widening.clone() },
        ] {
            assert!(!trust.allows(&other), "{other:?}");
        }
        assert!(trust.allows(&Widening { sentence: "other words".into(), ..widening.clone() }));
        let mut nothing = WorkspaceTrust::Nothing;
        nothing.add([widening.clone()]);
        assert!(!nothing.allows(&widening) && nothing.is_restricted());
        assert!(WorkspaceTrust::Everything.allows(&widening));
    }
}
