//! Links in texts of panes: a clicked link opens only after a confirmation.

use egui::Ui;

use super::{Command, WindowCommand};
use crate::ui::state::Dialog;
use crate::ui::widgets;
use crate::view::theme::Theme;

/// Draws a text as Markdown; a clicked link opens a confirmation dialog.
pub fn markdown(ui: &mut Ui, text: &str, theme: &Theme, commands: &mut Vec<Command>) {
    let address = widgets::markdown::markdown(ui, text, theme);
    commands.extend(address.map(|address| WindowCommand::Ask(Dialog::OpenLink(address)).into()));
}
