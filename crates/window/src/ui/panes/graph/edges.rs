//! Draws the arrows of the graph: solid ones from agents to the agents they started, dashed ones for file reads and
//! writes.

use std::collections::BTreeSet;

use egui::epaint::CubicBezierShape;
use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, Vec2, pos2, vec2};

use super::animation::Positions;
use super::model::Model;
use super::view::View;
use super::visibility::{CARD, FileFlow, Node, VisibleGraph};
use crate::ui::widgets;
use crate::view::theme::Theme;

/// Below this zoom, arrows are straight lines.
const CURVE_MIN_ZOOM: f32 = 0.3;
/// Above this number of arrows, those that are not highlighted are straight lines.
const MAX_CURVES: usize = 600;
/// From this zoom on, arrows have heads.
const HEAD_MIN_ZOOM: f32 = 0.12;
/// Number of segments of a dashed curve.
const DASH_SAMPLES: usize = 20;

/// Draws the arrows of the graph; the fields are its input.
pub struct Arrows<'a> {
    /// Painter of the pane.
    pub painter: &'a Painter,
    /// The data of the graph.
    pub model: &'a Model,
    /// The visible part of the graph.
    pub shown: &'a VisibleGraph,
    /// Positions of the cards.
    pub positions: &'a Positions,
    /// The view onto the graph.
    pub view: &'a View,
    /// The theme of the window.
    pub theme: &'a Theme,
    /// Hovered, focused and selected nodes, whose arrows are highlighted.
    pub highlighted: &'a BTreeSet<Node>,
}

/// An arrow inside the visible area, in screen coordinates.
struct Arrow {
    curve: [Pos2; 4],
    stroke: Stroke,
    is_dashed: bool,
    is_highlighted: bool,
}

impl Arrows<'_> {
    /// Draws all visible arrows and returns their number.
    pub fn paint(&self) -> usize {
        let links = self.shown.links.iter().filter_map(|&(from, to)| self.link(from, to));
        let mut arrows: Vec<Arrow> = links.collect();
        let is_far = self.view.zoom < CURVE_MIN_ZOOM;
        let mut last = None;
        for flow in &self.shown.flows {
            let ends = (flow.agent_block, flow.file_block, flow.is_write);
            // Zoomed out, the files of an agent cannot be told apart, so one arrow stands for all of them.
            if is_far && last.replace(ends) == Some(ends) {
                continue;
            }
            arrows.extend(self.flow(flow, false));
        }
        for &node in self.highlighted {
            arrows.extend(self.shown.flows_of(self.model, node).iter().filter_map(|flow| self.flow(flow, true)));
        }
        let is_crowded = arrows.len() > MAX_CURVES;
        for arrow in &arrows {
            self.draw(arrow, is_far || (is_crowded && !arrow.is_highlighted));
        }
        arrows.len()
    }

    fn is_highlighted(&self, block: usize) -> bool {
        self.highlighted.contains(&Node::Agent(self.shown.blocks[block].agent))
    }

    fn rect(&self, block: usize, part: Rect) -> Option<Rect> {
        let rect = self.positions.rect(self.shown.blocks[block].agent, part)?;
        Some(self.view.rect_to_screen(rect))
    }

    fn link(&self, from: usize, to: usize) -> Option<Arrow> {
        let card = Rect::from_min_size(Pos2::ZERO, CARD);
        let curve = curve(self.rect(from, card)?, self.rect(to, card)?, self.view.zoom);
        if !self.is_visible(&curve) {
            return None;
        }
        let is_highlighted = self.is_highlighted(from) || self.is_highlighted(to);
        let theme = self.theme;
        let colour = if is_highlighted { theme.accent } else { widgets::mix(theme.panel, theme.text_soft, 0.55) };
        let width = (1.6 * self.view.zoom).clamp(0.7, 1.6) + if is_highlighted { 0.6 } else { 0.0 };
        Some(Arrow { curve, stroke: Stroke::new(width, colour), is_dashed: false, is_highlighted })
    }

    fn flow(&self, flow: &FileFlow, is_highlighted: bool) -> Option<Arrow> {
        let zoom = self.view.zoom;
        let agent = self.rect(flow.agent_block, Rect::from_min_size(Pos2::ZERO, CARD))?;
        let file = self.rect(flow.file_block, flow.file_rect())?;
        let curve = match (flow.agent_block == flow.file_block, flow.is_write) {
            (true, true) => curve_below(agent, file, zoom, 9.0),
            (true, false) => reversed(curve_below(agent, file, zoom, 15.0)),
            (false, true) => curve(agent, file, zoom),
            (false, false) => curve(file, agent, zoom),
        };
        if !self.is_visible(&curve) {
            return None;
        }
        let colour = if flow.is_write { self.theme.warn } else { self.theme.good };
        let colour = if is_highlighted { colour } else { widgets::mix(self.theme.panel, colour, 0.55) };
        let width = (1.4 * zoom).clamp(0.7, 1.4) + if is_highlighted { 0.4 } else { 0.0 };
        Some(Arrow { curve, stroke: Stroke::new(width, colour), is_dashed: true, is_highlighted })
    }

    fn draw(&self, arrow: &Arrow, is_plain: bool) {
        let Arrow { curve, stroke, is_dashed, .. } = *arrow;
        if is_plain {
            self.painter.line_segment([curve[0], curve[3]], stroke);
        } else if is_dashed {
            let dash = (6.0 * self.view.zoom).max(3.0);
            self.painter.extend(Shape::dashed_line(&flattened(&curve), stroke, dash, dash * 0.7));
        } else {
            self.painter.add(CubicBezierShape::from_points_stroke(curve, false, Color32::TRANSPARENT, stroke));
        }
        self.head(if is_plain { curve[0] } else { curve[2] }, curve[3], stroke.color);
    }

    fn is_visible(&self, curve: &[Pos2; 4]) -> bool {
        Rect::from_points(curve).expand(2.0).intersects(self.painter.clip_rect())
    }

    fn head(&self, before: Pos2, end: Pos2, colour: Color32) {
        let direction = (end - before).normalized();
        if self.view.zoom < HEAD_MIN_ZOOM || direction == Vec2::ZERO || !direction.is_finite() {
            return;
        }
        let length = (8.0 * self.view.zoom).clamp(3.0, 9.0);
        let (back, sideways) = (end - direction * length, direction.rot90() * length * 0.45);
        self.painter.add(Shape::convex_polygon(vec![end, back + sideways, back - sideways], colour, Stroke::NONE));
    }
}

/// Returns a Bézier curve between the facing sides of two cards, or around their right sides if one is above the other.
fn curve(from: Rect, to: Rect, zoom: f32) -> [Pos2; 4] {
    let reach = |dx: f32| vec2((dx.abs() * 0.5).max(24.0 * zoom), 0.0);
    if to.left() >= from.right() {
        let (start, end) = (from.right_center(), to.left_center());
        let reach = reach(end.x - start.x);
        [start, start + reach, end - reach, end]
    } else if to.right() <= from.left() {
        let (start, end) = (from.left_center(), to.right_center());
        let reach = reach(end.x - start.x);
        [start, start - reach, end + reach, end]
    } else {
        let (start, end) = (from.right_center(), to.right_center());
        let reach = vec2(48.0 * zoom, 0.0);
        [start, start + reach, end + reach, end]
    }
}

/// Returns a curve from the lower edge of a card to a file below it.
fn curve_below(card: Rect, file: Rect, zoom: f32, inset: f32) -> [Pos2; 4] {
    let start = pos2(card.left() + inset * zoom, card.bottom());
    let corner = pos2(start.x, file.center().y);
    [start, corner, corner - vec2(0.01, 0.0), file.left_center()]
}

fn reversed([one, two, three, four]: [Pos2; 4]) -> [Pos2; 4] {
    // Without this offset the arrow head would have no direction; it points straight up to the card.
    [four, three, two + vec2(0.0, 0.01), one]
}

fn flattened(points: &[Pos2; 4]) -> Vec<Pos2> {
    let shape = CubicBezierShape::from_points_stroke(*points, false, Color32::TRANSPARENT, Stroke::NONE);
    (0..=DASH_SAMPLES).map(|sample| shape.sample(sample as f32 / DASH_SAMPLES as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_connect_the_facing_sides_of_cards() {
        let at = |x: f32, y: f32| Rect::from_min_size(pos2(x, y), vec2(100.0, 40.0));
        let here = at(0.0, 0.0);
        for (to, start, end) in [
            (at(300.0, 90.0), here.right_center(), at(300.0, 90.0).left_center()),
            (at(-300.0, 90.0), here.left_center(), at(-300.0, 90.0).right_center()),
            (at(20.0, 200.0), here.right_center(), at(20.0, 200.0).right_center()),
        ] {
            let curve = curve(here, to, 1.0);
            assert_eq!((curve[0], curve[3]), (start, end));
            assert!(flattened(&curve).iter().all(|point| point.is_finite()));
        }
    }

    #[test]
    fn arrows_to_an_agent_s_own_files_point_down_for_writes_and_up_for_reads() {
        let card = Rect::from_min_size(Pos2::ZERO, CARD);
        let file = Rect::from_min_size(pos2(20.0, 80.0), vec2(168.0, 22.0));
        let written = curve_below(card, file, 1.0, 9.0);
        assert!(written[3].x > written[2].x && written[0].y == card.bottom());
        let read = reversed(written);
        assert!(read[3].y < read[2].y && read[0] == file.left_center());
    }
}
