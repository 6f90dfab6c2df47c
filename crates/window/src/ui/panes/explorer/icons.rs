//! The icons and colours of kinds of files.

use egui::{Color32, CornerRadius, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, vec2};

use super::texts;
use crate::agent::formats::format_of;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::theme::{Theme, element_colour};
use crate::workspace::vfs::FileKind;

/// Returns the kind to show for a file: files in `agents/` that define no agent are of unknown kind.
pub fn kind_of_file(path: &str, kind: FileKind) -> FileKind {
    if kind == FileKind::Agent && format_of(path).is_none() { FileKind::Unknown } else { kind }
}

/// Returns the display name of a kind of file.
pub fn kind_name(kind: FileKind) -> &'static str {
    texts::kind(kind)
}

/// Returns the colour of a kind's icon.
pub fn kind_colour(kind: FileKind, theme: &Theme) -> Color32 {
    match kind {
        FileKind::Agent => theme.accent,
        FileKind::Board => widgets::mix(element_colour("messageboard"), theme.text_soft, 0.5),
        FileKind::Scene | FileKind::Task => theme.good,
        _ => theme.text_soft,
    }
}

/// Paints the icon of a kind of file.
pub fn paint_kind(painter: &Painter, rect: Rect, kind: FileKind, colour: Color32) {
    let unit = rect.width().min(rect.height()) / 2.0;
    let at = |x: f32, y: f32| -> Pos2 { rect.center() + vec2(x, y) * unit };
    let stroke = Stroke::new((unit / 4.5).max(1.2), colour);
    let line = |from: (f32, f32), to: (f32, f32)| {
        painter.line_segment([at(from.0, from.1), at(to.0, to.1)], stroke);
    };
    let frame = |min: (f32, f32), max: (f32, f32)| {
        let rect = Rect::from_min_max(at(min.0, min.1), at(max.0, max.1));
        painter.rect_stroke(rect, CornerRadius::same(2), stroke, StrokeKind::Inside);
    };
    match kind {
        FileKind::Agent => Icon::Agent.paint(painter, rect, colour),
        FileKind::Artifact => Icon::Note.paint(painter, rect, colour),
        // A notebook with its spine.
        FileKind::Memory => {
            frame((-0.7, -0.9), (0.75, 0.9));
            line((-0.3, -0.8), (-0.3, 0.8));
        }
        // A floor plan with walls and a door.
        FileKind::Scene => {
            frame((-0.9, -0.75), (0.9, 0.75));
            line((0.1, -0.7), (0.1, 0.0));
            line((0.1, 0.0), (0.45, 0.0));
        }
        // A board on two feet.
        FileKind::Board => {
            frame((-0.9, -0.85), (0.9, 0.35));
            line((-0.5, 0.4), (-0.7, 0.95));
            line((0.5, 0.4), (0.7, 0.95));
        }
        FileKind::Task => {
            frame((-0.8, -0.8), (0.8, 0.8));
            let tick = [(-0.4, 0.05), (-0.1, 0.35), (0.45, -0.35)];
            painter.add(Shape::line(tick.iter().map(|(x, y)| at(*x, *y)).collect(), stroke));
        }
        FileKind::Session => Icon::Chat.paint(painter, rect, colour),
        // A blank sheet.
        FileKind::Unknown => frame((-0.65, -0.85), (0.65, 0.85)),
    }
}

/// Paints the disclosure triangle of a folder.
pub fn paint_disclosure_triangle(painter: &Painter, rect: Rect, is_open: bool, colour: Color32) {
    let unit = rect.width().min(rect.height()) / 2.0;
    let points =
        if is_open { [(-0.8, -0.45), (0.8, -0.45), (0.0, 0.6)] } else { [(-0.45, -0.8), (0.6, 0.0), (-0.45, 0.8)] };
    let points = points.iter().map(|(x, y)| rect.center() + vec2(*x, *y) * unit).collect();
    painter.add(Shape::convex_polygon(points, colour, Stroke::NONE));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_define_an_agent_have_its_icon() {
        for (path, kind) in [
            ("agents/ada.md", FileKind::Agent),
            ("agents/team/ada.MD", FileKind::Agent),
            ("agents/brand/LICENSE.txt", FileKind::Unknown),
            ("agents/README.md", FileKind::Unknown),
            ("agents/ada/SKILL.md", FileKind::Unknown),
        ] {
            assert_eq!(kind_of_file(path, FileKind::Agent), kind, "{path}");
        }
        assert_eq!(kind_of_file("artifacts/README.md", FileKind::Artifact), FileKind::Artifact);
    }
}
