//! `workshop acp`: lists and allows coding agents without a room.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::workspace_argument::{self, IfMissing, InWorkspace};
use super::{CliError, CliResult, ExitStatus, output};
use crate::agent::McpServer;
use crate::app::servers::coding_agents_of;
use crate::gateway::acp::{AcpSettings, AvailableAgent, KnownAgent, agent_of, available_agents};
use crate::gateway::peers::{allow_peer, consent_of, forbid_peer};
use crate::gateway::unconfined::{SandboxedPrograms, is_unconfined, unconfined_sentence};
use crate::gateway::{Environment, server_status_text};

#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List known and configured coding agents, and show which are installed and allowed
    List(ListArguments),
    /// Allow a coding agent to be started in this workspace, with exactly this command line
    Allow(AllowArguments),
    /// Revoke the permission of a coding agent
    Forbid(AgentArguments),
}

#[derive(Args)]
struct ListArguments {
    #[command(flatten)]
    place: InWorkspace,
}

#[derive(Args)]
struct AgentArguments {
    /// What follows `acp:` in the agent's file: a name such as claude, or a command line
    agent: String,
    #[command(flatten)]
    place: InWorkspace,
}

#[derive(Args)]
struct AllowArguments {
    #[command(flatten)]
    chosen: AgentArguments,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// A workspace with its settings for coding agents.
struct AgentContext {
    folder: PathBuf,
    environment: Environment,
    settings: AcpSettings,
}

impl AgentContext {
    fn of(place: &InWorkspace) -> Result<Self, CliError> {
        let folder = workspace_argument::workspace(place.workspace.as_deref(), IfMissing::Fail)?;
        let folder = folder.canonicalize().unwrap_or(folder);
        let environment = Environment::of_process().in_workspace(&folder);
        let settings =
            coding_agents_of(&folder).map_err(|problem| CliError::failed(problem.what).hint(problem.remedy))?;
        Ok(Self { folder, environment, settings })
    }

    fn find(&self, agent: &str) -> Result<McpServer, CliError> {
        let name = agent.trim().trim_start_matches("acp:");
        agent_of(name, &self.settings.agents).map_err(|problem| CliError::usage(problem.what).hint(problem.remedy))
    }

    fn to_json(&self, agent: &McpServer) -> Value {
        let allowed = server_status_text::consent_word(consent_of(&self.environment, agent));
        let is_sandboxed = !is_unconfined(&self.environment, SandboxedPrograms::CodingAgents);
        json!({ "model": agent.name, "what": agent.shown(), "allowed": allowed, "sandboxed": is_sandboxed })
    }
}

pub(super) fn acp(arguments: &Arguments) -> CliResult {
    match &arguments.command {
        Command::List(listing) => list(&listing.place),
        Command::Allow(allowing) => allow(allowing),
        Command::Forbid(chosen) => forbid(chosen),
    }
}

fn list(place: &InWorkspace) -> CliResult {
    let context = AgentContext::of(place)?;
    let (agents, problems) = available_agents(&context.settings, &context.environment);
    for problem in problems {
        output::note(&format!("{}: {}", problem.place, problem.what));
    }
    let mut listed = Vec::new();
    for AvailableAgent { agent, known, is_installed, consent, .. } in agents {
        let mut line = context.to_json(&agent);
        line["installed"] = known.map_or(Value::Null, |_| is_installed.into());
        if !place.json {
            let more = match known.filter(|_| !is_installed) {
                Some(known) => format!("not installed; {}", known.install),
                None => server_status_text::consent(consent).to_owned(),
            };
            output::result(&format!("{}  {}\n    {more}", agent.name, agent.shown()))?;
        }
        listed.push(line);
    }
    if place.json {
        output::json(&json!({ "agents": listed }))?;
    } else if let Some(sentence) = unconfined_sentence(&context.environment, SandboxedPrograms::CodingAgents) {
        output::note(&sentence);
    }
    Ok(ExitStatus::Done)
}

fn allow(allowing: &AllowArguments) -> CliResult {
    let AgentArguments { agent, place } = &allowing.chosen;
    let context = AgentContext::of(place)?;
    let agent = context.find(agent)?;
    let mut details = agent.details();
    if let Some(known) = KnownAgent::of(&agent) {
        let own = known.own_places().iter().map(|place| place.display().to_string()).collect::<Vec<_>>();
        details.push_str(&format!("\n  may read and write its own files: {}", own.join(", ")));
    }
    if let Some(sentence) = unconfined_sentence(&context.environment, SandboxedPrograms::CodingAgents) {
        details.push_str(&format!("\n  is not sandboxed, so it can do whatever you can: {sentence}"));
    }
    if !allowing.yes && output::is_interactive() {
        let question = format!(
            "{details}\nMay this coding agent be started in {} whenever an agent with `model: {}` needs it? [y/N] ",
            context.folder.display(),
            agent.name
        );
        if !output::confirm(&question)? {
            return Ok(ExitStatus::Waiting);
        }
    }
    let file = allow_peer(&context.environment, &context.folder, &agent)
        .map_err(|problem| CliError::failed(problem.what).hint(problem.remedy))?;
    if place.json {
        output::json(&context.to_json(&agent))?;
    } else {
        output::result(&format!("allowed in {}; saved in {}:\n{details}", context.folder.display(), file.display()))?;
    }
    Ok(ExitStatus::Done)
}

fn forbid(chosen: &AgentArguments) -> CliResult {
    let context = AgentContext::of(&chosen.place)?;
    let agent = context.find(&chosen.agent)?;
    forbid_peer(&context.environment, &context.folder, &agent)
        .map_err(|problem| CliError::failed(problem.what).hint(problem.remedy))?;
    if chosen.place.json {
        output::json(&json!({ "model": agent.name, "allowed": "no" }))?;
    } else {
        output::result(&format!("{} may no longer be started in {}", agent.name, context.folder.display()))?;
    }
    Ok(ExitStatus::Done)
}
