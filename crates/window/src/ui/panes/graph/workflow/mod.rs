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
use crate::orchestration::workflow::definition::{COMMENT, Output, PersonWants};
use crate::orchestration::workflow::edit::{StepAssignee, WorkflowEdit};
use crate::orchestration::workflow::format::stem;
use crate::orchestration::workflow::value::OutputKind;
use crate::orchestration::workflow::{PersonAnswer, RunStatus, WorkflowCommand};
use crate::ui::Command;
use crate::ui::commands::{RoomAct, WindowCommand};
use crate::ui::context::ViewerContext;
use crate::ui::menus::{self, keys_tip};
use crate::ui::state::ShelfItem;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::menu;
use crate::view::theme::{DIALOG, LINE, MENU, RADIUS, SPACE, TYPE, Theme};
use crate::view::workflows::{AskedView, RunView, WorkflowView};

/// A list is filled in in so many rows.
const LIST_ROWS: usize = 4;
/// The words above the drawing take no more of the height.
const WORDS_SHARE: f32 = 0.45;

/// What the layer keeps between frames.
#[derive(Clone, Debug, Default)]
pub struct WorkflowLayer {
    /// The file that is shown.
    shown: Option<String>,
    view: View,
    placed: placing::Placed,
    /// The step that is looked at, by id.
    chosen: Option<String>,
    /// The step that is looked at gets another name as soon as its file says so: from and to.
    renamed: Option<(String, String)>,
    /// The number of steps before one was added: the new one is selected as soon as it exists.
    awaited: Option<usize>,
    /// Whether the workflow itself is looked at.
    shows_details: bool,
    /// The step from which an arrow is being drawn.
    linking: Option<String>,
    /// Whether it is to run as soon as it is shown.
    pub(super) runs_next: bool,
    /// Whether what a run is about is being asked.
    asks: bool,
    /// Whether that was asked for just now: the first field is to have the keyboard.
    is_asking_anew: bool,
    /// What a run is to be about, by variable.
    variables: BTreeMap<String, String>,
    /// What is being written about the step that is looked at.
    side: side_panel::Side,
    /// What is being written about the workflow itself.
    details: details::Details,
    /// What is being answered, by step and field.
    answers: BTreeMap<String, BTreeMap<String, String>>,
}

/// What is done here.
#[derive(Default)]
struct Done {
    acts: Vec<WorkflowCommand>,
    commands: Vec<Command>,
}

impl Done {
    /// As commands; changes that were made at once are taken back as one.
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
    /// Draws the workflow of this layer, or another layer's name where the person chooses that.
    pub(super) fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, layer: &mut Layer) -> Vec<Command> {
        let frame = Frame::NONE.inner_margin(Margin::same(SPACE[2] as i8));
        frame.show(ui, |ui| self.content(ui, cx, layer)).inner
    }

    fn content(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, layer: &mut Layer) -> Vec<Command> {
        let all = cx.room.workflows.clone();
        let mut done = Done::default();
        let Some(file) = layer.workflow(&all.files) else {
            layer.menu(ui, cx, &mut done.commands);
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
                        done.commands.extend(menus::run(cx, "workflows.new"));
                    }
                });
            }
            return done.commands;
        };
        if self.shown.as_ref() != Some(&file.path) {
            *self = Self { shown: Some(file.path.clone()), runs_next: self.runs_next, ..Self::default() };
        }
        self.follow(file);
        let run = all.newest(&file.path);
        self.run_if_wanted(file, run, &mut done);
        ui.horizontal_wrapped(|ui| {
            layer.menu(ui, cx, &mut done.commands);
            self.bar(ui, cx, (file, run), &mut done);
        });
        let words = ScrollArea::vertical().id_salt("words").max_height(ui.available_height() * WORDS_SHARE);
        words.show(ui, |ui| self.info_ui(ui, cx.theme, (file, run), &mut done));
        ui.add_space(SPACE[1]);
        self.beside(ui, cx, (file, run), &mut done);
        self.take_drop(ui, cx, file, &mut done);
        let place = ui.available_rect_before_wrap();
        self.draw(ui, cx.theme, (file, run), &mut done);
        if file.is_blank {
            let mut hint = ui.new_child(UiBuilder::new().max_rect(place));
            widgets::empty(&mut hint, Icon::Graph, texts::NO_STEPS_YET, texts::NO_STEPS_HINT, cx.theme);
        }
        self.note(file, &done);
        done.into_commands()
    }

    /// What is looked at, at the right of the drawing: a step, or the workflow itself.
    fn beside(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        (file, run): (&WorkflowView, Option<&RunView>),
        done: &mut Done,
    ) {
        let step = self.chosen.as_ref().and_then(|id| file.steps.iter().find(|step| step.id == *id));
        if step.is_none() && !self.shows_details {
            return;
        }
        let width = DIALOG[0].min(ui.available_width() / 2.0);
        egui::Panel::right("the step").resizable(false).exact_size(width).show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                // The scroll bar lies over nothing.
                ui.set_max_width(ui.available_width() - SPACE[1]);
                match step {
                    Some(step) => {
                        if self.side.show(ui, cx, (file, step, run), &mut done.acts) {
                            self.chosen = None;
                        }
                    }
                    None => self.shows_details = !self.details.show(ui, cx.theme, file, &mut done.acts),
                }
            });
        });
    }

    /// Looks at what was added or renamed, as soon as the file has it.
    fn follow(&mut self, file: &WorkflowView) {
        if let Some((from, to)) = &self.renamed
            && self.chosen.as_ref() == Some(from)
            && file.steps.iter().any(|step| step.id == *to)
        {
            self.chosen = self.renamed.take().map(|(_, to)| to);
        }
        if let (Some(count), Some(last)) = (self.awaited, file.steps.last())
            && file.steps.len() != count
        {
            if file.steps.len() == count + 1 {
                self.chosen = Some(last.id.clone());
            }
            self.awaited = None;
        }
    }

    /// Notes what is to be looked at once the file has it.
    fn note(&mut self, file: &WorkflowView, done: &Done) {
        for act in &done.acts {
            match act {
                WorkflowCommand::Edit { edit: WorkflowEdit::AddStep { .. }, .. } => {
                    self.awaited = Some(file.steps.len());
                }
                WorkflowCommand::Edit { edit: WorkflowEdit::Rename { step, to }, .. } => {
                    self.renamed = Some((step.clone(), to.clone()));
                }
                _ => {}
            }
        }
    }

    /// Starts a run that was requested elsewhere.
    fn run_if_wanted(&mut self, file: &WorkflowView, run: Option<&RunView>, done: &mut Done) {
        if std::mem::take(&mut self.runs_next) && may_run(file, run) {
            self.begin(file, done);
        }
    }

    /// Runs it, or first asks for its input.
    fn begin(&mut self, file: &WorkflowView, done: &mut Done) {
        self.asks = !file.variables.is_empty();
        self.is_asking_anew = self.asks;
        if !self.asks {
            self.run(file, done);
        }
    }

    /// What can be done with it.
    fn bar(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        (file, run): (&WorkflowView, Option<&RunView>),
        done: &mut Done,
    ) {
        if widgets::primary(ui, may_run(file, run), texts::RUN_WORKFLOW, cx.theme).clicked() {
            self.begin(file, done);
        }
        if let Some(run) = run.filter(|run| run.status == RunStatus::Running)
            && widgets::danger(ui, texts::STOP_WORKFLOW, cx.theme).clicked()
        {
            done.acts.push(WorkflowCommand::Stop { run: run.key });
        }
        let is_open = |run: &&RunView| matches!(run.status, RunStatus::Failed | RunStatus::Stopped);
        if let Some(run) = run.filter(is_open)
            && ui.button(texts::RESUME_WORKFLOW).on_hover_text(texts::RESUME_WORKFLOW_HINT).clicked()
        {
            done.acts.push(WorkflowCommand::Resume { run: run.key, state: None });
        }
        self.add_menu(ui, cx, file, done);
        if ui.button(texts::DETAILS).on_hover_text(texts::DETAILS_HINT).clicked() {
            self.shows_details = !self.shows_details || self.chosen.is_some();
            self.chosen = None;
        }
        if ui.button(texts::OPEN_FILE).clicked() {
            done.commands.push(Command::OpenFile(file.path.clone(), None));
        }
        if let Some(result) = run.and_then(|run| run.result.as_ref())
            && ui.button(texts::OPEN_RESULT).clicked()
        {
            done.commands.push(Command::OpenFile(result.clone(), None));
        }
        let fit = widgets::icon_button(ui, Icon::Fit, texts::FIT_TO_VIEW, false, cx.theme);
        if keys_tip(fit, "graph.fit").clicked() {
            self.view.is_free = false;
        }
    }

    /// The list of who can do a new step. Where a step is looked at, the new one comes after it.
    fn add_menu(&self, ui: &mut Ui, cx: &ViewerContext<'_>, file: &WorkflowView, done: &mut Done) {
        let after = self.chosen.as_ref().filter(|id| file.steps.iter().any(|step| step.id == **id));
        let shown = after.map_or_else(|| texts::ADD_A_STEP.to_owned(), |id| texts::add_a_step_after(id));
        let mut chosen = None;
        menu::drop_down(ui, texts::ADD_A_STEP, shown, MENU[0], cx.theme, |ui| {
            let yours = [(texts::YOU_APPROVE, PersonWants::Approval), (texts::YOU_FILL_IN_A_FORM, PersonWants::Form)];
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
            done.edit(&file.path, WorkflowEdit::AddStep { doer, after: after.cloned() });
        }
    }

    /// Its information: the newest run, its questions, its problems, and the input of a new run.
    fn info_ui(&mut self, ui: &mut Ui, theme: &Theme, (file, run): (&WorkflowView, Option<&RunView>), done: &mut Done) {
        if let Some(run) = run {
            ui.label(widgets::small(texts::run_is(run.key.number(), run.status.word(), &run.why), theme));
            for asked in &run.asked {
                self.answer(ui, theme, run, asked, done);
            }
        }
        // If the only problem is that there are no steps, the drawing area says so.
        for problem in file.problems.iter().filter(|_| !file.is_blank) {
            ui.colored_label(theme.bad, problem);
        }
        if self.asks {
            widgets::in_card(ui, theme, |ui| self.form(ui, theme, file, done));
        }
        ui.add_space(SPACE[0]);
    }

    /// What a run is to be about.
    fn form(&mut self, ui: &mut Ui, theme: &Theme, file: &WorkflowView, done: &mut Done) {
        let (mut is_whole, mut is_entered) = (true, false);
        for (name, about, default) in &file.variables {
            let value = self.variables.entry(name.clone()).or_insert_with(|| default.clone());
            ui.label(widgets::small(texts::variable(name, about), theme));
            let field = widgets::field(ui, value, name, "");
            if std::mem::take(&mut self.is_asking_anew) {
                field.request_focus();
            }
            is_entered |= widgets::entered(ui, &field);
            is_whole &= !value.trim().is_empty();
        }
        ui.horizontal(|ui| {
            let is_chosen = widgets::primary(ui, is_whole, texts::RUN_WITH_THESE_VALUES, theme).clicked();
            if is_chosen || (is_whole && is_entered) {
                self.asks = false;
                self.run(file, done);
            }
            if ui.button(texts::CANCEL).clicked() {
                self.asks = false;
            }
        });
    }

    fn run(&self, file: &WorkflowView, done: &mut Done) {
        let is_its = |name: &String| file.variables.iter().any(|(known, ..)| known == name);
        let variables = self.variables.iter().filter(|(name, _)| is_its(name));
        let variables = variables.map(|(name, value)| (name.clone(), value.trim().to_owned())).collect();
        done.acts.push(WorkflowCommand::Start { workflow: file.path.clone(), variables });
    }

    /// What a step asks the person, with what is to be filled in.
    fn answer(&mut self, ui: &mut Ui, theme: &Theme, run: &RunView, asked: &AskedView, done: &mut Done) {
        let mut said = None;
        widgets::in_card(ui, theme, |ui| {
            ui.label(texts::question_of_step(&asked.step, &asked.question));
            let drafts = self.answers.entry(asked.step.clone()).or_default();
            if asked.fields.is_empty() {
                let comment = drafts.entry(COMMENT.to_owned()).or_default();
                widgets::field(ui, comment, &texts::field_of_step(COMMENT, &asked.step), texts::COMMENT);
                let comment = comment.trim();
                ui.horizontal(|ui| {
                    if widgets::primary(ui, true, texts::APPROVE, theme).clicked() {
                        said = Some(PersonAnswer::approval(true, comment));
                    }
                    if widgets::danger(ui, texts::DO_NOT_APPROVE, theme).clicked() {
                        said = Some(PersonAnswer::approval(false, comment));
                    }
                });
                return;
            }
            for field in &asked.fields {
                let draft = drafts.entry(field.name.clone()).or_default();
                form_field(ui, theme, (field, &asked.step), draft);
            }
            let fields = asked.fields.iter().map(|field| {
                let given = drafts.get(&field.name).map(|text| text.trim().to_owned());
                (field.name.clone(), given.unwrap_or_default())
            });
            let fields: BTreeMap<String, String> = fields.collect();
            let is_whole = fields.values().all(|value| !value.is_empty());
            ui.horizontal(|ui| {
                if widgets::primary(ui, is_whole, texts::SEND_ANSWER, theme).clicked() {
                    said = Some(PersonAnswer { fields, ..PersonAnswer::default() });
                }
                if widgets::danger(ui, texts::DECLINE, theme).on_hover_text(texts::DECLINE_HINT).clicked() {
                    said = Some(PersonAnswer::approval(false, ""));
                }
            });
        });
        if let Some(answer) = said {
            self.answers.remove(&asked.step);
            done.acts.push(WorkflowCommand::Answer { run: run.key, step: asked.step.clone(), answer });
        }
    }

    /// An agent that is dragged here from the shelf or the files becomes a step.
    fn take_drop(&self, ui: &Ui, cx: &ViewerContext<'_>, file: &WorkflowView, done: &mut Done) {
        let Some(ShelfItem::Profile(profile)) = &cx.ui.transfer.dragging else { return };
        let place = ui.available_rect_before_wrap();
        let (released, pointer) = ui.input(|input| (input.pointer.any_released(), input.pointer.latest_pos()));
        let Some(pointer) = pointer.filter(|pointer| place.contains(*pointer)) else { return };
        if released {
            let doer = StepAssignee::Agent(profile.to_string());
            done.edit(&file.path, WorkflowEdit::AddStep { doer, after: None });
            done.commands.push(WindowCommand::Drag(None).into());
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

/// A field of a form: what it is, and a control that fits its kind.
fn form_field(ui: &mut Ui, theme: &Theme, (field, step): (&Output, &str), draft: &mut String) {
    ui.label(widgets::small(texts::variable(&field.name, &field.description), theme));
    let label = texts::field_of_step(&field.name, step);
    match field.kind {
        OutputKind::Text => {
            widgets::field(ui, draft, &label, "");
        }
        OutputKind::List => {
            widgets::area(ui, draft, &label, texts::ONE_ENTRY_PER_LINE, LIST_ROWS);
        }
        OutputKind::YesNo => {
            let choices = [("yes", texts::YES), ("no", texts::NO)];
            let shown = choices.map(|(_, word)| (word.to_owned(), texts::variable(&field.name, word)));
            let chosen = choices.iter().position(|(value, _)| *value == *draft);
            if let Some(index) = widgets::segments(ui, &shown, chosen, theme) {
                choices[index].0.clone_into(draft);
            }
        }
    }
}

/// Whether a workflow can begin.
fn may_run(file: &WorkflowView, run: Option<&RunView>) -> bool {
    file.problems.is_empty() && run.is_none_or(|run| run.status != RunStatus::Running)
}
