//! What every agent is, by profile id.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;

use super::profile::AgentProfile;
use crate::base::Id;

/// What every agent is, by profile id. Written by this module only.
#[derive(Resource, Clone, Default, Debug)]
pub struct Profiles {
    by_id: BTreeMap<Id, AgentProfile>,
}

impl Profiles {
    /// What an agent of this profile is.
    pub fn get(&self, id: &str) -> Option<&AgentProfile> {
        self.by_id.get(id)
    }
}
