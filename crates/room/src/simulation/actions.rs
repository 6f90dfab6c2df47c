//! Actions begin: whoever is at leisure takes up the next one, and whoever arrives begins to think.

use bevy::ecs::prelude::*;

use super::activity::{Think, ThinkDue, ThinkOutcome, ThinkPutOff};
use super::body::{Body, BodyItem, Desk, Doing, News, Timer};
use super::conversation::ConversationKind;
use super::hearing::finish;
use super::interest::PendingInterest;
use super::meeting::{self, Proposal};
use super::origin::Origin;
use super::queue::{Action, QueuedAction};
use super::state::{State, StateEvent};
use super::steering::{Course, WalkKind, spot_beside};
use super::talks::Talks;
use crate::base::{AgentKey, ElementKey, Id, Seq, Urgency};
use crate::log::events::ActionDropped;
use crate::schedule::ticks;

/// Why nobody is told what it knows by now.
const KNOWS: &str = "the other knows it by now";

/// Lets everyone who is awake and at leisure take up what comes next.
pub(super) fn drain(
    mut desk: Desk,
    mut bodies: Query<Body>,
    mut talks: ResMut<Talks>,
    mut due: MessageWriter<ThinkDue>,
    mut put_off: MessageWriter<ThinkPutOff>,
) {
    let mut awake = std::mem::take(&mut desk.attention.awake);
    awake.sort_unstable();
    awake.dedup();
    for agent in awake {
        let Some(entity) = desk.roster.entity(agent) else { continue };
        // Whoever is to be approached is looked up before the agent itself is borrowed.
        let listener = listener(&desk, &bodies, entity);
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        if body.wants_to_turn_back(desk.now()) {
            let cause = body.life.state_record;
            leave_errand(&mut desk, &mut body, talks.bypass_change_detection(), &[]);
            desk.shift(&mut body, StateEvent::Done, cause);
        }
        if body.reads_with_less_need(desk.now()) {
            match body.life.awaited {
                Some(activity) => {
                    put_off.write(ThinkPutOff { agent, activity });
                }
                None => read_later(&mut desk, &mut body),
            }
        }
        let strolls = body.state.0.under() == State::Wandering && body.walk.course.kind == WalkKind::Stroll;
        while body.state.0.is_at_leisure() && !strolls {
            if !take_up(&mut desk, &mut body, listener.as_ref(), &mut due) {
                break;
            }
        }
    }
}

/// Puts what an agent reads or turns to, or goes to, back into its queue.
pub(super) fn read_later(desk: &mut Desk, body: &mut BodyItem) {
    let cause = body.life.state_record;
    let Some(again) = std::mem::take(&mut body.life.doing).queued_again() else { return };
    desk.shift(body, StateEvent::Done, cause);
    desk.enqueue_later(body, again);
}

/// Whom an agent has something to tell.
struct Listener {
    name: Id,
    /// Whether it knows it by now.
    knows: bool,
}

fn listener(desk: &Desk, bodies: &Query<Body>, agent: Entity) -> Option<Listener> {
    let body = bodies.get(agent).ok()?;
    let news = body.life.news.as_ref()?;
    let other = bodies.get(desk.roster.entity(news.to)?).ok()?;
    Some(Listener { name: other.agent.name.clone(), knows: other.life.knows(news.element, news.version) })
}

/// Takes up the next thing. Whether there was one.
fn take_up(
    desk: &mut Desk,
    body: &mut BodyItem,
    listener: Option<&Listener>,
    due: &mut MessageWriter<ThinkDue>,
) -> bool {
    let now = desk.now();
    let compacts =
        body.queue.0.first_due(now).is_some_and(|first| first.action == Action::CompactContext) && !desk.rest.holds();
    if !compacts && let Some(work) = body.life.work.pop_front() {
        body.life.doing = Doing::Working { activation: work.activation, cause: work.cause };
        desk.shift(body, StateEvent::WorkStarted { why: "beginning its work".into() }, work.cause);
        body.life.origin = Origin::outside(work.cause, now);
        think(body, Think::Work { activation: work.activation }, Urgency::Task, work.cause, due);
        return true;
    }
    if desk.rest.holds() {
        return false;
    }
    let Some(next) = body.queue.0.pop(now) else { return false };
    match next.action.clone() {
        Action::CompactContext => {
            body.life.doing = Doing::Compacting { cause: next.cause };
            desk.shift(body, StateEvent::WorkStarted { why: "summing up what it knows".into() }, next.cause);
            think(body, Think::Compact, Urgency::Read, next.cause, due);
        }
        Action::ReadElement { element, .. } => set_out_to_read(desk, body, next, element, false),
        Action::SeekInfo { element } => set_out_to_read(desk, body, next, element, true),
        Action::ApproachAgent { agent } => set_out_to_tell(desk, body, &next, agent, listener),
        Action::Attend(pending) => set_out_to_attend(desk, body, &next, pending),
    }
    true
}

fn set_out_to_read(desk: &mut Desk, body: &mut BodyItem, next: QueuedAction, element: ElementKey, seeks: bool) {
    let Some(sight) = desk.space.sight(element).cloned() else {
        desk.dropped(body, &next, "it is gone");
        return;
    };
    if !sight.may_be_read_by(body.agent) {
        desk.dropped(body, &next, "it belongs to someone else");
        return;
    }
    if !seeks && body.life.version_read(element) == Some(sight.version) {
        desk.dropped(body, &next, "it has been read meanwhile");
        return;
    }
    let reach = desk.feet.reading_reach_units;
    let (here, key) = (body.position.0, body.agent.key.0);
    // Whoever stands there already reads where it stands.
    let (spot, arrive) = if here.distance(sight.position) <= reach {
        (here, desk.feet.arrive_units)
    } else {
        spot_beside(sight.position, here, key, reach)
    };
    let QueuedAction { action, cause, failures, .. } = next;
    body.life.doing = Doing::Reading { action, element, spot, arrive, version: sight.version, cause, failures };
    let why = format!("walking to {} to read it", sight.label).into();
    desk.shift(body, StateEvent::ReadingStarted { why }, cause);
}

fn set_out_to_tell(
    desk: &mut Desk,
    body: &mut BodyItem,
    next: &QueuedAction,
    to: AgentKey,
    listener: Option<&Listener>,
) {
    let news = body.life.news.as_ref().filter(|news| news.to == to);
    let (Some(news), Some(Listener { name, knows })) = (news, listener) else {
        desk.dropped(body, next, "there is nobody to tell");
        return;
    };
    if *knows {
        desk.dropped(body, next, KNOWS);
        return;
    }
    let about = desk.space.sight(news.element).map(|sight| sight.label.clone());
    let why = format!("going to tell {name} about {}", about.as_deref().unwrap_or("something")).into();
    body.life.doing = Doing::Telling { to, cause: next.cause };
    let patience = desk.now() + ticks(desk.minds.tell_patience_secs);
    desk.set(body, Timer::GiveUp, patience);
    desk.shift(body, StateEvent::SetOut { why }, next.cause);
}

/// Lets an agent turn to a reason: it goes there first, where that is somewhere else.
fn set_out_to_attend(desk: &mut Desk, body: &mut BodyItem, next: &QueuedAction, pending: Box<PendingInterest>) {
    let sentence = pending.interest.why.sentence.clone();
    body.life.doing = Doing::Attending { pending, cause: next.cause, failures: next.failures };
    desk.shift(body, StateEvent::WorkStarted { why: sentence.into() }, next.cause);
    let patience = desk.now() + ticks(desk.minds.tell_patience_secs);
    desk.set(body, Timer::GiveUp, patience);
}

/// Lets an agent think about what it turned to, where it stands now.
pub(super) fn attend(desk: &mut Desk, body: &mut BodyItem, due: &mut MessageWriter<ThinkDue>) {
    desk.go(body, Course::STAND);
    let Doing::Attending { pending, cause, .. } = &body.life.doing else { return };
    if body.life.awaited.is_some() {
        return;
    }
    let (interest, cause, origin) = (pending.interest.clone(), *cause, pending.origin);
    body.life.origin = origin;
    let urgency = interest.urgency;
    think(body, Think::Attend { interest: Box::new(interest) }, urgency, cause, due);
}

/// Lets an agent leave its errand. What it was to tell one of those that it talks with now, it can tell them: returns
/// that; what it was to tell others comes later.
pub(super) fn leave_errand(
    desk: &mut Desk,
    body: &mut BodyItem,
    talks: &mut Talks,
    with: &[AgentKey],
) -> Option<(ElementKey, u32)> {
    let (to, cause) = match std::mem::take(&mut body.life.doing) {
        Doing::Telling { to, cause } => (to, cause),
        Doing::Gathering { proposal, .. } => {
            let index = talks.waiting.iter().position(|waiting| waiting.id == proposal)?;
            if talks.waiting[index].kind == ConversationKind::Task {
                // The others have patience anew until it is back.
                talks.waiting[index].deadline = None;
                return None;
            }
            let proposal = talks.waiting.remove(index);
            let to = proposal.participants.iter().copied().find(|other| *other != body.agent.key)?;
            let (element, version) = proposal.news?;
            let Proposal { topic: note, cause, origin, .. } = proposal;
            if body.life.news.is_some() {
                let action = Some(Action::ApproachAgent { agent: to }.word());
                let why = "it has something else to tell already".into();
                desk.write(body, cause, &ActionDropped { action, why, ..ActionDropped::default() });
                return None;
            }
            body.life.news = Some(News { to, element, version, note, cause, origin });
            (to, cause)
        }
        other => {
            body.life.doing = other;
            return None;
        }
    };
    if with.contains(&to) {
        return body.life.news.take().map(|news| (news.element, news.version));
    }
    desk.enqueue(body, Action::ApproachAgent { agent: to }, cause);
    None
}

fn think(body: &mut BodyItem, think: Think, urgency: Urgency, cause: Seq, due: &mut MessageWriter<ThinkDue>) {
    let activity = body.life.next_activity();
    body.life.awaited = Some(activity);
    due.write(ThinkDue { agent: body.agent.key, activity, think, urgency, cause });
}

/// Whoever has arrived somewhere does what it came for.
pub(super) fn arrive(
    In(arrived): In<Vec<AgentKey>>,
    mut desk: Desk,
    mut bodies: Query<Body>,
    mut talks: ResMut<Talks>,
    mut due: MessageWriter<ThinkDue>,
) {
    for agent in arrived {
        let Some(entity) = desk.roster.entity(agent) else { continue };
        let listener = listener(&desk, &bodies, entity);
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        match body.walk.course.kind {
            WalkKind::ToElement | WalkKind::ToAgent if matches!(body.life.doing, Doing::Attending { .. }) => {
                attend(&mut desk, &mut body, &mut due);
            }
            WalkKind::ToElement => arrive_at_element(&mut desk, &mut body, &mut due),
            WalkKind::ToAgent => arrive_at_agent(&mut desk, &mut body, &mut talks, listener.as_ref()),
            _ => {
                desk.go(&mut body, Course::STAND);
                desk.wake(&body);
            }
        }
    }
}

fn arrive_at_element(desk: &mut Desk, body: &mut BodyItem, due: &mut MessageWriter<ThinkDue>) {
    desk.go(body, Course::STAND);
    let Doing::Reading { action, element, spot, arrive, version, cause, .. } = &mut body.life.doing else { return };
    let (action, element, cause) = (action.clone(), *element, *cause);
    let Some(sight) = desk.space.sight(element) else {
        body.life.doing = Doing::Nothing;
        desk.dropped(body, &QueuedAction::new(action, cause), "it is gone");
        desk.shift(body, StateEvent::Done, cause);
        return;
    };
    let reach = desk.feet.reading_reach_units;
    if sight.position.distance(body.position.0) > reach {
        // It was moved meanwhile.
        (*spot, *arrive) = spot_beside(sight.position, body.position.0, body.agent.key.0, reach);
        let course = Course::to(WalkKind::ToElement, *spot, *arrive);
        desk.go(body, course);
        return;
    }
    *version = sight.version;
    let (version, why) = (sight.version, format!("reading {}", sight.label).into());
    let urgency = match action {
        Action::ReadElement { .. } if sight.is_private() => Urgency::Mail,
        Action::ReadElement { high: true, .. } => Urgency::Rule,
        Action::SeekInfo { .. } => Urgency::Seek,
        _ => Urgency::Read,
    };
    let read = body.life.version_read(element);
    match desk.changes.since(element, read) {
        Some(origin) => body.life.origin = origin,
        // What agents made of what they made of something is seen with whatever is new next.
        None => {
            let why = if read == Some(version) { "nothing new there" } else { "nothing new from outside" };
            let doing = std::mem::take(&mut body.life.doing);
            finish(desk, body, doing, &ThinkOutcome::Nothing { why: why.to_owned() }, cause);
            return;
        }
    }
    think(body, Think::Read { element }, urgency, cause, due);
    desk.shift(body, StateEvent::Explain(why), cause);
}

fn arrive_at_agent(desk: &mut Desk, body: &mut BodyItem, talks: &mut Talks, listener: Option<&Listener>) {
    desk.go(body, Course::STAND);
    let Doing::Telling { to, cause } = body.life.doing else { return };
    let action = QueuedAction::new(Action::ApproachAgent { agent: to }, cause);
    let knows = listener.is_some_and(|listener| listener.knows);
    let gone = desk.space.position(to).is_none();
    let Some(news) = body.life.news.take().filter(|_| !gone && !knows) else {
        body.life.doing = Doing::Nothing;
        desk.dropped(body, &action, if knows { KNOWS } else { "there is nobody to tell" });
        desk.shift(body, StateEvent::Done, cause);
        return;
    };
    let proposal = Proposal {
        id: talks.next_proposal(),
        kind: ConversationKind::Tell,
        participants: vec![body.agent.key, to],
        topic: news.note,
        news: Some((news.element, news.version)),
        deadline: Some(desk.now() + ticks(desk.talk.gather_secs)),
        cause,
        origin: news.origin.handed_on(),
    };
    body.life.doing = Doing::Gathering { proposal: proposal.id, to: body.agent.key };
    if !talks.switched_on() || meeting::enqueue(&mut talks.waiting, proposal, desk.talk.waiting_at_most).is_err() {
        body.life.doing = Doing::Nothing;
        desk.dropped(body, &action, "no conversation may begin now");
        desk.shift(body, StateEvent::Done, cause);
    }
}
