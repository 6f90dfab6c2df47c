//! Menus and tooltips generated from the command table: a menu's entries, why one is disabled, and its shortcut.

use egui::{Context, Response, Ui};

use crate::ui::commands::table::{CommandContext, CommandTable, Menu};
use crate::ui::commands::{Command, keys};
use crate::ui::context::ViewerContext;
use crate::ui::widgets::menu::{choice, entry};
use crate::ui::widgets::name;

/// Draws the entries of a menu. Commands that do not apply are disabled and explain why in a tooltip.
pub fn entries(ui: &mut Ui, cx: &ViewerContext<'_>, menu: Menu, commands: &mut Vec<Command>) {
    entries_for(ui, cx.table, &cx.commands(), menu, commands);
}

/// Draws the entries of a menu for an explicit context, such as the thing that a context menu was opened on.
pub fn entries_for(
    ui: &mut Ui,
    table: &CommandTable,
    context: &CommandContext<'_>,
    menu: Menu,
    commands: &mut Vec<Command>,
) {
    for (command, label) in table.in_menu(menu) {
        let keys = keys::first_shown(ui.ctx(), command);
        let applies = (command.applies)(context);
        let checked = (command.checked)(context);
        let row = ui.add_enabled_ui(applies.is_ok(), |ui| match checked {
            Some(checked) => choice(ui, checked, label),
            None => entry(ui, label, &keys),
        });
        let row = row.inner;
        name(&row, label);
        let row = if command.about.is_empty() { row } else { row.on_hover_text(command.about) };
        if row.on_disabled_hover_text(applies.err().unwrap_or_default()).clicked() {
            commands.extend(command.run(context));
        }
    }
}

/// Runs a command by id and returns the resulting commands.
pub fn run(cx: &ViewerContext<'_>, id: &str) -> Vec<Command> {
    cx.table.find(id).map(|command| command.run(&cx.commands())).unwrap_or_default()
}

/// Returns the tooltip for a button that runs a command: its description and its shortcut.
pub fn tip(context: &Context, table: &CommandTable, id: &str) -> String {
    let Some(command) = table.find(id) else { return String::new() };
    let keys = keys::first_shown(context, command);
    let lines = [command.about, &keys];
    lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Adds a tooltip with the shortcut of this command.
pub fn keys_tip(button: Response, id: &str) -> Response {
    let keys = keys::shown(&button.ctx, id);
    if keys.is_empty() { button } else { button.on_hover_text(keys) }
}

/// Adds a tooltip with the description and the shortcut of this command.
pub fn command_tip(button: Response, cx: &ViewerContext<'_>, id: &str) -> Response {
    let tip = tip(&button.ctx, cx.table, id);
    if tip.is_empty() { button } else { button.on_hover_text(tip) }
}
