//! Which MCP servers work needs, and which work waits until they have said whether they are there.

use std::collections::{BTreeMap, BTreeSet};

use super::access::RoomAccess;
use super::core::Kernel;
use crate::base::{ActivationKey, AgentKey, Id};
use crate::gateway::McpWanted;

impl RoomAccess<'_, '_> {
    /// Says which servers work needs, where that is news, and gives the agents whose work waits for one of them.
    /// `told` remembers of which work that was said.
    pub(super) fn servers_needed(&mut self, kernel: &Kernel, told: &mut BTreeSet<ActivationKey>) -> BTreeSet<AgentKey> {
        if self.servers.written().is_empty() && self.servers.wanted().is_empty() {
            return BTreeSet::new();
        }
        let mut wanted: BTreeSet<Id> = BTreeSet::new();
        let mut waiting: BTreeMap<ActivationKey, Vec<String>> = BTreeMap::new();
        for one in kernel.activations() {
            let bounds = self.bounds_of(kernel, one);
            let keys: Vec<&str> = bounds.servers().into_iter().filter(|key| self.servers.get(key).is_some()).collect();
            let awaited = keys.iter().filter(|key| self.servers.are_awaited([**key]));
            let names = awaited.filter_map(|key| Some(self.servers.get(key)?.name.clone())).collect::<Vec<_>>();
            if !names.is_empty() {
                waiting.insert(one.key, names);
            }
            wanted.extend(keys.into_iter().map(Id::from));
        }
        if wanted != *self.servers.wanted() {
            self.servers_wanted.write(McpWanted(wanted));
        }
        let mut held = BTreeSet::new();
        for (key, names) in &waiting {
            let Some(one) = kernel.activation(*key).cloned() else { continue };
            held.extend(one.agent_key);
            if one.activity.is_some() && told.insert(*key) {
                self.explain(&one, format!("connecting to {}", names.join(", ")), false, one.cause);
            }
        }
        told.retain(|key| waiting.contains_key(key));
        held
    }
}
