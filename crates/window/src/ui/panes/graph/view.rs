//! The view onto the graph (which part of it is shown, how large) and the search for the nearest thing in a direction.
//!
//! Why not `bevy_pancam`: it moves a camera of Bevy, and `egui` paints the graph in a panel, which no such camera sees
//! (as in [`camera`](crate::view::camera)). Here, the wheel has to zoom about the pointer only where no other panel lies
//! on top, which only `egui` knows.

use egui::{PointerButton, Pos2, Rect, Response, Ui, Vec2, vec2};

use crate::ui::commands::keys;

/// Smallest and largest zoom.
const ZOOM: std::ops::RangeInclusive<f32> = 0.01..=2.5;
/// The largest zoom when everything is fitted, and the margin around it.
const FIT_AT_MOST: f32 = 1.0;
const AIR: f32 = 28.0;
/// Zoom by the wheel, per point of scrolling.
const WHEEL_PER_POINT: f32 = 0.004;
/// What counts aside when something is looked for in a direction.
const ASIDE: f32 = 2.5;

/// A view onto the graph. Both have y downward.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct View {
    /// What stands in the middle.
    pub middle: Pos2,
    /// Points per unit of the graph.
    pub zoom: f32,
    /// Whether a person moved it; it shows everything otherwise.
    pub is_free: bool,
    /// Where on screen it is.
    pub rect: Rect,
}

impl Default for View {
    fn default() -> Self {
        Self { middle: Pos2::ZERO, zoom: 1.0, is_free: false, rect: Rect::ZERO }
    }
}

impl View {
    /// Where a place is on screen.
    pub fn to_screen(self, place: Pos2) -> Pos2 {
        self.rect.center() + (place - self.middle) * self.zoom
    }

    /// Where a part of the graph is on screen.
    pub fn rect_to_screen(self, part: Rect) -> Rect {
        Rect::from_min_max(self.to_screen(part.min), self.to_screen(part.max))
    }

    /// Which place a point of the screen shows.
    pub fn to_graph(self, point: Pos2) -> Pos2 {
        self.middle + (point - self.rect.center()) / self.zoom
    }

    /// The part of the graph that can be seen.
    pub fn visible(&self) -> Rect {
        Rect::from_min_max(self.to_graph(self.rect.min), self.to_graph(self.rect.max))
    }

    /// Zooms by a factor; what is under `pivot` stays there.
    pub fn zoom_at(&mut self, pivot: Pos2, factor: f32) {
        if !factor.is_finite() || factor <= 0.0 {
            return;
        }
        let kept = self.to_graph(pivot);
        self.zoom = (self.zoom * factor).clamp(*ZOOM.start(), *ZOOM.end());
        self.middle += kept - self.to_graph(pivot);
        self.is_free = true;
    }

    /// Moves the view so that what was under the pointer follows it.
    pub fn pan(&mut self, by: Vec2) {
        self.middle -= by / self.zoom;
        self.is_free = true;
    }

    /// Moves and zooms as the hand on the ground says.
    pub fn look_around(&mut self, ui: &Ui, ground: &Response) {
        if ground.dragged_by(PointerButton::Primary) || ground.dragged_by(PointerButton::Middle) {
            self.pan(ground.drag_delta());
            ui.set_cursor_icon(egui::CursorIcon::Grabbing);
        }
        let Some(pointer) = ui.input(|input| input.pointer.hover_pos()).filter(|_| ground.contains_pointer()) else {
            return;
        };
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        if scroll != 0.0 {
            self.zoom_at(pointer, (scroll * WHEEL_PER_POINT).exp());
        }
        if pinch != 1.0 {
            self.zoom_at(pointer, pinch);
        }
        // While a field has the focus, the letter is text.
        if !ui.text_edit_focused() && keys::take(ui, "graph.fit") {
            self.is_free = false;
        }
    }

    /// Shows all of this, beside what lies over the upper edge of the screen; nothing to show changes nothing.
    pub fn fit(&mut self, bounds: Rect, covered_above: f32) {
        let free = self.rect.with_min_y((self.rect.top() + covered_above).min(self.rect.center().y)).shrink(AIR);
        if !bounds.is_finite() || !bounds.is_positive() || !free.is_positive() {
            return;
        }
        let fits = (free.width() / bounds.width()).min(free.height() / bounds.height());
        self.zoom = fits.clamp(*ZOOM.start(), FIT_AT_MOST);
        self.middle = bounds.center() - (free.center() - self.rect.center()) / self.zoom;
    }

    /// Moves as little as has to be for this part to be seen.
    pub fn lead_to(&mut self, part: Rect) {
        let seen = self.visible().shrink(AIR / self.zoom);
        let step = |low: f32, high: f32, from: f32, to: f32| {
            if low < from || high - low > to - from { low - from } else { (high - to).max(0.0) }
        };
        let by = vec2(
            step(part.left(), part.right(), seen.left(), seen.right()),
            step(part.top(), part.bottom(), seen.top(), seen.bottom()),
        );
        if by != Vec2::ZERO {
            self.middle += by;
            self.is_free = true;
        }
    }
}

/// The nearest in a direction: what lies straight ahead is nearer than what lies aside.
pub fn nearest<T>(from: Pos2, direction: Vec2, there: impl IntoIterator<Item = (T, Pos2)>) -> Option<T> {
    let cost = |place: Pos2| {
        let way = place - from;
        let ahead = way.dot(direction);
        let aside = (way - direction * ahead).length();
        (ahead > 1.0 && aside < 4.0 * ahead).then_some(ahead + ASIDE * aside)
    };
    let costs = there.into_iter().filter_map(|(thing, place)| Some((cost(place)?, thing)));
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
    fn what_is_under_the_pointer_stays_there_and_zoom_has_bounds() {
        let mut view = view();
        for (pivot, factor) in [(pos2(120.0, 90.0), 1.7), (pos2(800.0, 600.0), 0.3), (pos2(500.0, 300.0), 1e-9)] {
            let before = view.to_graph(pivot);
            view.zoom_at(pivot, factor);
            assert!(view.to_graph(pivot).distance(before) < 0.05 / view.zoom);
            assert!(ZOOM.contains(&view.zoom));
        }
        let before = view;
        for factor in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            view.zoom_at(pos2(1.0, 1.0), factor);
        }
        assert_eq!(view, before);
    }

    #[test]
    fn everything_fits_into_what_is_not_covered() {
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
    fn one_is_led_to_what_cannot_be_seen_and_no_further() {
        let mut view = view();
        view.lead_to(Rect::from_min_size(pos2(10.0, 10.0), vec2(50.0, 50.0)));
        assert!(!view.is_free, "it was seen already");
        let far = Rect::from_min_size(pos2(3_000.0, -900.0), vec2(50.0, 50.0));
        view.lead_to(far);
        assert!(view.visible().contains_rect(far));
        let edge = view.visible().right() - far.right();
        assert!(edge < 2.0 * AIR, "{edge}");
    }

    #[test]
    fn the_nearest_lies_ahead() {
        let there =
            [("up", pos2(0.0, -50.0)), ("right", pos2(80.0, 10.0)), ("aside", pos2(30.0, 60.0)), ("here", Pos2::ZERO)];
        let towards = |x: f32, y: f32| nearest(Pos2::ZERO, vec2(x, y), there);
        assert_eq!(towards(1.0, 0.0), Some("right"));
        assert_eq!(towards(0.0, -1.0), Some("up"));
        assert_eq!(towards(0.0, 1.0), Some("aside"));
        assert_eq!(towards(-1.0, 0.0), None);
    }
}
