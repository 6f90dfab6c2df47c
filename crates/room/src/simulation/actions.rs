//! Starts actions: an idle agent takes the next one from its queue, and an agent that arrives begins to think.

use bevy::ecs::prelude::*;
use bevy::math::Vec2;

use super::completion::{finish, read_later};
use super::components::{ActivityKind, AgentQuery, AgentQueryItem, News, PendingWork, Timer};
use super::context::SimContext;
use super::conversation::ConversationKind;
use super::conversation_rules::{self, Proposal};
use super::conversation_state::ConversationState;
use super::interest::PendingInterest;
use super::mind_messages::{ActivityId, ArrivedForWork, Think, ThinkDue, ThinkOutcome, ThinkPutOff};
use super::motion::Walked;
use super::provenance::Provenance;
use super::queue::{Action, QueuedAction};
use super::state::{State, StateEvent};
use super::steering::{Course, WalkKind};
use super::walking::spot_of;
use crate::base::{AgentKey, ElementKey, Id, Seq, Urgency};
use crate::log::events::ActionDropped;
use crate::navigation::BODY_UNITS;
use crate::schedule::ticks;

/// Why an agent is not told what it already knows.
const KNOWS: &str = "the other agent already knows";

/// Lets all idle agents start their next action.
pub(super) fn start_next_actions(
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut talks: ResMut<ConversationState>,
    (mut due, mut at_work): (MessageWriter<ThinkDue>, MessageWriter<ArrivedForWork>),
    mut put_off: MessageWriter<ThinkPutOff>,
) {
    let mut awake = std::mem::take(&mut sim.calendar.awake);
    awake.sort_unstable();
    awake.dedup();
    for agent in awake {
        let Some(entity) = sim.roster.entity(agent) else { continue };
        // The agent to be approached is looked up before the agent itself is borrowed.
        let listener = listener(&sim, &bodies, entity);
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        if body.wants_to_turn_back(sim.now()) {
            let cause = body.activity.state_record;
            end_errand(&mut sim, &mut body, talks.bypass_change_detection(), &[]);
            sim.transition(&mut body, StateEvent::Done, cause);
        }
        if body.reads_with_less_need(sim.now()) {
            match body.activity.awaited {
                Some(activity) => {
                    put_off.write(ThinkPutOff { agent, activity });
                }
                None => read_later(&mut sim, &mut body),
            }
        }
        let strolls = body.state.0.lower() == State::Wandering && body.walk.course.kind == WalkKind::Stroll;
        while body.state.0.is_available() && !strolls {
            if !start_next(&mut sim, &mut body, listener.as_ref(), (&mut due, &mut at_work)) {
                break;
            }
        }
    }
}

/// The agent that is to be told something.
struct Listener {
    name: Id,
    /// Whether it already knows it.
    knows: bool,
}

fn listener(sim: &SimContext, bodies: &Query<AgentQuery>, agent: Entity) -> Option<Listener> {
    let body = bodies.get(agent).ok()?;
    let news = body.activity.news.as_ref()?;
    let other = bodies.get(sim.roster.entity(news.to)?).ok()?;
    Some(Listener { name: other.agent.name.clone(), knows: other.activity.knows(news.element, news.version) })
}

/// Starts the next queued action or work; returns whether there was one.
fn start_next(
    sim: &mut SimContext,
    body: &mut AgentQueryItem,
    listener: Option<&Listener>,
    (due, at_work): (&mut MessageWriter<ThinkDue>, &mut MessageWriter<ArrivedForWork>),
) -> bool {
    let now = sim.now();
    let compacts =
        body.next_action(now).is_some_and(|first| first.action == Action::CompactContext) && !sim.rest.holds();
    if !compacts && let Some(work) = body.activity.work.pop_front() {
        let PendingWork { activation, cause, from, at } = work;
        let board = at.as_ref().and_then(|at| sim.space.sights.iter().find(|sight| sight.id == *at));
        let why = match board {
            Some(board) => on_the_way(&board.label).into(),
            None => "starting its work".into(),
        };
        body.activity.doing = ActivityKind::Working { activation, cause, from, at };
        sim.transition(body, StateEvent::WorkStarted { why }, cause);
        body.activity.origin = Provenance::outside(cause, now);
        at_work.write(ArrivedForWork { agent: body.agent.key, activity: begin_activity(body), activation, cause });
        return true;
    }
    if sim.rest.holds() || body.activity.waits_for_model() {
        return false;
    }
    let is_try = body.activity.model_wait.is_some();
    let Some(next) = body.queue.0.pop(now, is_try) else { return false };
    match next.action.clone() {
        Action::CompactContext => {
            body.activity.doing = ActivityKind::Compacting { cause: next.cause, failures: next.failures };
            sim.transition(body, StateEvent::WorkStarted { why: "summing up what it knows".into() }, next.cause);
            think(body, Think::Compact, Urgency::Read, next.cause, due);
        }
        Action::ReadElement { element, .. } => start_reading(sim, body, next, element, false),
        Action::SeekInfo { element } => start_reading(sim, body, next, element, true),
        Action::ApproachAgent { agent } => walk_to_tell(sim, body, &next, agent, listener),
        Action::Attend(pending) => start_attending(sim, body, &next, pending),
    }
    true
}

fn start_reading(
    sim: &mut SimContext,
    body: &mut AgentQueryItem,
    next: QueuedAction,
    element: ElementKey,
    seeks: bool,
) {
    let Some(sight) = sim.space.sight(element).cloned() else {
        sim.dropped(body, &next, "it no longer exists");
        return;
    };
    if !sight.may_be_read_by(body.agent) {
        sim.dropped(body, &next, "it belongs to someone else");
        return;
    }
    if !seeks && body.activity.version_read(element) == Some(sight.version) {
        sim.dropped(body, &next, "it has been read in the meantime");
        return;
    }
    let Some((spot, waits)) = sim.take_place(body, element, sight.position) else {
        sim.dropped(body, &next, "it cannot be reached");
        return;
    };
    let (arrive, version) = (sim.movement.arrive_units, sight.version);
    let QueuedAction { action, cause, failures, .. } = next;
    body.activity.doing = ActivityKind::Reading { action, element, spot, arrive, waits, version, cause, failures };
    let why = if waits { waiting_at(&sight.label) } else { format!("walking to {} to read it", sight.label) };
    sim.transition(body, StateEvent::ReadingStarted { why: why.into() }, cause);
    let patience_secs = if waits { sim.attention.place_patience_secs } else { sim.attention.tell_patience_secs };
    let patience = sim.now() + ticks(patience_secs);
    sim.set(body, Timer::GiveUp, patience);
}

/// The reason of an agent that waits in front of an element without free places, for people.
fn waiting_at(label: &str) -> String {
    format!("waiting for a place at {label}")
}

fn walk_to_tell(
    sim: &mut SimContext,
    body: &mut AgentQueryItem,
    next: &QueuedAction,
    to: AgentKey,
    listener: Option<&Listener>,
) {
    let news = body.activity.news.as_ref().filter(|news| news.to == to);
    let (Some(news), Some(Listener { name, knows })) = (news, listener) else {
        sim.dropped(body, next, "there is nobody to tell");
        return;
    };
    if *knows {
        sim.dropped(body, next, KNOWS);
        return;
    }
    let about = sim.space.sight(news.element).map(|sight| sight.label.clone());
    let why = format!("going to tell {name} about {}", about.as_deref().unwrap_or("something")).into();
    body.activity.doing = ActivityKind::Telling { to, cause: next.cause };
    let patience = sim.now() + ticks(sim.attention.tell_patience_secs);
    sim.set(body, Timer::GiveUp, patience);
    sim.transition(body, StateEvent::SetOut { why }, next.cause);
}

/// Lets an agent turn to an interest: it walks there first if that is somewhere else.
fn start_attending(
    sim: &mut SimContext,
    body: &mut AgentQueryItem,
    next: &QueuedAction,
    pending: Box<PendingInterest>,
) {
    let sentence = pending.interest.why.sentence.clone();
    body.activity.doing = ActivityKind::Attending { pending, cause: next.cause, failures: next.failures };
    sim.transition(body, StateEvent::WorkStarted { why: sentence.into() }, next.cause);
    let patience = sim.now() + ticks(sim.attention.tell_patience_secs);
    sim.set(body, Timer::GiveUp, patience);
}

/// Lets an agent think about the interest it turned to, from where it is.
pub(super) fn attend(sim: &mut SimContext, body: &mut AgentQueryItem, due: &mut MessageWriter<ThinkDue>) {
    sim.walk_to(body, Course::STAND);
    let ActivityKind::Attending { pending, cause, .. } = &body.activity.doing else { return };
    if body.activity.awaited.is_some() {
        return;
    }
    let (interest, cause, origin) = (pending.interest.clone(), *cause, pending.origin);
    body.activity.origin = origin;
    let urgency = interest.urgency;
    think(body, Think::Attend { interest: Box::new(interest) }, urgency, cause, due);
}

/// Ends an agent's errand. Returns its news for one of the agents that it talks with now, because it can tell that at
/// once; news for others is queued again.
pub(super) fn end_errand(
    sim: &mut SimContext,
    body: &mut AgentQueryItem,
    talks: &mut ConversationState,
    with: &[AgentKey],
) -> Option<(ElementKey, u32)> {
    let (to, cause) = match std::mem::take(&mut body.activity.doing) {
        ActivityKind::Telling { to, cause } => (to, cause),
        ActivityKind::Gathering { proposal, .. } => {
            let index = talks.waiting.iter().position(|waiting| waiting.id == proposal)?;
            if talks.waiting[index].kind == ConversationKind::Task {
                // The deadline of the waiting participants is set again when it is back.
                talks.waiting[index].deadline = None;
                return None;
            }
            let proposal = talks.waiting.remove(index);
            let to = proposal.participants.iter().copied().find(|other| *other != body.agent.key)?;
            let (element, version) = proposal.news?;
            let Proposal { topic: note, cause, origin, .. } = proposal;
            if body.activity.news.is_some() {
                let action = Some(Action::ApproachAgent { agent: to }.as_str());
                let why = "it already has something else to tell".into();
                sim.write(body, cause, &ActionDropped { action, why, ..ActionDropped::default() });
                return None;
            }
            body.activity.news = Some(News { to, element, version, note, cause, origin });
            (to, cause)
        }
        other => {
            body.activity.doing = other;
            return None;
        }
    };
    if with.contains(&to) {
        let action = QueuedAction::new(Action::ApproachAgent { agent: to }, cause);
        sim.write_dropped(body, &action, "it is told in a conversation that begins now");
        return body.activity.news.take().map(|news| (news.element, news.version));
    }
    sim.enqueue_again(body, QueuedAction::new(Action::ApproachAgent { agent: to }, cause));
    None
}

fn think(body: &mut AgentQueryItem, think: Think, urgency: Urgency, cause: Seq, due: &mut MessageWriter<ThinkDue>) {
    let activity = begin_activity(body);
    body.note_try();
    due.write(ThinkDue { agent: body.agent.key, activity, think, urgency, cause });
}

/// Starts a new activity of an agent, whose end it waits for.
fn begin_activity(body: &mut AgentQueryItem) -> ActivityId {
    let activity = body.activity.next_activity();
    body.activity.awaited = Some(activity);
    activity
}

/// Continues the action of an agent that has arrived.
pub(super) fn arrive(
    In(Walked { arrived, astray }): In<Walked>,
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut talks: ResMut<ConversationState>,
    mut due: MessageWriter<ThinkDue>,
) {
    for agent in astray {
        if let Some(Ok(mut body)) = sim.roster.entity(agent).map(|entity| bodies.get_mut(entity)) {
            sim.reroute(&mut body);
        }
    }
    for agent in arrived {
        let Some(entity) = sim.roster.entity(agent) else { continue };
        let listener = listener(&sim, &bodies, entity);
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        if sim.turn(&mut body) {
            continue;
        }
        match body.walk.course.kind {
            WalkKind::ToElement | WalkKind::ToAgent
                if matches!(body.activity.doing, ActivityKind::Attending { .. }) =>
            {
                attend(&mut sim, &mut body, &mut due);
            }
            WalkKind::ToAgent if matches!(body.activity.doing, ActivityKind::Working { .. }) => {
                take_over(&mut sim, &mut body)
            }
            WalkKind::ToElement if matches!(body.activity.doing, ActivityKind::Working { at: Some(_), .. }) => {
                take_from_board(&mut sim, &mut body);
            }
            WalkKind::Lap => sim.continue_round(&mut body),
            WalkKind::ToElement => arrive_at_element(&mut sim, &mut body, &mut due),
            WalkKind::ToAgent => arrive_at_agent(&mut sim, &mut body, &mut talks, listener.as_ref()),
            _ => {
                sim.walk_to(&mut body, Course::STAND);
                sim.begin_visit(&mut body);
                sim.wake(&body);
            }
        }
    }
}

/// An agent has reached the agent that hands over its work, and continues to the place where it does the work.
fn take_over(sim: &mut SimContext, body: &mut AgentQueryItem) {
    if let ActivityKind::Working { from, .. } = &mut body.activity.doing {
        *from = None;
    }
    sim.apply_state(body);
}

/// An agent has reached the element at which its work is found, and continues with it.
fn take_from_board(sim: &mut SimContext, body: &mut AgentQueryItem) {
    let ActivityKind::Working { at, cause, .. } = &mut body.activity.doing else { return };
    let (board, cause) = (at.take(), *cause);
    let board = board.and_then(|board| sim.space.sights.iter().find(|sight| sight.id == board));
    // If the reason changed meanwhile, it is newer.
    if let Some(board) = board.filter(|board| body.state.0.why() == on_the_way(&board.label)) {
        let why = format!("working on its task from {}", board.label).into();
        sim.transition(body, StateEvent::Explain(why), cause);
    }
    sim.apply_state(body);
}

fn on_the_way(label: &str) -> String {
    format!("going to {label} to start its task")
}

fn arrive_at_element(sim: &mut SimContext, body: &mut AgentQueryItem, due: &mut MessageWriter<ThinkDue>) {
    sim.walk_to(body, Course::STAND);
    let ActivityKind::Reading { element, spot, waits, .. } = body.activity.doing else { return };
    match sim.space.sight(element).map(|sight| sight.position) {
        Some(_) if waits => {}
        // The element was moved meanwhile.
        Some(at) if sim.claims.place_of((element, at), body.agent.key) != Some(spot) => {
            go_to_read(sim, body, element, at);
        }
        _ => read_here(sim, body, due),
    }
}

/// Lets an agent that has waited long enough for a place read from where it is, so that a crowd never hides news.
pub(super) fn read_without_place(sim: &mut SimContext, body: &mut AgentQueryItem, due: &mut MessageWriter<ThinkDue>) {
    sim.walk_to(body, Course::STAND);
    let (here, agent) = (body.position.0, body.agent.key);
    let ActivityKind::Reading { element, spot, waits, .. } = &mut body.activity.doing else { return };
    (*spot, *waits) = (here, false);
    sim.claims.release(*element, agent);
    read_here(sim, body, due);
}

/// Lets an agent read the changes of the element that it has reached.
fn read_here(sim: &mut SimContext, body: &mut AgentQueryItem, due: &mut MessageWriter<ThinkDue>) {
    let ActivityKind::Reading { action, element, cause, .. } = &body.activity.doing else { return };
    let (action, element, cause) = (action.clone(), *element, *cause);
    let Some(sight) = sim.space.sight(element) else {
        body.activity.doing = ActivityKind::Nothing;
        sim.dropped(body, &QueuedAction::new(action, cause), "it no longer exists");
        sim.transition(body, StateEvent::Done, cause);
        return;
    };
    let (seen, why) = (sight.version, format!("reading {}", sight.label).into());
    if let ActivityKind::Reading { version, .. } = &mut body.activity.doing {
        *version = seen;
    }
    let urgency = match action {
        Action::ReadElement { .. } if sight.is_private() => Urgency::Mail,
        Action::ReadElement { high: true, .. } => Urgency::Rule,
        Action::SeekInfo { .. } => Urgency::Seek,
        _ => Urgency::Read,
    };
    let read = body.activity.version_read(element);
    match sim.changes.since(element, read) {
        Some(origin) => body.activity.origin = origin,
        // Reactions of agents to reactions are read together with the next news.
        None => {
            let why = if read == Some(seen) { "nothing new there" } else { "nothing new from outside" };
            let doing = std::mem::take(&mut body.activity.doing);
            finish(sim, body, doing, &ThinkOutcome::Nothing { why: why.to_owned() }, cause);
            return;
        }
    }
    think(body, Think::Read { element }, urgency, cause, due);
    sim.transition(body, StateEvent::Explain(why), cause);
}

/// Sends an agent that wants to read an element, or waits for a place in front of it, to a free place. If there is no
/// route, it does not read the element.
pub(super) fn go_to_read(sim: &mut SimContext, body: &mut AgentQueryItem, element: ElementKey, at: Vec2) {
    let place = sim.take_place(body, element, at);
    let ActivityKind::Reading { action, spot, waits, cause, .. } = &mut body.activity.doing else { return };
    match place {
        Some(place) => {
            (*spot, *waits) = place;
            sim.apply_state(body);
        }
        None => {
            let (action, cause) = (action.clone(), *cause);
            body.activity.doing = ActivityKind::Nothing;
            sim.dropped(body, &QueuedAction::new(action, cause), "it cannot be reached");
            sim.transition(body, StateEvent::Done, cause);
        }
    }
}

/// Releases places that their agents have left, and moves up the agents that are waiting for one.
pub(super) fn release_places(mut sim: SimContext, mut bodies: Query<AgentQuery>) {
    for (element, agent) in sim.claims.bypass_change_detection().held() {
        let sight = sim.space.sight(element).map(|sight| sight.position);
        let place = sight.and_then(|at| sim.claims.place_of((element, at), agent));
        let body = sim.roster.entity(agent).and_then(|entity| bodies.get(entity).ok());
        let is_kept = sight.is_some()
            && body.is_some_and(|body| {
                let stands = place.is_some_and(|place| place.distance(body.position.0) < BODY_UNITS / 2.0);
                body.activity.reads(element) || stands
            });
        if !is_kept {
            sim.claims.release(element, agent);
        }
    }
    let SimContext { claims, roster, .. } = &mut sim;
    claims.bypass_change_detection().retain_seats(|agent, seat| {
        let body = roster.entity(agent).and_then(|entity| bodies.get(entity).ok());
        body.is_some_and(|body| {
            let is_meant = body.activity.visit.is_some_and(|visit| visit.at == seat);
            is_meant || seat.distance(body.position.0) < BODY_UNITS / 2.0
        })
    });
    for element in sim.claims.bypass_change_detection().boards_with_queue() {
        let Some(sight) = sim.space.sight(element) else { continue };
        let label = sight.label.clone();
        let moved = sim.claims.move_up((element, sight.position), &sim.space.obstacles);
        for (agent, turn) in moved {
            let Some(Ok(mut body)) = sim.roster.entity(agent).map(|entity| bodies.get_mut(entity)) else { continue };
            let here = body.position.0;
            let ActivityKind::Reading { spot, waits, cause, .. } = &mut body.activity.doing else { continue };
            (*spot, *waits) = spot_of(turn, here);
            let (is_next, cause) = (!*waits, *cause);
            sim.apply_state(&mut body);
            if is_next {
                let why = format!("walking to {label} to read it").into();
                sim.transition(&mut body, StateEvent::Explain(why), cause);
                let patience = sim.now() + ticks(sim.attention.tell_patience_secs);
                sim.set(&mut body, Timer::GiveUp, patience);
            }
        }
    }
}

fn arrive_at_agent(
    sim: &mut SimContext,
    body: &mut AgentQueryItem,
    talks: &mut ConversationState,
    listener: Option<&Listener>,
) {
    sim.walk_to(body, Course::STAND);
    let ActivityKind::Telling { to, cause } = body.activity.doing else { return };
    let action = QueuedAction::new(Action::ApproachAgent { agent: to }, cause);
    let knows = listener.is_some_and(|listener| listener.knows);
    let gone = sim.space.position(to).is_none();
    let Some(news) = body.activity.news.take().filter(|_| !gone && !knows) else {
        body.activity.doing = ActivityKind::Nothing;
        sim.dropped(body, &action, if knows { KNOWS } else { "there is nobody to tell" });
        sim.transition(body, StateEvent::Done, cause);
        return;
    };
    let proposal = Proposal {
        id: talks.next_proposal(),
        kind: ConversationKind::Tell,
        participants: vec![body.agent.key, to],
        topic: news.note,
        news: Some((news.element, news.version)),
        deadline: Some(sim.now() + ticks(sim.conversation.gather_secs)),
        cause,
        origin: news.origin.passed_on(),
        continues: None,
        unanswered: Vec::new(),
    };
    body.activity.doing = ActivityKind::Gathering { proposal: proposal.id, to: body.agent.key, tells: true };
    if !talks.switched_on()
        || conversation_rules::enqueue(&mut talks.waiting, proposal, sim.conversation.max_waiting_conversations)
            .is_err()
    {
        body.activity.doing = ActivityKind::Nothing;
        sim.dropped(body, &action, "no conversation can start now");
        sim.transition(body, StateEvent::Done, cause);
    }
}
