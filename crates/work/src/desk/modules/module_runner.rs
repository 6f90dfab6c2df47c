//! Runs the modules of the agents in the room, outside the world. Modules are loaded when their agent arrives or one
//! of their files changes, and ended when the agent leaves or the room is closed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy::app::App;
use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use crossbeam_channel::{Receiver, bounded};

use super::agent_modules::{ANSWER_WITHIN, HeldCall, MissingTexts, ModuleOutput, OpenModules};
use super::module_messages::draft_of;
use super::wanted_modules::{FOLDER, ModuleSources, Wanted, is_code_trusted};
use super::{MODULES, ModuleCall, ModuleLogged, ModulesLoading, ModulesReported, PromptAnswered, path_of};
use crate::agent::Agent;
use crate::base::hash::content_hash;
use crate::base::{ActivationKey, Id};
use crate::engine::ProgramCache;
use crate::gateway::GatewayEnvironment;
use crate::log::EventLog;
use crate::mind::PromptAdditions;
use crate::modules::{ModuleFolder, ModuleOptions, ModuleSet, may_be_imported};
use crate::schedule::outside::{OutsideDriver, OutsideExt, Received, Start};
use crate::schedule::{InputQueue, RoomDate, SimClock};
use crate::tools::document_runtime::DocumentRunner;
use crate::tools::executor::{ToolExecutor, ToolOutside, ToolReporter};
use crate::tools::{CallAnswered, OrderKey, OrderReport, ToolOrder};
use crate::workspace::FileChanged;
use crate::workspace::layout::read_below;

/// The interval for polling modules while a room waits for them to end.
const LOOKS_EVERY: Duration = Duration::from_millis(2);

/// The loading state of an agent's modules.
enum LoadState {
    /// The files are being read on a separate thread.
    Reading(Receiver<(String, ModuleFolder, ModuleSet)>),
    /// The modules are running.
    Open(Box<OpenModules>),
    /// There are no modules left, but the world has not been notified yet.
    Gone,
}

/// The wait of a piece of work for the prompt texts of modules.
struct AwaitedTexts {
    until: Instant,
    /// Whether the world was told that the work can continue.
    is_over: bool,
}

/// The modules of all agents, and the calls of their tools. Not saved, because modules are loaded again when a room is
/// reopened.
#[derive(Default)]
pub(super) struct ModuleRunner {
    /// The hash of the code and the loading state, by profile.
    all: BTreeMap<Id, (u64, LoadState)>,
    /// The modules that are being ended.
    ending: Vec<OpenModules>,
    /// Work that waits for the prompt texts of modules.
    awaited: BTreeMap<ActivationKey, AwaitedTexts>,
    /// Profiles whose modules could not be started to load.
    unstarted: BTreeSet<Id>,
    programs: Arc<ProgramCache>,
    /// Whether this process has looked for modules to load.
    has_loaded: bool,
}

/// The parts of the room that the runner reads.
#[derive(SystemParam)]
pub(super) struct RoomView<'w, 's> {
    sources: ModuleSources<'w, 's>,
    clock: Res<'w, SimClock>,
    date: Res<'w, RoomDate>,
    words: Res<'w, PromptAdditions>,
    surroundings: Option<Res<'w, GatewayEnvironment>>,
}

/// The room, what it says to modules, and what they say to it.
#[derive(SystemParam)]
pub(super) struct ModuleRoom<'w, 's> {
    room: RoomView<'w, 's>,
    changes: MessageReader<'w, 's, FileChanged>,
    answered: MessageReader<'w, 's, CallAnswered>,
    prompted: MessageReader<'w, 's, PromptAnswered>,
    reports: ResMut<'w, InputQueue<ModulesReported>>,
    loading: ResMut<'w, ModulesLoading>,
}

/// Registers the runner. It runs outside of the world, with the executors of tools.
pub(in crate::desk) fn add_runner(app: &mut App) {
    app.add_outside(ToolOutside(ModuleRunner::default()));
}

impl ToolExecutor for ModuleRunner {
    const NAME: &'static str = MODULES;
    // Each module has a bounded queue of its own.
    const MAX_RUNNING: usize = usize::MAX;
    // Modules are polled in each tick.
    const TAKES_REAL_TIME: bool = false;

    type Order = ModuleCall;
    type Report = OrderReport;
    type World = ModuleRoom<'static, 'static>;

    /// Loads and ends modules, and forwards their messages.
    fn poll(&mut self, world: &mut ModuleRoom<'_, '_>) -> Vec<(OrderKey, OrderReport)> {
        let mut calls = self.load_changed(world);
        for CallAnswered { key, number, answer } in world.answered.read() {
            self.open().for_each(|modules| modules.send_answer(*key, *number, answer));
        }
        for PromptAnswered { profile, module, number, answer } in world.prompted.read() {
            if let Some((_, LoadState::Open(modules))) = self.all.get_mut(profile) {
                modules.answer_prompt(module, *number, answer);
            }
        }
        self.take_loaded();
        let mut outputs: Vec<ModuleOutput> = self.ending.iter_mut().flat_map(OpenModules::take_messages).collect();
        outputs.extend(self.open().flat_map(OpenModules::take_messages));
        self.ending.retain(|modules| !modules.has_ended());
        for output in outputs {
            match output {
                ModuleOutput::Report(report) => world.reports.push(report),
                ModuleOutput::Outcome(key, report) => calls.push((key, report)),
            }
        }
        self.request_prompt_texts(&world.room.words, &mut world.reports);
        self.report_gone(&mut world.reports);
        world.loading.set_if_neq(ModulesLoading(self.is_loading()));
        calls
    }

    fn interrupted(&mut self, _: OrderKey, _: &ModuleCall) -> Option<String> {
        // The memory of the module is lost, and the effect of the call is unknown.
        Some("the workshop was stopped during this call of a module".to_owned())
    }

    /// Passes a call to its module.
    fn start(
        &mut self,
        order: &ToolOrder,
        call: ModuleCall,
        _: &mut ModuleRoom<'_, '_>,
        reporter: ToolReporter<Self>,
    ) -> Start<OrderReport> {
        let result = match self.all.get_mut(&call.profile).map(|(_, loaded)| loaded) {
            Some(LoadState::Reading(_)) => None,
            Some(LoadState::Open(modules)) => modules.call(&call, HeldCall::new(order.key, reporter)),
            Some(LoadState::Gone) | None => Some(Err(format!("the module {} no longer exists", call.module))),
        };
        match result {
            None => Start::NotYet,
            Some(Ok(())) => Start::Started,
            Some(Err(why)) => Start::Ended(OrderReport::Failed { why }),
        }
    }

    fn cancel(&mut self, key: OrderKey, _: &mut ModuleRoom<'_, '_>) {
        self.open().for_each(|modules| modules.withdraw(key));
    }

    fn receive(&mut self, _: OrderKey, report: OrderReport, _: &mut ModuleRoom<'_, '_>) -> Received<OrderReport> {
        Received::Answer(report)
    }
}

impl ModuleRunner {
    fn open(&mut self) -> impl Iterator<Item = &mut OpenModules> {
        self.all.values_mut().filter_map(|(_, loaded)| match loaded {
            LoadState::Open(modules) => Some(&mut **modules),
            _ => None,
        })
    }

    fn is_loading(&self) -> bool {
        self.all.values().any(|(_, loaded)| match loaded {
            LoadState::Reading(_) => true,
            LoadState::Open(modules) => modules.is_loading(),
            LoadState::Gone => false,
        })
    }

    /// Loads and ends modules if something changed on which that depends. Returns the reports on calls that ended with
    /// their module.
    fn load_changed(&mut self, world: &mut ModuleRoom<'_, '_>) -> Vec<(OrderKey, OrderReport)> {
        // All changes have to be read, not only the first one.
        let has_changed = world.changes.read().filter(|change| change.path.ends_with(".ts")).count() > 0;
        let room = &world.room;
        let is_first = !std::mem::replace(&mut self.has_loaded, true);
        let sources = &room.sources;
        let is_other_trust = sources.trust.as_ref().is_some_and(|trust| trust.is_changed());
        let is_other_room = is_other_trust || sources.roster.is_changed() || sources.profiles.is_changed();
        if is_first || has_changed || is_other_room || !self.unstarted.is_empty() {
            room.load(self)
        } else {
            Vec::new()
        }
    }

    /// Takes over modules whose files have been read.
    fn take_loaded(&mut self) {
        for (profile, (_, loaded)) in &mut self.all {
            let LoadState::Reading(read) = loaded else { continue };
            if let Ok((home, folder, set)) = read.try_recv() {
                *loaded = LoadState::Open(Box::new(OpenModules::new(profile.clone(), home, &folder, set)));
            }
        }
    }

    /// Requests prompt texts for work that begins. The work continues once the modules have been loaded and have
    /// answered, if there are none, or if they take too long, which is reported.
    fn request_prompt_texts(&mut self, words: &PromptAdditions, reports: &mut InputQueue<ModulesReported>) {
        self.awaited.retain(|work, _| words.is_awaited(*work));
        self.open().for_each(|modules| modules.drop_waits(|work| !words.is_awaited(work)));
        let now = Instant::now();
        for (work, profile) in words.awaited() {
            let waits = self.awaited.entry(work).or_insert(AwaitedTexts { until: now + ANSWER_WITHIN, is_over: false });
            if waits.is_over {
                continue;
            }
            let unread = || MissingTexts { awaited: vec![FOLDER.to_owned()], ..MissingTexts::default() };
            let missing = match self.all.get_mut(profile).map(|(_, loaded)| loaded) {
                Some(LoadState::Open(modules)) => modules.missing_prompt_texts(work),
                Some(LoadState::Reading(_)) => unread(),
                None if self.unstarted.contains(profile) => unread(),
                Some(LoadState::Gone) | None => MissingTexts::default(),
            };
            if missing.awaited.is_empty() || now > waits.until {
                waits.is_over = true;
                let modules: Vec<String> = missing.awaited.into_iter().chain(missing.blocked).collect();
                if !modules.is_empty() {
                    reports.push(ModulesReported::Late { profile: profile.clone(), modules });
                }
                reports.push(ModulesReported::Asked { work });
            }
        }
    }

    /// Reports the agents that have no modules left.
    fn report_gone(&mut self, reports: &mut InputQueue<ModulesReported>) {
        for (profile, _) in self.all.extract_if(.., |_, (_, loaded)| matches!(loaded, LoadState::Gone)) {
            reports.push(ModulesReported::Are { profile, modules: Vec::new(), problems: Vec::new() });
        }
    }

    /// Ends modules. Returns the reports on their calls.
    fn end(&mut self, loaded: LoadState) -> Vec<(OrderKey, OrderReport)> {
        let LoadState::Open(mut modules) = loaded else { return Vec::new() };
        let calls = modules.end();
        self.ending.push(*modules);
        let why = "its module was reloaded during this call";
        calls.into_iter().map(|key| (key, OrderReport::Aborted { why: why.to_owned() })).collect()
    }
}

impl RoomView<'_, '_> {
    /// Loads new and changed modules of agents in the room, and ends those of other agents. Returns the reports on calls
    /// that ended with their module.
    fn load(&self, running: &mut ModuleRunner) -> Vec<(OrderKey, OrderReport)> {
        let mut calls = Vec::new();
        let wanted = self.sources.wanted();
        running.unstarted.retain(|profile| wanted.contains_key(profile));
        let gone: Vec<Id> = running.all.keys().filter(|profile| !wanted.contains_key(*profile)).cloned().collect();
        for profile in gone {
            if let Some((_, loaded)) = running.all.insert(profile, (0, LoadState::Gone)) {
                calls.extend(running.end(loaded));
            }
        }
        for (profile, Wanted { home, files, hash }) in wanted {
            if running.all.get(&profile).is_some_and(|(known, _)| *known == hash) {
                continue;
            }
            let options = ModuleOptions {
                agent_dir: home.clone(),
                seed: content_hash(profile.as_bytes()),
                now_unix_ms: self.date.secs(&self.clock).unwrap_or(0).saturating_mul(1000),
                limits: DocumentRunner::limits(),
            };
            let (read_in, read) = bounded(1);
            let programs = running.programs.clone();
            let root = self.workspace();
            let trust = self.sources.trust.as_deref().cloned().unwrap_or_default();
            let reading = move || {
                let texts = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
                // A link must not lead to a file that a path could not name.
                let other = |path: &str| {
                    let (real, text) = read_below(root.as_deref()?, &home, path)?;
                    let is_trusted = is_code_trusted(&trust, &path_of(&home, &real), &text);
                    (may_be_imported(&real) && is_trusted).then_some(text)
                };
                let folder = ModuleFolder::read(texts, other, &programs, &options.limits);
                let set = ModuleSet::load(&folder, &options);
                // The receiver is gone if the room was closed meanwhile.
                let _ = read_in.send((home, folder, set));
            };
            let loaded = match std::thread::Builder::new().name("modules".to_owned()).spawn(reading) {
                Ok(_) => LoadState::Reading(read),
                // The computer may have a thread to spare in a moment.
                Err(error) => {
                    tracing::warn!("the modules of {profile} are not loaded yet: no thread can be started: {error}");
                    running.unstarted.insert(profile);
                    continue;
                }
            };
            running.unstarted.remove(&profile);
            if let Some((_, before)) = running.all.insert(profile, (hash, loaded)) {
                calls.extend(running.end(before));
            }
        }
        calls
    }

    fn workspace(&self) -> Option<PathBuf> {
        self.surroundings.as_ref()?.0.workspace().map(PathBuf::from)
    }
}

/// Ends all modules of a room that is being closed and logs their last lines. It waits no longer than `within` for
/// them.
pub fn stop_all(world: &mut World, within: Duration) {
    let Some(mut driver) = world.get_resource_mut::<OutsideDriver<ToolOutside<ModuleRunner>>>() else { return };
    let ModuleRunner { all, mut ending, .. } = std::mem::take(&mut driver.outside_mut().0);
    for (_, loaded) in all.into_values() {
        if let LoadState::Open(mut modules) = loaded {
            // Their calls are answered when the room is opened again.
            modules.end();
            ending.push(*modules);
        }
    }
    let until = Instant::now() + within;
    while !ending.is_empty() {
        for output in ending.iter_mut().flat_map(OpenModules::take_messages) {
            if let ModuleOutput::Report(ModulesReported::Logged { profile, line }) = output {
                write_line(world, &profile, &line);
            }
        }
        ending.retain(|modules| !modules.has_ended());
        if Instant::now() > until {
            tracing::warn!("some modules did not stop in time while the room was closed");
            return;
        }
        std::thread::park_timeout(LOOKS_EVERY);
    }
}

/// Logs a line of a module, attributed to the agent with this profile.
fn write_line(world: &mut World, profile: &Id, line: &ModuleLogged) {
    let mut agents = world.query::<&Agent>();
    let agent = agents.iter(world).filter(|agent| agent.profile == *profile).map(|agent| agent.id.clone()).min();
    if let Some(mut log) = world.get_resource_mut::<EventLog>() {
        log.write(draft_of(line, agent.as_ref()));
    }
}
