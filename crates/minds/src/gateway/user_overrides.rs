//! What a person decides about models while the room runs: which provider answers in place of everyone's choice, the
//! cost of provider tests, and which limits apply.

use bevy::ecs::message::{Message, MessageReader, MessageWriter};
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::budget::BudgetSettings;
use super::ledger::{Tally, Timekeeping};
use super::request_queue::RequestQueue;
use crate::log::events::{CallFailure, Input as Logged, ModelCall};
use crate::log::{EventDraft, EventLog};
use crate::mind::ModelFailure;
use crate::schedule::Input;
use crate::workspace::ProblemReport;

/// From now until the run ends, this provider answers in place of all others, or none does any more. An input. Running
/// and waiting requests keep their provider.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProviderOverride {
    /// `offline`, `openai:gpt-x`; none to go by the settings and the agents again.
    pub provider: Option<String>,
}

impl Input for ProviderOverride {
    const KIND: &'static str = "stand_in";
}

/// The usage of a provider test by a person. An input: it was not requested by the room, but counts toward the limits
/// of the run and of the hour.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TrialUsed {
    /// Who was asked.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// Whose minutes count.
    pub timekeeping: Timekeeping,
    /// How long it took.
    pub duration_ms: u64,
    /// What it used.
    pub used: Tally,
    /// Whether it was answered on this computer or its network.
    #[serde(default)]
    pub is_local: bool,
    /// What went wrong, in words; nothing where an answer came.
    pub failure: Option<String>,
    /// The same with its kind and its remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<ModelFailure>,
    /// When it was over, in milliseconds of the wall clock since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
}

impl Input for TrialUsed {
    const KIND: &'static str = "provider_trial";
}

/// A call that was not requested by the room, but counts toward the limits of the run and of the hour.
pub(super) struct CallApart<'a> {
    /// What for, as the log says it.
    pub(super) kind: &'static str,
    /// Provider and model.
    pub(super) asked: (&'a str, &'a str),
    /// Whose minutes count.
    pub(super) timekeeping: Timekeeping,
    /// Whether it was answered on this computer or its network.
    pub(super) is_local: bool,
    /// What it used.
    pub(super) used: Tally,
    /// How long it took.
    pub(super) duration_ms: u64,
    /// What went wrong, in words.
    pub(super) failure: Option<&'a String>,
}

impl CallApart<'_> {
    /// Books it, and says it in the log.
    pub(super) fn book(&self, questions: &mut RequestQueue, log: &mut EventLog) {
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

/// Takes in what a person decided and tried out.
pub(super) fn apply_user_overrides(
    mut overrides: MessageReader<ProviderOverride>,
    mut trials: MessageReader<TrialUsed>,
    mut questions: ResMut<RequestQueue>,
    mut log: ResMut<EventLog>,
) {
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

/// Says when the caps in the settings make no sense, and forgets that a cap was reached once it is another.
/// The next question that does not fit says it again.
pub(super) fn check_budget(
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
