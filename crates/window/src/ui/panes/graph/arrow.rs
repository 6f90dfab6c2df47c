//! Draws an arrow between two cards of a graph.

use egui::epaint::CubicBezierShape;
use egui::{Color32, Pos2, Rect, Shape, Stroke, Ui, vec2};

/// Draws an arrow between two points on the sides of cards that are `width` wide in graph units.
pub fn arrow(ui: &Ui, (from, to): (Pos2, Pos2), (width, zoom): (f32, f32), stroke: Stroke) {
    let sign = if to.x >= from.x { 1.0 } else { -1.0 };
    let reach = ((to.x - from.x).abs() / 2.0).clamp(8.0 * zoom, width * zoom) * sign;
    let points = [from, from + vec2(reach, 0.0), to - vec2(reach, 0.0), to];
    if !Rect::from_points(&points).intersects(ui.clip_rect()) {
        return;
    }
    ui.painter().add(CubicBezierShape::from_points_stroke(points, false, Color32::TRANSPARENT, stroke));
    let head = (7.0 * zoom).max(3.0) * sign;
    let tips = [vec2(-head, -head.abs() * 0.6), vec2(-head, head.abs() * 0.6)];
    ui.painter().add(Shape::convex_polygon(vec![to, to + tips[0], to + tips[1]], stroke.color, Stroke::NONE));
}
