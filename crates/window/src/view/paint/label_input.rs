//! The input of the label layout: the labels of the room in view, and the faces and figures that they must not cover.

use bevy::math::Vec2 as World;
use egui::{Pos2, Rect, Vec2, vec2};

use super::clusters::{self, Cluster};
use super::occupancy::Occupancy;
use super::{Chosen, Detail, Look, Seen, body, figure_scale};
use crate::view::model::{AgentView, RoomModel};
use crate::view::pick::{FACE_HALF, FACE_LIFT};
use crate::view::recent_events::Recent;

/// Names keep this far from the feet of their owners, in points.
const FEET_POINTS: f32 = 6.0;

/// What there is to tell, and to whom.
#[derive(Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) room: &'a RoomModel,
    pub(super) recent: &'a Recent,
    pub(super) seen: &'a Seen,
    pub(super) chosen: &'a Chosen<'a>,
    pub(super) scene: &'a Look<'a>,
    pub(super) detail: Detail,
    /// Who stands in heaps, where everybody is a dot.
    pub(super) heaps: &'a [Cluster],
}

impl<'a> Told<'a> {
    /// Who is in view.
    pub(super) fn agents(&self) -> impl Iterator<Item = &'a AgentView> + use<'a> {
        let (room, seen) = (self.room, self.seen);
        seen.agents.iter().map(move |index| &room.agents[*index as usize])
    }

    /// How far something is from the pointer; nothing where there is none.
    pub(super) fn distance(&self, at: Pos2) -> f32 {
        self.scene.pointer.map_or(0.0, |pointer| pointer.distance(at))
    }

    /// Where the faces are; of those who are dots, of those alone who stand out.
    pub(super) fn faces(&self) -> Occupancy {
        let camera = self.scene.camera;
        let mut faces = Occupancy::new(camera.viewport);
        if self.detail > Detail::Dots {
            for agent in self.agents() {
                faces.claim(face(agent, self));
            }
        }
        for (place, stands_out) in self.heaps.iter().map(|heap| clusters::place(heap, camera)) {
            if stands_out {
                faces.claim(place);
            }
        }
        faces
    }

    /// Where figures and boards stand, which labels had better not cover.
    pub(super) fn bodies(&self) -> Occupancy {
        let camera = self.scene.camera;
        let mut bodies = Occupancy::new(camera.viewport);
        if self.detail > Detail::Dots {
            for agent in self.agents() {
                let mut body = body(agent, camera, figure_scale(agent, self.detail));
                body.max.y -= FEET_POINTS;
                bodies.claim(body);
            }
        }
        self.heaps.iter().for_each(|heap| bodies.claim(clusters::place(heap, camera).0));
        for element in self.seen.elements.iter().map(|index| &self.room.elements[*index]) {
            let middle = camera.to_screen(element.position + World::new(0.0, 10.0));
            bodies.claim(Rect::from_center_size(middle, vec2(60.0, 30.0) * camera.zoom));
        }
        bodies
    }
}

/// Where the face of somebody is.
pub(super) fn face(agent: &AgentView, told: &Told<'_>) -> Rect {
    let scale = figure_scale(agent, told.detail);
    let middle = told.scene.camera.to_screen(agent.position + World::new(0.0, FACE_LIFT * scale));
    Rect::from_center_size(middle, Vec2::splat(2.0 * FACE_HALF * scale * told.scene.camera.zoom))
}
