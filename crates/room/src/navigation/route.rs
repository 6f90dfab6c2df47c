//! Paths around obstacles: a search over the corners of the obstacles that a path actually meets.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use bevy::math::Vec2;

use super::obstacles::{BESIDE, Obstacles};

/// The maximum number of expanded corners; a route that is not found by then counts as nonexistent.
const MAX_EXPANSIONS: usize = 600;
/// The indexes of the goal and the start among the points of a search.
const GOAL: usize = 0;
const START: usize = 1;

/// The waypoints from `from` to the goal, in order. The goal is moved to the nearest point at which an agent can stand.
/// `None` if there is no route.
pub fn route(obstacles: &Obstacles, from: Vec2, to: Vec2) -> Option<Vec<Vec2>> {
    if !from.is_finite() || !to.is_finite() {
        return None;
    }
    let (start, goal) = (obstacles.free_point(from), obstacles.free_point(to));
    if obstacles.blocks(goal) {
        return None;
    }
    let mut way = Vec::new();
    if start != from {
        way.push(start);
    }
    if obstacles.first_on(start, goal).is_none() {
        way.push(goal);
        return Some(way);
    }
    way.extend(Search::new(obstacles, start, goal).run()?);
    Some(way)
}

/// The length of a path.
pub fn length(from: Vec2, way: &[Vec2]) -> f32 {
    way.iter().fold((0.0, from), |(sum, at), next| (sum + at.distance(*next), *next)).0
}

/// A corner at which a path may turn.
struct Point {
    at: Vec2,
    /// The length of the shortest known path to it.
    cost: f32,
    from: usize,
    /// The number of other points that were tried from here.
    tried: usize,
}

struct Search<'a> {
    obstacles: &'a Obstacles,
    points: Vec<Point>,
    met: BTreeSet<usize>,
    /// The points to expand, by the estimated length of the whole path.
    open: BinaryHeap<Reverse<(u32, usize)>>,
}

impl<'a> Search<'a> {
    fn new(obstacles: &'a Obstacles, start: Vec2, goal: Vec2) -> Self {
        let point = |at, cost| Point { at, cost, from: START, tried: 0 };
        let points = vec![point(goal, f32::INFINITY), point(start, 0.0)];
        let mut search = Self { obstacles, points, met: BTreeSet::new(), open: BinaryHeap::new() };
        search.push(START);
        search
    }

    fn push(&mut self, index: usize) {
        let Point { at, cost, .. } = self.points[index];
        let whole = cost + at.distance(self.points[GOAL].at);
        // The bits of non-negative floats sort like the numbers.
        self.open.push(Reverse((whole.to_bits(), index)));
    }

    fn run(mut self) -> Option<Vec<Vec2>> {
        for _ in 0..MAX_EXPANSIONS {
            let Reverse((_, index)) = self.open.pop()?;
            if index == GOAL {
                return Some(self.way());
            }
            self.go_on_from(index);
        }
        None
    }

    /// Tries straight lines from a point to all others; the corners of obstacles on them are added to the search.
    fn go_on_from(&mut self, index: usize) {
        while self.points[index].tried < self.points.len() {
            let other = self.points[index].tried;
            self.points[index].tried += 1;
            let (here, there) = (&self.points[index], &self.points[other]);
            let cost = here.cost + here.at.distance(there.at);
            if other == index || cost + 1.0e-3 >= there.cost || cost >= self.points[GOAL].cost {
                continue;
            }
            match self.obstacles.first_on(here.at, there.at) {
                None => {
                    let tried = if other == GOAL { usize::MAX } else { 0 };
                    self.points[other] = Point { at: there.at, cost, from: index, tried };
                    self.push(other);
                }
                Some(obstacle) => self.meet(obstacle),
            }
        }
    }

    fn meet(&mut self, obstacle: usize) {
        if !self.met.insert(obstacle) {
            return;
        }
        let known = self.points.len();
        let mut due = vec![obstacle];
        while let Some(obstacle) = due.pop() {
            for at in self.obstacles.shapes()[obstacle].corners(BESIDE) {
                if !self.obstacles.blocks(at) {
                    self.points.push(Point { at, cost: f32::INFINITY, from: START, tried: 0 });
                }
            }
            // Adjacent obstacles hide its corners.
            due.extend(self.obstacles.leaning_on(obstacle).filter(|other| self.met.insert(*other)));
        }
        // Points that were expanded have new corners to try.
        for index in START..known {
            if self.points[index].cost.is_finite() {
                self.push(index);
            }
        }
    }

    fn way(&self) -> Vec<Vec2> {
        let mut way = vec![self.points[GOAL].at];
        let mut index = self.points[GOAL].from;
        while index != START {
            way.push(self.points[index].at);
            index = self.points[index].from;
        }
        way.reverse();
        way
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::navigation::Footprint;

    fn room(list: &[(f32, f32, f32, f32)]) -> Obstacles {
        let shape = |(x, y, wide, tall): &(f32, f32, f32, f32)| {
            Footprint::centered_at(Vec2::new(*x, *y), Vec2::new(*wide, *tall)).expect("it is a rectangle")
        };
        Obstacles::new(list.iter().map(shape))
    }

    fn is_clear(room: &Obstacles, from: Vec2, way: &[Vec2]) -> bool {
        let starts = std::iter::once(&from).chain(way);
        starts.zip(way).all(|(one, other)| room.first_on(*one, *other).is_none())
    }

    #[test]
    fn an_unobstructed_path_is_straight() {
        let way = route(&room(&[(0.0, 300.0, 100.0, 80.0)]), Vec2::ZERO, Vec2::new(500.0, 0.0));
        assert_eq!(way, Some(vec![Vec2::new(500.0, 0.0)]));
    }

    #[test]
    fn a_shelf_is_passed_on_the_nearer_side() {
        let room = room(&[(250.0, 40.0, 80.0, 240.0)]);
        let way = route(&room, Vec2::ZERO, Vec2::new(500.0, 0.0)).expect("there is a way");
        assert_eq!(way.len(), 3, "{way:?}");
        assert!(way.iter().all(|point| point.y <= 0.0) && is_clear(&room, Vec2::ZERO, &way), "{way:?}");
    }

    #[test]
    fn a_path_out_of_a_bay_leads_back_first() {
        let bay = [(100.0, 0.0, 40.0, 400.0), (0.0, 200.0, 240.0, 40.0), (0.0, -200.0, 240.0, 40.0)];
        let room = room(&bay);
        let goal = Vec2::new(300.0, 0.0);
        let way = route(&room, Vec2::ZERO, goal).expect("there is a way");
        assert!(is_clear(&room, Vec2::ZERO, &way) && way.last() == Some(&goal), "{way:?}");
        assert!(length(Vec2::ZERO, &way) > 600.0);
    }

    #[test]
    fn an_enclosed_agent_has_no_path_and_the_search_ends_early() {
        let walls = [
            (150.0, 0.0, 40.0, 400.0),
            (-150.0, 0.0, 40.0, 400.0),
            (0.0, 200.0, 400.0, 40.0),
            (0.0, -200.0, 400.0, 40.0),
        ];
        assert_eq!(route(&room(&walls), Vec2::ZERO, Vec2::new(500.0, 0.0)), None);
        assert_eq!(route(&room(&walls), Vec2::ZERO, Vec2::new(f32::NAN, 0.0)), None);
    }

    #[test]
    fn an_agent_inside_an_obstacle_leaves_it_first_and_no_path_ends_inside_one() {
        let room = room(&[(0.0, 0.0, 100.0, 80.0), (500.0, 0.0, 100.0, 80.0)]);
        let way = route(&room, Vec2::new(0.0, -30.0), Vec2::new(500.0, 0.0)).expect("there is a way");
        assert_eq!(way[0], Vec2::new(0.0, -54.5));
        assert!(way.iter().all(|point| !room.blocks(*point)), "{way:?}");
    }

    proptest! {
        #[test]
        fn paths_are_deterministic_and_avoid_obstacles(
            shapes in prop::collection::vec(
                (-500.0_f32..500.0, -500.0_f32..500.0, 20.0_f32..260.0, 20.0_f32..160.0), 0..20),
            ax in -700.0_f32..700.0, ay in -700.0_f32..700.0, bx in -700.0_f32..700.0, by in -700.0_f32..700.0,
        ) {
            let (room, from, to) = (room(&shapes), Vec2::new(ax, ay), Vec2::new(bx, by));
            let way = route(&room, from, to);
            prop_assert_eq!(&way, &route(&room, from, to));
            if let Some(way) = way {
                let start = room.free_point(from);
                prop_assert!(is_clear(&room, start, if start == from { &way } else { &way[1..] }), "{:?}", way);
                prop_assert_eq!(way.last().copied(), Some(room.free_point(to)));
            }
        }

        #[test]
        fn in_an_open_room_with_few_obstacles_there_is_always_a_path(
            shapes in prop::collection::vec(
                (-500.0_f32..500.0, -500.0_f32..500.0, 20.0_f32..120.0, 20.0_f32..90.0), 0..3),
            ax in -700.0_f32..700.0, ay in -700.0_f32..700.0, bx in -700.0_f32..700.0, by in -700.0_f32..700.0,
        ) {
            // Two rectangles enclose nothing.
            prop_assert!(route(&room(&shapes), Vec2::new(ax, ay), Vec2::new(bx, by)).is_some());
        }
    }
}
