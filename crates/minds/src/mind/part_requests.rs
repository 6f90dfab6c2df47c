//! Handles the orders for looked-up parts of prompts: results are stored, and late ones are given up.

use bevy::ecs::prelude::*;

use super::context_builder::RoomParams;
use super::gather_stage::{Gathering, OrderStatus, PartGathered};
use super::pending::PendingRequests;
use crate::base::text::truncate;
use crate::base::{AgentKey, Id, RequestId, Seq};
use crate::log::events::Warning;
use crate::log::{EventDraft, EventLog};
use crate::simulation::{ActivityId, ThinkDone, ThinkOutcome};

/// Stores the results of orders.
pub(super) fn receive(
    mut gathered: MessageReader<PartGathered>,
    room: RoomParams,
    mut pending: ResMut<PendingRequests>,
    mut log: ResMut<EventLog>,
) {
    for PartGathered { key, outcome } in gathered.read() {
        let gathering = pending.gathering.get_mut(&key.request);
        let found = gathering.and_then(|gathering| {
            let (agent, cause) = (gathering.agent(), gathering.cause());
            Some((agent, cause, gathering.wanted.get_mut(&key.part)?))
        });
        let Some((agent, cause, wanted @ OrderStatus::Open { .. })) = found else {
            let what = format!("“{}” arrived for a prompt that is not waiting for it; it was dropped", key.part);
            log.write(EventDraft::of(&Warning { request: Some(key.request), ..Warning::new(what) }));
            continue;
        };
        *wanted = match outcome {
            Ok(text) => OrderStatus::Here { text: truncate(text, room.settings.max_prompt_chars) },
            Err(why) => missing((&room, &mut log), (key.request, agent, cause), &key.part, why.clone()),
        };
    }
}

/// Gives up orders whose deadline has passed.
pub(super) fn expire(room: RoomParams, mut pending: ResMut<PendingRequests>, mut log: ResMut<EventLog>) {
    let now = room.clock.tick();
    for (request, gathering) in &mut pending.gathering {
        let about = (*request, gathering.agent(), gathering.cause());
        if now < gathering.until_tick {
            continue;
        }
        for (id, wanted) in &mut gathering.wanted {
            if let OrderStatus::Open { .. } = wanted {
                let why = format!("there was no answer within {} s", room.settings.gather_secs);
                *wanted = missing((&room, &mut log), about, id, why);
            }
        }
    }
}

fn missing(
    (room, log): (&RoomParams, &mut EventLog),
    (request, agent, cause): (RequestId, AgentKey, Seq),
    part: &Id,
    why: String,
) -> OrderStatus {
    let label = room.parts.get(part).map_or(part, |provider| &provider.label);
    let what = format!("“{label}” was left out of a prompt: {why}");
    let draft = EventDraft::of(&Warning { request: Some(request), ..Warning::new(what) }).cause(cause);
    log.write(match room.agent(agent) {
        Some((agent, _)) => draft.agent(&agent.id),
        None => draft,
    });
    OrderStatus::Missing { why }
}

/// Gives up the selected requests that are still being gathered, and answers each with `outcome`.
pub(super) fn give_up(
    pending: &mut PendingRequests,
    done: &mut MessageWriter<ThinkDone>,
    outcome: &ThinkOutcome,
    is_it: impl Fn(AgentKey, ActivityId) -> bool,
) {
    let is_it = |gathering: &Gathering| is_it(gathering.agent(), gathering.activity());
    let given_up: Vec<RequestId> =
        pending.gathering.iter().filter(|(_, gathering)| is_it(gathering)).map(|(id, _)| *id).collect();
    for gathering in given_up.iter().filter_map(|id| pending.gathering.remove(id)) {
        done.write_batch(gathering.done(outcome.clone()));
    }
}
