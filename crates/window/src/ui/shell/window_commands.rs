//! Runs the commands that concern only the window; nothing else changes its state.

use crate::ui::commands::{Command, NoticeCommand, WindowCommand};
use crate::ui::shell::pane_states::PaneStates;
use crate::ui::shell::provider_notices;
use crate::ui::state::dock::Tab;
use crate::ui::state::furniture_editing::FurnitureEditing;
use crate::ui::state::{Dialog, FrontPanel, UiState};
use crate::view::model::RoomModel;
use crate::view::pick::RoomObject;

/// Runs a command. Returns the resulting commands that concern more than the window.
pub fn apply(command: WindowCommand, room: &RoomModel, ui: &mut UiState, panes: &mut PaneStates) -> Vec<Command> {
    match command {
        WindowCommand::Select(things) => ui.selection.select(things),
        WindowCommand::SelectAll => ui.selection.select_all(room),
        WindowCommand::SelectNext { forward } => {
            if !ui.select_next(room, forward) {
                panes.canvas.leave(forward);
            }
        }
        WindowCommand::SelectRope(rope) => ui.selection.select_rope(rope),
        WindowCommand::ChooseFile(path) => ui.selection.choose_file(path),
        WindowCommand::Frame => ui.frame(room),
        WindowCommand::ShowActive => ui.view.frame_active(room),
        WindowCommand::NextInNeed => ui.select_next_in_need(room),
        WindowCommand::Zoom(factor) => ui.view.camera.zoom_at(ui.view.camera.viewport.center(), factor),
        WindowCommand::OpenSelected => open_selected(room, ui, panes),
        WindowCommand::OpenThing(thing) => ui.open_thing(&thing, room),
        WindowCommand::OpenElement(element) => ui.front.open_element(element),
        WindowCommand::CloseElement => drop(ui.front.close_element()),
        WindowCommand::GoTo(thing) => {
            ui.view.move_camera_to(room, &thing, ui.move_start());
            ui.dock.show(&Tab::Room, |_| true);
            ui.selection.select([thing]);
        }
        WindowCommand::OpenMenu => panes.canvas.open_menu(),
        WindowCommand::StepQuestion { forward } => {
            ui.questions.step(room, forward);
            ui.show_question(room);
        }
        WindowCommand::TakeQuestion => {
            ui.questions.take(room);
            ui.show_question(room);
        }
        WindowCommand::FocusRoom => panes.canvas.take_keys(),
        WindowCommand::ChooseQuestion(question) => {
            if ui.questions.choose(room, &question).is_some() {
                ui.show_question(room);
            }
        }
        WindowCommand::ShowQuestion => {
            if let Some((piece, ..)) = ui.questions.front(room) {
                ui.selection.select([RoomObject::Agent(piece.agent.clone())]);
            }
            ui.show_question(room);
        }
        WindowCommand::LightUp(known) => ui.who_knows = known,
        WindowCommand::ShowConversation(session) => panes.conversations.open = Some(session),
        WindowCommand::Name(naming) => panes.canvas.name(naming),
        WindowCommand::Drag(item) => ui.transfer.dragging = item,
        WindowCommand::ToggleTab(tab) => ui.dock.toggle(&tab),
        WindowCommand::CloseTab(tab) => ui.dock.close(&tab),
        WindowCommand::ResetPanes => ui.dock.reset(),
        WindowCommand::CloseFile(path) => close_file(path, ui, panes),
        WindowCommand::SaveAll => return panes.editors.save_all(ui),
        WindowCommand::DiscardFile(path) => {
            panes.editors.discard(&path);
            ui.dock.close(&Tab::File(path));
        }
        WindowCommand::TogglePalette => {
            ui.front.toggle(FrontPanel::Palette);
            panes.palette.clear();
        }
        WindowCommand::ToggleKeys => ui.front.toggle(FrontPanel::Keys),
        WindowCommand::ToggleSettings => ui.front.toggle(FrontPanel::Settings),
        WindowCommand::ShowSettings(setting) => {
            ui.front.open(FrontPanel::Settings);
            panes.settings.scroll_to(setting);
        }
        WindowCommand::ToggleNotices => ui.front.toggle(FrontPanel::Notices),
        WindowCommand::ShowNotices => ui.front.open(FrontPanel::Notices),
        WindowCommand::Notice(notice) => dismiss(notice, room, ui),
        WindowCommand::Close(panel) => drop(ui.front.close(panel)),
        WindowCommand::CloseDialog => drop(ui.front.close_dialog()),
        WindowCommand::ToggleDebugOverlay => ui.view.debug_overlay ^= true,
        WindowCommand::ToggleStory => ui.view.is_story_folded ^= true,
        WindowCommand::ToggleArranging => {
            ui.view.arranging = if ui.view.arranging.is_some() { None } else { Some(FurnitureEditing::default()) };
            ui.selection.select([]);
        }
        WindowCommand::ChooseFurniture(piece) => ui.view.arranging = Some(FurnitureEditing { chosen: Some(piece) }),
        WindowCommand::ToggleTheme => ui.appearance.toggle_light(),
        WindowCommand::SetLight(light) => ui.appearance.set_light(light),
        WindowCommand::SetDates(language) => ui.appearance.look.dates = language,
        WindowCommand::SetCalm(is_calm) => ui.appearance.look.calm = is_calm,
        WindowCommand::StepTextSize(steps) => ui.appearance.look.step_text_size(steps),
        WindowCommand::ResetTextSize => ui.appearance.look.set_text_size(1.0),
        WindowCommand::Ask(dialog) => {
            panes.dialogs.clear();
            ui.front.ask(dialog);
        }
        WindowCommand::RememberTask(task) => ui.recents.remember_task(&task),
        WindowCommand::BeginTask { agent, text } => panes.run_bar.begin(agent, text),
        WindowCommand::Hint(text) => ui.hint(text),
        WindowCommand::Tell(text, is_good) => ui.notify(text, is_good),
        WindowCommand::Escape => return escape(ui, panes),
        WindowCommand::ShowWorkflow { path, runs } => {
            panes.graph.show_workflow(path, runs);
            ui.dock.show(&Tab::Graph, |_| true);
        }
        WindowCommand::AnswerStep { path } => {
            panes.graph.answer_step(path);
            ui.dock.show(&Tab::Graph, |_| true);
        }
        WindowCommand::Files(command) => panes.explorer.ask(command),
        WindowCommand::Pane(pane, command) => {
            return panes.added.find(pane).map(|pane| pane.apply(command)).unwrap_or_default();
        }
        WindowCommand::Browse(_) => return vec![command.into()],
    }
    Vec::new()
}

/// Opens the selected thing, if it is only one; for a relationship, starts editing its label.
fn open_selected(room: &RoomModel, ui: &mut UiState, panes: &mut PaneStates) {
    if let Some(rope) = ui.selection.rope() {
        panes.canvas.rename_rope(rope.clone());
    } else if ui.selection.things().len() == 1
        && let Some(thing) = ui.selection.things().first().cloned()
    {
        ui.open_thing(&thing, room);
    }
}

fn dismiss(notice: NoticeCommand, room: &RoomModel, ui: &mut UiState) {
    let notices = &mut ui.notices;
    match notice {
        NoticeCommand::PutAside(problems) => notices.dismiss(&problems),
        NoticeCommand::PutAllAside => notices.dismiss_all(),
        NoticeCommand::PutOutcomeAside(outcome) => notices.dismiss_outcome(&outcome),
        NoticeCommand::PutCapAside(cap) => drop(notices.dismiss_cap(cap)),
        NoticeCommand::PutFaultAside(fault) => notices.dismiss_fault(&fault, provider_notices::fault_keys(room)),
        NoticeCommand::CloseHint => notices.is_hint_closed = true,
    }
}

/// Closes a file, or the one in front; asks first if it has unsaved changes.
fn close_file(path: Option<String>, ui: &mut UiState, panes: &mut PaneStates) {
    let Some(path) = path.or_else(|| ui.dock.front_file()) else { return };
    if panes.editors.is_unsaved(&path) {
        ui.front.ask(Dialog::CloseFile(path));
    } else {
        panes.editors.close(&path);
        ui.dock.close(&Tab::File(path));
    }
}

/// Cancels a drag; otherwise closes the topmost open panel; otherwise deselects.
fn escape(ui: &mut UiState, panes: &mut PaneStates) -> Vec<Command> {
    if panes.canvas.is_holding() {
        panes.canvas.give_up();
        return Vec::new();
    }
    if ui.transfer.dragging.take().is_some() || panes.canvas.stop_naming() || ui.front.close_topmost() {
        return Vec::new();
    }
    match &mut ui.view.arranging {
        Some(arranging) if arranging.chosen.is_none() => ui.view.arranging = None,
        Some(arranging) => arranging.chosen = None,
        None => {
            // Deselecting in the room first, so that the inspector shows the selected file again.
            if ui.selection.things().is_empty() && ui.selection.rope().is_none() {
                ui.selection.choose_file(None);
            }
            ui.selection.select([]);
        }
    }
    Vec::new()
}

/// Follows the renaming of a file: its tab, its unsaved changes and the selection.
pub fn follow_rename(from: &str, to: &str, ui: &mut UiState, panes: &mut PaneStates) {
    panes.editors.rename(from, to);
    panes.explorer.follow_rename(from, to);
    ui.dock.rename(from, to);
    ui.selection.rename_file(from, to);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::sample_room;

    #[test]
    fn escape_closes_one_thing_at_a_time() {
        let room = sample_room();
        let mut panes = PaneStates::default();
        let mut ui = UiState::default();
        ui.front.open(FrontPanel::Keys);
        ui.front.open_element("rules".into());
        let mut run = |ui: &mut UiState, command| apply(command, &room, ui, &mut panes);
        run(&mut ui, WindowCommand::SelectAll);
        assert_eq!(ui.selection.things().len(), 6);
        run(&mut ui, WindowCommand::Escape);
        assert!(!ui.front.is_open(FrontPanel::Keys) && ui.front.element().is_some());
        run(&mut ui, WindowCommand::Escape);
        assert!(ui.front.element().is_none() && !ui.selection.things().is_empty());
        run(&mut ui, WindowCommand::Escape);
        assert!(ui.selection.things().is_empty());
        run(&mut ui, WindowCommand::ChooseFile(Some("old.md".into())));
        run(&mut ui, WindowCommand::Escape);
        assert_eq!(ui.selection.file(), None, "a deleted file does not stay selected");
    }
}
