//! The focus ring around the widget that has the keyboard: the same for every widget, drawn in one place, and only
//! shown while the focus is moved with keys.

use egui::{Context, CornerRadius, Event, Id, Key, StrokeKind};

use crate::view::theme::{LINE, RADIUS, Theme};

/// The distance of the ring from the widget, so that it is visible around a coloured button, too.
const GAP_POINTS: f32 = 1.5;
/// Keys that lead from widget to widget.
const LEADING: [Key; 5] = [Key::Tab, Key::ArrowLeft, Key::ArrowRight, Key::ArrowUp, Key::ArrowDown];

/// Whether a key leads the focus on in this frame. What can only be dragged is left out of such a frame: the focus
/// never comes to it then, where a key could do nothing and a screen reader would have nothing to say.
pub fn is_led_on(context: &Context) -> bool {
    let leads = |event: &Event| matches!(event, Event::Key { key, pressed: true, .. } if LEADING.contains(key));
    context.input(|input| input.raw.events.iter().any(leads))
}

/// Whether the keyboard's focus is led by key: since a key led it, until the pointer is pressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FocusRing {
    is_led_by_key: bool,
}

impl FocusRing {
    /// Takes in the events of a frame, before anybody uses them up.
    pub fn look_at_input(&mut self, context: &Context) {
        context.input(|input| {
            for event in &input.events {
                match event {
                    Event::Key { key, pressed: true, .. } if LEADING.contains(key) => self.is_led_by_key = true,
                    Event::PointerButton { pressed: true, .. } => self.is_led_by_key = false,
                    _ => {}
                }
            }
        });
    }

    /// Draws the ring, when everything else is drawn. Those who mark a row or a thing in themselves get none.
    pub fn paint(self, context: &Context, theme: &Theme, mark_themselves: &[Id]) {
        let focused = context.memory(|memory| memory.focused()).filter(|id| !mark_themselves.contains(id));
        let Some(response) = focused.filter(|_| self.is_led_by_key).and_then(|id| context.read_response(id)) else {
            return;
        };
        // What is scrolled out of sight has no ring over what is seen instead.
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

    /// The rings that were drawn, by the rectangles that they surround.
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
            ring.look_at_input(ui.ctx());
            widgets::dress(ui.style_mut(), &LIGHT);
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
    fn every_widget_that_the_keyboard_comes_to_has_the_same_ring_and_no_other_has() {
        let mut window = form();
        window.run_steps(2);
        assert_eq!(rings(&window), [], "nobody has the keyboard");
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
        assert_eq!(rings(&window), [], "who points sees where they are");
    }

    #[test]
    fn the_ring_is_seen_on_every_ground() {
        for theme in [LIGHT, DARK] {
            let mut grounds =
                vec![theme.panel, theme.card, theme.floor, theme.bubble, mix(theme.panel, theme.line, 0.5)];
            grounds.extend([0.07, 0.10, 0.18, 0.22, 0.28].map(|share| mix(theme.card, theme.accent, share)));
            for ground in grounds {
                let contrast = contrast(theme.focus_ring().color, ground);
                assert!(contrast >= 3.0, "dark={}, {ground:?}: {contrast:.2}", theme.dark);
            }
        }
    }
}
