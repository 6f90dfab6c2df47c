//! The whole room in a small frame, and which part of it is seen.

use bevy::math::Vec2 as World;
use egui::epaint::Vertex;
use egui::{Color32, CornerRadius, Mesh, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2, vec2};

use super::batch::mixed;
use super::element::SIZE;
use crate::view::camera::Camera;
use crate::view::model::RoomModel;
use crate::view::theme::{RADIUS, RUG_ON_MAP, Theme, element_colour, state_colour};

/// Air around what stands in the room, in world units.
const AIR: f32 = 160.0;

/// Which place of the room lies where in the small frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Small {
    middle: World,
    scale: f32,
    rect: Rect,
}

impl Small {
    /// The whole room, and whatever the camera sees beside it, in a frame.
    pub fn of(rect: Rect, room: &RoomModel, camera: Camera) -> Self {
        let (mut low, mut high) = camera.visible(0.0);
        let agents = room.agents.iter().map(|agent| agent.position);
        let places = agents.chain(room.elements.iter().map(|element| element.position));
        for place in places.filter(|place| place.is_finite()) {
            low = low.min(place - World::splat(AIR));
            high = high.max(place + World::splat(AIR));
        }
        let size = (high - low).max(World::ONE);
        let scale = (rect.width() / size.x).min(rect.height() / size.y);
        Self { middle: low.midpoint(high), scale, rect }
    }

    /// Where a place of the room is in the frame.
    pub fn to_screen(&self, place: World) -> Pos2 {
        let from_middle = (place - self.middle) * self.scale;
        self.rect.center() + vec2(from_middle.x, -from_middle.y)
    }

    /// Which place of the room a point of the frame shows.
    pub fn to_world(&self, point: Pos2) -> World {
        let from_middle = (point - self.rect.center()) / self.scale.max(f32::EPSILON);
        self.middle + World::new(from_middle.x, -from_middle.y)
    }
}

/// Paints the room into a small frame. A press in it leads to the place that [`Small::to_world`] tells.
pub fn minimap(painter: &Painter, rect: Rect, room: &RoomModel, camera: Camera, theme: Theme) {
    let painter = painter.with_clip_rect(rect.intersect(painter.clip_rect()));
    let corners = CornerRadius::same(RADIUS[0]);
    painter.rect_filled(rect, corners, mixed(theme.floor, theme.panel, 0.25));
    let small = Small::of(rect.shrink(3.0), room, camera);
    for decor in room.decor.iter().filter(|decor| &*decor.kind == "rug") {
        let rug =
            Rect::from_center_size(small.to_screen(decor.position), vec2(decor.size.x, decor.size.y) * small.scale);
        painter.rect_filled(rug, 2.0, RUG_ON_MAP.gamma_multiply(0.45));
    }
    let mut mesh = Mesh::default();
    for element in &room.elements {
        let size = (vec2(SIZE.x, SIZE.y) * small.scale).max(vec2(5.0, 4.0));
        let ground = if theme.dark { 0.35 } else { 0.1 };
        let colour = mixed(element_colour(&element.kind), Color32::WHITE, ground);
        plain(&mut mesh, Rect::from_center_size(small.to_screen(element.position), size), colour);
    }
    for agent in &room.agents {
        let at = small.to_screen(agent.position);
        if room.agents.len() <= 400 {
            plain(&mut mesh, Rect::from_center_size(at, Vec2::splat(5.0)), theme.bubble);
        }
        plain(&mut mesh, Rect::from_center_size(at, Vec2::splat(3.5)), state_colour(agent.state));
    }
    painter.add(Shape::mesh(mesh));
    let (low, high) = camera.visible(0.0);
    let seen = Rect::from_two_pos(small.to_screen(low), small.to_screen(high));
    painter.rect_filled(seen, 2.0, theme.accent.gamma_multiply(0.08));
    painter.rect_stroke(seen, 2.0, Stroke::new(1.5, theme.accent), StrokeKind::Inside);
    painter.rect_stroke(rect, corners, Stroke::new(1.0, theme.line), StrokeKind::Inside);
}

fn plain(mesh: &mut Mesh, rect: Rect, colour: Color32) {
    let first = mesh.vertices.len() as u32;
    for corner in [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom()] {
        mesh.vertices.push(Vertex::untextured(corner, colour));
    }
    mesh.indices.extend([first, first + 1, first + 2, first, first + 2, first + 3]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::State;
    use crate::view::paint::tests::agent;
    use egui::pos2;

    #[test]
    fn the_minimap_shows_everybody_and_finds_the_way_back() {
        let mut far = agent(0, "Ada", State::Idle);
        far.position = World::new(-3000.0, 900.0);
        let room = RoomModel { agents: vec![far], ..RoomModel::default() };
        let rect = Rect::from_min_size(pos2(1000.0, 600.0), vec2(180.0, 120.0));
        let small = Small::of(rect, &room, Camera::default());
        let at = small.to_screen(room.agents[0].position);
        assert!(rect.contains(at));
        assert!(small.to_world(at).distance(room.agents[0].position) < 1.0);
    }
}
