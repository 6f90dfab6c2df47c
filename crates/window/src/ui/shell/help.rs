//! The list of keyboard shortcuts, from the [command table](crate::ui::commands::table), and of mouse gestures.

use egui::{RichText, Ui};

use crate::ui::commands::{WindowCommand, keys};
use crate::ui::shell::texts::help as texts;
use crate::ui::state::FrontPanel;
use crate::ui::widgets;
use crate::ui::widgets::dialog::{DialogFrame, scrolled};
use crate::ui::{Command, ViewerContext};
use crate::view::theme::{DIALOG, TYPE, Theme};

/// The width of the column of shortcuts, in points.
const KEYS_POINTS: f32 = 132.0;
/// The width of the column of gestures, in points.
const GESTURE_POINTS: f32 = 150.0;

/// Draws the list, if it is open.
pub fn help_ui(ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
    if !cx.ui.front.is_open(FrontPanel::Keys) {
        return Vec::new();
    }
    let theme = cx.theme;
    let frame = DialogFrame { title: texts::SHORTCUTS_AND_GESTURES, closes: texts::CLOSES_KEYS, width: DIALOG[2] };
    let shown = frame.show(ui.ctx(), theme, |ui| {
        scrolled(ui, |ui| {
            ui.columns(2, |columns| {
                let [left, right] = columns else { return };
                widgets::section(left, texts::SHORTCUTS, theme);
                for command in cx.table.all().iter().filter(|command| !command.keys.is_empty()) {
                    let shown: Vec<String> =
                        command.keys.iter().take(2).map(|shortcut| keys::shortcut(left.ctx(), shortcut)).collect();
                    row(left, &texts::alternatives(&shown), command.name, KEYS_POINTS, theme);
                }
                widgets::section(right, texts::GESTURES, theme);
                for (gesture, what) in texts::GESTURES_AND_MEANINGS {
                    row(right, gesture, what, GESTURE_POINTS, theme);
                }
            });
        });
    });
    if shown.is_closed { vec![WindowCommand::Close(FrontPanel::Keys).into()] } else { Vec::new() }
}

fn row(ui: &mut Ui, keys: &str, what: &str, width: f32, theme: &Theme) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().interact_size.y = 18.0;
        let (rect, _) = ui.allocate_exact_size(egui::vec2(width, 18.0), egui::Sense::hover());
        let mut cell = ui.new_child(egui::UiBuilder::new().max_rect(rect));
        cell.add(egui::Label::new(RichText::new(keys).size(TYPE[1] - 1.0).color(theme.accent)).extend());
        ui.add(egui::Label::new(widgets::secondary_text(what, theme)).wrap());
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::UiState;
    use crate::ui::commands::table::CommandTable;
    use crate::ui::testing::stage_pane;
    use egui_kittest::kittest::Queryable;

    #[test]
    fn every_command_with_a_shortcut_is_listed() {
        let mut state = UiState::default();
        state.front.open(FrontPanel::Keys);
        let mut window = stage_pane(state, |ui, cx, _| help_ui(ui, cx));
        window.run_steps(4);
        for command in CommandTable::standard().all().iter().filter(|command| !command.keys.is_empty()) {
            assert!(window.query_by_label(command.name).is_some(), "{}", command.name);
        }
        window.get_by_label("Close keys").click();
        window.run_steps(2);
        assert!(!window.state().state.front.is_open(FrontPanel::Keys));
    }
}
