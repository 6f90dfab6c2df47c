//! Runs the commands that concern only the window; nothing else changes its state.

use crate::ui::commands::{Command, NoticeCommand, WindowCommand};
use crate::ui::shell::parts::WindowParts;
use crate::ui::shell::provider_notices;
use crate::ui::state::dock::Tab;
use crate::ui::state::{FrontPanel, UiState};
use crate::view::model::RoomModel;
use crate::view::pick::RoomObject;

/// Runs a command. Returns the resulting commands that concern more than the window.
pub fn apply(command: WindowCommand, room: &RoomModel, ui: &mut UiState, parts: &mut WindowParts) -> Vec<Command> {
    match command {
        WindowCommand::Select(things) => ui.selection.select(things),
        WindowCommand::SelectAll => ui.selection.select_all(room),
        WindowCommand::SelectRope(rope) => ui.selection.select_rope(rope),
        WindowCommand::ChooseFile(path) => ui.selection.choose_file(path),
        WindowCommand::OpenThing(thing) => ui.open_thing(&thing, room),
        WindowCommand::OpenElement(element) => ui.front.open_element(element),
        WindowCommand::CloseElement => drop(ui.front.close_element()),
        WindowCommand::GoTo(thing) => {
            ui.view.move_camera_to(room, &thing, ui.move_start());
            ui.dock.show(&Tab::ROOM, |_| true);
            ui.selection.select([thing]);
        }
        WindowCommand::StepQuestion { forward } => {
            ui.questions.step(room, forward);
            ui.show_question(room);
        }
        WindowCommand::TakeQuestion => {
            ui.questions.take(room);
            ui.show_question(room);
        }
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
        WindowCommand::Drag(item) => ui.transfer.dragging = item,
        WindowCommand::ToggleTab(tab) => ui.dock.toggle(&tab),
        WindowCommand::CloseTab(tab) => ui.dock.close(&tab),
        WindowCommand::ResetPanes => ui.dock.reset(),
        WindowCommand::TogglePalette => {
            ui.front.toggle(FrontPanel::Palette);
            parts.palette.clear();
        }
        WindowCommand::ToggleKeys => ui.front.toggle(FrontPanel::Keys),
        WindowCommand::ToggleSettings => ui.front.toggle(FrontPanel::Settings),
        WindowCommand::ShowSettings(setting) => {
            ui.front.open(FrontPanel::Settings);
            parts.settings.scroll_to(setting);
        }
        WindowCommand::ToggleNotices => ui.front.toggle(FrontPanel::Notices),
        WindowCommand::ShowNotices => ui.front.open(FrontPanel::Notices),
        WindowCommand::Notice(notice) => dismiss(notice, room, ui),
        WindowCommand::Close(panel) => drop(ui.front.close(panel)),
        WindowCommand::CloseDialog => drop(ui.front.close_dialog()),
        WindowCommand::ToggleTheme => ui.appearance.toggle_light(),
        WindowCommand::SetLight(light) => ui.appearance.set_light(light),
        WindowCommand::SetDates(language) => ui.appearance.look.dates = language,
        WindowCommand::SetCalm(is_calm) => ui.appearance.look.calm = is_calm,
        WindowCommand::StepTextSize(steps) => ui.appearance.look.step_text_size(steps),
        WindowCommand::ResetTextSize => ui.appearance.look.set_text_size(1.0),
        WindowCommand::Ask(dialog) => {
            parts.dialogs.clear();
            ui.front.ask(dialog);
        }
        WindowCommand::RememberTask(task) => ui.recents.remember_task(&task),
        WindowCommand::BeginTask { agent, text } => parts.run_bar.begin(agent, text),
        WindowCommand::Hint(text) => ui.hint(text),
        WindowCommand::Tell(text, is_good) => ui.notify(text, is_good),
        WindowCommand::Escape => return escape(ui, parts),
        WindowCommand::Pane(command) => return parts.apply(&command, room, ui),
        WindowCommand::Browse(_) => return vec![command.into()],
    }
    Vec::new()
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

/// Cancels a drag; otherwise closes the topmost open panel; otherwise deselects.
fn escape(ui: &mut UiState, parts: &mut WindowParts) -> Vec<Command> {
    if parts.panes.iter_mut().any(|pane| pane.cancel_drag()) || ui.transfer.dragging.take().is_some() {
        return Vec::new();
    }
    if parts.panes.iter_mut().any(|pane| pane.cancel_editing()) || ui.front.close_topmost() {
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

/// Follows the renaming of a file: the panes, its tab and the selection.
pub fn follow_rename(from: &str, to: &str, ui: &mut UiState, parts: &mut WindowParts) {
    parts.panes.iter_mut().for_each(|pane| pane.rename_file(from, to));
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
        let mut parts = WindowParts::default();
        let mut ui = UiState::default();
        ui.front.open(FrontPanel::Keys);
        ui.front.open_element("rules".into());
        let mut run = |ui: &mut UiState, command| apply(command, &room, ui, &mut parts);
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
