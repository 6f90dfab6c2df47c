//! Agents whose model cannot be called wait, and what they wait with is done in order of importance as soon as it can.

use std::cmp::Reverse;

use bevy::ecs::prelude::*;

use super::completion::read_later;
use super::components::{Activity, ActivityKind, AgentQuery, ModelWait, Queue};
use super::context::SimContext;
use super::mind_messages::{ModelAvailability, ModelsChanged, TryModel};
use super::queue::{Action, QueuedAction};
use crate::agent::{Agent, Roster};
use crate::base::{AgentKey, Id};
use crate::element::kinds::kind;
use crate::element::{Element, Elements, Wake};

/// Applies which agents wait for their model, and lets the most important of what waits try.
pub(super) fn apply_model_waits(
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut availability: MessageReader<ModelAvailability>,
    mut tries: MessageReader<TryModel>,
) {
    for ModelAvailability { agent, waits_because } in availability.read() {
        let Some(Ok(mut body)) = sim.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) else { continue };
        match waits_because {
            Some(why) => {
                let wait = body.activity.model_wait.get_or_insert_with(ModelWait::default);
                wait.why.clone_from(why);
                let is_on_the_way =
                    matches!(body.activity.doing, ActivityKind::Reading { .. } | ActivityKind::Attending { .. })
                        && body.activity.awaited.is_none();
                if is_on_the_way && body.activity.waits_for_model() {
                    read_later(&mut sim, &mut body);
                }
            }
            None => {
                body.activity.model_wait = None;
                body.queue.0.release_tried();
                sim.schedule_next(&mut body);
                sim.wake(&body);
            }
        }
    }
    for TryModel { agents, at_most } in tries.read() {
        let now = sim.now();
        let mut found = Vec::new();
        let mut trying = 0;
        for agent in agents {
            let Some(Ok(body)) = sim.roster.entity(*agent).map(|entity| bodies.get(entity)) else { continue };
            let Some(wait) = &body.activity.model_wait else { continue };
            if wait.may_try || body.activity.awaited.is_some() {
                trying += 1;
                continue;
            }
            let next = body.queue.0.first_due(now).filter(|next| next.action.needs_model());
            if let Some(next) = next.filter(|_| body.state.0.is_available()) {
                // Everyone tries in turn, so that content that a model never answers does not hold up the rest.
                found.push((wait.tries, next.action.rank(), next.cause, *agent));
            }
        }
        found.sort_unstable();
        let chosen: Vec<AgentKey> =
            found.into_iter().take(at_most.saturating_sub(trying)).map(|(.., agent)| agent).collect();
        for agent in chosen {
            let Some(Ok(mut body)) = sim.roster.entity(agent).map(|entity| bodies.get_mut(entity)) else { continue };
            if let Some(wait) = &mut body.activity.model_wait {
                wait.may_try = true;
            }
            sim.wake(&body);
        }
    }
}

/// What an agent waits with until its model can be called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingForModel {
    /// The id of the agent.
    pub agent: Id,
    /// The number of queued actions that wait.
    pub count: usize,
    /// Why the model cannot be called.
    pub why: String,
}

/// The agents that have something waiting until their model can be called.
pub fn waiting_for_model(world: &World) -> Vec<WaitingForModel> {
    let roster = world.resource::<Roster>().iter();
    let waiting = roster.filter_map(|(_, entity)| {
        let agent = world.get::<Agent>(entity)?.id.clone();
        let why = world.get::<Activity>(entity)?.model_wait.as_ref()?.why.clone();
        let queue = world.get::<Queue>(entity)?;
        let count = queue.0.iter().filter(|queued| queued.action.needs_model()).count();
        (count > 0).then_some(WaitingForModel { agent, count, why })
    });
    waiting.collect()
}

/// Queues the reading of what models did not take before they were changed, in order of importance.
pub(super) fn retry_given_up(
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut changed: MessageReader<ModelsChanged>,
    elements: Res<Elements>,
    all: Query<&Element>,
) {
    if changed.read().count() == 0 {
        return;
    }
    let everyone: Vec<_> = sim.roster.iter().map(|(_, entity)| entity).collect();
    for entity in everyone {
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        let mut reads: Vec<_> = std::mem::take(&mut body.activity.given_up)
            .into_keys()
            .filter_map(|key| {
                let sight = sim.space.sight(key)?;
                let is_unread = body.activity.version_read(key) != Some(sight.version);
                let element = elements.entity(key).and_then(|entity| all.get(entity).ok())?;
                (is_unread && sight.may_be_read_by(body.agent)).then_some((is_required(element), key))
            })
            .collect();
        reads.sort_unstable_by_key(|(high, key)| (Reverse(*high), *key));
        for (high, element) in reads {
            let cause = body.agent.added;
            sim.enqueue_later(&mut body, QueuedAction::new(Action::ReadElement { element, high }, cause));
        }
    }
}

/// Whether agents read its changes before anything else.
fn is_required(element: &Element) -> bool {
    let is_high = |wakes| matches!(wakes, Wake::Everyone(urgency) | Wake::Owner(urgency) if urgency.is_high());
    kind(&element.kind).is_some_and(|kind| kind.changes.iter().any(|change| is_high(change.wakes)))
}
