//! What a workspace wants to be allowed and what would start by itself, as one page for the person; and what the person
//! trusts of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::opening::state_folder;
use crate::agent::AgentProfile;
use crate::agent::formats::format_of;
use crate::agent::markdown::leaves_model_open;
use crate::base::Problem;
use crate::base::text::{one_line, truncate};
use crate::desk::streams::is_stream;
use crate::gate::commands::{ALLOWLIST_FILE, CommandRules};
use crate::gateway::Environment;
use crate::gateway::aliases::{MODELS, is_model_held, model_widening};
use crate::gateway::mcp::configured_servers;
use crate::gateway::trusted_workspaces::{self, TrustFile, TrustedWorkspace};
use crate::orchestration::workflow::definition::Trigger;
use crate::orchestration::workflow::format as workflow_format;
use crate::store::Reader;
use crate::workspace::files::FileContent;
use crate::workspace::layout::{APPROVALS_FILE, HEARTBEAT_FILE, is_task_file, read_content};
use crate::workspace::settings_widenings::widenings_of_files;
use crate::workspace::task_files::columns::is_for_person;
use crate::workspace::task_files::{Status, parse};
use crate::workspace::trust::Widening;
use crate::workspace::vfs::records::records_edited_while_closed;
use crate::workspace::{SettingsSections, WorkspaceTrust, session_files};

/// The variable by which a person trusts every workspace that the program opens, such as in continuous integration.
pub const TRUST_VARIABLE: &str = "WORKSHOP_TRUST";
/// The maximum number of characters of a shown name or task.
const MAX_CHARS: usize = 100;

/// The maximum number of wishes that a summary names.
const MAX_NAMED: usize = 8;

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
    /// The folder whose runs are noted while it is not trusted.
    pub(super) noted: Option<PathBuf>,
    /// The runs that were begun here while the workspace was not trusted.
    runs: Vec<String>,
    /// The problem of the person's file.
    pub(super) problem: Option<Problem>,
}

impl Decided {
    /// Reads the decision about a folder.
    pub(super) fn of(choice: &TrustChoice, environment: &Environment, folder: &Path) -> Self {
        let everything = Self::with(WorkspaceTrust::Everything);
        let folder = match choice {
            TrustChoice::Everything => return everything,
            TrustChoice::Person | TrustChoice::Like(_) if is_trusted_by_variable() => return everything,
            TrustChoice::Person => folder,
            TrustChoice::Like(original) => original,
        };
        let config = environment.config_folder();
        let noted = (*choice == TrustChoice::Person).then(|| folder.to_owned());
        let of_file = Self { file: Some(TrustFile::of(config, folder)), noted, ..Self::with(WorkspaceTrust::Nothing) };
        match trusted_workspaces::load(config, folder) {
            Ok(known) => Self { trust: known.trust(), runs: known.runs, ..of_file },
            Err(problem) => Self { problem: Some(problem), ..of_file },
        }
    }

    fn with(trust: WorkspaceTrust) -> Self {
        Self { trust, file: None, noted: None, runs: Vec::new(), problem: None }
    }

    /// Whether the workspace has a saved room that the person has not trusted and that was not made here. Its unfinished
    /// work could be anything.
    pub(super) fn is_foreign_history(&self, workspace: &Path) -> bool {
        if !self.trust.is_restricted() {
            return false;
        }
        let newest = Reader::open(&state_folder(workspace)).and_then(|reader| reader.runs());
        match newest {
            Ok(runs) => runs.iter().any(|run| !self.runs.iter().any(|known| **known == *run.id)),
            Err(crate::store::StoreError::NoHistory { .. }) => false,
            // A damaged history is repaired and continued as far as it can be read.
            Err(_) => true,
        }
    }
}

/// Whether the person's variable trusts every workspace.
pub fn is_trusted_by_variable() -> bool {
    std::env::var(TRUST_VARIABLE).is_ok_and(|value| value == "1")
}

/// Something that would start by itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SelfStarter {
    /// The file.
    pub place: String,
    /// What would start.
    pub what: String,
}

/// What a workspace wants, and what the person has decided about it.
#[derive(Clone, Debug, Serialize)]
pub struct TrustPage {
    /// The workspace.
    pub folder: PathBuf,
    /// Whether the person trusts the workspace.
    pub trusted: bool,
    /// Everything that it wants to be allowed.
    pub wants: Vec<Widening>,
    /// What of that has no effect yet.
    pub new: Vec<Widening>,
    /// What would start by itself.
    pub starts: Vec<SelfStarter>,
    /// The files that cannot be read, so that what they want is unknown.
    pub unreadable: Vec<String>,
}

impl TrustPage {
    /// Reads a workspace. Starts nothing.
    pub fn of(folder: &Path, environment: &Environment) -> Result<Self, Problem> {
        let content = read_content(folder);
        let known = trusted_workspaces::load(environment.config_folder(), folder)?;
        let wants = widenings(&content.files);
        let trust = known.trust();
        let is_held = |widening: &Widening| match &*widening.place {
            MODELS => is_model_held(&trust, &widening.value),
            _ => !trust.allows(widening),
        };
        let new = wants.iter().filter(|widening| !known.is_trusted || is_held(widening));
        Ok(Self {
            folder: folder.to_owned(),
            trusted: known.is_trusted,
            new: new.cloned().collect(),
            starts: starters(folder, &content.files, &known),
            unreadable: content.unreadable.iter().map(|(path, _)| path.to_owned()).collect(),
            wants,
        })
    }

    /// Whether the person has nothing to decide.
    pub fn is_settled(&self) -> bool {
        self.trusted && self.new.is_empty()
    }

    /// What the workspace permits itself and whether the person has allowed it, in one sentence.
    pub fn summary(&self) -> String {
        let shown = if self.trusted && !self.new.is_empty() { &self.new } else { &self.wants };
        let mut named: Vec<String> = shown.iter().take(MAX_NAMED).map(|widening| safe(&widening.key)).collect();
        if shown.len() > MAX_NAMED {
            named.push(format!("{} more", shown.len() - MAX_NAMED));
        }
        let named = if named.is_empty() { "nothing".to_owned() } else { named.join(", ") };
        match (self.trusted, self.new.is_empty()) {
            (true, true) => format!("you trust it; it permits itself {named}"),
            (true, false) => format!("you trust it, except for what is new and has no effect yet: {named}"),
            (false, _) => {
                let starts = self.starts.len();
                format!("restricted until you trust it; it wants {named}, and {starts} would start by itself")
            }
        }
    }

    /// Trusts the workspace with what the page shows. Returns the path of the person's file.
    pub fn accept(&self, environment: &Environment) -> Result<PathBuf, Problem> {
        trusted_workspaces::trust(environment.config_folder(), &self.folder, self.wants.iter().cloned())
    }

    /// The page as lines: what it wants, and what would start. Of a trusted workspace, only what is new.
    pub fn lines(&self) -> Vec<String> {
        let shown = if self.trusted { &self.new } else { &self.wants };
        let mut lines = Vec::new();
        match (self.trusted, shown.is_empty()) {
            (true, true) => lines.push("It wants nothing that you have not allowed.".to_owned()),
            (true, false) => lines.push("New since you trusted it, without effect until you do again:".to_owned()),
            (false, true) => lines.push("It wants nothing to be allowed.".to_owned()),
            (false, false) => lines.push("It wants to be allowed:".to_owned()),
        }
        let asked = |widening: &Widening| if widening.is_asked_elsewhere { " (asked separately)" } else { "" };
        lines.extend(shown.iter().map(|widening| {
            let Widening { place, key, value, sentence, .. } = widening;
            format!("  {}: {}: {} – {sentence}{}", safe(place), safe(key), safe(value), asked(widening))
        }));
        if !self.trusted {
            let title =
                if self.starts.is_empty() { "Nothing would start by itself." } else { "Would start by itself:" };
            lines.push(title.to_owned());
            lines.extend(self.starts.iter().map(|one| format!("  {}: {}", safe(&one.place), safe(&one.what))));
        }
        let unreadable = self.unreadable.iter();
        lines.extend(unreadable.map(|path| format!("  {}: cannot be read, so what it wants is unknown", safe(path))));
        lines
    }
}

/// Text from files on one line, with invisible characters shown.
fn safe(text: &str) -> String {
    one_line(text)
}

/// Trusts a workspace that was just created here, if nothing in it comes from elsewhere: everything that wants or starts
/// something was written now.
pub fn trust_created(folder: &Path, written: &[String], environment: &Environment) -> Result<bool, Problem> {
    let folder = &folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let page = TrustPage::of(folder, environment)?;
    let is_ours = |place: &str| written.iter().any(|path| path == place || place == MODELS);
    let wants = page.wants.iter().all(|widening| is_ours(&widening.place));
    let is_all_ours = wants && page.starts.iter().all(|starter| is_ours(&starter.place));
    // A model that an agent of somebody else names is the same widening as one of ours.
    let others_agents = read_content(folder).files.keys().any(|path| format_of(path).is_some() && !is_ours(path));
    if !is_all_ours || others_agents || written.is_empty() {
        return Ok(false);
    }
    page.accept(environment).map(|_| true)
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
    let models = agents.iter().filter_map(|(_, agent)| agent.model.clone());
    let workflows = files.iter().filter(|(path, _)| workflow_format::is_workflow(path));
    let steps = workflows.flat_map(|(path, text)| workflow_format::read(path, text).workflow.steps);
    let models = models.chain(steps.filter_map(|step| step.model));
    found.extend(models.filter(|model| !leaves_model_open(model)).map(|model| model_widening(&model)));
    let profiles = agents.iter().map(|(path, agent)| (&agent.id, agent, path.as_str()));
    let servers = configured_servers::parse(&BTreeMap::new(), |path| files.get(path).map(String::as_str), profiles);
    found.extend(servers.servers.iter().map(|configured| {
        let sentence = "starts this MCP server, once you have allowed it";
        let (label, what) = (configured.server.label(), configured.server.shown());
        Widening { is_asked_elsewhere: true, ..Widening::new(&configured.place, label, what, sentence) }
    }));
    found.into_iter().collect()
}

/// Everything that would start by itself, by place.
fn starters(folder: &Path, files: &BTreeMap<String, String>, known: &TrustedWorkspace) -> Vec<SelfStarter> {
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
                add(path, format!("the task “{}”", truncate(&one_line(&task.title.text), MAX_CHARS)));
            }
        } else if path.rsplit('/').next() == Some(HEARTBEAT_FILE) {
            add(path, "wakes its agent".to_owned());
        } else if is_stream(path) && !text.trim().is_empty() {
            add(path, format!("{} messages for agents", text.lines().count()));
        } else if workflow_format::is_workflow(path) {
            let workflow = workflow_format::read(path, text).workflow;
            if workflow.trigger != Trigger::Manual {
                add(path, format!("the workflow “{}”", truncate(&one_line(&workflow.name), MAX_CHARS)));
            }
        }
    }
    for path in files.keys().filter(|path| path.ends_with(".ts") && format!("/{path}").contains("/modules/")) {
        add(path, "code that runs while its agent is in the room".to_owned());
    }
    for record in records_edited_while_closed(folder) {
        if let FileContent::Text(text) = &record.content
            && session_files::parse(text).is_ok_and(|session| session.begins())
        {
            add(&record.path, "continues this session".to_owned());
        }
    }
    let decided = Decided { runs: known.runs.clone(), ..Decided::with(known.trust()) };
    if decided.is_foreign_history(folder) {
        add(".workshop", "the saved room, with its unfinished work".to_owned());
    }
    found
}
