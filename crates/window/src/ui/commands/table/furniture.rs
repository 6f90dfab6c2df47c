//! Commands about the furniture of the room.

use egui::Key;

use super::info::{CommandContext, CommandInfo, KeyContext, Menu, UndoKind, of, plain, window};
use crate::ui::commands::create::furnish;
use crate::ui::commands::{CanvasCommand, Command};
use crate::view::furniture;
use crate::view::model::DecorView;
use crate::workspace::DecorChange;

/// Whether a piece of furniture is selected while arranging.
pub(super) fn furniture_chosen(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    chosen(cx).map(|_| ()).ok_or("Arrange the furniture and select a piece first")
}

/// Removes the selected piece from the room.
pub(super) fn remove(cx: &CommandContext<'_>) -> Vec<Command> {
    let change = chosen(cx).map(|decor| DecorChange::Remove { decor: decor.clone() });
    change.map(furnish).into_iter().collect()
}

fn chosen<'a>(cx: &CommandContext<'a>) -> Option<&'a DecorView> {
    cx.ui.view.arranging.as_ref()?.chosen_in(cx.room)
}

fn turn(cx: &CommandContext<'_>) -> Vec<Command> {
    let Some(old) = chosen(cx).cloned() else { return Vec::new() };
    let now = furniture::rotated(&old);
    vec![furnish(DecorChange::Change { was: old, now: now.clone() }), CanvasCommand::ChooseFurniture(now).into()]
}

/// The furniture commands, in the order of menus.
pub(super) const COMMANDS: &[CommandInfo] = &[
    of("furniture.arrange", "Arrange the furniture", |_| window(CanvasCommand::ToggleArranging))
        .description("Add, move, resize, mirror and remove furniture")
        .keys(KeyContext::Room, &[plain(Key::L)])
        .menus(&[(Menu::Floor, "Arrange the furniture")])
        .undone(UndoKind::ByItsOpposite),
    of("furniture.turn", "Mirror selected furniture", turn)
        .keys(KeyContext::Room, &[plain(Key::M)])
        .only(furniture_chosen)
        .undone(UndoKind::ByUndo),
];
