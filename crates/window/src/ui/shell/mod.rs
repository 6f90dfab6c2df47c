//! The window as a whole: which panels there are, where they stand, and the room in the middle.

pub mod dialogs;
pub mod file_dialogs;
pub mod help;
mod notice_card;
pub mod notice_list;
pub mod notices;
pub mod palette;
mod pane_area;
pub mod pane_states;
pub mod provider;
mod provider_notices;
pub mod run_bar;
pub mod settings;
pub mod top_bar;
pub mod window_commands;

use std::collections::BTreeSet;

use egui::{Frame, Margin, Panel, Ui};

use self::file_dialogs::FileAsking;
use self::pane_area::Panes;
use self::pane_states::PaneStates;
use crate::ui::commands::table::{CommandContext, CommandTable};
use crate::ui::commands::{WindowCommand, keys};
use crate::ui::context::ViewerContext;
use crate::ui::panes::port::Pane;
use crate::ui::panes::{self, editor, overlays};
use crate::ui::{Command, UiState};
use crate::view::art::Art;
use crate::view::model::RoomModel;
use crate::view::recent::Recent;
use crate::view::theme::{SPACE, Theme};

/// What the window keeps between frames beside [`UiState`]: the state of each pane, and the table of commands.
pub struct Shell {
    /// The panes.
    pub panes: PaneStates,
    table: CommandTable,
    file_asking: FileAsking,
}

impl Default for Shell {
    fn default() -> Self {
        let mut shell = Self::of(PaneStates::default());
        panes::added().into_iter().for_each(|pane| shell.add_pane(pane));
        shell
    }
}

impl Shell {
    /// The window with panes as they are elsewhere.
    pub fn of(panes: PaneStates) -> Self {
        let mut table = CommandTable::default();
        table.add(panes.added.commands());
        Self { panes, table, file_asking: FileAsking::default() }
    }

    /// Adds a pane, with its commands.
    pub fn add_pane(&mut self, pane: Box<dyn Pane>) {
        self.table.add(pane.commands());
        self.panes.added.add(pane);
    }

    /// Draws everything; what the person did that concerns more than the window comes back.
    pub fn show(
        &mut self,
        root: &mut Ui,
        room: &mut RoomModel,
        recent: &Recent,
        art: &Art,
        state: &mut UiState,
    ) -> Vec<Command> {
        let theme = Theme::of(state.dark);
        let mut commands = self.take_keys(root, room, state);
        let unsaved = self.panes.unsaved();
        let cx = ViewerContext { room, recent, theme: &theme, art, ui: state, unsaved: &unsaved };
        commands.extend(editor::keep_up(&cx, &mut self.panes.editors));
        let panel = || Frame::NONE.fill(theme.panel).inner_margin(Margin::same(SPACE[2] as i8));
        Panel::top("top").frame(panel()).show(root, |ui| {
            commands.extend(top_bar::top_bar_ui(ui, room, &theme, state, &self.table));
            commands.extend(dialogs::dialogs_ui(ui, room, &unsaved, &theme, state));
        });
        Panel::bottom("run").frame(panel()).show(root, |ui| {
            commands.extend(run_bar::run_bar_ui(ui, room, &theme, state));
        });
        commands.extend(Panes::new(&mut self.panes, room, recent, art, &theme, state, &unsaved).show(root));
        let cx = ViewerContext { room, recent, theme: &theme, art, ui: state, unsaved: &unsaved };
        commands.extend(overlays::overlays_ui(root, &cx, &mut self.panes.overlays));
        commands.extend(notices::notices_ui(root, room, &theme, state));
        commands.extend(notice_list::notice_list_ui(root, room, &theme, state));
        commands.extend(settings::settings_ui(root, room, &theme, state));
        commands.extend(palette::palette_ui(root, room, &theme, state, (&self.table, &mut self.panes.found)));
        commands.extend(self.file_asking.show(root.ctx()));
        help::help_ui(root, &theme, state, &self.table);
        let (asked, before) = (commands, root.ctx().clone());
        let mut commands = Vec::new();
        for command in asked {
            match command {
                Command::Window(command) => {
                    commands.extend(self.apply(command, room, state));
                    // What it changed is to be seen.
                    before.request_repaint();
                }
                command => commands.push(command),
            }
        }
        commands
    }

    /// Does what was asked of the window alone; what that leads to beyond it comes back.
    pub fn apply(&mut self, command: WindowCommand, room: &RoomModel, state: &mut UiState) -> Vec<Command> {
        match command {
            WindowCommand::Browse(purpose) => {
                self.file_asking.open(purpose);
                Vec::new()
            }
            command => window_commands::apply(command, room, state, &mut self.panes),
        }
    }

    /// What the keys of this frame ask for, each done before the next is looked at.
    fn take_keys(&mut self, root: &Ui, room: &RoomModel, state: &mut UiState) -> Vec<Command> {
        let explorer = &self.panes.explorer;
        let asked: Vec<_> =
            keys::pressed(root.ctx(), &self.table, state, |focused, id| explorer.takes_key(focused, id))
                .into_iter()
                .copied()
                .collect();
        let mut commands = Vec::new();
        for info in asked {
            for command in info.run(&CommandContext { room, ui: state }) {
                match command {
                    Command::Window(command) => commands.extend(self.apply(command, room, state)),
                    command => commands.push(command),
                }
            }
        }
        commands
    }

    /// Files into which something was written that is not saved.
    pub fn unsaved(&self) -> BTreeSet<String> {
        self.panes.unsaved()
    }
}
