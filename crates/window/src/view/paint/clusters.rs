//! Clusters agents that would overlap in the zoomed-out view: the number of agents in each square, and the most
//! important one.

use bevy::math::Vec2 as World;
use bevy::platform::collections::HashMap;
use egui::{Rect, Vec2};

use crate::simulation::State;
use crate::view::activity_text::{Importance, label_state};
use crate::view::camera::Camera;
use crate::view::model::AgentView;

/// Minimum side of a square, in points; agents within a square are drawn as one dot. The actual side is less than twice
/// this.
const MIN_SIDE_POINTS: f32 = 18.5;
/// Radius of a badge, in points.
const BADGE_RADIUS: f32 = 8.0;
/// Minimum distance of a number from the edges of its square, in points, so that it never overlaps the next one.
const NUMBER_INSET: f32 = 9.0;

/// The agents in one square.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cluster {
    /// Column and row of the square.
    pub(super) square: (i32, i32),
    /// Mean position of the agents, kept away from the edges so that the number fits.
    pub(super) middle: World,
    /// Number of agents.
    pub(super) count: usize,
    /// Index of the most important agent.
    pub(super) first: u32,
    /// Importance of that agent.
    pub(super) importance: Importance,
    pub(super) state: State,
}

/// Side of the squares at a zoom, in world units: a power of two. So squares stay fixed while zooming a little, and
/// split into four or merge when crossing an octave, which keeps clusters from flickering.
pub fn square_side(zoom: f32) -> f32 {
    2.0_f32.powi((MIN_SIDE_POINTS / zoom).log2().ceil() as i32)
}

/// Row and column of the square that contains a world position.
fn square_of(place: World, side: f32) -> (i32, i32) {
    let square = (place / side).floor();
    (square.y as i32, square.x as i32)
}

/// Clusters agents that would overlap at this zoom, sorted by square. Squares are fixed in the world, so that clusters
/// are stable while the view moves.
pub(super) fn group<'a>(agents: impl Iterator<Item = (u32, &'a AgentView)>, zoom: f32) -> Vec<Cluster> {
    let side = square_side(zoom);
    let mut clusters: Vec<Cluster> = Vec::new();
    let mut at: HashMap<(i32, i32), usize> = HashMap::default();
    for (index, agent) in agents {
        let square = square_of(agent.position, side);
        let importance = Importance::of(agent);
        let place = *at.entry(square).or_insert_with(|| {
            let (middle, state) = (World::ZERO, label_state(agent));
            clusters.push(Cluster { square, middle, count: 0, first: index, importance, state });
            clusters.len() - 1
        });
        let cluster = &mut clusters[place];
        cluster.middle += agent.position;
        cluster.count += 1;
        if importance < cluster.importance {
            (cluster.importance, cluster.state, cluster.first) = (importance, label_state(agent), index);
        }
    }
    clusters.sort_unstable_by_key(|cluster| cluster.square);
    let inset = World::splat(NUMBER_INSET / zoom);
    for cluster in &mut clusters {
        cluster.middle /= cluster.count as f32;
        // A single agent is drawn at its own position.
        if cluster.count > 1 {
            let corner = World::new(cluster.square.1 as f32, cluster.square.0 as f32) * side;
            cluster.middle = cluster.middle.clamp(corner + inset, corner + World::splat(side) - inset);
        }
    }
    clusters
}

/// Radius of a cluster's dot, in points.
pub(super) fn radius(cluster: &Cluster, have_faces: bool) -> f32 {
    let more = if cluster.importance.stands_out() { 2.5 } else { 0.0 };
    let radius = match cluster.count {
        1 if have_faces => BADGE_RADIUS,
        1 => 4.0,
        many => (6.0 + 1.1 * (many as f32).log2()).min(11.0),
    };
    radius + more
}

/// The rectangle in which a cluster is painted, and whether it stands out.
pub(super) fn place(cluster: &Cluster, camera: Camera) -> (Rect, bool) {
    let size = Vec2::splat(2.0 * radius(cluster, true));
    (Rect::from_center_size(camera.to_screen(cluster.middle), size), cluster.importance.stands_out())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::view::model::RoomModel;
    use crate::view::paint::Seen;
    use crate::view::paint::tests::agent;

    /// An irregular crowd, the same in every run.
    fn crowd(count: u32) -> RoomModel {
        let agents = (0..count).map(|key| {
            let mut agent = agent(key, "Ada", State::ALL[key as usize % State::ALL.len()]);
            // Multiples of the golden ratio are spread evenly and fit no grid.
            let share = |by: f32| (key as f32 * by).fract() - 0.5;
            agent.position = World::new(share(0.618_034), share(0.754_878)) * 9_000.0;
            agent
        });
        RoomModel { agents: agents.collect(), ..RoomModel::default() }
    }

    /// The zoom levels of the mouse wheel, from far to near.
    fn zooms() -> impl Iterator<Item = f32> {
        std::iter::successors(Some(0.1_f32), |zoom| Some(zoom * 1.013)).take_while(|zoom| *zoom < 0.25)
    }

    #[test]
    fn clusters_only_split_while_zooming_in() {
        let room = crowd(800);
        let together = |zoom: f32| -> Vec<(i32, i32)> {
            let side = square_side(zoom);
            room.agents.iter().map(|agent| square_of(agent.position, side)).collect()
        };
        let summary = |zoom: f32| -> Vec<(usize, u32, Importance)> {
            let clusters = group((0..).zip(&room.agents), zoom);
            clusters.iter().map(|cluster| (cluster.count, cluster.first, cluster.importance)).collect()
        };
        let (mut before, mut input, mut changes) = (together(0.1), summary(0.1), 0);
        for zoom in zooms() {
            let points = square_side(zoom) * zoom;
            assert!((MIN_SIDE_POINTS - 0.01..2.0 * MIN_SIDE_POINTS + 0.01).contains(&points), "{zoom}: {points}");
            let (now, tells) = (together(zoom), summary(zoom));
            if now == before {
                assert_eq!(tells, input, "at {zoom}");
                continue;
            }
            changes += 1;
            for (index, one) in now.iter().enumerate() {
                let apart = (0..index).find(|other| now[*other] == *one && before[*other] != before[index]);
                assert_eq!(apart, None, "at {zoom} the heap of {index} takes somebody in");
            }
            (before, input) = (now, tells);
        }
        assert!(changes <= 2, "{changes}");
    }

    #[test]
    fn clusters_at_the_edge_count_agents_outside_the_view() {
        let room = crowd(2_000);
        for zoom in [0.1, 0.13, 0.2, 0.24] {
            let side = square_side(zoom);
            let all = group((0..).zip(&room.agents), zoom);
            for step in 0..40 {
                let camera =
                    Camera { middle: World::new(step as f32 * 37.0, step as f32 * -23.0), zoom, ..Camera::default() };
                let seen = Seen::of(&room, camera);
                let shown = group(seen.agents.iter().map(|index| (*index, &room.agents[*index as usize])), zoom);
                let (low, high) = camera.visible(0.0);
                let in_view = |cluster: &&Cluster| {
                    let corner = World::new(cluster.square.1 as f32, cluster.square.0 as f32) * side;
                    corner.cmplt(high).all() && (corner + World::splat(side)).cmpgt(low).all()
                };
                let counts = |clusters: &[Cluster]| -> Vec<((i32, i32), usize)> {
                    clusters.iter().filter(in_view).map(|cluster| (cluster.square, cluster.count)).collect()
                };
                assert_eq!(counts(&shown), counts(&all), "at {zoom}, step {step}");
            }
        }
    }

    proptest! {
        #[test]
        fn numbers_of_clusters_never_overlap(
            places in prop::collection::vec((-900.0_f32..900.0, -900.0_f32..900.0), 2..300),
            zoom in 0.1_f32..0.25,
        ) {
            let agents = (0..).zip(&places).map(|(key, (x, y))| {
                let mut agent = agent(key, "Ada", State::Idle);
                agent.position = World::new(*x, *y);
                agent
            });
            let agents: Vec<AgentView> = agents.collect();
            let clusters = group((0..).zip(&agents), zoom);
            prop_assert_eq!(clusters.iter().map(|cluster| cluster.count).sum::<usize>(), agents.len());
            let numbered = clusters.iter().filter(|cluster| cluster.count > 1);
            let numbers: Vec<World> = numbered.map(|cluster| cluster.middle * zoom).collect();
            for (index, one) in numbers.iter().enumerate() {
                for other in &numbers[index + 1..] {
                    let apart = (*one - *other).abs().max_element();
                    // Three digits are less than 18 points wide.
                    prop_assert!(apart >= 2.0 * NUMBER_INSET - 0.1, "{} and {}", one, other);
                }
            }
        }
    }
}
