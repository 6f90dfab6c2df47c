//! The focus ring around the focused widget: the same for all widgets, drawn in one place, and shown only while the
//! focus is moved with keys.

use egui::{Context, CornerRadius, Event, Id, Key, StrokeKind};

use crate::view::theme::{LINE, RADIUS, Theme};

/// The distance between ring and widget, in points, so that the ring is visible around coloured buttons.
const GAP_POINTS: f32 = 1.5;
/// The keys that move the focus.
const FOCUS_KEYS: [Key; 5] = [Key::Tab, Key::ArrowLeft, Key::ArrowRight, Key::ArrowUp, Key::ArrowDown];

/// Whether a key moves the focus in this frame. Widgets that can only be dragged are left out of such a frame: they
/// must not get the focus, because keys do nothing there and a screen reader has nothing to read.
pub fn is_moving(context: &Context) -> bool {
    let moves_focus =
        |event: &Event| matches!(event, Event::Key { key, pressed: true, .. } if FOCUS_KEYS.contains(key));
    context.input(|input| input.raw.events.iter().any(moves_focus))
}

/// Tracks whether the focus was last moved with a key, which ends when the pointer is pressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FocusRing {
    is_moved_by_key: bool,
}

impl FocusRing {
    /// Reads the events of a frame; called before they are consumed.
    pub fn read_input(&mut self, context: &Context) {
        context.input(|input| {
            for event in &input.events {
                match event {
                    Event::Key { key, pressed: true, .. } if FOCUS_KEYS.contains(key) => self.is_moved_by_key = true,
                    Event::PointerButton { pressed: true, .. } => self.is_moved_by_key = false,
                    _ => {}
                }
            }
        });
    }

    /// Draws the ring after everything else. `mark_themselves` are widgets that show their focus in another way.
    pub fn paint(self, context: &Context, theme: &Theme, mark_themselves: &[Id]) {
        let focused = context.memory(|memory| memory.focused()).filter(|id| !mark_themselves.contains(id));
        let Some(response) = focused.filter(|_| self.is_moved_by_key).and_then(|id| context.read_response(id)) else {
            return;
        };
        // A widget scrolled out of sight has no ring.
        if !response.interact_rect.is_positive() {
            return;
        }
        let reach = GAP_POINTS + LINE[2];
        let painter = context.layer_painter(response.layer_id).with_clip_rect(response.interact_rect.expand(reach));
        let corners = CornerRadius::same(RADIUS[0] + 2);
        let stroke = theme.focus_ring();
        painter.rect_stroke(response.rect.expand(GAP_POINTS), corners, stroke, StrokeKind::Outside);
    }
}

#[cfg(test)]
mod tests {
    use egui::accesskit::Role;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::ui::widgets::icons::Icon;
    use crate::ui::widgets::{self, mix};
    use crate::view::theme::DARK;
    use crate::view::theme::{LIGHT, contrast};

    /// Returns the rectangles of the widgets that have a ring.
    fn rings(window: &Harness<'_, FocusRing>) -> Vec<egui::Rect> {
        let ring = LIGHT.focus_ring();
        let shapes = window.output().shapes.iter();
        let of = |shape: &egui::epaint::ClippedShape| match &shape.shape {
            egui::Shape::Rect(rect) if rect.stroke == ring && rect.stroke_kind == StrokeKind::Outside => {
                Some(rect.rect.shrink(GAP_POINTS))
            }
            _ => None,
        };
        shapes.filter_map(of).collect()
    }

    fn form() -> Harness<'static, FocusRing> {
        let app = |ui: &mut egui::Ui, ring: &mut FocusRing| {
            ring.read_input(ui.ctx());
            widgets::apply_style(ui.style_mut(), &LIGHT);
            let _ = ui.button("Plain");
            widgets::primary(ui, true, "Primary", &LIGHT);
            widgets::danger(ui, "Danger", &LIGHT);
            widgets::icon_button(ui, Icon::Gear, "Settings", false, &LIGHT);
            widgets::switch(ui, true, "Conversations on", &LIGHT);
            ring.paint(ui.ctx(), &LIGHT, &[]);
        };
        Harness::builder().with_size(egui::vec2(300.0, 300.0)).build_ui_state(app, FocusRing::default())
    }

    #[test]
    fn only_the_focused_widget_has_a_ring() {
        let mut window = form();
        window.run_steps(2);
        assert_eq!(rings(&window), [], "no widget is focused");
        for label in ["Plain", "Primary", "Danger", "Settings", "Conversations on"] {
            window.key_press(Key::Tab);
            window.run_steps(2);
            let place = window.get_by_label(label).rect();
            let rings = rings(&window);
            assert!(
                rings.len() == 1 && rings[0].center().distance(place.center()) < 1.0,
                "{label}: {rings:?}, {place:?}"
            );
        }
        window.get_by_role_and_label(Role::Button, "Plain").click();
        window.run_steps(2);
        assert_eq!(rings(&window), [], "the ring is not shown while the pointer is used");
    }

    #[test]
    fn the_ring_has_enough_contrast_on_every_background() {
        for theme in [LIGHT, DARK] {
            let mut backgrounds =
                vec![theme.panel, theme.card, theme.floor, theme.bubble, mix(theme.panel, theme.line, 0.5)];
            backgrounds.extend([0.07, 0.10, 0.18, 0.22, 0.28].map(|share| mix(theme.card, theme.accent, share)));
            for background in backgrounds {
                let contrast = contrast(theme.focus_ring().color, background);
                assert!(contrast >= 3.0, "dark={}, {background:?}: {contrast:.2}", theme.dark);
            }
        }
    }
}
