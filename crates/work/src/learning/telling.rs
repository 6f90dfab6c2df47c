//! What is recalled and added is told in the log, and what others do to the files is heard.

use bevy::ecs::prelude::*;

use super::answering::{LOGGED_CHARS, TOLD};
use super::bridge::KnowledgeBridge;
use crate::agent::Roster;
use crate::base::text::truncate;
use crate::knowledge::Owner;
use crate::log::events::Knowledge;
use crate::log::{EventDraft, EventLog};
use crate::memory::Reminder;
use crate::mind::parts::REMEMBERED;
use crate::mind::{PartGathered, PendingRequests};
use crate::tools::{KNOWLEDGE, OrdersUnderWay, ToolNews, ToolOutcome};
use crate::workspace::vfs::OutsideChange;

/// Tells of what was put into prompts: which memories, and why those.
pub(super) fn tell_recalled(
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

/// Tells of what calls of tools found, added and changed.
pub(super) fn tell_calls(
    mut outcomes: MessageReader<ToolOutcome>,
    orders: Res<OrdersUnderWay>,
    mut log: ResMut<EventLog>,
) {
    for outcome in outcomes.read() {
        let ToolNews::Done { output } = &outcome.news else { continue };
        let Some(order) = orders.get(outcome.key).filter(|order| *order.plan.executor == *KNOWLEDGE) else { continue };
        let told = output.data.as_ref().and_then(|data| data.get(TOLD)).cloned();
        let Some(Ok(told)) = told.map(serde_json::from_value::<Knowledge>) else { continue };
        let draft = EventDraft::of(&told).agent(&order.agent).activation(&order.key.activation.id());
        log.write(draft.cause(order.cause));
    }
}

/// Hears what others did to the files of what is known, which are read again then.
pub(super) fn follow_files(mut changes: MessageReader<OutsideChange>, mut bridge: ResMut<KnowledgeBridge>) {
    for owner in changes.read().filter_map(|change| Owner::by_place(&change.path)) {
        bridge.note_changed(owner);
    }
}
