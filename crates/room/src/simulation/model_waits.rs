//! Agents whose model cannot be called wait, and what they wait with is done in order of importance as soon as it can:
//! first the turns in conversations of a person, then reading, and compactions last.

use std::cmp::Reverse;

use bevy::ecs::prelude::*;

use super::completion::read_later;
use super::components::{Activity, ActivityKind, AgentQuery, AgentQueryReadOnlyItem, ModelWait, Queue};
use super::context::SimContext;
use super::conversation::Conversations;
use super::conversation_state::ConversationState;
use super::mind_messages::{ModelAvailability, ModelsChanged, TryModel};
use super::queue::{Action, QueuedAction};
use crate::agent::{Agent, Roster};
use crate::base::{AgentKey, ConversationKey, Id, Seq};
use crate::element::kinds::kind;
use crate::element::{Element, Elements, Wake};

/// Applies which agents wait for their model, and lets the most important of what waits try.
pub(super) fn apply_model_waits(
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut availability: MessageReader<ModelAvailability>,
    mut tries: MessageReader<TryModel>,
    (mut talks, conversations): (ResMut<ConversationState>, Res<Conversations>),
) {
    let talks = talks.bypass_change_detection();
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
                // What an agent could not read while its model was away is read as soon as the model answers again.
                rule!("failed-reads-are-taken-up-again");
                body.activity.model_wait = None;
                body.queue.0.release_tried();
                release_turn(talks, &body.activity.doing);
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
            if let Some((rank, cause)) = first_to_try(&body, talks, &conversations, now) {
                // Everyone tries in turn, so that content that a model never answers does not hold up the rest.
                found.push((wait.tries, rank, cause, *agent));
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
            release_turn(talks, &body.activity.doing);
            sim.wake(&body);
        }
    }
}

/// The rank of a turn in a conversation of a person among what agents try with: before everything else.
const RANK_OF_TURN: u8 = 0;
/// The rank of a compaction there: after everything else.
const RANK_OF_COMPACTION: u8 = u8::MAX;

/// The rank and the cause of what a waiting agent would try with, if it can.
fn first_to_try(
    body: &AgentQueryReadOnlyItem,
    talks: &ConversationState,
    conversations: &Conversations,
    now: u64,
) -> Option<(u8, Seq)> {
    if let Some(conversation) = waiting_turn(body.agent.key, body.activity, conversations) {
        let turn = talks.turns.get(&conversation).filter(|_| !body.state.0.is_held())?;
        return Some((RANK_OF_TURN, turn.cause));
    }
    let next = body.queue.0.next(now, true).filter(|next| next.action.needs_model() && body.state.0.is_available())?;
    let rank = if next.action.is_compaction() { RANK_OF_COMPACTION } else { next.action.rank() };
    Some((rank, next.cause))
}

/// The conversation of a person in which it is the turn of this agent, whose model cannot be called.
fn waiting_turn(agent: AgentKey, activity: &Activity, conversations: &Conversations) -> Option<ConversationKey> {
    let ActivityKind::Talking { conversation } = activity.doing else { return None };
    let talk = conversations.get(conversation)?;
    let is_its_turn = talk.is_of_person() && talk.current_speaker() == Some(agent) && activity.awaited.is_none();
    (is_its_turn && activity.waits_for_model()).then_some(conversation)
}

/// Makes the turn due that an agent may take now.
fn release_turn(talks: &mut ConversationState, doing: &ActivityKind) {
    if let ActivityKind::Talking { conversation } = doing
        && let Some(turn) = talks.turns.get_mut(conversation)
    {
        turn.not_before = 0;
    }
}

/// What an agent waits with until its model can be called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingForModel {
    /// The id of the agent.
    pub agent: Id,
    /// The number of queued actions and turns in conversations that wait.
    pub count: usize,
    /// Why the model cannot be called.
    pub why: String,
}

/// The agents that have something waiting until their model can be called.
pub fn waiting_for_model(world: &World) -> Vec<WaitingForModel> {
    let roster = world.resource::<Roster>().iter();
    let conversations = world.resource::<Conversations>();
    let waiting = roster.filter_map(|(key, entity)| {
        let agent = world.get::<Agent>(entity)?.id.clone();
        let activity = world.get::<Activity>(entity)?;
        let why = activity.model_wait.as_ref()?.why.clone();
        let queue = world.get::<Queue>(entity)?;
        let turn = waiting_turn(key, activity, conversations);
        let count = queue.0.iter().filter(|queued| queued.action.needs_model()).count() + usize::from(turn.is_some());
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
