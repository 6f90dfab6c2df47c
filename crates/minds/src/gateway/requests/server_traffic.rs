//! Messages of the world to MCP servers without an answer yet, and messages of servers that were not admitted yet. None
//! of it is saved: after a restart, code that needs a server requests it again.

use std::collections::{BTreeSet, VecDeque};

use crate::base::Id;
use crate::gateway::mcp::{McpCommand, McpEvent, McpFailure, McpFault};

/// The messages to and from servers.
#[derive(Default, Debug)]
pub(in crate::gateway) struct ServerTraffic {
    /// The servers that the worker keeps connected.
    connected: BTreeSet<Id>,
    /// Those of them that have not reported yet whether they are ready.
    awaited: BTreeSet<Id>,
    /// The running calls.
    calls: BTreeSet<Id>,
    /// The calls that wait for a person or a model.
    asking: BTreeSet<Id>,
    events: VecDeque<McpEvent>,
}

impl ServerTraffic {
    /// Whether the worker keeps this server connected.
    pub(in crate::gateway) fn keeps(&self, key: &Id) -> bool {
        self.connected.contains(key)
    }

    /// Iterates over the servers that the worker keeps connected.
    pub(in crate::gateway) fn connected(&self) -> impl Iterator<Item = &Id> {
        self.connected.iter()
    }

    /// Records a command that was sent.
    pub(in crate::gateway) fn sent(&mut self, command: McpCommand) {
        match command {
            McpCommand::Connect { server, .. } => {
                self.awaited.insert(server.key());
                self.connected.insert(server.key());
            }
            McpCommand::Release { key } => {
                self.awaited.remove(&key);
                self.connected.remove(&key);
            }
            McpCommand::Call { id, .. } => {
                self.calls.insert(id);
            }
            McpCommand::Answer { id, .. } => {
                self.asking.remove(&id);
            }
            McpCommand::Cancel { .. } => {}
        }
    }

    /// Records an event of the worker.
    pub(in crate::gateway) fn receive(&mut self, event: McpEvent) {
        match &event {
            McpEvent::Standing { key, .. } => {
                self.awaited.remove(key);
                if !self.connected.contains(key) {
                    return;
                }
            }
            McpEvent::Done { id, .. } => {
                self.asking.remove(id);
                if !self.calls.remove(id) {
                    return;
                }
            }
            McpEvent::Asks { id, .. } | McpEvent::Samples { id, .. } => {
                if !self.calls.contains(id) {
                    return;
                }
                self.asking.insert(id.clone());
            }
            McpEvent::Progress { id, .. } => {
                if !self.calls.contains(id) {
                    return;
                }
            }
        }
        self.events.push_back(event);
    }

    /// Records that the worker has ended: calls are answered here, and servers must be connected again.
    pub(in crate::gateway) fn lost(&mut self) {
        self.connected.clear();
        self.awaited.clear();
        self.asking.clear();
        for id in std::mem::take(&mut self.calls) {
            let failure = McpFailure::new(McpFault::Gone, "the gateway stopped while the server was working on it", "");
            self.events.push_back(McpEvent::Done { id, outcome: Err(failure) });
        }
    }

    /// Removes and returns the events, oldest first.
    pub(in crate::gateway) fn take(&mut self) -> Vec<McpEvent> {
        self.events.drain(..).collect()
    }

    /// Whether a reply of a server is still expected by someone. A server that waits for a person or a model does not
    /// count: the room must continue so that the answer can arrive.
    pub(in crate::gateway) fn has_pending(&self) -> bool {
        !self.awaited.is_empty() || self.calls.len() > self.asking.len()
    }

    /// Whether there are no events to admit.
    pub(in crate::gateway) fn is_quiet(&self) -> bool {
        self.events.is_empty()
    }
}
