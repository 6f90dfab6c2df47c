//! Monitors the answers of providers, and reports once when one starts to fail and once when it works again.

use bevy::ecs::message::{Message, MessageReader};
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::health::{AnswerTime, HealthChange, HealthState, ProviderHealth};
use super::user_overrides::TrialUsed;
use crate::base::hash::HashWriter;
use crate::gateway::settings::GatewaySettings;
use crate::log::events::{self, enum_name};
use crate::log::{EventDraft, EventLog};
use crate::mind::ModelReply;
use crate::schedule::{Input, SimClock};

/// A person changed the keys, or the addresses to which they may be sent. An input: requests that failed for lack of
/// access may succeed now.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AccessChanged {}

impl Input for AccessChanged {
    const KIND: &'static str = "access_changed";
}

/// Records every answer, and resets faults when settings or keys change.
pub(in crate::gateway) fn judge(
    mut replies: MessageReader<ModelReply>,
    mut trials: MessageReader<TrialUsed>,
    mut accesses: MessageReader<AccessChanged>,
    mut health: ResMut<ProviderHealth>,
    mut log: ResMut<EventLog>,
    settings: Res<GatewaySettings>,
    clock: Res<SimClock>,
) {
    let mut changes = Vec::new();
    if settings.is_changed() {
        changes.extend(health.found_under(hash(&*settings)));
    }
    for AccessChanged {} in accesses.read() {
        changes.extend(health.reset(|_| true));
    }
    let tick = clock.tick();
    for reply in replies.read() {
        let at = AnswerTime { tick, at_ms: reply.at_ms };
        let outcome = reply.outcome.as_ref().map(|_| ());
        changes.extend(health.record_answer(at, &reply.provider, &reply.model, outcome));
    }
    for trial in trials.read() {
        let at = AnswerTime { tick, at_ms: trial.at_ms };
        let outcome = match (&trial.cause, &trial.failure) {
            (Some(cause), _) => Err(cause),
            (None, None) => Ok(()),
            // The reply was recorded before causes were.
            (None, Some(_)) => continue,
        };
        changes.extend(health.record_answer(at, &trial.provider, &trial.model, outcome));
    }
    for change in changes {
        log.write(record(&change, &health));
    }
}

fn record(change: &HealthChange, health: &ProviderHealth) -> EventDraft {
    let (fault, state) = match change {
        HealthChange::Fails(fault) => (fault, HealthState::Failing),
        HealthChange::Ended { fault, state } => (fault, *state),
    };
    let whom = fault.whom(health);
    let times = if fault.failures == 1 { "1 failure".to_owned() } else { format!("{} failures", fault.failures) };
    let what = match state {
        HealthState::Failing => fault.what.clone(),
        HealthState::Working => format!("{whom} works again after {times}"),
        HealthState::Unknown => {
            format!("{whom} may work again: its settings, keys or limits changed, or it was not used for a while")
        }
    };
    let fails = state == HealthState::Failing;
    EventDraft::of(&events::Provider {
        provider: fault.provider.clone(),
        models: fault.models.clone(),
        state: state.as_str().into(),
        kind: enum_name(fault.kind),
        what,
        remedy: fails.then(|| fault.remedy.clone()),
        failures: (!fails).then_some(fault.failures),
        since_tick: (!fails).then_some(fault.since_tick),
    })
}

/// Returns a hash of settings, to notice that they changed.
pub(in crate::gateway) fn hash(settings: &impl Serialize) -> u64 {
    let mut hasher = HashWriter::default();
    // An unserializable value has the same hash each time.
    let _ = serde_json::to_writer(&mut hasher, settings);
    hasher.digest()
}
