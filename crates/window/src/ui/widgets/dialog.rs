//! The frame of all dialogs: a title, a close button, a rule, and the content.

use egui::{Context, Id, Modal, RichText, ScrollArea, Ui};

use super::controls::{dress, icon_button, window};
use super::icons::Icon;
use super::texts;
use crate::view::theme::{DIALOG, SPACE, TYPE, Theme};

/// What came of a dialog in this frame.
pub struct DialogResponse<R> {
    /// What its content came to.
    pub inner: R,
    /// Whether the person wants it closed: by the cross, by Escape, or by a click beside it.
    pub is_closed: bool,
}

/// How a dialog is called and how wide it is.
#[derive(Clone, Copy, Debug)]
pub struct DialogFrame<'a> {
    /// What stands at its top.
    pub title: &'a str,
    /// What its cross closes, in words: `settings`.
    pub closes: &'a str,
    /// Its width in points where the window has room for it: one of [`DIALOG`].
    pub width: f32,
}

impl<'a> DialogFrame<'a> {
    /// A question, which is answered before anything else.
    pub fn question(title: &'a str) -> Self {
        Self { title, closes: texts::QUESTION, width: DIALOG[0] }
    }

    /// Draws it in the middle of the window. Nothing behind it can be clicked or reached by Tab meanwhile.
    pub fn show<R>(self, ctx: &Context, theme: &Theme, content: impl FnOnce(&mut Ui) -> R) -> DialogResponse<R> {
        let mut is_closed = false;
        let modal = Modal::new(Id::new("dialog").with(self.closes)).frame(window(theme)).show(ctx, |ui| {
            dress(ui.style_mut(), theme);
            ui.set_width(self.width.min(ctx.content_rect().width() - 2.0 * SPACE[4]));
            is_closed = title_line(ui, self.title, self.closes, theme);
            content(ui)
        });
        is_closed |= modal.should_close();
        DialogResponse { inner: modal.inner, is_closed }
    }
}

/// The top of a dialog: its title, shortened where it would run under the cross, and a rule. Whether it is to be
/// closed.
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

/// What a dialog holds that may be higher than the window. The bar stands beside the content, not on it.
pub fn scrolled<R>(ui: &mut Ui, content: impl FnOnce(&mut Ui) -> R) -> R {
    /// The title above, a line of buttons below, and air around.
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

    /// A dialog that is open until it is to be closed, over a button.
    fn dialog(title: &'static str) -> (Harness<'static>, Rc<RefCell<Vec<&'static str>>>) {
        let done = Rc::new(RefCell::new(Vec::new()));
        let told = done.clone();
        let mut window = Harness::builder().with_size(egui::vec2(900.0, 600.0)).build_ui(move |ui| {
            if ui.button("Behind").clicked() {
                told.borrow_mut().push("behind");
            }
            if told.borrow().contains(&"closed") {
                return;
            }
            let frame = DialogFrame { title, closes: "dialog", width: DIALOG[1] };
            let shown = frame.show(ui.ctx(), &LIGHT, |ui| drop(ui.button("In it")));
            if shown.is_closed {
                told.borrow_mut().push("closed");
            }
        });
        window.run_steps(4);
        (window, done)
    }

    #[test]
    fn it_is_closed_by_the_cross_and_by_escape() {
        let (mut window, done) = dialog("About");
        window.get_by_label("Close dialog").click();
        window.run_steps(2);
        assert_eq!(*done.borrow(), ["closed"]);
        let (mut window, done) = dialog("About");
        window.key_press(Key::Escape);
        window.run_steps(2);
        assert_eq!(*done.borrow(), ["closed"]);
    }

    #[test]
    fn tab_stays_in_it() {
        let (mut window, done) = dialog("About");
        for _ in 0..6 {
            window.key_press(Key::Tab);
            window.run_steps(1);
            assert!(!window.get_by_label("Behind").is_focused());
        }
        assert!(done.borrow().is_empty());
    }

    #[test]
    fn a_long_title_ends_before_the_cross_and_leaves_the_width_as_it_is() {
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
