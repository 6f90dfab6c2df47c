//! Paints everything below the agents: the wooden floor, rugs, the grid, and the light of windows and lamps.

use bevy::math::Vec2 as World;
use egui::epaint::Vertex;
use egui::{Color32, CornerRadius, Mesh, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2, pos2, vec2};

use super::batch::{Batch, fade, glow, lit, mixed};
use crate::view::art::{Art, FLOOR_TILE, Sprite};
use crate::view::camera::Camera;
use crate::view::model::{DecorView, RoomModel};
use crate::view::theme::{Theme, rgb};

/// Distance between grid marks, in world units.
const GRID: f32 = 100.0;
/// The additive colour of lamplight.
const LAMPLIGHT: [u8; 3] = [255, 168, 74];
const SUNLIGHT: [u8; 3] = [255, 228, 160];
const MOONLIGHT: [u8; 3] = [110, 150, 235];
/// Background and line colours of rugs.
const RUGS: [(u32, u32); 4] =
    [(0xb5_6047, 0xf3_dcb4), (0x4d_7f78, 0xf0_dfb8), (0x96_4d55, 0xf2_d3b6), (0x7d_8a55, 0xf2_e4bd)];

/// Maximum number of fringes or diamonds of a rug, whatever size its file gives.
const MAX_FRINGES: usize = 200;
const MAX_DIAMONDS: f32 = 40.0;

/// The ambient light on furniture and figures.
pub(super) fn light_of(theme: Theme) -> Color32 {
    theme.room_light()
}

/// Background of signs over heads; lighter than bubbles in the dark theme, to stand out from the floor.
pub(super) fn sign_ground(theme: Theme) -> Color32 {
    if theme.dark { mixed(theme.bubble, theme.bubble_text, 0.2) } else { theme.bubble }
}

/// Paints the floor.
pub(super) fn floor(painter: &Painter, camera: Camera, theme: Theme, art: &Art) {
    let view = camera.viewport;
    painter.rect_filled(view, 0.0, theme.floor);
    let wood = fade(0.12, 0.4, camera.zoom);
    if let Some(texture) = art.floor(camera.zoom).filter(|_| wood > 0.0) {
        let (low, high) = camera.visible(0.0);
        // Counted from the first visible tile: large coordinates would blur the pattern.
        let first = World::new((low.x / FLOOR_TILE).floor(), (high.y / FLOOR_TILE).ceil()) * FLOOR_TILE;
        let texel = |x: f32, y: f32| pos2((x - first.x) / FLOOR_TILE, (first.y - y) / FLOOR_TILE);
        let mut mesh = Mesh::with_texture(texture);
        let uv = Rect::from_min_max(texel(low.x, high.y), texel(high.x, low.y));
        mesh.add_rect_with_uv(view, uv, theme.floor_seam.gamma_multiply(wood));
        painter.add(Shape::mesh(mesh));
    }
}

/// Paints marks every [`GRID`] units; they fade out when zoomed out.
pub(super) fn grid(batch: &mut Batch, camera: Camera, theme: Theme) {
    let strength = fade(0.3, 0.9, camera.zoom);
    if strength <= 0.01 {
        return;
    }
    let colour = theme.text_soft.gamma_multiply(0.22 * strength);
    let (low, high) = camera.visible(GRID);
    let (columns, rows) =
        ((low.x / GRID) as i32..=(high.x / GRID) as i32, (low.y / GRID) as i32..=(high.y / GRID) as i32);
    let arm = (3.0 * camera.zoom).clamp(2.0, 5.0);
    for (x, y) in columns.flat_map(|x| rows.clone().map(move |y| (x, y))) {
        let at = camera.to_screen(World::new(x as f32, y as f32) * GRID);
        batch.line(at - vec2(arm, 0.0), at + vec2(arm, 0.0), 1.0, colour);
        batch.line(at - vec2(0.0, arm), at + vec2(0.0, arm), 1.0, colour);
    }
}

/// The background colour of a rug on the floor.
fn rug_ground((ground, _): (u32, u32), theme: Theme) -> Color32 {
    lit(mixed(rgb(ground), theme.floor, if theme.dark { 0.2 } else { 0.1 }), theme.rug_light())
}

/// The rugs among the furniture, each with its index among the rugs, which selects its colours and does not change when
/// it is moved.
pub(super) fn rugs(decor: &[DecorView]) -> impl Iterator<Item = (usize, &DecorView)> {
    decor.iter().filter(|decor| &*decor.kind == "rug").enumerate()
}

fn rug_colours(place: usize) -> (u32, u32) {
    RUGS[place % RUGS.len()]
}

/// The colour of a rug that is too small for its pattern.
pub(super) fn plain_rug(place: usize, theme: Theme) -> Color32 {
    rug_ground(rug_colours(place), theme)
}

/// Paints a rug with two borders, a row of diamonds, and fringes. `place` is its index among the rugs.
pub(super) fn rug(painter: &Painter, decor: &DecorView, place: usize, camera: Camera, theme: Theme) {
    let zoom = camera.zoom;
    let rect = camera.rect_to_screen(decor.position, decor.size);
    let colours = rug_colours(place);
    let ground = rug_ground(colours, theme);
    let line = lit(mixed(rgb(colours.1), ground, 0.25), theme.rug_light());
    let round = |units: f32| CornerRadius::same((units * zoom).clamp(0.0, 120.0) as u8);

    let thread = Stroke::new((1.6 * zoom).max(0.6), mixed(line, ground, 0.3));
    if zoom > 0.3 {
        let threads = ((decor.size.y / 7.0) as usize).min(MAX_FRINGES);
        for index in 1..threads {
            let y = rect.top() + rect.height() * index as f32 / threads as f32;
            painter.hline(rect.left() - 7.0 * zoom..=rect.right() + 7.0 * zoom, y, thread);
        }
    }
    painter.rect_filled(
        rect.translate(vec2(0.0, 2.0 * zoom)).expand(1.5 * zoom),
        round(8.0),
        theme.shadow.gamma_multiply(0.6),
    );
    painter.rect_filled(rect, round(7.0), ground);
    let border = |inset: f32, width: f32, strength: f32| {
        let inner = rect.shrink(inset * zoom);
        if inner.is_positive() {
            let stroke = Stroke::new((width * zoom).max(0.5), line.gamma_multiply(strength));
            painter.rect_stroke(inner, round(5.0), stroke, StrokeKind::Middle);
        }
    };
    border(9.0, 3.0, 0.85);
    border(17.0, 1.2, 0.6);
    let field = rect.shrink(26.0 * zoom);
    if !field.is_positive() || zoom < 0.2 {
        return;
    }
    painter.rect_filled(field, round(4.0), mixed(ground, Color32::BLACK, 0.07));
    let pitch = 44.0;
    let columns = ((field.width() / zoom) / pitch).floor().clamp(1.0, MAX_DIAMONDS) as usize;
    let rows = ((field.height() / zoom) / (pitch * 1.25)).floor().clamp(1.0, MAX_DIAMONDS) as usize;
    let (step_x, step_y) = (field.width() / columns as f32, field.height() / rows as f32);
    for (column, row) in (0..columns).flat_map(|column| (0..rows).map(move |row| (column, row))) {
        let middle = field.min + vec2((column as f32 + 0.5) * step_x, (row as f32 + 0.5) * step_y);
        let diamond = |size: f32, colour: Color32| {
            let (x, y) = (vec2(size * zoom, 0.0), vec2(0.0, 0.72 * size * zoom));
            Shape::convex_polygon(vec![middle - y, middle + x, middle + y, middle - x], colour, Stroke::NONE)
        };
        painter.add(diamond(11.0, line.gamma_multiply(0.34)));
        painter.add(diamond(6.0, ground));
        painter.add(diamond(2.4, line.gamma_multiply(0.6)));
    }
}

/// Paints the light that falls through a window onto the floor, as four slanted panes; moonlight in the dark theme.
pub(super) fn window_light(painter: &Painter, decor: &DecorView, camera: Camera, theme: Theme) {
    let colour = if theme.dark { glow(MOONLIGHT, 0.09) } else { glow(SUNLIGHT, 0.14) };
    let size = decor.size;
    let corner = decor.position - size / 2.0;
    let slant = 0.28 * size.y;
    // Coordinates within the patch of light: u to the right, v upward from the near edge.
    let point = |u: f32, v: f32| camera.to_screen(corner + World::new(u * (size.x - slant) + v * slant, v * size.y));
    let mut mesh = Mesh::default();
    for (column, row) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let (left, low) = (0.52 * column as f32, 0.53 * row as f32);
        let (right, high) = (left + 0.48, low + 0.47);
        let first = mesh.vertices.len() as u32;
        // Brighter toward the window.
        for (u, v) in [(left, low), (right, low), (right, high), (left, high)] {
            let [r, g, b, _] = colour.to_array().map(|part| (f32::from(part) * (0.45 + 0.55 * v)) as u8);
            mesh.colored_vertex(point(u, v), Color32::from_rgba_premultiplied(r, g, b, 0));
        }
        mesh.add_triangle(first, first + 1, first + 2);
        mesh.add_triangle(first, first + 2, first + 3);
    }
    painter.add(Shape::mesh(mesh));
}

/// Paints the pools of lamplight on the floor in the dark theme.
pub(super) fn lamp_pools(batch: &mut Batch, room: &RoomModel, camera: Camera, theme: Theme) {
    if !theme.dark {
        return;
    }
    for lamp in room.decor.iter().filter(|decor| &*decor.kind == "lamp") {
        let foot = camera.to_screen(lamp.position - World::new(0.0, 0.42 * lamp.size.y));
        let reach = vec2(900.0, 580.0) * camera.zoom;
        batch.fill(Sprite::Glow, Rect::from_center_size(foot, reach), glow(LAMPLIGHT, 0.38));
    }
}

/// Paints the halos around lampshades in the dark theme, over whatever stands near.
pub(super) fn lamp_halos(batch: &mut Batch, room: &RoomModel, camera: Camera, theme: Theme, now_secs: f64) {
    if !theme.dark {
        return;
    }
    for (index, lamp) in room.decor.iter().filter(|decor| &*decor.kind == "lamp").enumerate() {
        let shade = camera.to_screen(lamp.position + World::new(0.0, 0.3 * lamp.size.y));
        let breath = 1.0 + 0.03 * ((now_secs * 0.7 + index as f64) % std::f64::consts::TAU).sin() as f32;
        let around = |units: f32| Rect::from_center_size(shade, Vec2::splat(units * camera.zoom * breath));
        batch.fill(Sprite::Glow, around(300.0), glow(LAMPLIGHT, 0.2));
        batch.fill(Sprite::Glow, around(86.0), glow([255, 206, 130], 0.42));
    }
}

/// Darkens the edges of the view a little.
pub(super) fn vignette(painter: &Painter, view: Rect, theme: Theme) {
    let edge = theme.edge();
    let (columns, rows) = (8, 6);
    let mut mesh = Mesh::default();
    for row in 0..=rows {
        for column in 0..=columns {
            let share = vec2(column as f32 / columns as f32, row as f32 / rows as f32);
            let from_middle = (share - Vec2::splat(0.5)) * 2.0;
            let strength = fade(0.55, 1.45, from_middle.length());
            let pos: Pos2 = view.min + share * view.size();
            mesh.vertices.push(Vertex::untextured(pos, edge.gamma_multiply(strength)));
        }
    }
    for row in 0..rows {
        for column in 0..columns {
            let first = row * (columns + 1) + column;
            mesh.add_triangle(first, first + 1, first + columns + 1);
            mesh.add_triangle(first + 1, first + columns + 1, first + columns + 2);
        }
    }
    painter.add(Shape::mesh(mesh));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::theme::{DARK, LIGHT, contrast};

    #[test]
    fn ring_edges_are_visible_on_every_floor() {
        for theme in [LIGHT, DARK] {
            let grounds = RUGS.map(|colours| rug_ground(colours, theme));
            for ground in grounds.into_iter().chain([theme.floor, theme.floor_seam]) {
                let contrast = contrast(theme.ring_edge(), ground);
                assert!(contrast >= 3.0, "dark={}, {ground:?}: {contrast:.2}", theme.dark);
            }
        }
    }
}
