//! The frame of an overlay, which resembles the element (cork board, slate, page of a book) and is placed next to it.

use egui::layers::ShapeIdx;
use egui::{
    Color32, CornerRadius, Frame, Margin, Painter, Rect, Shadow, Shape, Stroke, Ui, UiBuilder, Vec2, pos2, vec2,
};

use crate::ui::widgets;
use crate::view::model::ContentView;
use crate::view::theme::{LINE, MARK_RADIUS, RADIUS, SPACE, Theme};

/// The preferred size.
const PREFERRED_POINTS: Vec2 = vec2(560.0, 620.0);
/// The minimum width, even if the overlay covers its element.
const MIN_POINTS: f32 = 400.0;
/// The minimum width of a board with columns, if the room is that wide.
const MIN_BOARD_POINTS: f32 = 700.0;
/// The margin to the edges of the room and to the element.
const MARGIN_POINTS: f32 = 8.0;
/// The minimum width for two parts side by side.
const BESIDE_POINTS: f32 = 600.0;
/// The upper part's share of the height if the parts are stacked.
const UPPER_SHARE: f32 = 0.46;
/// The width of the wooden frame around boards, and of chalk smears.
const FRAME_POINTS: f32 = 6.0;
const SMEAR_POINTS: f32 = 30.0;
/// The distance between specks of cork.
const SPECK_POINTS: f32 = 26.0;

/// The appearance of an overlay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Object {
    /// A cork board in a wooden frame.
    Cork,
    /// A slate in a wooden frame.
    Slate,
    /// A page of a book.
    Page,
    /// A pale board in a wooden frame, for cards.
    Board,
    /// A plain panel.
    Plain,
}

impl Object {
    /// Returns the appearance for a kind and content.
    pub(super) fn of(kind: &str, content: &ContentView) -> Self {
        match (kind, content) {
            (_, ContentView::Pins(_)) => Self::Cork,
            (_, ContentView::Tasks(_)) => Self::Board,
            ("messageboard", ContentView::Text(_)) => Self::Slate,
            (_, ContentView::Text(_)) => Self::Page,
            (_, ContentView::Mail { .. } | ContentView::Other(_)) => Self::Plain,
        }
    }

    /// Returns the minimum width: columns of cards need more than a text.
    pub(super) fn min_width_points(self) -> f32 {
        if self == Self::Board { MIN_BOARD_POINTS } else { MIN_POINTS }
    }

    /// Returns the colours of its content.
    pub(super) fn theme(self, theme: &Theme) -> Theme {
        match self {
            Self::Slate => theme.slate(),
            Self::Page => theme.page(),
            Self::Cork => theme.cork(),
            Self::Board => theme.board(),
            Self::Plain => *theme,
        }
    }

    /// Returns the background and border.
    pub(super) fn frame(self, theme: &Theme) -> Frame {
        let own_theme = self.theme(theme);
        let (edge, round) = match self {
            Self::Cork | Self::Slate | Self::Board => (Stroke::new(FRAME_POINTS, theme.wood()), RADIUS[0]),
            Self::Page => (Stroke::new(LINE[0], own_theme.line), RADIUS[0]),
            Self::Plain => (Stroke::new(LINE[0], own_theme.line), RADIUS[2]),
        };
        Frame::new()
            .fill(own_theme.panel)
            .stroke(edge)
            .corner_radius(CornerRadius::same(round))
            .inner_margin(Margin::same(SPACE[3] as i8))
            .shadow(Shadow { offset: [0, 6], blur: 24, spread: 0, color: theme.shadow })
    }

    /// Applies its colours to widgets. Returns the placeholder for the background, which [`Object::draw`] paints below
    /// the content.
    pub(super) fn dress(self, ui: &mut Ui, own_theme: &Theme) -> ShapeIdx {
        widgets::apply_style(ui.style_mut(), own_theme);
        let visuals = &mut ui.style_mut().visuals;
        visuals.override_text_color = Some(own_theme.text);
        visuals.weak_text_color = Some(own_theme.text_soft);
        visuals.hyperlink_color = own_theme.accent;
        visuals.extreme_bg_color = own_theme.card;
        ui.painter().add(Shape::Noop)
    }

    /// Paints the decoration into the placeholder `below`, once the size is known.
    pub(super) fn draw(self, ui: &Ui, below: ShapeIdx, own_theme: &Theme) {
        let rect = ui.min_rect().expand(SPACE[3] - 2.0);
        let shapes = match self {
            Self::Cork => specks(rect, own_theme),
            Self::Slate => chalk_smears(rect, own_theme),
            Self::Page => page(rect, own_theme),
            Self::Board | Self::Plain => return,
        };
        ui.painter().with_clip_rect(rect).set(below, Shape::Vec(shapes));
    }
}

/// The grain of cork. The pattern is the same in every frame.
fn specks(rect: Rect, own_theme: &Theme) -> Vec<Shape> {
    let colours = [0.35, 0.7].map(|share| widgets::mix(own_theme.panel, own_theme.line, share));
    let inner = rect.shrink(4.0);
    let (columns, rows) = ((rect.width() / SPECK_POINTS) as u32, (rect.height() / SPECK_POINTS) as u32);
    let speck = |row: u32, column: u32| {
        let odd = (row.wrapping_mul(73) ^ column.wrapping_mul(151)).wrapping_mul(2_654_435_761);
        let shift = vec2((odd >> 8 & 15) as f32, (odd >> 16 & 15) as f32);
        let at = rect.min + vec2(column as f32, row as f32) * SPECK_POINTS + shift;
        let radius = 0.8 + (odd >> 24 & 1) as f32 * 0.7;
        inner.contains(at).then(|| Shape::circle_filled(at, radius, colours[(odd >> 20 & 1) as usize]))
    };
    (0..=rows.min(60)).flat_map(|row| (0..=columns.min(60)).filter_map(move |column| speck(row, column))).collect()
}

/// Smears of wiped chalk.
fn chalk_smears(rect: Rect, own_theme: &Theme) -> Vec<Shape> {
    let colour = own_theme.text.gamma_multiply(0.035);
    let smear = |(x, y, length): (f32, f32, f32)| {
        let from = rect.min + rect.size() * vec2(x, y);
        let to = from + vec2(rect.width() * length, -18.0);
        Shape::line_segment([from, to], Stroke::new(SMEAR_POINTS, colour))
    };
    [(0.1, 0.3, 0.45), (0.4, 0.62, 0.5), (0.05, 0.85, 0.35)].map(smear).into()
}

/// The spine of the book at the left, and the edges of the pages below at the right.
fn page(rect: Rect, own_theme: &Theme) -> Vec<Shape> {
    let line = |x: f32, width: f32, share: f32| {
        let ends = [pos2(x, rect.top()), pos2(x, rect.bottom())];
        Shape::line_segment(ends, Stroke::new(width, widgets::mix(own_theme.panel, own_theme.line, share)))
    };
    let spine = (0..5_u8).map(|step| line(rect.left() + 1.0 + f32::from(step) * 2.0, 2.0, 0.5 - f32::from(step) * 0.1));
    let edges = [1.0, 4.0, 7.0].map(|x| line(rect.right() - x, 1.0, 0.8));
    spine.chain(edges).collect()
}

/// Returns the rectangle of an overlay: in `view`, on the side where it covers less of `thing`, and never narrower than
/// `min_width`.
pub(super) fn place_beside(view: Rect, thing: Rect, min_width: f32) -> Rect {
    let inside = view.shrink(MARGIN_POINTS);
    let (left, right) = (thing.left() - MARGIN_POINTS - inside.left(), inside.right() - thing.right() - MARGIN_POINTS);
    let beside = left.max(right).max(min_width);
    let size = vec2(PREFERRED_POINTS.x.max(min_width).min(beside), PREFERRED_POINTS.y).min(inside.size());
    let x = if left > right { inside.left() } else { inside.right() - size.x };
    Rect::from_min_size(pos2(x, inside.top()), size)
}

/// Splits the remaining space into two parts: side by side if wide enough, otherwise stacked.
pub(super) fn split_in_two(ui: &mut Ui) -> [Ui; 2] {
    let rect = ui.available_rect_before_wrap();
    let rect = Rect::from_min_size(rect.min, rect.size().max(vec2(200.0, 140.0)));
    let (one, other) = if rect.width() >= BESIDE_POINTS {
        rect.split_left_right_at_fraction(0.54)
    } else {
        rect.split_top_bottom_at_fraction(UPPER_SHARE)
    };
    let half = SPACE[1] / 2.0;
    let is_beside = rect.width() >= BESIDE_POINTS;
    let (one, other) = if is_beside {
        (one.with_max_x(one.right() - half), other.with_min_x(other.left() + half))
    } else {
        (one.with_max_y(one.bottom() - half), other.with_min_y(other.top() + half))
    };
    ui.advance_cursor_after_rect(rect);
    [(one, "one part"), (other, "other part")].map(|(part, salt)| part_ui(ui, part, salt))
}

/// Returns the interface of a part of an overlay, which does not draw outside of it.
pub(super) fn part_ui(ui: &mut Ui, part: Rect, salt: &str) -> Ui {
    let mut child = ui.new_child(UiBuilder::new().max_rect(part).id_salt(salt));
    child.set_clip_rect(part.expand(2.0).intersect(ui.clip_rect()));
    child
}

/// Paints a sheet of paper with a shadow.
pub(super) fn paper(painter: &Painter, rect: Rect, fill: Color32, edge: Stroke, shadow: Color32) {
    painter.rect_filled(rect.translate(vec2(1.5, 3.0)), MARK_RADIUS, shadow);
    painter.rect(rect, MARK_RADIUS, fill, edge, egui::StrokeKind::Inside);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlay_is_placed_in_the_room_beside_its_element() {
        let view = Rect::from_min_max(pos2(250.0, 60.0), pos2(1_100.0, 560.0));
        for x in [300.0, 420.0, 560.0, 790.0, 900.0, 1_050.0] {
            let thing = Rect::from_center_size(pos2(x, 200.0), vec2(80.0, 70.0));
            let place = place_beside(view, thing, MIN_POINTS);
            assert!(view.contains_rect(place), "{x}");
            assert!(!place.intersects(thing), "{x}: {place:?}");
        }
        let middle = Rect::from_center_size(view.center(), vec2(80.0, 70.0));
        assert_eq!(place_beside(view, middle, MIN_POINTS).width(), MIN_POINTS, "it covers as little as possible");
    }

    #[test]
    fn an_overlay_fills_a_small_room() {
        let view = Rect::from_min_max(pos2(180.0, 60.0), pos2(560.0, 400.0));
        let thing = Rect::from_center_size(pos2(300.0, 200.0), vec2(80.0, 70.0));
        assert_eq!(place_beside(view, thing, MIN_POINTS), view.shrink(MARGIN_POINTS));
    }
}
