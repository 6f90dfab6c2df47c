//! The window as a whole: which panels there are, where they stand, and the room in the middle.

pub mod dialogs;
pub mod file_dialogs;
pub mod help;
pub mod notice_list;
pub mod notices;
mod pane_area;
pub mod provider;
pub mod run_bar;
pub mod settings;
pub mod top_bar;

use egui::{Frame, Margin, Panel, Ui};

use crate::ui::panes::canvas::Canvas;
use crate::ui::shell::file_dialogs::{FileAsking, Purpose};
use crate::ui::shell::pane_area::Panes;
use crate::ui::{Command, UiState};
use crate::view::art::Art;
use crate::view::model::RoomModel;
use crate::view::recent::Recent;
use crate::view::theme::{SPACE, Theme};

/// What the panels keep between frames.
#[derive(Default)]
pub struct Shell {
    canvas: Canvas,
    file_asking: FileAsking,
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
        for act in crate::ui::commands::keys::pressed(root.ctx(), state) {
            commands.extend(crate::ui::commands::keys::apply(act, room, state));
        }
        commands.extend(crate::ui::panes::editor::keep_up(room, recent, state));
        if let Some(folder) = state.studio.explorer.wants_import.take() {
            state.asks_file = Some(Purpose::ImportFiles(Some(folder).filter(|folder| !folder.is_empty())));
        }
        let panel = || Frame::NONE.fill(theme.panel).inner_margin(Margin::same(SPACE[2] as i8));
        Panel::top("top").frame(panel()).show(root, |ui| {
            commands.extend(crate::ui::shell::top_bar::top_bar_ui(ui, room, &theme, state));
        });
        Panel::bottom("run").frame(panel()).show(root, |ui| {
            commands.extend(crate::ui::shell::run_bar::run_bar_ui(ui, room, &theme, state));
        });
        commands.extend(Panes::new(&mut self.canvas, room, recent, art, &theme, state).show(root));
        commands.extend(crate::ui::panes::overlays::overlays_ui(root, room, &theme, state));
        commands.extend(crate::ui::shell::notices::notices_ui(root, room, &theme, state));
        commands.extend(crate::ui::shell::notice_list::notice_list_ui(root, room, &theme, state));
        commands.extend(crate::ui::shell::settings::settings_ui(root, room, &theme, state));
        commands.extend(crate::ui::commands::palette::palette_ui(root, room, &theme, state));
        let asked = state.asks_file.take();
        commands.extend(self.file_asking.show(root.ctx(), asked));
        crate::ui::shell::help::help_ui(root, &theme, state);
        commands
    }
}
