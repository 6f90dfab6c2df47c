//! The input of the label layout: the visible agents and elements, and the faces and figures that labels must not
//! cover.

use bevy::math::Vec2 as World;
use egui::{Pos2, Rect, Vec2, vec2};

use super::clusters::{self, Cluster};
use super::occupancy::Occupancy;
use super::{Chosen, Detail, PaintParameters, Seen, body, figure_scale};
use crate::view::model::{AgentView, RoomModel};
use crate::view::pick::{FACE_HALF, FACE_LIFT};
use crate::view::recent_events::Recent;

/// Distance between an agent's feet and its name, in points.
const FEET_POINTS: f32 = 6.0;

/// The visible part of the room, the camera and the selection.
#[derive(Clone, Copy)]
pub(super) struct LabelInput<'a> {
    pub(super) room: &'a RoomModel,
    pub(super) recent: &'a Recent,
    pub(super) seen: &'a Seen,
    pub(super) chosen: &'a Chosen<'a>,
    pub(super) scene: &'a PaintParameters<'a>,
    pub(super) detail: Detail,
    /// The clusters, if agents are drawn as dots.
    pub(super) clusters: &'a [Cluster],
}

impl<'a> LabelInput<'a> {
    /// The visible agents.
    pub(super) fn agents(&self) -> impl Iterator<Item = &'a AgentView> + use<'a> {
        let (room, seen) = (self.room, self.seen);
        seen.agents.iter().map(move |index| &room.agents[*index as usize])
    }

    /// Distance from the pointer; 0 if there is no pointer.
    pub(super) fn distance(&self, at: Pos2) -> f32 {
        self.scene.pointer.map_or(0.0, |pointer| pointer.distance(at))
    }

    /// The faces; of agents drawn as dots, only those that stand out.
    pub(super) fn faces(&self) -> Occupancy {
        let camera = self.scene.camera;
        let mut faces = Occupancy::new(camera.viewport);
        if self.detail > Detail::Dots {
            for agent in self.agents() {
                faces.claim(face(agent, self));
            }
        }
        for (place, stands_out) in self.clusters.iter().map(|cluster| clusters::place(cluster, camera)) {
            if stands_out {
                faces.claim(place);
            }
        }
        faces
    }

    /// The figures and boards, which labels should not cover.
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
        self.clusters.iter().for_each(|cluster| bodies.claim(clusters::place(cluster, camera).0));
        for element in self.seen.elements.iter().map(|index| &self.room.elements[*index]) {
            let middle = camera.to_screen(element.position + World::new(0.0, 10.0));
            bodies.claim(Rect::from_center_size(middle, vec2(60.0, 30.0) * camera.zoom));
        }
        bodies
    }
}

/// The rectangle of an agent's face.
pub(super) fn face(agent: &AgentView, input: &LabelInput<'_>) -> Rect {
    let scale = figure_scale(agent, input.detail);
    let middle = input.scene.camera.to_screen(agent.position + World::new(0.0, FACE_LIFT * scale));
    Rect::from_center_size(middle, Vec2::splat(2.0 * FACE_HALF * scale * input.scene.camera.zoom))
}
