//! The input of every pane: the room, recent events, the appearance of the window, and what is selected and open. Panes
//! only read it; what a person does is returned as commands.

use std::collections::BTreeSet;

use super::commands::file_targets::FileTargets;
use super::commands::table::{CommandContext, CommandTable};
use super::state::UiState;
use crate::view::art::Art;
use crate::view::model::RoomModel;
use crate::view::recent_events::Recent;
use crate::view::theme::Theme;

/// What a pane may look at while it is drawn.
#[derive(Clone, Copy)]
pub struct ViewerContext<'a> {
    /// The room as it is now.
    pub room: &'a RoomModel,
    /// What happened lately.
    pub recent: &'a Recent,
    /// Colours.
    pub theme: &'a Theme,
    /// Drawings.
    pub art: &'a Art,
    /// What is selected and open, what was read of files, and how the person wants things.
    pub ui: &'a UiState,
    /// Files into which something was written that is not saved.
    pub unsaved: &'a BTreeSet<String>,
    /// What commands about files are about, while a list of commands is open in front.
    pub files: &'a FileTargets,
    /// Every command.
    pub table: &'a CommandTable,
}

impl<'a> ViewerContext<'a> {
    /// What tells whether a command can be given.
    pub fn commands(&self) -> CommandContext<'a> {
        CommandContext { room: self.room, ui: self.ui, at: None, files: self.files }
    }

    /// Whether something was written into this file that is not saved.
    pub fn is_unsaved(&self, path: &str) -> bool {
        self.unsaved.contains(path)
    }

    /// When something was, by milliseconds since 1970, in the person's words.
    pub fn when(&self, time_ms: u64) -> String {
        self.ui.when(time_ms)
    }
}
