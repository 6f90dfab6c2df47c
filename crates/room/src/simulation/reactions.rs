//! Reactions at the end of a tick: finished thoughts, changed elements, news to tell.
//!
//! They are processed in the same tick, so that everything pending between two ticks is saved.

use bevy::ecs::prelude::*;

use super::actions::go_to_read;
use super::completion::{finish, read_later};
use super::components::{Activity, ActivityKind, AgentQuery, AgentQueryItem, News, PendingWork, Sight};
use super::context::SimContext;
use super::conversation::Conversations;
use super::conversation_state::ConversationState;
use super::conversations::apply_turn;
use super::interest::{PendingInterest, Place, WakeAgent};
use super::mind_messages::CompactionWanted;
use super::mind_messages::{Explain, NewsNoted, Think, ThinkDone, ThinkOutcome, WorkRequestWithdrawn, WorkRequested};
use super::motion::{Passed, Reacted};
use super::provenance::Provenance;
use super::queue::{Action, QueuedAction};
use super::state::StateEvent;
use crate::agent::Agent;
use crate::base::text_normalization::NormalizedWords;
use crate::base::{AgentKey, Author, Id, Seq};
use crate::element::kinds::kind;
use crate::element::{Element, ElementChange, ElementChanged, Elements, HeldContent, Wake, owns};
use crate::log::EventDraft;
use crate::log::events::{self};
use crate::schedule::ticks;
use crate::workspace::layout::APPROVALS_FILE;

/// Logs whom and what agents reacted to in this tick.
pub(super) fn record_reactions(
    mut sim: SimContext,
    agents: Query<(&Agent, &Activity)>,
    mut reacted: MessageReader<Reacted>,
) {
    for Reacted { agent, to, emoji } in reacted.read() {
        let Some(Ok((of, activity))) = sim.roster.entity(*agent).map(|entity| agents.get(entity)) else { continue };
        let mut reaction = events::Reaction { emoji: (*emoji).into(), ..events::Reaction::default() };
        match to {
            Passed::Agent(other) => reaction.to = sim.roster.id(*other).cloned(),
            Passed::Element(element) => reaction.element = sim.space.sight(*element).map(|sight| sight.id.clone()),
        }
        let cause = activity.state_record.unwrap_or(of.added);
        sim.log.write(EventDraft::of(&reaction).agent(&of.id).cause(cause));
    }
}

/// Applies the reasons why agents wait, and the results of their requests.
pub(super) fn apply_think_results(
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut talks: ResMut<ConversationState>,
    mut conversations: ResMut<Conversations>,
    mut explained: MessageReader<Explain>,
    mut done: MessageReader<ThinkDone>,
) {
    for explain in explained.read() {
        let Some(Ok(mut body)) = sim.roster.entity(explain.agent).map(|entity| bodies.get_mut(entity)) else {
            continue;
        };
        if body.activity.awaited == Some(explain.activity) {
            let event = if explain.for_person {
                StateEvent::WaitForPerson { why: explain.why.clone() }
            } else {
                StateEvent::Explain(explain.why.clone())
            };
            sim.transition(&mut body, event, explain.cause);
        }
    }
    for thought in done.read() {
        let Some(Ok(mut body)) = sim.roster.entity(thought.agent).map(|entity| bodies.get_mut(entity)) else {
            continue;
        };
        // Too late: the agent is doing something else now.
        if body.activity.awaited != Some(thought.activity) {
            continue;
        }
        if let Some(Think::Turn { conversation }) = thought.think {
            let mut table = (&mut sim, &mut bodies, &mut *talks, &mut *conversations);
            apply_turn(&mut table, conversation, thought.agent, &thought.outcome, thought.cause);
            continue;
        }
        body.activity.awaited = None;
        let may_wait = matches!(
            body.activity.doing,
            ActivityKind::Reading { .. } | ActivityKind::Attending { .. } | ActivityKind::Compacting { .. }
        );
        if may_wait && thought.outcome == ThinkOutcome::PutOff {
            read_later(&mut sim, &mut body);
            continue;
        }
        let doing = std::mem::take(&mut body.activity.doing);
        finish(&mut sim, &mut body, doing, &thought.outcome, thought.cause);
    }
}

/// Applies requests for agents to come to work, and their withdrawal.
pub(super) fn apply_work_requests(
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut requests: MessageReader<WorkRequested>,
    mut withdrawn: MessageReader<WorkRequestWithdrawn>,
) {
    for request in requests.read() {
        let Some(Ok(mut body)) = sim.roster.entity(request.agent).map(|entity| bodies.get_mut(entity)) else {
            continue;
        };
        body.activity.work.push_back(PendingWork {
            activation: request.activation,
            cause: request.cause,
            from: request.from,
            at: request.at.clone(),
        });
        sim.wake(&body);
    }
    for gone in withdrawn.read() {
        if let Some(Ok(mut body)) = sim.roster.entity(gone.agent).map(|entity| bodies.get_mut(entity)) {
            body.activity.work.retain(|work| work.activation != gone.activation);
        }
    }
}

/// Wakes the agents that changes of elements concern.
pub(super) fn wake_on_element_changes(
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut changes: MessageReader<ElementChanged>,
    elements: Res<Elements>,
    all: Query<(&Element, Option<&HeldContent>)>,
) {
    for changed in changes.read() {
        let element = elements.entity(changed.element).and_then(|entity| all.get(entity).ok());
        let Some((element, held)) = element.filter(|_| !changed.change.is(ElementChange::REMOVED)) else {
            sim.changes.forget(changed.element);
            stop_walking_to(&mut sim, &mut bodies, changed);
            continue;
        };
        let origin = origin_of(&sim, &bodies, &changed.by, changed.cause);
        let hops_at_most = sim.attention.max_hops;
        if !changed.change.is(ElementChange::REARRANGED) {
            sim.changes.note(element.key, element.version, origin, hops_at_most);
        }
        if changed.change.is(ElementChange::REARRANGED) {
            redirect_walkers(&mut sim, &mut bodies, element);
        }
        // A new element wakes no agent.
        if changed.change.is(ElementChange::ADDED) {
            continue;
        }
        // Questions to a person are not for agents to read.
        let is_for_person = element.file.as_deref() == Some(APPROVALS_FILE);
        let kind = kind(&element.kind).filter(|_| !is_for_person);
        let wake = kind.map_or(Wake::Nobody, |kind| kind.wakes(&changed.change));
        let item = changed.change.item().and_then(|id| held?.0.item(id));
        let change = Change { changed, element, wake, origin, author: item.map(|(author, _)| author) };
        let words = item.map(|(_, text)| NormalizedWords::of(text));
        wake_readers(&mut sim, &mut bodies, &change, words.as_ref());
    }
}

/// The origin of an event: an agent's act has the origin of its last request, everything else comes from outside.
fn origin_of(sim: &SimContext, bodies: &Query<AgentQuery>, by: &Author, cause: Seq) -> Provenance {
    let agent = sim.roster.key(&by.0).and_then(|key| sim.roster.entity(key));
    match agent.and_then(|entity| bodies.get(entity).ok()) {
        Some(body) => body.activity.origin.passed_on(),
        None => Provenance::outside(cause, sim.now()),
    }
}

/// Wakes agents for interests.
pub(super) fn wake(mut sim: SimContext, mut bodies: Query<AgentQuery>, mut wakes: MessageReader<WakeAgent>) {
    for wake in wakes.read() {
        let WakeAgent { agent, interest, by, cause } = wake;
        let origin = origin_of(&sim, &bodies, by, *cause);
        let Some(Ok(mut body)) = sim.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) else {
            let what = format!("there is nobody to wake: {}", interest.why.sentence);
            sim.log.write(EventDraft::of(&events::Warning::new(what)).cause(*cause));
            continue;
        };
        let pending = PendingInterest { interest: interest.clone().bounded(), origin };
        let action = QueuedAction::new(Action::Attend(Box::new(pending)), *cause);
        if origin.hops > sim.attention.max_hops {
            sim.dropped(&mut body, &action, "agents have already passed it on often enough");
            continue;
        }
        sim.enqueue_later(&mut body, action);
    }
}

/// A change with the data that decides whom it wakes.
struct Change<'a> {
    changed: &'a ElementChanged,
    element: &'a Element,
    wake: Wake,
    origin: Provenance,
    /// The id of the author of the changed item.
    author: Option<&'a Id>,
}

/// Whether a change wakes this agent, and if so, whether it is urgent.
fn wakes(change: &Change, agent: &Agent, sight: &Sight) -> Option<bool> {
    let urgency = match change.wake {
        Wake::Nobody => return None,
        Wake::Everyone(urgency) => urgency,
        Wake::Owner(urgency) => owns(change.element.owner.as_ref(), agent).then_some(urgency)?,
        Wake::Author(urgency) => (change.author == Some(&agent.id)).then_some(urgency)?,
    };
    sight.may_be_read_by(agent).then_some(urgency.is_high())
}

/// The earliest tick at which to read a change: at once if it came from outside or concerns the reader, otherwise some
/// time after its last look, so that changes are collected.
fn not_before(sim: &SimContext, body: &AgentQueryItem, change: &Change, words: Option<&NormalizedWords>) -> u64 {
    let concerns = matches!(change.wake, Wake::Owner(_) | Wake::Author(_))
        || words.is_some_and(|words| words.name(&body.agent.name) || words.name(&body.agent.id));
    match body.activity.read.get(&change.element.key) {
        Some(read) if change.origin.hops > 0 && !concerns => read.tick + ticks(sim.attention.collect_secs),
        _ => 0,
    }
}

fn wake_readers(
    sim: &mut SimContext,
    bodies: &mut Query<AgentQuery>,
    change: &Change,
    words: Option<&NormalizedWords>,
) {
    let Change { changed, element, wake, origin, .. } = *change;
    if matches!(wake, Wake::Nobody) {
        return;
    }
    let was_handed_on_enough = origin.hops > sim.attention.max_hops;
    let sight = Sight::of(element);
    let everyone: Vec<_> = sim.roster.iter().map(|(_, entity)| entity).collect();
    for entity in everyone {
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        if changed.by.0 == body.agent.id {
            // The author of a change knows the result if it knew the content before.
            if let Some(read) = body.activity.read.get_mut(&element.key)
                && read.version + 1 == element.version
            {
                read.version = element.version;
            }
            continue;
        }
        let Some(high) = wakes(change, body.agent, &sight).filter(|_| !was_handed_on_enough) else { continue };
        if body.activity.version_read(element.key) != Some(element.version) {
            let due = if high { 0 } else { not_before(sim, &body, change, words) };
            let action = Action::ReadElement { element: element.key, high };
            sim.enqueue_later(&mut body, QueuedAction::new(action, changed.cause).not_before(due));
        }
    }
}

fn stop_walking_to(sim: &mut SimContext, bodies: &mut Query<AgentQuery>, changed: &ElementChanged) {
    let everyone: Vec<_> = sim.roster.iter().map(|(_, entity)| entity).collect();
    for entity in everyone {
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        body.activity.read.remove(&changed.element);
        body.activity.told.remove(&changed.element);
        let ActivityKind::Reading { action, element, cause, .. } = &body.activity.doing else { continue };
        if *element == changed.element && body.activity.awaited.is_none() {
            let read = QueuedAction::new(action.clone(), *cause);
            body.activity.doing = ActivityKind::Nothing;
            sim.dropped(&mut body, &read, "it no longer exists");
            sim.transition(&mut body, StateEvent::Done, changed.cause);
        }
    }
}

/// Redirects agents that walk to an element to its present position.
fn redirect_walkers(sim: &mut SimContext, bodies: &mut Query<AgentQuery>, element: &Element) {
    let everyone: Vec<_> = sim.roster.iter().map(|(_, entity)| entity).collect();
    for entity in everyone {
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        follow_to_work(sim, &mut body, element);
        if body.activity.awaited.is_some() {
            continue;
        }
        match &body.activity.doing {
            ActivityKind::Reading { element: wanted, .. } if *wanted == element.key => {
                go_to_read(sim, &mut body, element.key, element.position);
            }
            ActivityKind::Attending { pending, .. }
                if matches!(&pending.interest.moment.place, Some(Place::Element(id)) if *id == element.id)
                    && body.walk.course.moves() =>
            {
                sim.apply_state(&mut body);
            }
            _ => {}
        }
    }
}

/// Redirects an agent that walks to its work at an element to the element's present position.
fn follow_to_work(sim: &mut SimContext, body: &mut AgentQueryItem, element: &Element) {
    let is_its = matches!(&body.activity.doing, ActivityKind::Working { at: Some(at), .. } if *at == element.id);
    if is_its && body.walk.course.moves() {
        sim.apply_state(body);
    }
}

/// Applies which agents have something to tell, and which sessions are to be compacted.
pub(super) fn apply_news_and_compactions(
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut news: MessageReader<NewsNoted>,
    mut compactions: MessageReader<CompactionWanted>,
    talks: Res<ConversationState>,
) {
    for wanted in compactions.read() {
        if let Some(Ok(mut body)) = sim.roster.entity(wanted.agent).map(|entity| bodies.get_mut(entity)) {
            sim.enqueue(&mut body, Action::CompactContext, wanted.cause);
        }
    }
    for heard in news.read().filter(|heard| heard.may_tell) {
        if !talks.switched_on() {
            continue;
        }
        let Some(to) = news_recipient(&sim, &bodies, heard) else { continue };
        let Some(Ok(mut body)) = sim.roster.entity(heard.agent).map(|entity| bodies.get_mut(entity)) else { continue };
        let action = QueuedAction::new(Action::ApproachAgent { agent: to }, heard.cause);
        let origin = body.activity.origin;
        if origin.hops >= sim.attention.max_hops {
            continue;
        }
        if body.activity.news.is_some() {
            let (action, why) = (Some(action.action.as_str()), "it already has something else to tell".into());
            let dropped = events::ActionDropped { action, why, ..events::ActionDropped::default() };
            sim.write(&body, heard.cause, &dropped);
            continue;
        }
        body.activity.news = Some(News {
            to,
            element: heard.element,
            version: heard.version,
            note: heard.note.clone(),
            cause: heard.cause,
            origin,
        });
        sim.enqueue(&mut body, action.action, heard.cause);
    }
}

/// The nearest agent that may know the news, has not read it, is not about to read it and was not told.
fn news_recipient(sim: &SimContext, bodies: &Query<AgentQuery>, heard: &NewsNoted) -> Option<AgentKey> {
    let sight = sim.space.sight(heard.element)?;
    let from = sim.space.position(heard.agent)?;
    let near = sim.space.agents_within(from, sim.attention.tell_units);
    near.into_iter().filter(|agent| *agent != heard.agent).find(|agent| {
        sim.roster.entity(*agent).and_then(|entity| bodies.get(entity).ok()).is_some_and(|body| {
            let is_about_to = body.queue.0.holds_read_of(heard.element) || body.activity.reads(heard.element);
            sight.may_be_read_by(body.agent) && !is_about_to && !body.activity.knows(heard.element, heard.version)
        })
    })
}
