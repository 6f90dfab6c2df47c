//! The camera of the room: its centre and zoom.
//!
//! `bevy_pancam` is not used, because it moves a Bevy camera, but no Bevy camera sees the room. `egui` paints the room
//! from plain data, and the window's only camera shows what `egui` drew. Dragging and scrolling also come from `egui`,
//! which knows whether a panel covers the room.

use bevy::math::Vec2;
use egui::{Pos2, Rect, Vec2 as Points, vec2};

/// The range of the zoom.
pub const ZOOM: std::ops::RangeInclusive<f32> = 0.1..=3.0;

/// A camera on the room. World units with y up; screen points with y down.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Camera {
    /// The world position in the centre of the viewport.
    pub middle: Vec2,
    /// Points per world unit, within [`ZOOM`].
    pub zoom: f32,
    /// The screen rectangle in which the room is shown.
    pub viewport: Rect,
    /// Whether the zoom is changing. Meanwhile text is scaled, and laid out again when it ends.
    pub is_zooming: bool,
}

impl Default for Camera {
    fn default() -> Self {
        let viewport = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 800.0));
        Self { middle: Vec2::ZERO, zoom: 1.0, viewport, is_zooming: false }
    }
}

impl Camera {
    /// Converts a world position to a screen point.
    pub fn to_screen(&self, place: Vec2) -> Pos2 {
        let from_middle = (place - self.middle) * self.zoom;
        self.viewport.center() + vec2(from_middle.x, -from_middle.y)
    }

    /// Converts a screen point to a world position.
    pub fn to_world(&self, point: Pos2) -> Vec2 {
        let from_middle = (point - self.viewport.center()) / self.zoom;
        self.middle + Vec2::new(from_middle.x, -from_middle.y)
    }

    /// Zooms by a factor, keeping the world position under `pivot` fixed.
    pub fn zoom_at(&mut self, pivot: Pos2, factor: f32) {
        if !factor.is_finite() || factor <= 0.0 {
            return;
        }
        let kept = self.to_world(pivot);
        self.zoom = (self.zoom * factor).clamp(*ZOOM.start(), *ZOOM.end());
        self.middle += kept - self.to_world(pivot);
    }

    /// Moves the view by a drag, in points.
    pub fn pan(&mut self, by: Points) {
        self.middle += Vec2::new(-by.x, by.y) / self.zoom;
    }

    /// Fits all of these positions into the viewport, with a margin. Does nothing if there are none.
    pub fn frame(&mut self, places: impl IntoIterator<Item = Vec2>) {
        const AIR: f32 = 120.0;
        let mut bounds: Option<(Vec2, Vec2)> = None;
        for place in places.into_iter().filter(|place| place.is_finite()) {
            let (low, high) = bounds.unwrap_or((place, place));
            bounds = Some((low.min(place), high.max(place)));
        }
        let Some((low, high)) = bounds else { return };
        let size = high - low + Vec2::splat(2.0 * AIR);
        self.middle = low.midpoint(high);
        let fits = (self.viewport.width() / size.x).min(self.viewport.height() / size.y);
        self.zoom = fits.clamp(*ZOOM.start(), 1.5);
    }

    /// The visible part of the room, as lower left and upper right corner, extended by a margin in world units.
    pub fn visible(&self, margin: f32) -> (Vec2, Vec2) {
        let half = Vec2::new(self.viewport.width(), self.viewport.height()) / (2.0 * self.zoom) + Vec2::splat(margin);
        (self.middle - half, self.middle + half)
    }

    /// Converts a rectangle of the room to the screen.
    pub fn rect_to_screen(&self, middle: Vec2, size: Vec2) -> Rect {
        Rect::from_center_size(self.to_screen(middle), vec2(size.x, size.y) * self.zoom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn zooming_keeps_the_position_under_the_pointer(
            x in 0.0_f32..1280.0, y in 0.0_f32..800.0, factor in 0.2_f32..5.0, zoom in 0.1_f32..3.0,
        ) {
            let mut camera = Camera { zoom, ..Camera::default() };
            let before = camera.to_world(pos2(x, y));
            camera.zoom_at(pos2(x, y), factor);
            prop_assert!(camera.to_world(pos2(x, y)).distance(before) < 0.05);
            prop_assert!(ZOOM.contains(&camera.zoom));
        }

        #[test]
        fn screen_and_world_are_each_other_s_inverse(x in -5e3_f32..5e3, y in -5e3_f32..5e3, zoom in 0.1_f32..3.0) {
            let camera = Camera { zoom, middle: Vec2::new(30.0, -70.0), ..Camera::default() };
            let back = camera.to_world(camera.to_screen(Vec2::new(x, y)));
            prop_assert!(back.distance(Vec2::new(x, y)) < 0.05);
        }
    }

    #[test]
    fn y_grows_upward() {
        let camera = Camera::default();
        assert!(camera.to_screen(Vec2::new(0.0, 100.0)).y < camera.to_screen(Vec2::ZERO).y);
    }

    #[test]
    fn framing_shows_every_position() {
        let mut camera = Camera::default();
        camera.frame([Vec2::new(-900.0, 10.0), Vec2::new(700.0, -2000.0)]);
        for place in [Vec2::new(-900.0, 10.0), Vec2::new(700.0, -2000.0)] {
            assert!(camera.viewport.contains(camera.to_screen(place)));
        }
        let before = camera;
        camera.frame([]);
        assert_eq!(camera, before);
    }
}
