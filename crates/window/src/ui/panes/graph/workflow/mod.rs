//! A workflow as a layer of the graph: its steps from left to right, with their status in the latest run. It can be run
//! and edited here.

mod details;
mod draft;
mod drawing;
mod placing;
mod side_panel;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use egui::{Frame, Margin, ScrollArea, Ui, UiBuilder};

use super::layer::Layer;
use super::texts;
use super::view::View;
use crate::orchestration::workflow::definition::{AnswerKind, COMMENT, Output};
use crate::orchestration::workflow::edit::{StepAssignee, WorkflowEdit};
use crate::orchestration::workflow::format::stem;
use crate::orchestration::workflow::value::OutputKind;
use crate::orchestration::workflow::{PersonAnswer, RunStatus, WorkflowCommand};
use crate::ui::Command;
use crate::ui::commands::{RoomAct, WindowCommand, markdown};
use crate::ui::context::ViewerContext;
use crate::ui::menus::{self, keys_tip};
use crate::ui::state::ShelfItem;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::menu;
use crate::view::theme::{DIALOG, LINE, MENU, RADIUS, SPACE, TYPE, Theme};
use crate::view::workflows::{AskedView, RunView, WorkflowView};

/// Number of text rows for a list value.
const LIST_ROWS: usize = 4;
/// Number of characters of a question that are shown at first.
const QUESTION_CHARS: usize = 700;
/// Maximum share of the height for the information above the drawing.
const INFO_HEIGHT_SHARE: f32 = 0.45;

/// State of the workflow layer between frames.
#[derive(Clone, Debug, Default)]
pub struct WorkflowLayer {
    /// Path of the shown workflow.
    shown: Option<String>,
    view: View,
    positions: placing::StepPositions,
    /// Id of the step open in the side panel.
    chosen: Option<String>,
    /// A pending rename of the chosen step, from and to. The step stays chosen once the file has the new name.
    renamed: Option<(String, String)>,
    /// Number of steps before one was added. The new step is chosen once the file has it.
    steps_before_add: Option<usize>,
    /// Whether the side panel shows the details of the workflow itself.
    shows_details: bool,
    /// The step from which an arrow is being drawn.
    arrow_start: Option<String>,
    /// Whether the workflow is to be started when it is shown next.
    pub(super) runs_next: bool,
    /// Whether the form for the variables of a new run is shown.
    asks_variables: bool,
    /// Whether the first variable's field takes the keyboard focus in the next frame.
    focuses_first_variable: bool,
    /// Whether the first field of a question takes the keyboard focus in the next frame.
    pub(super) focuses_answer: bool,
    /// Values of the variables for a new run.
    variables: BTreeMap<String, String>,
    /// The form for the chosen step.
    step_panel: side_panel::StepPanel,
    /// The form for the workflow itself.
    details: details::Details,
    /// Unsent answers, by step and field.
    answers: BTreeMap<String, BTreeMap<String, String>>,
}

/// The commands that the user's input in this frame results in.
#[derive(Default)]
struct LayerActions {
    acts: Vec<WorkflowCommand>,
    commands: Vec<Command>,
}

impl LayerActions {
    /// Converts the actions into commands. Edits made at the same time are undone together.
    fn into_commands(self) -> Vec<Command> {
        let (edits, others): (Vec<_>, Vec<_>) =
            self.acts.into_iter().partition(|act| matches!(act, WorkflowCommand::Edit { .. }));
        let edits = edits.into_iter().map(|act| (RoomAct::Workflow(act), None)).collect::<Vec<_>>();
        let edits = (!edits.is_empty()).then_some(Command::Acts(edits));
        let others = others.into_iter().map(|act| Command::Act(RoomAct::Workflow(act), None));
        edits.into_iter().chain(others).chain(self.commands).collect()
    }

    fn edit(&mut self, path: &str, edit: WorkflowEdit) {
        self.acts.push(WorkflowCommand::Edit { path: path.to_owned(), edit });
    }
}

impl WorkflowLayer {
    /// Draws the workflow of `layer`, whose menu may switch to another layer.
    pub(super) fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, layer: &mut Layer) -> Vec<Command> {
        let frame = Frame::NONE.inner_margin(Margin::same(SPACE[2] as i8));
        frame.show(ui, |ui| self.content(ui, cx, layer)).inner
    }

    fn content(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, layer: &mut Layer) -> Vec<Command> {
        let all = cx.room.workflows.clone();
        let mut actions = LayerActions::default();
        let Some(file) = layer.workflow(&all.files) else {
            layer.menu(ui, cx, &mut actions.commands);
            let (title, how) = match layer {
                Layer::Workflow(Some(path)) if !cx.room.files.contains(path) => {
                    (texts::WORKFLOW_NOT_FOUND, texts::WORKFLOW_NOT_FOUND_HINT)
                }
                _ => (texts::NO_WORKFLOWS_YET, texts::NO_WORKFLOWS_HINT),
            };
            widgets::empty(ui, Icon::Graph, title, how, cx.theme);
            if all.files.is_empty() {
                ui.vertical_centered(|ui| {
                    if widgets::primary(ui, true, texts::DRAW_A_NEW_WORKFLOW, cx.theme).clicked() {
                        actions.commands.extend(menus::run(cx, "workflows.new"));
                    }
                });
            }
            return actions.commands;
        };
        if self.shown.as_ref() != Some(&file.path) {
            let (runs_next, focuses_answer) = (self.runs_next, self.focuses_answer);
            *self = Self { shown: Some(file.path.clone()), runs_next, focuses_answer, ..Self::default() };
        }
        self.update_selection(file);
        let run = all.newest(&file.path);
        self.run_if_requested(file, run, &mut actions);
        ui.horizontal_wrapped(|ui| {
            layer.menu(ui, cx, &mut actions.commands);
            self.bar(ui, cx, (file, run), &mut actions);
        });
        let info = ScrollArea::vertical().id_salt("words").max_height(ui.available_height() * INFO_HEIGHT_SHARE);
        info.show(ui, |ui| self.info_ui(ui, cx.theme, (file, run), &mut actions));
        ui.add_space(SPACE[1]);
        self.side_panel_ui(ui, cx, (file, run), &mut actions);
        self.handle_drop(ui, cx, file, &mut actions);
        let place = ui.available_rect_before_wrap();
        self.draw(ui, cx.theme, (file, run), &mut actions);
        if file.is_blank {
            let mut hint = ui.new_child(UiBuilder::new().max_rect(place));
            widgets::empty(&mut hint, Icon::Graph, texts::NO_STEPS_YET, texts::NO_STEPS_HINT, cx.theme);
        }
        self.remember_edits(file, &actions);
        actions.into_commands()
    }

    /// Draws the panel to the right of the drawing, with the chosen step or the workflow's details.
    fn side_panel_ui(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        (file, run): (&WorkflowView, Option<&RunView>),
        actions: &mut LayerActions,
    ) {
        let step = self.chosen.as_ref().and_then(|id| file.steps.iter().find(|step| step.id == *id));
        if step.is_none() && !self.shows_details {
            return;
        }
        let width = DIALOG[0].min(ui.available_width() / 2.0);
        egui::Panel::right("the step").resizable(false).exact_size(width).show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                // Keeps the content clear of the scroll bar.
                ui.set_max_width(ui.available_width() - SPACE[1]);
                match step {
                    Some(step) => {
                        if self.step_panel.show(ui, cx, (file, step, run), &mut actions.acts) {
                            self.chosen = None;
                        }
                    }
                    None => self.shows_details = !self.details.show(ui, cx.theme, file, &mut actions.acts),
                }
            });
        });
    }

    /// Chooses a step that was added or renamed once the file has it.
    fn update_selection(&mut self, file: &WorkflowView) {
        if let Some((from, to)) = &self.renamed
            && self.chosen.as_ref() == Some(from)
            && file.steps.iter().any(|step| step.id == *to)
        {
            self.chosen = self.renamed.take().map(|(_, to)| to);
        }
        if let (Some(count), Some(last)) = (self.steps_before_add, file.steps.last())
            && file.steps.len() != count
        {
            if file.steps.len() == count + 1 {
                self.chosen = Some(last.id.clone());
            }
            self.steps_before_add = None;
        }
    }

    /// Remembers which step to choose once the file has the edits.
    fn remember_edits(&mut self, file: &WorkflowView, actions: &LayerActions) {
        for act in &actions.acts {
            match act {
                WorkflowCommand::Edit { edit: WorkflowEdit::AddStep { .. }, .. } => {
                    self.steps_before_add = Some(file.steps.len());
                }
                WorkflowCommand::Edit { edit: WorkflowEdit::Rename { step, to }, .. } => {
                    self.renamed = Some((step.clone(), to.clone()));
                }
                _ => {}
            }
        }
    }

    /// Starts a run that was requested elsewhere.
    fn run_if_requested(&mut self, file: &WorkflowView, run: Option<&RunView>, actions: &mut LayerActions) {
        if std::mem::take(&mut self.runs_next) && can_run(file, run) {
            self.start_or_ask(file, actions);
        }
    }

    /// Starts a run, or first asks for its variables.
    fn start_or_ask(&mut self, file: &WorkflowView, actions: &mut LayerActions) {
        self.asks_variables = !file.variables.is_empty();
        self.focuses_first_variable = self.asks_variables;
        if !self.asks_variables {
            self.run(file, actions);
        }
    }

    /// Draws the buttons of the toolbar.
    fn bar(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        (file, run): (&WorkflowView, Option<&RunView>),
        actions: &mut LayerActions,
    ) {
        if widgets::primary(ui, can_run(file, run), texts::RUN_WORKFLOW, cx.theme).clicked() {
            self.start_or_ask(file, actions);
        }
        if let Some(run) = run.filter(|run| run.status == RunStatus::Running)
            && widgets::danger(ui, texts::STOP_WORKFLOW, cx.theme).clicked()
        {
            actions.acts.push(WorkflowCommand::Stop { run: run.key });
        }
        let is_open = |run: &&RunView| matches!(run.status, RunStatus::Failed | RunStatus::Stopped);
        if let Some(run) = run.filter(is_open)
            && ui.button(texts::RESUME_WORKFLOW).on_hover_text(texts::RESUME_WORKFLOW_HINT).clicked()
        {
            actions.acts.push(WorkflowCommand::Resume { run: run.key, state: None });
        }
        self.add_menu(ui, cx, file, actions);
        if ui.button(texts::DETAILS).on_hover_text(texts::DETAILS_HINT).clicked() {
            self.shows_details = !self.shows_details || self.chosen.is_some();
            self.chosen = None;
        }
        if ui.button(texts::OPEN_FILE).clicked() {
            actions.commands.push(Command::OpenFile(file.path.clone(), None));
        }
        if let Some(result) = run.and_then(|run| run.result.as_ref())
            && ui.button(texts::OPEN_RESULT).clicked()
        {
            actions.commands.push(Command::OpenFile(result.clone(), None));
        }
        let fit = widgets::icon_button(ui, Icon::Fit, texts::FIT_TO_VIEW, false, cx.theme);
        if keys_tip(fit, "graph.fit").clicked() {
            self.view.is_free = false;
        }
    }

    /// Draws the menu for adding a step. The new step comes after the chosen one.
    fn add_menu(&self, ui: &mut Ui, cx: &ViewerContext<'_>, file: &WorkflowView, actions: &mut LayerActions) {
        let after = self.chosen.as_ref().filter(|id| file.steps.iter().any(|step| step.id == **id));
        let shown = after.map_or_else(|| texts::ADD_A_STEP.to_owned(), |id| texts::add_a_step_after(id));
        let mut chosen = None;
        menu::drop_down(ui, texts::ADD_A_STEP, shown, MENU[0], cx.theme, |ui| {
            let yours = [(texts::YOU_APPROVE, AnswerKind::Approval), (texts::YOU_FILL_IN_A_FORM, AnswerKind::Form)];
            for (label, wants) in yours {
                if menu::choice(ui, false, label).clicked() {
                    chosen = Some(StepAssignee::Person(wants));
                }
            }
            ui.separator();
            for profile in cx.room.profiles.iter() {
                if menu::choice(ui, false, profile.name.as_str()).clicked() {
                    chosen = Some(StepAssignee::Agent(profile.id.to_string()));
                }
            }
            let others = cx.room.workflows.files.iter().filter(|other| other.path != file.path);
            for (index, other) in others.enumerate() {
                if index == 0 {
                    ui.separator();
                }
                if menu::choice(ui, false, &texts::workflow_named(&other.name)).clicked() {
                    chosen = Some(StepAssignee::Workflow(stem(&other.path).to_owned()));
                }
            }
        });
        if let Some(doer) = chosen {
            actions.edit(&file.path, WorkflowEdit::AddStep { doer, after: after.cloned() });
        }
    }

    /// Draws the newest run with its questions, the workflow's problems, and the form for the variables of a new run.
    fn info_ui(
        &mut self,
        ui: &mut Ui,
        theme: &Theme,
        (file, run): (&WorkflowView, Option<&RunView>),
        actions: &mut LayerActions,
    ) {
        if let Some(run) = run {
            ui.label(widgets::small(texts::run_status(run.key.number(), run.status.as_str(), &run.why), theme));
            for asked in &run.asked {
                self.answer(ui, theme, run, asked, actions);
            }
        }
        // If having no steps is the only problem, the drawing area says so.
        for problem in file.problems.iter().filter(|_| !file.is_blank) {
            ui.colored_label(theme.bad, problem);
        }
        if self.asks_variables {
            widgets::in_card(ui, theme, |ui| self.form(ui, theme, file, actions));
        }
        ui.add_space(SPACE[0]);
    }

    /// Draws the form for the variables of a new run.
    fn form(&mut self, ui: &mut Ui, theme: &Theme, file: &WorkflowView, actions: &mut LayerActions) {
        let (mut is_complete, mut is_entered) = (true, false);
        for (name, about, default) in &file.variables {
            let value = self.variables.entry(name.clone()).or_insert_with(|| default.clone());
            ui.label(widgets::small(texts::variable(name, about), theme));
            let field = widgets::field(ui, value, name, "");
            if std::mem::take(&mut self.focuses_first_variable) {
                field.request_focus();
            }
            is_entered |= widgets::entered(ui, &field);
            is_complete &= !value.trim().is_empty();
        }
        ui.horizontal(|ui| {
            let is_chosen = widgets::primary(ui, is_complete, texts::RUN_WITH_THESE_VALUES, theme).clicked();
            if is_chosen || (is_complete && is_entered) {
                self.asks_variables = false;
                self.run(file, actions);
            }
            if ui.button(texts::CANCEL).clicked() {
                self.asks_variables = false;
            }
        });
    }

    fn run(&self, file: &WorkflowView, actions: &mut LayerActions) {
        let is_declared = |name: &String| file.variables.iter().any(|(known, ..)| known == name);
        let variables = self.variables.iter().filter(|(name, _)| is_declared(name));
        let variables = variables.map(|(name, value)| (name.clone(), value.trim().to_owned())).collect();
        actions.acts.push(WorkflowCommand::Start { workflow: file.path.clone(), variables });
    }

    /// Draws the form for answering a question of a step.
    fn answer(&mut self, ui: &mut Ui, theme: &Theme, run: &RunView, asked: &AskedView, actions: &mut LayerActions) {
        let mut given_answer = None;
        widgets::in_card(ui, theme, |ui| {
            ui.label(texts::question_of_step(&asked.step));
            widgets::long_text(ui, &asked.step, &asked.question, QUESTION_CHARS, |ui, question| {
                markdown(ui, question, theme, &mut actions.commands);
            });
            let mut take_focus = |field: &egui::Response| {
                if std::mem::take(&mut self.focuses_answer) {
                    field.request_focus();
                    field.scroll_to_me(Some(egui::Align::Center));
                }
            };
            let drafts = self.answers.entry(asked.step.clone()).or_default();
            if asked.fields.is_empty() {
                let comment = drafts.entry(COMMENT.to_owned()).or_default();
                take_focus(&widgets::field(ui, comment, &texts::field_of_step(COMMENT, &asked.step), texts::COMMENT));
                let comment = comment.trim();
                ui.horizontal(|ui| {
                    if widgets::primary(ui, true, texts::APPROVE, theme).clicked() {
                        given_answer = Some(PersonAnswer::approval(true, comment));
                    }
                    if widgets::danger(ui, texts::DO_NOT_APPROVE, theme).clicked() {
                        given_answer = Some(PersonAnswer::approval(false, comment));
                    }
                });
                return;
            }
            for field in &asked.fields {
                let draft = drafts.entry(field.name.clone()).or_default();
                take_focus(&form_field(ui, theme, (field, &asked.step), draft));
            }
            let fields = asked.fields.iter().map(|field| {
                let text = drafts.get(&field.name).map(|text| text.trim().to_owned());
                (field.name.clone(), text.unwrap_or_default())
            });
            let fields: BTreeMap<String, String> = fields.collect();
            let is_complete = fields.values().all(|value| !value.is_empty());
            ui.horizontal(|ui| {
                if widgets::primary(ui, is_complete, texts::SEND_ANSWER, theme).clicked() {
                    given_answer = Some(PersonAnswer { fields, ..PersonAnswer::default() });
                }
                if widgets::danger(ui, texts::DECLINE, theme).on_hover_text(texts::DECLINE_HINT).clicked() {
                    given_answer = Some(PersonAnswer::approval(false, ""));
                }
            });
        });
        if let Some(answer) = given_answer {
            self.answers.remove(&asked.step);
            actions.acts.push(WorkflowCommand::Answer { run: run.key, step: asked.step.clone(), answer });
        }
    }

    /// Adds a step for an agent that is dragged here from the shelf or the files.
    fn handle_drop(&self, ui: &Ui, cx: &ViewerContext<'_>, file: &WorkflowView, actions: &mut LayerActions) {
        let Some(ShelfItem::Profile(profile)) = &cx.ui.transfer.dragging else { return };
        let place = ui.available_rect_before_wrap();
        let (released, pointer) = ui.input(|input| (input.pointer.any_released(), input.pointer.latest_pos()));
        let Some(pointer) = pointer.filter(|pointer| place.contains(*pointer)) else { return };
        if released {
            let doer = StepAssignee::Agent(profile.to_string());
            actions.edit(&file.path, WorkflowEdit::AddStep { doer, after: None });
            actions.commands.push(WindowCommand::Drag(None).into());
            return;
        }
        let painter = ui.ctx().layer_painter(egui::LayerId::new(egui::Order::Tooltip, egui::Id::new("new step")));
        let card = egui::Rect::from_center_size(pointer, placing::CARD * self.view.zoom);
        let stroke = egui::Stroke::new(LINE[1], cx.theme.accent);
        painter.rect_filled(card, RADIUS[1], cx.theme.card.gamma_multiply(0.8));
        painter.rect_stroke(card, RADIUS[1], stroke, egui::StrokeKind::Inside);
        let font = egui::FontId::proportional(TYPE[0]);
        painter.text(card.center(), egui::Align2::CENTER_CENTER, texts::step_for(profile), font, cx.theme.text);
    }
}

/// Draws a form field with its description and a control for its kind.
fn form_field(ui: &mut Ui, theme: &Theme, (field, step): (&Output, &str), draft: &mut String) -> egui::Response {
    let about = ui.label(widgets::small(texts::variable(&field.name, &field.description), theme));
    let label = texts::field_of_step(&field.name, step);
    match field.kind {
        OutputKind::Text => widgets::field(ui, draft, &label, ""),
        OutputKind::List => widgets::area(ui, draft, &label, texts::ONE_ENTRY_PER_LINE, LIST_ROWS),
        OutputKind::YesNo => {
            let choices = [("yes", texts::YES), ("no", texts::NO)];
            let shown = choices.map(|(_, word)| (word.to_owned(), texts::variable(&field.name, word)));
            let chosen = choices.iter().position(|(value, _)| *value == *draft);
            if let Some(index) = widgets::segments(ui, &shown, chosen, theme) {
                choices[index].0.clone_into(draft);
            }
            about
        }
    }
}

/// Whether a workflow can be started.
fn can_run(file: &WorkflowView, run: Option<&RunView>) -> bool {
    file.problems.is_empty() && run.is_none_or(|run| run.status != RunStatus::Running)
}
