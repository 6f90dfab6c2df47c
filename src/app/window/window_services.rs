//! Services of the window besides the room: testing providers, choosing the provider, settings, screenshots, reporting
//! refusals, and saving the window's state. Slow work is done on a background thread or by the gateway; nothing here
//! waits.

use std::path::{Path, PathBuf};

use egui::Context;

use super::command_handling::{Outcome, open_workspace};
use super::drafts::Drafts;
use super::job_runner::JobRunner;
use super::open_room::OpenRoom;
use super::provider_trials::{self, RunningTrial};
use super::screenshot::WindowSnapshot;
use super::settings_commands;
use super::trust_decisions::TrustDecisions;
use super::window_jobs::{self, ServerConsent, TrustDecision, WindowJob, WindowJobDone, WindowJobs};
use super::window_state::{SavedWindowState, WindowStateFile, known_workspaces};
use crate::base::Problem;
use crate::gateway::acp::{self, AcpSettings};
use crate::gateway::{GatewayEnvironment, GatewaySettings};
use crate::ui::panes::editor::Editors;
use crate::ui::panes::event_log::EventLogPane;
use crate::ui::shell::parts::WindowParts;
use crate::ui::state::dock::Tab;
use crate::ui::state::file_texts::{FileTextRequest, FileTexts};
use crate::ui::state::jobs::RunningJob;
use crate::ui::state::{CodingAgents, NoticeTarget, TrustView};
use crate::ui::widgets::text_format::sentence;
use crate::ui::{Command, UiState};
use crate::view::dates::Dates;
use crate::view::model::RoomModel;
use crate::view::pick::RoomObject;
use crate::view::recent_events::{Recent, Refused};
use crate::view::text::system_fonts::{FontSearchResult, MissingCharacters};

/// Time without changes after which the window's state is saved, in seconds.
const STABLE_SECS: f64 = 1.0;
/// Maximum time until continuously changing state is saved, in seconds.
const MAX_SECS: f64 = 10.0;
/// Interval at which provider status is refreshed while it is shown, in seconds.
const LOOK_SECS: f64 = 3.0;
/// The maximum number of the window's own notices.
const NOTICES_KEPT: usize = 200;

/// Running services of the window besides the room.
#[derive(Default)]
pub struct WindowServices {
    trial: Option<RunningTrial>,
    jobs: Option<WindowJobs>,
    /// The person's config folder.
    config_folder: Option<PathBuf>,
    /// Recently opened workspaces.
    known: Vec<PathBuf>,
    /// Unsaved text of files.
    drafts: Drafts,
    /// The file of the window's state.
    file: Option<WindowStateFile>,
    /// Whether the window's state is saved at all.
    remembers: bool,
    /// The current state.
    now: SavedWindowState,
    /// The state as it was last saved.
    written: SavedWindowState,
    /// When the state first differed from the saved one, and when it last changed.
    changed: Option<(f64, f64)>,
    /// The size of the window, in points.
    pub size: Option<(u32, u32)>,
    /// When provider status was last refreshed, in seconds since the window opened.
    checked_secs: Option<f64>,
    /// The same for MCP servers.
    servers_looked_secs: Option<f64>,
    /// The same for coding agents, with the command line that was checked.
    coding_agents_looked: Option<(f64, String)>,
    pictures_under_way: usize,
    /// Decisions about what workspaces want.
    trust: TrustDecisions,
    /// System fonts that were found and not installed yet.
    found_fonts: Option<FontSearchResult>,
    job_runner: JobRunner,
}

impl WindowServices {
    /// Services that save the window's state in this file; `remembered` is its current content.
    pub fn remembering(file: WindowStateFile, remembered: SavedWindowState) -> Self {
        let (now, written) = (remembered.clone(), remembered);
        Self { file: Some(file), remembers: true, now, written, ..Self::default() }
    }

    /// The services of this room's window, with the saved state of its workspace from the person's config folder.
    pub fn of(room: &mut OpenRoom, config_folder: Option<PathBuf>) -> Self {
        let mut services = match &config_folder {
            Some(folder) => {
                let (file, remembered, problems) = WindowStateFile::open(folder, room.folder());
                room.notices.extend(problems);
                Self::remembering(file, remembered)
            }
            None => Self::default(),
        };
        let known = config_folder.as_ref().map(|folder| known_workspaces(folder, room.folder()));
        services.known = known.unwrap_or_default();
        services.config_folder = config_folder;
        let (drafts, problem) = Drafts::open(room.folder());
        services.drafts = drafts;
        services.forget_gone_files(room.folder());
        room.notices.extend(problem);
        services
    }

    /// Tabs of deleted files are not opened again, for instance after a folder with the same path was created; unsaved
    /// text keeps its tab.
    fn forget_gone_files(&mut self, workspace: &Path) {
        let drafts = self.drafts.kept();
        let is_kept = |path: &str| workspace.join(path).is_file() || drafts.iter().any(|draft| draft.path == path);
        for path in self.now.dock.files().into_iter().filter(|path| !is_kept(path)) {
            self.now.dock.close(&Tab::file(path));
        }
    }

    /// Restores the window as it was left.
    pub fn restore(&self, state: &mut UiState, parts: &mut WindowParts) {
        self.now.restore(state, parts);
        state.recents.workspaces.clone_from(&self.known);
        state.appearance.dates = Dates::here(state.appearance.look.dates);
        state.time.born_ms = crate::log::now_ms();
        if let Some(editors) = parts.panes.get_mut::<Editors>() {
            editors.restore(self.drafts.kept().to_vec());
        }
    }

    /// Switches to another workspace: saves the state of the previous one and restores that of the new one.
    pub fn move_to(&mut self, room: &mut OpenRoom, state: &mut UiState, parts: &mut WindowParts) {
        let config_folder = self.config_folder.clone();
        self.check_drafts(parts);
        self.close();
        let size = self.size;
        *self = Self::of(room, config_folder);
        self.size = size;
        self.job_runner.close();
        parts.forget_workspace();
        state.texts = FileTexts::default();
        state.server_consents.clear();
        state.coding_agents = CodingAgents::default();
        state.trust = TrustView::default();
        self.coding_agents_looked = None;
        state.selection.choose_file(None);
        state.dock.close_files();
        self.restore(state, parts);
    }

    /// The window's state to be saved.
    pub fn remembered(&self) -> &SavedWindowState {
        &self.now
    }

    /// Whether a job is running whose result must be shown.
    pub fn is_busy(&self) -> bool {
        self.trial.is_some() || self.pictures_under_way > 0 || self.trust.is_waiting() || self.job_runner.is_busy()
    }

    /// Jobs that run long enough to be shown.
    pub(super) fn running(&self) -> impl Iterator<Item = RunningJob> {
        self.job_runner.shown()
    }

    /// Before a frame is drawn: applies results of jobs, and restores the saved view of a newly opened scene.
    pub fn before_frame(
        &mut self,
        room: &mut OpenRoom,
        model: &RoomModel,
        state: &mut UiState,
        parts: &mut WindowParts,
    ) {
        self.now.restore_view(&model.scene, state);
        self.take_results(room, state);
        self.job_runner.take_results(state, parts);
        if let Some(tried) = self.trial.as_ref().and_then(RunningTrial::poll) {
            self.trial = None;
            match tried {
                Some(tried) => provider_trials::finish(room, state, &tried),
                None => state.providers.trial = None,
            }
        }
        let looks_at_providers = state.texts.has_requests(&FileTextRequest::Providers);
        let looks_at_servers = state.texts.has_requests(&FileTextRequest::ServerConsents);
        let coding_agent = state.texts.wanted_coding_agent();
        serve_panes(room, state, parts);
        for refused in std::mem::take(&mut room.recent.refused) {
            report_refused(refused, model, state);
        }
        let surplus = room.notices.len().saturating_sub(NOTICES_KEPT);
        room.notices.drain(..surplus);
        let is_due = self.checked_secs.is_none_or(|last| state.time.now_secs - last >= LOOK_SECS);
        if (looks_at_providers || self.checked_secs.is_none()) && is_due {
            self.checked_secs = Some(state.time.now_secs);
            self.look_at_providers(room);
        }
        let is_due = self.servers_looked_secs.is_none_or(|last| state.time.now_secs - last >= LOOK_SECS);
        if looks_at_servers && is_due {
            self.servers_looked_secs = Some(state.time.now_secs);
            self.look_at_servers(room, model);
        }
        if let Some(job) = self.trust.offer(room, model, state) {
            self.push_trust(Some(job), state);
        }
        if let Some(line) = coding_agent {
            self.look_at_coding_agents(room, state.time.now_secs, line);
        }
    }

    /// After a frame was drawn: notes the window's state, and saves it once it is stable.
    pub fn after_frame(&mut self, model: &RoomModel, state: &UiState, parts: &WindowParts) {
        if let Some(editors) = parts.panes.get::<Editors>()
            && let Some((file, drafts)) = self.drafts.note(editors, state.time.now_secs)
            && !self.push(WindowJob::Drafts { file, drafts })
        {
            self.drafts.mark_unsaved();
        }
        if !self.remembers {
            return;
        }
        let before = self.now.clone();
        self.now.note(&model.scene, self.size, state, parts);
        if self.now == self.written {
            self.changed = None;
            return;
        }
        let now = state.time.now_secs;
        let (began, last) = self.changed.unwrap_or((now, now));
        let last = if self.now == before { last } else { now };
        self.changed = Some((began, last));
        if now - last >= STABLE_SECS || now - began >= MAX_SECS {
            let remembered = self.now.clone();
            if self.push(WindowJob::Remember(Box::new(remembered))) {
                self.written = self.now.clone();
                self.changed = None;
            }
        }
    }

    /// Checks for unsaved text once more, when the window closes.
    pub fn check_drafts(&mut self, parts: &WindowParts) {
        parts.panes.get::<Editors>().into_iter().for_each(|editors| self.drafts.check(editors));
    }

    /// Saves the state and ends running jobs, when the window closes.
    pub fn close(&mut self) {
        self.trial = None;
        self.job_runner.close();
        if let Some((file, drafts)) = self.drafts.last() {
            self.push_last(WindowJob::Drafts { file, drafts });
        }
        if self.remembers && self.now != self.written {
            self.written = self.now.clone();
            let remembered = Box::new(self.now.clone());
            self.push_last(WindowJob::Remember(remembered));
        }
        self.jobs = None;
        self.remembers = false;
    }

    /// Performs a command that does not concern the room.
    pub fn perform(
        &mut self,
        context: &Context,
        room: &mut OpenRoom,
        model: &RoomModel,
        (state, parts): (&mut UiState, &WindowParts),
        command: Command,
    ) {
        match command {
            Command::Run(job) => self.job_runner.start(job, state),
            Command::TestProvider(spec) => {
                if let Some((job, trial)) = provider_trials::start(room, state, &spec) {
                    // Stop the previous trial.
                    self.trial.replace(trial).iter().for_each(RunningTrial::stop);
                    self.job_runner.start(job, state);
                }
            }
            Command::KeepKey(name, key) => {
                let Some(environment) = room.world().map(|world| world.resource::<GatewayEnvironment>().0.clone())
                else {
                    return;
                };
                if !self.push(WindowJob::Key { name, key, environment }) {
                    state.notify("The key was not saved: too much is running. Try again.", false);
                }
            }
            Command::StopTrial => {
                if let Some(trial) = &self.trial {
                    trial.stop();
                }
            }
            Command::SetProvider(spec) => settings_commands::choose_provider(room, model, state, &spec),
            Command::EndProviderOverride => settings_commands::end_provider_override(room, model, state),
            Command::ShowTrust(folder) => {
                let job = self.trust.show(room, state, folder);
                self.push_trust(job, state);
            }
            Command::TrustWorkspace(page) => {
                let job = self.trust.decide(room, state, TrustDecision::Trust(page));
                self.push_trust(job, state);
            }
            Command::RevokeTrust(folder) => {
                let job = self.trust.decide(room, state, TrustDecision::Revoke(folder));
                self.push_trust(job, state);
            }
            Command::TestServer(key) => settings_commands::test_server(room, key),
            Command::AllowServer(server) => self.save_server_consent(room, state, ServerConsent::Allow(server)),
            Command::ForbidServer(server) => self.save_server_consent(room, state, ServerConsent::Forbid(server)),
            Command::SetSettings(edit) => settings_commands::set_settings(room, model, state, edit),
            Command::Screenshot(file) => {
                let file = file.map(|file| room.folder().join(file));
                let folder = room.folder().join("pictures");
                let seen = WindowSnapshot::of(context, model, &room.recent, state, parts);
                let name = if model.scene.is_empty() { "room".to_owned() } else { model.scene.clone() };
                if self.push(WindowJob::Picture { seen: Box::new(seen), file, folder, name }) {
                    self.pictures_under_way += 1;
                } else {
                    state.notify("Too many pictures are being saved. Wait and try again.", false);
                }
            }
            _ => {}
        }
    }

    /// The job thread, started on first use; `None` if it cannot be started.
    fn jobs(&mut self) -> Option<&mut WindowJobs> {
        if self.jobs.is_none() {
            let started = window_jobs::start(self.file.clone());
            self.jobs = started.inspect_err(|error| tracing::warn!("background jobs cannot run: {error}")).ok();
        }
        self.jobs.as_mut()
    }

    /// Looks for system fonts in the background. If too many jobs are waiting, missing letters stay boxes.
    pub(super) fn find_fonts(&mut self, wanted: MissingCharacters) {
        self.push(WindowJob::Fonts(wanted));
    }

    /// The fonts that were found since the last call.
    pub(super) fn take_fonts(&mut self) -> Option<FontSearchResult> {
        self.found_fonts.take()
    }

    fn push(&mut self, job: WindowJob) -> bool {
        self.jobs().is_some_and(|jobs| jobs.push(job))
    }

    fn push_last(&mut self, job: WindowJob) {
        if let Some(jobs) = self.jobs() {
            jobs.push_last(job);
        }
    }

    /// Passes on a job about trust; says so if too much is running.
    fn push_trust(&mut self, job: Option<WindowJob>, state: &mut UiState) {
        if let Some(job) = job
            && !self.push(job)
        {
            self.trust.give_up(state);
        }
    }

    fn take_results(&mut self, room: &mut OpenRoom, state: &mut UiState) {
        while let Some(done) = self.jobs.as_ref().and_then(WindowJobs::try_next) {
            let Some(done) = done else { continue };
            match done {
                WindowJobDone::Fonts(found) => self.found_fonts = Some(found),
                WindowJobDone::Providers(providers) => state.providers.statuses = providers,
                WindowJobDone::Key(name, kept) => {
                    self.checked_secs = None;
                    match kept {
                        Ok(file) => state.notify(format!("{name} was saved in {}.", file.display()), true),
                        Err(problem) => {
                            let text = format!("{} {}", sentence(&problem.what), sentence(&problem.remedy));
                            state.notify(text, false);
                        }
                    }
                }
                WindowJobDone::ServerConsents(said) => state.server_consents = said,
                WindowJobDone::CodingAgents(found) => state.coding_agents = found,
                WindowJobDone::Consent(said, kept) => {
                    self.servers_looked_secs = None;
                    self.coding_agents_looked = None;
                    report_consent(state, &said, kept);
                }
                WindowJobDone::TrustPage(page) => self.trust.show_page(state, page),
                WindowJobDone::Trust(said, kept, now) => {
                    if let Some(folder) = self.trust.report(room, state, &said, kept, now)
                        && let Outcome::Service(command) = open_workspace(room, state, folder)
                        && let Command::Run(job) = *command
                    {
                        self.job_runner.start(job, state);
                    }
                }
                WindowJobDone::NotRemembered(problem) => {
                    if !room.notices.contains(&problem) {
                        room.notices.push(problem);
                    }
                }
                WindowJobDone::Picture(drawn) => {
                    self.pictures_under_way = self.pictures_under_way.saturating_sub(1);
                    match drawn {
                        Ok(file) => {
                            let shown = file.strip_prefix(room.folder()).unwrap_or(&file).display().to_string();
                            let text = format!("A picture was saved: {shown}");
                            state.notify_at(text, true, Some(NoticeTarget::File(shown, None)));
                        }
                        Err(why) => state.notify(format!("The picture could not be saved: {why}."), false),
                    }
                }
            }
        }
    }

    fn look_at_servers(&mut self, room: &mut OpenRoom, model: &RoomModel) {
        let Some(world) = room.world() else { return };
        let environment = world.resource::<GatewayEnvironment>().0.clone();
        let written = model.servers.iter().map(|server| &server.written);
        let servers = written.map(|written| (written.key.clone(), written.server.clone())).collect();
        // If the queue is full, the next refresh will do it.
        self.push(WindowJob::ServerConsents { servers, environment });
    }

    fn look_at_coding_agents(&mut self, room: &mut OpenRoom, now_secs: f64, line: String) {
        let is_due = |(last, of): &(f64, String)| *of != line || now_secs - last >= LOOK_SECS;
        if !self.coding_agents_looked.as_ref().is_none_or(is_due) {
            return;
        }
        let Some(world) = room.world() else { return };
        let settings = Box::new(world.resource::<AcpSettings>().clone());
        let environment = world.resource::<GatewayEnvironment>().0.clone();
        self.coding_agents_looked = Some((now_secs, line.clone()));
        // If the queue is full, the next refresh will do it.
        self.push(WindowJob::CodingAgents { settings, line, environment });
    }

    fn save_server_consent(&mut self, room: &mut OpenRoom, state: &mut UiState, said: ServerConsent) {
        let Some(world) = room.world() else { return };
        let environment = world.resource::<GatewayEnvironment>().0.clone();
        if !self.push(WindowJob::Consent { said, environment }) {
            state.notify("This was not saved: too much is running. Try again.", false);
        }
    }

    fn look_at_providers(&mut self, room: &mut OpenRoom) {
        let Some(world) = room.world() else { return };
        let settings = Box::new(world.resource::<GatewaySettings>().clone());
        let environment = world.resource::<GatewayEnvironment>().0.clone();
        // If the queue is full, the next refresh will do it.
        self.push(WindowJob::Providers { settings, environment });
    }
}

/// The name of an MCP server or coding agent at the beginning of a sentence.
fn called(name: &str) -> String {
    match name.strip_prefix(acp::PROVIDER).and_then(|rest| rest.strip_prefix(':')) {
        Some(agent) => format!("The coding agent {agent}"),
        None => format!("The MCP server {name}"),
    }
}

/// Reports that a decision about an MCP server was saved, or why not.
fn report_consent(state: &mut UiState, said: &ServerConsent, kept: Result<PathBuf, Problem>) {
    match (kept, said) {
        (Err(problem), _) => {
            state.notify(format!("{} {}", sentence(&problem.what), sentence(&problem.remedy)), false);
        }
        (Ok(file), ServerConsent::Allow(server)) => {
            let text = format!("{} is allowed here. Kept in {}.", called(&server.label()), file.display());
            state.notify(text, true);
        }
        (Ok(file), ServerConsent::Forbid(server)) => {
            let text = format!("{} is not allowed here. Kept in {}.", called(&server.label()), file.display());
            state.notify(text, true);
        }
    }
}

/// Loads the content that panes requested.
fn serve_panes(room: &mut OpenRoom, state: &mut UiState, parts: &mut WindowParts) {
    let is_log_written = room.is_log_written();
    let OpenRoom { file_cache, recent, .. } = room;
    match file_cache.update(&mut state.texts, &mut recent.book, is_log_written, state.time.now_secs) {
        Some((run, Ok(book))) => {
            let log = Recent { book, ..Recent::default() };
            if let Some(pane) = parts.panes.get_mut::<EventLogPane>() {
                pane.shown_log = Some((run, std::sync::Arc::new(log)));
            }
        }
        Some((run, Err(why))) => state.notify(format!("The run {run} could not be loaded: {why}"), false),
        None => {}
    }
}

/// Reports a refusal; a refusal by a budget is reported once per agent.
fn report_refused(refused: Refused, model: &RoomModel, state: &mut UiState) {
    if let Some(cap) = &refused.cap {
        // Caps of the run have their own card.
        let once = format!("{cap} {}", refused.agent.as_deref().unwrap_or_default());
        if model.cap_name.as_ref() == Some(cap) || !state.notices.dismiss_cap(once) {
            return;
        }
    }
    let thing = refused.agent.map(RoomObject::Agent).or(refused.element.map(RoomObject::Element));
    let place =
        refused.cap.map(|cap| NoticeTarget::Setting(format!("budget.{cap}"))).or(thing.map(NoticeTarget::Thing));
    let text = format!("{} {}", sentence(&refused.what), sentence(&refused.remedy));
    state.notify_at(text.trim(), false, place);
}

#[cfg(test)]
#[path = "window_services_tests.rs"]
mod tests;
