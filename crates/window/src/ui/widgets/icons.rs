//! The icons of buttons, drawn with strokes so that they are crisp at any scale and need no font.
//!
//! `egui-phosphor` 0.14, which fits egui 0.36, is not used: rendered next to each other at 14, 16 and 20 pixels (most
//! icons are drawn at 14), its regular weight has strokes thinner than a pixel that turn grey, and its bold weight
//! looks like these. It adds a font of 490 kB for each weight, where this file has 30 icons, and it has no dashed
//! arrow. Only its moon was better: this one is drawn like it.

use egui::{Color32, CornerRadius, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, vec2};

/// An icon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names describe the pictures")]
pub enum Icon {
    Play,
    Pause,
    Plus,
    Cross,
    Sun,
    Moon,
    Question,
    Sidebar,
    Search,
    Up,
    Down,
    Chat,
    Stop,
    Agent,
    Note,
    Gear,
    Bell,
    Folder,
    Import,
    More,
    Bin,
    Graph,
    Fold,
    Dashes,
    Fit,
    Warning,
    Failure,
    Tick,
    Clock,
    Restore,
}

impl Icon {
    /// Draws the icon in the middle of a rectangle.
    pub fn paint(self, painter: &Painter, rect: Rect, colour: Color32) {
        let side = rect.width().min(rect.height());
        let middle = rect.center();
        // Coordinates of all icons are from -1 to 1.
        let at = |x: f32, y: f32| -> Pos2 { middle + vec2(x, y) * (side / 2.0) };
        let unit = side / 2.0;
        let stroke = Stroke::new((side / 9.0).max(1.2), colour);
        let line = |from: (f32, f32), to: (f32, f32)| {
            painter.line_segment([at(from.0, from.1), at(to.0, to.1)], stroke);
        };
        let filled = |points: &[(f32, f32)]| {
            let points = points.iter().map(|(x, y)| at(*x, *y)).collect();
            painter.add(Shape::convex_polygon(points, colour, Stroke::NONE));
        };
        match self {
            Self::Play => filled(&[(-0.55, -0.8), (0.8, 0.0), (-0.55, 0.8)]),
            Self::Pause => {
                for x in [-0.4, 0.4] {
                    let bar = Rect::from_center_size(at(x, 0.0), vec2(0.36, 1.5) * unit);
                    painter.rect_filled(bar, CornerRadius::same(1), colour);
                }
            }
            Self::Stop => {
                let square = Rect::from_center_size(middle, vec2(1.3, 1.3) * unit);
                painter.rect_filled(square, CornerRadius::same(2), colour);
            }
            Self::Plus => {
                line((-0.75, 0.0), (0.75, 0.0));
                line((0.0, -0.75), (0.0, 0.75));
            }
            Self::Cross => {
                line((-0.6, -0.6), (0.6, 0.6));
                line((-0.6, 0.6), (0.6, -0.6));
            }
            Self::Sun => {
                painter.circle_filled(middle, 0.42 * unit, colour);
                for index in 0..8 {
                    let (sin, cos) = (index as f32 * std::f32::consts::FRAC_PI_4).sin_cos();
                    line((cos * 0.66, sin * 0.66), (cos * 0.95, sin * 0.95));
                }
            }
            Self::Moon => {
                // A crescent: from tip to tip along one circle, and back along another.
                let arc = |x: f32, y: f32, radius: f32, from: f32, to: f32| {
                    (0..=14).map(move |step| {
                        let (sin, cos) = (from + (to - from) * step as f32 / 14.0).sin_cos();
                        at(x + cos * radius, y + sin * radius)
                    })
                };
                let outline = arc(-0.05, 0.05, 0.8, 0.15, 4.56).chain(arc(0.35, -0.35, 0.65, 3.79, 0.93));
                painter.add(Shape::closed_line(outline.collect(), stroke));
            }
            Self::Question => {
                painter.circle_stroke(middle, 0.9 * unit, stroke);
                let points = [(-0.28, -0.3), (-0.15, -0.5), (0.15, -0.5), (0.28, -0.25), (0.02, 0.02), (0.0, 0.2)];
                painter.add(Shape::line(points.iter().map(|(x, y)| at(*x, *y)).collect(), stroke));
                painter.circle_filled(at(0.0, 0.48), 0.09 * unit, colour);
            }
            Self::Sidebar => {
                let frame = Rect::from_center_size(middle, vec2(1.8, 1.5) * unit);
                painter.rect_stroke(frame, CornerRadius::same(2), stroke, StrokeKind::Inside);
                line((0.25, -0.7), (0.25, 0.7));
            }
            Self::Search => {
                painter.circle_stroke(at(-0.15, -0.15), 0.58 * unit, stroke);
                line((0.28, 0.28), (0.8, 0.8));
            }
            Self::Up => filled(&[(-0.7, 0.45), (0.0, -0.55), (0.7, 0.45)]),
            Self::Down => filled(&[(-0.7, -0.45), (0.7, -0.45), (0.0, 0.55)]),
            Self::Chat => {
                let bubble = Rect::from_min_max(at(-0.9, -0.75), at(0.9, 0.4));
                painter.rect_stroke(bubble, CornerRadius::same(3), stroke, StrokeKind::Inside);
                filled(&[(-0.45, 0.35), (0.1, 0.35), (-0.45, 0.85)]);
            }
            Self::Agent => {
                painter.circle_filled(at(0.0, -0.45), 0.38 * unit, colour);
                let body = Rect::from_min_max(at(-0.6, 0.05), at(0.6, 0.9));
                let top = (0.5 * unit) as u8;
                painter.rect_filled(body, CornerRadius { nw: top, ne: top, sw: 1, se: 1 }, colour);
            }
            Self::Gear => {
                for index in 0..8 {
                    let (sin, cos) = (index as f32 * std::f32::consts::FRAC_PI_4).sin_cos();
                    line((cos * 0.6, sin * 0.6), (cos * 0.95, sin * 0.95));
                }
                painter.circle_stroke(middle, 0.58 * unit, stroke);
                painter.circle_stroke(middle, 0.2 * unit, stroke);
            }
            Self::Bell => {
                let points = [(-0.75, 0.45), (-0.5, 0.1), (-0.45, -0.45), (0.0, -0.85), (0.45, -0.45), (0.5, 0.1)];
                let mut outline: Vec<Pos2> = points.iter().map(|(x, y)| at(*x, *y)).collect();
                outline.push(at(0.75, 0.45));
                painter.add(Shape::closed_line(outline, stroke));
                painter.circle_filled(at(0.0, 0.75), 0.18 * unit, colour);
            }
            Self::Graph => {
                line((-0.5, 0.0), (0.5, -0.6));
                line((-0.5, 0.0), (0.5, 0.6));
                for (x, y) in [(-0.6, 0.0), (0.6, -0.6), (0.6, 0.6)] {
                    painter.circle_filled(at(x, y), 0.3 * unit, colour);
                }
            }
            Self::Fold => {
                line((-0.8, 0.0), (0.8, 0.0));
                filled(&[(-0.4, -0.9), (0.4, -0.9), (0.0, -0.3)]);
                filled(&[(-0.4, 0.9), (0.0, 0.3), (0.4, 0.9)]);
            }
            Self::Dashes => {
                for x in [-0.9, -0.3, 0.3] {
                    line((x, 0.0), (x + 0.35, 0.0));
                }
                filled(&[(0.45, -0.4), (1.0, 0.0), (0.45, 0.4)]);
            }
            Self::Fit => {
                for (x, y) in [(-0.85, -0.85), (0.85, -0.85), (-0.85, 0.85), (0.85, 0.85)] {
                    line((x, y), (x * 0.4, y));
                    line((x, y), (x, y * 0.4));
                }
            }
            Self::Warning => {
                let points = [(-0.9, 0.75), (0.0, -0.85), (0.9, 0.75)];
                painter.add(Shape::closed_line(points.map(|(x, y)| at(x, y)).to_vec(), stroke));
                line((0.0, -0.25), (0.0, 0.25));
                painter.circle_filled(at(0.0, 0.5), 0.1 * unit, colour);
            }
            Self::Failure => {
                painter.circle_stroke(middle, 0.9 * unit, stroke);
                line((-0.35, -0.35), (0.35, 0.35));
                line((-0.35, 0.35), (0.35, -0.35));
            }
            Self::Tick => {
                line((-0.75, 0.05), (-0.2, 0.6));
                line((-0.2, 0.6), (0.75, -0.6));
            }
            Self::Clock => {
                painter.circle_stroke(middle, 0.85 * unit, stroke);
                line((0.0, -0.5), (0.0, 0.0));
                line((0.0, 0.0), (0.4, 0.2));
            }
            Self::Restore => {
                let points = (0..=14).map(|step| {
                    let (sin, cos) = (-2.6 + step as f32 * 0.36).sin_cos();
                    at(cos * 0.75, sin * 0.75)
                });
                painter.add(Shape::line(points.collect(), stroke));
                filled(&[(-1.0, -0.75), (-0.2, -0.35), (-0.95, 0.15)]);
            }
            Self::Note => {
                let sheet = Rect::from_min_max(at(-0.65, -0.85), at(0.65, 0.85));
                painter.rect_stroke(sheet, CornerRadius::same(2), stroke, StrokeKind::Inside);
                for y in [-0.35, 0.0, 0.35] {
                    line((-0.32, y), (0.32, y));
                }
            }
            Self::Folder => {
                let outline = [(-0.9, -0.7), (-0.25, -0.7), (0.0, -0.4), (0.9, -0.4), (0.9, 0.75), (-0.9, 0.75)];
                painter.add(Shape::closed_line(outline.iter().map(|(x, y)| at(*x, *y)).collect(), stroke));
            }
            Self::Import => {
                line((0.0, -0.9), (0.0, 0.25));
                line((-0.4, -0.12), (0.0, 0.28));
                line((0.4, -0.12), (0.0, 0.28));
                let tray = [(-0.85, 0.2), (-0.85, 0.85), (0.85, 0.85), (0.85, 0.2)];
                painter.add(Shape::line(tray.iter().map(|(x, y)| at(*x, *y)).collect(), stroke));
            }
            Self::More => {
                for x in [-0.7, 0.0, 0.7] {
                    painter.circle_filled(at(x, 0.0), 0.2 * unit, colour);
                }
            }
            Self::Bin => {
                line((-0.85, -0.6), (0.85, -0.6));
                line((-0.25, -0.9), (0.25, -0.9));
                let can = [(-0.65, -0.55), (-0.5, 0.9), (0.5, 0.9), (0.65, -0.55)];
                painter.add(Shape::line(can.iter().map(|(x, y)| at(*x, *y)).collect(), stroke));
            }
        }
    }
}
