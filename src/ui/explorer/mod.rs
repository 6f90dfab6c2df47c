//! The files of the workspace as a tree, with who is at work and what changed.

use egui::Ui;

use super::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::recent::Recent;
use crate::view::theme::Theme;

/// What it keeps between frames.
#[derive(Clone, Debug, Default)]
pub struct Explorer {}

/// Draws it.
pub fn explorer_ui(
    _ui: &mut Ui,
    _room: &RoomModel,
    _recent: &Recent,
    _theme: &Theme,
    _state: &mut UiState,
) -> Vec<Command> {
    Vec::new()
}
