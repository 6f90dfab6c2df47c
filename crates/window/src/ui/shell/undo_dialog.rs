//! The dialog that undoes an agent's work: the restore points, the changes to each file if everything after the
//! selected one is undone, and the button that undoes it.

use egui::{CollapsingHeader, Label, ScrollArea, Ui};

use crate::ui::Command;
use crate::ui::panes::diff::{DiffLook, diff_ui};
use crate::ui::shell::texts::dialogs as texts;
use crate::ui::state::UndoQuestion;
use crate::ui::widgets::{self, dialog};
use crate::view::theme::{SPACE, Theme};
use crate::workspace::undo::{FilePlan, Outcome, RestorePoint, UndoPlan};

/// The maximum height of the list of restore points, in points.
const POINTS_HEIGHT: f32 = 160.0;
/// The maximum number of characters that are shown of a task.
const TASK_CHARS: usize = 60;

/// Draws the dialog. Returns its result once it is answered.
pub(super) fn undo_work(ui: &mut Ui, question: &UndoQuestion, theme: &Theme) -> Option<Vec<Command>> {
    let mut answer = None;
    dialog::scrolled(ui, |ui| {
        ui.add(Label::new(widgets::secondary_text(texts::UNDO_ABOUT, theme)).wrap());
        ui.add_space(SPACE[1]);
        ScrollArea::vertical().id_salt("points").max_height(POINTS_HEIGHT).show(ui, |ui| {
            for (index, point) in question.points.iter().enumerate() {
                // Undoing a point also undoes everything after it.
                let is_chosen = question.plan.as_ref().is_some_and(|(since_ms, _)| *since_ms <= point.first_ms);
                if ui.selectable_label(is_chosen, point_label(index, point)).clicked() {
                    let (agent, since_ms) = (question.agent.clone(), Some(point.first_ms));
                    answer = Some(vec![Command::LookBack { agent, since_ms }]);
                }
            }
        });
        if let Some((_, plan)) = &question.plan {
            ui.add_space(SPACE[2]);
            plan_ui(ui, plan, theme);
        }
    });
    ui.add_space(SPACE[2]);
    ui.horizontal_wrapped(|ui| {
        let plan = question.plan.as_ref().map(|(_, plan)| plan).filter(|plan| !plan.is_empty());
        if widgets::primary(ui, plan.is_some(), texts::RESTORE_THESE_FILES, theme).clicked()
            && let Some(plan) = plan
        {
            answer = Some(vec![Command::UndoWork(plan.clone())]);
        }
        if ui.button(texts::CANCEL).clicked() {
            answer = Some(Vec::new());
        }
    });
    answer
}

fn point_label(index: usize, point: &RestorePoint) -> String {
    let task = point.task.as_deref().and_then(|task| task.lines().next());
    let task = crate::base::text::truncate(task.unwrap_or(texts::OUTSIDE_ANY_TASK), TASK_CHARS);
    texts::restore_point(index + 1, &task, point.files.len())
}

fn plan_ui(ui: &mut Ui, plan: &UndoPlan, theme: &Theme) {
    if plan.files.is_empty() {
        ui.label(widgets::secondary_text(texts::NOTHING_TO_UNDO, theme));
    }
    for (index, file) in plan.files.iter().enumerate() {
        if let Outcome::Unchanged { why } = &file.outcome {
            ui.add(Label::new(widgets::secondary_text(why.as_str(), theme)).wrap());
            continue;
        }
        CollapsingHeader::new(file_label(file)).id_salt(("undo", index)).default_open(index == 0).show(ui, |ui| {
            let (old, new) = (file.now.as_deref().unwrap_or_default(), file.after().unwrap_or_default());
            diff_ui(ui, &format!("undo {}", file.path), old, new, DiffLook::Unified, theme);
        });
    }
}

fn file_label(file: &FilePlan) -> String {
    let path = &file.path;
    match &file.outcome {
        Outcome::Delete => texts::is_removed(path),
        Outcome::Write { .. } if file.now.is_none() => texts::is_restored(file.path_after()),
        Outcome::Write { to: Some(to), .. } => texts::is_renamed_back(path, to),
        Outcome::Write { .. } | Outcome::Unchanged { .. } => path.clone(),
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::ui::UiState;
    use crate::ui::shell::dialogs::dialogs_ui;
    use crate::ui::state::Dialog;
    use crate::ui::testing::{PaneHarness, pane_of, sample_room};

    fn question(plan: Option<(u64, UndoPlan)>) -> UndoQuestion {
        let point = |task: &str, first_ms| RestorePoint {
            activation: None,
            task: Some(task.into()),
            first_ms,
            last_ms: first_ms,
            files: [("notes/plan.md".to_owned(), 1)].into(),
        };
        UndoQuestion { agent: "ada-1".into(), points: vec![point("Second", 9), point("First", 5)], plan }
    }

    fn plan() -> UndoPlan {
        let put = Outcome::Write { text: "two\n".into(), to: None };
        let stays = Outcome::Unchanged {
            why: "'notes/b.md' was not changed: others have changed the same lines since.".into(),
        };
        let file = |path: &str, outcome| FilePlan { path: path.into(), now: Some("2\n".into()), outcome };
        UndoPlan { agent: "ada-1".into(), files: vec![file("notes/plan.md", put), file("notes/b.md", stays)] }
    }

    fn open_dialog(question: UndoQuestion) -> egui_kittest::Harness<'static, PaneHarness> {
        let mut state = UiState::default();
        state.front.ask(Dialog::UndoWork(Box::new(question)));
        let stage = PaneHarness::new(sample_room(), state);
        let mut window = pane_of(stage, |ui, cx, panes| dialogs_ui(ui, cx, &mut panes.dialogs));
        window.run_steps(4);
        window
    }

    #[test]
    fn a_restore_point_is_chosen_first_and_then_undone() {
        let mut window = open_dialog(question(None));
        window.get_by_label("2. First (1 file)").click();
        window.run_steps(4);
        let look = Command::LookBack { agent: "ada-1".into(), since_ms: Some(5) };
        assert_eq!(window.state().commands, [look]);
        let mut window = open_dialog(question(Some((5, plan()))));
        assert!(window.query_by_label_contains("others have changed the same lines").is_some());
        assert!(window.query_by_label_contains("notes/plan.md").is_some());
        window.get_by_label("Restore these files").click();
        window.run_steps(4);
        assert_eq!(window.state().commands, [Command::UndoWork(plan())]);
        assert_eq!(window.state().state.front.dialog(), None);
    }

    #[test]
    fn nothing_is_undone_before_a_restore_point_is_chosen() {
        let mut window = open_dialog(question(None));
        window.get_by_label("Restore these files").click();
        window.run_steps(4);
        assert!(window.state().commands.is_empty());
    }
}
