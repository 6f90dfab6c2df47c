//! Does what a person asked of the window alone: the one place where its state changes by command.

use crate::ui::commands::{Command, WindowCommand};
use crate::ui::shell::pane_states::PaneStates;
use crate::ui::state::dock::Tab;
use crate::ui::state::{Dialog, UiState};
use crate::view::model::RoomModel;

/// Does one command. What is beyond the window's state comes back.
pub fn apply(command: WindowCommand, room: &RoomModel, ui: &mut UiState, panes: &mut PaneStates) -> Vec<Command> {
    match command {
        WindowCommand::Select(things) => ui.select(things),
        WindowCommand::SelectAll => ui.select_all(room),
        WindowCommand::SelectNext { forward } => {
            if !ui.select_next(room, forward) {
                panes.canvas.leave(forward);
            }
        }
        WindowCommand::SelectRope(rope) => ui.select_rope(rope),
        WindowCommand::ChooseFile(path) => ui.choose_file(path),
        WindowCommand::Frame => ui.frame(room),
        WindowCommand::Zoom(factor) => ui.camera.zoom_at(ui.camera.viewport.center(), factor),
        WindowCommand::OpenSelected => ui.open_selected(room),
        WindowCommand::OpenElement(element) => ui.open_element = Some(element),
        WindowCommand::CloseElement => ui.open_element = None,
        WindowCommand::OpenMenu => panes.canvas.open_menu(),
        WindowCommand::ShowConversation(session) => panes.conversations.open = Some(session),
        WindowCommand::Name(naming) => ui.naming = Some(naming),
        WindowCommand::Drag(item) => ui.dragging = item,
        WindowCommand::ToggleTab(tab) => ui.dock.toggle(&tab),
        WindowCommand::CloseTab(tab) => ui.dock.close(&tab),
        WindowCommand::ResetPanes => ui.dock.reset(),
        WindowCommand::CloseFile(path) => close_file(path, ui, panes),
        WindowCommand::DiscardFile(path) => {
            panes.editors.discard(&path);
            ui.dock.close(&Tab::File(path));
        }
        WindowCommand::TogglePalette => {
            ui.palette = if ui.palette.is_some() { None } else { Some(String::new()) };
            ui.palette_line = 0;
        }
        WindowCommand::ToggleKeys => ui.help = !ui.help,
        WindowCommand::ToggleSettings => {
            if ui.settings.take().is_none() {
                ui.show_settings(None);
            }
        }
        WindowCommand::ShowSettings(lead_to) => ui.show_settings(lead_to.as_deref()),
        WindowCommand::ToggleNotices => ui.notices_open = !ui.notices_open,
        WindowCommand::ShowNotices => ui.notices_open = true,
        WindowCommand::ToggleDebugOverlay => ui.overlay = !ui.overlay,
        WindowCommand::ToggleTheme => ui.set_dark(!ui.dark),
        WindowCommand::StepTextSize(steps) => ui.look.step_text_size(steps),
        WindowCommand::ResetTextSize => ui.look.set_text_size(1.0),
        WindowCommand::Ask(dialog) => ui.dialog = Some(dialog),
        WindowCommand::Tell(text, is_good) => ui.tell(text, is_good),
        WindowCommand::Escape => return escape(ui, panes),
        WindowCommand::Files(command) => panes.explorer.ask(command),
        WindowCommand::Pane(pane, command) => {
            return panes.added.find(pane).map(|pane| pane.apply(command)).unwrap_or_default();
        }
        WindowCommand::Browse(_) => return vec![command.into()],
    }
    Vec::new()
}

/// Closes a file, or the one in front; asks first where something in it is not saved.
fn close_file(path: Option<String>, ui: &mut UiState, panes: &mut PaneStates) {
    let Some(path) = path.or_else(|| ui.dock.front_file()) else { return };
    if panes.editors.is_unsaved(&path) {
        ui.dialog = Some(Dialog::CloseFile(path));
    } else {
        panes.editors.close(&path);
        ui.dock.close(&Tab::File(path));
    }
}

/// Gives up what is in the hand; closes the topmost thing that is open; deselects where nothing is.
fn escape(ui: &mut UiState, panes: &mut PaneStates) -> Vec<Command> {
    if panes.canvas.is_holding() {
        return panes.canvas.give_up();
    }
    let closed = ui.dragging.take().is_some()
        || ui.naming.take().is_some()
        || ui.dialog.take().is_some()
        || ui.palette.take().is_some()
        || (!ui.help && ui.settings.take().is_some());
    if closed {
        return Vec::new();
    }
    if ui.help {
        ui.help = false;
    } else if ui.notices_open {
        ui.notices_open = false;
    } else if ui.open_element.take().is_none() {
        ui.select([]);
    }
    Vec::new()
}

/// A file has another path now: its tab, what was written into it, and what was chosen go along.
pub fn follow_rename(from: &str, to: &str, ui: &mut UiState, panes: &mut PaneStates) {
    panes.editors.rename(from, to);
    panes.explorer.follow_rename(from, to);
    ui.dock.rename(from, to);
    if ui.chosen_file.as_deref() == Some(from) {
        ui.chosen_file = Some(to.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::sample_room;

    #[test]
    fn escape_closes_one_thing_at_a_time() {
        let room = sample_room();
        let mut panes = PaneStates::default();
        let mut ui = UiState { help: true, open_element: Some("rules".into()), ..UiState::default() };
        let mut give = |ui: &mut UiState, command| apply(command, &room, ui, &mut panes);
        give(&mut ui, WindowCommand::SelectAll);
        assert_eq!(ui.selected.len(), 6);
        give(&mut ui, WindowCommand::Escape);
        assert!(!ui.help && ui.open_element.is_some());
        give(&mut ui, WindowCommand::Escape);
        assert!(ui.open_element.is_none() && !ui.selected.is_empty());
        give(&mut ui, WindowCommand::Escape);
        assert!(ui.selected.is_empty());
    }
}
