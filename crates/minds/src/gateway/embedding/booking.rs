//! Adds the usage of embeddings to the room's ledger: it counts toward the limits of the run and of the hour, and is
//! logged as a model call.

use std::time::Duration;

use bevy::ecs::message::{Message, MessageReader};
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::meter::Reading;
use super::{EmbeddingAccess, EmbeddingMeter};
use crate::gateway::limits::budget::BudgetSettings;
use crate::gateway::limits::ledger::{BudgetClock, Reservation, Tally};
use crate::gateway::providers::address::ServerOwner;
use crate::gateway::requests::request_queue::{RequestQueue, tally};
use crate::gateway::requests::user_overrides::CallApart;
use crate::log::EventLog;
use crate::mind::{CallKind, Usage};
use crate::schedule::Input;

/// The assumed size of a request when its budget is checked, in tokens: that of a few sentences.
const USUAL_TOKENS: u32 = 200;

/// The usage of an embedding model. An input: the vectors themselves stay outside of the world.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EmbeddingUsed {
    /// The name of the provider.
    pub provider: String,
    /// The name of the model.
    pub model: String,
    /// The usage.
    pub used: Tally,
    /// The duration of the requests in milliseconds.
    pub duration_ms: u64,
    /// Whether the model is on this computer or its network.
    pub is_local: bool,
    /// The message of the last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Input for EmbeddingUsed {
    const KIND: &'static str = "embedding_used";
}

impl EmbeddingUsed {
    /// Reads the usage since the last call; `None` if there was none.
    pub fn take(access: &EmbeddingAccess, meter: &EmbeddingMeter) -> Option<Self> {
        let Reading { calls, tokens, duration, failure, .. } = meter.take()?;
        let usage = Usage { input_tokens: u32::try_from(tokens).unwrap_or(u32::MAX), ..Usage::default() };
        Some(Self {
            provider: access.choice.provider.clone(),
            model: access.choice.model.clone(),
            used: tally(access.rate, usage, calls),
            duration_ms: millis(duration),
            is_local: access.site == ServerOwner::Local,
            failure,
        })
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Adds the usage to the ledger.
pub(in crate::gateway) fn book(
    mut used: MessageReader<EmbeddingUsed>,
    mut questions: ResMut<RequestQueue>,
    mut log: ResMut<EventLog>,
) {
    for used in used.read() {
        let call = CallApart {
            kind: "embedding",
            asked: (&used.provider, &used.model),
            timekeeping: BudgetClock::Outside,
            is_local: used.is_local,
            used: used.used,
            duration_ms: used.duration_ms,
            failure: used.failure.as_ref(),
        };
        call.book(&mut questions, &mut log);
    }
}

/// Returns why the embedding model must not be called, if a limit of the room is reached.
pub fn refusal_by_caps(access: &EmbeddingAccess, questions: &RequestQueue, budget: &BudgetSettings) -> Option<String> {
    let usage = Usage { input_tokens: USUAL_TOKENS, ..Usage::default() };
    let wanted = Reservation {
        agent: "user".into(),
        activation: None,
        kind: CallKind::Learning,
        timekeeping: BudgetClock::Outside,
        is_local: access.is_local(),
        most: tally(access.rate, usage, 1),
    };
    let refusal = questions.ledger.would_refuse(&wanted, &budget.caps_of_room())?;
    Some(format!(
        "{} was not called: {}. What to do: {}",
        access.choice.provider,
        refusal.description(),
        refusal.remedy()
    ))
}
