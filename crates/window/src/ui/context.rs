//! The input of every pane: the room, recent events, the look of the window, the selection, and the open dialogs. Panes
//! only read it, and return the person's actions as commands.

use std::collections::BTreeSet;

use super::commands::file_targets::FileTargets;
use super::commands::table::{CommandContext, CommandTable};
use super::state::UiState;
use crate::view::art::Art;
use crate::view::model::RoomModel;
use crate::view::recent_events::Recent;
use crate::view::theme::Theme;

/// Everything a pane may read while it is drawn.
#[derive(Clone, Copy)]
pub struct ViewerContext<'a> {
    /// The current state of the room.
    pub room: &'a RoomModel,
    /// The recent events.
    pub recent: &'a Recent,
    /// The colours.
    pub theme: &'a Theme,
    /// The artwork.
    pub art: &'a Art,
    /// The state of the window: selection, open panes, file contents that were read, and preferences.
    pub ui: &'a UiState,
    /// The paths of files with unsaved changes.
    pub unsaved: &'a BTreeSet<String>,
    /// The files that file commands apply to while the palette is open.
    pub files: &'a FileTargets,
    /// The table of all commands.
    pub table: &'a CommandTable,
}

/// The input of all panes except the room, which changes while things are dragged.
#[derive(Clone, Copy)]
pub struct DrawContext<'a> {
    /// The recent events.
    pub recent: &'a Recent,
    /// The colours.
    pub theme: &'a Theme,
    /// The artwork.
    pub art: &'a Art,
    /// The state of the window.
    pub ui: &'a UiState,
    /// The paths of files with unsaved changes.
    pub unsaved: &'a BTreeSet<String>,
    /// The files that file commands apply to while the palette is open.
    pub files: &'a FileTargets,
    /// The table of all commands.
    pub table: &'a CommandTable,
}

impl<'a> DrawContext<'a> {
    /// Returns the context of a pane while the room looks like this.
    pub fn at(self, room: &'a RoomModel) -> ViewerContext<'a> {
        let Self { recent, theme, art, ui, unsaved, files, table } = self;
        ViewerContext { room, recent, theme, art, ui, unsaved, files, table }
    }
}

impl<'a> ViewerContext<'a> {
    /// Returns the context by which commands decide whether they apply.
    pub fn commands(&self) -> CommandContext<'a> {
        CommandContext { room: self.room, ui: self.ui, at: None, files: self.files }
    }

    /// Whether this file has unsaved changes.
    pub fn is_unsaved(&self, path: &str) -> bool {
        self.unsaved.contains(path)
    }

    /// Returns a time, in milliseconds since 1970, as text in the person's date format.
    pub fn when(&self, time_ms: u64) -> String {
        self.ui.when(time_ms)
    }
}
