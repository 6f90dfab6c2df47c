//! Timers of agents: strolls change direction, idle agents look around, some seek information, and states end.

use bevy::ecs::prelude::*;
use bevy::math::Vec2;

use super::actions::{attend, read_without_place};
use super::components::{ActivityKind, AgentQuery, AgentQueryItem, Timer};
use super::context::SimContext;
use super::mind_messages::ThinkDue;
use super::motion::{Passed, Reacted, Reactions};
use super::queue::{Action, QueuedAction};
use super::spatial_grid::Entry;
use super::state::{State, StateEvent};
use super::steering::{Course, WalkKind, stroll_target};
use crate::base::{AgentKey, ElementKey};
use crate::schedule::ticks;

/// The interval in ticks at which an idle agent alternates between looking at agents and at elements.
const GLANCE_TICKS: u64 = 256;

/// Fires all timers that are due. An outdated timer has no effect.
pub(super) fn fire_timers(
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut reactions: ResMut<Reactions>,
    mut reacted: MessageWriter<Reacted>,
    mut thinks: MessageWriter<ThinkDue>,
) {
    let now = sim.now();
    for (agent, timer) in sim.calendar.due(now) {
        let Some(entity) = sim.roster.entity(agent) else { continue };
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        if body.activity.alarms[timer as usize] > now || body.activity.alarms[timer as usize] == 0 {
            continue;
        }
        body.activity.alarms[timer as usize] = 0;
        match timer {
            Timer::State => {
                let cause = body.activity.state_record;
                sim.transition(&mut body, StateEvent::TimerDue, cause);
            }
            Timer::Stroll => stroll(&mut sim, &mut body),
            Timer::LookAround => {
                let seen = heartbeat(&mut sim, &mut body);
                reacted.write_batch(seen.and_then(|seen| reactions.glance(agent, seen, now, &sim.attention)));
            }
            Timer::Seek => seek(&mut sim, &mut body),
            Timer::Due => {
                sim.schedule_next(&mut body);
                sim.wake(&body);
            }
            Timer::GiveUp => give_up(&mut sim, &mut body, &mut thinks),
        }
    }
}

fn stroll(sim: &mut SimContext, body: &mut AgentQueryItem) {
    if !body.state.0.is_available() || body.state.0.lower() != State::Wandering {
        return;
    }
    if sim.stays(body, Timer::Stroll) {
        return;
    }
    let next = sim.now() + ticks(sim.movement.stroll_secs);
    sim.set(body, Timer::Stroll, next);
    if body.next_action(sim.now()).is_some() || !body.activity.work.is_empty() {
        // A target too far to reach in time must not starve the queue, so the agent stops here.
        sim.walk_to(body, Course::STAND);
        sim.wake(body);
        return;
    }
    if sim.may_visit(body, sim.movement.visit_on_stroll) {
        return;
    }
    let (position, key) = (body.position.0, body.agent.key.0);
    let movement = &*sim.movement;
    let space = &*sim.space;
    let near = || {
        let agent = space.agents.nearest(position, movement.sight_units, |other| other != key);
        let element = space.elements.nearest(position, movement.sight_units, |_| true);
        let far = |at: Vec2| at.distance_squared(position);
        let before = |entry: Entry| {
            let board = (ElementKey(entry.key), entry.position);
            sim.claims.free_place(board, position, &space.obstacles).unwrap_or(entry.position)
        };
        match (agent.map(|entry| entry.position), element.map(before)) {
            (Some(agent), Some(element)) => Some(if far(element) < far(agent) { element } else { agent }),
            (agent, element) => agent.or(element),
        }
    };
    let target = stroll_target(body.home.0, near, &mut body.random, movement);
    let target = beside_others(sim, target, position, key);
    let course = Course::to(WalkKind::Stroll, target, movement.arrive_units);
    sim.walk_to(body, course);
}

/// The nearest point to a target at which no agents overlap.
fn beside_others(sim: &SimContext, target: Vec2, from: Vec2, me: u32) -> Vec2 {
    let gap = sim.movement.standing_units;
    let Some(other) = sim.space.agents.nearest(target, gap, |other| other != me) else { return target };
    let way = (target - other.position).try_normalize().or_else(|| (from - other.position).try_normalize());
    other.position + way.unwrap_or(Vec2::NEG_Y) * gap
}

/// Lets an idle agent look around. Returns the agent or element that it looks at.
fn heartbeat(sim: &mut SimContext, body: &mut AgentQueryItem) -> Option<Passed> {
    if !body.state.0.is_available() || body.state.0.lower() != State::Idle {
        return None;
    }
    if body.activity.visit.is_some() {
        if !sim.stays(body, Timer::LookAround) {
            sim.apply_state(body);
        }
        return None;
    }
    if sim.may_visit(body, sim.movement.visit_on_heartbeat) {
        sim.set(body, Timer::LookAround, sim.now() + ticks(sim.movement.stroll_secs));
        return None;
    }
    let position = body.position.0;
    let interest = sim.space.elements.nearest(position, sim.attention.heartbeat_units, |key| {
        sim.space.sight(ElementKey(key)).is_some_and(|sight| {
            sight.may_be_read_by(body.agent) && body.activity.version_read(sight.key) != Some(sight.version)
        })
    });
    let seen = interest.and_then(|entry| sim.space.sight(ElementKey(entry.key)));
    let why = match seen {
        Some(sight) => format!("looking toward {}", sight.label).into(),
        None => "looking around".into(),
    };
    let until = sim.now() + ticks(sim.attention.heartbeat_lasts_secs);
    sim.transition(body, StateEvent::LookAround { until, why }, None);
    if let Some(entry) = interest {
        let reach = sim.movement.reading_reach_units;
        let way = (position - entry.position).clamp_length_max(reach);
        let course = Course::to(WalkKind::Notice, entry.position + way, sim.movement.arrive_units);
        sim.walk_to(body, course);
        return Some(Passed::Element(ElementKey(entry.key)));
    }
    let (units, me) = (sim.attention.heartbeat_units, body.agent.key.0);
    let someone = sim.space.agents.nearest(position, units, |other| other != me);
    let something = sim.space.elements.nearest(position, units, |_| true);
    let someone = someone.map(|entry| Passed::Agent(AgentKey(entry.key)));
    let something = something.map(|entry| Passed::Element(ElementKey(entry.key)));
    // Alternates between the two.
    let turn = (sim.now() / GLANCE_TICKS + u64::from(me)).is_multiple_of(2);
    if turn { someone.or(something) } else { something.or(someone) }
}

fn seek(sim: &mut SimContext, body: &mut AgentQueryItem) {
    let now = sim.now();
    let next = now + ticks(sim.attention.seek_secs);
    sim.set(body, Timer::Seek, next);
    let state = body.state.0.state();
    if !(state.is_rest() || matches!(state, State::Heartbeat | State::Cooldown)) || body.activity.model_wait.is_some() {
        return;
    }
    let again = ticks(sim.attention.seek_again_secs);
    let found = sim.space.elements.nearest(body.position.0, sim.attention.seek_units, |key| {
        sim.space.sight(ElementKey(key)).is_some_and(|sight| {
            sight.may_be_read_by(body.agent)
                && !body.queue.0.holds_read_of(sight.key)
                && body.activity.given_up.get(&sight.key) != Some(&sight.version)
                && body.activity.read.get(&sight.key).is_none_or(|read| read.tick + again <= now)
        })
    });
    if let Some(entry) = found {
        // An idle agent now and then goes to something near that it may read and has not read lately.
        rule!("idle-agents-seek-information");
        let cause = body.agent.added;
        sim.enqueue(body, Action::SeekInfo { element: ElementKey(entry.key) }, cause);
    }
}

fn give_up(sim: &mut SimContext, body: &mut AgentQueryItem, thinks: &mut MessageWriter<ThinkDue>) {
    if let ActivityKind::Attending { .. } = body.activity.doing {
        if body.state.0.is_held() {
            let patience = sim.now() + ticks(sim.attention.tell_patience_secs);
            sim.set(body, Timer::GiveUp, patience);
        } else {
            // It could not get there in time, so it thinks about the interest where it is.
            attend(sim, body, thinks);
        }
    }
    if let ActivityKind::Reading { action, waits, cause, .. } = &body.activity.doing
        && body.activity.awaited.is_none()
    {
        let (read, waits) = (QueuedAction::new(action.clone(), *cause), *waits);
        if body.state.0.is_held() {
            let patience = sim.now() + ticks(sim.attention.tell_patience_secs);
            sim.set(body, Timer::GiveUp, patience);
        } else if waits {
            read_without_place(sim, body, thinks);
        } else {
            body.activity.doing = ActivityKind::Nothing;
            let cause = read.cause;
            sim.dropped(body, &read, "it could not get there");
            sim.transition(body, StateEvent::Done, cause);
        }
    }
    if let ActivityKind::Telling { to, cause } = body.activity.doing {
        body.activity.doing = ActivityKind::Nothing;
        let action = QueuedAction::new(Action::ApproachAgent { agent: to }, cause);
        sim.dropped(body, &action, "could not be reached in time");
        sim.transition(body, StateEvent::Done, cause);
    }
}
