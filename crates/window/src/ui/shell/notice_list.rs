//! Everything that is wrong now and everything that was told lately, put aside or not, as a list.

use egui::{Align2, RichText, ScrollArea, Ui, Window};

use crate::base::Severity;
use crate::ui::shell::notice_card::place_button;
use crate::ui::state::Place;
use crate::ui::state::notice_board::{place_of, told_place};
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::words::{self, sentence};
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::theme::{SPACE, TYPE, Theme};

/// How high a line is; all are alike, so that of thousands only those in view are drawn.
const LINE_POINTS: f32 = 56.0;
const HEIGHT_POINTS: f32 = 420.0;

/// Draws the list, if it is shown.
pub fn notice_list_ui(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState) -> Vec<Command> {
    let mut commands = Vec::new();
    if !state.notices_open {
        return commands;
    }
    let mut closed = false;
    let board = std::mem::take(&mut state.board);
    Window::new("Notices")
        .title_bar(false)
        .resizable(false)
        .collapsible(false)
        .anchor(Align2::CENTER_CENTER, [0.0, 0.0])
        .frame(widgets::window(theme))
        .show(ui.ctx(), |ui| {
            widgets::dress(ui.style_mut(), theme);
            ui.set_width(620.0_f32.min(ui.ctx().content_rect().width() - 60.0));
            widgets::line(
                ui,
                |ui| {
                    ui.label(RichText::new("Notices").size(TYPE[3]));
                },
                |ui| closed = widgets::icon_button(ui, Icon::Cross, "Close notices", false, theme).clicked(),
            );
            ui.separator();
            widgets::section(ui, &format!("Wrong now: {}", board.all().len()), theme);
            if board.all().is_empty() {
                ui.label(widgets::soft(
                    "Nothing. Slips in files and settings would stand here until they are mended.",
                    theme,
                ));
            }
            let wrong = ScrollArea::vertical().id_salt("wrong now").max_height(HEIGHT_POINTS);
            wrong.auto_shrink([false, true]).show_rows(ui, LINE_POINTS, board.all().len(), |ui, range| {
                for problem in &board.all()[range] {
                    let colour = if problem.severity == Severity::Error { theme.bad } else { theme.warn };
                    let text = (told_place(problem), sentence(&problem.what), sentence(&problem.remedy));
                    line(ui, text, colour, place_of(problem).as_ref(), room, theme, state, &mut commands);
                }
            });
            lately(ui, room, theme, state, &mut commands);
        });
    state.board = board;
    if closed {
        state.notices_open = false;
    }
    commands
}

fn lately(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState, commands: &mut Vec<Command>) {
    widgets::section(ui, "Told lately", theme);
    if state.told.is_empty() {
        ui.label(widgets::soft("Nothing yet. How things went that you asked for is kept here.", theme));
        return;
    }
    let told = std::mem::take(&mut state.told);
    let area = ScrollArea::vertical().id_salt("told lately").max_height(HEIGHT_POINTS / 2.0).auto_shrink([false, true]);
    area.show_rows(ui, LINE_POINTS, told.len(), |ui, range| {
        for index in range {
            let outcome = &told[told.len() - 1 - index];
            let colour = if outcome.good { theme.good } else { theme.bad };
            let ago = words::duration(state.now_secs - outcome.born_secs);
            let title = format!("{}, {ago} ago", if outcome.good { "Done" } else { "Did not work" });
            let text = (title, outcome.text.clone(), String::new());
            line(ui, text, colour, outcome.place.as_ref(), room, theme, state, commands);
        }
    });
    state.told = told;
}

/// One notice: where, what, what to do, and the way there.
fn line(
    ui: &mut Ui,
    (place, what, remedy): (String, String, String),
    colour: egui::Color32,
    leads_to: Option<&Place>,
    room: &RoomModel,
    theme: &Theme,
    state: &mut UiState,
    commands: &mut Vec<Command>,
) {
    let size = egui::vec2(ui.available_width(), LINE_POINTS);
    ui.allocate_ui_with_layout(size, egui::Layout::left_to_right(egui::Align::Center), |ui| {
        ui.set_min_size(size);
        ui.vertical(|ui| {
            ui.set_width((ui.available_width() - 130.0).max(120.0));
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.add(egui::Label::new(RichText::new(place).size(TYPE[0]).color(colour)).truncate());
            let said = ui.add(egui::Label::new(what.as_str()).truncate());
            said.on_hover_text(format!("{what}\n{remedy}"));
            if !remedy.is_empty() {
                ui.add(egui::Label::new(widgets::small(remedy, theme)).truncate());
            }
        });
        ui.add_space(SPACE[0]);
        if let Some(place) = leads_to
            && place_button(ui, place, room, state, commands)
        {
            state.notices_open = false;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Problem;
    use crate::ui::shell::notices::notices_ui;
    use crate::ui::testing::{sample_room, stage_in};
    use egui_kittest::kittest::Queryable;

    #[test]
    fn what_was_put_aside_is_found_again_and_leads_to_its_place() {
        let problems = vec![Problem::error("agents/ada.md", "unknown key", "mend it").at_line(Some(4))];
        let room = RoomModel { problems: problems.into(), ..sample_room() };
        let state = UiState { notices_open: true, hint_closed: true, ..UiState::default() };
        let mut window = stage_in(room, state, |ui, room, _, theme, state| {
            let mut commands = notices_ui(ui, room, theme, state);
            commands.extend(notice_list_ui(ui, room, theme, state));
            commands
        });
        window.state_mut().state.tell("gemini answered", true);
        window.run_steps(3);
        window.state_mut().state.board.put_all_aside();
        window.state_mut().state.outcomes.clear();
        window.run_steps(3);
        for shown in ["Wrong now: 1", "agents/ada.md, line 4", "Unknown key.", "gemini answered"] {
            assert!(window.query_by_label(shown).is_some(), "{shown}");
        }
        window.get_by_label("Open file agents/ada.md").click();
        window.run_steps(3);
        assert_eq!(window.state().commands, [Command::OpenFile("agents/ada.md".into(), Some(4))]);
        assert!(!window.state().state.notices_open);
    }
}
