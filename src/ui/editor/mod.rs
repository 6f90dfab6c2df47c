//! Files in tabs: written, checked, compared and saved.

use egui::Ui;

use super::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::recent::Recent;
use crate::view::theme::Theme;

/// What was written into a file and is not saved.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Draft {
    /// Into which file.
    pub path: String,
    /// The text that it began from; absent where there was no file.
    pub base: Option<String>,
    /// What was written.
    pub text: String,
    /// Whether it is to be saved as soon as no agent of this file is at work.
    pub applies_when_idle: bool,
}

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

    /// Everything that was written and is not saved.
    pub fn drafts(&self) -> Vec<Draft> {
        Vec::new()
    }

    /// Goes on with what was written and not saved.
    pub fn restore(&mut self, _drafts: Vec<Draft>) {}

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
