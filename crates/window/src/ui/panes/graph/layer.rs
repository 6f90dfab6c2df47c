//! The layers of the graph: agents and who started them, or the steps of a workflow. One is shown at a time.

use egui::Ui;

use super::texts;
use crate::ui::Command;
use crate::ui::commands::table::Menu;
use crate::ui::context::ViewerContext;
use crate::ui::menus;
use crate::ui::widgets::menu;
use crate::view::theme::MENU;
use crate::view::workflows::WorkflowView;

/// A layer of the graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Layer {
    /// Agents with who started them, and the files that they read and wrote.
    #[default]
    Agents,
    /// The workflow with this file path, or the first workflow if there is no path.
    Workflow(Option<String>),
}

impl Layer {
    /// Returns the workflow to show, if this is a workflow layer.
    pub fn workflow<'a>(&self, files: &'a [WorkflowView]) -> Option<&'a WorkflowView> {
        match self {
            Self::Agents => None,
            Self::Workflow(None) => files.first(),
            Self::Workflow(Some(path)) => files.iter().find(|file| file.path == *path),
        }
    }

    /// Draws the menu of layers, with a submenu to create a workflow.
    pub fn menu(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
        let files = &cx.room.workflows.files;
        let shown = self.workflow(files);
        let label = match (&*self, shown) {
            (_, Some(file)) => file.name.clone(),
            (Self::Agents, None) => texts::AGENTS.to_owned(),
            (Self::Workflow(_), None) => texts::WORKFLOWS.to_owned(),
        };
        let shown = shown.map(|file| file.path.clone());
        menu::drop_down(ui, texts::LAYER, label, MENU[0], cx.theme, |ui| {
            if menu::choice(ui, *self == Self::Agents, texts::AGENTS).clicked() {
                *self = Self::Agents;
            }
            for file in files.iter() {
                if menu::choice(ui, shown.as_ref() == Some(&file.path), &file.name).clicked() {
                    *self = Self::Workflow(Some(file.path.clone()));
                }
            }
            ui.separator();
            menu::submenu(ui, texts::NEW_WORKFLOW, MENU[0], cx.theme, |ui| {
                menus::entries(ui, cx, Menu::NewWorkflow, commands);
            });
        });
    }
}
