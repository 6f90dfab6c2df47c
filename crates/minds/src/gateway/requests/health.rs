//! The health of providers: which of them fail, with the reason, the start and number of the failures, and the remedy.
//! Derived from the answers that enter the room, so that a replay derives the same.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::mind::{FailureKind, ModelFailure};
use crate::schedule::{Section, TICKS_PER_SEC};

/// The number of ticks without a request (ten minutes) after which a failed model no longer counts, if another model of
/// the same provider works.
const STALE_TICKS: u64 = 600 * TICKS_PER_SEC;
/// The maximum number of models of a provider; the least recently used one is forgotten first.
const MAX_MODELS: usize = 64;
/// The number of consecutive refusals that count as the model's fault, because a single one may be the request's.
const REFUSALS_TOLD_FROM: u64 = 2;

/// The health of a provider or of one of its models.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthState {
    /// There was no request since the run began, or since its settings or keys changed.
    Unknown,
    /// The latest request succeeded.
    Working,
    /// The latest request failed.
    Failing,
}

impl HealthState {
    /// Returns the name of the state in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Working => "working",
            Self::Failing => "failing",
        }
    }
}

/// The time when an answer arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnswerTime {
    /// The tick that admitted it.
    pub tick: u64,
    /// The wall-clock time in milliseconds since 1970, if it is known.
    pub at_ms: Option<u64>,
}

/// A failure of a provider, or of some of its models.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProviderFault {
    /// The name of the provider.
    pub provider: String,
    /// The models that fail in this way.
    pub models: Vec<String>,
    /// The kind of failure.
    pub kind: FailureKind,
    /// The latest description of what failed and where: "openai refused the key: it answered 401 at https://…".
    pub what: String,
    /// What to do about it.
    pub remedy: String,
    /// The tick of the first of the consecutive failures.
    pub since_tick: u64,
    /// The wall-clock time of that failure in milliseconds since 1970; `None` if only simulated time is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<u64>,
    /// The number of consecutive failures.
    pub failures: u64,
}

impl ProviderFault {
    /// Returns the name for people: "openai", or "openai (gpt-x)" if only some of its models fail.
    pub fn whom(&self, health: &ProviderHealth) -> String {
        let others_work = health.works_at_all(&self.provider);
        let has_models = self.models.iter().any(|model| !model.is_empty() && *model != self.provider);
        if others_work && has_models {
            format!("{} ({})", self.provider, self.models.join(", "))
        } else {
            self.provider.clone()
        }
    }
}

/// A change that must be reported after an answer.
#[derive(Clone, PartialEq, Debug)]
pub enum HealthChange {
    /// A provider fails, or fails in a new way.
    Fails(ProviderFault),
    /// A fault has ended, or may have: the state is unknown until the next request.
    Ended {
        /// The fault before it ended.
        fault: ProviderFault,
        /// The present state.
        state: HealthState,
    },
}

/// The health of one model.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct ModelHealth {
    asked_tick: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    failing: Option<Failing>,
}

impl ModelHealth {
    fn fails(&self) -> bool {
        self.failing.as_ref().is_some_and(Failing::is_reported)
    }
}

/// The consecutive failures of a model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Failing {
    kind: FailureKind,
    what: String,
    remedy: String,
    since_tick: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since_ms: Option<u64>,
    failures: u64,
    /// The kinds of failure that were reported since it last worked.
    told: Vec<FailureKind>,
}

impl Failing {
    fn is_reported(&self) -> bool {
        self.told.contains(&self.kind)
    }
}

/// The health of every provider that was called. Saved with the world; written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderHealth {
    providers: BTreeMap<String, BTreeMap<String, ModelHealth>>,
    /// The number of reports, so that views notice a new one.
    changes: u64,
    /// The hash of the settings that this state applies to.
    #[serde(rename = "settings", skip_serializing_if = "Option::is_none")]
    found_under: Option<u64>,
}

impl ProviderHealth {
    /// Returns the number of changes so far, by which views detect new ones.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns all faults, by provider and kind of failure.
    pub fn faults(&self) -> Vec<ProviderFault> {
        let mut faults: Vec<ProviderFault> = Vec::new();
        for (provider, models) in &self.providers {
            for (model, health) in models {
                let Some(failing) = health.failing.as_ref().filter(|failing| failing.is_reported()) else { continue };
                let same = faults.iter_mut().find(|fault| fault.provider == *provider && fault.kind == failing.kind);
                match same {
                    Some(fault) => join(fault, model, failing),
                    None => faults.push(fault_of(provider, model, failing)),
                }
            }
        }
        faults
    }

    /// Returns the fault of this model of this provider, if it fails.
    pub fn fault(&self, provider: &str, model: &str) -> Option<ProviderFault> {
        let failing = self.providers.get(provider)?.get(model)?.failing.as_ref()?;
        self.fault_in(provider, failing.kind)
    }

    /// Returns the fault because of which this model cannot be called now: its own, or one that concerns every model of
    /// its provider and began after this model last answered.
    pub fn blocking_fault(&self, provider: &str, model: &str) -> Option<ProviderFault> {
        let models = self.providers.get(provider)?;
        let known = models.get(model);
        if known.is_some_and(|health| health.failing.is_some()) {
            return self.fault(provider, model);
        }
        let concerns_it = |failing: &&Failing| {
            let is_of_all = matches!(failing.kind, FailureKind::Unauthorised | FailureKind::Unavailable);
            is_of_all && failing.is_reported() && known.is_none_or(|health| health.asked_tick < failing.since_tick)
        };
        let kind = models.values().filter_map(|health| health.failing.as_ref()).find(concerns_it)?.kind;
        self.fault_in(provider, kind)
    }

    /// Whether any model failed when it was last called.
    pub(super) fn has_faults(&self) -> bool {
        self.providers.values().flat_map(BTreeMap::values).any(ModelHealth::fails)
    }

    /// Returns the health of a provider, which fails if any of its models fails.
    pub fn state(&self, provider: &str) -> HealthState {
        match self.providers.get(provider) {
            None => HealthState::Unknown,
            Some(models) if models.values().any(ModelHealth::fails) => HealthState::Failing,
            Some(_) => HealthState::Working,
        }
    }

    fn works_at_all(&self, provider: &str) -> bool {
        self.providers.get(provider).is_some_and(|models| models.values().any(|health| !health.fails()))
    }

    fn fault_in(&self, provider: &str, kind: FailureKind) -> Option<ProviderFault> {
        self.faults().into_iter().find(|fault| fault.provider == provider && fault.kind == kind)
    }

    /// Records an answer, and returns the change to report.
    pub fn record_answer(
        &mut self,
        at: AnswerTime,
        provider: &str,
        model: &str,
        outcome: Result<(), &ModelFailure>,
    ) -> Vec<HealthChange> {
        let changes = match outcome {
            Ok(()) => self.answered(at, provider, model),
            Err(failure) if !concerns_provider(failure) => Vec::new(),
            Err(failure) => self.failed(at, provider, model, failure).into_iter().collect(),
        };
        self.changes += changes.len() as u64;
        changes
    }

    fn answered(&mut self, at: AnswerTime, provider: &str, model: &str) -> Vec<HealthChange> {
        let before = self.faults();
        let models = self.providers.entry(provider.to_owned()).or_default();
        models.insert(model.to_owned(), ModelHealth { asked_tick: at.tick, failing: None });
        models.retain(|_, health| health.failing.is_none() || health.asked_tick + STALE_TICKS > at.tick);
        forget_oldest(models);
        self.ended(before, |fault| {
            let is_it = fault.models.iter().any(|one| one == model);
            if is_it { HealthState::Working } else { HealthState::Unknown }
        })
    }

    fn failed(&mut self, at: AnswerTime, provider: &str, model: &str, failure: &ModelFailure) -> Option<HealthChange> {
        let was_known = self.fault_in(provider, failure.kind).is_some();
        let models = self.providers.entry(provider.to_owned()).or_default();
        let health = models.entry(model.to_owned()).or_default();
        health.asked_tick = at.tick;
        let failing = health.failing.get_or_insert_with(|| Failing {
            kind: failure.kind,
            what: String::new(),
            remedy: String::new(),
            since_tick: at.tick,
            since_ms: at.at_ms,
            failures: 0,
            told: Vec::new(),
        });
        failing.kind = failure.kind;
        failing.what.clone_from(&failure.what);
        failing.remedy.clone_from(&failure.remedy);
        failing.failures += 1;
        let is_due = !may_be_the_question(failure) || failing.failures >= REFUSALS_TOLD_FROM;
        let is_news = is_due && !failing.is_reported();
        if is_news {
            failing.told.push(failure.kind);
        }
        forget_oldest(models);
        // Another model of the same provider that fails in the same way is not reported again.
        let fault = self.fault_in(provider, failure.kind).filter(|_| is_news && !was_known);
        fault.map(HealthChange::Fails)
    }

    /// Resets matching faults because settings or keys changed, so that the next request may succeed.
    pub fn reset(&mut self, is_meant: impl Fn(&ProviderFault) -> bool) -> Vec<HealthChange> {
        let before: Vec<ProviderFault> = self.faults();
        let meant: Vec<ProviderFault> = before.iter().filter(|fault| is_meant(fault)).cloned().collect();
        for fault in &meant {
            let Some(models) = self.providers.get_mut(&fault.provider) else { continue };
            models.retain(|_, health| health.failing.as_ref().is_none_or(|failing| failing.kind != fault.kind));
            if models.is_empty() {
                self.providers.remove(&fault.provider);
            }
        }
        let changes = self.ended(before, |_| HealthState::Unknown);
        self.changes += changes.len() as u64;
        changes
    }

    /// Ends the failures of models. If one occurs again, with any model, it is reported again.
    fn ended(
        &mut self,
        before: Vec<ProviderFault>,
        state: impl Fn(&ProviderFault) -> HealthState,
    ) -> Vec<HealthChange> {
        let is_over = |fault: &ProviderFault| self.fault_in(&fault.provider, fault.kind).is_none();
        let over: Vec<ProviderFault> = before.into_iter().filter(is_over).collect();
        for fault in &over {
            let models = self.providers.get_mut(&fault.provider).into_iter().flat_map(BTreeMap::values_mut);
            for failing in models.filter_map(|health| health.failing.as_mut()) {
                failing.told.retain(|kind| *kind != fault.kind);
            }
        }
        over.into_iter().map(|fault| HealthChange::Ended { state: state(&fault), fault }).collect()
    }

    /// Compares the hash of the settings with the previous one, and returns the faults that ended because they changed.
    pub(super) fn found_under(&mut self, settings: u64) -> Vec<HealthChange> {
        let is_other = self.found_under.replace(settings).is_some_and(|known| known != settings);
        self.reset(|_| is_other)
    }

    /// Starts a new run, in which the state of every provider is unknown.
    pub(in crate::gateway) fn start_run(&mut self) {
        self.providers.clear();
    }
}

fn fault_of(provider: &str, model: &str, failing: &Failing) -> ProviderFault {
    ProviderFault {
        provider: provider.to_owned(),
        models: vec![model.to_owned()],
        kind: failing.kind,
        what: failing.what.clone(),
        remedy: failing.remedy.clone(),
        since_tick: failing.since_tick,
        since_ms: failing.since_ms,
        failures: failing.failures,
    }
}

fn join(fault: &mut ProviderFault, model: &str, failing: &Failing) {
    fault.models.push(model.to_owned());
    fault.failures = fault.failures.saturating_add(failing.failures);
    if failing.since_tick < fault.since_tick {
        fault.since_tick = failing.since_tick;
        fault.since_ms = failing.since_ms;
    }
}

fn forget_oldest(models: &mut BTreeMap<String, ModelHealth>) {
    while models.len() > MAX_MODELS {
        let oldest = models.iter().min_by_key(|(_, health)| health.asked_tick).map(|(model, _)| model.clone());
        let Some(oldest) = oldest else { return };
        models.remove(&oldest);
    }
}

/// Whether a failure concerns the provider: not if we cancelled the request, or did not send it because of a limit.
pub(super) fn concerns_provider(failure: &ModelFailure) -> bool {
    !matches!(failure.kind, FailureKind::Cancelled | FailureKind::PutOff | FailureKind::OverBudget)
}

/// Whether the failure may be caused by this one request rather than by the provider.
fn may_be_the_question(failure: &ModelFailure) -> bool {
    failure.kind == FailureKind::Rejected && matches!(failure.status, Some(400 | 413 | 422))
}

/// The saved health of providers.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::gateway) struct HealthSaved(ProviderHealth);

impl Section for HealthSaved {
    const NAME: &'static str = "provider_health";

    fn save(world: &mut World) -> Self {
        Self(world.resource::<ProviderHealth>().clone())
    }

    fn load(self, world: &mut World) {
        *world.resource_mut::<ProviderHealth>() = self.0;
    }
}

#[cfg(test)]
#[path = "health_tests.rs"]
mod tests;
