//! Files in tabs: written, checked, compared and saved.

use egui::Ui;

use super::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::recent::Recent;
use crate::view::theme::Theme;

/// The open files.
#[derive(Clone, Debug, Default)]
pub struct Editors {}

impl Editors {
    /// Whether something was written into this file that is not saved.
    pub fn is_unsaved(&self, _path: &str) -> bool {
        false
    }

    /// The files into which something was written that is not saved.
    pub fn unsaved(&self) -> Vec<String> {
        Vec::new()
    }

    /// Throws away what was written into a file and not saved.
    pub fn discard(&mut self, _path: &str) {}

    /// Leads to this line of a file when it is drawn next.
    pub fn lead_to(&mut self, _path: &str, _line: usize) {}
}

/// Draws one file.
pub fn editor_ui(
    _ui: &mut Ui,
    _path: &str,
    _room: &RoomModel,
    _recent: &Recent,
    _theme: &Theme,
    _state: &mut UiState,
) -> Vec<Command> {
    Vec::new()
}
