//! Where agents walk: targets of strolls, patrols and errands, single steps, and the force that keeps agents apart.

use bevy::math::{Vec2, ops};
use serde::{Deserialize, Serialize};

use super::settings::MovementSettings;
use crate::schedule::{AgentRandom, TICKS_PER_SEC};

/// The seconds in a tick.
const STEP_SECS: f32 = 1.0 / TICKS_PER_SEC as f32;
/// The golden angle, which places agents with consecutive keys far apart.
const GOLDEN_ANGLE: f32 = 2.399_963_2;

/// Why an agent walks. Decides what happens on arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WalkKind {
    /// It stands.
    #[default]
    Stand,
    /// It strolls.
    Stroll,
    /// It goes home.
    Home,
    /// It walks a circle; never arrives.
    Round,
    /// It goes to an element to read it.
    ToElement,
    /// It follows another agent.
    ToAgent,
    /// It goes to look at something.
    Notice,
    /// It goes to a point: out of the way, or next to its conversation partners.
    ToPlace,
    /// It walks a circle around obstacles, from one point of it to the next.
    Lap,
}

/// The course of a walking agent.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Course {
    /// The purpose.
    pub kind: WalkKind,
    /// The target; for a circle, its center.
    pub target: Vec2,
    /// The distance at which it has arrived.
    pub arrive: f32,
    /// The position on a circle, as an angle.
    pub phase: f32,
    /// The key of the agent that it goes to.
    pub whom: u32,
    /// Whether the target is only a turn of its path.
    #[serde(default)]
    pub via: bool,
}

impl Course {
    /// Standing still.
    pub const STAND: Self =
        Self { kind: WalkKind::Stand, target: Vec2::ZERO, arrive: 0.0, phase: 0.0, whom: 0, via: false };

    /// Walking to a point.
    pub fn to(kind: WalkKind, target: Vec2, arrive: f32) -> Self {
        Self { kind, target, arrive, ..Self::STAND }
    }

    /// Walking to an agent at this position.
    pub fn to_agent(whom: u32, at: Vec2, arrive: f32) -> Self {
        Self { whom, ..Self::to(WalkKind::ToAgent, at, arrive) }
    }

    /// A circle around home, starting at the point nearest to the agent.
    pub fn round(position: Vec2, home: Vec2) -> Self {
        let out = position - home;
        let phase = if out.length_squared() > 1.0 { ops::atan2(out.y, out.x) } else { 0.0 };
        Self { phase, ..Self::to(WalkKind::Round, home, 0.0) }
    }

    /// Whether it walks.
    pub fn moves(&self) -> bool {
        self.kind != WalkKind::Stand
    }
}

/// One tick of walking: returns the new position, and whether the agent has arrived.
#[inline]
pub fn step(position: Vec2, course: &mut Course, push: Vec2, settings: &MovementSettings) -> (Vec2, bool) {
    let target = if course.kind == WalkKind::Round {
        let lap = core::f32::consts::TAU * STEP_SECS / settings.patrol_lap_secs.max(0.1);
        course.phase = (course.phase + lap) % core::f32::consts::TAU;
        course.target + Vec2::new(ops::cos(course.phase), ops::sin(course.phase)) * settings.patrol_units
    } else {
        course.target
    };
    let way = target - position;
    let far = way.length();
    if course.kind != WalkKind::Round && far <= course.arrive {
        return (position, true);
    }
    let reach = settings.speed_units * STEP_SECS;
    let stride = if far <= reach { way } else { way * (reach / far) };
    let moved = position + stride + push * STEP_SECS;
    let arrived = course.kind != WalkKind::Round && moved.distance_squared(target) <= course.arrive * course.arrive;
    // A target beyond the range of floats must not give the agent an invalid position.
    if moved.is_finite() { (moved, arrived) } else { (position, true) }
}

/// How one neighbour at `other` pushes an agent at `position`: away, the stronger the nearer, at most 1.
#[inline]
pub fn push_of(position: Vec2, key: u32, other: Vec2, distance_squared: f32, both_bodies: f32) -> Vec2 {
    if distance_squared < 1.0e-4 {
        // Two agents at the same point are pushed in different directions.
        let angle = key as f32 * GOLDEN_ANGLE;
        return Vec2::new(ops::cos(angle), ops::sin(angle));
    }
    let distance = distance_squared.sqrt();
    (position - other) * ((1.0 - distance / both_bodies) / distance)
}

/// The step aside of one of two agents that are closer than `gap`: half of the missing distance.
pub fn side_step(position: Vec2, key: u32, other: Vec2, distance_squared: f32, gap: f32) -> Vec2 {
    if distance_squared < 1.0e-4 {
        let angle = key as f32 * GOLDEN_ANGLE;
        return Vec2::new(ops::cos(angle), ops::sin(angle)) * gap / 2.0;
    }
    let distance = distance_squared.sqrt();
    (position - other) * ((gap - distance) / (2.0 * distance))
}

/// A new target for a wandering agent: toward something near, or somewhere around its home.
pub fn stroll_target(
    home: Vec2,
    near: impl FnOnce() -> Option<Vec2>,
    random: &mut AgentRandom,
    settings: &MovementSettings,
) -> Vec2 {
    if random.chance(settings.toward_others)
        && let Some(near) = near()
    {
        let beside = settings.beside_units;
        return near + Vec2::new(random.between(-beside, beside), random.between(-beside, beside));
    }
    home + random.direction() * random.between(settings.min_stroll_units, settings.max_stroll_units)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::AgentKey;
    use crate::schedule::RoomSeed;

    fn random(key: u32) -> AgentRandom {
        AgentRandom::new(RoomSeed(7), AgentKey(key))
    }

    fn walk(mut position: Vec2, mut course: Course, push: Vec2, ticks: usize) -> (Vec2, Option<usize>) {
        let settings = MovementSettings::default();
        for tick in 0..ticks {
            let (moved, arrived) = step(position, &mut course, push, &settings);
            position = moved;
            if arrived {
                return (position, Some(tick));
            }
        }
        (position, None)
    }

    #[test]
    fn walks_eighty_units_a_second_and_stops_within_three() {
        let course = Course::to(WalkKind::Stroll, Vec2::new(160.0, 0.0), 3.0);
        let (halfway, arrived) = walk(Vec2::ZERO, course, Vec2::ZERO, 30);
        assert!((halfway.x - 80.0).abs() < 0.01 && arrived.is_none());
        let (there, arrived) = walk(Vec2::ZERO, course, Vec2::ZERO, 61);
        assert!(arrived.is_some() && there.distance(Vec2::new(160.0, 0.0)) <= 3.0);
    }

    #[test]
    fn a_round_has_radius_100_and_takes_ten_and_a_half_seconds() {
        let settings = MovementSettings::default();
        let home = Vec2::new(50.0, -20.0);
        let start = home + Vec2::new(100.0, 0.0);
        let (mut position, mut course) = (start, Course::round(start, home));
        for _ in 0..315 {
            (position, _) = step(position, &mut course, Vec2::ZERO, &settings);
            assert!((position.distance(home) - 100.0).abs() < 1.0);
        }
        assert!(position.distance(start) < 2.0);
    }

    #[test]
    fn the_push_parts_two_that_stand_on_one_point() {
        let (one, other) =
            (push_of(Vec2::ZERO, 1, Vec2::ZERO, 0.0, 60.0), push_of(Vec2::ZERO, 2, Vec2::ZERO, 0.0, 60.0));
        assert!(one.distance(other) > 0.5);
        let away = push_of(Vec2::ZERO, 1, Vec2::new(30.0, 0.0), 900.0, 60.0);
        assert!((away - Vec2::new(-0.5, 0.0)).length() < 1.0e-5);
    }

    #[test]
    fn two_agents_that_stand_too_near_each_step_aside_by_half_of_the_missing_distance() {
        let (one, other) = (Vec2::ZERO, Vec2::new(30.0, 0.0));
        let step = side_step(one, 1, other, 900.0, 44.0);
        assert!((step - Vec2::new(-7.0, 0.0)).length() < 1.0e-4, "{step}");
        assert_eq!(side_step(other, 2, one, 900.0, 44.0), -step);
        assert!(side_step(one, 1, one, 0.0, 44.0).distance(side_step(one, 2, one, 0.0, 44.0)) > 10.0);
    }

    #[test]
    fn strolls_mostly_toward_others_and_never_far_from_home() {
        let settings = MovementSettings::default();
        let (home, near) = (Vec2::new(1000.0, 0.0), Vec2::ZERO);
        let mut random = random(3);
        let targets: Vec<Vec2> =
            (0..1000).map(|_| stroll_target(home, || Some(near), &mut random, &settings)).collect();
        let toward = targets.iter().filter(|target| target.abs().max_element() <= 30.0).count();
        assert!((550..650).contains(&toward), "{toward}");
        let about_home = targets.iter().filter(|target| (29.9..=150.1).contains(&target.distance(home))).count();
        assert_eq!(toward + about_home, 1000);
    }

    proptest! {
        #[test]
        fn no_crowd_keeps_anyone_from_arriving(angle in 0.0_f32..core::f32::consts::TAU, x in -500.0_f32..500.0, y in -500.0_f32..500.0) {
            let push = Vec2::new(ops::cos(angle), ops::sin(angle)) * MovementSettings::default().push_units;
            let course = Course::to(WalkKind::ToElement, Vec2::ZERO, 17.5);
            prop_assert!(walk(Vec2::new(x, y), course, push, 1000).1.is_some());
        }
    }
}
