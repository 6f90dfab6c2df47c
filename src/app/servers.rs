//! The configured MCP servers, coding agents and embedding model of a workspace, for commands without an open room.

use std::path::Path;

use bevy::app::App;

use super::begin;
use super::trust::{Decided, TrustChoice};
use crate::base::{Problem, Seq};
use crate::gateway::acp::AcpSettings;
use crate::gateway::mcp::configured_servers::ConfiguredServer;
use crate::gateway::mcp::{McpSettings, McpTerms};
use crate::gateway::{Environment, GatewayEnvironment, GatewaySettings, McpServers, PriceSettings, ProviderTrial};
use crate::learning::{EmbedderChoice, KnowledgeSettings};
use crate::schedule;
use crate::workspace::layout::read_folder;
use crate::workspace::{Problems, RoomStart};

/// The MCP servers configured in a workspace.
pub struct ServersOfFolder {
    /// All configured servers, those of the workspace first.
    pub servers: Vec<ConfiguredServer>,
    /// The conditions for using them.
    pub terms: McpTerms,
    /// Problems of the configuration.
    pub problems: Vec<Problem>,
}

/// Reads the configuration in a world without side effects, like a room with the first scene.
pub fn servers_of(folder: &Path) -> Result<ServersOfFolder, Problem> {
    let app = opened(folder)?;
    let world = app.world();
    let servers = world.resource::<McpServers>().configured().to_vec();
    let terms = world.resource::<McpSettings>().terms();
    let is_about_servers = |problem: &&Problem| problem.what.contains("MCP server");
    let problems = world.resource::<Problems>().iter().filter(is_about_servers).cloned().collect();
    Ok(ServersOfFolder { servers, terms, problems })
}

/// The workspace's settings for coding agents, read in the same way.
pub fn coding_agents_of(folder: &Path) -> Result<AcpSettings, Problem> {
    Ok(opened(folder)?.world().resource::<AcpSettings>().clone())
}

/// The workspace's embedding model, read in the same way; the built-in one if the settings cannot be read.
pub fn embedder_of(folder: &Path) -> EmbedderChoice {
    let Ok(app) = opened(folder) else { return EmbedderChoice::default() };
    let world = app.world();
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let environment = Environment::of_process().in_workspace(&folder);
    let settings = world.resource::<KnowledgeSettings>();
    EmbedderChoice::of(settings, world.resource::<GatewaySettings>(), world.resource::<PriceSettings>(), &environment)
}

/// A tiny request to a model with the workspace's settings; its usage is not recorded.
pub fn trial_in(folder: &Path, model: &str) -> Result<ProviderTrial, Problem> {
    let mut app = opened(folder)?;
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    app.insert_resource(GatewayEnvironment(Environment::of_process().in_workspace(&folder)));
    ProviderTrial::of(app.world(), model)
}

fn opened(folder: &Path) -> Result<App, Problem> {
    let (files, _) = read_folder(folder);
    let Some(scene) = files.keys().find(|path| path.starts_with("scenes/")).cloned() else {
        let what = "this workspace has no scene, so its agents and settings are unknown";
        return Err(Problem::error(folder.display().to_string(), what, "make one: workshop init --bare ."));
    };
    let decided = Decided::of(&TrustChoice::Person, &Environment::of_process(), folder);
    let start = RoomStart { scene: scene.clone(), files, trust: Some(decided.trust), ..RoomStart::default() };
    let mut app = begin(start, "r-servers".into(), Seq(1))
        .map_err(|error| Problem::error(scene, error.to_string(), "fix the scene file"))?;
    schedule::advance(app.world_mut());
    Ok(app)
}
