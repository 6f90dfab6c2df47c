//! `workshop mcp`: lists, tests, calls and allows the MCP servers of a workspace without a room.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::workspace_argument::{self, IfMissing, InWorkspace};
use super::{CliError, CliResult, ExitStatus, output};
use crate::app::servers::{ServersOfFolder, servers_of};
use crate::base::text::nearest;
use crate::base::{Problem, Severity};
use crate::gateway::mcp::configured_servers::ConfiguredServer;
use crate::gateway::mcp::{McpClient, McpFailure, McpFault, McpOffer, McpRequest};
use crate::gateway::peers::{Consent, allow_peer, changed_code, consent_of, forbid_label, forbid_peer};
use crate::gateway::unconfined::{SandboxedPrograms, is_unconfined, unconfined_sentence};
use crate::gateway::{Environment, server_status_text};

#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the configured servers, or what one of them offers
    List(ListArguments),
    /// Start each allowed server and check that it works
    Check(CheckArguments),
    /// Call a tool of a server, as an agent would, and print the result
    Call(CallArguments),
    /// Allow a server in this workspace, exactly as it is configured now
    Allow(AllowArguments),
    /// Revoke the permission of a server
    Forbid(ServerArguments),
}

#[derive(Args)]
struct ListArguments {
    /// Connect to this server and list its tools, resources and prompts
    server: Option<String>,
    #[command(flatten)]
    place: InWorkspace,
}

#[derive(Args)]
struct CheckArguments {
    /// Only this server
    server: Option<String>,
    #[command(flatten)]
    place: InWorkspace,
}

#[derive(Args)]
struct CallArguments {
    /// The server's name, or AGENT/NAME for an agent's own
    server: String,
    /// The tool, as the server calls it
    tool: String,
    /// Its arguments as JSON: {"path": "notes.md"}
    #[arg(default_value = "{}", value_name = "JSON")]
    arguments: String,
    #[command(flatten)]
    place: InWorkspace,
}

#[derive(Args)]
struct ServerArguments {
    /// The server's name, or AGENT/NAME for an agent's own
    server: String,
    #[command(flatten)]
    place: InWorkspace,
}

#[derive(Args)]
struct AllowArguments {
    #[command(flatten)]
    chosen: ServerArguments,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// A workspace with its servers.
struct ServerContext {
    folder: PathBuf,
    environment: Environment,
    all: ServersOfFolder,
}

impl ServerContext {
    fn of(place: &InWorkspace) -> Result<Self, CliError> {
        let folder = workspace_argument::workspace(place.workspace.as_deref(), IfMissing::Fail)?;
        let folder = folder.canonicalize().unwrap_or(folder);
        let environment = Environment::of_process().in_workspace(&folder);
        let all = servers_of(&folder).map_err(|problem| CliError::failed(problem.what).hint(problem.remedy))?;
        Ok(Self { folder, environment, all })
    }

    /// Finds a server: `ada/db` is the one of the agent ada; `db` is the workspace's, or the only one of that name.
    fn find(&self, name: &str) -> Result<&ConfiguredServer, CliError> {
        let labels = |all: &[&ConfiguredServer]| all.iter().map(|one| one.server.label()).collect::<Vec<_>>();
        let all: Vec<&ConfiguredServer> = self.all.servers.iter().collect();
        let of_name: Vec<&ConfiguredServer> = all.iter().copied().filter(|one| one.server.name == name).collect();
        let exact = all.iter().find(|one| one.server.label() == name || *one.key == *name);
        match (exact, &of_name[..]) {
            (Some(exact), _) => {
                let others: Vec<_> = of_name.iter().copied().filter(|one| one.server.of != exact.server.of).collect();
                if !others.is_empty() {
                    let place = &exact.place;
                    output::note(&format!("using {name} from {place}; there is also {}", labels(&others).join(", ")));
                }
                Ok(*exact)
            }
            (None, [only]) => Ok(*only),
            (None, []) => {
                let error = CliError::usage(format!("there is no MCP server {name:?} in this workspace"));
                let names = labels(&all);
                Err(match nearest(name, names.iter().map(String::as_str)) {
                    Some(near) => error.hint(format!("did you mean {near}?")),
                    None if all.is_empty() => {
                        error.hint("none is configured: add them under mcp_servers in settings.yaml")
                    }
                    None => error.hint(format!("there are {}", names.join(", "))),
                })
            }
            (None, several) => {
                let error = CliError::usage(format!("there are several MCP servers {name:?} in this workspace"));
                Err(error.hint(format!("name one of them: {}", labels(several).join(" or "))))
            }
        }
    }

    fn consent(&self, configured: &ConfiguredServer) -> Consent {
        consent_of(&self.environment, &configured.server)
    }

    fn connect(&self, configured: &ConfiguredServer) -> Result<(McpClient, McpOffer), McpFailure> {
        McpClient::connect(configured.server.clone(), self.all.terms.clone(), &self.environment)
    }

    fn to_json(&self, configured: &ConfiguredServer) -> Value {
        let allowed = server_status_text::consent_word(self.consent(configured));
        json!({
            "name": configured.server.name,
            "what": configured.server.shown(),
            "place": configured.place,
            "label": configured.server.label(),
            "agent": configured.server.of,
            "allowed": allowed,
            "sandboxed": !is_unconfined(&self.environment, SandboxedPrograms::McpServers),
        })
    }
}

pub(super) fn mcp(arguments: &Arguments) -> CliResult {
    match &arguments.command {
        Command::List(ListArguments { server: None, place }) => list(place),
        Command::List(ListArguments { server: Some(server), place }) => offer(server, place),
        Command::Check(checking) => check(checking),
        Command::Call(calling) => call(calling),
        Command::Allow(allowing) => allow(allowing),
        Command::Forbid(chosen) => forbid(chosen),
    }
}

fn list(place: &InWorkspace) -> CliResult {
    let context = ServerContext::of(place)?;
    if place.json {
        let servers: Vec<Value> = context.all.servers.iter().map(|configured| context.to_json(configured)).collect();
        let problems = &context.all.problems;
        output::json(&json!({ "servers": servers, "problems": problems }))?;
        return Ok(ExitStatus::Done);
    }
    for configured in &context.all.servers {
        let (allowed, place) =
            (server_status_text::consent(context.consent(configured)), server_status_text::place(configured));
        let (name, what) = (configured.server.label(), configured.server.shown());
        output::result(&format!("{name}  {what}\n    {allowed}; {place}"))?;
    }
    if context.all.servers.is_empty() {
        output::note("no MCP servers are configured here");
    }
    if let Some(sentence) = unconfined_sentence(&context.environment, SandboxedPrograms::McpServers) {
        output::note(&sentence);
    }
    context.all.problems.iter().for_each(|problem| output::note(&problem.to_string()));
    Ok(ExitStatus::Done)
}

fn offer(server: &str, place: &InWorkspace) -> CliResult {
    let context = ServerContext::of(place)?;
    let (_client, offer) = match context.connect(context.find(server)?) {
        Ok(connected) => connected,
        Err(failure) => return failed(&failure, place.json),
    };
    if place.json {
        output::json(&serde_json::to_value(&offer).unwrap_or_default())?;
        return Ok(ExitStatus::Done);
    }
    output::result(&offer.server)?;
    for tool in &offer.tools {
        let hint = match server_status_text::hints(tool.hints) {
            "" => String::new(),
            hint => format!(" ({hint})"),
        };
        output::result(&format!("tool {}{hint}\n    {}", tool.name, tool.description.replace('\n', "\n    ")))?;
    }
    for (kind, listed) in offer
        .resources
        .iter()
        .map(|resource| ("resource", resource))
        .chain(offer.templates.iter().map(|template| ("template", template)))
        .chain(offer.prompts.iter().map(|prompt| ("prompt", prompt)))
    {
        let arguments = listed.arguments.join(", ");
        output::result(&format!("{kind} {} {arguments}\n    {}", listed.name, listed.description))?;
    }
    offer.left_out.iter().for_each(|left_out| output::note(&format!("left out: {left_out}")));
    Ok(ExitStatus::Done)
}

fn check(checking: &CheckArguments) -> CliResult {
    let context = ServerContext::of(&checking.place)?;
    let chosen: Vec<&ConfiguredServer> = match &checking.server {
        Some(name) => vec![context.find(name)?],
        None => context.all.servers.iter().collect(),
    };
    let is_wrong = context.all.problems.iter().any(|problem| problem.severity == Severity::Error);
    let mut exit = if is_wrong { ExitStatus::Failed } else { ExitStatus::Done };
    let mut checked = Vec::new();
    for configured in chosen {
        let start = Instant::now();
        let outcome = context.connect(configured).map(|(_client, offer)| offer);
        let took_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut line = context.to_json(configured);
        let (words, more) = match &outcome {
            Ok(offer) => {
                let words = format!("works: {}, {took_ms} ms", server_status_text::offer(offer));
                (words, json!({ "works": true, "tools": offer.tools.len(), "took_ms": took_ms }))
            }
            Err(failure) => {
                let ends = exit_status(failure);
                exit = if exit == ExitStatus::Done { ends } else { exit };
                if ends == ExitStatus::Failed {
                    exit = ExitStatus::Failed;
                }
                (failure.sentence(), json!({ "works": false, "failure": failure }))
            }
        };
        if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
            line.extend(more);
        }
        if !checking.place.json {
            output::result(&format!("{}: {words}", configured.server.label()))?;
        }
        checked.push(line);
    }
    if checking.place.json {
        output::json(&json!({ "servers": checked, "problems": context.all.problems }))?;
    } else {
        context.all.problems.iter().for_each(|problem| output::note(&problem.to_string()));
    }
    Ok(exit)
}

fn call(calling: &CallArguments) -> CliResult {
    let context = ServerContext::of(&calling.place)?;
    let arguments: Map<String, Value> = serde_json::from_str(&calling.arguments).map_err(|error| {
        CliError::usage(format!("the arguments are not a JSON object: {error}")).hint(r#"write '{"name": "value"}'"#)
    })?;
    let (mut client, offer) = match context.connect(context.find(&calling.server)?) {
        Ok(connected) => connected,
        Err(failure) => return failed(&failure, calling.place.json),
    };
    if !offer.tools.iter().any(|tool| tool.name == calling.tool) {
        let error = CliError::usage(format!("{} has no tool {:?}", calling.server, calling.tool));
        let near = nearest(&calling.tool, offer.tools.iter().map(|tool| tool.name.as_str()));
        return Err(match near {
            Some(near) => error.hint(format!("did you mean {near}?")),
            None => error.hint(format!("see: workshop mcp list {}", calling.server)),
        });
    }
    let request = McpRequest::Tool { name: calling.tool.clone(), arguments };
    let answer = match client.call(request, output::note) {
        Ok(answer) => answer,
        Err(failure) => return failed(&failure, calling.place.json),
    };
    if calling.place.json {
        output::json(&serde_json::to_value(&answer).unwrap_or_default())?;
        return Ok(ExitStatus::Done);
    }
    match &answer.data {
        Some(data) if answer.text.is_empty() => output::result(&data.to_string())?,
        _ => output::result(&answer.text)?,
    }
    for (kind, base64) in &answer.images {
        output::note(&format!("an image ({kind}, {} bytes in base64): see --json", base64.len()));
    }
    Ok(ExitStatus::Done)
}

fn allow(allowing: &AllowArguments) -> CliResult {
    let ServerArguments { server, place } = &allowing.chosen;
    let context = ServerContext::of(place)?;
    let configured = context.find(server)?;
    let mut details = configured.server.details();
    if let Some(sentence) = unconfined_sentence(&context.environment, SandboxedPrograms::McpServers) {
        details.push_str(&format!("\n  is not sandboxed, so it can do whatever you can: {sentence}"));
    }
    if context.consent(configured) == Consent::OfAnother {
        let changed = changed_code(&context.environment, &configured.server);
        if !changed.is_empty() {
            details.push_str(&format!("\n  changed since you allowed it: {}", changed.join(", ")));
        }
    }
    if !allowing.yes && output::is_interactive() {
        let question =
            format!("{}\nMay this run in {} whenever an agent needs it? [y/N] ", details, context.folder.display());
        if !output::confirm(&question)? {
            return Ok(ExitStatus::Waiting);
        }
    }
    let file = allow_peer(&context.environment, &context.folder, &configured.server)
        .map_err(|problem| CliError::failed(problem.what).hint(problem.remedy))?;
    if place.json {
        output::json(&context.to_json(configured))?;
    } else {
        output::result(&format!("allowed in {}; saved in {}:\n{details}", context.folder.display(), file.display()))?;
    }
    Ok(ExitStatus::Done)
}

fn forbid(chosen: &ServerArguments) -> CliResult {
    let context = ServerContext::of(&chosen.place)?;
    let failed = |problem: Problem| CliError::failed(problem.what).hint(problem.remedy);
    let label = match context.find(&chosen.server) {
        Ok(configured) => {
            forbid_peer(&context.environment, &context.folder, &configured.server).map_err(failed)?;
            configured.server.label()
        }
        // It may have been allowed before it was removed from the settings.
        Err(error) => {
            let forbidden = forbid_label(&context.environment, &context.folder, &chosen.server).map_err(failed)?;
            forbidden.ok_or(error)?;
            chosen.server.clone()
        }
    };
    if chosen.place.json {
        output::json(&json!({ "name": label, "allowed": "no" }))?;
    } else {
        output::result(&format!("{label} may no longer be used in {}", context.folder.display()))?;
    }
    Ok(ExitStatus::Done)
}

/// Reports why a server cannot be used.
fn failed(failure: &McpFailure, json: bool) -> CliResult {
    if json {
        output::json(&json!({ "failure": failure }))?;
        return Ok(exit_status(failure));
    }
    let error = CliError { exit: exit_status(failure), ..CliError::failed(&failure.what) };
    Err(if failure.remedy.is_empty() { error } else { error.hint(&failure.remedy) })
}

fn exit_status(failure: &McpFailure) -> ExitStatus {
    if failure.fault == McpFault::NotAllowed { ExitStatus::Waiting } else { ExitStatus::Failed }
}
