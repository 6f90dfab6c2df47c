//! `workshop doctor`: checks the setup, and reports what is wrong and how to fix it.

use std::path::{Path, PathBuf};

use bevy::app::App;
use bevy::ecs::prelude::World;
use serde::Serialize;

use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus, output};
use crate::agent::Profiles;
use crate::agent::formats::format_of;
use crate::agent::mdx_file::code_problems;
use crate::app::servers::{embedder_of, servers_of, trial_in};
use crate::app::trust::page_of;
use crate::app::{self, opening::state_folder};
use crate::base::{JobControl, Problem, Seq, Severity, text};
use crate::engine::ProgramCache;
use crate::gateway::acp::KNOWN;
use crate::gateway::aliases::unknown_models;
use crate::gateway::http_client::has_system_authorities;
use crate::gateway::mcp::configured_servers::ConfiguredServer;
use crate::gateway::peers::{Consent, changed_code, consent_of};
use crate::gateway::sandbox::{Confinement, Level};
use crate::gateway::slack::trial::try_slack;
use crate::gateway::slack::{SlackAccess, SlackSends, SlackSettings};
use crate::gateway::unconfined::unconfined_problems;
use crate::gateway::{Environment, GatewaySettings, key_problems, price_source, provider_status};
use crate::learning::{EmbedderChoice, WantedEmbedder, open_minilm};
use crate::schedule::{self, InputJournal};
use crate::store::{HISTORY_FILE, Reader, StoreError};
use crate::workspace::cleaning;
use crate::workspace::layout::{is_workspace, read_folder};
use crate::workspace::trust::TRUST_REMEDY;
use crate::workspace::{Problems, RoomStart};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The workspace; defaults to the current folder
    workspace: Option<PathBuf>,
    /// Check with Slack that the keys work and the channels can be read; sends nothing
    #[arg(long)]
    slack: bool,
    /// Send this model a tiny prompt, to see whether it answers: openai:NAME, acp:claude, …
    #[arg(long = "try", value_name = "MODEL")]
    tried: Option<String>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// The accuracy of the built-in embedding model, measured with the questions in `docs/knowledge.md`; a test checks the
/// numbers.
const BUILT_IN_HITS: &str = "ranks the right answer first for 52 of 64 test questions, 54 with keywords";

/// The accuracy of MiniLM, measured with the same questions.
const MINILM_HITS: &str = "ranks the right answer first for 60 of 64 test questions";

/// The state of a checked item.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// It works.
    Ok,
    /// Something was ignored or replaced by a default.
    Note,
    /// It does not work.
    Problem,
    /// It is not set up, and nothing here needs it.
    NotSetUp,
}

impl State {
    fn label(self) -> &'static str {
        match self {
            Self::Ok => "ok     ",
            Self::Note => "note   ",
            Self::Problem => "problem",
            Self::NotSetUp => "not set",
        }
    }
}

/// A checked item and its result.
#[derive(Serialize)]
struct Finding {
    what: String,
    state: State,
    ok: bool,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    fn good(what: &str, detail: impl Into<String>) -> Self {
        Self { what: what.into(), state: State::Ok, ok: true, detail: detail.into(), remedy: None }
    }

    fn bad(state: State, what: &str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), state, ok: false, detail: detail.into(), remedy: Some(remedy.into()) }
    }

    fn of(problem: Problem) -> Self {
        let place = problem.position();
        let state = if problem.severity == Severity::Error { State::Problem } else { State::Note };
        Self::bad(state, &place, problem.what, problem.remedy)
    }
}

pub(super) fn doctor(arguments: &Arguments) -> CliResult {
    let mut findings = vec![Finding::good("program", format!("workshop {}", env!("CARGO_PKG_VERSION")))];
    let (mut settings, mut slack_settings) = (GatewaySettings::default(), SlackSettings::default());
    let named = arguments.workspace.as_deref();
    let folder = workspace_argument::resolve_folder(named)?;
    if is_workspace(&folder) {
        findings.push(Finding::good("workspace", folder.display().to_string()));
        findings.push(trust(&folder));
        let problems = examine(&folder, &mut findings, (&mut settings, &mut slack_settings));
        findings.extend(problems.into_iter().map(Finding::of));
    } else if named.is_some() {
        workspace_argument::workspace(named, IfMissing::Fail)?;
    } else {
        let detail = format!("neither this folder nor {} is a workspace yet", folder.display());
        let remedy = "run `workshop init DIR`; `workshop` and `workshop run` create ./my-workshop";
        findings.push(Finding::bad(State::NotSetUp, "workspace", detail, remedy));
    }
    let environment = Environment::of_process().in_workspace(&folder);
    findings.extend(key_problems(&environment).into_iter().map(Finding::of));
    findings.push(Finding::good("prices", price_source().to_string()));
    findings.extend(providers(&settings, &environment));
    findings.extend(authorities());
    findings.push(slack(&slack_settings, &environment));
    if arguments.slack {
        findings.extend(try_slack_keys(&settings, &slack_settings, &environment));
    }
    findings.extend(arguments.tried.as_deref().map(|model| try_model(&folder, model)));
    findings.push(coding_agents());
    findings.push(confinement());
    findings.extend(unconfined_problems(&environment).into_iter().map(Finding::of));
    if is_workspace(&folder) {
        findings.push(embedder(&embedder_of(&folder)));
        findings.extend(servers(&folder, &environment));
    }
    print(arguments, &findings)?;
    let is_broken = findings.iter().any(|finding| finding.state == State::Problem);
    Ok(if is_broken { ExitStatus::Failed } else { ExitStatus::Done })
}

/// What the workspace permits itself, and whether the person has allowed it.
fn trust(folder: &Path) -> Finding {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    match page_of(&folder, &Environment::of_process()) {
        Ok(page) if page.is_settled() => Finding::good("trust", page.summary()),
        Ok(page) => Finding::bad(State::Note, "trust", page.summary(), TRUST_REMEDY),
        Err(problem) => Finding::of(problem),
    }
}

/// Lists the providers. One that is not ready is a problem only if the workspace uses it.
fn providers(settings: &GatewaySettings, environment: &Environment) -> Vec<Finding> {
    let chosen = settings.choose(None, None);
    let name = chosen.as_ref().map(|choice| choice.provider.clone()).unwrap_or_default();
    let status = provider_status(settings, environment).into_iter().map(|status| {
        let what = format!("provider {}", status.name);
        match status.ready {
            true => Finding::good(&what, status.detail),
            false if status.name == name => Finding::bad(State::Problem, &what, status.detail, status.remedy),
            false => Finding::bad(State::NotSetUp, &what, status.detail, status.remedy),
        }
    });
    chosen.err().map(Finding::of).into_iter().chain(status).collect()
}

/// The embedding model for memory search, and its accuracy.
/// Says where the certificate authorities come from if the system has none.
fn authorities() -> Option<Finding> {
    let what = "certificates";
    let detail = "this system has no certificate authorities, so the list of Mozilla in the program is used";
    (!has_system_authorities()).then(|| Finding::good(what, detail))
}

fn embedder(choice: &EmbedderChoice) -> Finding {
    let what = "memory search";
    let instead = |problem: &Problem| {
        let detail = format!("the built-in model ({BUILT_IN_HITS}), because {}", problem.what);
        Finding::bad(State::Problem, what, detail, problem.remedy.clone())
    };
    match choice.wanted() {
        WantedEmbedder::BuiltIn => {
            Finding::good(what, format!("the built-in model, without a network: {BUILT_IN_HITS}"))
        }
        WantedEmbedder::MiniLm(named) => match open_minilm(named.as_deref()) {
            Ok((_, folder)) => Finding::good(what, format!("MiniLM, from {}: {MINILM_HITS}", folder.display())),
            Err(problem) => instead(&problem),
        },
        WantedEmbedder::Provider(access) => {
            let place = if access.is_local() { "on this computer or its network" } else { "receives your memories" };
            let detail = format!("{}, {place}; try it with: workshop knowledge query WORDS", access.model());
            Finding::good(what, detail)
        }
        WantedEmbedder::Unknown(problem) => instead(problem),
    }
}

/// How messages are sent to Slack and read from it.
fn slack(settings: &SlackSettings, environment: &Environment) -> Finding {
    let access = SlackAccess::of(environment);
    let channels = settings.read_channels();
    let read = match (access.reads, channels.as_slice()) {
        (false, []) => String::new(),
        (false, _) => "; channels in the settings are not read, because SLACK_BOT_TOKEN is not set".to_owned(),
        (true, []) => "; no channels are read: list some in slack.channels".to_owned(),
        (true, channels) => format!("; read: {}", channels.join(", ")),
    };
    let remedy = "to connect it, set SLACK_BOT_TOKEN (or SLACK_WEBHOOK_URL) in the environment or in keys.env";
    match access.sends {
        SlackSends::Files => {
            let state = if channels.is_empty() { State::NotSetUp } else { State::Note };
            Finding::bad(state, "Slack", format!("messages are exchanged through files{read}"), remedy)
        }
        SlackSends::Webhook => match &settings.webhook_channel {
            Some(channel) => Finding::good("Slack", format!("messages to {channel} are sent with a webhook{read}")),
            None => {
                let remedy = "add the webhook's channel to the settings: slack: { webhook_channel: \"#NAME\" }";
                Finding::bad(State::Note, "Slack", "a webhook is set, but not the channel that it posts to", remedy)
            }
        },
        SlackSends::WebApi => Finding::good("Slack", format!("messages are sent with the Web API{read}")),
    }
}

/// Checks the keys and channels with Slack.
fn try_slack_keys(gateway: &GatewaySettings, settings: &SlackSettings, environment: &Environment) -> Vec<Finding> {
    let tried = try_slack(environment, gateway, settings).into_iter();
    tried
        .map(|(what, outcome)| match outcome {
            Ok(detail) => Finding::good(&what, detail),
            Err(problem) => Finding::of(problem),
        })
        .collect()
}

/// The coding agents that are installed. None is started.
fn coding_agents() -> Finding {
    let here: Vec<String> = KNOWN
        .iter()
        .filter(|known| known.is_installed())
        .map(|known| format!("{} (model: acp:{}, runs {})", known.title, known.name, known.command))
        .collect();
    if here.is_empty() {
        let names = KNOWN.iter().map(|known| known.program()).collect::<Vec<_>>().join(", ");
        let remedy = "to use one, install it, log in, and write model: acp:NAME into an agent's file";
        return Finding::bad(State::NotSetUp, "coding agents", format!("none of {names} is installed"), remedy);
    }
    let detail = format!("{}; allow one in a workspace with: workshop acp allow NAME", here.join(", "));
    Finding::good("coding agents", detail)
}

/// Sends a tiny prompt to a model, as an agent of the workspace would.
fn try_model(folder: &Path, model: &str) -> Finding {
    let what = format!("test of {model}");
    let failed = |why: String, remedy: &str| Finding::bad(State::Problem, &what, why, remedy);
    let trial = match trial_in(folder, model) {
        Ok(trial) => trial,
        Err(problem) => return failed(problem.what, &problem.remedy),
    };
    let tried = trial.run(&JobControl::default());
    match tried.outcome {
        Ok(reply) => {
            let reply_text = text::truncate(&text::one_line(&reply.text), 100);
            Finding::good(&what, format!("answered after {} ms: {reply_text:?}", tried.duration.as_millis()))
        }
        Err(failure) => failed(failure.what, &failure.remedy),
    }
}

/// The sandbox for commands and MCP servers on this computer.
fn confinement() -> Finding {
    let found = Confinement::of_this_computer();
    match (found.level(), found.remedy()) {
        (Level::None, Some(remedy)) => Finding::bad(State::Note, "confinement", found.summary(), remedy),
        (_, Some(remedy)) => Finding::good("confinement", format!("{}; for a better one, {remedy}", found.summary())),
        (_, None) => Finding::good("confinement", found.summary()),
    }
}

/// The MCP servers of the workspace, and whether they are allowed. None is started.
fn servers(folder: &Path, environment: &Environment) -> Vec<Finding> {
    let Ok(all) = servers_of(folder) else { return Vec::new() };
    let finding = |configured: &ConfiguredServer| {
        let what = format!("MCP server {}", configured.server.label());
        let detail = format!("{} ({})", configured.server.shown(), configured.place);
        let remedy = format!("if you trust it, run: workshop mcp allow {}", configured.server.label());
        match consent_of(environment, &configured.server) {
            Consent::Given => Finding::good(&what, format!("allowed: {detail}; test it with: workshop mcp check")),
            Consent::None => Finding::bad(State::NotSetUp, &what, format!("not allowed yet: {detail}"), remedy),
            Consent::OfAnother => {
                let files = changed_code(environment, &configured.server);
                let files = if files.is_empty() { String::new() } else { format!(" ({})", files.join(", ")) };
                Finding::bad(State::Note, &what, format!("changed since you allowed it{files}: {detail}"), remedy)
            }
        }
    };
    all.servers.iter().map(finding).collect()
}

/// Runs the first tick of a room, in which its files are read and checked. As the replay of an empty recording, it
/// sends no requests and writes nothing.
fn first_tick(app: &mut App) {
    app.world_mut().resource_mut::<InputJournal>().replay([]);
    schedule::advance(app.world_mut());
}

/// Opens each scene of the workspace and collects the problems.
fn examine(
    folder: &Path,
    findings: &mut Vec<Finding>,
    (settings, slack): (&mut GatewaySettings, &mut SlackSettings),
) -> Vec<Problem> {
    let (files, mut problems) = read_folder(folder);
    let agents = files.keys().filter(|path| format_of(path).is_some()).count();
    let scenes = files.keys().filter(|path| path.starts_with("scenes/")).count();
    findings.push(Finding::good("files", format!("{agents} agents, {scenes} scenes")));
    for scene in files.keys().filter(|path| path.starts_with("scenes/")) {
        let start = RoomStart { scene: scene.clone(), files: files.clone(), ..RoomStart::default() };
        match app::begin(start, "r-doctor".into(), Seq(1)) {
            Ok(mut app) => {
                first_tick(&mut app);
                *settings = app.world().resource::<GatewaySettings>().clone();
                *slack = app.world().resource::<SlackSettings>().clone();
                let found = app.world().resource::<Problems>().iter().cloned();
                let found = found.chain(unknown_models(app.world())).chain(unreadable_code(app.world()));
                let found = found.collect::<Vec<_>>();
                problems.extend(found.into_iter().filter(|problem| !problems.contains(problem)).collect::<Vec<_>>());
            }
            Err(error) => problems.push(Problem::error(scene, error.to_string(), "fix the scene file")),
        }
    }
    // Opening a named pipe would block forever.
    let state = state_folder(folder);
    problems.extend(cleaning::interrupted(&state));
    let odd = ["", "-wal", "-shm", "-journal"].map(|ending| state.join(format!("{HISTORY_FILE}{ending}")));
    let odd = odd.iter().find(|path| path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()));
    if let Some(odd) = odd {
        let remedy = "move it away; a new history is started when the workspace is next opened";
        problems.push(Problem::error(odd.display().to_string(), "it is not a regular file", remedy));
    } else {
        problems.extend(history(&state, findings));
    }
    problems
}

/// Errors in the code of agents' MDX files.
fn unreadable_code(world: &World) -> Vec<Problem> {
    let (profiles, programs) = (world.resource::<Profiles>(), ProgramCache::default());
    let documents = profiles.iter().filter_map(|(id, profile)| Some((profiles.path(id)?, &profile.own_tools)));
    documents.flat_map(|(path, tools)| code_problems(path, tools, &programs)).collect()
}

/// Checks the recorded history for damage.
fn history(state: &Path, findings: &mut Vec<Finding>) -> Vec<Problem> {
    let examined = Reader::open(state).and_then(|reader| Ok((reader.examine()?, reader.runs()?.len())));
    match examined {
        Ok((problems, runs)) if problems.is_empty() => {
            findings.push(Finding::good("history", format!("{runs} runs")));
            problems
        }
        Ok((problems, _)) => problems,
        Err(StoreError::NoHistory { .. }) => Vec::new(),
        Err(error) if error.is_damage() => {
            let Problem { place, what, remedy, .. } = error.problem();
            vec![Problem::error(place, format!("the history is damaged: {what}"), remedy)]
        }
        Err(error) => vec![error.problem()],
    }
}

fn print(arguments: &Arguments, findings: &[Finding]) -> Result<(), CliError> {
    if arguments.json {
        return output::json(&serde_json::json!({ "findings": findings }));
    }
    for finding in findings {
        output::result(&format!("{}  {}: {}", finding.state.label(), finding.what, finding.detail))?;
        if let Some(remedy) = &finding.remedy {
            output::result(&format!("         fix: {remedy}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::GatewayEnvironment;
    use crate::schedule::outside::running_orders;

    #[test]
    fn examining_a_room_sends_no_requests() {
        let settings = ("settings.yaml".to_owned(), "slack: { channels: ['#ops'] }\n".to_owned());
        let scene = ("scenes/test.yaml".to_owned(), "name: Test\nseed: 3\nelements: []\nagents: []\n".to_owned());
        let files = [settings, scene].into_iter().collect();
        let start = RoomStart { scene: "scenes/test.yaml".into(), files, ..RoomStart::default() };
        let keys = [("SLACK_BOT_TOKEN", "xoxb-1".to_owned()), ("SLACK_API_BASE_URL", "http://127.0.0.1:1/".to_owned())];
        let environment = GatewayEnvironment(Environment::new(keys, None));
        let asks_after = |tick: fn(&mut App)| {
            let mut app = app::begin(start.clone(), "r-test".into(), Seq(1)).expect("it can be opened");
            app.insert_resource(environment.clone());
            tick(&mut app);
            !running_orders(app.world()).is_empty()
        };
        assert!(!asks_after(first_tick));
        let two_ticks: fn(&mut App) = |app| (0..2).for_each(|_| schedule::advance(app.world_mut()));
        assert!(asks_after(two_ticks), "a room that is run asks Slack at once");
    }
}
