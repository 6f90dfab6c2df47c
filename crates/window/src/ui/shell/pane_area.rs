//! Draws the panes of the studio where they stand.

use egui::{Color32, Frame, Margin, RichText, Stroke, Ui, Visuals, WidgetText};
use egui_tiles::{Behavior, SimplificationOptions, TabState, TileId, Tiles, UiResponse};

use crate::ui::panes::canvas::Canvas;
use crate::ui::state::dock::{self, Tab};
use crate::ui::widgets;
use crate::ui::{Command, UiState};
use crate::view::art::Art;
use crate::view::model::RoomModel;
use crate::view::recent::Recent;
use crate::view::theme::{SPACE, TYPE, Theme};

/// Narrower windows show one pane at a time.
const NARROW_POINTS: f32 = 700.0;

/// Everything that a pane is drawn from, and what the person did in them.
pub(super) struct Panes<'a> {
    pub(super) canvas: &'a mut Canvas,
    pub(super) room: &'a mut RoomModel,
    pub(super) recent: &'a Recent,
    pub(super) art: &'a Art,
    pub(super) theme: &'a Theme,
    pub(super) state: &'a mut UiState,
    pub(super) commands: Vec<Command>,
    /// Panes whose tab was closed.
    closed: Vec<Tab>,
}

impl<'a> Panes<'a> {
    pub(super) fn new(
        canvas: &'a mut Canvas,
        room: &'a mut RoomModel,
        recent: &'a Recent,
        art: &'a Art,
        theme: &'a Theme,
        state: &'a mut UiState,
    ) -> Self {
        Self { canvas, room, recent, art, theme, state, commands: Vec::new(), closed: Vec::new() }
    }

    /// Draws all of them in what is left of the window.
    pub(super) fn show(mut self, root: &mut Ui) -> Vec<Command> {
        let width = root.available_width();
        // Panes open and close others while they are drawn; what they want is done afterwards.
        let mut dock = std::mem::take(&mut self.state.dock);
        dock.is_narrow = width < NARROW_POINTS;
        if dock.is_narrow {
            let chosen = self.strip(root, &dock);
            if let Some(tab) = chosen {
                dock.show(&tab, |_| true);
            }
            let mut alone = dock.alone.clone();
            egui::CentralPanel::default().frame(Frame::NONE).show(root, |ui| self.pane(ui, &mut alone));
        } else {
            let selected = !self.state.selected.is_empty() || self.state.studio.chosen_file.is_some();
            dock.arrange(width, selected);
            egui::CentralPanel::default().frame(Frame::NONE.fill(self.theme.panel)).show(root, |ui| {
                dock.tree.ui(&mut self, ui);
            });
        }
        self.state.dock = dock;
        for tab in std::mem::take(&mut self.closed) {
            match tab {
                Tab::File(path) => self.state.close_file(path),
                tab => self.state.dock.close(&tab),
            }
        }
        self.commands
    }

    /// The tabs of a narrow window.
    fn strip(&mut self, root: &mut Ui, dock: &dock::Dock) -> Option<Tab> {
        let mut chosen = None;
        let frame = Frame::NONE.fill(self.theme.panel).inner_margin(Margin::symmetric(SPACE[2] as i8, 2));
        egui::Panel::top("panes").frame(frame).show(root, |ui| {
            widgets::dress(ui.style_mut(), self.theme);
            ui.spacing_mut().item_spacing.x = SPACE[0];
            egui::ScrollArea::horizontal().id_salt("panes").show(ui, |ui| {
                ui.horizontal(|ui| {
                    for tab in Tab::FIXED.into_iter().chain(dock.files().into_iter().map(Tab::File)) {
                        let title = RichText::new(tab.title()).size(TYPE[0]);
                        if ui.selectable_label(dock.alone == tab, title).clicked() {
                            chosen = Some(tab);
                        }
                    }
                });
            });
        });
        chosen
    }

    fn pane(&mut self, ui: &mut Ui, tab: &mut Tab) {
        let Self { canvas, room, recent, art, theme, state, commands, .. } = self;
        if *tab == Tab::Room {
            commands.extend(canvas.show(ui, room, recent, art, theme, state));
            return;
        }
        let room = &**room;
        let bare = matches!(tab, Tab::Graph);
        let margin = if bare { Margin::ZERO } else { Margin::same(SPACE[2] as i8) };
        egui::CentralPanel::default().frame(Frame::NONE.fill(theme.panel).inner_margin(margin)).show(ui, |ui| {
            widgets::dress(ui.style_mut(), theme);
            let done = match tab {
                Tab::Shelf => crate::ui::panes::shelf::shelf_ui(ui, room, art, theme, state),
                Tab::Files => crate::ui::panes::explorer::explorer_ui(ui, room, recent, theme, state),
                Tab::Graph => crate::ui::panes::graph::graph_ui(ui, room, recent, theme, state),
                Tab::File(path) => crate::ui::panes::editor::editor_ui(ui, path, room, recent, theme, state),
                Tab::Inspector => crate::ui::panes::inspector::inspector_ui(ui, room, recent, art, theme, state),
                Tab::Talks => crate::ui::panes::conversations::sidebar_ui(ui, room, recent, art, theme, state),
                Tab::Log => {
                    let shown = state.studio.shown_run.as_ref().map(|(_, log)| log.clone());
                    crate::ui::panes::event_log::event_log_ui(
                        ui,
                        room,
                        shown.as_deref().unwrap_or(recent),
                        theme,
                        state,
                    )
                }
                Tab::Room => Vec::new(),
            };
            commands.extend(done);
        });
    }
}

impl Behavior<Tab> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _: TileId, pane: &mut Tab) -> UiResponse {
        self.pane(ui, pane);
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Tab) -> WidgetText {
        let mark = match pane {
            Tab::File(path) if self.state.studio.editors.is_unsaved(path) => " •",
            _ => "",
        };
        RichText::new(format!("{}{mark}", pane.title())).size(TYPE[1]).into()
    }

    fn on_tab_button(&mut self, tiles: &mut Tiles<Tab>, tile: TileId, response: egui::Response) -> egui::Response {
        match tiles.get_pane(&tile) {
            Some(Tab::File(path)) => response.on_hover_text(path),
            _ => response,
        }
    }

    fn is_tab_closable(&self, tiles: &Tiles<Tab>, tile: TileId) -> bool {
        tiles.get_pane(&tile).is_some_and(|pane| *pane != Tab::Room)
    }

    fn on_tab_close(&mut self, tiles: &mut Tiles<Tab>, tile: TileId) -> bool {
        self.closed.extend(tiles.get_pane(&tile).cloned());
        false
    }

    fn simplification_options(&self) -> SimplificationOptions {
        dock::SIMPLIFY
    }

    fn tab_bar_height(&self, _: &egui::Style) -> f32 {
        30.0
    }

    fn gap_width(&self, _: &egui::Style) -> f32 {
        3.0
    }

    fn min_size(&self) -> f32 {
        120.0
    }

    fn tab_bar_color(&self, _: &Visuals) -> Color32 {
        widgets::mix(self.theme.panel, self.theme.line, 0.45)
    }

    fn tab_bg_color(&self, _: &Visuals, _: &Tiles<Tab>, _: TileId, state: &TabState) -> Color32 {
        if state.active { self.theme.panel } else { Color32::TRANSPARENT }
    }

    fn tab_outline_stroke(&self, _: &Visuals, _: &Tiles<Tab>, _: TileId, state: &TabState) -> Stroke {
        if state.active { Stroke::new(1.0, self.theme.line) } else { Stroke::NONE }
    }

    fn tab_bar_hline_stroke(&self, _: &Visuals) -> Stroke {
        Stroke::new(1.0, self.theme.line)
    }

    fn tab_text_color(&self, _: &Visuals, _: &Tiles<Tab>, _: TileId, state: &TabState) -> Color32 {
        if state.active { self.theme.text } else { self.theme.text_soft }
    }

    fn resize_stroke(&self, _: &egui::Style, state: egui_tiles::ResizeState) -> Stroke {
        match state {
            egui_tiles::ResizeState::Idle => Stroke::new(1.0, self.theme.line),
            egui_tiles::ResizeState::Hovering => Stroke::new(2.0, self.theme.accent),
            egui_tiles::ResizeState::Dragging => Stroke::new(2.5, self.theme.accent),
        }
    }

    fn drag_preview_color(&self, _: &Visuals) -> Color32 {
        self.theme.accent.gamma_multiply(0.2)
    }

    fn drag_preview_stroke(&self, _: &Visuals) -> Stroke {
        Stroke::new(1.5, self.theme.accent)
    }
}
