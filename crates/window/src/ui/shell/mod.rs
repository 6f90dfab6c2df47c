//! The window as a whole: the arrangement of bars, panes and overlays.

mod coding_agent_dialog;
pub mod dialogs;
pub mod file_dialogs;
pub mod first_steps;
pub mod help;
mod notice_card;
pub mod notice_list;
pub mod notices;
pub mod palette;
mod pane_area;
pub mod parts;
pub mod provider;
mod provider_notices;
pub mod run_bar;
pub mod server_settings;
pub mod settings;
mod texts;
pub mod top_bar;
mod trust_dialog;
mod undo_dialog;
mod waiting_step;
pub mod window_commands;

use std::collections::BTreeSet;

use egui::containers::panel::PanelState;
use egui::emath::GuiRounding;
use egui::{Frame, Id as WidgetId, Margin, Panel, Ui, UiBuilder};

use self::file_dialogs::FilePicker;
use self::pane_area::PaneArea;
use self::parts::WindowParts;
use crate::ui::commands::WindowCommand;
use crate::ui::commands::file_targets::FileTargets;
use crate::ui::commands::keyboard;
use crate::ui::commands::keys::{self, ShortcutScope};
use crate::ui::commands::table::{CommandContext, CommandTable};
use crate::ui::context::{DrawContext, ViewerContext};
use crate::ui::panes::overlays;
use crate::ui::panes::pane::Pane;
use crate::ui::state::{FrontPanel, SpaceBar};
use crate::ui::widgets::focus::FocusRing;
use crate::ui::{Command, UiState};
use crate::view::art::Art;
use crate::view::model::RoomModel;
use crate::view::pick::RoomObject;
use crate::view::recent_events::Recent;
use crate::view::theme::{SPACE, Theme};

/// The state of the window between frames in addition to [`UiState`]: its parts, and the command table.
pub struct Shell {
    /// The panes, and what is around them.
    pub parts: WindowParts,
    table: CommandTable,
    file_picker: FilePicker,
    focus_ring: FocusRing,
}

impl Default for Shell {
    fn default() -> Self {
        Self::of(WindowParts::default())
    }
}

impl Shell {
    /// Creates a window with these parts.
    pub fn of(parts: WindowParts) -> Self {
        let mut table = CommandTable::default();
        table.add(parts.panes.iter().flat_map(|pane| pane.commands()));
        Self { parts, table, file_picker: FilePicker::default(), focus_ring: FocusRing::default() }
    }

    /// Adds a pane, with its commands.
    pub fn add_pane(&mut self, pane: Box<dyn Pane>) {
        self.table.add(pane.commands());
        self.parts.panes.add(pane);
    }

    /// Draws the window. Returns the commands of the person that concern more than the window.
    pub fn show(
        &mut self,
        root: &mut Ui,
        room: &mut RoomModel,
        recent: &Recent,
        art: &Art,
        state: &mut UiState,
    ) -> Vec<Command> {
        let theme = Theme::of(state.appearance.is_dark());
        self.focus_ring.read_input(root.ctx());
        self.parts.panes.docked().for_each(|pane| state.dock.add(pane));
        state.questions.update(room, state.time.now_secs);
        let step = state.questions.asked_step().map(waiting_step::card_widget);
        state.questions.is_step_chosen = step.is_some_and(|card| keyboard::is_chosen(root.ctx(), card));
        state.questions.is_chosen = !state.questions.is_step_chosen && keyboard::is_card_chosen(root.ctx());
        let mut commands = self.take_keys(root, room, state);
        state.notices.update(room, state.time.now_secs);
        if state.view.advance_camera(state.time.now_secs) {
            root.ctx().request_repaint();
        }
        self.reveal_new_approval(root, room, state);
        let unsaved = self.parts.unsaved();
        // Outside the file list, only the palette shows file commands.
        let is_palette_open = state.front.is_open(FrontPanel::Palette);
        let targets = || self.parts.panes.iter().find_map(|pane| pane.file_targets(room));
        let files = if is_palette_open { targets().unwrap_or_default() } else { FileTargets::default() };
        let (dock, view) = {
            let Self { parts, table, .. } = &mut *self;
            let draw_context =
                DrawContext { recent, theme: &theme, art, ui: state, unsaved: &unsaved, files: &files, table };
            commands.extend(top_ui(root, &draw_context.at(room), parts));
            let mut above = above_run_bar(root);
            let drawn = PaneArea::new(parts, room, draw_context).show(&mut above);
            commands.extend(drawn.commands);
            commands.extend(run_ui(root, &draw_context.at(room), parts));
            // Marks the rest of the window as used.
            root.advance_cursor_after_rect(above.max_rect());
            commands.extend(front_ui(root, &draw_context.at(room), parts));
            (drawn.dock, drawn.view)
        };
        commands.extend(self.file_picker.show(root.ctx()));
        // These panes show the focus in another way.
        let shown_otherwise = self.parts.panes.iter().filter_map(|pane| pane.focus_widget());
        let shown_otherwise: Vec<WidgetId> = shown_otherwise.chain([keys::room_widget()]).collect();
        self.focus_ring.paint(root.ctx(), &theme, &shown_otherwise);
        state.dock = dock;
        state.view = view;
        let (drawn_commands, context) = (commands, root.ctx().clone());
        let mut commands = Vec::new();
        self.parts.first_steps.update(state);
        for command in drawn_commands {
            self.parts.first_steps.note(&command, room);
            match command {
                Command::Window(command) => {
                    commands.extend(self.apply(command, room, state));
                    // Repaints to show the change.
                    context.request_repaint();
                }
                command => commands.push(command),
            }
        }
        commands
    }

    /// Scrolls an agent with a new approval into view, once the person's mouse and keyboard are idle.
    fn reveal_new_approval(&self, root: &Ui, room: &RoomModel, state: &mut UiState) {
        let is_busy = self.parts.panes.iter().any(|pane| pane.is_busy()) || state.view.space_bar != SpaceBar::Up;
        let is_busy = is_busy || root.input(|input| input.pointer.any_down());
        if is_busy || !state.view.is_framed {
            return;
        }
        if let Some(agent) = state.questions.take_to_reveal() {
            state.view.reveal(room, &RoomObject::Agent(agent), state.move_start());
        }
    }

    /// Runs a command of the window. Returns the resulting commands that concern more than the window.
    pub fn apply(&mut self, command: WindowCommand, room: &RoomModel, state: &mut UiState) -> Vec<Command> {
        match command {
            WindowCommand::Browse(purpose) => {
                self.file_picker.open(purpose);
                Vec::new()
            }
            command => window_commands::apply(command, room, state, &mut self.parts),
        }
    }

    /// Runs the shortcuts pressed in this frame, each before the next is handled. Returns the commands that concern
    /// more than the window.
    fn take_keys(&mut self, root: &Ui, room: &RoomModel, state: &mut UiState) -> Vec<Command> {
        let has_dialog = state.front.dialog().is_some() || self.file_picker.is_open();
        let reach = if has_dialog || self.parts.panes.iter().any(|pane| pane.is_asking()) {
            ShortcutScope::Question
        } else if state.front.is_covered() {
            ShortcutScope::Panel
        } else {
            ShortcutScope::of(&state.dock)
        };
        let panes = &self.parts.panes;
        let is_taken = |focused, id: &str| !has_dialog && panes.iter().any(|pane| pane.takes_key(focused, id));
        let invoked = keys::pressed(root.ctx(), &self.table, reach, &mut state.view.space_bar, is_taken);
        let invoked: Vec<_> = invoked.into_iter().copied().collect();
        let mut commands = Vec::new();
        for info in invoked {
            for command in info.run(&CommandContext { room, ui: state, at: None, files: &FileTargets::default() }) {
                match command {
                    Command::Window(WindowCommand::Escape) if self.file_picker.is_open() => self.file_picker.close(),
                    Command::Window(command) => commands.extend(self.apply(command, room, state)),
                    command => commands.push(command),
                }
            }
        }
        commands
    }

    /// Returns the paths of files with unsaved changes.
    pub fn unsaved(&self) -> BTreeSet<String> {
        self.parts.unsaved()
    }
}

/// The id of the bar below the panes.
const RUN_BAR: &str = "run";
/// The assumed height of that bar before it is first drawn, in points: one row.
const RUN_BAR_POINTS: f32 = 53.0;

/// Draws the bar above the panes.
fn top_ui(root: &mut Ui, cx: &ViewerContext<'_>, parts: &mut WindowParts) -> Vec<Command> {
    let mut commands: Vec<Command> = parts.panes.iter_mut().flat_map(|pane| pane.update(cx)).collect();
    Panel::top("top").frame(bar_frame(cx.theme)).show(root, |ui| {
        commands.extend(top_bar::top_bar_ui(ui, cx, &mut parts.provider));
    });
    commands
}

/// Draws the bar below the panes, after them, because Tab visits widgets in the order in which they are drawn.
fn run_ui(root: &mut Ui, cx: &ViewerContext<'_>, parts: &mut WindowParts) -> Vec<Command> {
    let panel = Panel::bottom(RUN_BAR).default_size(RUN_BAR_POINTS).frame(bar_frame(cx.theme));
    panel.show(root, |ui| run_bar::run_bar_ui(ui, cx, &mut parts.run_bar)).inner
}

fn bar_frame(theme: &Theme) -> Frame {
    Frame::NONE.fill(theme.panel).inner_margin(Margin::same(SPACE[2] as i8))
}

/// Returns the `Ui` for the panes, which ends above the bar below. The height of the bar is that of the last frame.
fn above_run_bar(root: &mut Ui) -> Ui {
    let rest = root.available_rect_before_wrap();
    let bar = PanelState::load(root.ctx(), WidgetId::new(RUN_BAR)).map_or(RUN_BAR_POINTS, |bar| bar.size().y);
    let bottom = (rest.bottom() - bar.clamp(0.0, rest.height().max(0.0))).round_ui();
    root.new_child(UiBuilder::new().id_salt("above the run bar").max_rect(rest.with_max_y(bottom)))
}

/// Draws the dialogs and panels in front of the panes, the topmost last.
fn front_ui(root: &mut Ui, cx: &ViewerContext<'_>, parts: &mut WindowParts) -> Vec<Command> {
    let mut commands = first_steps::first_steps_ui(root, cx, &parts.first_steps);
    commands.extend(overlays::overlays_ui(root, cx, &mut parts.overlays));
    commands.extend(notices::notices_ui(root, cx));
    commands.extend(notice_list::notice_list_ui(root, cx));
    commands.extend(settings::settings_ui(root, cx, &mut parts.settings, &mut parts.provider));
    commands.extend(help::help_ui(root, cx));
    commands.extend(dialogs::dialogs_ui(root, cx, &mut parts.dialogs));
    commands.extend(palette::palette_ui(root, cx, &mut parts.palette));
    commands
}

#[cfg(test)]
mod tests;
