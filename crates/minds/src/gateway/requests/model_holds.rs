//! Which agents cannot call their model now, because its provider fails or a limit is reached: their reading waits, a
//! provider is tried from time to time, and everything continues as soon as a call succeeds, a limit has room again, or
//! a person changes the keys, the settings or the provider.
//!
//! Derived from what enters the room, so that a replay derives the same.

use std::collections::BTreeMap;

use bevy::ecs::message::{MessageReader, MessageWriter};
use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use serde::{Deserialize, Serialize};

use super::health::{ProviderFault, ProviderHealth, concerns_provider};
use super::health_monitor::{AccessChanged, hash};
use super::request_queue::RequestQueue;
use super::user_overrides::ProviderOverride;
use crate::agent::{Agent, ProfileChanged, Profiles, Roster};
use crate::base::{AgentKey, Backoff, Id};
use crate::gateway::limits::budget::{BudgetSettings, Cap, Scope};
use crate::gateway::limits::ledger::{Ledger, Refusal, Reservation, Tally};
use crate::gateway::settings::GatewaySettings;
use crate::log::events::{self, enum_name};
use crate::log::{EventDraft, EventLog};
use crate::mind::{CallKind, FailureKind, ModelReply, ModelRequest};
use crate::schedule::{Section, SimClock, TICKS_PER_SEC, ticks};
use crate::simulation::{AttentionSettings, ModelAvailability, ModelsChanged, TryModel};

/// How much longer the longest wait is for a provider that refuses a key or a model than for one that is not reached:
/// somebody has to change something first, which the room notices by itself if it is done here.
const REFUSED_LONGEST: f32 = 12.0;
/// The number of ticks between two times that a limit with little room lets agents through.
const CAP_TRY_TICKS: u64 = 30 * TICKS_PER_SEC;
/// The maximum number of agents that a limit lets through at once while it has not enough room for all.
const MAX_LET_THROUGH: usize = 16;

/// What keeps agents from calling their model.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HoldKey {
    /// The provider fails.
    Provider(String),
    /// A limit is reached, for calls of this provider.
    Cap {
        /// The name of the provider.
        provider: String,
        /// The key of the limit in `budget`.
        cap: String,
        /// The id of the agent whose usage it counts; `None` for the room.
        whose: Option<Id>,
    },
}

/// When a failing provider is tried again.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct ProviderHold {
    /// The number of failed calls since the agents wait.
    failures: u32,
    next_try: u64,
    /// Whether one request may be sent to find out whether it answers again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    may_try: bool,
}

/// A limit that refused a call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct CapHold {
    key: HoldKey,
    /// The refused call: when one like it fits, the limit has room again.
    call: Reservation,
    scope: Scope,
    limit: u64,
    /// What was refused, and what to do.
    why: String,
    next_try: u64,
}

/// What an agent was told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Told {
    key: HoldKey,
    why: String,
}

/// The providers and limits for which agents wait, and who waits. Saved with the world; written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelHolds {
    providers: BTreeMap<String, ProviderHold>,
    caps: Vec<CapHold>,
    told: BTreeMap<AgentKey, Told>,
    /// The hash of the settings that content was last refused under.
    #[serde(skip_serializing_if = "Option::is_none")]
    found_under: Option<u64>,
    /// Whether a run has just begun.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_new_run: bool,
    /// Whether a limit was reached or has room again since the agents were told.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_unsettled: bool,
}

impl ModelHolds {
    /// Records that a limit refused a call, for which the agent then waits.
    pub(in crate::gateway) fn note_refusal(&mut self, provider: &str, call: Reservation, refusal: &Refusal, now: u64) {
        let Cap { name, scope, limit, .. } = refusal.cap;
        let fits_never = matches!(scope, Scope::Hour | Scope::AgentHour) && refusal.wait_minutes.is_none();
        if scope == Scope::Activation || fits_never {
            return;
        }
        let (provider, cap, whose) = (provider.to_owned(), name.to_owned(), refusal.whose.clone());
        let key = HoldKey::Cap { provider, cap, whose };
        if self.caps.iter().all(|hold| hold.key != key) {
            let why = format!("{}; {}", refusal.description(), refusal.remedy());
            self.caps.push(CapHold { key, call, scope, limit, why, next_try: now + CAP_TRY_TICKS });
            self.is_unsettled = true;
        }
    }

    /// Whether a request waits because its provider fails: only one at a time tries whether it answers again.
    pub(in crate::gateway) fn must_wait(&mut self, provider: &str, request: &ModelRequest) -> bool {
        let is_held = |told: &Told| told.key == HoldKey::Provider(provider.to_owned());
        if !waits_with_its_agent(request.kind) || !self.told.get(&request.agent).is_some_and(is_held) {
            return false;
        }
        // While a provider fails, only one request at a time finds out whether it answers again.
        rule!("one-request-tries-a-failing-provider");
        self.providers.get_mut(provider).is_some_and(|hold| !std::mem::take(&mut hold.may_try))
    }

    /// Starts a new run, in which everything is tried once.
    pub(in crate::gateway) fn start_run(&mut self) {
        self.providers.clear();
        self.caps.clear();
        self.is_new_run = true;
    }

    /// The agents that wait for this, in a fixed order.
    fn waiting(&self, key: &HoldKey) -> Vec<AgentKey> {
        self.told.iter().filter(|(_, told)| told.key == *key).map(|(agent, _)| *agent).collect()
    }

    fn concerns_nobody(&self) -> bool {
        self.providers.is_empty() && self.caps.is_empty() && self.told.is_empty()
    }
}

/// What decides whether an agent can call its model.
#[derive(SystemParam)]
pub(in crate::gateway) struct Surroundings<'w, 's> {
    health: Res<'w, ProviderHealth>,
    settings: Res<'w, GatewaySettings>,
    budget: Res<'w, BudgetSettings>,
    attention: Res<'w, AttentionSettings>,
    roster: Res<'w, Roster>,
    profiles: Res<'w, Profiles>,
    agents: Query<'w, 's, &'static Agent>,
    clock: Res<'w, SimClock>,
}

/// The messages that may change who waits.
#[derive(SystemParam)]
pub(in crate::gateway) struct HoldChanges<'w, 's> {
    replies: MessageReader<'w, 's, ModelReply>,
    accesses: MessageReader<'w, 's, AccessChanged>,
    overrides: MessageReader<'w, 's, ProviderOverride>,
    profiles: MessageReader<'w, 's, ProfileChanged>,
}

/// The messages to the agents.
#[derive(SystemParam)]
pub(in crate::gateway) struct HoldMessages<'w> {
    availability: MessageWriter<'w, ModelAvailability>,
    tries: MessageWriter<'w, TryModel>,
    changed: MessageWriter<'w, ModelsChanged>,
    log: ResMut<'w, EventLog>,
}

/// Tells agents whether they can call their model, and when to try one that failed.
pub(in crate::gateway) fn update(
    mut holds: ResMut<ModelHolds>,
    mut questions: ResMut<RequestQueue>,
    around: Surroundings,
    mut news: HoldChanges,
    mut out: HoldMessages,
) {
    let now = around.clock.tick();
    let failed: Vec<String> = news
        .replies
        .read()
        .filter(|reply| reply.outcome.as_ref().err().is_some_and(concerns_provider))
        .filter(|reply| holds.providers.contains_key(&reply.provider))
        .map(|reply| reply.provider.clone())
        .collect();
    let is_other = {
        let changes = news.accesses.read().count() + news.overrides.read().count() + news.profiles.read().count();
        let is_changed = around.settings.is_changed() || around.budget.is_changed();
        let known = holds.found_under;
        let found = if is_changed { Some(hash(&(&*around.settings, &*around.budget))) } else { known };
        let is_other = known.is_some() && found != known;
        if found != known {
            holds.found_under = found;
        }
        changes > 0 || is_other || holds.is_new_run
    };
    if is_other {
        out.changed.write(ModelsChanged {});
    }
    if holds.is_new_run {
        holds.is_new_run = false;
    }
    if holds.concerns_nobody() && !around.health.has_faults() {
        return;
    }
    if around.budget.is_changed() || now.is_multiple_of(TICKS_PER_SEC) {
        free_caps(&mut holds, &questions.ledger, &around, &mut out);
    }
    let is_due = is_other
        || holds.is_unsettled
        || around.health.is_changed()
        || around.roster.is_changed()
        || now.is_multiple_of(TICKS_PER_SEC);
    if is_due {
        tell_agents(&mut holds, &mut questions, &around, &mut out);
    }
    for provider in failed {
        if let Some(hold) = holds.providers.get_mut(&provider) {
            hold.failures = hold.failures.saturating_add(1);
        }
    }
    try_providers(&mut holds, &around, &mut out);
}

/// Forgets the limits that have room for everyone who waits, and lets the most important through where there is a
/// little.
fn free_caps(holds: &mut ModelHolds, ledger: &Ledger, around: &Surroundings, out: &mut HoldMessages) {
    let (now, caps) = (around.clock.tick(), around.budget.caps());
    let mut freed = Vec::new();
    for index in 0..holds.caps.len() {
        let hold = &holds.caps[index];
        let agents = holds.waiting(&hold.key);
        let fits = |calls: usize| ledger.would_refuse(&times(&hold.call, calls as u64), &caps).is_none();
        if !fits(1) {
            continue;
        }
        if fits(agents.len().max(1)) {
            freed.push(index);
        } else if now >= hold.next_try {
            let at_most = (1..=agents.len().min(MAX_LET_THROUGH)).rev().find(|calls| fits(*calls)).unwrap_or(1);
            out.tries.write(TryModel { agents, at_most });
            holds.caps[index].next_try = now + CAP_TRY_TICKS;
        }
    }
    for index in freed.into_iter().rev() {
        let CapHold { key, scope, limit, .. } = holds.caps.remove(index);
        holds.is_unsettled = true;
        let HoldKey::Cap { provider, cap, whose } = key else { continue };
        let what = format!("there is room again under budget.{cap}; what waited continues");
        let (scope, act, cap) = (enum_name(scope), "freed".into(), cap.into());
        out.log.write(EventDraft::of(&events::Budget {
            act,
            cap,
            scope,
            whose,
            limit,
            provider,
            what,
            ..Default::default()
        }));
    }
}

/// The usage of several calls like this one.
fn times(call: &Reservation, calls: u64) -> Reservation {
    let Tally { calls: most, tokens, cost_micro_usd, unpriced_tokens } = call.most;
    let by = |amount: u64| amount.saturating_mul(calls);
    let most = Tally {
        calls: by(most),
        tokens: by(tokens),
        cost_micro_usd: by(cost_micro_usd),
        unpriced_tokens: by(unpriced_tokens),
    };
    Reservation { most, ..call.clone() }
}

/// Tells each agent whose situation changed.
fn tell_agents(holds: &mut ModelHolds, questions: &mut RequestQueue, around: &Surroundings, out: &mut HoldMessages) {
    let now = around.clock.tick();
    let mut faults: BTreeMap<String, ProviderFault> = BTreeMap::new();
    let mut told = BTreeMap::new();
    for agent in around.roster.agents(&around.agents) {
        let wanted = around.profiles.get(&agent.profile).and_then(|profile| profile.model.as_deref());
        let (provider, model) = match questions.choose(&around.settings, wanted) {
            Ok(choice) => (choice.provider, choice.model),
            // There is no such provider: calls fail under the name that was meant.
            Err(_) => {
                let meant = around.settings.provider_meant(questions.provider_override()).to_owned();
                (meant.clone(), meant)
            }
        };
        let found = match around.health.blocking_fault(&provider, &model) {
            Some(fault) => {
                let why = format!("{}; {}", fault.what, fault.remedy);
                faults.entry(provider.clone()).or_insert(fault);
                Some(Told { key: HoldKey::Provider(provider), why })
            }
            None => holds.caps.iter().find(|hold| hold.concerns(&provider, &agent.id)).map(CapHold::told),
        };
        if holds.told.get(&agent.key) != found.as_ref() {
            let waits_because = found.as_ref().map(|told| told.why.clone());
            out.availability.write(ModelAvailability { agent: agent.key, waits_because });
        }
        told.extend(found.map(|found| (agent.key, found)));
    }
    for (provider, fault) in &faults {
        if !holds.providers.contains_key(provider) {
            let next_try = now + wait_ticks(fault, 0, &around.attention);
            holds.providers.insert(provider.clone(), ProviderHold { failures: 0, next_try, may_try: false });
            put_off_waiting(questions, provider, &around.health);
        }
    }
    holds.providers.retain(|provider, _| faults.contains_key(provider));
    holds.told = told;
    holds.is_unsettled = false;
}

impl CapHold {
    /// Whether this agent waits for it when it uses this provider.
    fn concerns(&self, provider: &str, agent: &Id) -> bool {
        let HoldKey::Cap { provider: of, whose, .. } = &self.key else { return false };
        of == provider && whose.as_ref().is_none_or(|whose| whose == agent)
    }

    fn told(&self) -> Told {
        Told { key: self.key.clone(), why: self.why.clone() }
    }
}

/// Whether requests of this kind are made again by agents as soon as their model can be called.
fn waits_with_its_agent(kind: CallKind) -> bool {
    matches!(kind, CallKind::Read | CallKind::Wake)
}

/// Puts off reading that was requested before its provider failed and was not sent yet.
fn put_off_waiting(questions: &mut RequestQueue, provider: &str, health: &ProviderHealth) {
    let waiting = questions.waiting.get(provider).into_iter().flatten();
    let reads: Vec<_> = waiting
        .filter(|waiting| waits_with_its_agent(waiting.request.kind))
        .filter(|waiting| health.blocking_fault(provider, &waiting.choice.model).is_some())
        .map(|waiting| waiting.request.id)
        .collect();
    for id in reads {
        questions.put_off(id);
    }
}

/// Lets the agent with the most important reading try each failing provider that is due.
fn try_providers(holds: &mut ModelHolds, around: &Surroundings, out: &mut HoldMessages) {
    let now = around.clock.tick();
    let due: Vec<String> =
        holds.providers.iter().filter(|(_, hold)| now >= hold.next_try).map(|(name, _)| name.clone()).collect();
    for provider in due {
        let fault = around.health.faults().into_iter().find(|fault| fault.provider == provider);
        let agents = holds.waiting(&HoldKey::Provider(provider.clone()));
        if let (Some(fault), Some(hold)) = (fault, holds.providers.get_mut(&provider)) {
            hold.next_try = now + wait_ticks(&fault, hold.failures, &around.attention);
            hold.may_try = true;
            out.tries.write(TryModel { agents, at_most: 1 });
        }
    }
}

/// The number of ticks until a failing provider is tried again.
fn wait_ticks(fault: &ProviderFault, failures: u32, attention: &AttentionSettings) -> u64 {
    let (least, most) = (attention.retry_least_secs, attention.retry_most_secs);
    let backoff = match fault.kind {
        FailureKind::Unauthorised | FailureKind::Rejected => Backoff::new(least, most * REFUSED_LONGEST),
        _ => Backoff::new(least, most),
    };
    ticks(backoff.wait_secs(failures) as f32).max(1)
}

/// The saved holds.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::gateway) struct ModelHoldsSaved(ModelHolds);

impl Section for ModelHoldsSaved {
    const NAME: &'static str = "model_holds";

    fn save(world: &mut World) -> Self {
        Self(world.resource::<ModelHolds>().clone())
    }

    fn load(self, world: &mut World) {
        *world.resource_mut::<ModelHolds>() = self.0;
    }
}
