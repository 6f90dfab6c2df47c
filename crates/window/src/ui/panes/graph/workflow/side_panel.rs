//! The form next to the drawing for the selected step: its content, and the steps that it depends on.

use egui::{CollapsingHeader, Ui};

use super::draft::StepDraft;
use crate::orchestration::workflow::WorkflowCommand;
use crate::orchestration::workflow::definition::PersonWants;
use crate::orchestration::workflow::edit::{StepAssignee, WorkflowEdit};
use crate::orchestration::workflow::format::stem;
use crate::ui::context::ViewerContext;
use crate::ui::panes::graph::texts;
use crate::ui::widgets;
use crate::ui::widgets::menu;
use crate::view::theme::{SPACE, Theme};
use crate::view::workflows::{RunView, StepView, WorkflowView};

/// The number of lines of the prompt editor.
const ROWS: usize = 6;

/// How many other steps are listed; beyond that, those that match the search.
const STEPS_SHOWN: usize = 30;

/// A key that few steps have: its label, a hint on its values, and whether only agents have it.
struct RareKey {
    key: &'static str,
    label: &'static str,
    hint: &'static str,
    is_agents: bool,
}

/// In the order in which they are shown.
const RARE_KEYS: [RareKey; 5] = [
    RareKey { key: "for_each", label: texts::FOR_EACH, hint: texts::FOR_EACH_HINT, is_agents: true },
    RareKey { key: "repeat_until", label: texts::REPEAT_UNTIL, hint: texts::REPEAT_UNTIL_HINT, is_agents: false },
    RareKey { key: "retry", label: texts::RETRIES, hint: texts::RETRIES_HINT, is_agents: true },
    RareKey { key: "max_turns", label: texts::MAX_TURNS, hint: texts::MAX_TURNS_HINT, is_agents: true },
    RareKey { key: "model", label: texts::MODEL, hint: texts::MODEL_HINT, is_agents: true },
];

/// The step that is looked at, and what is being written about it.
#[derive(Clone, Debug, Default)]
pub struct Side {
    draft: StepDraft,
    /// A part of the name of a step that is looked for.
    find: String,
}

impl Side {
    /// Draws it. Whether the step is looked at no longer.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        (file, step, run): (&WorkflowView, &StepView, Option<&RunView>),
        acts: &mut Vec<WorkflowCommand>,
    ) -> bool {
        if !self.draft.is_of(step) {
            *self = Self { draft: StepDraft::of(step), find: String::new() };
        }
        let theme = cx.theme;
        let mut edit = |edit: WorkflowEdit| acts.push(WorkflowCommand::Edit { path: file.path.clone(), edit });
        widgets::section(ui, &step.id, theme);
        if let Some((status, why, _)) = run.and_then(|run| run.step(&step.id)) {
            ui.label(widgets::small(texts::with_reason(status.word(), why), theme));
        }
        fields(ui, cx, file, &mut self.draft);
        let mut closes = false;
        ui.add_space(SPACE[0]);
        ui.horizontal(|ui| {
            let changes = self.draft.changes();
            let may_save = !changes.is_empty() && self.draft.is_whole();
            if widgets::primary(ui, may_save, texts::SAVE_STEP, theme).clicked() {
                changes.into_iter().for_each(&mut edit);
            }
            closes = ui.button(texts::CLOSE_STEP).clicked();
        });
        ui.add_space(SPACE[1]);
        self.comes_after(ui, theme, (file, step), &mut edit);
        ui.add_space(SPACE[1]);
        if widgets::danger(ui, texts::REMOVE_STEP, theme).clicked() {
            edit(WorkflowEdit::RemoveStep { step: step.id.clone() });
            closes = true;
        }
        closes
    }

    /// The other steps, each with whether this one comes after it.
    fn comes_after(
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
        if file.steps.len() > STEPS_SHOWN {
            widgets::field(ui, &mut self.find, texts::FIND_A_STEP, texts::FIND_A_STEP_HINT);
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
    }
}

/// A field with what it is called above it.
pub(super) fn labelled(ui: &mut Ui, theme: &Theme, text: &mut String, label: &str, hint: &str) {
    let called = ui.label(widgets::small(label, theme)).id;
    widgets::field(ui, text, label, hint).labelled_by(called);
}

fn fields(ui: &mut Ui, cx: &ViewerContext<'_>, file: &WorkflowView, draft: &mut StepDraft) {
    let theme = cx.theme;
    labelled(ui, theme, &mut draft.id, texts::NAME, texts::STEP_NAME_HINT);
    doer_fields(ui, cx, file, draft);
    let is_workflow = matches!(draft.doer, StepAssignee::Workflow(_));
    if !is_workflow || !draft.prompt.is_empty() {
        let label = if matches!(draft.doer, StepAssignee::Person(_)) { texts::QUESTION } else { texts::PROMPT };
        let called = ui.label(widgets::small(label, theme)).id;
        widgets::area(ui, &mut draft.prompt, label, texts::PROMPT_HINT, ROWS).labelled_by(called);
    }
    // An approval has the outputs yes or no and a comment, and no others.
    if draft.doer != StepAssignee::Person(PersonWants::Approval) || !draft.outputs.is_empty() {
        labelled(ui, theme, &mut draft.outputs, texts::OUTPUTS, texts::OUTPUTS_HINT);
    }
    let when = draft.keys.entry("when".to_owned()).or_default();
    labelled(ui, theme, when, texts::ONLY_WHEN, texts::ONLY_WHEN_HINT);
    let is_agents = matches!(draft.doer, StepAssignee::Agent(_));
    let keys = &mut draft.keys;
    let is_said = |key: &str, keys: &std::collections::BTreeMap<String, String>| {
        keys.get(key).is_some_and(|text| !text.trim().is_empty())
    };
    // A key without effect is shown in its place, so that it can be removed.
    let shown: Vec<&RareKey> = RARE_KEYS
        .iter()
        .filter(|rare| is_agents || is_said(rare.key, keys) || (!rare.is_agents && !is_workflow))
        .collect();
    if shown.is_empty() {
        return;
    }
    let is_open = shown.iter().any(|rare| is_said(rare.key, keys));
    CollapsingHeader::new(texts::MORE).id_salt(("more of", &draft.id)).default_open(is_open).show_unindented(
        ui,
        |ui| {
            for rare in shown {
                labelled(ui, theme, keys.entry(rare.key.to_owned()).or_default(), rare.label, rare.hint);
            }
        },
    );
}

/// Who does a step, in words for a list.
fn doer_words(doer: &StepAssignee) -> &'static str {
    match doer {
        StepAssignee::Agent(_) => texts::BY_AN_AGENT,
        StepAssignee::Person(PersonWants::Approval) => texts::YOU_APPROVE,
        StepAssignee::Person(PersonWants::Form) => texts::YOU_FILL_IN_A_FORM,
        StepAssignee::Workflow(_) => texts::BY_ANOTHER_WORKFLOW,
    }
}

/// Who does it, and which agent or workflow that is.
fn doer_fields(ui: &mut Ui, cx: &ViewerContext<'_>, file: &WorkflowView, draft: &mut StepDraft) {
    let theme = cx.theme;
    let called = ui.label(widgets::small(texts::DONE_BY, theme)).id;
    let width = ui.available_width();
    menu::drop_down(ui, texts::DONE_BY, doer_words(&draft.doer), width, theme, |ui| {
        let all = [
            StepAssignee::Agent(String::new()),
            StepAssignee::Person(PersonWants::Approval),
            StepAssignee::Person(PersonWants::Form),
            StepAssignee::Workflow(String::new()),
        ];
        for doer in all {
            let is_chosen = std::mem::discriminant(&doer) == std::mem::discriminant(&draft.doer)
                && doer_words(&doer) == doer_words(&draft.doer);
            if menu::choice(ui, is_chosen, doer_words(&doer)).clicked() && !is_chosen {
                draft.doer = doer;
            }
        }
    })
    .labelled_by(called);
    match &mut draft.doer {
        StepAssignee::Agent(agent) => labelled(ui, theme, agent, texts::AGENT, texts::AGENT_HINT),
        StepAssignee::Person(_) => {}
        StepAssignee::Workflow(workflow) => {
            let called = ui.label(widgets::small(texts::WORKFLOW, theme)).id;
            let named = || cx.room.workflows.files.iter().filter(|other| other.path != file.path);
            let is_it = |other: &WorkflowView, word: &str| {
                [stem(&other.path), other.path.as_str(), other.name.as_str()].contains(&word)
            };
            let chosen = named().find(|other| is_it(other, workflow));
            let shown = match (chosen, workflow.is_empty()) {
                (Some(other), _) => other.name.clone(),
                (None, true) => texts::CHOOSE_A_WORKFLOW.to_owned(),
                (None, false) => workflow.clone(),
            };
            menu::drop_down(ui, texts::WORKFLOW, shown, width, theme, |ui| {
                for other in named() {
                    let is_chosen = chosen.is_some_and(|chosen| chosen.path == other.path);
                    if menu::choice(ui, is_chosen, &other.name).clicked() && !is_chosen {
                        stem(&other.path).clone_into(workflow);
                    }
                }
            })
            .labelled_by(called);
            let asked = chosen.map(|other| other.variables.as_slice()).unwrap_or_default();
            for (name, about, default) in asked {
                let hint = if default.is_empty() { about } else { default };
                labelled(ui, theme, draft.with.entry(name.clone()).or_default(), name, hint);
            }
            let others = draft.with.iter_mut().filter(|(name, _)| asked.iter().all(|(known, ..)| known != *name));
            for (name, text) in others {
                labelled(ui, theme, text, name, texts::NOT_ASKED_FOR);
            }
        }
    }
}
