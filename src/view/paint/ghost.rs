//! What is carried from the shelf, seen through, where it would come to stand.

use bevy::math::Vec2;
use egui::Painter;

use super::batch::Batch;
use super::{element, figure, floor};
use crate::base::{AgentKey, ElementKey, Id};
use crate::simulation::State;
use crate::view::art::Art;
use crate::view::camera::Camera;
use crate::view::model::{AgentView, ContentView, ElementView};
use crate::view::theme::Theme;

/// A thing that is not in the room yet.
#[derive(Clone, PartialEq, Debug)]
pub enum Ghost {
    /// An agent that looks like this.
    Agent(Id),
    /// An element of this kind.
    Element(Id),
}

/// Paints a ghost at a place of the room.
pub fn ghost(painter: &Painter, art: &Art, camera: Camera, theme: Theme, ghost: &Ghost, place: Vec2) {
    const SEEN_THROUGH: f32 = 0.6;
    let Some(sheet) = art.sheet(camera.zoom) else { return };
    let mut painter = painter.with_clip_rect(camera.viewport.intersect(painter.clip_rect()));
    painter.multiply_opacity(SEEN_THROUGH);
    let light = floor::light_of(theme);
    let mut batch = Batch::new(sheet, 64);
    match ghost {
        Ghost::Agent(look) => {
            let agent = AgentView {
                key: AgentKey(0),
                id: look.clone(),
                name: look.clone(),
                profile: look.clone(),
                look: look.clone(),
                position: place,
                heading: Vec2::ZERO,
                walks: false,
                state: State::Dragged,
                since_secs: 0.0,
                thinking: false,
                queued: 0,
                reads: None,
                detail: None,
            };
            let agents = [agent];
            let scene = figure::Scene {
                now_secs: 0.0,
                zoom: camera.zoom,
                light,
                sign: theme.bubble,
                ink: theme.bubble_text,
                coarse: false,
                agents: &agents,
            };
            figure::paint(&mut batch, 0, camera.to_screen(place), false, &scene);
        }
        Ghost::Element(kind) => {
            let element = ElementView {
                key: ElementKey(0),
                id: kind.clone(),
                kind: kind.clone(),
                label: kind.clone(),
                position: place,
                owner: None,
                file: None,
                content: std::sync::Arc::new(ContentView::Text(String::new())),
            };
            element::shadow(&mut batch, place, element::SIZE, camera, theme);
            element::element(&mut batch, &element, None, 0.0, camera, light);
        }
    }
    batch.paint(&painter);
}
