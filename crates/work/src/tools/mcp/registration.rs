//! Keeps the registry in sync with the MCP servers: tools are added and removed with the servers that offer them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bevy::ecs::prelude::*;

use super::declarations::{SERVERS, tools};
use super::names::taken;
use crate::base::{Id, Problem, text};
use crate::gate::ToolScope;
use crate::gateway::McpServers;
use crate::gateway::mcp::McpOffer;
use crate::tools::Tools;
use crate::workspace::ProblemReport;

/// Registers the tools that servers offer now, and removes those that they no longer offer. A changed description
/// counts as new.
pub(in crate::tools) fn register(
    servers: Res<McpServers>,
    mut registry: ResMut<Tools>,
    mut reports: MessageWriter<ProblemReport>,
    mut known: Local<BTreeMap<Id, Arc<McpOffer>>>,
) {
    if !servers.is_changed() {
        return;
    }
    if registry.names().1 != *servers.names() {
        registry.set_servers(servers.names().clone());
    }
    let now: BTreeMap<Id, Arc<McpOffer>> = servers.ready().map(|(key, offer)| (key.clone(), offer.clone())).collect();
    if *known == now {
        return;
    }
    if !registry.has_executor(SERVERS) {
        registry.add_executor(SERVERS);
    }
    let stale = |key: &str| known.contains_key(key) && known.get(key) != now.get(key);
    let gone: Vec<(ToolScope, String)> = registry
        .iter()
        .filter(|tool| matches!(&tool.scope, ToolScope::Server { key, .. } if stale(key)))
        .map(|tool| (tool.scope.clone(), tool.name.clone()))
        .collect();
    for (scope, name) in gone {
        registry.remove(&scope, &name);
    }
    let mut names: BTreeSet<String> = registry.iter().map(|tool| taken(&tool.name)).collect();
    for (key, offer) in now.iter().filter(|(key, offer)| known.get(*key) != Some(*offer)) {
        let Some(server) = servers.get(key) else { continue };
        let mut refused = Vec::new();
        for tool in tools(&server.name, key, offer, &mut names) {
            if let Err(refusal) = registry.register(tool) {
                refused.push(refusal.to_string());
            }
        }
        let place = format!("MCP server {}", server.label());
        let told = |refused: &[String]| {
            let what = text::truncate(&format!("unusable tools: {}", refused.join("; ")), 600);
            Problem::warning(&place, what, "nothing to do, unless you need them")
        };
        let problems = if refused.is_empty() { Vec::new() } else { vec![told(&refused)] };
        reports.write(ProblemReport { source: format!("tools of {place}"), problems });
    }
    *known = now;
}
