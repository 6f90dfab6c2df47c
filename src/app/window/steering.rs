//! Steering beside the room: trying providers out, choosing who answers, settings, pictures of the window, telling
//! what was refused, and remembering how the window was left. Whatever takes long is done by a clerk on a thread of
//! its own or by the gateway's; nothing here waits.

use std::path::PathBuf;

use egui::Context;
use serde_json::json;

use super::clerk::{Clerk, Job, News};
use super::drafts::Drafts;
use super::open_room::OpenRoom;
use super::remembering::{MemoryFile, Remembered, known_workspaces};
use super::screenshot::Seen;
use crate::gateway::settings::parse_spec;
use crate::gateway::trial::Tried;
use crate::gateway::{GatewaySettings, StandIn, Surroundings, Trial};
use crate::schedule::{Door, Input};
use crate::ui::notices::{place_of, sentence};
use crate::ui::state::{Place, TrialOutcome, TrialView};
use crate::ui::studio::Studio;
use crate::ui::{Command, UiState, words};
use crate::view::dates::Dates;
use crate::view::model::RoomModel;
use crate::view::pick::Thing;
use crate::view::recent::{Recent, Refused};
use crate::workspace::SettingsEdit;

/// How long nothing must have changed before it is written down, in seconds.
const SETTLED_SECS: f64 = 1.0;
/// What goes on changing is written down all the same after so long.
const AT_MOST_SECS: f64 = 10.0;
/// How often providers are looked at while somebody looks at them, in seconds.
const LOOK_SECS: f64 = 3.0;
/// So many notices of the window's own are kept.
const NOTICES_KEPT: usize = 200;

/// What steers, and what it has under way.
#[derive(Default)]
pub struct Steering {
    trial: Option<Trial>,
    clerk: Option<Clerk>,
    /// The folder of what belongs to the person.
    config_folder: Option<PathBuf>,
    /// Workspaces that were open before.
    known: Vec<PathBuf>,
    /// What was written into files and not saved, as it is kept.
    drafts: Drafts,
    /// The file that the clerk is to be given, until there is a clerk.
    file: Option<MemoryFile>,
    /// Whether anything is remembered at all.
    remembers: bool,
    /// How the window is.
    now: Remembered,
    /// How it is written down.
    written: Remembered,
    /// Since when it differs from that, and since when it has been as it is.
    changed: Option<(f64, f64)>,
    /// The size of the window, in points.
    pub size: Option<(u32, u32)>,
    /// When providers were looked at last, in seconds since the window opened.
    looked_secs: Option<f64>,
    pictures_under_way: usize,
}

impl Steering {
    /// Remembers in this file, where the window was left like this.
    pub fn remembering(file: MemoryFile, remembered: Remembered) -> Self {
        let (now, written) = (remembered.clone(), remembered);
        Self { file: Some(file), remembers: true, now, written, ..Self::default() }
    }

    /// What steers this room's window, with what is remembered of its workspace in a person's folder.
    pub fn of(room: &mut OpenRoom, config_folder: Option<PathBuf>) -> Self {
        let mut steering = match &config_folder {
            Some(folder) => {
                let (file, remembered, problems) = MemoryFile::open(folder, room.folder());
                room.notices.extend(problems);
                Self::remembering(file, remembered)
            }
            None => Self::default(),
        };
        let known = config_folder.as_ref().map(|folder| known_workspaces(folder, room.folder()));
        steering.known = known.unwrap_or_default();
        steering.config_folder = config_folder;
        let (drafts, problem) = Drafts::open(room.folder());
        steering.drafts = drafts;
        room.notices.extend(problem);
        steering
    }

    /// Sets the window as it was left.
    pub fn restore(&self, state: &mut UiState) {
        self.now.restore(state);
        state.known_workspaces.clone_from(&self.known);
        state.dates = Dates::here(state.look.dates);
        state.studio.born_ms = crate::log::now_ms();
        state.studio.editors.restore(self.drafts.kept().to_vec());
    }

    /// Another workspace is open: how this one was left is written down, and the other is taken up.
    pub fn move_to(&mut self, room: &mut OpenRoom, state: &mut UiState) {
        let config_folder = self.config_folder.clone();
        self.look_at_drafts(state);
        self.close();
        let size = self.size;
        *self = Self::of(room, config_folder);
        self.size = size;
        state.studio = Studio::default();
        state.dock.close_files();
        self.restore(state);
    }

    /// How the window was left.
    pub fn remembered(&self) -> &Remembered {
        &self.now
    }

    /// Whether something is under way that will have to be shown.
    pub fn is_busy(&self) -> bool {
        self.trial.is_some() || self.pictures_under_way > 0
    }

    /// Before a frame is drawn: what became of things, and from where the scene was seen last.
    pub fn before(&mut self, room: &mut OpenRoom, model: &RoomModel, state: &mut UiState) {
        self.now.restore_view(&model.scene, state);
        self.hear_trial(room, state);
        self.hear_clerk(room, state);
        serve_panes(room, state);
        for refused in std::mem::take(&mut room.recent.refused) {
            tell_refused(refused, model, state);
        }
        let surplus = room.notices.len().saturating_sub(NOTICES_KEPT);
        room.notices.drain(..surplus);
        let is_due = self.looked_secs.is_none_or(|last| state.now_secs - last >= LOOK_SECS);
        if (state.looks_at_providers || self.looked_secs.is_none()) && is_due {
            self.looked_secs = Some(state.now_secs);
            self.look_at_providers(room);
        }
    }

    /// After a frame was drawn: takes in how the window is now, and has it written down when it has settled.
    pub fn after(&mut self, model: &RoomModel, state: &UiState) {
        if let Some(job) = self.drafts.note(&state.studio.editors, state.now_secs)
            && !self.give(job)
        {
            self.drafts.forget_job();
        }
        if !self.remembers {
            return;
        }
        let before = self.now.clone();
        self.now.note(&model.scene, self.size, state);
        if self.now == self.written {
            self.changed = None;
            return;
        }
        let now = state.now_secs;
        let (began, last) = self.changed.unwrap_or((now, now));
        let last = if self.now == before { last } else { now };
        self.changed = Some((began, last));
        if now - last >= SETTLED_SECS || now - began >= AT_MOST_SECS {
            let remembered = self.now.clone();
            if self.give(Job::Remember(Box::new(remembered))) {
                self.written = self.now.clone();
                self.changed = None;
            }
        }
    }

    /// Looks once more what is written into files and not saved. For when the window closes.
    pub fn look_at_drafts(&mut self, state: &UiState) {
        self.drafts.look(&state.studio.editors);
    }

    /// Writes down what is to be remembered and ends what is under way. For when the window closes.
    pub fn close(&mut self) {
        self.trial = None;
        if let Some(job) = self.drafts.last() {
            self.clerk().give_last(job);
        }
        if self.remembers && self.now != self.written {
            self.written = self.now.clone();
            let remembered = Box::new(self.now.clone());
            self.clerk().give_last(Job::Remember(remembered));
        }
        self.clerk = None;
        self.remembers = false;
    }

    /// Does one command of those that steer.
    pub fn perform(
        &mut self,
        context: &Context,
        room: &mut OpenRoom,
        model: &RoomModel,
        state: &mut UiState,
        command: Command,
    ) {
        match command {
            Command::TestProvider(spec) => self.try_out(room, state, &spec),
            Command::KeepKey(name, key) => {
                let Some(environment) = room.world().map(|world| world.resource::<Surroundings>().0.clone()) else {
                    return;
                };
                if !self.give(Job::Key { name, key, environment }) {
                    state.tell("The key was not kept: too much is under way. Try again.", false);
                }
            }
            Command::StopTrial => {
                if let Some(trial) = &self.trial {
                    trial.stop();
                }
            }
            Command::SetProvider(spec) => choose_provider(room, model, state, &spec),
            Command::EndStandIn => {
                room.options.provider = None;
                push(room, StandIn { provider: None });
                state.tell("Settings and agents decide again who answers.", true);
            }
            Command::SetSettings(edit) => set_settings(room, model, state, edit),
            Command::Screenshot(file) => {
                let file = file.map(|file| room.folder().join(file));
                let folder = room.folder().join("pictures");
                let seen = Seen::of(context, model, &room.recent, state);
                let name = if model.scene.is_empty() { "room".to_owned() } else { model.scene.clone() };
                if self.give(Job::Picture { seen: Box::new(seen), file, folder, name }) {
                    self.pictures_under_way += 1;
                } else {
                    state.tell("There are pictures enough under way; wait for them and try again.", false);
                }
            }
            _ => {}
        }
    }

    fn clerk(&mut self) -> &mut Clerk {
        self.clerk.get_or_insert_with(|| Clerk::start(self.file.take()))
    }

    fn give(&mut self, job: Job) -> bool {
        self.clerk().give(job)
    }

    fn try_out(&mut self, room: &mut OpenRoom, state: &mut UiState, spec: &str) {
        let Some(world) = room.world() else { return };
        match Trial::start(world, spec) {
            Ok(trial) => {
                let choice = trial.choice();
                let of = named(&choice.provider, &choice.model);
                state.trial = Some(TrialView { of, since_secs: state.now_secs, outcome: None });
                self.trial = Some(trial);
            }
            Err(problem) => {
                let text = sentence(&problem.what);
                let outcome = TrialOutcome { good: false, text: text.clone(), remedy: sentence(&problem.remedy) };
                state.trial =
                    Some(TrialView { of: spec.to_owned(), since_secs: state.now_secs, outcome: Some(outcome) });
                state.tell_of(format!("{text} {}", sentence(&problem.remedy)), false, place_of(&problem));
            }
        }
    }

    fn hear_trial(&mut self, room: &mut OpenRoom, state: &mut UiState) {
        let Some(tried) = self.trial.as_ref().and_then(Trial::poll) else { return };
        self.trial = None;
        if let Some(world) = room.world() {
            tried.book(world);
        }
        room.is_astir = true;
        let outcome = told(&tried);
        let is_watched = state.looks_at_providers;
        if !is_watched {
            // Whoever asked looks elsewhere by now.
            state.tell_of(format!("{} {}", outcome.text, outcome.remedy).trim(), outcome.good, None);
        }
        let since_secs = state.trial.as_ref().map_or(state.now_secs, |trial| trial.since_secs);
        let of = named(&tried.choice.provider, &tried.choice.model);
        state.trial = Some(TrialView { of, since_secs, outcome: Some(outcome) });
    }

    fn hear_clerk(&mut self, room: &mut OpenRoom, state: &mut UiState) {
        while let Some(news) = self.clerk.as_ref().and_then(Clerk::news) {
            match news {
                News::Providers(providers) => state.providers = providers,
                News::Key(name, kept) => {
                    self.looked_secs = None;
                    match kept {
                        Ok(file) => state.tell(format!("{name} is kept in {}.", file.display()), true),
                        Err(problem) => {
                            let text = format!("{} {}", sentence(&problem.what), sentence(&problem.remedy));
                            state.tell(text, false);
                        }
                    }
                }
                News::NotRemembered(problem) => {
                    if !room.notices.contains(&problem) {
                        room.notices.push(problem);
                    }
                }
                News::Picture(drawn) => {
                    self.pictures_under_way = self.pictures_under_way.saturating_sub(1);
                    match drawn {
                        Ok(file) => {
                            let shown = file.strip_prefix(room.folder()).unwrap_or(&file).display().to_string();
                            let text = format!("A picture was saved: {shown}");
                            state.tell_of(text, true, Some(Place::File(shown, None)));
                        }
                        Err(why) => state.tell(format!("The picture could not be saved: {why}."), false),
                    }
                }
            }
        }
    }

    fn look_at_providers(&mut self, room: &mut OpenRoom) {
        let Some(world) = room.world() else { return };
        let settings = Box::new(world.resource::<GatewaySettings>().clone());
        let environment = world.resource::<Surroundings>().0.clone();
        // Where the clerk has its hands full, the next look will do.
        self.give(Job::Providers { settings, environment });
    }
}

/// Brings panes what they want to see.
fn serve_panes(room: &mut OpenRoom, state: &mut UiState) {
    let OpenRoom { librarian, recent, .. } = room;
    match librarian.serve(&mut state.studio.library, &mut recent.book, state.now_secs) {
        Some((run, Ok(book))) => {
            let log = Recent { book, ..Recent::default() };
            state.studio.shown_run = Some((run, std::sync::Arc::new(log)));
        }
        Some((run, Err(why))) => state.tell(format!("The run {run} cannot be read: {why}"), false),
        None => {}
    }
}

/// The file of a new picture: the first number that is free.
pub(super) fn picture_file(folder: &std::path::Path, name: &str) -> PathBuf {
    let numbered = |number: u32| folder.join(format!("{name}-{number}.png"));
    let free = (1..).map(numbered).find(|file| !file.exists());
    free.expect("there are more numbers than pictures")
}

fn push<T: Input>(room: &mut OpenRoom, input: T) {
    room.is_astir = true;
    if let Some(world) = room.world() {
        world.resource_mut::<Door<T>>().push(input);
    }
}

fn named(provider: &str, model: &str) -> String {
    if provider == model { provider.to_owned() } else { format!("{provider} · {model}") }
}

/// What came of a trial, in words.
fn told(tried: &Tried) -> TrialOutcome {
    let who = named(&tried.choice.provider, &tried.choice.model);
    let took = match tried.duration.as_millis() {
        millis @ 0..10_000 => format!("{millis} ms"),
        millis => words::duration(millis as f64 / 1e3),
    };
    match &tried.outcome {
        Ok(reply) => {
            let said = crate::base::text::truncate(&crate::base::text::one_line(&reply.text), 100);
            let said = if said.is_empty() { "(no words)".to_owned() } else { format!("“{said}”") };
            let cost = match tried.used.cost().known() {
                Some(usd) if usd <= 0.0 => "at no cost".to_owned(),
                _ => words::cost(&tried.used),
            };
            let tokens = words::compact(tried.used.tokens);
            let text = format!("{who} answered after {took}: {said} {tokens} tokens, {cost}.");
            TrialOutcome { good: true, text, remedy: String::new() }
        }
        Err(failure) => {
            let text = format!("{} After {took}.", sentence(&failure.what));
            TrialOutcome { good: false, text, remedy: format!("To do: {}", failure.remedy.trim_end_matches('.')) + "." }
        }
    }
}

/// Who answers from now on: for everyone in this run where somebody stands in, else as the workspace's default.
fn choose_provider(room: &mut OpenRoom, model: &RoomModel, state: &mut UiState, spec: &str) {
    let (provider, wanted) = match parse_spec(spec) {
        Ok(parsed) => parsed,
        Err(problem) => {
            state.tell_of(format!("{} {}", sentence(&problem.what), sentence(&problem.remedy)), false, None);
            return;
        }
    };
    let who = named(&provider, wanted.as_deref().unwrap_or(&provider));
    if model.settings.stand_in.is_some() {
        // Scenes that are opened later in this run begin with it as well.
        room.options.provider = Some(spec.to_owned());
        push(room, StandIn { provider: Some(spec.to_owned()) });
        state.tell(format!("{who} answers for everyone until the workshop is closed."), true);
        return;
    }
    let mut edit = SettingsEdit::set("gateway", "provider", json!(provider));
    match wanted {
        Some(wanted) => drop(edit.keys.insert("model".to_owned(), json!(wanted))),
        None => edit.defaults.push("model".to_owned()),
    }
    push(room, edit);
    tell_setting(model, state, &["gateway.provider", "gateway.model"], format!("{who} answers from now on."));
}

fn set_settings(room: &mut OpenRoom, model: &RoomModel, state: &mut UiState, edit: SettingsEdit) {
    let shown = |value: &serde_json::Value| if value.is_null() { "none".to_owned() } else { value.to_string() };
    let set = edit.keys.iter().map(|(key, value)| (key, format!("is {} now", shown(value))));
    let reset = edit.defaults.iter().map(|key| (key, "is as usual again".to_owned()));
    let told: Vec<(String, String)> =
        set.chain(reset).map(|(key, how)| (format!("{}.{key}", edit.section), how)).collect();
    push(room, edit);
    for (setting, how) in told {
        tell_setting(model, state, &[&setting], format!("{setting} {how}."));
    }
}

/// Says that a setting was written down, or that the scene has the last word on it.
fn tell_setting(model: &RoomModel, state: &mut UiState, settings: &[&str], text: String) {
    let of_scene = |setting: &&&str| {
        let bare = setting.rsplit('.').next().unwrap_or(setting);
        model.settings.of_scene.iter().any(|made| made == **setting || made == bare)
    };
    if let Some(setting) = settings.iter().find(|setting| of_scene(setting)) {
        let scene = format!("scenes/{}.yaml", model.scene);
        let text = format!("It stands in settings.yaml now, but {scene} sets {setting} itself and goes before.");
        state.tell_of(text, false, Some(Place::File(scene, None)));
    } else {
        state.tell_of(text, true, Some(Place::File("settings.yaml".to_owned(), None)));
    }
}

/// Tells what was refused; what a cap forbids is told once for each agent.
fn tell_refused(refused: Refused, model: &RoomModel, state: &mut UiState) {
    if let Some(cap) = &refused.cap {
        // A cap of the run has a card of its own.
        let once = format!("{cap} {}", refused.agent.as_deref().unwrap_or_default());
        if model.cap_name.as_ref() == Some(cap) || !state.put_aside_caps.insert(once) {
            return;
        }
    }
    let thing = refused.agent.map(Thing::Agent).or(refused.element.map(Thing::Element));
    let place = refused.cap.map(|cap| Place::Setting(format!("budget.{cap}"))).or(thing.map(Place::Thing));
    let text = format!("{} {}", sentence(&refused.what), sentence(&refused.remedy));
    state.tell_of(text.trim(), false, place);
}

#[cfg(test)]
#[path = "steering_tests.rs"]
mod tests;
