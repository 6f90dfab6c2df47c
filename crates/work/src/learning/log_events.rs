//! Logs recalled and added memories, and processes external changes of the files.

use bevy::ecs::prelude::*;

use super::bridge::KnowledgeBridge;
use super::embedder::EmbedderChoice;
use super::knowledge_calls::{CONTRADICTIONS, EVENT, LOGGED_CHARS};
use super::service::EmbedderInUse;
use super::settings::KnowledgeSettings;
use crate::agent::Roster;
use crate::base::Problem;
use crate::base::text::truncate;
use crate::gateway::embedding::refusal_by_caps;
use crate::gateway::{BudgetSettings, GatewayEnvironment, GatewaySettings, PriceSettings, RequestQueue};
use crate::knowledge::Owner;
use crate::log::events::{Knowledge, Warning};
use crate::log::{EventDraft, EventLog};
use crate::memory::Reminder;
use crate::mind::parts::REMEMBERED;
use crate::mind::{PartGathered, PendingRequests};
use crate::tools::{KNOWLEDGE, OrderOutcome, OrderReport, PendingToolOrders};
use crate::workspace::ProblemReport;
use crate::workspace::vfs::OutsideChange;

/// Logs which memories were put into prompts, with their scores.
pub(super) fn log_recalled(
    mut gathered: MessageReader<PartGathered>,
    (pending, roster): (Res<PendingRequests>, Res<Roster>),
    mut log: ResMut<EventLog>,
) {
    for PartGathered { key, outcome } in gathered.read().filter(|part| *part.key.part == *REMEMBERED) {
        let Some((agent, cause)) = pending.gathered_for(key.request) else { continue };
        let Reminder { about, memories } = outcome.as_ref().map(|text| Reminder::parse(text)).unwrap_or_default();
        if memories.is_empty() {
            continue;
        }
        let about = truncate(&about, LOGGED_CHARS);
        let memories = memories.into_iter().map(|memory| memory.score).collect();
        let draft = EventDraft::of(&Knowledge::Recalled { about, memories }).cause(cause);
        log.write(match roster.id(agent) {
            Some(id) => draft.agent(id),
            None => draft,
        });
    }
}

/// Logs the memories that tool calls found, added and changed.
pub(super) fn log_calls(
    mut outcomes: MessageReader<OrderOutcome>,
    orders: Res<PendingToolOrders>,
    mut log: ResMut<EventLog>,
) {
    for outcome in outcomes.read() {
        let OrderReport::Done { output } = &outcome.news else { continue };
        let Some(order) = orders.get(outcome.key).filter(|order| *order.plan.executor == *KNOWLEDGE) else { continue };
        let told = output.data.as_ref().and_then(|data| data.get(EVENT)).cloned();
        let Some(Ok(told)) = told.map(serde_json::from_value::<Knowledge>) else { continue };
        let of_call =
            |draft: EventDraft| draft.agent(&order.agent).activation(&order.key.activation.id()).cause(order.cause);
        log.write(of_call(EventDraft::of(&told)));
        let contradictions = output.data.as_ref().and_then(|data| data.get(CONTRADICTIONS)?.as_array());
        for what in contradictions.into_iter().flatten().filter_map(|what| what.as_str()) {
            log.write(of_call(contradiction(what)));
        }
    }
}

/// The warning about two memories that contradict each other.
pub(super) fn contradiction(what: &str) -> EventDraft {
    let remedy = "fix or forget one of them: `workshop knowledge show` says where they are";
    EventDraft::of(&Warning::new(what.to_owned()).with_remedy(remedy))
}

/// Requests that externally changed memory files be read again.
pub(super) fn follow_files(mut changes: MessageReader<OutsideChange>, bridge: Res<KnowledgeBridge>) {
    for owner in changes.read().filter_map(|change| Owner::by_place(&change.path)) {
        bridge.note_changed(owner);
    }
}

/// The source of problem reports about the embedding model.
const EMBEDDER: &str = "knowledge.embedder";

/// Records which embedding model is in use, and reports if it is not the one in the settings.
pub(super) fn follow_embedder(
    mut told: MessageReader<EmbedderInUse>,
    mut in_use: ResMut<EmbedderInUse>,
    mut reports: MessageWriter<ProblemReport>,
) {
    for told in told.read() {
        let problem = |why: &String| {
            let what = format!("memory search uses {}: {why}", told.model);
            let remedy = "memory search still works, and this is retried automatically";
            Problem::warning(format!("settings.yaml: {EMBEDDER}"), what, remedy)
        };
        let problems = told.trouble.iter().map(problem).collect();
        reports.write(ProblemReport { source: EMBEDDER.to_owned(), problems });
        *in_use = told.clone();
    }
}

/// Switches the embedding model when settings change.
pub(super) fn choose_embedder(
    knowledge: Res<KnowledgeSettings>,
    (gateway, prices, surroundings): (Res<GatewaySettings>, Res<PriceSettings>, Res<GatewayEnvironment>),
    mut bridge: ResMut<KnowledgeBridge>,
) {
    if knowledge.is_changed() || gateway.is_changed() || prices.is_changed() || surroundings.is_changed() {
        bridge.choose_embedder(EmbedderChoice::of(&knowledge, &gateway, &prices, &surroundings.0));
    }
}

/// Keeps the embedding model within the limits of the room, and sends a new choice to the service.
pub(super) fn limit_embedder(
    mut bridge: ResMut<KnowledgeBridge>,
    queue: Res<RequestQueue>,
    budget: Res<BudgetSettings>,
) {
    bridge.release_ended();
    bridge.follow_embedder(|access| refusal_by_caps(access, &queue, &budget));
}
