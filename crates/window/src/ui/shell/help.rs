//! The keys, for people: those of the [table of commands](crate::ui::commands::table), and what the mouse does.

use egui::{RichText, ScrollArea, Ui, Window};

use crate::ui::UiState;
use crate::ui::commands::keys;
use crate::ui::commands::table::CommandTable;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::theme::{SPACE, TYPE, Theme};

/// What the hands do that no key does.
const GESTURES: [(&str, &str); 13] = [
    ("Drag empty floor", "Move the view"),
    ("Wheel or pinch", "Zoom at the pointer"),
    ("Drag from the shelf", "Put something into the room"),
    ("Hold Alt while dropping", "It stands exactly there"),
    ("Drop a file or folder", "Agents come in, a scene is opened"),
    ("Drag an agent", "Carry it; where it lands is its home"),
    ("Drag an agent's handle", "To another: a relationship"),
    ("Hold space and drag", "Move the view"),
    ("Click, Shift and click", "Select one, select several"),
    ("Shift and drag", "Select what lies in a box"),
    ("Double-click an element", "Open what it holds"),
    ("Right-click", "What can be done here"),
    ("Drag a tab", "Put a pane elsewhere"),
];

/// Draws the keys, if they are shown.
pub fn help_ui(ui: &mut Ui, theme: &Theme, state: &mut UiState, table: &CommandTable) {
    if !state.help {
        return;
    }
    let mut closed = false;
    Window::new("Keys")
        .title_bar(false)
        .resizable(false)
        .collapsible(false)
        .anchor(egui::Align2::CENTER_CENTER, [0.0, 0.0])
        .frame(widgets::window(theme))
        .show(ui.ctx(), |ui| {
            widgets::dress(ui.style_mut(), theme);
            ui.set_width(640.0);
            widgets::line(
                ui,
                |ui| {
                    ui.label(RichText::new("Keys and hands").size(TYPE[3]));
                },
                |ui| closed = widgets::icon_button(ui, Icon::Cross, "Close keys", false, theme).clicked(),
            );
            ui.separator();
            let height = (ui.ctx().content_rect().height() - 160.0).max(160.0);
            let area = ScrollArea::vertical().max_height(height).min_scrolled_height(height);
            area.auto_shrink([false, true]).show(ui, |ui| {
                ui.columns(2, |columns| {
                    let [left, right] = columns else { return };
                    widgets::section(left, "Keys", theme);
                    for command in table.all().iter().filter(|command| !command.keys.is_empty()) {
                        let shown: Vec<String> =
                            command.keys.iter().take(2).map(|shortcut| keys::shortcut(left.ctx(), shortcut)).collect();
                        row(left, &shown.join(" or "), command.name, 132.0, theme);
                    }
                    widgets::section(right, "Hands", theme);
                    for (gesture, what) in GESTURES {
                        row(right, gesture, what, 150.0, theme);
                    }
                })
            });
            ui.add_space(SPACE[1]);
        });
    if closed {
        state.help = false;
    }
}

fn row(ui: &mut Ui, keys: &str, what: &str, width: f32, theme: &Theme) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().interact_size.y = 18.0;
        let (rect, _) = ui.allocate_exact_size(egui::vec2(width, 18.0), egui::Sense::hover());
        let mut cell = ui.new_child(egui::UiBuilder::new().max_rect(rect));
        cell.add(egui::Label::new(RichText::new(keys).size(TYPE[1] - 1.0).color(theme.accent)).extend());
        ui.add(egui::Label::new(widgets::soft(what, theme)).wrap());
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::stage;
    use egui_kittest::kittest::Queryable;

    #[test]
    fn every_key_of_the_table_is_shown() {
        let state = UiState { help: true, ..UiState::default() };
        let mut window = stage(state, |ui, _, _, theme, state| {
            help_ui(ui, theme, state, CommandTable::standard());
            Vec::new()
        });
        window.run_steps(4);
        for command in CommandTable::standard().all().iter().filter(|command| !command.keys.is_empty()) {
            assert!(window.query_by_label(command.name).is_some(), "{}", command.name);
        }
        window.get_by_label("Close keys").click();
        window.run_steps(2);
        assert!(!window.state().state.help);
    }
}
