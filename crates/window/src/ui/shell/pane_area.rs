//! Draws the panes in their layout.

use egui::{Color32, Frame, Margin, RichText, Stroke, Ui, Visuals, WidgetText};
use egui_tiles::{Behavior, SimplificationOptions, TabState, TileId, Tiles, UiResponse};

use super::parts::WindowParts;
use crate::ui::commands::WindowCommand;
use crate::ui::context::DrawContext;
use crate::ui::panes::pane::{PaneBackground, PaneFrame};
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
pub(super) struct PaneArea<'a> {
    parts: &'a mut WindowParts,
    room: &'a mut RoomModel,
    draw_context: DrawContext<'a>,
    view: RoomView,
    commands: Vec<Command>,
    /// Whether a key moves the focus in this frame.
    is_focus_moving: bool,
    /// The tiles in front, whose tabs are scrolled into view when they come to the front.
    in_front: Vec<TileId>,
}

impl<'a> PaneArea<'a> {
    pub(super) fn new(parts: &'a mut WindowParts, room: &'a mut RoomModel, draw_context: DrawContext<'a>) -> Self {
        Self {
            parts,
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
            let alone = dock.alone.clone();
            egui::CentralPanel::default().frame(Frame::NONE).show(root, |ui| self.pane(ui, &alone));
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
                    for tab in dock.fixed().chain(dock.files().into_iter().map(Tab::file)) {
                        let title = RichText::new(self.parts.panes.title(&tab)).size(TYPE[0]);
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

    fn pane(&mut self, ui: &mut Ui, tab: &Tab) {
        let Self { parts, room, draw_context, view, commands, .. } = self;
        let theme = draw_context.theme;
        let background = parts.panes.find(tab.pane()).map_or(PaneBackground::Panel, |pane| pane.background());
        let frame = match background {
            PaneBackground::Panel => Frame::NONE.fill(theme.panel).inner_margin(Margin::same(SPACE[2] as i8)),
            PaneBackground::Edges => Frame::NONE.fill(theme.panel).inner_margin(Margin::ZERO),
            PaneBackground::Nothing => Frame::NONE,
        };
        egui::CentralPanel::default().frame(frame).show(ui, |ui| {
            if background != PaneBackground::Nothing {
                widgets::apply_style(ui.style_mut(), theme);
            }
            let shown = parts.panes.apart(tab.pane(), |pane, others| {
                pane.show_tab(ui, tab.item(), &mut PaneFrame { room, view, draw: *draw_context, others })
            });
            match shown {
                Some(shown) => commands.extend(shown),
                None => {
                    let title = texts::unknown_pane(tab.pane());
                    widgets::empty(ui, Icon::Warning, &title, texts::UNKNOWN_PANE_HINT, theme);
                }
            }
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

impl Behavior<Tab> for PaneArea<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _: TileId, pane: &mut Tab) -> UiResponse {
        self.pane(ui, pane);
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, tab: &Tab) -> WidgetText {
        let panes = &self.parts.panes;
        let mark = panes.find(tab.pane()).zip(tab.item()).map_or("", |(pane, item)| pane.item_mark(item));
        RichText::new(format!("{}{mark}", panes.title(tab))).size(TYPE[1]).into()
    }

    fn on_tab_button(&mut self, tiles: &mut Tiles<Tab>, tile: TileId, response: egui::Response) -> egui::Response {
        scroll_into_view(&response, egui::Id::new(("tab", tile)), self.in_front.contains(&tile));
        match tiles.get_pane(&tile).and_then(Tab::item) {
            Some(item) => response.on_hover_text(item),
            None => response,
        }
    }

    fn is_tab_closable(&self, tiles: &Tiles<Tab>, tile: TileId) -> bool {
        let is_permanent = |tab: &Tab| self.parts.panes.find(tab.pane()).is_some_and(|pane| pane.place().is_permanent);
        tiles.get_pane(&tile).is_some_and(|tab| !is_permanent(tab))
    }

    fn on_tab_close(&mut self, tiles: &mut Tiles<Tab>, tile: TileId) -> bool {
        self.commands.extend(tiles.get_pane(&tile).map(|tab| {
            let pane = self.parts.panes.find(tab.pane());
            let close_item = pane.zip(tab.item()).and_then(|(pane, item)| pane.close_item(item));
            close_item.unwrap_or_else(|| WindowCommand::CloseTab(tab.clone()).into())
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
