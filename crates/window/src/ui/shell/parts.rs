//! The panes, and the states between frames of what the shell draws around and in front of them.

use std::collections::BTreeSet;

use crate::ui::commands::PaneCommand;
use crate::ui::panes::overlays::Overlays;
use crate::ui::panes::pane::{PaneWindow, Panes};
use crate::ui::shell::dialogs::Dialogs;
use crate::ui::shell::first_steps::FirstSteps;
use crate::ui::shell::palette::Palette;
use crate::ui::shell::provider::ProviderChoice;
use crate::ui::shell::run_bar::RunBar;
use crate::ui::shell::settings::SettingsPanel;
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;

/// The parts of a window.
#[derive(Clone, Debug, Default)]
pub struct WindowParts {
    /// The panes.
    pub panes: Panes,
    /// The open element.
    pub overlays: Overlays,
    /// The command palette.
    pub palette: Palette,
    /// The bar below the room.
    pub run_bar: RunBar,
    /// The settings.
    pub settings: SettingsPanel,
    /// The choice of a provider, in the settings and in the top bar.
    pub provider: ProviderChoice,
    /// The modal dialogs.
    pub dialogs: Dialogs,
    /// The completed first steps.
    pub first_steps: FirstSteps,
}

impl WindowParts {
    /// Returns the paths of files with unsaved changes.
    pub fn unsaved(&self) -> BTreeSet<String> {
        self.panes.unsaved().into_iter().collect()
    }

    /// Passes a command on to its pane. Returns the resulting commands that concern more than the window.
    pub fn apply(&mut self, command: &PaneCommand, room: &RoomModel, ui: &mut UiState) -> Vec<Command> {
        self.panes.apply(command, &mut PaneWindow { room, ui })
    }

    /// Forgets everything about the previous room, because another one is open.
    pub fn forget_room(&mut self) {
        self.panes.iter_mut().for_each(|pane| pane.forget_room());
        self.overlays = Overlays::default();
        self.settings.forget_room();
        self.run_bar = RunBar::default();
        self.provider = ProviderChoice::default();
        self.dialogs.clear();
    }

    /// Forgets everything about the previous workspace, because another one is open.
    pub fn forget_workspace(&mut self) {
        let mut panes = std::mem::take(&mut self.panes);
        panes.iter_mut().for_each(|pane| pane.forget_workspace());
        *self = Self { panes, ..Self::default() };
    }
}
