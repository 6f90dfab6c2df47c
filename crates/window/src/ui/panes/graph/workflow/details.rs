//! The form next to the drawing for the workflow itself: its name, purpose and trigger.

use egui::Ui;

use super::side_panel::labelled_field;
use crate::orchestration::workflow::WorkflowCommand;
use crate::orchestration::workflow::edit::WorkflowEdit;
use crate::ui::panes::graph::texts;
use crate::ui::widgets;
use crate::view::theme::{SPACE, Theme};
use crate::view::workflows::WorkflowView;

/// Unsaved changes to a workflow's own keys.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Details {
    /// The values when editing began: name, purpose, trigger.
    original: [String; 3],
    draft: [String; 3],
}

/// The keys in the workflow file, with their labels and hints.
const KEYS: [(&str, &str, &str); 3] = [
    ("name", texts::NAME, texts::WORKFLOW_NAME_HINT),
    ("description", texts::PURPOSE, texts::PURPOSE_HINT),
    ("trigger", texts::TRIGGER, texts::TRIGGER_HINT),
];

impl Details {
    /// Draws the form. Returns whether it was closed.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        theme: &Theme,
        file: &WorkflowView,
        acts: &mut Vec<WorkflowCommand>,
    ) -> bool {
        let original = [file.name.clone(), file.description.clone(), file.trigger.clone()];
        if self.original != original {
            *self = Self { draft: original.clone(), original };
        }
        widgets::section(ui, texts::WORKFLOW_DETAILS, theme);
        for ((_, label, hint), text) in KEYS.iter().zip(&mut self.draft) {
            labelled_field(ui, theme, text, label, hint);
        }
        ui.add_space(SPACE[0]);
        let mut is_closed = false;
        ui.horizontal(|ui| {
            if widgets::primary(ui, self.draft != self.original, texts::SAVE_DETAILS, theme).clicked() {
                for (((key, ..), text), old) in KEYS.iter().zip(&self.draft).zip(&self.original) {
                    if text != old {
                        let edit = WorkflowEdit::SetOwn { key: (*key).to_owned(), text: text.trim().to_owned() };
                        acts.push(WorkflowCommand::Edit { path: file.path.clone(), edit });
                    }
                }
            }
            is_closed = ui.button(texts::CLOSE_DETAILS).clicked();
        });
        is_closed
    }
}
