//! Agents that would cover each other from afar, put together: how many stand in a square, and who of them matters most.

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

/// Agents that stand close together.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cluster {
    /// The square of the room that they stand in.
    pub(super) square: (i32, i32),
    /// The middle of them all.
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
    for heap in &mut heaps {
        heap.middle /= heap.count as f32;
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
