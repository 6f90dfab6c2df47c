//! The interface of a pane that is added to the window in one file: its state, its commands with their keys and menus,
//! and slow work whose result is passed back to it.

use std::fmt;

use egui::Ui;

use crate::ui::Command;
use crate::ui::commands::job::JobResult;
use crate::ui::commands::table::CommandInfo;
use crate::ui::context::ViewerContext;

/// A pane that is added to the window. It holds its own state.
pub trait Pane: Send {
    /// Names it for ever: in layouts that are written down, and in the ids of its commands.
    fn word(&self) -> &'static str;

    /// What its tab is called.
    fn title(&self) -> &'static str;

    /// Its commands: they are listed in the menus, the palette, the list of keys and `workshop --help-keys` like all
    /// others.
    fn commands(&self) -> Vec<CommandInfo> {
        Vec::new()
    }

    /// Draws it; what the person did comes back.
    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command>;

    /// Does one of its commands that concerns its own state:
    /// [`WindowCommand::Pane`](crate::ui::commands::WindowCommand::Pane).
    fn apply(&mut self, command: &str) -> Vec<Command> {
        let _ = command;
        Vec::new()
    }

    /// Receives the result of a job that it requested, by the job's name.
    fn finish(&mut self, job: &str, result: JobResult) {
        let _ = (job, result);
    }

    /// The same pane once more, for a picture of the window.
    fn boxed_clone(&self) -> Box<dyn Pane>;
}

/// The panes that were added, in order.
#[derive(Default)]
pub struct AddedPanes(Vec<Box<dyn Pane>>);

impl Clone for AddedPanes {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|pane| pane.boxed_clone()).collect())
    }
}

impl fmt::Debug for AddedPanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|pane| pane.word())).finish()
    }
}

impl AddedPanes {
    /// Adds one; one of the same word gives way.
    pub fn add(&mut self, pane: Box<dyn Pane>) {
        self.0.retain(|other| other.word() != pane.word());
        self.0.push(pane);
    }

    /// The commands of all of them.
    pub fn commands(&self) -> impl Iterator<Item = CommandInfo> {
        self.0.iter().flat_map(|pane| pane.commands())
    }

    /// The pane of this word.
    pub fn find(&mut self, word: &str) -> Option<&mut (dyn Pane + 'static)> {
        self.0.iter_mut().find(|pane| pane.word() == word).map(|pane| &mut **pane)
    }

    /// What the tab of this pane is called, if it is there.
    pub fn title(&self, word: &str) -> Option<&'static str> {
        self.0.iter().find(|pane| pane.word() == word).map(|pane| pane.title())
    }
}
