//! A workflow step that waits for the person, shown above the task bar: its question, and a button to answer it.

use egui::Ui;

use crate::ui::Command;
use crate::ui::commands::WindowCommand;
use crate::ui::context::ViewerContext;
use crate::ui::shell::texts::run_bar as texts;
use crate::ui::state::dock::Tab;
use crate::ui::widgets;
use crate::view::model::RoomModel;
use crate::view::workflows::{AskedView, RunView};

/// Draws the oldest question of a workflow step, if one waits.
pub(super) fn waiting_step_ui(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let Some((run, asked, more)) = first_question(cx.room) else { return };
    widgets::in_card(ui, cx.theme, |ui| {
        let text = texts::step_asks_you(&asked.step, &asked.question, more);
        if widgets::beside_button(ui, text, |ui| widgets::primary(ui, true, texts::ANSWER, cx.theme).clicked()).1 {
            commands.push(Command::Show(Tab::Graph));
            commands.push(WindowCommand::ShowWorkflow { path: Some(run.file.clone()), runs: false }.into());
        }
    });
}

/// Returns the oldest waiting question, its run, and the number of further questions.
fn first_question(room: &RoomModel) -> Option<(&RunView, &AskedView, usize)> {
    let mut asked = room.workflows.asked();
    let (run, first) = asked.next()?;
    Some((run, first, asked.count()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::base::RunTag;
    use crate::orchestration::workflow::{RunKey, RunStatus};
    use crate::ui::UiState;
    use crate::ui::testing::{PaneHarness, pane_of, sample_room};
    use crate::view::workflows::WorkflowsView;

    #[test]
    fn the_question_of_a_step_is_shown_with_a_button_to_answer_it() {
        let mut room = sample_room();
        let asked = AskedView { step: "ok".into(), question: "Is it good?".into(), fields: Vec::new() };
        let run = RunView {
            key: RunKey::new(1, RunTag::of("r-1")),
            file: "workflows/tea.md".into(),
            status: RunStatus::Running,
            why: String::new(),
            result: None,
            steps: Vec::new(),
            asked: vec![asked],
        };
        room.workflows = WorkflowsView { runs: vec![Arc::new(run)], ..WorkflowsView::default() }.into();
        let mut window = pane_of(PaneHarness::new(room, UiState::default()), |ui, cx, _| {
            let mut commands = Vec::new();
            waiting_step_ui(ui, cx, &mut commands);
            commands
        });
        window.run();
        window.get_by_label("Step ok asks you: Is it good?");
        window.get_by_label("Answer").click();
        window.run();
        assert!(window.state().commands.contains(&Command::Show(Tab::Graph)), "{:?}", window.state().commands);
    }
}
