//! Workflows as they are drawn: steps in order from left to right, with what each is at in the newest run, run from here and
//! changed here.

mod drawing;
mod side;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use egui::{ScrollArea, Ui};

use super::port::Pane;
use crate::orchestration::workflow::edit::WorkflowEdit;
use crate::orchestration::workflow::{PersonAnswer, RunStatus, WorkflowCommand};
use crate::ui::Command;
use crate::ui::commands::table::{CommandInfo, Menu};
use crate::ui::commands::{RoomAct, WindowCommand};
use crate::ui::context::ViewerContext;
use crate::ui::state::ShelfItem;
use crate::ui::state::dock::Tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::menu;
use crate::view::theme::{DIALOG, MENU, SPACE, Theme};
use crate::view::workflows::{AskedView, RunView, WorkflowView};

const WORD: &str = "workflows";

/// What the pane keeps between frames.
#[derive(Clone, Debug, Default)]
pub struct WorkflowsPane {
    /// The file that is shown; the first where absent.
    shown: Option<String>,
    /// The step that is looked at, by id.
    chosen: Option<String>,
    /// The step from which an arrow is being drawn.
    linking: Option<String>,
    /// Whether what a run is about is being asked.
    asks: bool,
    /// What a run is to be about, by variable.
    variables: BTreeMap<String, String>,
    /// What is being written into the fields of the step that is looked at.
    drafts: side::Drafts,
    /// What is being answered, by step and field.
    answers: BTreeMap<(String, String), String>,
}

impl Pane for WorkflowsPane {
    fn word(&self) -> &'static str {
        WORD
    }

    fn title(&self) -> &'static str {
        "Workflows"
    }

    fn commands(&self) -> Vec<CommandInfo> {
        vec![
            CommandInfo::new("workflows.show", "Show and run workflows", |_| {
                vec![Command::Show(Tab::Pane(WORD.to_owned()))]
            })
            .menus(&[(Menu::Panes, "Workflows")]),
        ]
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        widgets::dressed(ui, cx.theme, |ui| self.content(ui, cx))
    }

    fn boxed_clone(&self) -> Box<dyn Pane> {
        Box::new(self.clone())
    }
}

/// What is done in the pane.
#[derive(Default)]
struct Done {
    acts: Vec<WorkflowCommand>,
    commands: Vec<Command>,
}

impl Done {
    fn edit(&mut self, path: &str, edit: WorkflowEdit) {
        self.acts.push(WorkflowCommand::Edit { path: path.to_owned(), edit });
    }
}

impl WorkflowsPane {
    fn content(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        let all = cx.room.workflows.clone();
        let shown = self.shown.as_ref().and_then(|path| all.files.iter().find(|file| file.path == *path));
        let Some(file) = shown.or(all.files.first()) else {
            let how = "Write a file in workflows/, or begin with one of four: workshop init --workflow chain.";
            widgets::empty(ui, Icon::Graph, "There are no workflows yet", how, cx.theme);
            return Vec::new();
        };
        let run = all.newest(&file.path);
        let mut done = Done::default();
        self.bar(ui, cx, (file, run), &mut done);
        self.told(ui, cx.theme, (file, run), &mut done);
        let chosen = self.chosen.as_ref().and_then(|id| file.steps.iter().find(|step| step.id == *id));
        if let Some(step) = chosen {
            let width = DIALOG[0].min(ui.available_width() / 2.0);
            egui::Panel::right("the step").resizable(false).exact_size(width).show(ui, |ui| {
                ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                    let closes = self.drafts.show(ui, cx, (file, step, run), &mut done.acts);
                    if closes {
                        self.chosen = None;
                    }
                });
            });
        }
        self.take_drop(ui, cx, file, &mut done);
        self.draw(ui, cx.theme, (file, run), &mut done);
        let acts = done.acts.into_iter().map(|act| Command::Act(RoomAct::Workflow(act), None));
        acts.chain(done.commands).collect()
    }

    /// Which workflow it is, and what can be done with it.
    fn bar(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        (file, run): (&WorkflowView, Option<&RunView>),
        done: &mut Done,
    ) {
        ui.horizontal_wrapped(|ui| {
            menu::drop_down(ui, "Workflow", file.name.as_str(), MENU[1], cx.theme, |ui| {
                for other in &cx.room.workflows.files {
                    if menu::choice(ui, other.path == file.path, &other.name).clicked() {
                        *self = Self { shown: Some(other.path.clone()), ..Self::default() };
                    }
                }
            });
            let goes_on = run.filter(|run| run.status == RunStatus::Running);
            let may_run = file.problems.is_empty() && goes_on.is_none();
            if widgets::primary(ui, may_run, "Run workflow", cx.theme).clicked() {
                self.asks = !file.variables.is_empty();
                if !self.asks {
                    self.run(file, done);
                }
            }
            if let Some(run) = goes_on
                && widgets::danger(ui, "Stop workflow", cx.theme).clicked()
            {
                done.acts.push(WorkflowCommand::Stop { run: run.key });
            }
            let is_open = |run: &&RunView| matches!(run.status, RunStatus::Failed | RunStatus::Stopped);
            if let Some(run) = run.filter(is_open)
                && ui
                    .button("Resume workflow")
                    .on_hover_text("Goes on with what is left; what is done stays done")
                    .clicked()
            {
                done.acts.push(WorkflowCommand::Resume { run: run.key, state: None });
            }
            menu::drop_down(ui, "Add a step", "Add a step", MENU[0], cx.theme, |ui| {
                for profile in cx.room.profiles.iter() {
                    if menu::choice(ui, false, profile.name.as_str()).clicked() {
                        done.edit(&file.path, WorkflowEdit::AddStep { agent: profile.id.to_string() });
                    }
                }
            });
            if ui.button("Open file").clicked() {
                done.commands.push(Command::OpenFile(file.path.clone(), None));
            }
            if let Some(result) = run.and_then(|run| run.result.as_ref())
                && ui.button("Open result").clicked()
            {
                done.commands.push(Command::OpenFile(result.clone(), None));
            }
        });
    }

    /// What is to be said of it: how the newest run is, what it asks, what is wrong, and what a new one is to be about.
    fn told(&mut self, ui: &mut Ui, theme: &Theme, (file, run): (&WorkflowView, Option<&RunView>), done: &mut Done) {
        if let Some(run) = run {
            let why = if run.why.is_empty() { String::new() } else { format!(": {}", run.why) };
            ui.label(widgets::small(format!("{} is {}{why}", run.key, run.status.word()), theme));
            for asked in &run.asked {
                self.answer(ui, theme, run, asked, done);
            }
        }
        for problem in &file.problems {
            ui.colored_label(theme.bad, problem);
        }
        if self.asks {
            widgets::in_card(ui, theme, |ui| self.form(ui, theme, file, done));
        }
        ui.add_space(SPACE[0]);
    }

    /// What a run is to be about.
    fn form(&mut self, ui: &mut Ui, theme: &Theme, file: &WorkflowView, done: &mut Done) {
        let mut is_whole = true;
        for (name, about, default) in &file.variables {
            let value = self.variables.entry(name.clone()).or_insert_with(|| default.clone());
            widgets::field(ui, value, name, if about.is_empty() { name } else { about });
            is_whole &= !value.trim().is_empty();
        }
        ui.horizontal(|ui| {
            if widgets::primary(ui, is_whole, "Run with these", theme).clicked() {
                self.asks = false;
                self.run(file, done);
            }
            if ui.button("Cancel").clicked() {
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

    /// A step that is the person's.
    fn answer(&mut self, ui: &mut Ui, theme: &Theme, run: &RunView, asked: &AskedView, done: &mut Done) {
        let mut said = None;
        widgets::in_card(ui, theme, |ui| {
            ui.label(format!("{}: {}", asked.step, asked.question));
            let fields: Vec<&str> = match asked.fields.is_empty() {
                true => vec!["comment"],
                false => asked.fields.iter().map(String::as_str).collect(),
            };
            for field in &fields {
                let draft = self.answers.entry((asked.step.clone(), (*field).to_owned())).or_default();
                widgets::field(ui, draft, &format!("{field} of {}", asked.step), field);
            }
            let value = |field: &str| {
                self.answers
                    .get(&(asked.step.clone(), field.to_owned()))
                    .map(|text| text.trim().to_owned())
                    .unwrap_or_default()
            };
            ui.horizontal(|ui| {
                if asked.fields.is_empty() {
                    if widgets::primary(ui, true, "Approve", theme).clicked() {
                        said = Some(PersonAnswer::approval(true, &value("comment")));
                    }
                    if widgets::danger(ui, "Do not approve", theme).clicked() {
                        said = Some(PersonAnswer::approval(false, &value("comment")));
                    }
                } else {
                    let given: BTreeMap<String, String> =
                        asked.fields.iter().map(|field| (field.clone(), value(field))).collect();
                    let is_whole = given.values().all(|value| !value.is_empty());
                    if widgets::primary(ui, is_whole, "Send answer", theme).clicked() {
                        said = Some(PersonAnswer { fields: given, ..PersonAnswer::default() });
                    }
                }
            });
        });
        if let Some(answer) = said {
            self.answers.retain(|(step, _), _| *step != asked.step);
            done.acts.push(WorkflowCommand::Answer { run: run.key, step: asked.step.clone(), answer });
        }
    }

    /// An agent that is dragged here from the shelf becomes a step.
    fn take_drop(&self, ui: &Ui, cx: &ViewerContext<'_>, file: &WorkflowView, done: &mut Done) {
        let Some(ShelfItem::Profile(profile)) = &cx.ui.transfer.dragging else { return };
        let place = ui.available_rect_before_wrap();
        let (released, pointer) = ui.input(|input| (input.pointer.any_released(), input.pointer.latest_pos()));
        if released && pointer.is_some_and(|pointer| place.contains(pointer)) {
            done.edit(&file.path, WorkflowEdit::AddStep { agent: profile.to_string() });
            done.commands.push(WindowCommand::Drag(None).into());
        }
    }
}
