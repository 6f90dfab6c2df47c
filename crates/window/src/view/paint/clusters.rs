//! Groups agents that would cover each other in the zoomed-out view: how many are in each square, and which of them
//! matters most.

use bevy::math::Vec2 as World;
use bevy::platform::collections::HashMap;
use egui::{Rect, Vec2};

use crate::simulation::State;
use crate::view::activity_text::{Importance, told_as};
use crate::view::camera::Camera;
use crate::view::model::AgentView;

/// Agents within one square of this side are drawn as one dot, in points.
const HEAP_POINTS: f32 = 26.0;
/// A badge is as wide as twice this, in points.
const BADGE_RADIUS: f32 = 8.0;
/// A number stands so far from the edges of its square at least, in points: so that it never lies on the next one.
const NUMBER_INSET: f32 = 9.0;

/// Agents that stand close together.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cluster {
    /// The square of the room that they stand in.
    pub(super) square: (i32, i32),
    /// The middle of them all, as far as their number has room there.
    pub(super) middle: World,
    /// How many.
    pub(super) count: usize,
    /// The one of them that matters most, by its place among the agents of the room.
    pub(super) first: u32,
    /// How much what that one does matters, and its state.
    pub(super) importance: Importance,
    pub(super) state: State,
}

/// Puts agents that would cover each other at this zoom on one heap. Squares lie fast in the room, so that heaps
/// stay what they are while the view moves. In order of their squares.
pub(super) fn heaps<'a>(agents: impl Iterator<Item = (u32, &'a AgentView)>, zoom: f32) -> Vec<Cluster> {
    let side = HEAP_POINTS / zoom;
    let mut heaps: Vec<Cluster> = Vec::new();
    let mut at: HashMap<(i32, i32), usize> = HashMap::default();
    for (index, agent) in agents {
        let square = (agent.position / side).floor();
        let square = (square.y as i32, square.x as i32);
        let importance = Importance::of(agent);
        let place = *at.entry(square).or_insert_with(|| {
            let (middle, state) = (World::ZERO, told_as(agent));
            heaps.push(Cluster { square, middle, count: 0, first: index, importance, state });
            heaps.len() - 1
        });
        let heap = &mut heaps[place];
        heap.middle += agent.position;
        heap.count += 1;
        if importance < heap.importance {
            (heap.importance, heap.state, heap.first) = (importance, told_as(agent), index);
        }
    }
    heaps.sort_unstable_by_key(|heap| heap.square);
    let inset = World::splat(NUMBER_INSET / zoom);
    for heap in &mut heaps {
        heap.middle /= heap.count as f32;
        // Who stands alone is where it is.
        if heap.count > 1 {
            let corner = World::new(heap.square.1 as f32, heap.square.0 as f32) * side;
            heap.middle = heap.middle.clamp(corner + inset, corner + World::splat(side) - inset);
        }
    }
    heaps
}

/// How large a heap is painted, in points.
pub(super) fn radius(heap: &Cluster, have_faces: bool) -> f32 {
    let more = if heap.importance.stands_out() { 2.5 } else { 0.0 };
    let radius = match heap.count {
        1 if have_faces => BADGE_RADIUS,
        1 => 4.0,
        many => (6.0 + 1.1 * (many as f32).log2()).min(11.0),
    };
    radius + more
}

/// Where a heap is painted, and whether it stands out.
pub(super) fn place(heap: &Cluster, camera: Camera) -> (Rect, bool) {
    let size = Vec2::splat(2.0 * radius(heap, true));
    (Rect::from_center_size(camera.to_screen(heap.middle), size), heap.importance.stands_out())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::view::paint::tests::agent;

    proptest! {
        #[test]
        fn no_number_lies_on_another_however_a_crowd_stands(
            places in prop::collection::vec((-900.0_f32..900.0, -900.0_f32..900.0), 2..300),
            zoom in 0.1_f32..0.25,
        ) {
            let agents = (0..).zip(&places).map(|(key, (x, y))| {
                let mut agent = agent(key, "Ada", State::Idle);
                agent.position = World::new(*x, *y);
                agent
            });
            let agents: Vec<AgentView> = agents.collect();
            let heaps = heaps((0..).zip(&agents), zoom);
            prop_assert_eq!(heaps.iter().map(|heap| heap.count).sum::<usize>(), agents.len());
            let numbered = heaps.iter().filter(|heap| heap.count > 1);
            let numbers: Vec<World> = numbered.map(|heap| heap.middle * zoom).collect();
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
