//! The gateway in the world: takes questions in order, sends what may be sent, and settles answers.

use bevy::ecs::message::{Message, MessageReader, MessageWriter};
use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::budget::{BudgetSettings, Scope};
use super::keys::Environment;
use super::ledger::{Refusal, Timekeeping, Verdict};
use super::line::Line;
use super::live::LiveText;
use super::provider::ProviderRequest;
use super::questions::{InFlight, Questions, ReachedCap, Telling, Waiting, reservation, used};
use super::settings::{Choice, GatewaySettings};
use super::worker::{SimulatedFactories, Terms};
use crate::agent::AgentRemoved;
use crate::base::RequestId;
use crate::mind::{CancelRequest, FailureKind, ModelFailure, ModelReply, ModelRequest};
use crate::schedule::{Door, Input, InputJournal, SimClock, TICKS_PER_SEC};
use crate::simulation::Explain;
use crate::store::{EventDraft, EventKind, EventLog};
use crate::workspace::ProblemReport;

/// Ticks in a minute of the room.
const MINUTE: u64 = 60 * TICKS_PER_SEC;

/// No provider has more slots, whatever the settings say.
const MOST_CONCURRENT: u32 = 512;

/// The process's surroundings, as the gateway sees them.
#[derive(Resource, Clone, Debug)]
pub struct Surroundings(pub Environment);

/// The simulated providers that there are.
#[derive(Resource, Clone, Default)]
pub struct SimulatedProviders(pub SimulatedFactories);

/// A minute of the world outside has passed. An input: hourly caps on vendors count by it.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MinutePassed {}

impl Input for MinutePassed {
    const KIND: &'static str = "minute";
}

/// The line, and what is said on it at this moment.
#[derive(SystemParam)]
pub(super) struct OnLine<'w> {
    line: ResMut<'w, Line>,
    live: ResMut<'w, LiveText>,
}

/// Lets answers in that are due, and tells agents what the last tick decided. Runs before the door opens.
pub(super) fn collect(
    mut on: OnLine,
    mut questions: ResMut<Questions>,
    mut doors: (ResMut<Door<ModelReply>>, ResMut<Door<MinutePassed>>),
    mut replies: MessageWriter<ModelReply>,
    mut explain: MessageWriter<Explain>,
    clock: Res<SimClock>,
    journal: Res<InputJournal>,
) {
    let questions = &mut *questions;
    on.line.refused_now = questions.refused.iter().map(|reply| reply.request).collect();
    replies.write_batch(questions.refused.drain(..));
    explain.write_batch(questions.tellings.drain(..).map(|telling| Explain {
        agent: telling.agent,
        activity: telling.activity,
        why: telling.why.into(),
        for_person: false,
    }));
    if journal.is_replaying() {
        return;
    }
    on.line.take_in(&mut on.live);
    for reply in on.line.due(clock.tick()) {
        doors.0.push(reply);
    }
    if on.line.minute_passed() && questions.ledger.counts_minutes(Timekeeping::Outside) {
        doors.1.push(MinutePassed {});
    }
}

/// Books what answers used, and records each call.
pub(super) fn settle(
    mut replies: MessageReader<ModelReply>,
    mut minutes: MessageReader<MinutePassed>,
    mut questions: ResMut<Questions>,
    mut line: ResMut<Line>,
    mut log: ResMut<EventLog>,
) {
    for MinutePassed {} in minutes.read() {
        questions.ledger.advance_minute(Timekeeping::Outside);
    }
    for reply in replies.read() {
        line.settled(reply.request);
        let Some(question) = questions.in_flight.remove(&reply.request) else {
            if !line.refused_now.remove(&reply.request) {
                tracing::warn!("an answer to question {} came that nobody waits for", reply.request);
            }
            continue;
        };
        let booked = questions.ledger.settle(reply.request, used(&question.choice, &reply.outcome));
        let cost_usd = booked.map_or(0.0, |booked| booked.cost_micro_usd as f64 / 1e6);
        record(&mut log, &question.request, reply, cost_usd);
    }
}

fn record(log: &mut EventLog, request: &ModelRequest, reply: &ModelReply, cost_usd: f64) {
    let usage = reply.outcome.as_ref().map_or_else(|_| Default::default(), |completion| completion.usage);
    let mut data = json!({
        "kind": request.kind.word(),
        "provider": reply.provider,
        "model": reply.model,
        "tokens_in": usage.input_tokens,
        "tokens_out": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "duration_ms": reply.duration_ms,
        "finish": reply.outcome.as_ref().map_or(Value::Null, |completion| json!(completion.finish)),
        "cost_usd": cost_usd,
    });
    if let Err(failure) = &reply.outcome {
        data["error"] = json!({ "kind": failure.kind, "what": failure.what, "remedy": failure.remedy });
        if let Some(secs) = failure.retry_after_secs {
            data["error"]["retry_after_secs"] = json!(secs);
        }
    }
    let draft = about(request, EventKind::ModelCall, data);
    // What was asked, for whoever wants to see why this came of it.
    log.write(match serde_json::to_string(&request.prompt) {
        Ok(prompt) => draft.enclose(prompt),
        Err(error) => {
            tracing::warn!("a prompt could not be kept: {error}");
            draft
        }
    });
}

/// A record of what became of a question.
fn about(request: &ModelRequest, kind: EventKind, data: Value) -> EventDraft {
    let draft = EventDraft::new(kind, data).agent(&request.agent_id).cause(request.cause);
    match &request.activation {
        Some(activation) => draft.activation(activation),
        None => draft,
    }
}

/// What decides who is asked, and whether.
#[derive(SystemParam)]
pub(super) struct Rules<'w> {
    gateway: Res<'w, GatewaySettings>,
    budget: Res<'w, BudgetSettings>,
}

/// Takes new questions into the queues, and withdrawn ones out.
pub(super) fn take_in(
    mut requests: MessageReader<ModelRequest>,
    mut cancels: MessageReader<CancelRequest>,
    mut removed: MessageReader<AgentRemoved>,
    mut questions: ResMut<Questions>,
    mut on: OnLine,
    mut log: ResMut<EventLog>,
    rules: Rules,
) {
    let stand_in = questions.stand_in.clone();
    for request in requests.read() {
        match rules.gateway.choose(stand_in.as_deref(), request.model.as_deref()) {
            Ok(choice) => {
                let queue = questions.waiting.entry(choice.provider.clone()).or_default();
                queue.push_back(Waiting { request: request.clone(), choice, told_place: 0 });
            }
            Err(problem) => {
                let failure = ModelFailure::new(FailureKind::Rejected, problem.what, problem.remedy);
                let data = json!({ "kind": request.kind.word(), "what": failure.what, "remedy": failure.remedy });
                log.write(about(request, EventKind::Error, data));
                questions.refuse(request, None, failure);
            }
        }
    }
    let mut gone: Vec<RequestId> = cancels.read().map(|cancel| cancel.request).collect();
    for agent in removed.read() {
        let waiting = questions.waiting.values().flatten().map(|waiting| &waiting.request);
        let asked = waiting.chain(questions.in_flight.values().map(|question| &question.request));
        gone.extend(asked.filter(|request| request.agent == agent.agent).map(|request| request.id));
    }
    for id in gone {
        on.line.cancel(id, &mut on.live);
        if let Some(question) = questions.forget(id) {
            // What was sent to a vendor may have to be paid for.
            let cancelled = Err(ModelFailure::new(FailureKind::Cancelled, "", ""));
            questions.ledger.settle(id, used(&question.choice, &cancelled));
        }
    }
}

/// Lets questions out of the queues as slots and caps allow.
pub(super) fn admit(mut questions: ResMut<Questions>, mut log: ResMut<EventLog>, rules: Rules, clock: Res<SimClock>) {
    let questions = &mut *questions;
    if clock.tick().is_multiple_of(MINUTE) {
        questions.ledger.advance_minute(Timekeeping::Simulated);
    }
    let most = rules.gateway.max_concurrent.clamp(1, MOST_CONCURRENT) as usize;
    let caps = rules.budget.caps();
    let providers: Vec<String> = questions.waiting.keys().cloned().collect();
    for provider in providers {
        while questions.under_way_at(&provider) < most {
            let Some(waiting) = questions.waiting.get_mut(&provider).and_then(|queue| queue.pop_front()) else { break };
            let Waiting { request, choice, told_place } = waiting;
            let reserved = reservation(&request, &choice, &ProviderRequest::new(&request, &choice.model));
            match questions.ledger.reserve(request.id, reserved, &caps) {
                Verdict::Reserved => {
                    let why = format!("asking {}", choice.provider);
                    questions.tellings.push(Telling { agent: request.agent, activity: request.activity, why });
                    let question = InFlight { request, choice, sent_tick: clock.tick() };
                    questions.in_flight.insert(question.request.id, question);
                }
                Verdict::Wait => {
                    let queue = questions.waiting.entry(provider).or_default();
                    queue.push_front(Waiting { request, choice, told_place });
                    break;
                }
                Verdict::Refused(refusal) => refuse(questions, &mut log, &request, &choice, &refusal),
            }
        }
    }
    questions.waiting.retain(|_, queue| !queue.is_empty());
    questions.tell_places();
}

fn refuse(questions: &mut Questions, log: &mut EventLog, request: &ModelRequest, choice: &Choice, refusal: &Refusal) {
    let failure = ModelFailure::new(FailureKind::OverBudget, refusal.what(), refusal.remedy());
    let data = json!({
        "act": "refused",
        "cap": refusal.cap.name,
        "limit": refusal.cap.limit,
        "used": refusal.used,
        "asked": refusal.asked,
        "kind": request.kind.word(),
        "provider": choice.provider,
        "what": failure.what,
        "remedy": failure.remedy,
    });
    log.write(about(request, EventKind::Budget, data));
    if matches!(refusal.cap.scope, Scope::Run | Scope::Outside) {
        questions.run_cap_reached = Some(failure.what.clone());
        questions.reached = Some(ReachedCap { name: refusal.cap.name.to_owned(), limit: refusal.cap.limit });
    }
    questions.refuse(request, Some(choice), failure);
}

/// Hands to the worker what is under way and was not handed to it yet: what was let out just now, what a
/// restart found under way, and what found no room before. On replay nothing is sent.
pub(super) fn send(
    questions: Res<Questions>,
    mut on: OnLine,
    mut problems: MessageWriter<ProblemReport>,
    settings: Res<GatewaySettings>,
    surroundings: Res<Surroundings>,
    providers: Res<SimulatedProviders>,
    journal: Res<InputJournal>,
) {
    if journal.is_replaying() || questions.in_flight.is_empty() {
        return;
    }
    if let Err(problem) = on.line.ensure_worker(&surroundings.0, &providers.0, &mut on.live) {
        problems.write(ProblemReport { source: "gateway".into(), problems: vec![problem] });
    }
    for question in questions.in_flight.values() {
        if on.line.knows(question.request.id) {
            continue;
        }
        if !on.line.is_up() {
            on.line.fail(question);
            continue;
        }
        let choice = &question.choice;
        let terms = Terms {
            base_url: settings.base_url(&choice.provider, &surroundings.0).unwrap_or_default(),
            patience: settings.patience(),
            total: settings.total_timeout(),
            retry: settings.retry_policy(),
            max_concurrent: settings.max_concurrent,
        };
        if !on.line.send(question, ProviderRequest::new(&question.request, &choice.model), terms) {
            break;
        }
    }
}
