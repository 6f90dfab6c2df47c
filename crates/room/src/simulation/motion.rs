//! The hot loop: every walking agent takes a step, keeps its distance from others and may react to agents and elements
//! that it passes. Standing agents that overlap step aside.

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use super::components::{AgentQuery, AgentState, AttentionCalendar, Position, SpatialIndex, Walk};
use super::context::SimContext;
use super::settings::{AttentionSettings, MovementSettings};
use super::steering::{Course, WalkKind, push_of, side_step, step};
use crate::agent::Roster;
use crate::base::{AgentKey, ElementKey};
use crate::schedule::{SimClock, TICKS_PER_SEC, ticks};

/// The interval in ticks at which a walking agent checks what it is passing.
const LOOK_EVERY: u64 = 8;
/// How often, in ticks, an agent that walks around an obstacle to another agent recalculates its route, because the
/// other moves.
const SEEK_WAY_EVERY: u64 = 16;
/// Two agents that overlap by less than this do not move.
const MIN_STEP_UNITS: f32 = 0.25;
/// How many of an agent's last reactions are kept. The pause between any two reactions is at least a quarter of that
/// between reactions of the same pair, so older ones cannot matter.
const REACTIONS_KEPT: usize = 4;

/// An agent reacted to someone or something that it passed or looked at.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
pub struct Reacted {
    /// The agent.
    pub agent: AgentKey,
    /// The agent or element that it reacted to.
    pub to: Passed,
    /// The emoji shown above it.
    pub emoji: &'static str,
}

/// An agent or element that an agent passed or looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passed {
    /// Another agent.
    Agent(AgentKey),
    /// An element.
    Element(ElementKey),
}

/// Whom each agent last reacted to; for two agents, it is stored with the smaller key.
#[derive(Resource, Default, Debug)]
pub(super) struct Reactions(pub(super) Vec<LastReactions>);

/// The last reactions of one agent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct LastReactions {
    pub quiet_until: u64,
    pub last: [Option<(Passed, u64)>; REACTIONS_KEPT],
}

impl Reactions {
    fn of(&mut self, agent: AgentKey) -> &mut LastReactions {
        let index = agent.0 as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, LastReactions::default());
        }
        &mut self.0[index]
    }

    fn is_quiet(&self, agent: AgentKey, now: u64) -> bool {
        self.0.get(agent.0 as usize).is_some_and(|last| last.quiet_until > now)
    }

    /// The reaction of an agent that looks at someone or something, if its last one was long enough ago.
    pub(super) fn glance(
        &mut self,
        agent: AgentKey,
        to: Passed,
        now: u64,
        settings: &AttentionSettings,
    ) -> Option<Reacted> {
        self.react(agent, to, now, settings).then(|| Reacted { agent, to, emoji: emoji(agent, to, now) })
    }

    /// Records a reaction, if the pair has not reacted for long enough; returns whether it did.
    fn react(&mut self, agent: AgentKey, to: Passed, now: u64, settings: &AttentionSettings) -> bool {
        let (keeper, about) = match to {
            Passed::Agent(other) if other < agent => (other, Passed::Agent(agent)),
            _ => (agent, to),
        };
        let quiet_until = now + ticks(settings.reaction_pause_secs.max(settings.reaction_secs / REACTIONS_KEPT as f32));
        let since = now.saturating_sub(ticks(settings.reaction_secs));
        if self.is_quiet(keeper, now) || self.is_quiet(agent, now) {
            return false;
        }
        let kept = self.of(keeper);
        if kept.last.iter().flatten().any(|(whom, when)| *whom == about && *when > since) {
            return false;
        }
        kept.last.rotate_right(1);
        kept.last[0] = Some((about, now));
        kept.quiet_until = quiet_until;
        self.of(agent).quiet_until = quiet_until;
        true
    }
}

/// Moves agents out of obstacles in which they have stopped, because they or the obstacles were put there.
pub(super) fn step_out(mut sim: SimContext, mut bodies: Query<AgentQuery>) {
    if sim.calendar.stopped.is_empty() || sim.space.obstacles.is_empty() {
        return;
    }
    let inside = |agent: &AgentKey| {
        sim.space.position(*agent).is_some_and(|here| sim.space.obstacles.pushed_out(here).is_some())
    };
    let mut inside: Vec<AgentKey> = sim.calendar.stopped.iter().copied().filter(inside).collect();
    inside.sort_unstable();
    inside.dedup();
    for agent in inside {
        let Some(Ok(mut body)) = sim.roster.entity(agent).map(|entity| bodies.get_mut(entity)) else { continue };
        if body.walk.course.moves() || body.state.0.is_held() {
            continue;
        }
        let course = Course::to(WalkKind::ToPlace, body.position.0, sim.movement.arrive_units);
        sim.walk_to(&mut body, course);
    }
}

/// Separates agents that are too close to each other: of two idle, standing agents, both step aside. Costs nothing if
/// no agent has just stopped.
pub(super) fn part(
    movement: Res<MovementSettings>,
    roster: Res<Roster>,
    mut calendar: ResMut<AttentionCalendar>,
    mut space: ResMut<SpatialIndex>,
    mut bodies: Query<(&mut Position, &Walk, &AgentState)>,
) {
    if movement.is_changed() {
        calendar.stopped = roster.iter().map(|(agent, _)| agent).collect();
    }
    if calendar.stopped.is_empty() {
        return;
    }
    let mut stopped = std::mem::take(&mut calendar.stopped);
    stopped.sort_unstable();
    stopped.dedup();
    // A tiny overlap is not worth a step.
    let (gap, space) = (movement.standing_units, &mut *space);
    let near = gap - MIN_STEP_UNITS;
    let free = |bodies: &Query<(&mut Position, &Walk, &AgentState)>, agent: AgentKey| {
        let (_, walk, state) = bodies.get(roster.entity(agent)?).ok()?;
        (!walk.course.moves() && !state.0.is_held()).then_some(())
    };
    // These agents and those too close to one of them, based on the positions before any step, so that both of a pair
    // see the same.
    let mut aside = Vec::new();
    for agent in stopped {
        let (Some(here), Some(())) = (space.position(agent), free(&bodies, agent)) else { continue };
        let before = aside.len();
        space.agents.within(here, near, |other, _| {
            if other.key != agent.0 && free(&bodies, AgentKey(other.key)).is_some() {
                aside.push(AgentKey(other.key));
            }
        });
        if aside.len() > before {
            aside.push(agent);
        }
    }
    aside.sort_unstable();
    aside.dedup();
    let mut steps = Vec::with_capacity(aside.len());
    for agent in &aside {
        let Some(here) = space.position(*agent) else { continue };
        let mut push = Vec2::ZERO;
        space.agents.within(here, near, |other, distance| {
            if other.key != agent.0 && free(&bodies, AgentKey(other.key)).is_some() {
                push += side_step(here, agent.0, other.position, distance, gap);
            }
        });
        let moved = here + push.clamp_length_max(movement.push_units / TICKS_PER_SEC as f32);
        let moved = space.obstacles.pushed_out(moved).unwrap_or(moved);
        steps.push((*agent, if moved.is_finite() { moved } else { here }));
    }
    for (agent, moved) in steps {
        if let Some(Ok((mut position, ..))) = roster.entity(agent).map(|entity| bodies.get_mut(entity)) {
            position.0 = moved;
            space.place(agent, moved);
        }
    }
    calendar.stopped = aside;
}

/// The result of one tick of walking, in order of key.
#[derive(Default)]
pub(super) struct Walked {
    /// Agents that have reached their target or a waypoint.
    pub arrived: Vec<AgentKey>,
    /// Agents whose path is blocked, or may no longer be the best.
    pub astray: Vec<AgentKey>,
}

/// Moves everyone by one tick.
pub(super) fn walk(
    clock: Res<SimClock>,
    settings: (Res<MovementSettings>, Res<AttentionSettings>),
    mut calendar: ResMut<AttentionCalendar>,
    mut space: ResMut<SpatialIndex>,
    mut reactions: ResMut<Reactions>,
    mut reacted: MessageWriter<Reacted>,
    mut walkers: Query<(&mut Position, &mut Walk)>,
    mut steps: Local<Vec<(u32, Vec2)>>,
) -> Walked {
    let (mut walked, mut passed) = (Walked::default(), Vec::new());
    if !calendar.anyone_walking {
        return walked;
    }
    calendar.anyone_walking = false;
    let (movement, attention) = settings;
    let (movement, space, now) = (&*movement, &mut *space, clock.tick());
    let both_bodies = movement.body_units * 2.0;
    let least_gap = both_bodies * both_bodies;
    for (mut position, mut walk) in &mut walkers {
        let walk = walk.bypass_change_detection();
        if !walk.course.moves() {
            continue;
        }
        calendar.anyone_walking = true;
        let (here, key) = (position.0, walk.key.0);
        if walk.course.kind == WalkKind::ToAgent && !walk.course.via {
            match space.bodies.get(walk.course.whom as usize).filter(|body| body.position.is_finite()) {
                Some(body) => walk.course.target = body.position,
                None => walk.course.target = here,
            }
        }
        let looks = (now + u64::from(key)) % LOOK_EVERY == 0 && !reactions.is_quiet(walk.key, now);
        let reach = if looks { both_bodies.max(attention.reaction_units) } else { both_bodies };
        let mut push = Vec2::ZERO;
        let mut nearest = (f32::INFINITY, u32::MAX);
        space.agents.within(here, reach, |other, distance| {
            if other.key == key {
                return;
            }
            if distance < least_gap {
                push += push_of(here, key, other.position, distance, both_bodies);
            }
            if (distance, other.key) < nearest {
                nearest = (distance, other.key);
            }
        });
        let push = (push * movement.push_units).clamp_length_max(movement.push_units);
        let (mut moved, there) = step(here, &mut walk.course, push, movement);
        if let Some(beside) = space.obstacles.pushed_out(moved) {
            moved = beside;
            if !there && (now + u64::from(key)) % LOOK_EVERY == 0 {
                walked.astray.push(walk.key);
            }
        } else if walk.course.via
            && walk.course.kind == WalkKind::ToAgent
            && !there
            && (now + u64::from(key)) % SEEK_WAY_EVERY == 0
        {
            walked.astray.push(walk.key);
        }
        position.0 = moved;
        if there {
            walked.arrived.push(walk.key);
        }
        if looks {
            if nearest.1 != u32::MAX {
                passed.push((walk.key, Passed::Agent(AgentKey(nearest.1))));
            } else if let Some(element) = space.elements.nearest(here, attention.reaction_units, |_| true) {
                passed.push((walk.key, Passed::Element(ElementKey(element.key))));
            }
        }
        steps.push((key, moved));
    }
    // Applied afterwards, so that all agents see the positions from the beginning of the tick, in whatever order they
    // move.
    space.moved |= !steps.is_empty();
    for (key, moved) in steps.drain(..) {
        if let Some(body) = space.bodies.get_mut(key as usize) {
            body.position = moved;
        }
    }
    walked.arrived.sort_unstable();
    walked.astray.sort_unstable();
    passed.sort_unstable();
    for (agent, to) in passed {
        reacted.write_batch(reactions.glance(agent, to, now, &attention));
    }
    walked
}

fn emoji(agent: AgentKey, to: Passed, now: u64) -> &'static str {
    const GREETINGS: [&str; 5] = ["👋", "🙂", "😊", "✨", "💭"];
    const GLANCES: [&str; 4] = ["👀", "🤔", "💡", "📝"];
    let (list, other): (&[&str], u32) = match to {
        Passed::Agent(other) => (&GREETINGS, other.0),
        Passed::Element(element) => (&GLANCES, element.0),
    };
    let mixed = u64::from(agent.0).wrapping_mul(0x9E37_79B9).wrapping_add(u64::from(other)).wrapping_add(now / 8);
    list[(mixed % list.len() as u64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_two_react_once_in_thirty_seconds() {
        let (mut reactions, settings) = (Reactions::default(), AttentionSettings::default());
        let (a, b) = (AgentKey(1), AgentKey(2));
        let mut seen = Vec::new();
        for now in 1..4000 {
            let (agent, to) = if now % 2 == 0 { (a, b) } else { (b, a) };
            if reactions.react(agent, Passed::Agent(to), now, &settings) {
                seen.push(now);
            }
        }
        assert!(seen.len() > 3);
        assert!(seen.windows(2).all(|two| two[1] - two[0] >= ticks(settings.reaction_secs)), "{seen:?}");
    }
}
