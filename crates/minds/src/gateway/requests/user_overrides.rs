//! A person's interventions while the room runs: replacing the provider, testing providers, and changing limits.

use bevy::ecs::message::{Message, MessageReader, MessageWriter};
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::request_queue::RequestQueue;
use crate::gateway::acp::AcpSettings;
use crate::gateway::limits::budget::BudgetSettings;
use crate::gateway::limits::ledger::{BudgetClock, Tally};
use crate::gateway::mcp::McpSettings;
use crate::gateway::programs::sandbox::unconfined::problems_of_settings;
use crate::log::events::{CallFailure, Input as Logged, ModelCall};
use crate::log::{EventDraft, EventLog};
use crate::mind::ModelFailure;
use crate::schedule::Input;
use crate::workspace::{ProblemReport, WorkspaceTrust};

/// Until the run ends, this provider replaces all others, or the replacement is removed. An input. Running and waiting
/// requests keep their provider.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProviderOverride {
    /// The provider, such as `offline` or `openai:gpt-x`; `None` to use the settings and the agents' own again.
    pub provider: Option<String>,
}

impl Input for ProviderOverride {
    const KIND: &'static str = "stand_in";
}

/// The usage of a person's provider test. An input: it was not requested by the room, but counts toward the limits of
/// the run and of the hour.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TrialUsed {
    /// The name of the provider.
    pub provider: String,
    /// The name of the model.
    pub model: String,
    /// The clock whose minutes count.
    pub timekeeping: BudgetClock,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// The usage.
    pub used: Tally,
    /// Whether the model is on this computer or its network.
    #[serde(default)]
    pub is_local: bool,
    /// The message of the failure; `None` if an answer arrived.
    pub failure: Option<String>,
    /// The failure with its kind and remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<ModelFailure>,
    /// The wall-clock time of its end, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
}

impl Input for TrialUsed {
    const KIND: &'static str = "provider_trial";
}

/// A call that was not requested by the room, but counts toward the limits of the run and of the hour.
pub(in crate::gateway) struct CallApart<'a> {
    /// The purpose, as it is logged.
    pub(in crate::gateway) kind: &'static str,
    /// The provider and the model.
    pub(in crate::gateway) asked: (&'a str, &'a str),
    /// The clock whose minutes count.
    pub(in crate::gateway) timekeeping: BudgetClock,
    /// Whether the model is on this computer or its network.
    pub(in crate::gateway) is_local: bool,
    /// The usage.
    pub(in crate::gateway) used: Tally,
    /// The duration in milliseconds.
    pub(in crate::gateway) duration_ms: u64,
    /// The message of the failure.
    pub(in crate::gateway) failure: Option<&'a String>,
}

impl CallApart<'_> {
    /// Adds the call to the ledger, and logs it.
    pub(in crate::gateway) fn book(&self, questions: &mut RequestQueue, log: &mut EventLog) {
        questions.ledger.book(self.timekeeping, self.is_local, self.used);
        let failed = |what: &String| CallFailure { what: what.clone(), ..CallFailure::default() };
        log.write(EventDraft::of(&ModelCall {
            kind: self.kind.into(),
            provider: self.asked.0.to_owned(),
            model: self.asked.1.to_owned(),
            tokens: Some(self.used.tokens),
            duration_ms: self.duration_ms,
            cost_usd: Some(self.used.cost().known()),
            error: self.failure.map(failed),
            ..ModelCall::default()
        }));
    }
}

/// Applies a person's overrides, and the usage of provider tests.
pub(in crate::gateway) fn apply_user_overrides(
    mut overrides: MessageReader<ProviderOverride>,
    mut trials: MessageReader<TrialUsed>,
    mut questions: ResMut<RequestQueue>,
    mut log: ResMut<EventLog>,
    trust: Option<Res<WorkspaceTrust>>,
) {
    if let Some(trust) = trust.filter(|trust| questions.trust != **trust) {
        questions.trust = trust.clone();
    }
    for ProviderOverride { provider } in overrides.read() {
        questions.provider_override = provider.clone();
        log.write(EventDraft::of(&Logged::provider_override(provider.clone())));
    }
    for trial in trials.read() {
        let call = CallApart {
            kind: "trial",
            asked: (&trial.provider, &trial.model),
            timekeeping: trial.timekeeping,
            is_local: trial.is_local,
            used: trial.used,
            duration_ms: trial.duration_ms,
            failure: trial.failure.as_ref(),
        };
        call.book(&mut questions, &mut log);
    }
}

/// Reports invalid limits in the settings, and clears a reached limit once it is changed. If the next request does not
/// fit, the limit is reported again.
pub(in crate::gateway) fn check_budget(
    budget: Res<BudgetSettings>,
    mut questions: ResMut<RequestQueue>,
    mut problems: MessageWriter<ProblemReport>,
) {
    if budget.is_changed() {
        problems.write(ProblemReport { source: "settings.yaml: budget".into(), problems: budget.problems() });
    }
    if let Some(reached) = &questions.reached
        && !budget.caps().iter().any(|cap| cap.name == reached.name && cap.limit == reached.limit)
    {
        questions.reached = None;
        questions.run_cap_reached = None;
    }
}

/// Reports settings that try to switch a sandbox off.
pub(in crate::gateway) fn check_sandboxes(
    mcp: Res<McpSettings>,
    acp: Res<AcpSettings>,
    mut problems: MessageWriter<ProblemReport>,
) {
    if mcp.is_changed() || acp.is_changed() {
        let found = problems_of_settings(mcp.confined, acp.confined);
        problems.write(ProblemReport { source: "settings.yaml: sandboxes".into(), problems: found });
    }
}
