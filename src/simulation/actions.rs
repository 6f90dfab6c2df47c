//! Actions begin: whoever is at leisure takes up the next one, and whoever arrives begins to think.

use bevy::ecs::prelude::*;

use super::activity::{Think, ThinkDue, Urgency};
use super::body::{Body, BodyItem, Desk, Doing, Timer};
use super::conversation::ConversationKind;
use super::meeting::{self, Proposal};
use super::queue::{Action, QueuedAction};
use super::state::{State, StateEvent};
use super::steering::{Course, WalkKind, spot_beside};
use super::talks::Talks;
use crate::base::{AgentKey, ElementKey, Seq};
use crate::schedule::ticks;

/// Lets everyone who is awake and at leisure take up what comes next.
pub(super) fn drain(mut desk: Desk, mut bodies: Query<Body>, mut due: MessageWriter<ThinkDue>) {
    let mut awake = std::mem::take(&mut desk.attention.awake);
    awake.sort_unstable();
    awake.dedup();
    for agent in awake {
        let Some(entity) = desk.roster.entity(agent) else { continue };
        // Whoever is to be approached is looked up before the agent itself is borrowed.
        let whom = bodies.get(entity).ok().and_then(|body| body.life.news.as_ref().map(|news| news.to));
        let name =
            whom.and_then(|whom| bodies.get(desk.roster.entity(whom)?).ok()).map(|other| other.agent.name.clone());
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        let strolls = body.state.0.under() == State::Wandering && body.walk.course.kind == WalkKind::Stroll;
        while body.state.0.is_at_leisure() && !strolls {
            if !take_up(&mut desk, &mut body, name.as_deref(), &mut due) {
                break;
            }
        }
    }
}

/// Takes up the next thing. Whether there was one.
fn take_up(desk: &mut Desk, body: &mut BodyItem, whom: Option<&str>, due: &mut MessageWriter<ThinkDue>) -> bool {
    // What failed is tried again later, and nobody who called it to work waits for that.
    let may_try = desk.now() >= body.life.retry_at;
    let is_first = body.queue.0.first().is_some_and(|first| first.action == Action::CompactContext);
    let compacts = is_first && body.life.failures == 0 && !desk.rest.holds();
    if !compacts && let Some(work) = body.life.work.pop_front() {
        body.life.doing = Doing::Working { activation: work.activation, cause: work.cause };
        desk.shift(body, StateEvent::WorkStarted { why: "beginning its work".into() }, work.cause);
        think(body, Think::Work { activation: work.activation }, Urgency::Task, work.cause, due);
        return true;
    }
    if !may_try || desk.rest.holds() {
        return false;
    }
    let Some(next) = body.queue.0.pop() else { return false };
    match next.action {
        Action::CompactContext => {
            body.life.doing = Doing::Compacting { cause: next.cause };
            desk.shift(body, StateEvent::WorkStarted { why: "summing up what it knows".into() }, next.cause);
            think(body, Think::Compact, Urgency::Read, next.cause, due);
        }
        Action::ReadElement { element, .. } => set_out_to_read(desk, body, next, element, false),
        Action::SeekInfo { element } => set_out_to_read(desk, body, next, element, true),
        Action::ApproachAgent { agent } => set_out_to_tell(desk, body, next, agent, whom),
    }
    true
}

fn set_out_to_read(desk: &mut Desk, body: &mut BodyItem, next: QueuedAction, element: ElementKey, seeks: bool) {
    let Some(sight) = desk.space.sight(element).cloned() else {
        desk.dropped(body, next, "it is gone");
        return;
    };
    if !sight.may_be_read_by(body.agent) {
        desk.dropped(body, next, "it belongs to someone else");
        return;
    }
    if !seeks && body.life.version_read(element) == Some(sight.version) {
        desk.dropped(body, next, "it has been read meanwhile");
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
    body.life.doing =
        Doing::Reading { action: next.action, element, spot, arrive, version: sight.version, cause: next.cause };
    let why = format!("walking to {} to read it", sight.label).into();
    desk.shift(body, StateEvent::ReadingStarted { why }, next.cause);
}

fn set_out_to_tell(desk: &mut Desk, body: &mut BodyItem, next: QueuedAction, to: AgentKey, whom: Option<&str>) {
    let news = body.life.news.as_ref().filter(|news| news.to == to);
    let (Some(news), Some(whom)) = (news, whom) else {
        desk.dropped(body, next, "there is nobody to tell");
        return;
    };
    let about = desk.space.sight(news.element).map(|sight| sight.label.clone());
    let why = format!("going to tell {whom} about {}", about.as_deref().unwrap_or("something")).into();
    body.life.doing = Doing::Telling { to, cause: next.cause };
    let patience = desk.now() + ticks(desk.minds.tell_patience_secs);
    desk.set(body, Timer::GiveUp, patience);
    desk.shift(body, StateEvent::SetOut { why }, next.cause);
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
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        match body.walk.course.kind {
            WalkKind::ToElement => arrive_at_element(&mut desk, &mut body, &mut due),
            WalkKind::ToAgent => arrive_at_agent(&mut desk, &mut body, &mut talks),
            _ => {
                desk.go(&mut body, Course::STAND);
                desk.wake(&body);
            }
        }
    }
}

fn arrive_at_element(desk: &mut Desk, body: &mut BodyItem, due: &mut MessageWriter<ThinkDue>) {
    desk.go(body, Course::STAND);
    let Doing::Reading { action, element, ref mut spot, ref mut arrive, ref mut version, cause } = body.life.doing
    else {
        return;
    };
    let Some(sight) = desk.space.sight(element) else {
        body.life.doing = Doing::Nothing;
        desk.dropped(body, QueuedAction { action, cause }, "it is gone");
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
    let why = format!("reading {}", sight.label).into();
    let urgency = match action {
        Action::ReadElement { .. } if sight.is_private() => Urgency::Mail,
        Action::ReadElement { high: true, .. } => Urgency::Rule,
        Action::SeekInfo { .. } => Urgency::Seek,
        _ => Urgency::Read,
    };
    think(body, Think::Read { element }, urgency, cause, due);
    desk.shift(body, StateEvent::Explain(why), cause);
}

fn arrive_at_agent(desk: &mut Desk, body: &mut BodyItem, talks: &mut Talks) {
    desk.go(body, Course::STAND);
    let Doing::Telling { to, cause } = body.life.doing else { return };
    let action = QueuedAction { action: Action::ApproachAgent { agent: to }, cause };
    let gone = desk.space.position(to).is_none();
    let Some(news) = body.life.news.take().filter(|_| !gone) else {
        body.life.doing = Doing::Nothing;
        desk.dropped(body, action, "there is nobody to tell");
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
    };
    body.life.doing = Doing::Gathering { proposal: proposal.id, to: body.agent.key };
    if !talks.switched_on() || meeting::enqueue(&mut talks.waiting, proposal, desk.talk.waiting_at_most).is_err() {
        body.life.doing = Doing::Nothing;
        desk.dropped(body, action, "no conversation may begin now");
        desk.shift(body, StateEvent::Done, cause);
    }
}
