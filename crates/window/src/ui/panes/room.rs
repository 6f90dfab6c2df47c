//! The room: the canvas, and the story strip below it.

use egui::Ui;

use super::canvas::Canvas;
use super::pane::{Pane, PaneBackground, PaneFrame, PaneWindow};
use super::story::{self, StoryPane};
use super::texts;
use crate::ui::Command;
use crate::ui::commands::{CanvasCommand, PaneCommand};
use crate::ui::state::dock_place::{DockArea, DockPlace};
use crate::ui::state::furniture_editing::FurnitureEditing;
use crate::ui::state::tab;

/// The state of the room's pane.
#[derive(Clone, Debug, Default)]
pub struct RoomPane {
    /// The canvas.
    pub canvas: Canvas,
    /// The story strip.
    pub story: StoryPane,
}

impl Pane for RoomPane {
    fn id(&self) -> &'static str {
        tab::ROOM
    }

    fn title(&self) -> &'static str {
        texts::ROOM
    }

    fn place(&self) -> DockPlace {
        DockPlace { is_permanent: true, ..DockPlace::always_in(DockArea::Middle) }
    }

    fn background(&self) -> PaneBackground {
        PaneBackground::Nothing
    }

    /// First handles input, then moves dragged things, then paints.
    fn show_tab(&mut self, ui: &mut Ui, _: Option<&str>, frame: &mut PaneFrame<'_, '_>) -> Vec<Command> {
        let PaneFrame { room, view, draw, .. } = frame;
        let mut commands = Vec::new();
        let mut above = story::above_strip(ui, &draw.at(room));
        self.canvas.spread_out(&above, &draw.at(room), view).apply(room);
        let response = self.canvas.take_input(&mut above, &draw.at(room), view, &mut commands);
        let pointer = ui.input(|input| input.pointer.latest_pos());
        self.canvas.show_held(pointer.map(|pointer| view.camera.to_world(pointer)), room);
        self.canvas.paint(&mut above, &response, &draw.at(room), view, &mut commands);
        commands.extend(story::story_ui(ui, &draw.at(room), &mut self.story));
        commands
    }

    fn apply(&mut self, command: &PaneCommand, window: &mut PaneWindow<'_>) -> Vec<Command> {
        if let Some(command) = command.get::<CanvasCommand>() {
            self.run(command.clone(), window);
        }
        Vec::new()
    }

    fn is_busy(&self) -> bool {
        self.canvas.is_busy()
    }

    fn cancel_drag(&mut self) -> bool {
        let is_holding = self.canvas.is_holding();
        if is_holding {
            self.canvas.give_up();
        }
        is_holding
    }

    fn cancel_editing(&mut self) -> bool {
        self.canvas.stop_naming()
    }

    fn forget_room(&mut self) {
        self.story = StoryPane::default();
        self.canvas.forget_room();
    }

    fn forget_workspace(&mut self) {
        *self = Self::default();
    }
}

impl RoomPane {
    fn run(&mut self, command: CanvasCommand, PaneWindow { room, ui }: &mut PaneWindow<'_>) {
        match command {
            CanvasCommand::SelectNext { forward } => {
                if !ui.select_next(room, forward) {
                    self.canvas.leave(forward);
                }
            }
            CanvasCommand::Frame => ui.frame(room),
            CanvasCommand::ShowActive => ui.view.frame_active(room),
            CanvasCommand::NextInNeed => ui.select_next_in_need(room),
            CanvasCommand::Zoom(factor) => ui.view.camera.zoom_at(ui.view.camera.viewport.center(), factor),
            CanvasCommand::OpenSelected => {
                // A relationship has a label to edit; of several things, none is opened.
                if let Some(rope) = ui.selection.rope() {
                    self.canvas.rename_rope(rope.clone());
                } else if ui.selection.things().len() == 1
                    && let Some(thing) = ui.selection.things().first().cloned()
                {
                    ui.open_thing(&thing, room);
                }
            }
            CanvasCommand::OpenMenu => self.canvas.open_menu(),
            CanvasCommand::FocusRoom => self.canvas.take_keys(),
            CanvasCommand::Name(naming) => self.canvas.name(naming),
            CanvasCommand::ToggleDebugOverlay => ui.view.debug_overlay ^= true,
            CanvasCommand::ToggleStory => ui.view.is_story_folded ^= true,
            CanvasCommand::ToggleArranging => {
                ui.view.arranging = if ui.view.arranging.is_some() { None } else { Some(FurnitureEditing::default()) };
                ui.selection.select([]);
            }
            CanvasCommand::ChooseFurniture(piece) => {
                ui.view.arranging = Some(FurnitureEditing { chosen: Some(piece) });
            }
        }
    }
}
