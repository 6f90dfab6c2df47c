//! Timers ring: a stroll turns, an idle agent looks around, someone seeks information, a state ends.

use bevy::ecs::prelude::*;
use bevy::math::Vec2;

use super::actions::attend;
use super::activity::ThinkDue;
use super::body::{Body, BodyItem, Desk, Doing, Timer};
use super::motion::{Passed, Reacted, Reactions};
use super::queue::{Action, QueuedAction};
use super::state::{State, StateEvent};
use super::steering::{Course, WalkKind, stroll_target};
use crate::base::{AgentKey, ElementKey};
use crate::schedule::ticks;

/// After so many ticks an idle agent looks at somebody instead of something, and the other way round.
const GLANCE_TICKS: u64 = 256;

/// Lets everything ring that is due. A timer that is no longer meant changes nothing.
pub(super) fn ring(
    mut desk: Desk,
    mut bodies: Query<Body>,
    mut reactions: ResMut<Reactions>,
    mut reacted: MessageWriter<Reacted>,
    mut thinks: MessageWriter<ThinkDue>,
) {
    let now = desk.now();
    for (agent, timer) in desk.attention.due(now) {
        let Some(entity) = desk.roster.entity(agent) else { continue };
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        if body.life.alarms[timer as usize] > now || body.life.alarms[timer as usize] == 0 {
            continue;
        }
        body.life.alarms[timer as usize] = 0;
        match timer {
            Timer::State => {
                let cause = body.life.state_record;
                desk.shift(&mut body, StateEvent::TimerDue, cause);
            }
            Timer::Stroll => stroll(&mut desk, &mut body),
            Timer::Heartbeat => {
                let seen = heartbeat(&mut desk, &mut body);
                reacted.write_batch(seen.and_then(|seen| reactions.glance(agent, seen, now, &desk.minds)));
            }
            Timer::Seek => seek(&mut desk, &mut body),
            Timer::Due => {
                desk.await_next(&mut body);
                desk.wake(&body);
            }
            Timer::GiveUp => give_up(&mut desk, &mut body, &mut thinks),
        }
    }
}

fn stroll(desk: &mut Desk, body: &mut BodyItem) {
    if !body.state.0.is_at_leisure() || body.state.0.under() != State::Wandering {
        return;
    }
    let next = desk.now() + ticks(desk.feet.stroll_secs);
    desk.set(body, Timer::Stroll, next);
    if body.queue.0.first_due(desk.now()).is_some() || !body.life.work.is_empty() {
        // A target too far to reach in time must not starve the queue: here is as good as there.
        desk.go(body, Course::STAND);
        desk.wake(body);
        return;
    }
    let (position, key) = (body.position.0, body.agent.key.0);
    let feet = &*desk.feet;
    let space = &*desk.space;
    let near = || {
        let agent = space.agents.nearest(position, feet.sight_units, |other| other != key);
        let element = space.elements.nearest(position, feet.sight_units, |_| true);
        let far = |at: Vec2| at.distance_squared(position);
        match (agent.map(|entry| entry.position), element.map(|entry| entry.position)) {
            (Some(agent), Some(element)) => Some(if far(element) < far(agent) { element } else { agent }),
            (agent, element) => agent.or(element),
        }
    };
    let target = stroll_target(body.home.0, near, &mut body.random, feet);
    let course = Course::to(WalkKind::Stroll, target, feet.arrive_units);
    desk.go(body, course);
}

/// An idle agent looks around. Returns whom or what it looks at.
fn heartbeat(desk: &mut Desk, body: &mut BodyItem) -> Option<Passed> {
    if !body.state.0.is_at_leisure() || body.state.0.under() != State::Idle {
        return None;
    }
    let position = body.position.0;
    let interest = desk.space.elements.nearest(position, desk.minds.heartbeat_units, |key| {
        desk.space.sight(ElementKey(key)).is_some_and(|sight| {
            sight.may_be_read_by(body.agent) && body.life.version_read(sight.key) != Some(sight.version)
        })
    });
    let seen = interest.and_then(|entry| desk.space.sight(ElementKey(entry.key)));
    let why = match seen {
        Some(sight) => format!("looking toward {}", sight.label).into(),
        None => "looking around".into(),
    };
    let until = desk.now() + ticks(desk.minds.heartbeat_lasts_secs);
    desk.shift(body, StateEvent::Heartbeat { until, why }, None);
    if let Some(entry) = interest {
        let course = Course::to(WalkKind::Notice, entry.position, desk.feet.reading_reach_units);
        desk.go(body, course);
        return Some(Passed::Element(ElementKey(entry.key)));
    }
    let (units, me) = (desk.minds.heartbeat_units, body.agent.key.0);
    let someone = desk.space.agents.nearest(position, units, |other| other != me);
    let something = desk.space.elements.nearest(position, units, |_| true);
    let someone = someone.map(|entry| Passed::Agent(AgentKey(entry.key)));
    let something = something.map(|entry| Passed::Element(ElementKey(entry.key)));
    // Now at the one, now at the other.
    let turn = (desk.now() / GLANCE_TICKS + u64::from(me)).is_multiple_of(2);
    if turn { someone.or(something) } else { something.or(someone) }
}

fn seek(desk: &mut Desk, body: &mut BodyItem) {
    let now = desk.now();
    let next = now + ticks(desk.minds.seek_secs);
    desk.set(body, Timer::Seek, next);
    let state = body.state.0.state();
    if !(state.is_rest() || matches!(state, State::Heartbeat | State::Cooldown)) {
        return;
    }
    let again = ticks(desk.minds.seek_again_secs);
    let found = desk.space.elements.nearest(body.position.0, desk.minds.seek_units, |key| {
        desk.space.sight(ElementKey(key)).is_some_and(|sight| {
            sight.may_be_read_by(body.agent)
                && !body.queue.0.holds_read_of(sight.key)
                && body.life.given_up.get(&sight.key) != Some(&sight.version)
                && body.life.read.get(&sight.key).is_none_or(|read| read.tick + again <= now)
        })
    });
    if let Some(entry) = found {
        let cause = body.agent.added;
        desk.enqueue(body, Action::SeekInfo { element: ElementKey(entry.key) }, cause);
    }
}

fn give_up(desk: &mut Desk, body: &mut BodyItem, thinks: &mut MessageWriter<ThinkDue>) {
    if let Doing::Attending { .. } = body.life.doing {
        if body.state.0.is_held() {
            let patience = desk.now() + ticks(desk.minds.tell_patience_secs);
            desk.set(body, Timer::GiveUp, patience);
        } else {
            // It could not get there in time: what called it is thought about where it is.
            attend(desk, body, thinks);
        }
    }
    if let Doing::Telling { to, cause } = body.life.doing {
        body.life.doing = Doing::Nothing;
        let action = QueuedAction::new(Action::ApproachAgent { agent: to }, cause);
        desk.dropped(body, &action, "could not be reached in time");
        desk.shift(body, StateEvent::Done, cause);
    }
}
