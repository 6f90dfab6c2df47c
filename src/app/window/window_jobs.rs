//! Jobs of the window itself that take too long for a frame: saving its state, checking which providers are set up,
//! saving a key, allowing MCP servers, finding fonts, and taking screenshots.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::background_jobs::{BackgroundJobs, OnDrop};
use super::screenshot::Seen;
use super::window_state::{SavedWindowState, WindowStateFile};
use crate::agent::McpServer;
use crate::base::{Id, Problem, unique_names};
use crate::gateway::acp::{AcpSettings, AvailableAgent, available_agents};
use crate::gateway::key_storage::keep_key;
use crate::gateway::keys::Secret;
use crate::gateway::peers::{Consent, allow_peer, consent_of, forbid_peer};
use crate::gateway::{Environment, GatewaySettings, ProviderStatus, provider_status};
use crate::ui::panes::editor::Draft;
use crate::ui::state::CodingAgents;
use crate::view::raster::write_png;
use crate::view::text::system_fonts::{Found, SystemFonts, Wanted};

/// Jobs that wait at most.
const JOBS_AT_MOST: usize = 8;

/// A job of the window.
pub(super) enum WindowJob {
    /// Write this down.
    Remember(Box<SavedWindowState>),
    /// Keep what was written into files and not saved.
    Drafts {
        /// In this file.
        file: PathBuf,
        /// All of it.
        drafts: Vec<Draft>,
    },
    /// Look which providers are set up.
    Providers {
        /// Where they are asked.
        settings: Box<GatewaySettings>,
        /// Where their keys are.
        environment: Environment,
    },
    /// Keep a key to a provider.
    Key {
        /// Under the name of its variable.
        name: &'static str,
        /// The key.
        key: Secret,
        /// Where the person's files are.
        environment: Environment,
    },
    /// Look which MCP servers the person allowed.
    ServerConsents {
        /// These servers, by their keys.
        servers: Vec<(Id, McpServer)>,
        /// Where the person's files are.
        environment: Environment,
    },
    /// Look which coding agents can be chosen.
    CodingAgents {
        /// What the workspace says of them.
        settings: Box<AcpSettings>,
        /// A command line that is being written; empty where none is.
        line: String,
        /// Where the person's files are.
        environment: Environment,
    },
    /// Keep that the person allowed an MCP server, or took it back.
    Consent {
        /// What was said.
        said: ServerConsent,
        /// Where the person's files are.
        environment: Environment,
    },
    /// Look which fonts of the system have what is shown and cannot be read.
    Fonts(Wanted),
    /// Draw the window.
    Picture {
        /// As it was seen.
        seen: Box<Seen>,
        /// Into this file; into a new one in the folder where absent.
        file: Option<PathBuf>,
        /// The folder of pictures.
        folder: PathBuf,
        /// What a new file is called, before its number.
        name: String,
    },
}

/// A person's decision about an MCP server.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum ServerConsent {
    /// Exactly this one may be used.
    Allow(Box<McpServer>),
    /// It may not be used any more.
    Forbid(Box<McpServer>),
}

/// The result of a job.
pub(super) enum WindowJobDone {
    /// Which providers are set up.
    Providers(Vec<ProviderStatus>),
    /// A key was stored in this file, or could not be.
    Key(&'static str, Result<PathBuf, Problem>),
    /// What the person said of MCP servers, by their keys.
    ServerConsents(BTreeMap<Id, Consent>),
    /// Coding agents that can be chosen.
    CodingAgents(CodingAgents),
    /// The person's permission was stored in this file, or could not be.
    Consent(ServerConsent, Result<PathBuf, Problem>),
    /// Fonts that were found.
    Fonts(Found),
    /// Something could not be written down.
    NotRemembered(Problem),
    /// A picture lies there, or could not be drawn.
    Picture(Result<PathBuf, String>),
}

/// The thread for window jobs. Dropping it finishes waiting jobs.
pub(super) type WindowJobs = BackgroundJobs<WindowJob, Option<WindowJobDone>>;

/// Starts the thread; the window's state is stored in this file.
pub(super) fn start(file: Option<WindowStateFile>) -> io::Result<WindowJobs> {
    let mut kept = JobContext { file, fonts: None };
    BackgroundJobs::start("window jobs", JOBS_AT_MOST, OnDrop::Finish, move |job| run(&mut kept, job))
}

/// What is kept from job to job.
struct JobContext {
    file: Option<WindowStateFile>,
    /// Read when a font is first looked for.
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
        WindowJob::Picture { seen, file, folder, name } => {
            let file = file.unwrap_or_else(|| picture_file(&folder, &name));
            Some(WindowJobDone::Picture(draw(*seen, file)))
        }
    }
}

/// The file of a new picture: the first number that is free.
pub(super) fn picture_file(folder: &Path, name: &str) -> PathBuf {
    let names = unique_names::numbered(name, ".png", 1);
    folder.join(unique_names::first_free(names, |name| folder.join(name).exists()))
}

fn draw(seen: Seen, file: PathBuf) -> Result<PathBuf, String> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    write_png(&seen.picture(), &file).map_err(|error| error.to_string())?;
    Ok(file)
}
