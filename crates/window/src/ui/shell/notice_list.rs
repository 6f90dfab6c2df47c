//! The list of all current problems and recent results, including dismissed ones.

use egui::{RichText, ScrollArea, Ui};

use crate::base::Severity;
use crate::ui::commands::WindowCommand;
use crate::ui::shell::notice_card::{place_button, trust_button};
use crate::ui::shell::texts::notices as texts;
use crate::ui::state::notice_board::{place_of, place_text};
use crate::ui::state::{FrontPanel, NoticeTarget};
use crate::ui::widgets;
use crate::ui::widgets::dialog::DialogFrame;
use crate::ui::widgets::text_format::{self, sentence};
use crate::ui::{Command, ViewerContext};
use crate::view::theme::{DIALOG, SPACE, TYPE};
use crate::workspace::trust::TRUST_REMEDY;

/// The height of a line, in points; the same for all, so that only the visible ones of thousands are drawn.
const LINE_POINTS: f32 = 56.0;
/// The default height of the list, in points.
const HEIGHT_POINTS: f32 = 420.0;
/// The height of the window that title and margins need, in points.
const AROUND_POINTS: f32 = 220.0;
/// The width of a line that its button needs, in points.
const BUTTON_POINTS: f32 = 130.0;

/// Draws the list, if it is open.
pub fn notice_list_ui(ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
    let mut commands = Vec::new();
    if !cx.ui.front.is_open(FrontPanel::Notices) {
        return commands;
    }
    let frame = DialogFrame { title: texts::NOTICES, closes: texts::CLOSES_NOTICES, width: DIALOG[2] };
    let shown = frame.show(ui.ctx(), cx.theme, |ui| {
        let height = (ui.ctx().content_rect().height() - AROUND_POINTS).clamp(2.0 * LINE_POINTS, 1.5 * HEIGHT_POINTS);
        problems(ui, cx, height * 2.0 / 3.0, &mut commands);
        recent(ui, cx, height / 3.0, &mut commands);
    });
    if shown.is_closed {
        commands.push(WindowCommand::Close(FrontPanel::Notices).into());
    }
    commands
}

fn problems(ui: &mut Ui, cx: &ViewerContext<'_>, height: f32, commands: &mut Vec<Command>) {
    let (theme, all) = (cx.theme, cx.ui.notices.board().all());
    widgets::section(ui, &texts::problems(all.len()), theme);
    if all.is_empty() {
        ui.label(widgets::secondary_text(texts::NO_PROBLEMS, theme));
    }
    let area = ScrollArea::vertical().id_salt("problems").max_height(height).auto_shrink([false, true]);
    area.show_rows(ui, LINE_POINTS, all.len(), |ui, range| {
        for problem in &all[range] {
            let colour = if problem.severity == Severity::Error { theme.bad } else { theme.warn };
            let text = (place_text(problem), sentence(&problem.what), sentence(&problem.remedy));
            let target = if problem.remedy == TRUST_REMEDY { Target::Trust } else { Target::of(place_of(problem)) };
            line(ui, text, colour, &target, cx, commands);
        }
    });
}

fn recent(ui: &mut Ui, cx: &ViewerContext<'_>, height: f32, commands: &mut Vec<Command>) {
    let (theme, outcomes) = (cx.theme, cx.ui.notices.recent());
    widgets::section(ui, texts::RECENT, theme);
    if outcomes.is_empty() {
        ui.label(widgets::secondary_text(texts::NO_NOTICES_YET, theme));
        return;
    }
    let area = ScrollArea::vertical().id_salt("recent").max_height(height).auto_shrink([false, true]);
    area.show_rows(ui, LINE_POINTS, outcomes.len(), |ui, range| {
        for index in range {
            let outcome = &outcomes[outcomes.len() - 1 - index];
            let colour = if outcome.good { theme.good } else { theme.bad };
            let ago = text_format::duration(cx.ui.time.now_secs - outcome.born_secs);
            let title = if outcome.good { texts::done_ago(&ago) } else { texts::failed_ago(&ago) };
            let text = (title, outcome.text.clone(), String::new());
            line(ui, text, colour, &Target::of(outcome.place.clone()), cx, commands);
        }
    });
}

/// What the button of a notice leads to.
enum Target {
    None,
    Place(NoticeTarget),
    /// What the workspace wants.
    Trust,
}

impl Target {
    fn of(place: Option<NoticeTarget>) -> Self {
        place.map_or(Self::None, Self::Place)
    }
}

/// Draws one notice: where, what, what to do, and the button that opens the place.
fn line(
    ui: &mut Ui,
    (place, what, remedy): (String, String, String),
    colour: egui::Color32,
    target: &Target,
    cx: &ViewerContext<'_>,
    commands: &mut Vec<Command>,
) {
    let size = egui::vec2(ui.available_width() - SPACE[2], LINE_POINTS);
    ui.allocate_ui_with_layout(size, egui::Layout::left_to_right(egui::Align::Center), |ui| {
        ui.set_min_size(size);
        ui.vertical(|ui| {
            ui.set_width((ui.available_width() - BUTTON_POINTS).max(BUTTON_POINTS));
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.add(egui::Label::new(RichText::new(&place).size(TYPE[0]).color(colour)).truncate());
            let label = ui.add(egui::Label::new(what.as_str()).truncate());
            label.on_hover_text(format!("{what}\n{remedy}"));
            if !remedy.is_empty() {
                ui.add(egui::Label::new(widgets::small(remedy, cx.theme)).truncate());
            }
        });
        ui.add_space(SPACE[0]);
        let is_followed = match target {
            Target::None => false,
            Target::Place(place) => place_button(ui, place, cx.room, commands),
            Target::Trust => trust_button(ui, &place, commands),
        };
        if is_followed {
            commands.push(WindowCommand::Close(FrontPanel::Notices).into());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Problem;
    use crate::ui::UiState;
    use crate::ui::commands::NoticeCommand;
    use crate::ui::shell::notices::notices_ui;
    use crate::ui::testing::{PaneHarness, pane_of, sample_room};
    use crate::view::model::RoomModel;
    use egui_kittest::kittest::Queryable;

    #[test]
    fn dismissed_notices_stay_in_the_list_and_open_their_place() {
        let problems = vec![Problem::error("agents/ada.md", "unknown key", "mend it").at_line(Some(4))];
        let room = RoomModel { problems: problems.into(), ..sample_room() };
        let mut state = UiState::default();
        state.notices.is_hint_closed = true;
        state.front.open(FrontPanel::Notices);
        let mut window = pane_of(PaneHarness::new(room, state), |ui, cx, _| {
            let mut commands = notices_ui(ui, cx);
            commands.extend(notice_list_ui(ui, cx));
            commands
        });
        window.state_mut().state.notify("gemini answered", true);
        window.run_steps(3);
        window.run_steps(1);
        window.state_mut().run(vec![WindowCommand::Notice(NoticeCommand::PutAllAside).into()]);
        let outcome = window.state().state.notices.outcomes()[0].clone();
        window.state_mut().run(vec![WindowCommand::Notice(NoticeCommand::PutOutcomeAside(outcome)).into()]);
        window.run_steps(3);
        assert!(window.state().state.notices.outcomes().is_empty());
        for shown in ["Problems (1)", "agents/ada.md, line 4", "Unknown key.", "gemini answered"] {
            assert!(window.query_by_label(shown).is_some(), "{shown}");
        }
        window.get_by_label("Open file agents/ada.md").click();
        window.run_steps(3);
        assert_eq!(window.state().commands, [Command::OpenFile("agents/ada.md".into(), Some(4))]);
        assert!(!window.state().state.front.is_open(FrontPanel::Notices));
    }
}
