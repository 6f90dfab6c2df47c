//! How two texts differ, line by line: side by side, or one under the other.

use egui::Ui;

use crate::view::theme::Theme;

/// How a difference is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DiffLook {
    /// Old on the left, new on the right.
    #[default]
    SideBySide,
    /// One under the other.
    Unified,
}

/// Draws how `old` became `new`. `name` tells this difference from others on screen.
pub fn diff_ui(_ui: &mut Ui, _name: &str, _old: &str, _new: &str, _look: DiffLook, _theme: &Theme) {}
