//! The window as a whole: which panels there are, where they stand, and the room in the middle.

use egui::{Frame, Margin, Panel, Ui};

use super::canvas::Canvas;
use super::{Command, UiState};
use crate::view::art::Art;
use crate::view::model::RoomModel;
use crate::view::recent::Recent;
use crate::view::theme::{SPACE, Theme};

/// Narrower windows show the room alone, with its top bar.
const NARROW_POINTS: f32 = 700.0;

/// What the panels keep between frames.
#[derive(Default)]
pub struct Shell {
    canvas: Canvas,
}

impl Shell {
    /// Draws everything; what the person did comes back.
    pub fn show(
        &mut self,
        root: &mut Ui,
        room: &mut RoomModel,
        recent: &Recent,
        art: &Art,
        state: &mut UiState,
    ) -> Vec<Command> {
        let theme = Theme::of(state.dark);
        let mut commands = Vec::new();
        for act in super::keys::pressed(root.ctx(), state) {
            commands.extend(super::keys::apply(act, room, state));
        }
        let panel = || Frame::NONE.fill(theme.panel).inner_margin(Margin::same(SPACE[2] as i8));
        let is_wide = root.available_width() >= NARROW_POINTS;
        Panel::top("top").frame(panel()).show(root, |ui| {
            commands.extend(super::top_bar::top_bar_ui(ui, room, recent, &theme, state));
        });
        Panel::bottom("run").frame(panel()).show(root, |ui| {
            commands.extend(super::run_bar::run_bar_ui(ui, room, &theme, state));
        });
        if is_wide {
            let shelf = Panel::left("shelf").default_size(state.panels.shelf).frame(panel()).show(root, |ui| {
                commands.extend(super::shelf::shelf_ui(ui, room, art, &theme, state));
            });
            state.panels.shelf = shelf.response.rect.width();
            if state.sidebar {
                let talks = Panel::right("talks").default_size(state.panels.talks).frame(panel()).show(root, |ui| {
                    commands.extend(super::sidebar::sidebar_ui(ui, room, recent, art, &theme, state));
                });
                state.panels.talks = talks.response.rect.width();
            } else if !state.selected.is_empty() || state.studio.chosen_file.is_some() {
                let width = state.panels.inspector;
                let inspector = Panel::right("inspector").default_size(width).frame(panel()).show(root, |ui| {
                    commands.extend(super::inspector::inspector_ui(ui, room, recent, art, &theme, state));
                });
                state.panels.inspector = inspector.response.rect.width();
            }
        }
        commands.extend(self.canvas.show(root, room, recent, art, &theme, state));
        commands.extend(super::overlays::overlays_ui(root, room, &theme, state));
        commands.extend(super::notices::notices_ui(root, room, &theme, state));
        commands.extend(super::notice_list::notice_list_ui(root, room, &theme, state));
        commands.extend(super::settings::settings_ui(root, room, &theme, state));
        commands.extend(super::palette::palette_ui(root, room, &theme, state));
        super::help::help_ui(root, &theme, state);
        commands
    }
}
