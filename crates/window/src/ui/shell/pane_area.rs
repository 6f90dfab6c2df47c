//! Draws the panes in their layout.

use egui::{Color32, Frame, Margin, RichText, Stroke, Ui, Visuals, WidgetText};
use egui_tiles::{Behavior, SimplificationOptions, TabState, TileId, Tiles, UiResponse};

use super::DrawContext;
use super::pane_states::PaneStates;
use crate::ui::commands::WindowCommand;
use crate::ui::context::ViewerContext;
use crate::ui::panes::{conversations, editor, event_log, explorer, graph, inspector, shelf, story};
use crate::ui::shell::texts::pane_area as texts;
use crate::ui::state::RoomView;
use crate::ui::state::dock::{self, Dock, Tab};
use crate::ui::widgets::focus;
use crate::ui::widgets::icons::Icon;
use crate::ui::{Command, widgets};
use crate::view::model::RoomModel;
use crate::view::theme::{LINE, SPACE, TYPE};

/// Windows narrower than this, in points, show one pane at a time.
const NARROW_POINTS: f32 = 700.0;

/// The result of drawing the panes.
pub(super) struct Drawn {
    /// The commands of the person.
    pub(super) commands: Vec<Command>,
    /// The current layout.
    pub(super) dock: Dock,
    /// The current view of the room.
    pub(super) view: RoomView,
}

/// The inputs of the panes, and the results so far.
pub(super) struct Panes<'a> {
    panes: &'a mut PaneStates,
    room: &'a mut RoomModel,
    draw_context: DrawContext<'a>,
    view: RoomView,
    commands: Vec<Command>,
    /// Whether a key moves the focus in this frame.
    is_focus_moving: bool,
    /// The tiles in front, whose tabs are scrolled into view when they come to the front.
    in_front: Vec<TileId>,
}

impl<'a> Panes<'a> {
    pub(super) fn new(panes: &'a mut PaneStates, room: &'a mut RoomModel, draw_context: DrawContext<'a>) -> Self {
        Self {
            panes,
            room,
            view: draw_context.ui.view.clone(),
            draw_context,
            commands: Vec::new(),
            is_focus_moving: false,
            in_front: Vec::new(),
        }
    }

    /// Draws all panes in the rest of the window.
    pub(super) fn show(mut self, root: &mut Ui) -> Drawn {
        let width = root.available_width();
        self.is_focus_moving = focus::is_moving(root.ctx());
        let (ui_state, theme) = (self.draw_context.ui, self.draw_context.theme);
        let mut dock = ui_state.dock.clone();
        dock.is_narrow = width < NARROW_POINTS;
        if dock.is_narrow {
            let chosen = self.strip(root, &dock);
            if let Some(tab) = chosen {
                dock.show(&tab, |_| true);
            }
            let mut alone = dock.alone.clone();
            egui::CentralPanel::default().frame(Frame::NONE).show(root, |ui| self.pane(ui, &mut alone));
        } else {
            let selection = &ui_state.selection;
            dock.arrange(width, !selection.things().is_empty() || selection.file().is_some());
            self.in_front = dock.tree.active_tiles();
            egui::CentralPanel::default().frame(Frame::NONE.fill(theme.panel)).show(root, |ui| {
                dock.tree.ui(&mut self, ui);
            });
        }
        Drawn { commands: self.commands, dock, view: self.view }
    }

    /// Draws the tabs of a narrow window. Returns the clicked one.
    fn strip(&mut self, root: &mut Ui, dock: &Dock) -> Option<Tab> {
        let mut chosen = None;
        let frame = Frame::NONE.fill(self.draw_context.theme.panel).inner_margin(Margin::symmetric(SPACE[2] as i8, 2));
        egui::Panel::top("panes").frame(frame).show(root, |ui| {
            widgets::apply_style(ui.style_mut(), self.draw_context.theme);
            ui.spacing_mut().item_spacing.x = SPACE[0];
            egui::ScrollArea::horizontal().id_salt("panes").show(ui, |ui| {
                ui.horizontal(|ui| {
                    for tab in Tab::FIXED.into_iter().chain(dock.files().into_iter().map(Tab::File)) {
                        let title = RichText::new(tab.title()).size(TYPE[0]);
                        let label = ui.selectable_label(dock.alone == tab, title);
                        scroll_into_view(&label, egui::Id::new(("tab in strip", &tab)), dock.alone == tab);
                        if label.clicked() {
                            chosen = Some(tab);
                        }
                    }
                });
            });
        });
        chosen
    }

    fn pane(&mut self, ui: &mut Ui, tab: &mut Tab) {
        if *tab == Tab::Room {
            return self.room_pane(ui);
        }
        let Self { panes, room, draw_context, commands, .. } = self;
        let cx = draw_context.at(room);
        let ViewerContext { theme, recent, .. } = cx;
        let is_borderless = matches!(tab, Tab::Graph);
        let margin = if is_borderless { Margin::ZERO } else { Margin::same(SPACE[2] as i8) };
        egui::CentralPanel::default().frame(Frame::NONE.fill(theme.panel).inner_margin(margin)).show(ui, |ui| {
            widgets::apply_style(ui.style_mut(), theme);
            let new_commands = match tab {
                Tab::Shelf => shelf::shelf_ui(ui, &cx, &mut panes.shelf),
                Tab::Files => explorer::explorer_ui(ui, &cx, &mut panes.explorer),
                Tab::Graph => graph::graph_ui(ui, &cx, &mut panes.graph),
                Tab::File(path) => editor::editor_ui(ui, path, &cx, &mut panes.editors),
                Tab::Inspector => inspector::inspector_ui(ui, &cx, &mut panes.inspector, &mut panes.log),
                Tab::Talks => conversations::sidebar_ui(ui, &cx, &mut panes.conversations),
                Tab::Log => {
                    let shown = panes.shown_run.as_ref().map_or(recent, |(_, log)| log);
                    event_log::event_log_ui(ui, &ViewerContext { recent: shown, ..cx }, &mut panes.log)
                }
                Tab::Pane(word) => match panes.added.find(word) {
                    Some(pane) => pane.show(ui, &cx),
                    None => {
                        let title = texts::unknown_pane(word);
                        widgets::empty(ui, Icon::Warning, &title, texts::UNKNOWN_PANE_HINT, theme);
                        Vec::new()
                    }
                },
                Tab::Room => Vec::new(),
            };
            commands.extend(new_commands);
        });
    }
}

impl Panes<'_> {
    /// Draws the room: first handles input, then moves dragged things, then paints.
    fn room_pane(&mut self, ui: &mut Ui) {
        let Self { panes, room, draw_context, view, commands, .. } = self;
        egui::CentralPanel::default().frame(Frame::NONE).show(ui, |ui| {
            let mut above = story::above_strip(ui, &draw_context.at(room));
            panes.canvas.spread_out(&above, &draw_context.at(room), view).apply(room);
            let response = panes.canvas.take_input(&mut above, &draw_context.at(room), view, commands);
            let pointer = ui.input(|input| input.pointer.latest_pos());
            panes.canvas.show_held(pointer.map(|pointer| view.camera.to_world(pointer)), room);
            panes.canvas.paint(&mut above, &response, &draw_context.at(room), view, commands);
            commands.extend(story::story_ui(ui, &draw_context.at(room), &mut panes.story, &mut panes.log));
        });
    }
}

/// Scrolls a tab into view in the frame in which its pane comes to the front. Afterwards, the bar can be scrolled freely.
fn scroll_into_view(tab: &egui::Response, id: egui::Id, is_in_front: bool) {
    let was_in_front = tab.ctx.data_mut(|data| {
        let was = data.get_temp(id).unwrap_or(false);
        data.insert_temp(id, is_in_front);
        was
    });
    if is_in_front && !was_in_front {
        tab.scroll_to_me_animation(None, egui::style::ScrollAnimation::none());
    }
}

impl Behavior<Tab> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _: TileId, pane: &mut Tab) -> UiResponse {
        self.pane(ui, pane);
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Tab) -> WidgetText {
        let mark = match pane {
            Tab::File(path) if self.panes.editors.is_unsaved(path) => " •",
            _ => "",
        };
        let title = match pane {
            Tab::Pane(word) => self.panes.added.title(word).map_or_else(|| pane.title(), str::to_owned),
            _ => pane.title(),
        };
        RichText::new(format!("{title}{mark}")).size(TYPE[1]).into()
    }

    fn on_tab_button(&mut self, tiles: &mut Tiles<Tab>, tile: TileId, response: egui::Response) -> egui::Response {
        scroll_into_view(&response, egui::Id::new(("tab", tile)), self.in_front.contains(&tile));
        match tiles.get_pane(&tile) {
            Some(Tab::File(path)) => response.on_hover_text(path),
            _ => response,
        }
    }

    fn is_tab_closable(&self, tiles: &Tiles<Tab>, tile: TileId) -> bool {
        tiles.get_pane(&tile).is_some_and(|pane| *pane != Tab::Room)
    }

    fn on_tab_close(&mut self, tiles: &mut Tiles<Tab>, tile: TileId) -> bool {
        self.commands.extend(tiles.get_pane(&tile).map(|tab| match tab {
            Tab::File(path) => WindowCommand::CloseFile(Some(path.clone())).into(),
            tab => WindowCommand::CloseTab(tab.clone()).into(),
        }));
        false
    }

    // The area beside the tabs and the borders between panes respond only to the mouse.
    fn is_tile_draggable(&self, _: &Tiles<Tab>, _: TileId) -> bool {
        !self.is_focus_moving
    }

    fn is_container_resizable(&self, _: &Tiles<Tab>, _: TileId) -> bool {
        !self.is_focus_moving
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
        widgets::mix(self.draw_context.theme.panel, self.draw_context.theme.line, 0.45)
    }

    fn tab_bg_color(&self, _: &Visuals, _: &Tiles<Tab>, _: TileId, state: &TabState) -> Color32 {
        if state.active { self.draw_context.theme.panel } else { Color32::TRANSPARENT }
    }

    fn tab_outline_stroke(&self, _: &Visuals, _: &Tiles<Tab>, _: TileId, state: &TabState) -> Stroke {
        if state.active { Stroke::new(LINE[0], self.draw_context.theme.line) } else { Stroke::NONE }
    }

    fn tab_bar_hline_stroke(&self, _: &Visuals) -> Stroke {
        Stroke::new(LINE[0], self.draw_context.theme.line)
    }

    fn tab_text_color(&self, _: &Visuals, _: &Tiles<Tab>, _: TileId, state: &TabState) -> Color32 {
        if state.active { self.draw_context.theme.text } else { self.draw_context.theme.text_soft }
    }

    fn resize_stroke(&self, _: &egui::Style, state: egui_tiles::ResizeState) -> Stroke {
        match state {
            egui_tiles::ResizeState::Idle => Stroke::new(LINE[0], self.draw_context.theme.line),
            egui_tiles::ResizeState::Hovering => Stroke::new(LINE[2], self.draw_context.theme.accent),
            egui_tiles::ResizeState::Dragging => Stroke::new(LINE[2], self.draw_context.theme.accent),
        }
    }

    fn drag_preview_color(&self, _: &Visuals) -> Color32 {
        self.draw_context.theme.accent.gamma_multiply(0.2)
    }

    fn drag_preview_stroke(&self, _: &Visuals) -> Stroke {
        Stroke::new(LINE[1], self.draw_context.theme.accent)
    }
}
