//! Determines which MCP servers are needed for work, and which work waits for servers to connect.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::change_detection::DetectChanges;

use super::access::RoomAccess;
use super::core::Kernel;
use crate::base::{ActivationKey, AgentKey, Id};
use crate::gateway::McpWanted;

/// The servers needed for work, as last computed. They are recomputed only after a relevant change, and not saved.
#[derive(Default)]
pub(super) struct ServersNeeded {
    /// The work considered, with its number of lent tools.
    work: Vec<(ActivationKey, usize)>,
    /// The servers that it needs.
    wanted: BTreeSet<Id>,
    /// The waiting work, with the names of the servers that it waits for.
    waiting: BTreeMap<ActivationKey, Vec<String>>,
    /// The work that was already reported as waiting.
    reported: BTreeSet<ActivationKey>,
}

impl ServersNeeded {
    /// Stores the current work. Returns whether it changed.
    fn note_work(&mut self, work: Vec<(ActivationKey, usize)>) -> bool {
        let is_other = self.work != work;
        self.work = work;
        is_other
    }
}

impl RoomAccess<'_, '_> {
    /// Requests the servers that work needs, if they changed. Returns the agents whose work waits for a server.
    pub(super) fn servers_needed(&mut self, kernel: &Kernel, known: &mut ServersNeeded) -> BTreeSet<AgentKey> {
        if self.servers.configured().is_empty() && self.servers.wanted().is_empty() {
            return BTreeSet::new();
        }
        let lent_tools = |thread| kernel.thread(thread).map_or(0, |thread| thread.terms.tools.len());
        let is_other_work =
            known.note_work(kernel.activations().map(|one| (one.key, lent_tools(one.thread))).collect());
        let is_other_room = self.servers.is_changed() || self.profiles.is_changed() || self.tools.is_changed();
        if is_other_work || is_other_room {
            self.update_needed_servers(kernel, known);
        }
        if known.wanted != *self.servers.wanted() {
            self.servers_wanted.write(McpWanted(known.wanted.clone()));
        }
        let mut held = BTreeSet::new();
        for (key, names) in &known.waiting {
            let Some(one) = kernel.activation(*key) else { continue };
            held.extend(one.agent_key);
            if one.activity.is_some() && known.reported.insert(*key) {
                self.explain(one, format!("connecting to {}", names.join(", ")), false, one.cause);
            }
        }
        held
    }

    /// Computes which servers each piece of work needs, and which of them are not connected yet.
    fn update_needed_servers(&self, kernel: &Kernel, known: &mut ServersNeeded) {
        known.wanted.clear();
        known.waiting.clear();
        for one in kernel.activations() {
            let bounds = self.bounds_of(kernel, one);
            let keys: Vec<&str> = bounds.servers().into_iter().filter(|key| self.servers.get(key).is_some()).collect();
            let awaited = keys.iter().filter(|key| self.servers.are_awaited([**key]));
            let names = awaited.filter_map(|key| Some(self.servers.get(key)?.name.clone())).collect::<Vec<_>>();
            if !names.is_empty() {
                known.waiting.insert(one.key, names);
            }
            known.wanted.extend(keys.into_iter().map(Id::from));
        }
        let ServersNeeded { waiting, reported, .. } = known;
        reported.retain(|key| waiting.contains_key(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::RunTag;

    #[test]
    fn needed_servers_are_recomputed_only_when_the_work_changes() {
        let key = |number| ActivationKey::new(number, RunTag::of("r-1"));
        let mut known = ServersNeeded::default();
        let mut has_changed = |work: &[(ActivationKey, usize)]| known.note_work(work.to_vec());
        assert!(!has_changed(&[]));
        assert!(has_changed(&[(key(1), 0)]));
        assert!(!has_changed(&[(key(1), 0)]));
        assert!(has_changed(&[(key(1), 1)]), "it was lent a tool");
        assert!(has_changed(&[(key(1), 1), (key(2), 0)]));
        assert!(has_changed(&[(key(2), 0)]));
    }
}
