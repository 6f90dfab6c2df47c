//! The frame of all dialogs: a title, a close button, a separator, and the content.

use egui::{Context, Id, Modal, RichText, ScrollArea, Ui};

use super::controls::{apply_style, icon_button, window};
use super::icons::Icon;
use super::texts;
use crate::view::theme::{DIALOG, SPACE, TYPE, Theme};

/// The result of a dialog in this frame.
pub struct DialogResponse<R> {
    /// The return value of the content.
    pub inner: R,
    /// Whether the person closes it: with the close button, with Escape, or by a click outside.
    pub is_closed: bool,
}

/// The title and the width of a dialog.
#[derive(Clone, Copy, Debug)]
pub struct DialogFrame<'a> {
    /// The title.
    pub title: &'a str,
    /// The name of the thing that the close button closes, such as `settings`.
    pub closes: &'a str,
    /// The width in points, if the window is wide enough: one of [`DIALOG`].
    pub width: f32,
}

impl<'a> DialogFrame<'a> {
    /// Returns the frame of a modal question.
    pub fn question(title: &'a str) -> Self {
        Self { title, closes: texts::QUESTION, width: DIALOG[0] }
    }

    /// Draws the dialog in the middle of the window; nothing behind it can be clicked or focused.
    pub fn show<R>(self, ctx: &Context, theme: &Theme, content: impl FnOnce(&mut Ui) -> R) -> DialogResponse<R> {
        let mut is_closed = false;
        let modal = Modal::new(Id::new("dialog").with(self.closes)).frame(window(theme)).show(ctx, |ui| {
            apply_style(ui.style_mut(), theme);
            ui.set_width(self.width.min(ctx.content_rect().width() - 2.0 * SPACE[4]));
            is_closed = title_line(ui, self.title, self.closes, theme);
            content(ui)
        });
        is_closed |= modal.should_close();
        DialogResponse { inner: modal.inner, is_closed }
    }
}

/// Draws the title, truncated before the close button, and a separator. Returns whether the close button was clicked.
pub fn title_line(ui: &mut Ui, title: &str, closes: &str, theme: &Theme) -> bool {
    let is_closed = ui.horizontal(|ui| {
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let is_closed = icon_button(ui, Icon::Cross, &texts::close(closes), false, theme).clicked();
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                ui.add(egui::Label::new(RichText::new(title).size(TYPE[3]).color(theme.text)).truncate());
            });
            is_closed
        })
        .inner
    });
    ui.separator();
    is_closed.inner
}

/// Draws content that may be higher than the window, in a scroll area. The scroll bar is beside the content, not over
/// it.
pub fn scrolled<R>(ui: &mut Ui, content: impl FnOnce(&mut Ui) -> R) -> R {
    /// The height of the title above, the buttons below, and the margins, in points.
    const AROUND_POINTS: f32 = 140.0;
    const HEIGHTS: std::ops::RangeInclusive<f32> = 160.0..=720.0;
    let height = (ui.ctx().content_rect().height() - AROUND_POINTS).clamp(*HEIGHTS.start(), *HEIGHTS.end());
    let area = ScrollArea::vertical().max_height(height).min_scrolled_height(height).auto_shrink([false, true]);
    let shown = area.show(ui, |ui| {
        ui.set_max_width(ui.available_width() - SPACE[2]);
        content(ui)
    });
    shown.inner
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use egui::Key;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::view::theme::LIGHT;

    /// A dialog over a button, open until it is closed.
    fn dialog(title: &'static str) -> (Harness<'static>, Rc<RefCell<Vec<&'static str>>>) {
        let events = Rc::new(RefCell::new(Vec::new()));
        let log = events.clone();
        let mut window = Harness::builder().with_size(egui::vec2(900.0, 600.0)).build_ui(move |ui| {
            if ui.button("Behind").clicked() {
                log.borrow_mut().push("behind");
            }
            if log.borrow().contains(&"closed") {
                return;
            }
            let frame = DialogFrame { title, closes: "dialog", width: DIALOG[1] };
            let shown = frame.show(ui.ctx(), &LIGHT, |ui| drop(ui.button("In it")));
            if shown.is_closed {
                log.borrow_mut().push("closed");
            }
        });
        window.run_steps(4);
        (window, events)
    }

    #[test]
    fn the_close_button_and_escape_close_it() {
        let (mut window, events) = dialog("About");
        window.get_by_label("Close dialog").click();
        window.run_steps(2);
        assert_eq!(*events.borrow(), ["closed"]);
        let (mut window, events) = dialog("About");
        window.key_press(Key::Escape);
        window.run_steps(2);
        assert_eq!(*events.borrow(), ["closed"]);
    }

    #[test]
    fn tab_stays_inside() {
        let (mut window, events) = dialog("About");
        for _ in 0..6 {
            window.key_press(Key::Tab);
            window.run_steps(1);
            assert!(!window.get_by_label("Behind").is_focused());
        }
        assert!(events.borrow().is_empty());
    }

    #[test]
    fn a_long_title_is_truncated_and_does_not_widen_the_dialog() {
        let long = "A title that is much longer than any dialog is wide, so that it has to be cut somewhere";
        let places = |title| {
            let (window, _) = dialog(title);
            (window.get_by_label(title).rect(), window.get_by_label("Close dialog").rect())
        };
        let ((_, short), (title, cross)) = (places("About"), places(long));
        assert_eq!(cross, short);
        assert!(title.right() <= cross.left(), "{title:?} runs under {cross:?}");
    }
}
