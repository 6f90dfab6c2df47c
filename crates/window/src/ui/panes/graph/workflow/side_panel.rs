//! The form next to the drawing for the selected step: its content, and the steps that it depends on.

use egui::{CollapsingHeader, Ui};

use super::draft::StepDraft;
use crate::orchestration::workflow::WorkflowCommand;
use crate::orchestration::workflow::definition::AnswerKind;
use crate::orchestration::workflow::edit::{StepAssignee, WorkflowEdit};
use crate::orchestration::workflow::format::stem;
use crate::ui::context::ViewerContext;
use crate::ui::panes::graph::texts;
use crate::ui::widgets;
use crate::ui::widgets::menu;
use crate::view::theme::{SPACE, Theme};
use crate::view::workflows::{RunView, StepView, WorkflowView};

/// Number of rows of the prompt editor.
const PROMPT_ROWS: usize = 6;

/// Maximum number of other steps listed; in larger workflows they can be searched.
const MAX_STEPS: usize = 30;

/// A key that few steps have.
struct RareKey {
    key: &'static str,
    label: &'static str,
    hint: &'static str,
    agent_only: bool,
}

/// In the order shown.
const RARE_KEYS: [RareKey; 5] = [
    RareKey { key: "for_each", label: texts::FOR_EACH, hint: texts::FOR_EACH_HINT, agent_only: true },
    RareKey { key: "repeat_until", label: texts::REPEAT_UNTIL, hint: texts::REPEAT_UNTIL_HINT, agent_only: false },
    RareKey { key: "retry", label: texts::RETRIES, hint: texts::RETRIES_HINT, agent_only: true },
    RareKey { key: "max_turns", label: texts::MAX_TURNS, hint: texts::MAX_TURNS_HINT, agent_only: true },
    RareKey { key: "model", label: texts::MODEL, hint: texts::MODEL_HINT, agent_only: true },
];

/// The form for the chosen step, with its unsaved changes.
#[derive(Clone, Debug, Default)]
pub struct StepPanel {
    draft: StepDraft,
    /// The text to search the other steps for.
    search: String,
}

impl StepPanel {
    /// Draws the form. Returns whether it was closed.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        (file, step, run): (&WorkflowView, &StepView, Option<&RunView>),
        acts: &mut Vec<WorkflowCommand>,
    ) -> bool {
        if !self.draft.is_based_on(step) {
            *self = Self { draft: StepDraft::of(step), search: String::new() };
        }
        let theme = cx.theme;
        let mut edit = |edit: WorkflowEdit| acts.push(WorkflowCommand::Edit { path: file.path.clone(), edit });
        widgets::section(ui, &step.id, theme);
        if let Some((status, why, _)) = run.and_then(|run| run.step(&step.id)) {
            ui.label(widgets::small(texts::with_reason(status.as_str(), why), theme));
        }
        fields(ui, cx, file, &mut self.draft);
        let mut is_closed = false;
        ui.add_space(SPACE[0]);
        ui.horizontal(|ui| {
            let changes = self.draft.changes();
            let can_save = !changes.is_empty() && self.draft.is_complete();
            if widgets::primary(ui, can_save, texts::SAVE_STEP, theme).clicked() {
                changes.into_iter().for_each(&mut edit);
            }
            is_closed = ui.button(texts::CLOSE_STEP).clicked();
        });
        ui.add_space(SPACE[1]);
        self.dependencies_ui(ui, theme, (file, step), &mut edit);
        ui.add_space(SPACE[1]);
        if widgets::danger(ui, texts::REMOVE_STEP, theme).clicked() {
            edit(WorkflowEdit::RemoveStep { step: step.id.clone() });
            is_closed = true;
        }
        is_closed
    }

    /// Draws a switch for each other step that toggles whether this step comes after it.
    fn dependencies_ui(
        &mut self,
        ui: &mut Ui,
        theme: &Theme,
        (file, step): (&WorkflowView, &StepView),
        edit: &mut impl FnMut(WorkflowEdit),
    ) {
        if file.steps.len() < 2 {
            return;
        }
        widgets::section(ui, texts::COMES_AFTER, theme);
        if file.steps.len() > MAX_STEPS {
            widgets::field(ui, &mut self.search, texts::FIND_A_STEP, texts::FIND_A_STEP_HINT);
        }
        let search = self.search.trim();
        let others = || file.steps.iter().enumerate().filter(|(_, other)| other.id != step.id);
        let others_before = others().filter(|(at, _)| step.before.contains(at));
        let matching = others().filter(|(at, other)| !step.before.contains(at) && other.id.contains(search));
        for (at, other) in others_before.chain(matching).take(MAX_STEPS) {
            let is_before = step.before.contains(&at);
            if widgets::switch(ui, is_before, &other.id, theme).clicked() {
                edit(match is_before {
                    true => WorkflowEdit::Free { step: step.id.clone(), of: other.id.clone() },
                    false => WorkflowEdit::Depend { step: step.id.clone(), on: other.id.clone() },
                });
            }
        }
    }
}

/// Draws a text field with a label above it.
pub(super) fn labelled_field(ui: &mut Ui, theme: &Theme, text: &mut String, label: &str, hint: &str) {
    let label_id = ui.label(widgets::small(label, theme)).id;
    widgets::field(ui, text, label, hint).labelled_by(label_id);
}

fn fields(ui: &mut Ui, cx: &ViewerContext<'_>, file: &WorkflowView, draft: &mut StepDraft) {
    let theme = cx.theme;
    labelled_field(ui, theme, &mut draft.id, texts::NAME, texts::STEP_NAME_HINT);
    assignee_fields(ui, cx, file, draft);
    let is_workflow = matches!(draft.doer, StepAssignee::Workflow(_));
    if !is_workflow || !draft.prompt.is_empty() {
        let label = if matches!(draft.doer, StepAssignee::Person(_)) { texts::QUESTION } else { texts::PROMPT };
        let label_id = ui.label(widgets::small(label, theme)).id;
        widgets::area(ui, &mut draft.prompt, label, texts::PROMPT_HINT, PROMPT_ROWS).labelled_by(label_id);
    }
    // An approval has the outputs yes or no and a comment, and no others.
    if draft.doer != StepAssignee::Person(AnswerKind::Approval) || !draft.outputs.is_empty() {
        labelled_field(ui, theme, &mut draft.outputs, texts::OUTPUTS, texts::OUTPUTS_HINT);
    }
    let when = draft.keys.entry("when".to_owned()).or_default();
    labelled_field(ui, theme, when, texts::ONLY_WHEN, texts::ONLY_WHEN_HINT);
    let is_agent = matches!(draft.doer, StepAssignee::Agent(_));
    let keys = &mut draft.keys;
    let is_set = |key: &str, keys: &std::collections::BTreeMap<String, String>| {
        keys.get(key).is_some_and(|text| !text.trim().is_empty())
    };
    // A key that has no effect for this kind of step is still shown if it is set, so that it can be removed.
    let shown: Vec<&RareKey> = RARE_KEYS
        .iter()
        .filter(|rare| is_agent || is_set(rare.key, keys) || (!rare.agent_only && !is_workflow))
        .collect();
    if shown.is_empty() {
        return;
    }
    let is_open = shown.iter().any(|rare| is_set(rare.key, keys));
    CollapsingHeader::new(texts::MORE).id_salt(("more of", &draft.id)).default_open(is_open).show_unindented(
        ui,
        |ui| {
            for rare in shown {
                labelled_field(ui, theme, keys.entry(rare.key.to_owned()).or_default(), rare.label, rare.hint);
            }
        },
    );
}

/// Returns the label of a kind of assignee.
fn assignee_label(doer: &StepAssignee) -> &'static str {
    match doer {
        StepAssignee::Agent(_) => texts::BY_AN_AGENT,
        StepAssignee::Person(AnswerKind::Approval) => texts::YOU_APPROVE,
        StepAssignee::Person(AnswerKind::Form) => texts::YOU_FILL_IN_A_FORM,
        StepAssignee::Workflow(_) => texts::BY_ANOTHER_WORKFLOW,
    }
}

/// Draws the fields for the kind of assignee, and for the agent or workflow.
fn assignee_fields(ui: &mut Ui, cx: &ViewerContext<'_>, file: &WorkflowView, draft: &mut StepDraft) {
    let theme = cx.theme;
    let label_id = ui.label(widgets::small(texts::DONE_BY, theme)).id;
    let width = ui.available_width();
    menu::drop_down(ui, texts::DONE_BY, assignee_label(&draft.doer), width, theme, |ui| {
        let all = [
            StepAssignee::Agent(String::new()),
            StepAssignee::Person(AnswerKind::Approval),
            StepAssignee::Person(AnswerKind::Form),
            StepAssignee::Workflow(String::new()),
        ];
        for doer in all {
            let is_chosen = std::mem::discriminant(&doer) == std::mem::discriminant(&draft.doer)
                && assignee_label(&doer) == assignee_label(&draft.doer);
            if menu::choice(ui, is_chosen, assignee_label(&doer)).clicked() && !is_chosen {
                draft.doer = doer;
            }
        }
    })
    .labelled_by(label_id);
    match &mut draft.doer {
        StepAssignee::Agent(agent) => labelled_field(ui, theme, agent, texts::AGENT, texts::AGENT_HINT),
        StepAssignee::Person(_) => {}
        StepAssignee::Workflow(workflow) => {
            let label_id = ui.label(widgets::small(texts::WORKFLOW, theme)).id;
            let other_workflows = || cx.room.workflows.files.iter().filter(|other| other.path != file.path);
            let is_target = |other: &WorkflowView, word: &str| {
                [stem(&other.path), other.path.as_str(), other.name.as_str()].contains(&word)
            };
            let chosen = other_workflows().find(|other| is_target(other, workflow));
            let shown = match (chosen, workflow.is_empty()) {
                (Some(other), _) => other.name.clone(),
                (None, true) => texts::CHOOSE_A_WORKFLOW.to_owned(),
                (None, false) => workflow.clone(),
            };
            menu::drop_down(ui, texts::WORKFLOW, shown, width, theme, |ui| {
                for other in other_workflows() {
                    let is_chosen = chosen.is_some_and(|chosen| chosen.path == other.path);
                    if menu::choice(ui, is_chosen, &other.name).clicked() && !is_chosen {
                        stem(&other.path).clone_into(workflow);
                    }
                }
            })
            .labelled_by(label_id);
            let variables = chosen.map(|other| other.variables.as_slice()).unwrap_or_default();
            for (name, about, default) in variables {
                let hint = if default.is_empty() { about } else { default };
                labelled_field(ui, theme, draft.with.entry(name.clone()).or_default(), name, hint);
            }
            let others = draft.with.iter_mut().filter(|(name, _)| variables.iter().all(|(known, ..)| known != *name));
            for (name, text) in others {
                labelled_field(ui, theme, text, name, texts::UNUSED_VARIABLE);
            }
        }
    }
}
