//! A step beside the drawing: what it says, to be changed, and what it comes after.

use egui::Ui;

use crate::orchestration::workflow::WorkflowCommand;
use crate::orchestration::workflow::edit::WorkflowEdit;
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::view::theme::SPACE;
use crate::view::workflows::{RunView, StepView, WorkflowView};

/// A prompt is edited in so many lines.
const ROWS: usize = 8;

/// So many other steps are listed; of more, those are that are looked for.
const STEPS_SHOWN: usize = 30;

/// What is being written into the fields of a step.
#[derive(Clone, Debug, Default)]
pub struct Drafts {
    /// Of which step, and what that said when it was begun.
    of: Option<StepView>,
    agent: String,
    prompt: String,
    outputs: String,
    when: String,
    /// A part of the name of a step that is looked for.
    find: String,
}

impl Drafts {
    /// Draws them. Whether the step is looked at no longer.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        (file, step, run): (&WorkflowView, &StepView, Option<&RunView>),
        acts: &mut Vec<WorkflowCommand>,
    ) -> bool {
        if self.of.as_ref() != Some(step) {
            *self = Self {
                of: Some(step.clone()),
                agent: step.agent.clone(),
                prompt: step.prompt.clone(),
                outputs: step.outputs.join(", "),
                when: step.when.clone(),
                find: String::new(),
            };
        }
        let theme = cx.theme;
        let mut edit = |edit: WorkflowEdit| acts.push(WorkflowCommand::Edit { path: file.path.clone(), edit });
        widgets::section(ui, &step.id, theme);
        if let Some((status, why, _)) = run.and_then(|run| run.step(&step.id)) {
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            ui.label(widgets::small(format!("{}{why}", status.word()), theme));
        }
        if !step.agent.is_empty() {
            widgets::field(ui, &mut self.agent, "Agent", "The id of an agent or a profile");
        }
        widgets::area(ui, &mut self.prompt, "Prompt", "What is to be done; {topic} is asked for", ROWS);
        widgets::field(ui, &mut self.outputs, "Outputs", "What it must give, with commas between the names");
        widgets::field(ui, &mut self.when, "Only when", "A condition, such as {review.approved}");
        let set =
            |key: &str, text: &str| WorkflowEdit::Set { step: step.id.clone(), key: key.into(), text: text.into() };
        let names: Vec<String> =
            self.outputs.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        let mut changes = Vec::new();
        if self.agent != step.agent && !self.agent.trim().is_empty() {
            changes.push(set("agent", self.agent.trim()));
        }
        if self.prompt != step.prompt {
            changes.push(set("prompt", &self.prompt));
        }
        if names != step.outputs {
            changes.push(WorkflowEdit::Outputs { step: step.id.clone(), names });
        }
        if self.when != step.when {
            changes.push(set("when", &self.when));
        }
        let mut closes = false;
        ui.horizontal(|ui| {
            if widgets::primary(ui, !changes.is_empty(), "Save step", theme).clicked() {
                changes.into_iter().for_each(&mut edit);
            }
            closes = ui.button("Close step").clicked();
        });
        ui.add_space(SPACE[1]);
        widgets::section(ui, "Comes after", theme);
        if file.steps.len() > STEPS_SHOWN {
            widgets::field(ui, &mut self.find, "Find a step", "A part of its name");
        }
        let find = self.find.trim();
        let others = || file.steps.iter().enumerate().filter(|(_, other)| other.id != step.id);
        let others_before = others().filter(|(at, _)| step.before.contains(at));
        let found = others().filter(|(at, other)| !step.before.contains(at) && other.id.contains(find));
        for (at, other) in others_before.chain(found).take(STEPS_SHOWN) {
            let is_before = step.before.contains(&at);
            if widgets::switch(ui, is_before, &other.id, theme).clicked() {
                edit(match is_before {
                    true => WorkflowEdit::Free { step: step.id.clone(), of: other.id.clone() },
                    false => WorkflowEdit::Depend { step: step.id.clone(), on: other.id.clone() },
                });
            }
        }
        ui.add_space(SPACE[1]);
        if widgets::danger(ui, "Remove step", theme).clicked() {
            edit(WorkflowEdit::RemoveStep { step: step.id.clone() });
            closes = true;
        }
        closes
    }
}
