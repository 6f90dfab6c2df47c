//! The requests that the gateway has accepted: waiting and running ones, and the ledger. All of it is saved.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::{AgentKey, Id, RequestId, Seq};
use crate::gateway::acp::agent_file_changes::CodingAgentsAtWork;
use crate::gateway::limits::ledger::{BudgetClock, Ledger, Reservation, Tally};
use crate::gateway::limits::prices::Rate;
use crate::gateway::providers::address::ServerOwner;
use crate::gateway::providers::provider::{ProviderRequest, sum_of_usage};
use crate::gateway::settings::{Choice, ServerOwners};
use crate::mind::{Completion, Effort, FailureKind, ModelFailure, ModelReply, ModelRequest, ScriptPlace, Usage};
use crate::schedule::TICKS_PER_SEC;
use crate::simulation::ActivityId;
use crate::workspace::WorkspaceTrust;

/// The provider of a workspace that is not trusted, unless the person names one.
const OFFLINE: &str = "offline";

/// How much earlier a request must have been made to precede one that is a step more urgent: ten simulated minutes, in
/// ticks. So urgent requests do not wait long for less urgent ones, and no request waits forever.
const TICKS_PER_STEP: u64 = 600 * TICKS_PER_SEC;
/// The last queue position that is reported: reporting every change of all positions would be wasteful.
const PLACES_TOLD: usize = 20;

/// A request that waits for a free slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Waiting {
    /// The request.
    pub request: ModelRequest,
    /// The provider and model.
    pub choice: Choice,
    /// The queue position that was last reported to its agent; 0 if none.
    pub told_place: usize,
    /// The tick in which it was made.
    #[serde(default)]
    pub asked_tick: u64,
}

impl Waiting {
    /// Returns the sort key: smaller ones go first, equal ones in order of arrival.
    fn turn(&self) -> u64 {
        self.asked_tick.saturating_add(TICKS_PER_STEP.saturating_mul(self.request.urgency as u64))
    }
}

/// A request that was sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InFlight {
    /// The request.
    pub request: ModelRequest,
    /// The provider and model.
    pub choice: Choice,
    /// The tick in which it was sent.
    pub sent_tick: u64,
    /// The number of attempts that limits on calls allow; 0 in saved worlds of older versions.
    #[serde(default)]
    pub attempts: u32,
}

/// Why an agent waits, reported in the next tick: events at the end of a tick would not be saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WaitNotice {
    /// The agent.
    pub agent: AgentKey,
    /// The activity of the agent.
    pub activity: ActivityId,
    /// The reason.
    pub why: String,
    /// The log record that caused the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Seq>,
}

/// A limit that stopped a request, with its values at that time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReachedCap {
    /// The key in `budget`.
    pub name: String,
    /// The limit, in calls, tokens, or millionths of a dollar.
    pub limit: u64,
}

/// All requests from their creation to their answer, and the usage of answers. Written by this module only.
#[derive(Resource, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestQueue {
    /// The waiting requests by provider, in the order in which they get slots.
    pub(in crate::gateway) waiting: BTreeMap<String, VecDeque<Waiting>>,
    /// The running requests.
    pub(in crate::gateway) in_flight: BTreeMap<RequestId, InFlight>,
    /// Answers that were made without a call, for the next tick.
    pub(in crate::gateway) refused: Vec<ModelReply>,
    /// The notices to agents, for the next tick.
    pub(in crate::gateway) tellings: Vec<WaitNotice>,
    /// The ledger.
    pub(in crate::gateway) ledger: Ledger,
    /// The message of the run's limit that last refused a request.
    pub(in crate::gateway) run_cap_reached: Option<String>,
    /// That limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::gateway) reached: Option<ReachedCap>,
    /// The provider that replaces everyone's own choice in this run.
    #[serde(rename = "stand_in", skip_serializing_if = "Option::is_none")]
    pub(in crate::gateway) provider_override: Option<String>,
    /// What the person trusts of the workspace, and so which models it may name.
    #[serde(skip)]
    pub(in crate::gateway) trust: WorkspaceTrust,
    /// The positions of agents in their scripts, by script and agent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(in crate::gateway) scripts: BTreeMap<String, BTreeMap<Id, ScriptPlace>>,
    /// The owners of the servers that the person set for providers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(in crate::gateway) sites: ServerOwners,
    /// The vendors for which the person has a key.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::gateway) keyed: BTreeSet<String>,
    /// The coding agents that are at work, or were a moment ago.
    #[serde(skip_serializing_if = "CodingAgentsAtWork::is_empty")]
    pub(in crate::gateway) coding_agents: CodingAgentsAtWork,
}

impl RequestQueue {
    /// Returns the ledger.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the number of requests that wait for a free slot.
    pub fn waiting(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }

    /// Returns the number of running requests.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Returns the message of the run's limit that refused a request: no more requests will be sent in this run.
    pub fn run_cap_reached(&self) -> Option<&str> {
        self.run_cap_reached.as_deref()
    }

    /// Returns that limit.
    pub fn reached_cap(&self) -> Option<&ReachedCap> {
        self.reached.as_ref()
    }

    /// Returns the position of an agent in a script.
    pub(super) fn place_in_script(&self, script: &str, agent: &str) -> Option<&ScriptPlace> {
        self.scripts.get(script)?.get(agent)
    }

    /// Returns the provider that replaces everyone's own choice in this run, if there is one.
    pub fn provider_override(&self) -> Option<&str> {
        // A workspace that is not trusted names no model.
        self.provider_override.as_deref().or(self.trust.is_restricted().then_some(OFFLINE))
    }

    /// Returns the provider with which the person replaced everyone's own choice in this run. Only this can be ended: a
    /// workspace that is not trusted has the offline one until it is.
    pub fn persons_override(&self) -> Option<&str> {
        self.provider_override.as_deref()
    }

    /// Queues a request according to its urgency.
    pub(super) fn enqueue(&mut self, waiting: Waiting) {
        let queue = self.waiting.entry(waiting.choice.provider.clone()).or_default();
        let turn = waiting.turn();
        let place = queue.partition_point(|other| other.turn() <= turn);
        queue.insert(place, waiting);
    }

    pub(super) fn running_at(&self, provider: &str) -> usize {
        self.in_flight.values().filter(|question| question.choice.provider == provider).count()
    }

    /// Forgets a request, wherever it is, and returns whether it was running.
    pub(in crate::gateway) fn forget(&mut self, id: RequestId) -> Option<InFlight> {
        for queue in self.waiting.values_mut() {
            queue.retain(|waiting| waiting.request.id != id);
        }
        self.in_flight.remove(&id)
    }

    /// Postpones a request if it is still waiting.
    pub(in crate::gateway) fn put_off(&mut self, id: RequestId) {
        let found = self.waiting.values_mut().find_map(|queue| {
            let place = queue.iter().position(|waiting| waiting.request.id == id)?;
            queue.remove(place)
        });
        if let Some(Waiting { request, choice, .. }) = found {
            self.refuse(&request, choice, ModelFailure::put_off("something more urgent came first"));
        }
    }

    /// Answers a request without a call, in the next tick.
    pub(in crate::gateway) fn refuse(&mut self, request: &ModelRequest, choice: Choice, failure: ModelFailure) {
        let Choice { provider, model } = choice;
        let (request, outcome) = (request.id, Err(failure));
        self.refused.push(ModelReply {
            request,
            provider,
            model,
            duration_ms: 0,
            at_ms: None,
            effort: None,
            script: None,
            outcome,
        });
    }

    /// Reports changed queue positions to agents.
    pub(super) fn report_places(&mut self) {
        for queue in self.waiting.values_mut() {
            let all = queue.len();
            for (index, waiting) in queue.iter_mut().enumerate() {
                let place = (index + 1).min(PLACES_TOLD + 1);
                if waiting.told_place == place {
                    continue;
                }
                waiting.told_place = place;
                let why = if place > PLACES_TOLD {
                    format!("waiting for a free model slot, {all} waiting")
                } else {
                    format!("waiting for a free model slot, {} of {all}", ordinal(place))
                };
                let (agent, activity) = (waiting.request.agent, waiting.request.activity);
                self.tellings.push(WaitNotice { agent, activity, why, cause: Some(waiting.request.cause) });
            }
        }
    }
}

/// Formats an ordinal: `1st`, `2nd`, `11th`.
fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Returns the expected maximum usage of a request.
pub(in crate::gateway) fn reservation(
    request: &ModelRequest,
    choice: &Choice,
    sent: &ProviderRequest,
    (site, rate): (ServerOwner, Rate),
) -> Reservation {
    let usage = sent.most();
    let timekeeping = if choice.is_simulated() { BudgetClock::Simulated } else { BudgetClock::Outside };
    Reservation {
        agent: request.agent_id.clone(),
        activation: request.activation.clone(),
        kind: request.kind,
        timekeeping,
        is_local: site == ServerOwner::Local,
        most: tally(rate, usage, 1),
    }
}

pub(in crate::gateway) fn tally(rate: Rate, usage: Usage, calls: u64) -> Tally {
    let tokens = u64::from(usage.input_tokens) + u64::from(usage.output_tokens);
    let (cost_micro_usd, unpriced_tokens) = rate.cost(usage);
    Tally { calls, tokens, cost_micro_usd, unpriced_tokens }
}

/// The usage of a call, as it is added to the ledger and logged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::gateway) struct Used {
    /// The number of attempts.
    pub(in crate::gateway) calls: u64,
    /// The tokens, both reported and estimated.
    pub(in crate::gateway) usage: Usage,
    /// Whether part of the tokens is estimated.
    pub(super) is_estimate: bool,
}

impl Used {
    /// Returns the amount for the ledger.
    pub(in crate::gateway) fn tally(&self, rate: Rate) -> Tally {
        tally(rate, self.usage, self.calls)
    }
}

/// Returns the usage of an answer. `most` is the reserved amount, which is used if the actual one is unknown.
pub(in crate::gateway) fn used(
    choice: &Choice,
    outcome: &Result<Completion, ModelFailure>,
    effort: Option<Effort>,
    most: Usage,
) -> Used {
    let Some(Effort { attempts, estimated }) = effort else { return used_by_outcome(choice, outcome, most) };
    let told = outcome.as_ref().map_or_else(|_| Usage::default(), |completion| completion.usage);
    Used { calls: attempts.into(), usage: sum_of_usage(told, estimated), is_estimate: estimated != Usage::default() }
}

/// Returns the usage if the gateway did not count it: for withdrawn requests, and for records of older versions.
fn used_by_outcome(choice: &Choice, outcome: &Result<Completion, ModelFailure>, most: Usage) -> Used {
    let of = |usage, is_estimate| Used { calls: 1, usage, is_estimate };
    match outcome {
        Ok(completion) if completion.reports_usage() => of(completion.usage, false),
        Ok(_) => of(most, true),
        // An interrupted request must be paid for, unless it was simulated.
        Err(failure) => match failure.kind {
            FailureKind::TimedOut | FailureKind::Malformed | FailureKind::Cancelled if !choice.is_simulated() => {
                of(most, true)
            }
            _ => of(Usage::default(), false),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_provider_that_the_person_named_can_be_taken_back() {
        let mut queue = RequestQueue { trust: WorkspaceTrust::Nothing, ..RequestQueue::default() };
        assert_eq!((queue.provider_override(), queue.persons_override()), (Some(OFFLINE), None));
        queue.provider_override = Some("ollama:x".to_owned());
        assert_eq!((queue.provider_override(), queue.persons_override()), (Some("ollama:x"), Some("ollama:x")));
        let trusted = RequestQueue::default();
        assert_eq!((trusted.provider_override(), trusted.persons_override()), (None, None));
    }

    #[test]
    fn ordinals_are_formatted() {
        let words: Vec<_> = [1, 2, 3, 4, 11, 12, 13, 21, 102].into_iter().map(ordinal).collect();
        assert_eq!(words, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd"]);
    }

    #[test]
    fn reported_usage_is_used_and_missing_usage_is_estimated_and_marked() {
        let choice = |provider: &str| Choice { provider: provider.into(), model: "m".into() };
        let reply = |usage| Completion {
            text: "hm".into(),
            tool_calls: vec![],
            usage,
            finish: crate::mind::Finish::Stop,
            told: None,
        };
        let tokens = |input_tokens, output_tokens| Usage { input_tokens, output_tokens, ..Usage::default() };
        let (most, told) = (tokens(900, 90), tokens(1_000, 10));
        let of = |calls, usage, is_estimate| Used { calls, usage, is_estimate };
        let effort = |attempts, estimated| Some(Effort { attempts, estimated });
        let failed = |kind| Err(ModelFailure::new(kind, "", ""));
        let (ok, silent) = (Ok(reply(told)), Ok(reply(Usage::default())));
        let (cut, refused) = (failed(FailureKind::Malformed), failed(FailureKind::Unauthorised));
        let table = [
            ("openai", &ok, effort(1, tokens(0, 0)), of(1, told, false)),
            ("openai", &ok, effort(3, tokens(50, 5)), of(3, tokens(1_050, 15), true)),
            ("openai", &silent, effort(1, tokens(70, 7)), of(1, tokens(70, 7), true)),
            ("openai", &cut, effort(1, tokens(70, 7)), of(1, tokens(70, 7), true)),
            ("openai", &refused, effort(0, tokens(0, 0)), of(0, tokens(0, 0), false)),
            ("openai", &ok, None, of(1, told, false)),
            ("openai", &silent, None, of(1, most, true)),
            ("openai", &cut, None, of(1, most, true)),
            ("offline", &cut, None, of(1, tokens(0, 0), false)),
        ];
        for (provider, outcome, effort, wanted) in table {
            assert_eq!(used(&choice(provider), outcome, effort, most), wanted, "{provider} {effort:?}");
        }
    }
}
