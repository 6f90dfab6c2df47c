//! Draws Markdown in bubbles and previews: headings are scaled to the text, and links open only after a confirmation.

use std::sync::{Arc, Mutex, PoisonError};

use egui::{FontFamily, FontId, Id, OutputCommand, ScrollArea, TextStyle, Ui};
use egui_commonmark::{CommonMarkCache, CommonMarkViewer};

use crate::view::theme::{TYPE, Theme};

/// The viewer's cache, which is kept between frames because it takes some time to create.
#[derive(Clone)]
struct Cache(Arc<Mutex<CommonMarkCache>>);

/// Draws a text as Markdown in the body size. Returns the address of a clicked link, to be confirmed before it opens.
#[must_use]
pub fn markdown(ui: &mut Ui, text: &str, theme: &Theme) -> Option<String> {
    ui.scope(|ui| {
        ui.style_mut().visuals.override_text_color = None;
        ui.style_mut().visuals.widgets.noninteractive.fg_stroke.color = theme.bubble_text;
        ui.style_mut().visuals.widgets.active.fg_stroke.color = theme.text;
        ui.style_mut().visuals.hyperlink_color = theme.accent;
        ui.style_mut().visuals.code_bg_color = crate::ui::widgets::mix(theme.card, theme.line, 0.6);
        ui.style_mut().visuals.extreme_bg_color = crate::ui::widgets::mix(theme.card, theme.line, 0.4);
        let heading = crate::view::text::fonts::semibold(ui.ctx(), TYPE[1] * 1.35);
        let styles = &mut ui.style_mut().text_styles;
        styles.insert(TextStyle::Heading, heading);
        styles.insert(TextStyle::Body, FontId::new(TYPE[1], FontFamily::Proportional));
        styles.insert(TextStyle::Monospace, FontId::new(TYPE[1] - 1.0, FontFamily::Monospace));
        ui.style_mut().url_in_tooltip = true;
        let is_wide = text.lines().any(|line| line.trim_start().starts_with('|')) || text.contains("```");
        if is_wide {
            let salt = Id::new(text.len()).with("wide");
            ScrollArea::horizontal().id_salt(salt).show(ui, |ui| show(ui, text));
        } else {
            show(ui, text);
        }
    });
    clicked_link(ui)
}

fn show(ui: &mut Ui, text: &str) {
    let id = Id::new("markdown cache");
    let shared = ui.data_mut(|data| {
        data.get_temp_mut_or_insert_with(id, || Cache(Arc::new(Mutex::new(CommonMarkCache::default())))).clone()
    });
    // A panic while drawing leaves a usable cache.
    let mut cache = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
    CommonMarkViewer::new()
        .explicit_image_uri_scheme(true)
        .syntax_theme_light("InspiredGitHub")
        .syntax_theme_dark("base16-eighties.dark")
        .show(ui, &mut cache, text);
}

/// Removes the requests to open a link from egui's output, so that nothing opens unasked, and returns the clicked one.
fn clicked_link(ui: &Ui) -> Option<String> {
    let mut clicked = None;
    ui.output_mut(|output| {
        output.commands.retain(|command| {
            let OutputCommand::OpenUrl(open) = command else { return true };
            if open.url.starts_with("https://") || open.url.starts_with("http://") {
                clicked = Some(open.url.clone());
            }
            false
        });
    });
    clicked
}

#[cfg(test)]
mod tests {
    use crate::ui::UiState;
    use crate::ui::commands;
    use crate::ui::state::Dialog;
    use crate::ui::testing::stage_pane;
    use egui_kittest::kittest::Queryable;

    #[test]
    fn a_link_opens_only_after_a_confirmation() {
        let mut window = stage_pane(UiState::default(), |ui, cx, _| {
            let mut commands = Vec::new();
            commands::markdown(
                ui,
                "# Title\nSee [the page](https://example.org/a).\n\n| a | b |\n|---|---|\n| 1 | 2 |",
                cx.theme,
                &mut commands,
            );
            commands
        });
        window.run_steps(2);
        window.get_by_label("the page").click();
        window.run_steps(2);
        let dialog = window.state().state.front.dialog();
        assert_eq!(dialog, Some(&Dialog::OpenLink("https://example.org/a".into())));
        assert!(window.output().platform_output.commands.is_empty());
    }

    #[test]
    fn an_address_that_is_not_http_is_ignored() {
        let mut window = stage_pane(UiState::default(), |ui, cx, _| {
            let mut commands = Vec::new();
            commands::markdown(ui, "[run](file:///etc/passwd)", cx.theme, &mut commands);
            commands
        });
        window.run_steps(2);
        window.get_by_label("run").click();
        window.run_steps(2);
        assert_eq!(window.state().state.front.dialog(), None);
        assert!(window.output().platform_output.commands.is_empty());
    }
}
