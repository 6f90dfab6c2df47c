//! The gateway in the world: admits requests in order, sends those that may be sent, and applies answers.

use std::collections::BTreeSet;

use bevy::ecs::message::{Message, MessageReader, MessageWriter};
use bevy::ecs::prelude::*;
use bevy::ecs::system::{SystemParam, SystemParamItem};
use serde::{Deserialize, Serialize};

use super::bridge::WorkerBridge;
use super::health::ProviderHealth;
use super::health_monitor::AccessChanged;
use super::model_holds::ModelHolds;
use super::request_queue::{InFlight, ReachedCap, RequestQueue, Used, WaitNotice, Waiting, reservation, used};
use super::worker_events::WorkerEvents;
use crate::agent::AgentRemoved;
use crate::base::RequestId;
use crate::gateway::acp::log_events::{
    AgentOptionsReported, AgentPlanReported, AgentToolUsed, OwnCommands, TerminalRan,
};
use crate::gateway::acp::{self, AcpSettings, AcpTerms};
use crate::gateway::keys::Environment;
use crate::gateway::limits::budget::{BudgetSettings, Scope};
use crate::gateway::limits::exchanges::ExchangeAccepted;
use crate::gateway::limits::ledger::{BudgetClock, Refusal, Tally, Verdict};
use crate::gateway::limits::prices::{PriceSettings, Rate, rate};
use crate::gateway::programs::ProgramSettings;
use crate::gateway::providers::address::ServerOwner;
use crate::gateway::providers::provider::ProviderRequest;
use crate::gateway::settings::{Choice, GatewaySettings, ServerOwners, sites_of_person};
use crate::gateway::worker::SimulatedFactories;
use crate::gateway::worker::live_replies::LiveText;
use crate::log::events::{self, CallFailure, ModelCall, RequestFailed, Warning, enum_name};
use crate::log::{EventData, EventDraft, EventLog};
use crate::mind::spoken::{OFFLINE, SpokenSentences};
use crate::mind::{
    AgentReport, CallKind, CancelRequest, FailureKind, ModelFailure, ModelReply, ModelRequest, PutOffRequest, WorkEnded,
};
use crate::schedule::{Input, InputJournal, InputQueue, SimClock, TICKS_PER_SEC};
use crate::simulation::Explain;
use crate::workspace::ProblemReport;
use crate::workspace::vfs::OutsideChange;

/// The number of ticks in a simulated minute.
const MINUTE: u64 = 60 * TICKS_PER_SEC;

/// The maximum number of concurrent requests to a provider, whatever the settings say.
const MAX_CONCURRENT: u32 = 512;

/// The process's environment as the gateway sees it.
#[derive(Resource, Clone, Debug)]
pub struct GatewayEnvironment(pub Environment);

/// The available simulated providers.
#[derive(Resource, Clone, Default)]
pub struct SimulatedProviders(pub SimulatedFactories);

/// A minute of real time has passed. An input: hourly limits of vendors depend on it.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MinutePassed {}

impl Input for MinutePassed {
    const KIND: &'static str = "minute";
}

/// The vendor addresses that the person set, as far as prices depend on them, and which vendors have a key. An input:
/// the world does not know the person's files and variables.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AddressesConfigured {
    /// The owner of each provider's server.
    pub sites: ServerOwners,
    /// The vendors for which the person has a key.
    #[serde(default)]
    pub keyed: BTreeSet<String>,
}

impl Input for AddressesConfigured {
    const KIND: &'static str = "addresses_named";
}

/// The bridge and its current messages.
#[derive(SystemParam)]
pub(in crate::gateway) struct OnBridge<'w> {
    bridge: ResMut<'w, WorkerBridge>,
    live: ResMut<'w, LiveText>,
}

/// Notifies agents of the last tick's decisions. Runs before inputs are admitted.
pub(in crate::gateway) fn pass_on_decisions(
    mut bridge: ResMut<WorkerBridge>,
    mut questions: ResMut<RequestQueue>,
    mut replies: MessageWriter<ModelReply>,
    mut explain: MessageWriter<Explain>,
) {
    let questions = &mut *questions;
    bridge.refused_now = questions.refused.iter().map(|reply| reply.request).collect();
    replies.write_batch(questions.refused.drain(..));
    explain.write_batch(questions.tellings.drain(..).map(|telling| Explain {
        agent: telling.agent,
        activity: telling.activity,
        why: telling.why.into(),
        for_person: false,
        cause: telling.cause,
    }));
}

/// Receives what the worker sends, before it is collected by kind.
pub(in crate::gateway) fn receive(mut on: OnBridge) {
    on.bridge.receive_events(&mut on.live);
}

/// The answers of models, as events of the worker.
pub(in crate::gateway) struct ModelReplies;

impl WorkerEvents for ModelReplies {
    type Event = ModelReply;
    type Room = ResMut<'static, InputQueue<ModelReply>>;

    fn take(bridge: &mut WorkerBridge, tick: u64) -> impl IntoIterator<Item = ModelReply> {
        bridge.due(tick)
    }

    fn admit(reply: ModelReply, queue: &mut SystemParamItem<'_, '_, Self::Room>) {
        queue.push(reply);
    }
}

/// Admits what changed around the room: the person's keys and addresses, and the time. Only in a live room.
pub(in crate::gateway) fn report_surroundings(
    mut bridge: ResMut<WorkerBridge>,
    questions: Res<RequestQueue>,
    mut surroundings: ResMut<GatewayEnvironment>,
    mut access: ResMut<InputQueue<AccessChanged>>,
    mut addresses: ResMut<InputQueue<AddressesConfigured>>,
    mut minutes: ResMut<InputQueue<MinutePassed>>,
) {
    if let Some(environment) = bridge.network.keys.take_changed() {
        surroundings.0 = environment;
        bridge.sites_reported = false;
        access.push(AccessChanged {});
    }
    if !std::mem::replace(&mut bridge.sites_reported, true) {
        let sites = sites_of_person(&surroundings.0);
        let keyed = surroundings.0.vendors_with_key();
        if sites != questions.sites || keyed != questions.keyed {
            addresses.push(AddressesConfigured { sites, keyed });
        }
    }
    if bridge.minute_passed() && questions.ledger.counts_minutes(BudgetClock::Outside) {
        minutes.push(MinutePassed {});
    }
}

/// Logs external file changes while coding agents were at work. Runs before answers are applied, so that a change in
/// the tick of the answer is included.
pub(in crate::gateway) fn record_own_changes(
    mut questions: ResMut<RequestQueue>,
    mut changes: MessageReader<OutsideChange>,
    mut log: ResMut<EventLog>,
    clock: Res<SimClock>,
) {
    let RequestQueue { coding_agents, in_flight, .. } = &mut *questions;
    let is_work = |question: &&InFlight| {
        question.choice.provider == acp::PROVIDER && matches!(question.request.kind, CallKind::Task | CallKind::Wake)
    };
    let at_work = in_flight.values().filter(is_work).map(|question| &question.request);
    coding_agents.note(clock.tick(), at_work.map(|request| (&request.agent_id, request.activation.as_ref())));
    for draft in changes.read().filter_map(|change| coding_agents.record(change)) {
        log.write(draft);
    }
}

/// Adds the usage of answers to the ledger, and logs each call.
pub(in crate::gateway) fn book_replies(
    mut replies: MessageReader<ModelReply>,
    mut minutes: MessageReader<MinutePassed>,
    mut named: MessageReader<AddressesConfigured>,
    mut questions: ResMut<RequestQueue>,
    mut bridge: ResMut<WorkerBridge>,
    mut log: ResMut<EventLog>,
    rules: Rules,
) {
    let questions = &mut *questions;
    for AddressesConfigured { sites, keyed } in named.read() {
        questions.sites.clone_from(sites);
        questions.keyed.clone_from(keyed);
    }
    for MinutePassed {} in minutes.read() {
        questions.ledger.advance_minute(BudgetClock::Outside);
    }
    for reply in replies.read() {
        bridge.forget(reply.request);
        let Some(question) = questions.in_flight.remove(&reply.request) else {
            if !bridge.refused_now.remove(&reply.request) {
                tracing::warn!("got an answer to request {} that nobody is waiting for", reply.request);
            }
            continue;
        };
        if let Some(place) = &reply.script {
            let of_script = questions.scripts.entry(question.choice.model.clone()).or_default();
            of_script.insert(question.request.agent_id.clone(), place.clone());
        }
        book(questions, &mut log, &question, reply, &rules);
    }
}

/// Adds the usage of an answer to the ledger and logs it, so that both agree.
fn book(questions: &mut RequestQueue, log: &mut EventLog, question: &InFlight, reply: &ModelReply, rules: &Rules) {
    let most = ProviderRequest::new(&question.request, &question.choice.model).most();
    let used = used(&question.choice, &reply.outcome, reply.effort, most);
    let (_, rate) = rules.site_and_rate(questions, &question.choice);
    let tally = used.tally(rate);
    // The cost that a coding agent reports takes precedence over the price list.
    let report = reply.outcome.as_ref().ok().and_then(|completion| completion.told.as_deref());
    let tally = match report.and_then(|report| report.cost_micro_usd) {
        Some(cost_micro_usd) => Tally { cost_micro_usd, unpriced_tokens: 0, ..tally },
        None => tally,
    };
    if let Some(report) = report {
        record_report(log, &question.request, report);
    }
    questions.ledger.settle(reply.request, Some(tally));
    questions.ledger.note_traffic(&reply.provider, tally.calls, used.usage, tally.cost_micro_usd);
    record(log, &question.request, reply, &used, tally);
}

/// Logs what a coding agent reported about itself.
fn record_report(log: &mut EventLog, request: &ModelRequest, report: &AgentReport) {
    if let Some(lost) = &report.lost {
        log.write(about(request, &Warning::new(lost.clone())));
    }
    if !report.options.is_empty() {
        log.write(about(request, &AgentOptionsReported { options: report.options.clone() }));
    }
    if !report.commands.is_empty() {
        log.write(about(request, &OwnCommands { commands: report.commands.clone() }));
    }
    for call in &report.calls {
        log.write(about(request, &AgentToolUsed { call: call.clone() }));
    }
    for ran in &report.ran {
        log.write(about(request, &TerminalRan { ran: ran.clone() }));
    }
    if !report.plan.is_empty() {
        log.write(about(request, &AgentPlanReported { steps: report.plan.clone() }));
    }
}

fn record(log: &mut EventLog, request: &ModelRequest, reply: &ModelReply, used: &Used, tally: Tally) {
    let usage = used.usage;
    let failed = |failure: &ModelFailure| CallFailure {
        kind: Some(enum_name(failure.kind)),
        what: failure.what.clone(),
        remedy: Some(failure.remedy.clone()),
        retry_after_secs: failure.retry_after_secs.map(f64::from),
    };
    let call = ModelCall {
        kind: request.kind.as_str().into(),
        provider: reply.provider.clone(),
        model: reply.model.clone(),
        tokens_in: Some(usage.input_tokens.into()),
        tokens_out: Some(usage.output_tokens.into()),
        cached_tokens: Some(usage.cached_tokens.into()),
        duration_ms: reply.duration_ms,
        finish: Some(reply.outcome.as_ref().ok().map(|completion| enum_name(completion.finish))),
        cost_usd: Some(tally.cost().known()),
        estimated: used.is_estimate,
        cache_written_tokens: Some(usage.cache_written_tokens.into()).filter(|tokens| *tokens > 0),
        attempts: Some(used.calls).filter(|calls| *calls != 1),
        error: reply.outcome.as_ref().err().map(failed),
        ..ModelCall::default()
    };
    let draft = about(request, &call);
    // The request is logged, too, so that readers can see the cause of its result.
    log.write(match serde_json::to_string(&request.prompt.recorded()) {
        Ok(prompt) => draft.attach(prompt),
        Err(error) => {
            tracing::warn!("a prompt could not be kept: {error}");
            draft
        }
    });
}

/// Creates a log event about the result of a request.
fn about(request: &ModelRequest, event: &impl EventData) -> EventDraft {
    let draft = EventDraft::of(event).agent(&request.agent_id).cause(request.cause);
    match &request.activation {
        Some(activation) => draft.activation(activation),
        None => draft,
    }
}

/// The settings and limits that decide which provider is called, and whether.
#[derive(SystemParam)]
pub(in crate::gateway) struct Rules<'w> {
    gateway: Res<'w, GatewaySettings>,
    budget: Res<'w, BudgetSettings>,
    prices: Res<'w, PriceSettings>,
    health: Res<'w, ProviderHealth>,
    clock: Res<'w, SimClock>,
}

impl Rules<'_> {
    /// Returns the server that a choice uses, and its price there.
    fn site_and_rate(&self, questions: &RequestQueue, choice: &Choice) -> (ServerOwner, Rate) {
        let site = self.gateway.server_owner(&choice.provider, &questions.sites);
        (site, rate(choice, site, &self.prices))
    }
}

/// Adds new requests to the queues, and removes withdrawn ones.
pub(in crate::gateway) fn enqueue_requests(
    mut requests: MessageReader<ModelRequest>,
    (mut put_off, mut cancels): (MessageReader<PutOffRequest>, MessageReader<CancelRequest>),
    (mut removed, mut over): (MessageReader<AgentRemoved>, MessageReader<WorkEnded>),
    mut questions: ResMut<RequestQueue>,
    mut on: OnBridge,
    mut log: ResMut<EventLog>,
    rules: Rules,
) {
    for over in over.read() {
        on.bridge.note_over(over.activation.id());
    }
    let questions = &mut *questions;
    let provider_override = questions.provider_override().map(str::to_owned);
    for request in requests.read() {
        match questions.choose(&rules.gateway, request.model.as_deref()) {
            Ok(choice) => {
                let asked_tick = rules.clock.tick();
                questions.enqueue(Waiting { request: request.clone(), choice, told_place: 0, asked_tick });
            }
            Err(problem) => {
                let failure = ModelFailure::new(FailureKind::Rejected, problem.what, problem.remedy);
                let (kind, what, remedy) = (request.kind.as_str().into(), failure.what.clone(), failure.remedy.clone());
                log.write(about(request, &events::Error::Request(RequestFailed { kind, what, remedy })));
                // There is no such provider: the request fails under the name that was meant.
                let provider = rules.gateway.provider_meant(provider_override.as_deref()).to_owned();
                questions.refuse(request, Choice { model: provider.clone(), provider }, failure);
            }
        }
    }
    for put_off in put_off.read() {
        questions.put_off(put_off.request);
    }
    let mut gone: Vec<RequestId> = cancels.read().map(|cancel| cancel.request).collect();
    for agent in removed.read() {
        let waiting = questions.waiting.values().flatten().map(|waiting| &waiting.request);
        let asked = waiting.chain(questions.in_flight.values().map(|question| &question.request));
        gone.extend(asked.filter(|request| request.agent == agent.agent).map(|request| request.id));
    }
    for id in gone {
        on.bridge.cancel(id, &mut on.live);
        if let Some(question) = questions.forget(id) {
            withdraw(questions, &mut log, &question, &rules);
        }
    }
    on.bridge.send_over();
}

/// Withdraws a request. If it was sent to a vendor, it may have to be paid for although its answer is not needed any
/// more.
fn withdraw(questions: &mut RequestQueue, log: &mut EventLog, question: &InFlight, rules: &Rules) {
    let Choice { provider, model } = question.choice.clone();
    if question.choice.is_simulated() {
        let nothing = Tally { calls: 1, ..Tally::default() };
        questions.ledger.settle(question.request.id, Some(nothing));
        return;
    }
    let what = format!("the request to {provider} was cancelled");
    let failure = ModelFailure::new(FailureKind::Cancelled, what, "try again if you still need it");
    let (request, outcome) = (question.request.id, Err(failure));
    let reply =
        ModelReply { request, provider, model, duration_ms: 0, at_ms: None, effort: None, script: None, outcome };
    book(questions, log, question, &reply, rules);
}

/// Starts queued requests as slots and limits allow.
pub(in crate::gateway) fn admit(
    mut questions: ResMut<RequestQueue>,
    mut holds: ResMut<ModelHolds>,
    mut log: ResMut<EventLog>,
    rules: Rules,
) {
    let questions = &mut *questions;
    let now = rules.clock.tick();
    if now.is_multiple_of(MINUTE) {
        questions.ledger.advance_minute(BudgetClock::Simulated);
    }
    let most = rules.gateway.max_concurrent.clamp(1, MAX_CONCURRENT) as usize;
    let caps = rules.budget.caps();
    let providers: Vec<String> = questions.waiting.keys().cloned().collect();
    for provider in providers {
        while questions.running_at(&provider) < most {
            let Some(waiting) = questions.waiting.get_mut(&provider).and_then(|queue| queue.pop_front()) else { break };
            let Waiting { request, choice, told_place, asked_tick } = waiting;
            if holds.must_wait(&provider, &request) {
                questions.refuse(&request, choice, ModelFailure::put_off("its model does not answer now"));
                continue;
            }
            let terms = rules.site_and_rate(questions, &choice);
            let sent = ProviderRequest::new(&request, &choice.model);
            let mut reserved = reservation(&request, &choice, &sent, terms);
            // Each attempt is a call: retries are limited by the remaining calls.
            let left = questions.ledger.attempts_left(&reserved, &caps);
            let attempts = rules.gateway.retry_policy().attempts.min(u32::try_from(left).unwrap_or(u32::MAX)).max(1);
            reserved.most.calls = attempts.into();
            match questions.ledger.reserve(request.id, reserved.clone(), &caps) {
                Verdict::Reserved => {
                    let fault = rules.health.fault(&choice.provider, &choice.model);
                    let is_limited = fault.is_some_and(|fault| fault.kind == FailureKind::RateLimited);
                    let limits = if is_limited { ", which limits how often it is asked" } else { "" };
                    let why = format!("asking {}{limits}", choice.provider);
                    let (agent, activity, cause) = (request.agent, request.activity, Some(request.cause));
                    questions.tellings.push(WaitNotice { agent, activity, why, cause });
                    let question = InFlight { request, choice, sent_tick: now, attempts };
                    questions.in_flight.insert(question.request.id, question);
                }
                Verdict::Wait => {
                    let queue = questions.waiting.entry(provider).or_default();
                    queue.push_front(Waiting { request, choice, told_place, asked_tick });
                    break;
                }
                Verdict::Refused(refusal) => {
                    holds.note_refusal(&choice.provider, reserved, &refusal, now);
                    refuse(questions, &mut log, &request, &choice, &refusal);
                }
            }
        }
    }
    questions.waiting.retain(|_, queue| !queue.is_empty());
    questions.report_places();
}

fn refuse(
    questions: &mut RequestQueue,
    log: &mut EventLog,
    request: &ModelRequest,
    choice: &Choice,
    refusal: &Refusal,
) {
    let mut failure = ModelFailure::new(FailureKind::OverBudget, refusal.description(), refusal.remedy());
    failure.cap = Some(Box::new(refusal.reached()));
    let refused = events::Budget {
        act: "refused".into(),
        cap: refusal.cap.name.to_owned().into(),
        scope: enum_name(refusal.cap.scope),
        whose: refusal.whose.clone(),
        limit: refusal.cap.limit,
        used: refusal.used,
        asked: refusal.asked,
        kind: request.kind.as_str().into(),
        provider: choice.provider.clone(),
        what: failure.what.clone(),
        remedy: failure.remedy.clone(),
    };
    log.write(about(request, &refused));
    if matches!(refusal.cap.scope, Scope::Run | Scope::Outside) {
        questions.run_cap_reached = Some(failure.sentence());
        questions.reached = Some(ReachedCap { name: refusal.cap.name.to_owned(), limit: refusal.cap.limit });
    }
    questions.refuse(request, choice.clone(), failure);
}

/// Sends the running requests to the worker that were not sent yet: those that were just started, those that were
/// running before a restart, and those for which the queue was full. On replay, nothing is sent.
pub(in crate::gateway) fn send(
    questions: Res<RequestQueue>,
    mut on: OnBridge,
    mut problems: MessageWriter<ProblemReport>,
    (settings, agents, programs): (Res<GatewaySettings>, Res<AcpSettings>, Res<ProgramSettings>),
    surroundings: Res<GatewayEnvironment>,
    (providers, spoken): (Res<SimulatedProviders>, Res<SpokenSentences>),
    journal: Res<InputJournal>,
) {
    if journal.is_replaying() {
        // A replay sends nothing to a model.
        rule!("a-replay-asks-no-model");
        return;
    }
    if questions.in_flight.is_empty() {
        return;
    }
    if let Err(problem) = on.bridge.ensure_worker(&surroundings.0, &providers.0, &mut on.live) {
        problems.write(ProblemReport { source: "gateway".into(), problems: vec![problem] });
    }
    for question in questions.in_flight.values() {
        if on.bridge.has_sent(question.request.id) {
            continue;
        }
        if !on.bridge.is_up() {
            on.bridge.fail(question);
            continue;
        }
        let choice = &question.choice;
        if on.bridge.is_cooling_down(&choice.provider) {
            continue;
        }
        let mut terms = settings.terms(&choice.provider);
        if choice.provider == acp::PROVIDER {
            terms = terms.of_agent(AcpTerms { programs: programs.clone(), ..agents.terms() });
        }
        if question.attempts > 0 {
            terms.retry.attempts = terms.retry.attempts.min(question.attempts);
        }
        let mut request = ProviderRequest::new(&question.request, &choice.model);
        if choice.is_simulated() {
            let place = questions.place_in_script(&choice.model, &question.request.agent_id);
            request.script = Some(place.cloned().unwrap_or_default());
        }
        if choice.provider == OFFLINE {
            request.said_before = spoken.sentences_before(question.request.spoken_before);
        }
        if !on.bridge.send(question, request, terms) {
            break;
        }
    }
}

/// Adds the exchanges between agents in this tick to the ledger.
pub(in crate::gateway) fn count_exchanges(
    mut exchanged: MessageReader<ExchangeAccepted>,
    mut requests: ResMut<RequestQueue>,
) {
    // Views must not see a change in every tick.
    if exchanged.is_empty() {
        return;
    }
    for one in exchanged.read() {
        requests.ledger.note_exchange(one.run.as_ref(), one.kind);
    }
}
