//! The rights with which the room reads files for an agent's work outside of a tool call, such as the outputs of a
//! workflow's step. They are those of the agent's own tools: what it may not read itself, nobody reads for it.

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use super::core::Kernel;
use crate::agent::Profiles;
use crate::base::{ActivationKey, Id};
use crate::element::Privacy;
use crate::gate::{Authority, Decision, GatePolicy, decide_reading};
use crate::tools::Tools;
use crate::workspace::vfs::{FileRights, WorkspacePath};

/// Everything that limits what an agent may read.
#[derive(SystemParam)]
pub struct WorkFileRights<'w, 's> {
    tools: Res<'w, Tools>,
    profiles: Res<'w, Profiles>,
    policy: Res<'w, GatePolicy>,
    privacy: Privacy<'w, 's>,
}

impl WorkFileRights<'_, '_> {
    /// The rights for reading this file for the work of an agent in a thread. If the thread is unknown, nothing may be
    /// read.
    pub fn reading(&self, kernel: &Kernel, thread: ActivationKey, agent: &Id, path: &str) -> FileRights {
        let node = kernel.thread(thread);
        let profile = node.map(|node| &node.profile);
        let own = profile.and_then(|id| Some((self.profiles.path(id)?, self.profiles.get(id)?)));
        let own = own.map_or_else(Authority::minimal, |(path, profile)| self.tools.authority(path, profile).0);
        let starters = node.into_iter().flat_map(|node| node.starters.iter().cloned());
        let allowed = profile.map_or_else(Vec::new, |profile| self.policy.allowed_to(profile));
        let bounds = Authority::chain(own, starters).allowing(allowed);
        let mut rights = self.privacy.within(bounds.file_rights(), agent, profile.unwrap_or(agent));
        // Nobody is asked about this reading, so what needs approval is not read either.
        if let Ok(normal) = WorkspacePath::new(path)
            && decide_reading(&normal, &bounds, &self.policy) != Decision::Allow
        {
            rights.reads.push(Vec::new());
        }
        rights
    }
}
