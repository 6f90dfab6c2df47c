//! Spreads overlapping agents near the pointer so that each can be clicked; they move back when the pointer leaves.

use std::collections::BTreeMap;

use bevy::math::Vec2;

use super::model::{AgentView, RoomModel};
use super::paint::square_side;
use crate::base::AgentKey;

/// Figures closer than this cover each other's faces, in world units.
const FACE_UNITS: f32 = 22.0;
/// Height above the feet of the point that people aim at, in world units.
const WAIST_UNITS: f32 = 22.0;
/// Maximum number of agents that are spread at once.
const MAX_MEMBERS: usize = 16;
/// Duration of the movement, in seconds.
const MAKES_ROOM_SECS: f32 = 0.14;

/// The agents that are currently spread.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Spread {
    /// The target position of each agent.
    places: BTreeMap<AgentKey, Vec2>,
    middle: Vec2,
    /// Distance of the target positions from the middle.
    radius: f32,
    /// Progress of the movement, from 0 to 1.
    share: f32,
}

impl Spread {
    /// Updates the spread for the pointer's position, if it is in the room. `step_secs` is the time since the last
    /// frame; `None` (reduced motion) moves at once. Returns whether the movement continues.
    pub fn follow(&mut self, room: &RoomModel, pointer: Option<Vec2>, zoom: f32, step_secs: Option<f32>) -> bool {
        let min_distance = min_distance(zoom);
        let stays = |spread: &Self| {
            !spread.places.is_empty()
                && pointer.is_some_and(|pointer| {
                    (pointer - Vec2::new(0.0, WAIST_UNITS)).distance(spread.middle)
                        <= spread.radius + 1.2 * min_distance
                })
        };
        let is_near = stays(self);
        if !is_near && self.share <= 0.0 {
            *self = pointer.map_or_else(Self::default, |pointer| Self::arrange(room, pointer, min_distance));
        }
        // Drop agents that have walked away.
        let reach = 2.0 * (self.radius + min_distance);
        let middle = self.middle;
        self.places.retain(|key, _| room.agent_of(*key).is_some_and(|agent| agent.position.distance(middle) < reach));
        let target = if stays(self) { 1.0 } else { 0.0 };
        let step = step_secs.map_or(1.0, |step| step / MAKES_ROOM_SECS);
        self.share = (self.share + (target - self.share).clamp(-step, step)).clamp(0.0, 1.0);
        !self.places.is_empty() && self.share != target
    }

    /// Moves everyone back at once.
    pub fn end(&mut self) {
        *self = Self::default();
    }

    /// Applies the displacement to the room, before hit testing and painting.
    pub fn apply(&self, room: &mut RoomModel) {
        if self.share <= 0.0 {
            return;
        }
        for (key, place) in &self.places {
            if let Ok(index) = room.agents.binary_search_by_key(key, |agent| agent.key) {
                let agent = &mut room.agents[index];
                agent.position = agent.position.lerp(*place, self.share);
            }
        }
    }

    /// Arranges the overlapping agents near the pointer on a circle, each toward its own side.
    fn arrange(room: &RoomModel, pointer: Vec2, min_distance: f32) -> Self {
        let waist = pointer - Vec2::new(0.0, WAIST_UNITS);
        let away = |agent: &AgentView| agent.position.distance_squared(waist);
        let mut near: Vec<&AgentView> =
            room.agents.iter().filter(|agent| away(agent) <= (1.5 * min_distance) * (1.5 * min_distance)).collect();
        near.sort_by(|one, other| away(one).total_cmp(&away(other)).then(one.key.cmp(&other.key)));
        near.truncate(4 * MAX_MEMBERS);
        let covers = |one: &AgentView, other: &AgentView| {
            one.key != other.key && one.position.distance_squared(other.position) < min_distance * min_distance
        };
        let covered: Vec<&AgentView> =
            near.iter().copied().filter(|one| near.iter().any(|other| covers(one, other))).collect();
        let members = &covered[..covered.len().min(MAX_MEMBERS)];
        if members.len() < 2 {
            return Self::default();
        }
        let middle = members.iter().map(|agent| agent.position).sum::<Vec2>() / members.len() as f32;
        let mut by_side: Vec<(f32, AgentKey)> = members
            .iter()
            .map(|agent| {
                let from_middle = agent.position - middle;
                (from_middle.y.atan2(from_middle.x), agent.key)
            })
            .collect();
        by_side.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        // Neighbours on the circle are one figure apart.
        let turn = std::f32::consts::TAU / by_side.len() as f32;
        let radius = 0.55 * min_distance / (0.5 * turn).sin();
        let first = by_side[0].0;
        let places = by_side
            .iter()
            .enumerate()
            .map(|(index, (_, key))| (*key, middle + Vec2::from_angle(first + turn * index as f32) * radius));
        Self { places: places.collect(), middle, radius, share: 0.0 }
    }
}

/// Agents closer than this cannot be clicked separately, in world units.
fn min_distance(zoom: f32) -> f32 {
    // When zoomed out, agents within one square are clustered; its diagonal is the largest distance within a cluster.
    let cluster_diagonal = if zoom < 0.25 { square_side(zoom.max(0.01)) * std::f32::consts::SQRT_2 } else { 0.0 };
    FACE_UNITS.max(cluster_diagonal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::State;
    use crate::view::paint::tests::agent;
    use crate::view::pick::{RoomObject, hit_test};

    fn cluster(places: &[(f32, f32)]) -> RoomModel {
        let agents = places
            .iter()
            .enumerate()
            .map(|(key, (x, y))| AgentView { position: Vec2::new(*x, *y), ..agent(key as u32, "Ada", State::Idle) });
        RoomModel { agents: agents.collect(), ..RoomModel::default() }
    }

    fn spread(room: &RoomModel, pointer: Vec2, zoom: f32) -> (Spread, RoomModel) {
        let mut spread = Spread::default();
        spread.follow(room, Some(pointer), zoom, None);
        let mut shown = room.clone();
        spread.apply(&mut shown);
        (spread, shown)
    }

    #[test]
    fn overlapping_agents_can_be_clicked_at_every_zoom() {
        for (count, zoom) in [(2_usize, 1.0), (5, 1.0), (5, 0.2), (12, 0.12)] {
            let places: Vec<(f32, f32)> = (0..count).map(|index| (index as f32 * 3.0, (index % 3) as f32)).collect();
            let room = cluster(&places);
            let (_, shown) = spread(&room, Vec2::new(1.0, WAIST_UNITS), zoom);
            for agent in &shown.agents {
                let face = agent.position + Vec2::new(0.0, crate::view::pick::FACE_LIFT);
                let under = hit_test(&shown, if zoom < 0.25 { agent.position } else { face }, zoom);
                assert_eq!(under, Some(RoomObject::Agent(agent.id.clone())), "{count} at {zoom}");
            }
        }
    }

    #[test]
    fn agents_stay_spread_while_the_pointer_is_among_them() {
        let room = cluster(&[(0.0, 0.0), (4.0, 0.0), (300.0, 0.0)]);
        let (mut spread, shown) = spread(&room, Vec2::new(0.0, WAIST_UNITS), 1.0);
        assert_eq!(shown.agents[2].position, room.agents[2].position, "who stands alone stays");
        let pointer = shown.agents[1].position + Vec2::new(0.0, WAIST_UNITS);
        let before = spread.clone();
        spread.follow(&room, Some(pointer), 1.0, None);
        assert_eq!(spread, before);
        assert!(spread.follow(&room, Some(Vec2::new(900.0, 0.0)), 1.0, Some(0.05)), "they are on the way back");
        spread.follow(&room, None, 1.0, None);
        let mut shown = room.clone();
        spread.apply(&mut shown);
        assert_eq!(shown.agents[0].position, room.agents[0].position);
    }

    #[test]
    fn agents_that_do_not_overlap_do_not_move() {
        let room = cluster(&[(0.0, 0.0), (FACE_UNITS + 1.0, 0.0)]);
        let (spread, _) = spread(&room, Vec2::new(5.0, WAIST_UNITS), 1.0);
        assert_eq!(spread, Spread::default());
    }
}
