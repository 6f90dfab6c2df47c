//! Batches sprites into one mesh: figures, furniture and ropes are quads from one texture, drawn in the order in which
//! they are added.

use egui::epaint::Vertex;
use egui::{Color32, Mesh, Painter, Pos2, Rect, Shape, Vec2, pos2, vec2};

use crate::view::art::{Sheet, Sprite};

/// An affine placement of a sprite's canvas on screen: its origin and its two unit vectors.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Placement {
    corner: Pos2,
    right: Vec2,
    down: Vec2,
}

impl Placement {
    /// Places the canvas so that its point `origin` is at `at`, with `scale` points per unit.
    pub(super) fn new(at: Pos2, scale: f32, origin: Vec2) -> Self {
        Self { corner: at - origin * scale, right: vec2(scale, 0.0), down: vec2(0.0, scale) }
    }

    /// Converts a canvas point to the screen.
    pub(super) fn point(&self, place: Vec2) -> Pos2 {
        self.corner + self.right * place.x + self.down * place.y
    }

    /// Moved by canvas units.
    pub(super) fn moved(self, by: Vec2) -> Self {
        Self { corner: self.point(by), ..self }
    }

    /// Mirrored about the vertical line at `x`.
    pub(super) fn mirrored(self, x: f32) -> Self {
        Self { corner: self.corner + self.right * (2.0 * x), right: -self.right, ..self }
    }

    /// Rotated clockwise about a canvas point, in radians.
    pub(super) fn rotated(self, about: Vec2, angle: f32) -> Self {
        let (sin, cos) = angle.sin_cos();
        let fixed = self.point(about);
        let right = self.right * cos + self.down * sin;
        let down = self.down * cos - self.right * sin;
        Self { corner: fixed - right * about.x - down * about.y, right, down }
    }

    /// Scaled about a canvas point.
    pub(super) fn scaled(self, about: Vec2, by: Vec2) -> Self {
        let fixed = self.point(about);
        let (right, down) = (self.right * by.x, self.down * by.y);
        Self { corner: fixed - right * about.x - down * about.y, right, down }
    }

    /// Sheared to the right by `by` units per unit of height; points at height `ground` stay in place.
    pub(super) fn leaned(self, ground: f32, by: f32) -> Self {
        let down = self.down - self.right * by;
        Self { corner: self.corner + self.right * (by * ground), down, ..self }
    }
}

/// A mesh of sprites that are painted together.
pub(super) struct Batch<'a> {
    mesh: Mesh,
    sheet: &'a Sheet,
}

impl<'a> Batch<'a> {
    pub(super) fn new(sheet: &'a Sheet, quads: usize) -> Self {
        let mut mesh = Mesh::with_texture(sheet.texture());
        mesh.reserve_vertices(4 * quads);
        mesh.reserve_triangles(2 * quads);
        Self { mesh, sheet }
    }

    /// Adds a sprite with this tint.
    pub(super) fn draw(&mut self, sprite: Sprite, place: &Placement, tint: Color32) {
        let piece = self.sheet.piece(sprite);
        let (left, top) = (piece.ink.left(), piece.ink.top());
        let start = place.point(vec2(left, top));
        let (across, along) = (place.right * piece.ink.width(), place.down * piece.ink.height());
        self.quad([start, start + across, start + across + along, start + along], piece.uv, tint);
    }

    /// Adds a sprite whose whole canvas fills a rectangle.
    pub(super) fn fill(&mut self, sprite: Sprite, rect: Rect, tint: Color32) {
        let canvas = self.sheet.piece(sprite).canvas;
        let scale = rect.size() / canvas;
        let place = Placement { corner: rect.min, right: vec2(scale.x, 0.0), down: vec2(0.0, scale.y) };
        self.draw(sprite, &place, tint);
    }

    /// Adds a plain rectangle on a canvas.
    pub(super) fn plain(&mut self, rect: Rect, place: &Placement, tint: Color32) {
        let middle = self.sheet.piece(Sprite::White).uv.center();
        let corners = [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom()];
        self.quad(corners.map(|corner| place.point(corner.to_vec2())), Rect::from_min_max(middle, middle), tint);
    }

    /// Adds a line with soft edges.
    pub(super) fn line(&mut self, from: Pos2, to: Pos2, width: f32, tint: Color32) {
        let along = to - from;
        let length = along.length();
        if length < 0.01 {
            return;
        }
        // Half of the band sprite's width is its soft edges.
        let half = along.rot90() / length * width.max(1.0);
        let band = self.sheet.piece(Sprite::Band).uv;
        let middle = band.center().x;
        let uv = Rect::from_min_max(pos2(middle, band.top()), pos2(middle, band.bottom()));
        self.quad([from - half, to - half, to + half, from + half], uv, tint);
    }

    /// Adds a disc.
    pub(super) fn disc(&mut self, middle: Pos2, radius: f32, tint: Color32) {
        self.fill(Sprite::Disc, Rect::from_center_size(middle, Vec2::splat(2.0 * radius)), tint);
    }

    /// Paints the batch.
    pub(super) fn paint(self, painter: &Painter) {
        if !self.mesh.is_empty() {
            painter.add(Shape::mesh(self.mesh));
        }
    }

    /// Paints everything added so far, and continues with an empty mesh.
    pub(super) fn flush(&mut self, painter: &Painter) {
        if !self.mesh.is_empty() {
            let mesh = std::mem::replace(&mut self.mesh, Mesh::with_texture(self.sheet.texture()));
            painter.add(Shape::mesh(mesh));
        }
    }

    fn quad(&mut self, corners: [Pos2; 4], uv: Rect, color: Color32) {
        let first = self.mesh.vertices.len() as u32;
        let texels = [uv.left_top(), uv.right_top(), uv.right_bottom(), uv.left_bottom()];
        for (pos, uv) in corners.into_iter().zip(texels) {
            self.mesh.vertices.push(Vertex { pos, uv, color });
        }
        self.mesh.indices.extend([first, first + 1, first + 2, first, first + 2, first + 3]);
    }
}

/// A colour under a coloured light (component-wise product).
pub(super) fn lit(colour: Color32, light: Color32) -> Color32 {
    let [r, g, b, a] = colour.to_array();
    let part = |one: u8, other: u8| ((u16::from(one) * u16::from(other) + 127) / 255) as u8;
    Color32::from_rgba_premultiplied(part(r, light.r()), part(g, light.g()), part(b, light.b()), a)
}

/// Interpolates between two opaque colours.
pub(super) fn mixed(one: Color32, other: Color32, share: f32) -> Color32 {
    one.lerp_to_gamma(other, share.clamp(0.0, 1.0))
}

/// An additive light colour.
pub(super) fn glow(colour: [u8; 3], strength: f32) -> Color32 {
    let part = |part: u8| (f32::from(part) * strength.clamp(0.0, 1.0)) as u8;
    Color32::from_rgba_premultiplied(part(colour[0]), part(colour[1]), part(colour[2]), 0)
}

/// Smoothstep from 0 below `low` to 1 above `high`.
pub(super) fn fade(low: f32, high: f32, value: f32) -> f32 {
    let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_keeps_its_centre_fixed() {
        let place = Placement::new(pos2(100.0, 50.0), 2.0, vec2(24.0, 60.0));
        assert_eq!(place.point(vec2(24.0, 60.0)), pos2(100.0, 50.0));
        let turned = place.rotated(vec2(10.0, 20.0), 1.0);
        assert!(turned.point(vec2(10.0, 20.0)).distance(place.point(vec2(10.0, 20.0))) < 1e-3);
        let mirrored = place.mirrored(24.0);
        assert_eq!(mirrored.point(vec2(24.0, 60.0)), pos2(100.0, 50.0));
        assert_eq!(mirrored.point(vec2(20.0, 60.0)), place.point(vec2(28.0, 60.0)));
        let leaned = place.leaned(60.0, 0.2);
        assert_eq!(leaned.point(vec2(24.0, 60.0)), pos2(100.0, 50.0));
        assert!(leaned.point(vec2(24.0, 10.0)).x > 100.0);
    }
}
