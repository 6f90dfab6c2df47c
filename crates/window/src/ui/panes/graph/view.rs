//! The view onto the graph, with its position and zoom, and the search for the nearest node in a direction.
//!
//! `bevy_pancam` is not used, because it moves a Bevy camera, but the graph is painted by egui in a panel, which no
//! such camera sees (as in [`camera`](crate::view::camera)). Also, the wheel must zoom only where no other panel is on
//! top, which only egui knows.

use egui::{PointerButton, Pos2, Rect, Response, Ui, Vec2, vec2};

use crate::ui::commands::keys;
use crate::ui::widgets;

/// Range of the zoom.
const ZOOM_RANGE: std::ops::RangeInclusive<f32> = 0.01..=2.5;
/// Maximum zoom when fitting everything, and the margin around it in points.
const MAX_FIT_ZOOM: f32 = 1.0;
const MARGIN: f32 = 28.0;
/// Weight of the sideways distance when searching in a direction.
const SIDEWAYS_WEIGHT: f32 = 2.5;

/// A view onto the graph. The y axis points down both in the graph and on screen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct View {
    /// The graph position in the center of the view.
    pub middle: Pos2,
    /// Screen points per graph unit.
    pub zoom: f32,
    /// Whether the user has moved the view; otherwise it is fitted to the whole graph.
    pub is_free: bool,
    /// The rectangle on screen.
    pub rect: Rect,
}

impl Default for View {
    fn default() -> Self {
        Self { middle: Pos2::ZERO, zoom: 1.0, is_free: false, rect: Rect::ZERO }
    }
}

impl View {
    /// Converts a graph position to a screen position.
    pub fn to_screen(self, place: Pos2) -> Pos2 {
        self.rect.center() + (place - self.middle) * self.zoom
    }

    /// Converts a graph rectangle to a screen rectangle.
    pub fn rect_to_screen(self, part: Rect) -> Rect {
        Rect::from_min_max(self.to_screen(part.min), self.to_screen(part.max))
    }

    /// Converts a screen position to a graph position.
    pub fn to_graph(self, point: Pos2) -> Pos2 {
        self.middle + (point - self.rect.center()) / self.zoom
    }

    /// Returns the visible rectangle of the graph.
    pub fn visible(&self) -> Rect {
        Rect::from_min_max(self.to_graph(self.rect.min), self.to_graph(self.rect.max))
    }

    /// Zooms by a factor and keeps the graph position under `pivot` there.
    pub fn zoom_at(&mut self, pivot: Pos2, factor: f32) {
        if !factor.is_finite() || factor <= 0.0 {
            return;
        }
        let anchor = self.to_graph(pivot);
        self.zoom = (self.zoom * factor).clamp(*ZOOM_RANGE.start(), *ZOOM_RANGE.end());
        self.middle += anchor - self.to_graph(pivot);
        self.is_free = true;
    }

    /// Pans by a distance in screen points.
    pub fn pan(&mut self, by: Vec2) {
        self.middle -= by / self.zoom;
        self.is_free = true;
    }

    /// Pans and zooms with the mouse, and handles the shortcut for fitting. `background` covers the view's rectangle.
    pub fn pan_and_zoom(&mut self, ui: &Ui, background: &Response) {
        if background.dragged_by(PointerButton::Primary) || background.dragged_by(PointerButton::Middle) {
            self.pan(background.drag_delta());
            ui.set_cursor_icon(egui::CursorIcon::Grabbing);
        }
        let Some(pointer) = ui.input(|input| input.pointer.hover_pos()).filter(|_| background.contains_pointer())
        else {
            return;
        };
        widgets::zoom_factors(ui).for_each(|factor| self.zoom_at(pointer, factor));
        // In a focused text field, the key types a letter.
        if !ui.text_edit_focused() && keys::consume(ui, "graph.fit") {
            self.is_free = false;
        }
    }

    /// Fits `bounds` into the view below `covered_above`, the height of the toolbar over it. Does nothing if `bounds`
    /// is empty.
    pub fn fit(&mut self, bounds: Rect, covered_above: f32) {
        let free = self.rect.with_min_y((self.rect.top() + covered_above).min(self.rect.center().y)).shrink(MARGIN);
        if !bounds.is_finite() || !bounds.is_positive() || !free.is_positive() {
            return;
        }
        let fits = (free.width() / bounds.width()).min(free.height() / bounds.height());
        self.zoom = fits.clamp(*ZOOM_RANGE.start(), MAX_FIT_ZOOM);
        self.middle = bounds.center() - (free.center() - self.rect.center()) / self.zoom;
    }

    /// Pans just far enough that `part` is visible.
    pub fn pan_to(&mut self, part: Rect) {
        let visible = self.visible().shrink(MARGIN / self.zoom);
        let step = |low: f32, high: f32, from: f32, to: f32| {
            if low < from || high - low > to - from { low - from } else { (high - to).max(0.0) }
        };
        let by = vec2(
            step(part.left(), part.right(), visible.left(), visible.right()),
            step(part.top(), part.bottom(), visible.top(), visible.bottom()),
        );
        if by != Vec2::ZERO {
            self.middle += by;
            self.is_free = true;
        }
    }
}

/// Returns the nearest candidate in a direction, where sideways distance counts more than distance ahead.
pub fn nearest<T>(from: Pos2, direction: Vec2, candidates: impl IntoIterator<Item = (T, Pos2)>) -> Option<T> {
    let cost = |place: Pos2| {
        let delta = place - from;
        let ahead = delta.dot(direction);
        let sideways = (delta - direction * ahead).length();
        (ahead > 1.0 && sideways < 4.0 * ahead).then_some(ahead + SIDEWAYS_WEIGHT * sideways)
    };
    let costs = candidates.into_iter().filter_map(|(thing, place)| Some((cost(place)?, thing)));
    costs.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, thing)| thing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    fn view() -> View {
        View { rect: Rect::from_min_size(pos2(100.0, 50.0), vec2(800.0, 600.0)), ..View::default() }
    }

    #[test]
    fn zooming_keeps_the_point_under_the_pointer_and_is_bounded() {
        let mut view = view();
        for (pivot, factor) in [(pos2(120.0, 90.0), 1.7), (pos2(800.0, 600.0), 0.3), (pos2(500.0, 300.0), 1e-9)] {
            let before = view.to_graph(pivot);
            view.zoom_at(pivot, factor);
            assert!(view.to_graph(pivot).distance(before) < 0.05 / view.zoom);
            assert!(ZOOM_RANGE.contains(&view.zoom));
        }
        let before = view;
        for factor in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            view.zoom_at(pos2(1.0, 1.0), factor);
        }
        assert_eq!(view, before);
    }

    #[test]
    fn fitting_shows_everything_below_the_covered_area() {
        let mut view = view();
        for size in [vec2(10.0, 10.0), vec2(5_000.0, 90.0), vec2(90.0, 20_000.0)] {
            let bounds = Rect::from_min_size(pos2(-300.0, 70.0), size);
            view.fit(bounds, 60.0);
            let shown = view.rect_to_screen(bounds);
            assert!(view.rect.contains_rect(shown) && shown.top() >= view.rect.top() + 60.0, "{shown:?}");
        }
        let before = view;
        view.fit(Rect::NOTHING, 0.0);
        view.fit(Rect::from_min_size(Pos2::ZERO, vec2(f32::NAN, 3.0)), 0.0);
        assert_eq!(view, before);
    }

    #[test]
    fn lead_to_moves_the_view_just_far_enough() {
        let mut view = view();
        view.pan_to(Rect::from_min_size(pos2(10.0, 10.0), vec2(50.0, 50.0)));
        assert!(!view.is_free, "it was already visible");
        let far = Rect::from_min_size(pos2(3_000.0, -900.0), vec2(50.0, 50.0));
        view.pan_to(far);
        assert!(view.visible().contains_rect(far));
        let edge = view.visible().right() - far.right();
        assert!(edge < 2.0 * MARGIN, "{edge}");
    }

    #[test]
    fn nearest_prefers_what_lies_straight_ahead() {
        let candidates =
            [("up", pos2(0.0, -50.0)), ("right", pos2(80.0, 10.0)), ("aside", pos2(30.0, 60.0)), ("here", Pos2::ZERO)];
        let towards = |x: f32, y: f32| nearest(Pos2::ZERO, vec2(x, y), candidates);
        assert_eq!(towards(1.0, 0.0), Some("right"));
        assert_eq!(towards(0.0, -1.0), Some("up"));
        assert_eq!(towards(0.0, 1.0), Some("aside"));
        assert_eq!(towards(-1.0, 0.0), None);
    }
}
