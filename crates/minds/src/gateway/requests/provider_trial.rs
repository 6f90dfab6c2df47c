//! Tests a provider with one tiny request, sent like those of agents but outside the room and its time. Its usage is
//! reported to the room afterwards, so that the ledger stays correct; the result is for the person.

use std::time::{Duration, Instant};

use bevy::ecs::world::World;

use super::dispatch::{GatewayEnvironment, SimulatedProviders};
use super::request_queue::{RequestQueue, tally, used};
use super::user_overrides::TrialUsed;
use crate::base::{JobControl, Problem, RequestId};
use crate::gateway::acp::{self, AcpSettings, AcpTerms};
use crate::gateway::keys::Environment;
use crate::gateway::limits::budget::BudgetSettings;
use crate::gateway::limits::ledger::{BudgetClock, Reservation, Tally};
use crate::gateway::limits::prices::{PriceSettings, Rate, rate};
use crate::gateway::providers::address::ServerOwner;
use crate::gateway::providers::provider::ProviderRequest;
use crate::gateway::providers::retry::RetryPolicy;
use crate::gateway::settings::{Choice, GatewaySettings, Terms};
use crate::gateway::worker::messages::{GatewayCommand, GatewayEvent, Latency};
use crate::gateway::worker::{SimulatedFactories, Worker};
use crate::log::now_ms;
use crate::mind::{CallKind, Completion, Effort, FailureKind, ModelFailure, Prompt, PromptMessage, Role};
use crate::schedule::InputQueue;

/// The time limit of an answer, in real time.
const MAX_ANSWER: Duration = Duration::from_secs(30);
/// The maximum silence of the server.
const MAX_SILENCE: Duration = Duration::from_secs(20);
/// The maximum number of output tokens: enough for a word after a model's reasoning.
const MAX_TOKENS: u32 = 64;
/// The interval at which cancellation is checked.
const LOOK: Duration = Duration::from_millis(25);
/// The id of the only request.
const QUESTION: RequestId = RequestId(1);

/// A prepared test request. It is sent on the thread that [runs](Self::run) it: never on the UI thread.
#[derive(Clone)]
pub struct ProviderTrial {
    choice: Choice,
    request: ProviderRequest,
    terms: Terms,
    site: ServerOwner,
    rate: Rate,
    environment: Environment,
    factories: SimulatedFactories,
}

/// The result of a test.
#[derive(Clone, PartialEq, Debug)]
pub struct TrialResult {
    /// The provider and the model.
    pub choice: Choice,
    /// The reply, or the failure with its remedy.
    pub outcome: Result<Completion, ModelFailure>,
    /// How long it took.
    pub duration: Duration,
    /// The usage: estimated if the actual one is unknown.
    pub used: Tally,
    /// Whether the model is on this computer or its network.
    pub is_local: bool,
}

impl ProviderTrial {
    /// Prepares a test of this provider (`openai:gpt-x`, `offline`, `scripted:FILE`), unless a limit forbids it.
    pub fn of(world: &World, spec: &str) -> Result<Self, Problem> {
        let settings = world.resource::<GatewaySettings>();
        let choice = settings.choose(Some(spec), None)?;
        let request = request(&choice);
        let questions = world.resource::<RequestQueue>();
        let of_room = world.resource::<BudgetSettings>().caps_of_room();
        let site = settings.server_owner(&choice.provider, &questions.sites);
        let rate = rate(&choice, site, world.resource::<PriceSettings>());
        if let Some(refusal) = questions.ledger.would_refuse(&reservation(&choice, &request, (site, rate)), &of_room) {
            let place = format!("budget.{}", refusal.cap.name);
            let what = format!("{} was not called: {}", choice.provider, refusal.description());
            return Err(Problem::error(place, what, refusal.remedy()));
        }
        let environment = world.resource::<GatewayEnvironment>().0.clone();
        let factories = world.resource::<SimulatedProviders>().0.clone();
        let terms = terms(&choice, settings, world.resource::<AcpSettings>());
        Ok(Self { choice, request, terms, site, rate, environment, factories })
    }

    /// Sends the request and waits for the result. If it is cancelled, it ends soon, and its usage so far is reported
    /// as well.
    pub fn run(&self, control: &JobControl) -> TrialResult {
        let began = Instant::now();
        let most = self.request.most();
        let (outcome, latency, effort) = ask_worker(self, control);
        let duration = match latency {
            Some(Latency::Simulated(secs)) => Duration::from_secs_f32(secs.clamp(0.0, 3600.0)),
            Some(Latency::Outside(millis)) => Duration::from_millis(millis),
            None => began.elapsed(),
        };
        let used = used(&self.choice, &outcome, effort, most).tally(self.rate);
        TrialResult { choice: self.choice.clone(), outcome, duration, used, is_local: self.site == ServerOwner::Local }
    }

    /// Returns the provider and the model.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }
}

impl TrialResult {
    /// Reports the usage to the room, with the next tick.
    pub fn book(&self, world: &mut World) {
        let used = TrialUsed {
            provider: self.choice.provider.clone(),
            model: self.choice.model.clone(),
            timekeeping: timekeeping(&self.choice),
            duration_ms: u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
            used: self.used,
            is_local: self.is_local,
            failure: self.outcome.as_ref().err().map(|failure| failure.what.clone()),
            cause: self.outcome.as_ref().err().cloned(),
            at_ms: Some(now_ms()),
        };
        world.resource_mut::<InputQueue<TrialUsed>>().push(used);
    }
}

fn timekeeping(choice: &Choice) -> BudgetClock {
    if choice.is_simulated() { BudgetClock::Simulated } else { BudgetClock::Outside }
}

fn request(choice: &Choice) -> ProviderRequest {
    ProviderRequest {
        agent: "user".to_owned(),
        profile: "trial".to_owned(),
        kind: CallKind::Task,
        model: choice.model.clone(),
        prompt: Prompt::of_messages(
            "This is a connection test. Answer with one short sentence.",
            vec![PromptMessage::plain(Role::User, "Hello, are you there?")],
        ),
        tools: Vec::new(),
        max_output_tokens: MAX_TOKENS,
        stops: Vec::new(),
        said_before: Default::default(),
        seed: 1,
        script: None,
        work: None,
        agent_session: None,
        result_images: Default::default(),
    }
}

fn reservation(choice: &Choice, request: &ProviderRequest, (site, rate): (ServerOwner, Rate)) -> Reservation {
    Reservation {
        agent: "user".into(),
        activation: None,
        kind: request.kind,
        timekeeping: timekeeping(choice),
        is_local: site == ServerOwner::Local,
        most: tally(rate, request.most(), 1),
    }
}

/// Returns terms with short time limits: a person waits, and wants to see the first failure.
fn terms(choice: &Choice, settings: &GatewaySettings, coding_agents: &AcpSettings) -> Terms {
    let mut patience = settings.timeouts();
    patience.stall = patience.stall.min(MAX_SILENCE);
    let terms = Terms {
        patience,
        total: settings.total_timeout().min(MAX_ANSWER),
        retry: RetryPolicy { attempts: 1, ..settings.retry_policy() },
        ..settings.terms(&choice.provider)
    };
    if choice.provider != acp::PROVIDER {
        return terms;
    }
    // A coding agent must start first.
    let agent = coding_agents.terms();
    let silence = agent.silence.min(MAX_ANSWER);
    terms.of_agent(AcpTerms { silence, turn: agent.turn.min(MAX_ANSWER), ..agent })
}

/// Sends a request through a worker of its own, so that it does not affect the room's requests.
fn ask_worker(
    trial: &ProviderTrial,
    control: &JobControl,
) -> (Result<Completion, ModelFailure>, Option<Latency>, Option<Effort>) {
    let failed =
        |kind, what: String, remedy: &str| (Err(ModelFailure::new(kind, what, remedy)), None, Some(Effort::default()));
    let provider = &trial.choice.provider;
    let worker = match Worker::start(trial.environment.clone(), trial.factories.clone()) {
        Ok(worker) => worker,
        Err(error) => {
            let what = format!("{provider} was not called: a thread could not be started: {error}");
            return failed(FailureKind::Unavailable, what, "free some memory or threads and try again");
        }
    };
    let give_up = Instant::now() + trial.terms.total + MAX_SILENCE;
    let command = GatewayCommand::Complete {
        id: QUESTION,
        request: Box::new(trial.request.clone()),
        choice: trial.choice.clone(),
        terms: Box::new(trial.terms.clone()),
    };
    let mut is_stopped = false;
    let mut sent = worker.send(command);
    while sent.is_ok() && Instant::now() < give_up {
        if control.is_cancelled() && !is_stopped {
            is_stopped = true;
            sent = worker.send(GatewayCommand::Cancel { id: QUESTION });
        }
        if let Some(GatewayEvent::Finished { outcome, latency, effort, .. }) = worker.next(LOOK) {
            return (outcome, Some(latency), Some(effort));
        }
    }
    let what = format!("{provider} was called, but the gateway never returned a result");
    failed(FailureKind::Unavailable, what, "try again, and report this if it persists")
}
