//! The bridge between the world and the worker: tracks which requests were sent and which answers have arrived, and
//! decides when each answer is admitted. It is not saved; its decisions enter the world as inputs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;

use super::request_queue::InFlight;
use crate::base::{Id, Problem, RequestId};
use crate::gateway::keys::Environment;
use crate::gateway::programs::sandbox::attribute_reports::AttributesPutBack;
use crate::gateway::providers::provider::ProviderRequest;
use crate::gateway::settings::Terms;
use crate::gateway::trust::followed_trust::{TrustCommand, TrustTraffic};
use crate::gateway::worker::live_replies::LiveText;
use crate::gateway::worker::messages::{GatewayCommand, GatewayEvent, Latency};
use crate::gateway::worker::{Network, SendError, SimulatedFactories, Worker};
use crate::log::now_ms;
use crate::mind::{Effort, FailureKind, ModelFailure, ModelReply};
use crate::schedule::outside::Wakeup;
use crate::schedule::ticks;

/// The maximum number of events that are processed per tick.
const TAKE: usize = 256;

/// A request that was sent to the worker.
struct Sent {
    provider: String,
    model: String,
    agent: Id,
    is_simulated: bool,
    tick: u64,
}

/// The bridge to the worker.
#[derive(Resource, Default)]
pub struct WorkerBridge {
    worker: Option<Worker>,
    /// Shared with the outsides of tools.
    pub(super) network: Network,
    /// Whether the worker was already restarted once.
    restarted: bool,
    /// Requests that were sent from here and have no answer in the world yet.
    known: BTreeSet<RequestId>,
    at_worker: BTreeMap<RequestId, Sent>,
    /// Simulated answers by the tick in which they are due.
    held: BTreeMap<(u64, RequestId), ModelReply>,
    /// External answers, in the order in which they arrived.
    arrived: VecDeque<ModelReply>,
    /// Refusals that were admitted in this tick, whose requests were never sent.
    pub(super) refused_now: BTreeSet<RequestId>,
    minute_began: Option<Instant>,
    /// Whether the person's addresses of vendors were reported to the world.
    pub(super) sites_reported: bool,
    /// The messages about what the person trusts.
    trust: TrustTraffic,
    /// What was put back of guarded files and is not in the world yet.
    put_back: VecDeque<AttributesPutBack>,
    /// Finished activations that the worker was not notified of yet.
    over: VecDeque<Id>,
}

impl WorkerBridge {
    /// Creates a bridge whose worker shares this.
    pub(in crate::gateway) fn on(network: Network) -> Self {
        Self { network, ..Self::default() }
    }

    /// Whether a request was sent from here.
    pub(in crate::gateway) fn has_sent(&self, id: RequestId) -> bool {
        self.known.contains(&id)
    }

    /// Starts the worker if there is none; restarts it once if it died.
    pub(in crate::gateway) fn ensure_worker(
        &mut self,
        environment: &Environment,
        factories: &SimulatedFactories,
        live: &mut LiveText,
    ) -> Result<(), Problem> {
        let died = self.worker.as_ref().is_some_and(Worker::is_dead);
        if self.worker.is_some() && !died {
            return Ok(());
        }
        if died {
            self.receive_events(live);
            if self.restarted {
                self.fail_all();
                return Err(dead("its thread ended twice"));
            }
            self.restarted = true;
            // Its requests are sent again.
            for id in std::mem::take(&mut self.at_worker).into_keys() {
                self.known.remove(&id);
            }
            self.trust.lost();
        }
        match Worker::start_on(self.network.clone(), environment.clone(), factories.clone()) {
            Ok(worker) => {
                self.worker = Some(worker);
                if died { Err(dead("its thread ended and was started again")) } else { Ok(()) }
            }
            Err(error) => Err(dead(&format!("its thread could not be started: {error}"))),
        }
    }

    /// Whether a worker is running, to which requests can be sent.
    pub fn is_up(&self) -> bool {
        self.worker.as_ref().is_some_and(|worker| !worker.is_dead())
    }

    /// Sends a request; `false` if the queue is full.
    pub(in crate::gateway) fn send(&mut self, question: &InFlight, request: ProviderRequest, terms: Terms) -> bool {
        let Some(worker) = &self.worker else { return false };
        let id = question.request.id;
        let command = GatewayCommand::Complete {
            id,
            request: Box::new(request),
            choice: question.choice.clone(),
            terms: Box::new(terms),
        };
        match worker.send(command) {
            Ok(()) => {
                self.known.insert(id);
                let sent = Sent {
                    provider: question.choice.provider.clone(),
                    model: question.choice.model.clone(),
                    agent: question.request.agent_id.clone(),
                    is_simulated: question.choice.is_simulated(),
                    tick: question.sent_tick,
                };
                self.at_worker.insert(id, sent);
                true
            }
            Err(SendError::Full | SendError::Dead) => false,
        }
    }

    /// Answers a request that cannot be sent with a failure.
    pub(in crate::gateway) fn fail(&mut self, question: &InFlight) {
        self.known.insert(question.request.id);
        let choice = &question.choice;
        self.arrived.push_back(failed(question.request.id, choice.provider.clone(), choice.model.clone()));
    }

    fn fail_all(&mut self) {
        for (id, sent) in std::mem::take(&mut self.at_worker) {
            self.arrived.push_back(failed(id, sent.provider, sent.model));
        }
    }

    /// Cancels a request.
    pub(in crate::gateway) fn cancel(&mut self, id: RequestId, live: &mut LiveText) {
        live.end(id);
        self.forget(id);
        self.held.retain(|(_, held), _| *held != id);
        self.arrived.retain(|reply| reply.request != id);
        if self.at_worker.remove(&id).is_some()
            && let Some(worker) = &self.worker
            && let Err(error) = worker.send(GatewayCommand::Cancel { id })
        {
            tracing::debug!("request {id} could not be cancelled ({error}); its answer will be dropped");
        }
    }

    /// Forgets a request whose answer is in the world.
    pub(in crate::gateway) fn forget(&mut self, id: RequestId) {
        self.known.remove(&id);
    }

    /// Receives the worker's events, without waiting.
    pub(in crate::gateway) fn receive_events(&mut self, live: &mut LiveText) {
        for _ in 0..TAKE {
            let Some(event) = self.worker.as_ref().and_then(Worker::try_next) else { return };
            self.receive(event, live);
        }
    }

    /// Waits for the worker's next event or the signal of another outside, at most `timeout`, and no longer than until the
    /// next tick is due if the room only waits for the clock. `false` if there was none.
    pub(in crate::gateway) fn wait(
        &mut self,
        timeout: Duration,
        until_tick: Duration,
        wakeup: &Wakeup,
        live: &mut LiveText,
    ) -> bool {
        let is_for_tick = !until_tick.is_zero() && !self.owes_simulated();
        let timeout = if is_for_tick { timeout.min(until_tick) } else { timeout };
        let Some(worker) = &self.worker else { return wakeup.wait(timeout) };
        let Some(event) = worker.next_or_signal(timeout, wakeup.signal()) else { return false };
        if let Some(event) = event {
            self.receive(event, live);
        }
        self.receive_events(live);
        true
    }

    /// Receives one event of the worker.
    pub(in crate::gateway) fn receive(&mut self, event: GatewayEvent, live: &mut LiveText) {
        match event {
            GatewayEvent::Started { id } => {
                if let Some(sent) = self.at_worker.get(&id) {
                    live.begin(id, sent.agent.clone());
                }
            }
            GatewayEvent::Delta { id, text } => live.append(id, &text),
            GatewayEvent::Thought { id, text } => live.think(id, &text),
            GatewayEvent::Calling { id, position, call } => live.call(id, position, call),
            GatewayEvent::PutBack(report) => self.put_back.push_back(report),
            GatewayEvent::TrustRead(trust) => self.trust.receive(trust),
            GatewayEvent::Finished { id, outcome, latency, effort, script } => {
                live.end(id);
                let Some(sent) = self.at_worker.remove(&id) else {
                    tracing::debug!("got an answer to request {id} that nobody is waiting for");
                    return;
                };
                let (provider, model) = (sent.provider, sent.model);
                let (duration_ms, at_ms) = match latency {
                    Latency::Simulated(secs) => ((f64::from(secs) * 1000.0).round() as u64, None),
                    Latency::Outside(millis) => (millis, Some(now_ms())),
                };
                let effort = Some(effort);
                let reply = ModelReply { request: id, provider, model, duration_ms, at_ms, effort, script, outcome };
                match latency {
                    Latency::Simulated(secs) => {
                        self.held.insert((sent.tick + ticks(secs), id), reply);
                    }
                    Latency::Outside(_) => self.arrived.push_back(reply),
                }
            }
        }
    }

    /// Whether a provider is in cooldown.
    pub(in crate::gateway) fn is_cooling_down(&self, provider: &str) -> bool {
        self.worker.as_ref().is_some_and(|worker| !worker.rests().remaining(provider, Instant::now()).is_zero())
    }

    /// Returns the longest remaining cooldown of any provider.
    pub(in crate::gateway) fn longest_cooldown(&self) -> Duration {
        self.worker.as_ref().map_or(Duration::ZERO, |worker| worker.rests().longest_remaining(Instant::now()))
    }

    /// Returns the answers to admit now: external ones in order of arrival, simulated ones in order of tick and
    /// request.
    pub(in crate::gateway) fn due(&mut self, tick: u64) -> Vec<ModelReply> {
        let mut due: Vec<_> = self.arrived.drain(..).collect();
        while let Some(first) = self.held.first_entry()
            && first.key().0 <= tick
        {
            due.push(first.remove());
        }
        due
    }

    /// Whether a simulated answer that may be due in the next tick is still being computed.
    pub(in crate::gateway) fn owes_simulated(&self) -> bool {
        self.is_up() && self.at_worker.values().any(|sent| sent.is_simulated)
    }

    /// Whether external answers are pending.
    pub(in crate::gateway) fn awaits_real_time(&self) -> bool {
        self.is_up() && self.at_worker.values().any(|sent| !sent.is_simulated)
    }

    /// Whether no answer has arrived that a tick could process.
    pub(in crate::gateway) fn is_quiet(&self) -> bool {
        self.arrived.is_empty()
    }

    /// Removes and returns what was put back of guarded files.
    pub(in crate::gateway) fn take_put_back(&mut self) -> VecDeque<AttributesPutBack> {
        std::mem::take(&mut self.put_back)
    }

    /// Returns the messages about what the person trusts.
    pub(in crate::gateway) fn trust(&mut self) -> &mut TrustTraffic {
        &mut self.trust
    }

    /// Sends a command about what the person trusts; `false` if the queue is full.
    pub(in crate::gateway) fn send_trust(&self, command: &TrustCommand) -> bool {
        let sent = self.worker.as_ref().map(|worker| worker.send(GatewayCommand::Trust(command.clone())));
        matches!(sent, Some(Ok(())))
    }

    /// Records that an activation has ended; the worker is notified as soon as its queue has room.
    pub(super) fn note_over(&mut self, work: Id) {
        if self.worker.is_some() {
            self.over.push_back(work);
        }
    }

    /// Notifies the worker of finished activations.
    pub(super) fn send_over(&mut self) {
        let Some(worker) = &self.worker else { return self.over.clear() };
        while let Some(work) = self.over.front() {
            match worker.send(GatewayCommand::WorkOver { work: work.clone() }) {
                Err(SendError::Full) => return,
                Ok(()) | Err(SendError::Dead) => drop(self.over.pop_front()),
            }
        }
    }

    /// Whether a minute of real time has passed since this last returned true, or since the first call.
    pub(super) fn minute_passed(&mut self) -> bool {
        let now = Instant::now();
        let began = *self.minute_began.get_or_insert(now);
        let passed = now.duration_since(began) >= Duration::from_secs(60);
        if passed {
            self.minute_began = Some(began + Duration::from_secs(60));
        }
        passed
    }
}

fn failed(request: RequestId, provider: String, model: String) -> ModelReply {
    let what = format!("{provider} was not called: the gateway is not running");
    let failure = ModelFailure::new(FailureKind::Unavailable, what, "restart the program");
    let effort = Some(Effort::default());
    let (duration_ms, at_ms, outcome) = (0, Some(now_ms()), Err(failure));
    ModelReply { request, provider, model, duration_ms, at_ms, effort, script: None, outcome }
}

fn dead(what: &str) -> Problem {
    Problem::error("gateway", format!("the gateway stopped: {what}"), "restart the program and report this")
}
