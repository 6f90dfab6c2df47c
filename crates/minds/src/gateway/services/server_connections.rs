//! Connected MCP servers as orders to the outside: one order for each server that is needed, which runs until it no longer
//! is, and whose answers are the server's status.

use std::collections::BTreeSet;
use std::sync::Arc;

use bevy::ecs::message::MessageReader;
use bevy::ecs::prelude::*;

use super::external_calls::ExternalCalls;
use super::server_pool::ServerPool;
use super::servers::{McpServers, McpStatusChanged, McpTry};
use crate::agent::McpServer;
use crate::base::Id;
use crate::gateway::mcp::{McpFailure, McpFault, McpSettings, McpStatus};
use crate::schedule::outside::{Outside, Received, Reporter, Start, WorldOf};

/// Keeps the servers connected that are needed.
#[derive(Default)]
pub(in crate::gateway) struct ServerConnections {
    /// The servers that have not reported yet whether they are ready.
    awaited: BTreeSet<Id>,
}

fn failed(key: &Id, failure: McpFailure) -> McpStatusChanged {
    McpStatusChanged { key: key.clone(), news: McpStatus::Failed { failure, tries_again: false } }
}

impl Outside for ServerConnections {
    const NAME: &'static str = "MCP servers";
    const MAX_RUNNING: usize = usize::MAX;

    type Key = Id;
    type Order = McpServer;
    type Report = McpStatus;
    type Answer = McpStatusChanged;
    type World = (
        Res<'static, McpServers>,
        Res<'static, McpSettings>,
        Res<'static, ServerPool>,
        ExternalCalls<'static>,
        MessageReader<'static, 'static, McpTry>,
    );

    fn wanted(&mut self, (servers, ..): &mut WorldOf<'_, '_, Self>) -> Vec<Id> {
        servers.needed().cloned().collect()
    }

    fn order(&self, key: &Id, (servers, ..): &WorldOf<'_, '_, Self>) -> Result<McpServer, McpStatusChanged> {
        let gone = || failed(key, McpFailure::new(McpFault::Gone, "this server is no longer available", ""));
        servers.get(key).cloned().ok_or_else(gone)
    }

    fn interrupted(&mut self, _: &Id, _: &McpServer) -> Option<McpStatusChanged> {
        // Connecting changes nothing.
        None
    }

    fn start(
        &mut self,
        key: &Id,
        server: McpServer,
        (_, settings, pool, calls, _): &mut WorldOf<'_, '_, Self>,
        reporter: Reporter<Self>,
    ) -> Start<McpStatusChanged> {
        let listener = reporter.clone();
        let surroundings = calls.of_servers();
        let connected = pool.connect(
            (surroundings.0, &surroundings.1, surroundings.2),
            (server, settings.terms()),
            Arc::new(move |status| listener.report(status)),
        );
        self.awaited.insert(key.clone());
        if let Err(failure) = connected {
            reporter.report_if_room(McpStatus::Failed { failure, tries_again: false });
        }
        Start::Started
    }

    fn cancel(&mut self, key: &Id, (_, _, pool, ..): &mut WorldOf<'_, '_, Self>) {
        self.awaited.remove(key);
        pool.release(key);
    }

    fn receive(&mut self, key: &Id, news: McpStatus, _: &mut WorldOf<'_, '_, Self>) -> Received<McpStatusChanged> {
        self.awaited.remove(key);
        Received::Answer(McpStatusChanged { key: key.clone(), news })
    }

    fn lost(&self, key: &Id, why: &str) -> McpStatusChanged {
        failed(key, McpFailure::new(McpFault::Gone, why, ""))
    }

    fn is_final(_: &McpStatusChanged) -> bool {
        false
    }

    fn addressed_to(key: &Id, answer: McpStatusChanged) -> McpStatusChanged {
        McpStatusChanged { key: key.clone(), ..answer }
    }

    fn is_awaited(&self, key: &Id) -> bool {
        self.awaited.contains(key)
    }

    fn attend(
        &mut self,
        running: &dyn Fn(&Id) -> bool,
        (servers, settings, pool, _, tries): &mut WorldOf<'_, '_, Self>,
    ) {
        for McpTry { key } in tries.read().filter(|tried| running(&tried.key)) {
            if let Some(server) = servers.get(key) {
                self.awaited.insert(key.clone());
                pool.connect_again(server.clone(), settings.terms());
            }
        }
    }
}
