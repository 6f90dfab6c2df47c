//! The thread that calls models: commands in, events out, both through bounded channels. Every accepted request is
//! answered by exactly one [`GatewayEvent::Finished`], whatever happens.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError, bounded};
use tokio_util::sync::CancellationToken;

use super::failure::{CallTarget, failure};
use super::messages::{GatewayCommand, GatewayEvent, Latency, has_room};
use super::network::Network;
use super::vendor_call::{Call, answer};
use crate::base::{Problem, RequestId};
use crate::gateway::acp::AgentPool;
use crate::gateway::keys::{Environment, Keys};
use crate::gateway::programs::sandbox::attribute_reports::PutBackListener;
use crate::gateway::providers::cooldowns::Cooldowns;
use crate::gateway::providers::provider::{
    ErrorCause, ProviderError, ProviderRequest, SimulatedAnswer, SimulatedError, SimulatedProvider,
};
use crate::gateway::providers::retry::Attempts;
use crate::gateway::settings::{Choice, Terms};
use crate::gateway::trust::followed_trust::{FollowedTrust, TrustCommand};
use crate::mind::{Completion, Effort, FailureKind, ModelFailure, ScriptPlace};

/// The capacity of the command queue: more than the slots of all providers together, so that a simulated request is
/// always accepted in its own tick.
const COMMANDS: usize = 4096;
/// The capacity of the event queue.
const EVENTS: usize = 1024;
/// The interval at which the person's file about the workspace is checked, and, while there are no requests, the file
/// of keys.
const LOOK_AT_FILES: Duration = Duration::from_secs(1);
/// How long the worker may take to stop.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// Creates a simulated provider; the text is the part after its name (`scripted:FILE`), or its name.
pub type MakeSimulated = Arc<dyn Fn(&str) -> Result<Box<dyn SimulatedProvider>, Problem> + Send + Sync>;

/// The factories of simulated providers, by name.
pub type SimulatedFactories = BTreeMap<String, MakeSimulated>;

/// The world's handle of the worker. Dropping it cancels everything and waits at most two seconds.
pub struct Worker {
    commands: Option<Sender<GatewayCommand>>,
    events: Receiver<GatewayEvent>,
    cancel_all: CancellationToken,
    done: Receiver<()>,
    cooldowns: Cooldowns,
}

/// Why a command was not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SendError {
    /// The queue is full: try again in the next tick.
    #[error("the gateway is busy")]
    Full,
    /// The thread has ended.
    #[error("the gateway's thread has ended")]
    Dead,
}

impl Worker {
    /// Starts the thread, with network threads of its own.
    pub fn start(environment: Environment, factories: SimulatedFactories) -> std::io::Result<Self> {
        Self::start_on(Network::default(), environment, factories)
    }

    /// Starts the thread. Nothing else is started before a request needs it.
    pub(in crate::gateway) fn start_on(
        network: Network,
        environment: Environment,
        factories: SimulatedFactories,
    ) -> std::io::Result<Self> {
        let (commands, command_receiver) = bounded(COMMANDS);
        let (event_sender, events) = bounded(EVENTS);
        let (done_sender, done) = bounded(1);
        let cancel_all = CancellationToken::new();
        let rests = Cooldowns::default();
        let put_back = listener(&event_sender);
        let desk = WorkerState {
            events: event_sender,
            cancel_all: cancel_all.clone(),
            cancels: Arc::default(),
            environment,
            network,
            rests: rests.clone(),
            factories,
            simulated: HashMap::new(),
            trust: None,
            agents: AgentPool::telling(put_back),
        };
        // Its network threads outlive it, so what it began there ends with it, even if it panics.
        let ended = cancel_all.clone().drop_guard();
        thread::Builder::new().name("gateway".into()).spawn(move || {
            let _ended = ended;
            desk.work(&command_receiver);
            // The message is dropped if the world no longer exists.
            let _ = done_sender.send(());
        })?;
        Ok(Self { commands: Some(commands), events, cancel_all, done, cooldowns: rests })
    }

    /// Sends a command, without waiting.
    pub fn send(&self, command: GatewayCommand) -> Result<(), SendError> {
        let Some(commands) = &self.commands else { return Err(SendError::Dead) };
        commands.try_send(command).map_err(|error| match error {
            TrySendError::Full(_) => SendError::Full,
            TrySendError::Disconnected(_) => SendError::Dead,
        })
    }

    /// Returns the cooldowns of providers.
    pub(in crate::gateway) fn rests(&self) -> &Cooldowns {
        &self.cooldowns
    }

    /// Returns the next event, if there is one.
    pub fn try_next(&self) -> Option<GatewayEvent> {
        self.events.try_recv().ok()
    }

    /// Whether the thread has ended.
    pub fn is_dead(&self) -> bool {
        !matches!(self.done.try_recv(), Err(TryRecvError::Empty))
    }

    /// Returns the next event or, if the signal comes first, `Some(None)`; `None` if neither comes within `timeout`.
    pub(in crate::gateway) fn next_or_signal(
        &self,
        timeout: Duration,
        signal: &Receiver<()>,
    ) -> Option<Option<GatewayEvent>> {
        crossbeam_channel::select! {
            recv(self.events) -> event => event.ok().map(Some),
            recv(signal) -> _ => Some(None),
            default(timeout) => None,
        }
    }

    /// Returns the next event, waiting at most `timeout`.
    pub fn next(&self, timeout: Duration) -> Option<GatewayEvent> {
        self.events.recv_timeout(timeout).ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.cancel_all.cancel();
        if self.send(GatewayCommand::Shutdown).is_err() {
            tracing::debug!("the gateway's channel is full or closed; it sees the end of the channel instead");
        }
        self.commands = None;
        if self.done.recv_timeout(SHUTDOWN).is_err() {
            tracing::warn!("the gateway did not stop within {} s and was abandoned", SHUTDOWN.as_secs());
        }
    }
}

/// Cancellation tokens of running requests.
pub(in crate::gateway) type Cancels = Arc<Mutex<HashMap<RequestId, CancellationToken>>>;

/// The state of the worker's thread.
struct WorkerState {
    events: Sender<GatewayEvent>,
    cancel_all: CancellationToken,
    cancels: Cancels,
    environment: Environment,
    network: Network,
    rests: Cooldowns,
    factories: SimulatedFactories,
    simulated: HashMap<Choice, Box<dyn SimulatedProvider>>,
    /// The person's file about the workspace, if the room follows it.
    trust: Option<FollowedTrust>,
    /// The running coding agents.
    agents: AgentPool,
}

/// Passes what was put back of guarded files on to the world.
fn listener(events: &Sender<GatewayEvent>) -> PutBackListener {
    let events = events.clone();
    PutBackListener::new(move |report| {
        // The message is dropped if the world no longer exists.
        let _ = events.send(GatewayEvent::PutBack(report));
    })
}

impl WorkerState {
    fn work(mut self, commands: &Receiver<GatewayCommand>) {
        loop {
            let patience = self.look_at_trust();
            let command = match commands.recv_timeout(patience) {
                Ok(command) => command,
                Err(RecvTimeoutError::Timeout) => {
                    // Requests that failed for lack of a key are sent again when there is one, but only on demand.
                    if self.network.keys.has_read() {
                        self.keys();
                    }
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match command {
                GatewayCommand::Complete { id, request, choice, terms } => {
                    if choice.is_simulated() {
                        self.answer_simulated(id, &request, choice, &terms);
                    } else {
                        self.ask_outside(id, *request, choice, *terms);
                    }
                }
                GatewayCommand::Cancel { id } => {
                    let cancels = self.cancels.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(cancel) = cancels.get(&id) {
                        cancel.cancel();
                    }
                }
                GatewayCommand::Trust(command) => self.take_trust(command),
                GatewayCommand::WorkOver { work } => {
                    if let Ok(threads) = self.runtime() {
                        self.agents.end_work(&threads, &work);
                    }
                }
                GatewayCommand::Shutdown => break,
            }
        }
        self.cancel_all.cancel();
        if let Ok(threads) = self.runtime() {
            self.agents.shut_down(&threads);
        }
    }

    fn answer_simulated(&mut self, id: RequestId, request: &ProviderRequest, choice: Choice, terms: &Terms) {
        let failed = |attempts, failure| Simulated { outcome: Err(failure), latency_secs: 0.0, attempts, script: None };
        let simulated = match self.simulated_provider(&choice) {
            Ok(provider) => {
                let tried = catch_unwind(AssertUnwindSafe(|| simulate(provider.as_mut(), request, &choice, terms)));
                tried.unwrap_or_else(|_| {
                    // After a panic, the provider may be in an invalid state: the next request gets a new one.
                    self.simulated.remove(&choice);
                    let error = ProviderError::new(ErrorCause::Panicked, "");
                    failed(1, simulated_failure(&error, &choice, 1))
                })
            }
            Err(problem) => {
                let what = format!("{} cannot be started: {}", choice.provider, problem.what);
                failed(0, ModelFailure::new(FailureKind::Rejected, what, problem.remedy))
            }
        };
        let Simulated { outcome, latency_secs, attempts, script } = simulated;
        let latency = Latency::Simulated(latency_secs);
        let effort = Effort { attempts, ..Effort::default() };
        self.finish(GatewayEvent::Finished { id, outcome, latency, effort, script });
    }

    fn simulated_provider(&mut self, choice: &Choice) -> Result<&mut Box<dyn SimulatedProvider>, Problem> {
        if !self.simulated.contains_key(choice) {
            let Some(make) = self.factories.get(&choice.provider) else {
                let what = format!("there is no provider {:?} in this build", choice.provider);
                return Err(Problem::error("gateway.provider", what, "choose another provider"));
            };
            let made = catch_unwind(AssertUnwindSafe(|| make(&choice.model))).unwrap_or_else(|_| {
                Err(Problem::error("gateway.provider", "it crashed while starting", "choose another provider"))
            })?;
            self.simulated.insert(choice.clone(), made);
        }
        Ok(self.simulated.get_mut(choice).expect("it was put there just now if it was not there"))
    }

    fn ask_outside(&mut self, id: RequestId, request: ProviderRequest, choice: Choice, terms: Terms) {
        let keys = self.keys();
        let begun = Instant::now();
        let cancel = self.cancel_all.child_token();
        self.cancels.lock().unwrap_or_else(PoisonError::into_inner).insert(id, cancel.clone());
        let environment = self.environment.clone();
        let (rests, agents, events) = (self.rests.clone(), self.agents.clone(), self.events.clone());
        let call = Call { id, request, choice, terms, keys, environment, cancel, rests, agents, events };
        match self.runtime() {
            Ok(runtime) => {
                let (cancels, events) = (self.cancels.clone(), self.events.clone());
                runtime.spawn(async move {
                    let (outcome, effort) = answer(call).await;
                    cancels.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
                    let latency = Latency::Outside(u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX));
                    // The message is dropped if the world no longer exists.
                    let _ = events.send(GatewayEvent::Finished { id, outcome, latency, effort, script: None });
                });
            }
            Err(error) => {
                self.cancels.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
                let what = format!("the network is not available: {error}");
                let remedy = "free some memory or threads and try again";
                let failure = ModelFailure::new(FailureKind::Unavailable, what, remedy);
                self.finish(GatewayEvent::Finished {
                    id,
                    outcome: Err(failure),
                    latency: Latency::Outside(0),
                    effort: Effort::default(),
                    script: None,
                });
            }
        }
    }

    /// Reports what the person trusts if their file has changed, as often as it is checked. Returns how long to wait for
    /// commands.
    fn look_at_trust(&mut self) -> Duration {
        let Some(followed) = &mut self.trust else { return LOOK_AT_FILES };
        if followed.due_in(LOOK_AT_FILES).is_zero() {
            if !has_room(&self.events) {
                followed.put_off();
            } else if let Some(trust) = followed.look() {
                self.finish(GatewayEvent::TrustRead(trust));
            }
        }
        self.trust.as_ref().map_or(LOOK_AT_FILES, |followed| followed.due_in(LOOK_AT_FILES))
    }

    /// Follows the person's file about the workspace, or adds to it.
    fn take_trust(&mut self, command: TrustCommand) {
        match command {
            TrustCommand::Follow(file) => self.trust = Some(FollowedTrust::new(file)),
            TrustCommand::Add(added) => {
                if let Some(trust) = self.trust.as_mut().and_then(|followed| followed.add(&added)) {
                    self.finish(GatewayEvent::TrustRead(trust));
                }
            }
        }
    }

    fn runtime(&self) -> std::io::Result<tokio::runtime::Handle> {
        self.network.runtime.handle()
    }

    /// Returns the keys, read again if a person has changed their file.
    fn keys(&mut self) -> Arc<Keys> {
        let (keys, environment) = self.network.keys.read(&self.environment);
        self.environment = environment;
        keys
    }

    fn finish(&self, event: GatewayEvent) {
        // The message is dropped if the world no longer exists.
        let _ = self.events.send(event);
    }
}

/// The result of calling a simulated provider.
struct Simulated {
    outcome: Result<Completion, ModelFailure>,
    latency_secs: f32,
    attempts: u32,
    script: Option<ScriptPlace>,
}

/// Calls a simulated provider like a real one: temporary errors are retried, and every wait is added to the simulated
/// latency.
fn simulate(
    provider: &mut dyn SimulatedProvider,
    request: &ProviderRequest,
    choice: &Choice,
    terms: &Terms,
) -> Simulated {
    let total = terms.total.as_secs_f32();
    let mut latency_secs = 0.0;
    let mut tries = Attempts::default();
    let mut request = Cow::Borrowed(request);
    let mut script = None;
    loop {
        let SimulatedAnswer { outcome, latency_secs: took, script: place } = provider.answer(&request);
        if place.is_some() {
            script.clone_from(&place);
            if request.script.is_some() {
                request.to_mut().script = place;
            }
        }
        latency_secs += if took.is_finite() { took.max(0.0) } else { total };
        if latency_secs > total {
            let error = ProviderError::new(ErrorCause::TooLong(total as u32), "");
            let attempts = tries.made + 1;
            let outcome = Err(simulated_failure(&error, choice, attempts));
            return Simulated { outcome, latency_secs: total, attempts, script };
        }
        let error = match outcome {
            Ok(completion) => {
                return Simulated { outcome: Ok(completion), latency_secs, attempts: tries.made + 1, script };
            }
            Err(error) => error,
        };
        let SimulatedError { status, retry_after_secs, message } = error;
        let cause = ErrorCause::Status { status, retry_after_secs: retry_after_secs.map(f64::from) };
        // The seed replaces randomness: the same request has the same waits each time.
        let jitter = (request.seed.wrapping_add(u64::from(tries.made)) % 1000) as f64 / 1000.0;
        match terms.retry.next_delay_secs(cause, false, &mut tries, (0.0, jitter)) {
            Some(wait_secs) => latency_secs += wait_secs as f32,
            None => {
                let error = ProviderError::new(cause, message);
                let failure = simulated_failure(&error, choice, tries.made);
                let outcome = Err(ModelFailure { is_final: tries.made >= terms.retry.attempts, ..failure });
                return Simulated { outcome, latency_secs, attempts: tries.made, script };
            }
        }
    }
}

fn simulated_failure(error: &ProviderError, choice: &Choice, tries: u32) -> ModelFailure {
    let (provider, model) = (choice.provider.as_str(), choice.model.as_str());
    let place =
        CallTarget { provider, model, base_url: "", key_name: None, key_file: "", withheld: None, how_to_allow: "" };
    failure(error, place, tries, &Keys::default())
}
