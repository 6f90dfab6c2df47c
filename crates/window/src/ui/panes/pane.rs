//! The interface of self-contained panes, which bring their own state, commands and background jobs.

use std::fmt;

use egui::Ui;

use crate::ui::Command;
use crate::ui::commands::job::JobResult;
use crate::ui::commands::table::CommandInfo;
use crate::ui::context::ViewerContext;

/// A pane that holds its own state.
pub trait Pane: Send {
    /// Returns the permanent id of the pane, which appears in saved layouts and in the ids of its commands.
    fn id(&self) -> &'static str;

    /// Returns the title of its tab.
    fn title(&self) -> &'static str;

    /// Returns its commands, which appear in the menus, the palette, the list of keys and `workshop --help-keys` like
    /// all others.
    fn commands(&self) -> Vec<CommandInfo> {
        Vec::new()
    }

    /// Draws the pane and returns the resulting commands.
    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command>;

    /// Executes a command on the pane's own state: [`WindowCommand::Pane`](crate::ui::commands::WindowCommand::Pane).
    fn apply(&mut self, command: &str) -> Vec<Command> {
        let _ = command;
        Vec::new()
    }

    /// Receives the result of a background job that the pane started, by the job's name.
    fn finish(&mut self, job: &str, result: JobResult) {
        let _ = (job, result);
    }

    /// Clones the pane, for screenshots of the window.
    fn boxed_clone(&self) -> Box<dyn Pane>;
}

/// The self-contained panes, in the order in which they were added.
#[derive(Default)]
pub struct AddedPanes(Vec<Box<dyn Pane>>);

impl Clone for AddedPanes {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|pane| pane.boxed_clone()).collect())
    }
}

impl fmt::Debug for AddedPanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|pane| pane.id())).finish()
    }
}

impl AddedPanes {
    /// Adds a pane, replacing one with the same word.
    pub fn add(&mut self, pane: Box<dyn Pane>) {
        self.0.retain(|other| other.id() != pane.id());
        self.0.push(pane);
    }

    /// Returns the commands of all panes.
    pub fn commands(&self) -> impl Iterator<Item = CommandInfo> {
        self.0.iter().flat_map(|pane| pane.commands())
    }

    /// Returns the pane with this word.
    pub fn find(&mut self, word: &str) -> Option<&mut (dyn Pane + 'static)> {
        self.0.iter_mut().find(|pane| pane.id() == word).map(|pane| &mut **pane)
    }

    /// Returns the tab title of the pane with this word.
    pub fn title(&self, word: &str) -> Option<&'static str> {
        self.0.iter().find(|pane| pane.id() == word).map(|pane| pane.title())
    }
}
