//! Visits to furniture, without model calls: now and then an idle agent sits on a bench, gets a coffee, or looks out of
//! a window or along a shelf; working agents go to a desk.

use super::components::{AgentQueryItem, Timer};
use super::context::SimContext;
use super::state::StateEvent;
use super::steering::{Course, WalkKind};
use super::visit::Visit;
use crate::navigation::{Seat, Use};
use crate::schedule::ticks;

impl SimContext<'_> {
    /// With this probability, sends an idle agent to a piece of furniture. Returns whether it goes.
    pub fn may_visit(&mut self, body: &mut AgentQueryItem, probability: f32) -> bool {
        // Without seats no random number is drawn.
        if self.space.seats.is_empty() || !body.random.chance(probability) {
            return false;
        }
        let seats = self.free_seats(body, |used_for| used_for.is_for_rest());
        let Some(seat) = seats.get(body.random.index(seats.len())).copied() else { return false };
        let course = Course::to(WalkKind::ToPlace, seat.at, self.movement.arrive_units);
        if !self.walk_to(body, course) {
            return false;
        }
        self.take_seat(body, seat);
        self.transition(body, StateEvent::AtRest(seat.used_for.going().into()), None);
        true
    }

    /// The route to the nearest free desk, for an agent that begins to work. `None` if none is near.
    pub fn claim_desk(&mut self, body: &mut AgentQueryItem) -> Option<Course> {
        let here = body.position.0;
        let seats = self.free_seats(body, |used_for| used_for == Use::Work);
        let far = |seat: &Seat| seat.at.distance_squared(here);
        let seat = seats.into_iter().min_by(|one, other| far(one).total_cmp(&far(other)))?;
        self.take_seat(body, seat);
        Some(Course::to(WalkKind::ToPlace, seat.at, self.movement.arrive_units))
    }

    fn free_seats(&self, body: &AgentQueryItem, fits: impl Fn(Use) -> bool) -> Vec<Seat> {
        let (here, agent) = (body.position.0, body.agent.key);
        let is_near = |seat: &&Seat| seat.at.distance(here) <= self.movement.visit_units;
        let is_free = |seat: &&Seat| !self.claims.is_seat_taken(seat.at, agent) && self.is_free(seat.at, agent);
        let seats = self.space.seats.iter().filter(|seat| fits(seat.used_for));
        seats.filter(is_near).filter(is_free).copied().collect()
    }

    fn take_seat(&mut self, body: &mut AgentQueryItem, seat: Seat) {
        self.claims.take_seat(seat.at, body.agent.key);
        body.activity.visit = Some(Visit { at: seat.at, used_for: seat.used_for, until: None });
    }

    /// Lets an agent that has reached its seat stay there for a while.
    pub fn begin_visit(&mut self, body: &mut AgentQueryItem) {
        let Some(visit) = body.activity.visit.filter(|visit| visit.until.is_none()) else { return };
        if visit.used_for == Use::Work {
            return;
        }
        let (least, most) = (self.movement.min_visit_secs, self.movement.max_visit_secs);
        let until = self.now() + ticks(body.random.between(least, most.max(least)));
        body.activity.visit = Some(Visit { until: Some(until), ..visit });
        self.transition(body, StateEvent::AtRest(visit.used_for.doing().into()), None);
    }

    /// Whether an agent stays on its visit; the timer is then set again. If the time is over, the agent gets up.
    pub fn stays(&mut self, body: &mut AgentQueryItem, timer: Timer) -> bool {
        let Some(visit) = body.activity.visit else { return false };
        let now = self.now();
        let patience = now + ticks(self.movement.max_visit_secs);
        match visit.until {
            Some(until) if until > now => {
                self.set(body, timer, until);
                true
            }
            // An agent that cannot get there gives up.
            None if body.walk.course.kind == WalkKind::ToPlace => {
                self.set(body, timer, patience.min(now + ticks(self.movement.stroll_secs)));
                true
            }
            _ => {
                body.activity.visit = None;
                self.transition(body, StateEvent::AtRest("".into()), None);
                false
            }
        }
    }
}
