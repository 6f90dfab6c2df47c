//! The form next to the drawing for the workflow itself: its name, purpose and trigger.

use egui::Ui;

use super::side_panel::labelled;
use crate::orchestration::workflow::WorkflowCommand;
use crate::orchestration::workflow::edit::WorkflowEdit;
use crate::ui::panes::graph::texts;
use crate::ui::widgets;
use crate::view::theme::{SPACE, Theme};
use crate::view::workflows::WorkflowView;

/// What is being written about a workflow.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Details {
    /// The values when editing began: name, purpose, trigger.
    of: [String; 3],
    draft: [String; 3],
}

/// The keys of its file, each with its label and a hint on its values.
const KEYS: [(&str, &str, &str); 3] = [
    ("name", texts::NAME, texts::WORKFLOW_NAME_HINT),
    ("description", texts::PURPOSE, texts::PURPOSE_HINT),
    ("trigger", texts::TRIGGER, texts::TRIGGER_HINT),
];

impl Details {
    /// Draws it. Whether it is looked at no longer.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        theme: &Theme,
        file: &WorkflowView,
        acts: &mut Vec<WorkflowCommand>,
    ) -> bool {
        let of = [file.name.clone(), file.description.clone(), file.trigger.clone()];
        if self.of != of {
            *self = Self { draft: of.clone(), of };
        }
        widgets::section(ui, texts::WORKFLOW_DETAILS, theme);
        for ((_, label, hint), text) in KEYS.iter().zip(&mut self.draft) {
            labelled(ui, theme, text, label, hint);
        }
        ui.add_space(SPACE[0]);
        let mut closes = false;
        ui.horizontal(|ui| {
            if widgets::primary(ui, self.draft != self.of, texts::SAVE_DETAILS, theme).clicked() {
                for (((key, ..), text), old) in KEYS.iter().zip(&self.draft).zip(&self.of) {
                    if text != old {
                        let edit = WorkflowEdit::SetOwn { key: (*key).to_owned(), text: text.trim().to_owned() };
                        acts.push(WorkflowCommand::Edit { path: file.path.clone(), edit });
                    }
                }
            }
            closes = ui.button(texts::CLOSE_DETAILS).clicked();
        });
        closes
    }
}
