//! What a workspace wants to be allowed and what would start by itself, as one page for the person; and what the person
//! trusts of it.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::opening::state_folder;
use crate::agent::AgentProfile;
use crate::agent::formats::format_of;
use crate::agent::markdown::leaves_model_open;
use crate::base::Problem;
use crate::desk::seen_changes::{models_named, widenings_of_file};
use crate::desk::streams::is_stream;
use crate::desk::trust_page::{SAVED_ROOM, SelfStarter, TrustPage};
use crate::engine::ProgramCache;
use crate::gate::commands::{ALLOWLIST_FILE, CommandRules};
use crate::gateway::aliases::{MODELS, is_model_held, model_widening};
use crate::gateway::mcp::configured_servers;
use crate::gateway::trusted_workspaces::{self, MAX_RUNS, TrustFile, TrustedWorkspace};
use crate::gateway::{Environment, GatewaySettings};
use crate::modules::{ModuleFolder, is_code, may_be_imported};
use crate::orchestration::workflow::definition::Trigger;
use crate::orchestration::workflow::format as workflow_format;
use crate::store::{Reader, StoreError};
use crate::tools::document_runtime::DocumentRunner;
use crate::workspace::files::{FileContent, FolderContent};
use crate::workspace::layout::{APPROVALS_FILE, HEARTBEAT_FILE, is_task_file, read_below, read_content};
use crate::workspace::settings_widenings::{section_of_files, widenings_of_files};
use crate::workspace::task_files::columns::is_for_person;
use crate::workspace::task_files::{Status, parse};
use crate::workspace::trust::Widening;
use crate::workspace::vfs::records::records_edited_while_closed;
use crate::workspace::{SettingsSections, WorkspaceTrust, session_files};

/// The variable by which a person trusts every workspace that the program opens, such as in continuous integration.
pub const TRUST_VARIABLE: &str = "WORKSHOP_TRUST";

/// Whose word it is that a workspace is trusted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum TrustChoice {
    /// The person's file, or their variable.
    #[default]
    Person,
    /// The person's file about another folder, of which the opened one is a copy.
    Like(PathBuf),
    /// The person trusts everything for this run.
    Everything,
}

/// What a person decided about a workspace that is about to be opened.
pub(super) struct Decided {
    /// What is trusted.
    pub(super) trust: WorkspaceTrust,
    /// The file to follow while the room runs; `None` if it does not count.
    pub(super) file: Option<TrustFile>,
    /// The folder whose runs are noted in the person's file.
    pub(super) noted: Option<PathBuf>,
    /// The runs whose saved work continues.
    pub(super) known: KnownRuns,
    /// The problem of the person's file.
    pub(super) problem: Option<Problem>,
}

impl Decided {
    /// Reads the decision about a folder.
    pub(super) fn of(choice: &TrustChoice, environment: &Environment, folder: &Path) -> Self {
        let config = environment.config_folder();
        let folder = match choice {
            TrustChoice::Everything => return Self::everything(config, folder),
            TrustChoice::Person | TrustChoice::Like(_) if is_trusted_by_variable() => {
                return Self::everything(config, folder);
            }
            TrustChoice::Person => folder,
            TrustChoice::Like(original) => original,
        };
        // A copy is not continued where it was copied from.
        let noted = (*choice == TrustChoice::Person).then(|| folder.to_owned());
        let file = Some(TrustFile::of(config, folder));
        let (known, problem) = match trusted_workspaces::load(config, folder) {
            Ok(known) => (known, None),
            Err(problem) => (TrustedWorkspace::default(), Some(problem)),
        };
        Self { trust: known.trust(), file, noted, known: KnownRuns::of(&known, config), problem }
    }

    /// The person trusts everything for this run. It is noted if they trust the workspace anyway: then it is theirs.
    fn everything(config: Option<&Path>, folder: &Path) -> Self {
        let is_trusted = trusted_workspaces::load(config, folder).is_ok_and(|known| known.is_trusted);
        let (noted, known) = (is_trusted.then(|| folder.to_owned()), KnownRuns::default());
        Self { trust: WorkspaceTrust::Everything, file: None, noted, known, problem: None }
    }

    /// The newest runs in the saved room of the workspace, if anything depends on them.
    pub(super) fn newest_runs(&self, workspace: &Path) -> Result<Vec<String>, StoreError> {
        let matters = self.noted.is_some() || self.known.runs.is_some();
        if matters { newest_runs(workspace) } else { Ok(Vec::new()) }
    }

    /// Whether the workspace has a saved room with a run that this program did not begin here and the person did not
    /// accept. Its unfinished work could be anything.
    pub(super) fn is_foreign(&self, history: &Result<Vec<String>, StoreError>) -> bool {
        self.known.are_missing_in(history)
    }
}

/// The runs whose saved work continues.
#[derive(Default)]
pub(super) struct KnownRuns {
    /// These; `None` if that of every run does.
    runs: Option<BTreeSet<String>>,
    /// Whether the workspace is not trusted.
    is_restricted: bool,
    /// The config folder, if runs that are known elsewhere continue, too.
    config: Option<PathBuf>,
    elsewhere: OnceCell<BTreeSet<String>>,
}

impl KnownRuns {
    fn of(known: &TrustedWorkspace, config: Option<&Path>) -> Self {
        let runs = known.known_runs().map(|runs| runs.iter().cloned().collect());
        // A workspace that is trusted may have been at another path.
        let config = config.filter(|_| known.is_trusted).map(Path::to_owned);
        Self { runs, is_restricted: !known.is_trusted, config, elsewhere: OnceCell::new() }
    }

    /// Whether the saved work of a run continues.
    pub(super) fn has(&self, run: &str) -> bool {
        let elsewhere = || self.elsewhere.get_or_init(|| trusted_workspaces::runs_of_all(self.config.as_deref()));
        self.runs.as_ref().is_none_or(|runs| runs.contains(run) || elsewhere().contains(run))
    }

    /// Whether the newest runs of a saved room are not all known. One that cannot be read is repaired and continued as
    /// far as possible: in a workspace that is not trusted, that is not even begun; in others, it is looked at again then.
    fn are_missing_in(&self, history: &Result<Vec<String>, StoreError>) -> bool {
        match history {
            Ok(newest) => newest.iter().any(|run| !self.has(run)),
            Err(_) => self.is_restricted,
        }
    }
}

/// The newest runs in the saved room of a workspace, the newest first; older ones were continued by these. None without a
/// saved room.
fn newest_runs(workspace: &Path) -> Result<Vec<String>, StoreError> {
    match Reader::open(&state_folder(workspace)).and_then(|reader| reader.newest_run_ids(MAX_RUNS)) {
        Ok(runs) => Ok(runs.iter().map(ToString::to_string).collect()),
        Err(StoreError::NoHistory { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Whether the person's variable trusts every workspace.
pub fn is_trusted_by_variable() -> bool {
    std::env::var(TRUST_VARIABLE).is_ok_and(|value| value == "1")
}

/// Reads what a workspace wants, and what the person has decided about it. Starts nothing.
pub fn page_of(folder: &Path, environment: &Environment) -> Result<TrustPage, Problem> {
    let FolderContent { mut files, unreadable, .. } = read_content(folder);
    let imported = imported_at_top(folder, &files);
    files.extend(imported);
    let known = trusted_workspaces::load(environment.config_folder(), folder)?;
    let history = newest_runs(folder);
    let has_unknown_room = KnownRuns::of(&known, environment.config_folder()).are_missing_in(&history);
    let wants = widenings(&files);
    let trust = known.trust();
    let is_held = |widening: &Widening| match &*widening.place {
        MODELS => is_model_held(&trust, &widening.value),
        _ => !trust.allows(widening),
    };
    let new = wants.iter().filter(|widening| !known.is_trusted || is_held(widening));
    Ok(TrustPage {
        folder: folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
        trusted: known.is_trusted,
        new: new.cloned().collect(),
        starts: starters(folder, &files, has_unknown_room),
        has_unknown_room,
        runs: history.unwrap_or_default(),
        unreadable: unreadable.iter().map(|(path, _)| path.to_owned()).collect(),
        wants,
        code: files.into_iter().filter(|(path, _)| is_code(path)).collect(),
    })
}

/// The files that modules of an agent at the top of the workspace import. No room reads these otherwise.
fn imported_at_top(folder: &Path, files: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let own = files.iter().filter(|(path, _)| path.starts_with("modules/"));
    let own: Vec<(&str, &str)> = own.map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let imported = RefCell::new(BTreeMap::new());
    let other = |path: &str| {
        let (real, text) = read_below(folder, "", path).filter(|(real, _)| may_be_imported(real))?;
        imported.borrow_mut().insert(real, text.clone());
        Some(text)
    };
    if !own.is_empty() {
        ModuleFolder::read(own, other, &ProgramCache::default(), &DocumentRunner::limits());
    }
    imported.into_inner()
}

/// Trusts a workspace that was just created here, if nothing in it comes from elsewhere: everything that wants or starts
/// something was written now.
pub fn trust_created(folder: &Path, written: &[String], environment: &Environment) -> Result<bool, Problem> {
    let folder = &folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let page = page_of(folder, environment)?;
    let is_ours = |place: &str| written.iter().any(|path| path == place || place == MODELS);
    let wants = page.wants.iter().all(|widening| is_ours(&widening.place));
    let is_all_ours = wants && page.starts.iter().all(|starter| is_ours(&starter.place));
    // A model that an agent of somebody else names is the same widening as one of ours.
    let others_agents = read_content(folder).files.keys().any(|path| format_of(path).is_some() && !is_ours(path));
    if !is_all_ours || others_agents || written.is_empty() {
        return Ok(false);
    }
    page.accept(environment.config_folder()).map(|_| true)
}

/// Everything that the files of a workspace want to be allowed, by place. Pure.
pub fn widenings(files: &BTreeMap<String, String>) -> Vec<Widening> {
    let sections = super::headless().world().resource::<SettingsSections>().clone();
    let mut found: BTreeSet<Widening> = widenings_of_files(files, &sections).into_iter().collect();
    if let Some(text) = files.get(ALLOWLIST_FILE) {
        found.extend(CommandRules::parse(text).0.widenings());
    }
    let agents = files.iter().filter_map(|(path, text)| Some((path, (format_of(path)?.read)(path, text).profile)));
    let agents: Vec<(&String, AgentProfile)> = agents.collect();
    let models = files.iter().flat_map(|(path, text)| models_named(path, text));
    let models: BTreeSet<String> = models.filter(|model| !leaves_model_open(model)).collect();
    found.extend(models.iter().map(|model| model_widening(model)));
    // Names that hide a coding agent, with each scene's settings.
    for gateway in section_of_files::<GatewaySettings>(files, &sections) {
        found.extend(
            models.iter().filter_map(|model| gateway.acting_model(None, model)).map(|meant| model_widening(&meant)),
        );
    }
    let profiles = agents.iter().map(|(path, agent)| (&agent.id, agent, path.as_str()));
    let servers = configured_servers::parse(&BTreeMap::new(), |path| files.get(path).map(String::as_str), profiles);
    found.extend(servers.servers.iter().map(|configured| {
        let sentence = "starts this MCP server, once you have allowed it";
        let (label, what) = (configured.server.label(), configured.server.shown());
        Widening { is_asked_elsewhere: true, ..Widening::new(&configured.place, label, what, sentence) }
    }));
    found.extend(files.iter().flat_map(|(path, text)| widenings_of_file(path, text)));
    found.into_iter().collect()
}

/// Everything that would start by itself, by place.
fn starters(folder: &Path, files: &BTreeMap<String, String>, has_unknown_room: bool) -> Vec<SelfStarter> {
    let mut found = Vec::new();
    let mut add = |place: &str, what: String| found.push(SelfStarter { place: place.to_owned(), what });
    for (path, text) in files {
        if path == APPROVALS_FILE {
            // The program's own questions to the person.
            continue;
        }
        if is_task_file(path) {
            let tasks = parse(text.as_str()).tasks.into_iter();
            for task in tasks.filter(|task| task.status == Status::Open && !is_for_person(task)) {
                add(path, format!("the task “{}”", task.title.text));
            }
        } else if path.rsplit('/').next() == Some(HEARTBEAT_FILE) {
            add(path, "wakes its agent".to_owned());
        } else if is_stream(path) && !text.trim().is_empty() {
            add(path, format!("{} messages for agents", text.lines().count()));
        } else if workflow_format::is_workflow(path) {
            let workflow = workflow_format::read(path, text).workflow;
            if workflow.trigger != Trigger::Manual {
                add(path, format!("the workflow “{}”", workflow.name));
            }
        }
    }
    for path in files.keys().filter(|path| is_code(path) && format!("/{path}").contains("/modules/")) {
        add(path, "code that runs while its agent is in the room".to_owned());
    }
    for record in records_edited_while_closed(folder) {
        if let FileContent::Text(text) = &record.content
            && session_files::parse(text).is_ok_and(|session| session.begins())
        {
            add(&record.path, "continues this session".to_owned());
        }
    }
    if has_unknown_room {
        add(SAVED_ROOM, "the saved room, with its unfinished work".to_owned());
    }
    found
}
