//! Paints the minimap: the whole room in a small frame, and the part of it that is visible.

use bevy::math::Vec2 as World;
use egui::epaint::Vertex;
use egui::{Color32, CornerRadius, Mesh, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2, vec2};

use super::batch::mixed;
use super::element::SIZE;
use crate::view::activity_text::{Importance, label_state};
use crate::view::camera::Camera;
use crate::view::model::{DecorView, RoomModel};
use crate::view::theme::{RADIUS, Theme, element_colour, state_colour};

/// Margin around everything in the room, in world units.
const AIR: f32 = 160.0;

/// Minimum width and height of the frame around the visible part, in points.
const FRAME_POINTS: f32 = 8.0;

/// The mapping between the room and the minimap.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MinimapTransform {
    middle: World,
    scale: f32,
    rect: Rect,
}

impl MinimapTransform {
    /// Fits the whole room and the camera's view into a rectangle.
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

    /// Converts a world position to the screen.
    pub fn to_screen(&self, place: World) -> Pos2 {
        let from_middle = (place - self.middle) * self.scale;
        self.rect.center() + vec2(from_middle.x, -from_middle.y)
    }

    /// Converts a point of the minimap to a world position.
    pub fn to_world(&self, point: Pos2) -> World {
        let from_middle = (point - self.rect.center()) / self.scale.max(f32::EPSILON);
        self.middle + World::new(from_middle.x, -from_middle.y)
    }
}

/// Paints the minimap. [`MinimapTransform::to_world`] converts a click in it to a world position.
pub fn minimap(painter: &Painter, rect: Rect, room: &RoomModel, camera: Camera, theme: Theme) {
    let painter = painter.with_clip_rect(rect.intersect(painter.clip_rect()));
    let corners = CornerRadius::same(RADIUS[0]);
    painter.rect_filled(rect, corners, mixed(theme.floor, theme.panel, 0.25));
    let small = MinimapTransform::of(rect.shrink(3.0), room, camera);
    let lying = |decor: &DecorView| {
        Rect::from_center_size(small.to_screen(decor.position), vec2(decor.size.x, decor.size.y) * small.scale)
    };
    for decor in room.decor.iter() {
        if let Some(ground) = super::floor_covering::ground(&decor.kind, theme) {
            painter.rect_filled(lying(decor), 0.0, mixed(ground, theme.floor, 0.35));
        }
    }
    for (place, decor) in super::floor::rugs(&room.decor) {
        painter.rect_filled(lying(decor), 2.0, mixed(super::floor::plain_rug(place, theme), theme.floor, 0.35));
    }
    let mut mesh = Mesh::default();
    for element in &room.elements {
        let size = (vec2(SIZE.x, SIZE.y) * small.scale).max(vec2(5.0, 4.0));
        let ground = if theme.dark { 0.35 } else { 0.1 };
        let colour = mixed(element_colour(&element.kind), Color32::WHITE, ground);
        plain(&mut mesh, Rect::from_center_size(small.to_screen(element.position), size), colour);
    }
    everybody(&mut mesh, room, small, theme);
    painter.add(Shape::mesh(mesh));
    let (low, high) = camera.visible(0.0);
    let seen = frame(Rect::from_two_pos(small.to_screen(low), small.to_screen(high)), rect);
    // Dim the part outside the view, so that the frame is visible whether it is tiny or as large as the map.
    let beside = [
        Rect::from_min_max(rect.min, egui::pos2(rect.right(), seen.top())),
        Rect::from_min_max(egui::pos2(rect.left(), seen.bottom()), rect.max),
        Rect::from_min_max(egui::pos2(rect.left(), seen.top()), seen.left_bottom()),
        Rect::from_min_max(seen.right_top(), egui::pos2(rect.right(), seen.bottom())),
    ];
    for part in beside {
        painter.rect_filled(part, 0.0, theme.shadow.gamma_multiply(0.5));
    }
    painter.rect_stroke(rect, corners, Stroke::new(1.0, theme.line), StrokeKind::Inside);
    painter.rect_stroke(seen, 2.0, Stroke::new(1.5, theme.accent), StrokeKind::Inside);
}

/// Paints a square for each agent, resting ones first, so that they do not cover important ones.
fn everybody(mesh: &mut Mesh, room: &RoomModel, small: MinimapTransform, theme: Theme) {
    for stands_out in [false, true] {
        let all = room.agents.iter().map(|agent| (agent, Importance::of(agent)));
        for (agent, importance) in all.filter(|(_, importance)| importance.stands_out() == stands_out) {
            let at = small.to_screen(agent.position);
            if room.agents.len() <= 400 {
                plain(mesh, Rect::from_center_size(at, Vec2::splat(5.0)), theme.bubble);
            }
            let colour =
                if importance == Importance::Rest { theme.at_rest() } else { state_colour(label_state(agent)) };
            let side = if stands_out { 5.0 } else { 3.5 };
            plain(mesh, Rect::from_center_size(at, Vec2::splat(side)), colour);
        }
    }
}

/// The frame around the visible part: at least [`FRAME_POINTS`] wide, and within the map.
fn frame(seen: Rect, map: Rect) -> Rect {
    let size = seen.size().max(Vec2::splat(FRAME_POINTS)).min(map.size() - Vec2::splat(2.0));
    super::label_layout::inside(Rect::from_center_size(seen.center(), size), map.shrink(1.0))
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
    fn the_frame_stays_within_the_minimap_and_visible() {
        let map = Rect::from_min_size(pos2(1000.0, 600.0), vec2(150.0, 100.0));
        let around = |size: f32| Rect::from_center_size(map.center() + vec2(60.0, 0.0), Vec2::splat(size));
        for size in [0.1, 30.0, 100.0, 900.0] {
            let frame = frame(around(size), map);
            assert!(map.contains_rect(frame) && frame.width() >= FRAME_POINTS, "{size}: {frame}");
        }
    }

    #[test]
    fn resting_agents_never_cover_important_ones() {
        let agents = (0..500).map(|key| agent(key, "Ada", if key == 0 { State::Waiting } else { State::Idle }));
        let room = RoomModel { agents: agents.collect(), ..RoomModel::default() };
        let small =
            MinimapTransform::of(Rect::from_min_size(pos2(0.0, 0.0), vec2(150.0, 100.0)), &room, Camera::default());
        let mut mesh = Mesh::default();
        everybody(&mut mesh, &room, small, Theme::of(false));
        assert_eq!(mesh.vertices.len(), 4 * room.agents.len());
        assert_eq!(mesh.vertices.last().map(|vertex| vertex.color), Some(state_colour(State::Waiting)));
    }

    #[test]
    fn the_minimap_shows_all_agents_and_maps_clicks_back() {
        let mut far = agent(0, "Ada", State::Idle);
        far.position = World::new(-3000.0, 900.0);
        let room = RoomModel { agents: vec![far], ..RoomModel::default() };
        let rect = Rect::from_min_size(pos2(1000.0, 600.0), vec2(180.0, 120.0));
        let small = MinimapTransform::of(rect, &room, Camera::default());
        let at = small.to_screen(room.agents[0].position);
        assert!(rect.contains(at));
        assert!(small.to_world(at).distance(room.agents[0].position) < 1.0);
    }
}
