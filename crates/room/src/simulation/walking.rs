//! Sends agents somewhere: around obstacles, home, on patrol, and to places in front of elements.

use bevy::math::Vec2;

use super::components::AgentQueryItem;
use super::context::SimContext;
use super::interest::Place;
use super::steering::{Course, WalkKind};
use crate::base::{AgentKey, ElementKey};
use crate::navigation::{BODY_UNITS, Destination, route, slots};

/// How near an agent comes to a point at which its path turns.
const TURN_UNITS: f32 = 2.0;
/// How near an agent comes to a point of a circle around obstacles.
const LAP_UNITS: f32 = 8.0;
/// An agent no farther from home than this counts as being at home.
const BESIDE_HOME_UNITS: f32 = 1.1 * BODY_UNITS;
/// How many points a circle around obstacles has.
const LAP_POINTS: usize = 12;

impl SimContext<'_> {
    /// The course to a place, if it is in the room and not where the agent is.
    pub fn course_to(&self, body: &AgentQueryItem, place: &Place) -> Option<Course> {
        let (here, arrive) = (body.position.0, self.movement.arrive_units);
        match place {
            Place::Element(id) => {
                let sight = self.space.sights.iter().find(|sight| sight.id == *id)?;
                let spot = self.claims.free_place((sight.key, sight.position), here, &self.space.obstacles);
                let spot = spot.unwrap_or(sight.position);
                (here.distance(spot) > arrive).then(|| Course::to(WalkKind::ToElement, spot, arrive))
            }
            Place::Agent(id) => {
                let other = self.roster.key(id).filter(|other| *other != body.agent.key)?;
                let at = self.space.position(other)?;
                Some(Course::to_agent(other.0, at, self.movement.approach_units))
            }
            Place::Point(point) => Some(Course::to(WalkKind::ToElement, *point, arrive)),
        }
    }

    /// The route home; [`Course::STAND`] if it is there. If another agent occupies its home, it stops beside it or goes
    /// to the nearest free place.
    pub fn homeward(&self, body: &AgentQueryItem) -> Course {
        let (here, arrive, obstacles) = (body.position.0, self.movement.arrive_units, &self.space.obstacles);
        let home = obstacles.free_point(body.home.0);
        if here.distance(home) <= arrive {
            return Course::STAND;
        }
        let is_free = |spot: Vec2| !obstacles.blocks(spot) && self.is_free(spot, body.agent.key);
        if !is_free(home) && here.distance(home) <= BESIDE_HOME_UNITS && is_free(here) {
            return Course::STAND;
        }
        let spot = slots::around(home).find(|spot| is_free(*spot)).unwrap_or(home);
        Course::to(WalkKind::Home, spot, arrive)
    }

    /// Whether no other agent is at a point.
    pub fn is_free(&self, point: Vec2, but: AgentKey) -> bool {
        self.space.agents.nearest(point, self.movement.standing_units - 1.0, |other| other != but.0).is_none()
    }

    /// The agent's walk around its home: a circle, or a series of points if obstacles are in the way.
    pub fn round(&self, body: &AgentQueryItem) -> Course {
        let (home, radius, obstacles) = (body.home.0, self.movement.patrol_units, &self.space.obstacles);
        let circle = Course::round(body.position.0, home);
        if slots::round_is_free(home, radius, obstacles) {
            return circle;
        }
        let target = slots::round_point(home, radius, circle.phase, obstacles);
        Course { phase: circle.phase, ..Course::to(WalkKind::Lap, target, LAP_UNITS) }
    }

    /// Sends the agent to the next point of a circle around obstacles; unreachable points are skipped.
    pub fn continue_round(&mut self, body: &mut AgentQueryItem) {
        let (home, radius) = (body.home.0, self.movement.patrol_units);
        let mut phase = body.walk.course.phase;
        for _ in 0..LAP_POINTS {
            phase = (phase + core::f32::consts::TAU / LAP_POINTS as f32) % core::f32::consts::TAU;
            let target = slots::round_point(home, radius, phase, &self.space.obstacles);
            let course = Course { phase, ..Course::to(WalkKind::Lap, target, LAP_UNITS) };
            if body.position.0.distance(target) > LAP_UNITS && self.walk_to(body, course) {
                return;
            }
        }
        self.walk_to(body, Course::STAND);
    }

    /// Sends an agent somewhere, around obstacles. Returns whether there is a route; the agent stands if there is none.
    pub fn walk_to(&mut self, body: &mut AgentQueryItem, mut course: Course) -> bool {
        body.route.points.clear();
        let mut is_open = true;
        if course.moves() && course.kind != WalkKind::Round && !self.space.obstacles.is_empty() {
            match route(&self.space.obstacles, body.position.0, course.target) {
                Some(mut way) => {
                    way.reverse();
                    course.target = way.pop().unwrap_or(course.target);
                    if !way.is_empty() {
                        body.route.arrive = course.arrive;
                        (course.arrive, course.via) = (TURN_UNITS, true);
                    }
                    body.route.points = way;
                }
                None => (course, is_open) = (Course::STAND, false),
            }
        }
        body.walk.course = course;
        if course.moves() {
            self.calendar.anyone_walking = true;
        } else {
            self.calendar.stopped.push(body.agent.key);
        }
        is_open
    }

    /// Lets an agent at a turn of its path walk on. Returns whether it did.
    pub fn turn(&mut self, body: &mut AgentQueryItem) -> bool {
        if !body.walk.course.via {
            return false;
        }
        let Some(next) = body.route.points.pop() else { return false };
        body.walk.course.target = next;
        if body.route.points.is_empty() {
            body.walk.course.via = false;
            body.walk.course.arrive = body.route.arrive;
        }
        true
    }

    /// Looks for another route to an agent's goal. An agent without one stays where it is.
    pub fn reroute(&mut self, body: &mut AgentQueryItem) {
        let course = body.walk.course;
        let arrive = if course.via { body.route.arrive } else { course.arrive };
        let goal = body.route.points.first().copied().unwrap_or(course.target);
        let again = match course.kind {
            WalkKind::Stand => return,
            WalkKind::Round => self.round(body),
            WalkKind::ToAgent => {
                let at = self.space.position(AgentKey(course.whom)).unwrap_or(goal);
                Course::to_agent(course.whom, at, arrive)
            }
            kind => Course { phase: course.phase, ..Course::to(kind, goal, arrive) },
        };
        if !self.walk_to(body, again) {
            self.wake(body);
        }
    }

    /// Claims a place in front of an element for an agent, or the end of the queue. Returns where it goes, and whether
    /// it waits there; `None` if there is no route.
    pub fn take_place(&mut self, body: &AgentQueryItem, element: ElementKey, at: Vec2) -> Option<(Vec2, bool)> {
        let (here, agent) = (body.position.0, body.agent.key);
        let turn = self.claims.claim((element, at), agent, here, &self.space.obstacles);
        let (spot, waits) = spot_of(turn, here);
        if route(&self.space.obstacles, here, spot).is_none() {
            self.claims.release(element, agent);
            return None;
        }
        Some((spot, waits))
    }
}

/// The destination of an agent at `here` with this turn, and whether it waits there.
pub(super) fn spot_of(turn: Destination, here: Vec2) -> (Vec2, bool) {
    match turn {
        Destination::Place(at) => (at, false),
        Destination::Wait { at, .. } => (at.unwrap_or(here), true),
    }
}
