//! The plan that a coding agent reports: a summary below its chat, and the steps in the About tab.

use egui::{Label, RichText, Ui};

use super::texts;
use crate::mind::PlanStep;
use crate::ui::widgets;
use crate::view::theme::Theme;

/// Returns a plan as one line: how many steps are done and which one is in progress.
pub(super) fn summary_line(plan: &[PlanStep]) -> Option<String> {
    let done = plan.iter().filter(|step| step.status == "completed").count();
    let at = plan.iter().find(|step| step.status == "in_progress");
    (!plan.is_empty()).then(|| texts::plan_in_a_line(done, plan.len(), at.map(|step| step.text.as_str())))
}

/// Returns the text of a step.
fn row(step: &PlanStep) -> String {
    let how = match step.status.as_str() {
        "completed" => texts::STEP_DONE,
        "in_progress" => texts::STEP_IN_PROGRESS,
        _ => texts::STEP_TO_DO,
    };
    format!("{how}: {}", step.text)
}

/// Draws the steps of a plan; nothing if it is empty.
pub(super) fn plan_ui(ui: &mut Ui, plan: &[PlanStep], theme: &Theme) {
    if plan.is_empty() {
        return;
    }
    widgets::section(ui, texts::ITS_PLAN, theme);
    for step in plan {
        let colour = if step.status == "in_progress" { theme.accent } else { theme.text };
        ui.add(Label::new(RichText::new(row(step)).color(colour)).wrap());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_summarised_by_its_progress() {
        let step = |text: &str, status: &str| PlanStep { text: text.into(), status: status.into() };
        assert_eq!(summary_line(&[]), None);
        let plan = [step("Look", "completed"), step("Write", "in_progress"), step("Test", "pending")];
        assert_eq!(summary_line(&plan).as_deref(), Some("Plan: 1 of 3 done, in progress: Write"));
        assert_eq!(plan.each_ref().map(row), ["done: Look", "in progress: Write", "to do: Test"]);
        assert_eq!(summary_line(&plan[..1]).as_deref(), Some("Plan: 1 of 1 done"));
    }
}
