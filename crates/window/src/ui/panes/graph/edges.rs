//! Draws the arrows of the graph: solid ones for who started whom, dashed ones for who read and wrote what.

use std::collections::BTreeSet;

use egui::epaint::CubicBezierShape;
use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, Vec2, pos2, vec2};

use super::animation::Places;
use super::model::Model;
use super::view::View;
use super::visibility::{CARD, Flow, Node, Shown};
use crate::ui::widgets;
use crate::view::theme::Theme;

/// Below this zoom arrows are plain lines.
const PLAIN_BELOW: f32 = 0.3;
/// More of them at once are plain lines too, except what is marked.
const CURVED_AT_MOST: usize = 600;
/// From this zoom on they have heads.
const HEADS_FROM: f32 = 0.12;
/// The number of pieces of a dashed curve.
const PIECES: usize = 20;

/// What arrows are drawn from.
pub struct Arrows<'a> {
    /// Where.
    pub painter: &'a Painter,
    /// What is known.
    pub model: &'a Model,
    /// What is shown.
    pub shown: &'a Shown,
    /// Where everyone stands.
    pub places: &'a Places,
    /// From where it is seen.
    pub view: &'a View,
    /// In which colours.
    pub theme: &'a Theme,
    /// What is pointed at and selected.
    pub marked: &'a BTreeSet<Node>,
}

/// An arrow that can be seen.
struct Arrow {
    curve: [Pos2; 4],
    stroke: Stroke,
    is_dashed: bool,
    is_marked: bool,
}

impl Arrows<'_> {
    /// Draws all that can be seen. How many.
    pub fn paint(&self) -> usize {
        let links = self.shown.links.iter().filter_map(|&(from, to)| self.link(from, to));
        let mut arrows: Vec<Arrow> = links.collect();
        let is_far = self.view.zoom < PLAIN_BELOW;
        let mut last = None;
        for flow in &self.shown.flows {
            let ends = (flow.agent_block, flow.file_block, flow.is_write);
            // From far away neither files nor the arrows to them can be distinguished.
            if is_far && last.replace(ends) == Some(ends) {
                continue;
            }
            arrows.extend(self.flow(flow, false));
        }
        for &node in self.marked {
            arrows.extend(self.shown.flows_of(self.model, node).iter().filter_map(|flow| self.flow(flow, true)));
        }
        let is_crowded = arrows.len() > CURVED_AT_MOST;
        for arrow in &arrows {
            self.draw(arrow, is_far || (is_crowded && !arrow.is_marked));
        }
        arrows.len()
    }

    fn is_marked(&self, block: usize) -> bool {
        self.marked.contains(&Node::Agent(self.shown.blocks[block].agent))
    }

    fn rect(&self, block: usize, part: Rect) -> Option<Rect> {
        let rect = self.places.rect(self.shown.blocks[block].agent, part)?;
        Some(self.view.rect_to_screen(rect))
    }

    fn link(&self, from: usize, to: usize) -> Option<Arrow> {
        let card = Rect::from_min_size(Pos2::ZERO, CARD);
        let curve = curve(self.rect(from, card)?, self.rect(to, card)?, self.view.zoom);
        if !self.can_be_seen(&curve) {
            return None;
        }
        let is_marked = self.is_marked(from) || self.is_marked(to);
        let theme = self.theme;
        let colour = if is_marked { theme.accent } else { widgets::mix(theme.panel, theme.text_soft, 0.55) };
        let width = (1.6 * self.view.zoom).clamp(0.7, 1.6) + if is_marked { 0.6 } else { 0.0 };
        Some(Arrow { curve, stroke: Stroke::new(width, colour), is_dashed: false, is_marked })
    }

    fn flow(&self, flow: &Flow, is_marked: bool) -> Option<Arrow> {
        let zoom = self.view.zoom;
        let agent = self.rect(flow.agent_block, Rect::from_min_size(Pos2::ZERO, CARD))?;
        let file = self.rect(flow.file_block, flow.file_place())?;
        let curve = match (flow.agent_block == flow.file_block, flow.is_write) {
            (true, true) => beneath(agent, file, zoom, 9.0),
            (true, false) => reversed(beneath(agent, file, zoom, 15.0)),
            (false, true) => curve(agent, file, zoom),
            (false, false) => curve(file, agent, zoom),
        };
        if !self.can_be_seen(&curve) {
            return None;
        }
        let colour = if flow.is_write { self.theme.warn } else { self.theme.good };
        let colour = if is_marked { colour } else { widgets::mix(self.theme.panel, colour, 0.55) };
        let width = (1.4 * zoom).clamp(0.7, 1.4) + if is_marked { 0.4 } else { 0.0 };
        Some(Arrow { curve, stroke: Stroke::new(width, colour), is_dashed: true, is_marked })
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

    fn can_be_seen(&self, curve: &[Pos2; 4]) -> bool {
        Rect::from_points(curve).expand(2.0).intersects(self.painter.clip_rect())
    }

    fn head(&self, before: Pos2, end: Pos2, colour: Color32) {
        let towards = (end - before).normalized();
        if self.view.zoom < HEADS_FROM || towards == Vec2::ZERO || !towards.is_finite() {
            return;
        }
        let long = (8.0 * self.view.zoom).clamp(3.0, 9.0);
        let (back, aside) = (end - towards * long, towards.rot90() * long * 0.45);
        self.painter.add(Shape::convex_polygon(vec![end, back + aside, back - aside], colour, Stroke::NONE));
    }
}

/// From the side of one to the side of another: forwards, backwards, or around where one is above the other.
fn curve(from: Rect, to: Rect, zoom: f32) -> [Pos2; 4] {
    let reach = |way: f32| vec2((way.abs() * 0.5).max(24.0 * zoom), 0.0);
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

/// From the lower edge of a card to a file below it.
fn beneath(card: Rect, file: Rect, zoom: f32, inset: f32) -> [Pos2; 4] {
    let start = pos2(card.left() + inset * zoom, card.bottom());
    let corner = pos2(start.x, file.center().y);
    [start, corner, corner - vec2(0.01, 0.0), file.left_center()]
}

fn reversed([one, two, three, four]: [Pos2; 4]) -> [Pos2; 4] {
    // The head needs a direction of its own: straight up to the card.
    [four, three, two + vec2(0.0, 0.01), one]
}

fn flattened(points: &[Pos2; 4]) -> Vec<Pos2> {
    let shape = CubicBezierShape::from_points_stroke(*points, false, Color32::TRANSPARENT, Stroke::NONE);
    (0..=PIECES).map(|piece| shape.sample(piece as f32 / PIECES as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_lead_from_side_to_side_whichever_way_it_goes() {
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
    fn one_s_own_file_is_written_downwards_and_read_upwards() {
        let card = Rect::from_min_size(Pos2::ZERO, CARD);
        let file = Rect::from_min_size(pos2(20.0, 80.0), vec2(168.0, 22.0));
        let written = beneath(card, file, 1.0, 9.0);
        assert!(written[3].x > written[2].x && written[0].y == card.bottom());
        let read = reversed(written);
        assert!(read[3].y < read[2].y && read[0] == file.left_center());
    }
}
