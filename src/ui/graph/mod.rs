//! Who started whom, and who read and wrote which file.

use egui::Ui;

use super::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::recent::Recent;
use crate::view::theme::Theme;

/// What it keeps between frames.
#[derive(Clone, Debug, Default)]
pub struct GraphPane {}

/// Draws it.
pub fn graph_ui(
    _ui: &mut Ui,
    _room: &RoomModel,
    _recent: &Recent,
    _theme: &Theme,
    _state: &mut UiState,
) -> Vec<Command> {
    Vec::new()
}
