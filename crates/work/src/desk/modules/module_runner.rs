//! Runs the modules of the agents in the room, outside the world. Modules are loaded when their agent arrives or one
//! of their files changes, and ended when the agent leaves or the room is closed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use crossbeam_channel::{Receiver, bounded};

use super::agent_modules::{ANSWER_WITHIN, MissingTexts, ModuleOutput, OpenModules};
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
use crate::schedule::{InputJournal, InputQueue, RoomDate, SimClock};
use crate::tools::document_runtime::DocumentRunner;
use crate::tools::{CallAnswered, OrderKey, OrderOutcome, OrderReport, PendingToolOrders, Work};
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

/// The modules of all agents. Not saved, because they are loaded again when a room is reopened.
#[derive(Resource, Default)]
pub(in crate::desk) struct RunningModules {
    /// The hash of the code and the loading state, by profile.
    all: BTreeMap<Id, (u64, LoadState)>,
    /// The modules that are being ended.
    ending: Vec<OpenModules>,
    /// Work that waits for the prompt texts of modules.
    awaited: BTreeMap<ActivationKey, AwaitedTexts>,
    /// Profiles whose modules could not be started to load.
    unstarted: BTreeSet<Id>,
    programs: Arc<ProgramCache>,
    /// The calls that were started by this process.
    begun: BTreeSet<OrderKey>,
    has_looked: bool,
}

/// The parts of the room that the runner reads.
#[derive(SystemParam)]
pub(in crate::desk) struct RoomView<'w, 's> {
    sources: ModuleSources<'w, 's>,
    clock: Res<'w, SimClock>,
    date: Res<'w, RoomDate>,
    under_way: Res<'w, PendingToolOrders>,
    journal: Res<'w, InputJournal>,
    words: Res<'w, PromptAdditions>,
    surroundings: Option<Res<'w, GatewayEnvironment>>,
}

/// Loads and ends modules, forwards their messages, and passes calls to them.
pub(in crate::desk) fn run(
    room: RoomView,
    mut changes: MessageReader<FileChanged>,
    (mut answered, mut prompted): (MessageReader<CallAnswered>, MessageReader<PromptAnswered>),
    (mut reports, mut outcomes): (ResMut<InputQueue<ModulesReported>>, ResMut<InputQueue<OrderOutcome>>),
    mut loading: ResMut<ModulesLoading>,
    mut running: ResMut<RunningModules>,
) {
    if room.journal.is_replaying() {
        return;
    }
    let running = &mut *running;
    // All changes have to be read, not only the first one.
    let has_changed = changes.read().filter(|change| change.path.ends_with(".ts")).count() > 0;
    let is_first = !running.has_looked;
    let sources = &room.sources;
    let is_other_trust = sources.trust.as_ref().is_some_and(|trust| trust.is_changed());
    let is_other_room = is_other_trust || sources.roster.is_changed() || sources.profiles.is_changed();
    if is_first || has_changed || is_other_room || !running.unstarted.is_empty() {
        room.load(running);
    }
    for CallAnswered { key, number, answer } in answered.read() {
        running.open().for_each(|modules| modules.send_answer(*key, *number, answer));
    }
    for PromptAnswered { profile, module, number, answer } in prompted.read() {
        if let Some((_, LoadState::Open(modules))) = running.all.get_mut(profile) {
            modules.answer_prompt(module, *number, answer);
        }
    }
    running.take_loaded();
    let mut outputs: Vec<ModuleOutput> = running.ending.iter_mut().flat_map(OpenModules::take_messages).collect();
    outputs.extend(running.open().flat_map(OpenModules::take_messages));
    running.ending.retain(|modules| !modules.has_ended());
    for output in outputs {
        match output {
            ModuleOutput::Report(news) => reports.push(news),
            ModuleOutput::Outcome(key, news) => {
                if news.is_final() {
                    running.begun.remove(&key);
                }
                outcomes.push(OrderOutcome { key, news });
            }
        }
    }
    running.request_prompt_texts(&room.words, &mut reports);
    running.all.retain(|profile, (_, loaded)| {
        let is_gone = matches!(loaded, LoadState::Gone);
        if is_gone {
            reports.push(ModulesReported::Are { profile: profile.clone(), modules: Vec::new(), problems: Vec::new() });
        }
        !is_gone
    });
    running.order(&room.under_way, &mut outcomes);
    loading.set_if_neq(ModulesLoading(running.is_loading()));
}

impl RunningModules {
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

    fn end(&mut self, loaded: LoadState) {
        if let LoadState::Open(mut modules) = loaded {
            modules.end();
            self.ending.push(*modules);
        }
    }

    /// Passes calls to modules, and fails calls that can no longer be executed.
    fn order(&mut self, under_way: &PendingToolOrders, outcomes: &mut InputQueue<OrderOutcome>) {
        let is_first_look = !std::mem::replace(&mut self.has_looked, true);
        self.begun.retain(|key| under_way.get(*key).is_some());
        for order in under_way.of(MODULES) {
            let is_answered = outcomes.waiting().any(|outcome| outcome.key == order.key && outcome.news.is_final());
            if is_answered {
                continue;
            }
            if self.begun.contains(&order.key) {
                let is_held = self.open().any(|modules| modules.has(order.key));
                if !is_held {
                    let why = "its module was reloaded during this call".to_owned();
                    outcomes.push(OrderOutcome { key: order.key, news: OrderReport::Aborted { why } });
                }
                continue;
            }
            let read = match &order.plan.work {
                Work::Order { order } => serde_json::from_value::<ModuleCall>(order.clone()).ok(),
                _ => None,
            };
            let news = match read {
                None => OrderReport::unparseable(),
                // The memory of the module is lost, and the effect of the call is unknown.
                Some(_) if is_first_look => {
                    OrderReport::Aborted { why: "the workshop was stopped during this call of a module".to_owned() }
                }
                Some(call) => match self.all.get_mut(&call.profile).map(|(_, loaded)| loaded) {
                    Some(LoadState::Reading(_)) => continue,
                    Some(LoadState::Open(modules)) => match modules.call(order.key, &call) {
                        None => continue,
                        Some(Ok(())) => {
                            self.begun.insert(order.key);
                            continue;
                        }
                        Some(Err(why)) => OrderReport::Failed { why },
                    },
                    _ => OrderReport::Failed { why: format!("the module {} no longer exists", call.module) },
                },
            };
            outcomes.push(OrderOutcome { key: order.key, news });
        }
    }
}

impl RoomView<'_, '_> {
    /// Loads new and changed modules of agents in the room, and ends those of other agents.
    fn load(&self, running: &mut RunningModules) {
        let wanted = self.sources.wanted();
        running.unstarted.retain(|profile| wanted.contains_key(profile));
        let gone: Vec<Id> = running.all.keys().filter(|profile| !wanted.contains_key(*profile)).cloned().collect();
        for profile in gone {
            if let Some((_, loaded)) = running.all.insert(profile, (0, LoadState::Gone)) {
                running.end(loaded);
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
                running.end(before);
            }
        }
    }

    fn workspace(&self) -> Option<PathBuf> {
        self.surroundings.as_ref()?.0.workspace().map(PathBuf::from)
    }
}

/// Ends all modules of a room that is being closed and logs their last lines. It waits no longer than `within` for
/// them.
pub fn stop_all(world: &mut World, within: Duration) {
    let Some(mut running) = world.get_resource_mut::<RunningModules>() else { return };
    let RunningModules { all, mut ending, .. } = std::mem::take(&mut *running);
    for (_, loaded) in all.into_values() {
        if let LoadState::Open(mut modules) = loaded {
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
