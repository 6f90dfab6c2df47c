//! Paints a translucent preview of an agent or element that is dragged from the shelf, at the drop position.

use bevy::math::Vec2;
use egui::Painter;

use super::batch::Batch;
use super::{element, figure, floor};
use crate::base::Id;
use crate::view::art::Art;
use crate::view::camera::Camera;
use crate::view::theme::Theme;

/// Something that is being dragged into the room.
#[derive(Clone, PartialEq, Debug)]
pub enum Ghost {
    /// An agent with this look.
    Agent(Id),
    /// An element of this kind.
    Element(Id),
}

/// Paints a ghost at a world position.
pub fn ghost(painter: &Painter, art: &Art, camera: Camera, theme: Theme, ghost: &Ghost, place: Vec2) {
    const SEEN_THROUGH: f32 = 0.6;
    let Some(sheet) = art.sheet(camera.zoom) else { return };
    let mut painter = painter.with_clip_rect(camera.viewport.intersect(painter.clip_rect()));
    painter.multiply_opacity(SEEN_THROUGH);
    let light = floor::light_of(theme);
    let mut batch = Batch::new(sheet, 64);
    match ghost {
        Ghost::Agent(look) => figure::carried(&mut batch, look, camera.to_screen(place), camera.zoom, light),
        Ghost::Element(kind) => {
            element::shadow(&mut batch, place, element::SIZE, camera, theme);
            element::picture(&mut batch, kind, camera.to_screen(place), camera.zoom, light);
        }
    }
    batch.paint(&painter);
}
