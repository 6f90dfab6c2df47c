//! Jobs of the window itself that take too long for a frame: saving its state, checking which providers are set up,
//! saving a key, allowing MCP servers, finding fonts, and taking screenshots.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::background_jobs::{BackgroundJobs, OnDrop};
use super::screenshot::WindowSnapshot;
use super::window_state::{SavedWindowState, WindowStateFile};
use crate::agent::McpServer;
use crate::app::trust;
use crate::base::{Id, Problem, unique_names};
use crate::desk::trust_page::TrustPage;
use crate::gateway::acp::{AcpSettings, AvailableAgent, available_agents};
use crate::gateway::key_storage::keep_key;
use crate::gateway::keys::Secret;
use crate::gateway::peers::{Consent, allow_peer, consent_of, forbid_peer};
use crate::gateway::{Environment, GatewaySettings, ProviderStatus, provider_status, trusted_workspaces};
use crate::ui::panes::editor::Draft;
use crate::ui::state::CodingAgents;
use crate::view::raster::write_png;
use crate::view::text::system_fonts::{FontSearchResult, MissingCharacters, SystemFonts};

/// Maximum number of queued jobs.
const MAX_JOBS: usize = 8;

/// A job of the window.
pub(super) enum WindowJob {
    /// Saves the window's state.
    Remember(Box<SavedWindowState>),
    /// Saves the unsaved text of files.
    Drafts {
        /// The file to write.
        file: PathBuf,
        /// All drafts.
        drafts: Vec<Draft>,
    },
    /// Checks which providers are set up.
    Providers {
        /// The gateway settings with the providers.
        settings: Box<GatewaySettings>,
        /// Where their keys are stored.
        environment: Environment,
    },
    /// Stores an API key.
    Key {
        /// The name of its variable.
        name: &'static str,
        /// The key.
        key: Secret,
        /// Where keys are stored.
        environment: Environment,
    },
    /// Checks which MCP servers the person has allowed.
    ServerConsents {
        /// The servers, by key.
        servers: Vec<(Id, McpServer)>,
        /// Where decisions are stored.
        environment: Environment,
    },
    /// Checks which coding agents are available.
    CodingAgents {
        /// The workspace's settings.
        settings: Box<AcpSettings>,
        /// A command line that is being typed; empty if none.
        line: String,
        /// Where programs and keys are found.
        environment: Environment,
    },
    /// Stores a decision about an MCP server.
    Consent {
        /// The decision.
        said: ServerConsent,
        /// Where decisions are stored.
        environment: Environment,
    },
    /// Reads what a workspace wants and what would start by itself.
    TrustPage {
        /// The workspace.
        folder: PathBuf,
        /// Where decisions are stored.
        environment: Environment,
    },
    /// Stores a decision about what a workspace wants, and reads its page again.
    Trust {
        /// The decision.
        decision: TrustDecision,
        /// Where decisions are stored.
        environment: Environment,
    },
    /// Searches system fonts for missing characters.
    Fonts(MissingCharacters),
    /// Draws a screenshot.
    Picture {
        /// The state to draw.
        seen: Box<WindowSnapshot>,
        /// The file to write; `None` for a new one in `folder`.
        file: Option<PathBuf>,
        /// The folder of screenshots.
        folder: PathBuf,
        /// The name of a new file, before its number.
        name: String,
    },
}

/// A person's decision about an MCP server.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum ServerConsent {
    /// Allows exactly this server.
    Allow(Box<McpServer>),
    /// Withdraws the permission.
    Forbid(Box<McpServer>),
}

/// A person's decision about what a workspace wants.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum TrustDecision {
    /// Trusts exactly what this page shows.
    Trust(Arc<TrustPage>),
    /// Withdraws the trust in the workspace in this folder.
    Revoke(PathBuf),
}

impl TrustDecision {
    /// The workspace.
    pub(super) fn folder(&self) -> &Path {
        match self {
            Self::Trust(page) => &page.folder,
            Self::Revoke(folder) => folder,
        }
    }
}

/// The result of a job.
pub(super) enum WindowJobDone {
    /// Which providers are set up.
    Providers(Vec<ProviderStatus>),
    /// The variable of a key, and the file it was stored in or why it was not.
    Key(&'static str, Result<PathBuf, Problem>),
    /// The person's decisions about MCP servers, by key.
    ServerConsents(BTreeMap<Id, Consent>),
    /// The available coding agents.
    CodingAgents(CodingAgents),
    /// A decision, and the file it was stored in or why it was not.
    Consent(ServerConsent, Result<PathBuf, Problem>),
    /// What a workspace wants, or why that cannot be read.
    TrustPage(Result<TrustPage, Problem>),
    /// A decision, the file it was stored in or why it was not, and what the workspace wants after it.
    Trust(TrustDecision, Result<PathBuf, Problem>, Result<TrustPage, Problem>),
    /// The fonts that were found.
    Fonts(FontSearchResult),
    /// Something could not be saved.
    NotRemembered(Problem),
    /// The file of a screenshot, or why it could not be drawn.
    Picture(Result<PathBuf, String>),
}

/// The thread for window jobs. Dropping it finishes waiting jobs.
pub(super) type WindowJobs = BackgroundJobs<WindowJob, Option<WindowJobDone>>;

/// Starts the thread; the window's state is stored in this file.
pub(super) fn start(file: Option<WindowStateFile>) -> io::Result<WindowJobs> {
    let mut kept = JobContext { file, fonts: None };
    BackgroundJobs::start("window jobs", MAX_JOBS, OnDrop::Finish, move |job| run(&mut kept, job))
}

/// State kept between jobs.
struct JobContext {
    file: Option<WindowStateFile>,
    /// Loaded when a font is first searched.
    fonts: Option<SystemFonts>,
}

fn run(kept: &mut JobContext, job: WindowJob) -> Option<WindowJobDone> {
    match job {
        WindowJob::Fonts(wanted) => {
            Some(WindowJobDone::Fonts(kept.fonts.get_or_insert_with(SystemFonts::installed).find(&wanted)))
        }
        WindowJob::Remember(remembered) => match kept.file.as_mut().map(|file| file.write(&remembered)) {
            Some(Err(problem)) => {
                tracing::warn!("{problem}");
                Some(WindowJobDone::NotRemembered(problem))
            }
            Some(Ok(())) | None => None,
        },
        WindowJob::Drafts { file, drafts } => match super::drafts::write(&file, &drafts) {
            Ok(()) => None,
            Err(error) => {
                let what = format!("unsaved changes cannot be kept: {error}");
                let remedy = "save the file, or check that the folder is writable";
                Some(WindowJobDone::NotRemembered(Problem::warning(file.display().to_string(), what, remedy)))
            }
        },
        WindowJob::Key { name, key, environment } => Some(WindowJobDone::Key(name, keep_key(&environment, name, &key))),
        WindowJob::Providers { settings, environment } => {
            Some(WindowJobDone::Providers(provider_status(&settings, &environment)))
        }
        WindowJob::ServerConsents { servers, environment } => {
            let said = servers.into_iter().map(|(key, server)| (key, consent_of(&environment, &server)));
            Some(WindowJobDone::ServerConsents(said.collect()))
        }
        WindowJob::CodingAgents { settings, line, environment } => {
            let (listed, problems) = available_agents(&settings, &environment);
            let is_written = !line.trim().is_empty();
            let written = is_written.then(|| (line.clone(), AvailableAgent::of(line.trim(), &settings, &environment)));
            Some(WindowJobDone::CodingAgents(CodingAgents { listed, problems, written }))
        }
        WindowJob::Consent { said, environment } => {
            let workspace = environment.workspace().map(Path::to_owned).unwrap_or_default();
            let kept = match &said {
                ServerConsent::Allow(server) => allow_peer(&environment, &workspace, server),
                ServerConsent::Forbid(server) => forbid_peer(&environment, &workspace, server),
            };
            Some(WindowJobDone::Consent(said, kept))
        }
        WindowJob::TrustPage { folder, environment } => {
            Some(WindowJobDone::TrustPage(trust::page_of(&folder, &environment)))
        }
        WindowJob::Trust { decision, environment } => {
            let kept = match &decision {
                TrustDecision::Trust(page) => page.accept(environment.config_folder()),
                TrustDecision::Revoke(folder) => trusted_workspaces::revoke(environment.config_folder(), folder),
            };
            let now = trust::page_of(decision.folder(), &environment);
            Some(WindowJobDone::Trust(decision, kept, now))
        }
        WindowJob::Picture { seen, file, folder, name } => {
            let file = file.unwrap_or_else(|| picture_file(&folder, &name));
            Some(WindowJobDone::Picture(draw(*seen, file)))
        }
    }
}

/// The path of a new screenshot, with the first free number.
pub(super) fn picture_file(folder: &Path, name: &str) -> PathBuf {
    let names = unique_names::numbered(name, ".png", 1);
    folder.join(unique_names::first_free(names, |name| folder.join(name).exists()))
}

fn draw(seen: WindowSnapshot, file: PathBuf) -> Result<PathBuf, String> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    write_png(&seen.picture(), &file).map_err(|error| error.to_string())?;
    Ok(file)
}
